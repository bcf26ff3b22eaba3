/** Scores every input of a command, one after the other. */

import { join } from "node:path";
import { check, type ScoringOptions, withoutUsers } from "../agents/evaluation.js";
import { missingWarning, noteMissingRuns } from "../agents/missing.js";
import { isScenario } from "../agents/run.js";
import { forecast, unscorableMetrics } from "../agents/scorable.js";
import { Spending } from "../agents/spending.js";
import { simulatorOf } from "../agents/test-files.js";
import { toBytes } from "../engine/input.js";
import { strictErrorOf } from "../errors.js";
import { namedResult } from "../evaluate.js";
import type { JournalSection } from "../journal/section.js";
import { joined } from "../lines/whole.js";
import { recordOf } from "../engine/criteria.js";
import { definedProperties, append } from "../lists.js";
import { mayHaveRubrics, withoutScoredElsewhere } from "../run/unscorable.js";
import type { Budget, EvalSetResult, EvaluateRequest, Mistake as Warning, MetricRegistry, Progress } from "../types.js";
import { selectedCases, selectedIds } from "./agent-runs.js";
import { api } from "./api.js";
import { pricedInResult } from "./budget.js";
import type { Arguments } from "./arguments.js";
import type { BatchWork, Part } from "./batch.js";
import { bailedText, firstFailure, untilFailure } from "./bail.js";
import { withCalibrationBeside } from "./calibration.js";
import { kindOf } from "./files.js";
import { type Input, mayAskJudges, mayHaveUsers, sayWhichActual, sayWhichCriteria } from "./inputs.js";
import type { Interruption } from "./interruption.js";
import type { Journaling } from "./journal.js";
import { type Judging, reportUseless, type Useless, uselessForJudges } from "./judging.js";
import { inFiles, inWhole, Mistakes, locationOf, refusedWarnings } from "./mistakes.js";
import { inOrder } from "./portions.js";
import { warn } from "./process.js";
import { ProgressBar } from "./progress.js";
import {
  type Actual,
  planOf,
  portionsFor,
  registriesOf,
  sayUnusedMetrics,
  type Source,
  unusedEntries,
} from "./source.js";

/** What is to be scored, and how. */
export interface Work {
  inputs: readonly Input[];
  source: Source;
  options: ScoringOptions;
  budget: Budget;
  judging: Judging;
  stop: Interruption;
  journal: Journaling | undefined;
}

/** The results of all inputs. */
export interface Outcome {
  /** The result of each input, in their order; undefined for one that was not scored. */
  scored: readonly (EvalSetResult | undefined)[];
  /** Why inputs could not be scored. */
  mistakes: readonly unknown[];
  models: ReadonlySet<string>;
}

/** What all inputs share while they are scored. */
interface Progressing extends Work {
  /** The options of every evaluation. */
  common: ScoringOptions;
  registries: readonly MetricRegistry[];
  bails: boolean;
  bar: ProgressBar;
  spent: Spending;
  /** What the agent did in each input, where it is known before the first is scored. */
  ran: ReadonlyMap<number, Actual> | undefined;
  /** Where portions are kept, by the number of their input and their own. */
  sections: Map<string, JournalSection>;
  /** Whether cases were left out because something was stopped. */
  isCut: boolean;
}

/** The results of the parts of an input, and why there are no more. */
interface Parts {
  results: readonly EvalSetResult[];
  mistake?: unknown;
}

/**
 * Scores all inputs. One that cannot be scored does not keep the others from it.
 *
 * @returns Undefined if a signal ended the wait for batches.
 */
export async function evaluateAll(work: Work, given: Arguments): Promise<Outcome | undefined> {
  const running = await begun(work, given);
  if (running === undefined) return undefined;
  const { inputs, stop, journal, bails, bar, spent } = running;
  const scored = inputs.map((): EvalSetResult | undefined => undefined);
  const mistakes = new Set<unknown>();
  const unusable = new Set<Input>();
  for (const [at, input] of inputs.entries()) {
    const parts = await partsOf(input, at, running);
    if ("mistake" in parts) {
      mistakes.add(parts.mistake);
      unusable.add(input);
    }
    const isEmptyShard = journal?.shard !== undefined && parts.results.length === 0 && !("mistake" in parts);
    const result = isEmptyShard
      ? await emptyResultOf(input, running.common)
      : await wholeOf(input, parts.results, running);
    scored[at] = result;
    // Yields to the event loop, so that Ctrl-C is noticed.
    await new Promise((resolve) => setImmediate(resolve));
    if (stop.isOver || (bails && result !== undefined && firstFailure([result]) !== undefined)) break;
  }
  bar.clear();
  await noteUnbegun(scored, unusable, running);
  if (!running.isCut && !stop.isOver && mistakes.size === 0) await journal?.end();
  const results = scored.flatMap((result) => result ?? []);
  dropScoredElsewhere(results);
  return { scored, mistakes: [...mistakes], models: spent.models };
}

/**
 * Does what comes before the first case: loads judges and metrics, checks the inputs, opens the journal, asks batches.
 *
 * @returns Undefined if a signal ended the wait for batches.
 */
async function begun(work: Work, given: Arguments): Promise<Progressing | undefined> {
  const { inputs, source, options, budget, judging, stop, journal } = work;
  const { fileCache } = await api();
  const { cache } = judging;
  const merged = journal?.isMerging === true ? journal.mergedOptions : undefined;
  const common: ScoringOptions = {
    ...options,
    ...(merged ?? judging.options()),
    ...(cache === undefined ? {} : { cache: fileCache(cache) }),
  };
  await judging.load();
  await source.prepare?.(inputs);
  const registries = await registriesOf(inputs, given.all("metrics"));
  if (given.has("metrics")) await sayUnusedMetrics(inputs, registries, given.all("metrics"));
  const strict = given.has("strict");
  const batching = given.has("batch") ? await import("./batch.js") : undefined;
  batching?.checkBatches(given, source.numRuns !== undefined);
  if (source.begin !== undefined || strict) {
    const asks = await checkAll(inputs, source, registries, { ...common, ...journal?.checkOptions, budget, strict });
    if (journal?.isMerging !== true) reportUseless(uselessFor(inputs, asks, source, given), given);
  }
  await source.begin?.();
  await journal?.open(inputs, source.numRuns);
  stop.listen();
  if (source.files !== undefined) sayWhichActual(given.all("actual"), source.files);
  sayWhichCriteria(inputs, registries);
  const [bar, spent, bails] = [new ProgressBar(), new Spending(budget), given.has("bail")];
  const running: Progressing = {
    ...work,
    common,
    registries,
    bails,
    bar,
    spent,
    ran: undefined,
    sections: new Map(),
    isCut: false,
  };
  if (batching !== undefined) {
    const isRun = source.numRuns !== undefined;
    const asked = isRun ? await runAll(running) : { inputs, budget };
    // What an agent did in an input is kept in one place.
    const partOf: BatchWork["partOf"] = (portion, at, number) => partIn(running, portion, at, isRun ? 0 : number);
    const answered =
      asked && (await batching.askInBatches({ ...asked, partOf, registries, options: common, judging }, given, stop));
    if (answered === undefined) return undefined;
    if (answered.cache !== undefined) common.cache = answered.cache;
  } else if (cache !== undefined && kindOf(join(cache, "batches")) === "folder") {
    (await import("./batch.js")).warnOfBatches(cache);
  }
  return running;
}

/**
 * Runs the agent in all inputs, before batches are asked about what it did.
 *
 * @returns What they are asked about, and what simulated users left of the budget; undefined if a signal ended the runs.
 */
async function runAll(running: Progressing): Promise<Pick<BatchWork, "inputs" | "budget"> | undefined> {
  const { inputs, source, stop, bar, budget } = running;
  const ran = new Map<number, Actual>();
  const spent = new Spending(budget);
  const asked: Input[] = [];
  for (const [at, input] of inputs.entries()) {
    const { section } = await partIn(running, input, at, 0);
    const did = await source.actualOf(input, stop, bar, spent.left(), section);
    if (stop.isOver) return undefined;
    ran.set(at, did);
    spent.add(did.spending?.used);
    const actual = toBytes(did.actual, "actual");
    const { evalIds = input.selection.evalIds } = did;
    asked.push({ ...input, actual, selection: { ...input.selection, ...(evalIds && { evalIds: [...evalIds] }) } });
  }
  running.ran = ran;
  return { inputs: asked, budget: spent.left() };
}

/** Where a portion of an input is kept, if anywhere, and which of its cases are scored here. */
async function partIn(running: Progressing, portion: Input, at: number, number: number): Promise<Part> {
  const { journal, sections, source } = running;
  if (journal === undefined) return {};
  const place = `${at}/${number}`;
  const section = sections.get(place) ?? (await journal.section(at, number, (await selectedCases(portion)).evalSetId));
  sections.set(place, section);
  // The agent is run for those of this shard alone.
  const evalIds = source.numRuns === undefined ? await oursOf(section, portion) : undefined;
  return { section, ...definedProperties({ evalIds }) };
}

/** Scores an input, portion by portion, until a mistake, a signal or, with `--bail`, a failure. */
async function partsOf(input: Input, at: number, running: Progressing): Promise<Parts> {
  const { source, stop, bails, bar, spent } = running;
  const results: EvalSetResult[] = [];
  let { files } = input;
  let portions = 0;
  try {
    for (const portion of await portionsFor(input, source, bails)) {
      ({ files } = portion);
      const { section, evalIds } = await partIn(running, portion, at, portions);
      portions += 1;
      if (evalIds?.length === 0) continue;
      const did = running.ran?.get(at) ?? (await source.actualOf(portion, stop, bar, spent.left(), section));
      if (did.evalIds?.length === 0) break;
      const request = {
        ...running.common,
        ...planOf(portion),
        ...definedProperties({ evalIds }),
        ...(did.evalIds === undefined ? {} : { evalIds: did.evalIds }),
        actual: did.actual,
        ...(section === undefined ? {} : { journal: section }),
        registry: running.registries[at] as MetricRegistry,
        budget: (did.spending ?? spent).left(),
      };
      results.push(await resultOf(portion, request, did, running));
      if (stop.isOver || (bails && firstFailure(results) !== undefined)) break;
    }
  } catch (error) {
    return { results, mistake: inFiles(error, files) };
  }
  return { results };
}

/** Scores a portion, and adds up what it cost. */
async function resultOf(
  { files }: Input,
  request: EvaluateRequest,
  did: Actual,
  running: Progressing,
): Promise<EvalSetResult> {
  const { judging, stop, bails, bar, spent } = running;
  const { evaluate } = await api();
  const signal = stop.phase();
  let done = 0;
  const onProgress = (progress: Progress) => {
    if (signal.aborted) return;
    done = progress.done;
    bar.update(files.evalSet, progress);
  };
  bar.begin(files.evalSet, () => judging.calls);
  const watched = { ...request, signal, onProgress };
  const result = bails ? await untilFailure(watched) : await evaluate(watched);
  // The cases that a cancelled run left out come after those that were done.
  if (!bails && result.cancelled === true) result.evalCaseResults.length = done;
  if (did.isCut === true || result.cancelled === true) running.isCut = true;
  // Warnings about the command's options come from `judging.report`, once for all evalsets.
  const warnings = (result.warnings ?? []).filter(({ path }) => path !== "options");
  if (warnings.length > 0) result.warnings = warnings;
  else delete result.warnings;
  const { firstCase } = files;
  if (firstCase !== undefined && result.warnings !== undefined) {
    result.warnings = result.warnings.map((warning) => inWhole(warning, firstCase));
  }
  did.spending?.noteIn(result);
  for (const model of did.spending?.models ?? []) spent.models.add(model);
  for (const name of pricedInResult(result, request.budget?.prices)) spent.models.add(name);
  spent.add(result.judgeUsage);
  // It would leave out the batches.
  if (judging.gatherer !== undefined && (result.judgeUsage?.cached ?? 0) > 0) delete result.judgeUsage?.cost;
  spent.add(result.simulatorUsage);
  return result;
}

/** The result of an input, from those of its parts. */
async function wholeOf(
  input: Input,
  parts: readonly EvalSetResult[],
  running: Progressing,
): Promise<EvalSetResult | undefined> {
  const { stop, journal, bails } = running;
  if (parts.length === 0) return undefined;
  dropScoredElsewhere(parts);
  const all = joined(parts);
  const unused = unusedEntries(input);
  if (unused.length > 0) all.warnings = [...unused, ...(all.warnings ?? [])];
  const bailed = bails && !stop.isOver ? bailedText([all], all.evalSetId) : undefined;
  if ((stop.isOver || bailed !== undefined) && journal?.shard === undefined) {
    noteMissingRuns(all, await plannedRuns(input, running), bailed);
  }
  const calibrated = await withCalibrationBeside(all, input.files);
  return input.largeResults === undefined ? calibrated : inOrder(calibrated, await selectedIds(input));
}

/** The result of an evalset none of whose cases belongs to this shard. */
async function emptyResultOf(input: Input, { dialect = "adk-python" }: ScoringOptions): Promise<EvalSetResult> {
  const { evaluate } = await api();
  const { evalSetId } = await selectedCases(input);
  const evalSet = { evalSetId, evalCases: [] };
  const { warnings: _, ...result } = await evaluate({
    evalSet,
    actual: evalSet,
    dialect,
    criteria: { response_match_score: 0 },
  });
  return result;
}

/** Gives evalsets that were not begun results that say which cases were not run; in the last result, which cannot be read. */
async function noteUnbegun(
  scored: (EvalSetResult | undefined)[],
  unusable: ReadonlySet<Input>,
  running: Progressing,
): Promise<void> {
  const { inputs, stop, journal, bails } = running;
  const begun = scored.flatMap((result) => result ?? []);
  const bailed = (ofEvalSet: string) => (bails && !stop.isOver ? bailedText(begun, ofEvalSet) : undefined);
  const at = scored.findLastIndex((result) => result !== undefined);
  const last = scored[at];
  if (last === undefined || journal?.shard !== undefined) return;
  if (!stop.isOver && bailed(last.evalSetId) === undefined) return;
  const unread: string[] = [];
  for (const [index, input] of inputs.entries()) {
    if (index <= at || unusable.has(input)) continue;
    try {
      const { evalSetId } = await selectedCases(input);
      const { engineVersion, referenceVersion, dialect } = last;
      const named = namedResult(evalSetId, Date.now() / 1000);
      const result = { ...named, evalSetId, evalCaseResults: [], engineVersion, referenceVersion, dialect };
      noteMissingRuns(result, await plannedRuns(input, running), bailed(evalSetId));
      scored[index] = result;
    } catch {
      unread.push(input.files.evalSet);
    }
  }
  if (unread.length === 0) return;
  const { length } = inputs;
  const warning = missingWarning(length - unread.length, length, {
    what: bailed(last.evalSetId),
    of: "evalset",
    names: unread,
  });
  last.cancelled = true;
  last.warnings = [...(last.warnings ?? []), warning];
}

/** How many runs each selected case of an input has, done or not. */
async function plannedRuns(input: Input, { source, options }: Progressing): Promise<Map<string, number>> {
  const { evaluate } = await api();
  const runs = new Map((await selectedIds(input)).map((id) => [id, source.numRuns ?? 0]));
  if (source.numRuns !== undefined) return runs;
  const { dialect = "adk-python" } = options;
  try {
    for (const portion of await portionsFor(input, source, false)) {
      const { config: _, ...plan } = planOf(portion);
      const request = { ...plan, dialect, actual: portion.actual ?? new Uint8Array(), criteria: {}, countOnly: true };
      const { evalCaseResults } = await evaluate(request);
      for (const { evalId } of evalCaseResults) runs.set(evalId, (runs.get(evalId) ?? 0) + 1);
    }
  } catch {
    // What cannot be read has no more runs.
  }
  for (const [id, known] of runs) if (known === 0) runs.set(id, 1);
  return runs;
}

/** Takes warnings about metrics that score cases of other results out of results. */
function dropScoredElsewhere(results: readonly EvalSetResult[]): void {
  const known = results.map(({ warnings = [], evalCaseResults: [first] }) => {
    return { warnings, metrics: first?.overallEvalMetricResults.map(({ metricName }) => metricName) ?? [] };
  });
  for (const [at, warnings] of withoutScoredElsewhere(known).entries()) {
    const result = results[at] as EvalSetResult;
    if (warnings.length > 0) result.warnings = warnings;
    else delete result.warnings;
  }
}

/** The ids of the cases of this shard; undefined without `--shard`. */
async function oursOf(section: JournalSection, portion: Input): Promise<string[] | undefined> {
  const { isOurs } = section;
  if (isOurs === undefined) return undefined;
  section.selected = { evalIds: portion.selection.evalIds };
  return (await selectedIds(portion)).filter((evalId) => isOurs(evalId, 0));
}

/** Whether anybody is asked to judge, or to play a user. */
export interface Asks {
  judges: boolean;
  users: boolean;
}

/** Whom the metrics and cases of inputs may ask. */
export function asksOf(inputs: readonly Input[], { numRuns }: Source): Asks {
  return { judges: inputs.some(mayAskJudges), users: numRuns !== undefined && inputs.some(mayHaveUsers) };
}

/** What has no effect, whichever cases are selected. */
export function uselessFor(
  inputs: readonly Input[],
  { judges, users }: Asks,
  { begin }: Source,
  given: Arguments,
): Useless[] {
  const useless = judges || users ? [] : uselessForJudges(given);
  const ofUsers = inputs.find(({ config }) => Object.keys(simulatorOf(recordOf(config))).length > 0);
  if (begin !== undefined && !users && ofUsers !== undefined) {
    useless.push({ message: withoutUsers("user_simulator_config"), location: ofUsers.files.config });
  }
  return useless;
}

/** @throws {Mistakes} for what is wrong with evalsets, metrics, judges and simulated users. */
async function checkAll(
  inputs: readonly Input[],
  source: Source,
  registries: readonly MetricRegistry[],
  options: ScoringOptions & { budget: Budget },
): Promise<Asks> {
  const mistakes: unknown[] = [];
  const asks = { judges: false, users: false };
  const foreseen: { input: Input; metrics: readonly string[]; warnings: readonly Warning[] }[] = [];
  for (const [at, input] of inputs.entries()) {
    const { files, actual } = input;
    const own = { ...options, registry: registries[at] as MetricRegistry };
    try {
      const plan = planOf(input);
      const isRun = source.begin !== undefined;
      const checked = await check({ ...plan, ...definedProperties({ actual }) }, own, true);
      await source.check?.(input);
      asks.judges ||= checked.asksJudges;
      if (isRun) {
        asks.users ||= checked.evalSet.evalCases.some(isScenario);
        const { leftOut, warnings } = forecast(checked, plan);
        input.leftOut = leftOut;
        foreseen.push({ input, metrics: checked.metrics, warnings: [...checked.warnings, ...warnings] });
      } else if (options.strict === true) {
        foreseen.push({
          input,
          metrics: checked.metrics,
          warnings: unscorableMetrics(checked, plan.evalIds, (name) => mayHaveRubrics(name, actual)),
        });
      }
      if (options.judge === undefined) await source.checkUsers?.(input, options.budget, options.strict === true);
      if (options.strict === true && input.warning !== undefined) throw strictErrorOf([input.warning]);
    } catch (error) {
      append(mistakes, refusedWarnings(error, files));
    }
  }
  for (const [at, warnings] of withoutScoredElsewhere(foreseen).entries()) {
    const { files } = (foreseen[at] as (typeof foreseen)[number]).input;
    if (options.strict === true && warnings.length > 0) {
      append(mistakes, refusedWarnings(strictErrorOf(warnings), files));
    } else {
      for (const warning of warnings) warn(warning.message, locationOf(warning, files), warning.help);
    }
  }
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  return asks;
}
