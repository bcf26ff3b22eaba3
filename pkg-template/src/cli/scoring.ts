/** What `eval` and `run` share: evalsets and configs in, scores in every format out. */

import { dirname, resolve } from "node:path";
import { check, type Plan, type ScoringOptions } from "../agents/evaluation.js";
import { forecast } from "../agents/scorable.js";
import { Spending } from "../agents/spending.js";
import { EvalStatus } from "../enums.js";
import { FORMATS } from "./options.js";
import { REPORT_FORMATS, type ReportFormat } from "../report/formats.js";
import { repeatedOf } from "../report/reliability.js";
import { casesText, countCases, countsText } from "../report/results.js";
import { append } from "../lists.js";
import { count, inertJson } from "../report/text.js";
import type { Budget, Dialect, EvalSetResult, EvaluatorOptions, MetricRegistry, Progress } from "../types.js";
import { api } from "./api.js";
import { type Arguments, countOf, oneOf } from "./arguments.js";
import { criteriaIn } from "../engine/criteria.js";
import { recordOf, selectedIds } from "./agent-runs.js";
import { budgetOf, sayPrices } from "./budget.js";
import { withCalibrationBeside } from "./calibration.js";
import { dryRun, type Foreseen } from "./dry-run.js";
import { baseName } from "./files.js";
import { gatesOf, gateStatus } from "./gates.js";
import { type Input, readInputs, sayWhichCriteria, selectionsOf } from "./inputs.js";
import { firstFailure, joined, leftOutText, untilFailure } from "./bail.js";
import { Interruption } from "./interruption.js";
import { judgeChoiceOf } from "./judge.js";
import { Judging } from "./judging.js";
import { strictErrorOf } from "../errors.js";
import { inFiles, type InputFiles, inWhole, Mistake, Mistakes, placeOf, refusedWarnings } from "./mistakes.js";
import { type Destination, destinations, distinctNames, formatsOf, refuseOthers } from "./outputs.js";
import { ExitStatus, hostUserCode, LOG_LEVELS, note, screenOptions, setLogLevel, warn } from "./process.js";
import { inOrder, portionsOf } from "./portions.js";
import { ProgressBar } from "./progress.js";
import { plainFile, prepareFile, writeSafely } from "./write.js";

/** What an agent did in the cases of an evalset. */
export interface Actual {
  actual: Uint8Array | object;
  /** The cases that it was run in, if it was stopped before the others. */
  evalIds?: readonly string[];
  /** What the users that talked to it may spend, and did. */
  spending?: Spending;
}

/** Where what an agent did comes from. */
export interface Source {
  /** How often an agent is to be run in each case; absent if it was run already. */
  numRuns?: number;
  /** The files that hold it, one for each evalset. */
  files?: readonly string[];
  /** Other files that are read, with what they are; no output may overwrite them. */
  others?: ReadonlyMap<string, string>;
  /** Completes the evalsets. */
  prepare?(inputs: readonly Input[]): Promise<void>;
  /** Finds out what it lacks to be come by in an evalset, before it is in any. */
  check?(input: Input): Promise<void>;
  /** The same once it is known which cases are left out, so that nobody is asked to play their users. */
  checkUsers?(input: Input, budget: Budget): Promise<void>;
  /** Makes ready what takes long to come by, when nothing else is wrong. */
  begin?(): Promise<void>;
  /** Parts of an evalset, each to be scored before the next is come by. Asked for where the first failure ends all. */
  portionsOf?(input: Input): Promise<Input[]>;
  /** What it did in one evalset. The budget is what is left of it. */
  actualOf(input: Input, stop: Interruption, bar: ProgressBar, budget: Budget): Promise<Actual>;
}

type Explain = NonNullable<EvaluatorOptions["explain"]>;

/**
 * Scores what an agent did, and writes the results.
 *
 * @param sourceOf Where that comes from, for these evalsets.
 */
export async function score(
  given: Arguments,
  command: string,
  sourceOf: (evalSets: readonly string[]) => Source,
): Promise<ExitStatus> {
  const level = given.one("log-level");
  if (level !== undefined) setLogLevel(oneOf("log-level", level.toLowerCase(), LOG_LEVELS));
  const formats = formatsOf(given, FORMATS);
  const options = optionsOf(given, formats);
  const budget = budgetOf(given);
  const gates = gatesOf(given);
  const judges = judgeChoiceOf(given);
  const selections = selectionsOf(given, command);
  const evalSets = selections.map(({ file }) => file);
  const source = sourceOf(evalSets);
  const planned = destinations(formats, given.all("output"), distinctNames(evalSets));
  const inputs = readInputs(selections, source.files, given.one("config"));
  if (given.has("dry-run")) {
    const foreseen = await foreseenOf(inputs, source, options, given);
    const vertex = judges.provider === "vertex" && judges.record === undefined ? { apiKey: "none" } : undefined;
    if (vertex !== undefined) for (const { request } of foreseen) if (request !== undefined) request.vertex = vertex;
    return dryRun(foreseen, { model: judges.model, prices: budget.prices });
  }
  const files = planned.flatMap(({ file }) => file ?? []);
  const outputs = judges.record === undefined ? files : [...files, judges.record];
  refuseInputs(outputs, inputs, [
    ...(source.others ?? []),
    ...given.all("metrics").map((file) => [file, "module of metrics"] as const),
    ...(judges.module === undefined ? [] : [[judges.module.file, "module of the judge"] as const]),
    ...(judges.replay === undefined ? [] : [[judges.replay, "recording"] as const]),
  ]);
  refuseShared(files, judges.record);
  if (!given.has("force")) refuseOthers(planned, "report");
  for (const file of files) prepareFile(file);

  const stop = new Interruption();
  const judging = new Judging(judges, () => stop.end());
  const outcome = await evaluateAll({ inputs, source, options, budget, judging, stop }, given);
  const { scored, mistakes, models, leftOut } = outcome;
  const results = scored.flatMap((result) => result ?? []);
  // Nothing to write over what is there already.
  if (mistakes.length > 0 && results.length === 0) throw new Mistakes(mistakes);
  const toStdout = planned.find(({ file }) => file === undefined);
  if (toStdout?.format !== "table") sayWarnings(scored, inputs);
  stop.write();
  const unwritten = await writeResults(planned, scored, given.has("print-detailed-results"));
  stop.ignore();
  judging.report(results, toStdout?.format === "table", given);
  if (budget.prices !== undefined) sayPrices(budget.prices, models);
  if (toStdout === undefined) note(summaryOf(results));
  if (leftOut !== undefined) warn(leftOut);
  if (stop.isInterrupted) note("interrupted: the results are those of the cases that were done");
  if (mistakes.length > 0) note(`the results are those of ${results.length} of ${count(inputs.length, "evalset")}`);
  const wrong = [...mistakes, ...unwritten, ...judging.unrecorded()];
  if (wrong.length > 0) throw new Mistakes(wrong);
  if (stop.isInterrupted) return stop.status;
  const failure = judging.failure(results);
  if (failure !== undefined && (gates === undefined || failure !== ExitStatus.Failed)) return failure;
  if (given.has("strict") && results.some(({ warnings = [] }) => warnings.length > 0)) {
    note("--strict: there are warnings, so the exit status is 2");
    return ExitStatus.Unusable;
  }
  const cases = results.flatMap((set) => set.evalCaseResults);
  if (cases.length === 0) warn("there was no case to score");
  if (gates !== undefined) return gateStatus(results, gates);
  const passed = cases.length > 0 && cases.every(({ finalEvalStatus }) => finalEvalStatus === EvalStatus.PASSED);
  return passed ? ExitStatus.Passed : ExitStatus.Failed;
}

/** How long a metric of the user's own may take for a case, in milliseconds; judges have as long for a call anyway. */
const METRIC_TIMEOUT_MS = 120_000;

/** How to evaluate. Explanations are made only for the reports that show them, unless asked for. */
function optionsOf(given: Arguments, formats: readonly ReportFormat[]): ScoringOptions {
  const detailed = given.has("print-detailed-results");
  if (detailed && !formats.includes("table")) {
    throw new Mistake("--print-detailed-results is about the table, and none is written", {
      help: "Add --format table --output -, or leave it out: html has all details anyway",
    });
  }
  const wanted = formats.map((format) => REPORT_FORMATS[format].explains);
  const shown = (["all", "failures"] as const).find((which) => wanted.includes(which)) ?? "none";
  const explain = given.one("explain");
  const dialect = given.one("dialect");
  const concurrency = given.one("concurrency");
  return {
    explain:
      explain === undefined
        ? detailed
          ? "all"
          : shown
        : oneOf<Explain>("explain", explain, ["none", "failures", "all"]),
    ...(dialect === undefined ? {} : { dialect: oneOf<Dialect>("dialect", dialect, ["adk-python", "adk-ts"]) }),
    ...(concurrency === undefined ? {} : { concurrency: countOf("concurrency", concurrency) }),
    ...(given.has("advisory") ? { advisory: given.all("advisory") } : {}),
    ...(given.has("metrics") ? { timeoutMs: METRIC_TIMEOUT_MS } : {}),
  };
}

const INPUT_NAMES = { evalSet: "evalset", actual: "file of what the agent did", config: "config" } as const;

/** @throws {Mistake} for an output that is an input, by whatever path: its only copy would be lost. */
export function refuseInputs(
  outputs: readonly string[],
  inputs: readonly Input[],
  others: Iterable<readonly [string, string]>,
): void {
  const names = new Map<string, string>();
  const add = (file: string | undefined, name: string) => {
    const path = file === undefined ? undefined : plainFile(file);
    if (path !== undefined) names.set(path, name);
  };
  for (const [file, name] of others) add(file, name);
  for (const { files } of inputs) {
    for (const input of ["config", "actual", "evalSet"] as const) add(files[input], INPUT_NAMES[input]);
  }
  for (const output of outputs) {
    const name = names.get(plainFile(output) ?? "");
    if (name === undefined) continue;
    throw new Mistake(`the output would overwrite the ${name}`, {
      location: output,
      help: "Name another file or folder with --output",
    });
  }
}

/** @throws {Mistake} for results and a recording in one place. */
export function refuseShared(files: readonly string[], record: string | undefined): void {
  if (record === undefined || !files.some((file) => resolve(file) === resolve(record))) return;
  throw new Mistake("the results and the recording would go to one file", {
    location: record,
    help: "Name another file with --record",
  });
}

interface Work {
  inputs: readonly Input[];
  source: Source;
  options: ScoringOptions;
  budget: Budget;
  judging: Judging;
  stop: Interruption;
}

/** What became of the inputs. */
interface Outcome {
  /** The result of each input, in their order; undefined for one that was not scored. */
  scored: readonly (EvalSetResult | undefined)[];
  /** Why inputs could not be scored. */
  mistakes: readonly unknown[];
  models: ReadonlySet<string>;
  leftOut: string | undefined;
}

async function evaluateAll(
  { inputs, source, options, budget, judging, stop }: Work,
  given: Arguments,
): Promise<Outcome> {
  const { evaluate, fileCache } = await api();
  const { cache } = judging;
  const common = { ...options, ...judging.options(), ...(cache === undefined ? {} : { cache: fileCache(cache) }) };
  await judging.load();
  await source.prepare?.(inputs);
  const registries = await registriesOf(inputs, given.all("metrics"));
  if (given.has("metrics")) sayUnused(inputs, registries);
  const strict = given.has("strict");
  if (source.begin !== undefined || strict) await checkAll(inputs, source, registries, { ...common, budget, strict });
  await source.begin?.();
  stop.listen();
  sayWhichCriteria(inputs, registries);
  const bar = new ProgressBar();
  const scored = inputs.map((): EvalSetResult | undefined => undefined);
  const mistakes = new Set<unknown>();
  const unusable = new Set<Input>();
  const spent = new Spending(budget);
  const bails = given.has("bail");
  for (const [at, input] of inputs.entries()) {
    let { files } = input;
    const parts: EvalSetResult[] = [];
    try {
      for (const portion of await portionsFor(input, source, bails)) {
        ({ files } = portion);
        const did = await source.actualOf(portion, stop, bar, spent.left());
        if (did.evalIds?.length === 0) break;
        const signal = stop.phase();
        let done = 0;
        const onProgress = (progress: Progress) => {
          if (signal.aborted) return;
          done = progress.done;
          bar.update(files.evalSet, progress);
        };
        bar.begin(files.evalSet, () => judging.calls);
        const request = {
          ...common,
          ...planOf(portion),
          ...(did.evalIds === undefined ? {} : { evalIds: did.evalIds }),
          actual: did.actual,
          registry: registries[at] as MetricRegistry,
          budget: (did.spending ?? spent).left(),
          signal,
          onProgress,
        };
        const result = bails ? await untilFailure(request) : await evaluate(request);
        // A cancelled run gives the cases that it left out too; those that were done come first.
        if (!bails && result.cancelled === true) result.evalCaseResults.length = done;
        const { firstCase } = files;
        if (firstCase !== undefined && result.warnings !== undefined)
          result.warnings = result.warnings.map((warning) => inWhole(warning, firstCase));
        did.spending?.noteIn(result);
        for (const model of did.spending?.models ?? []) spent.models.add(model);
        for (const { model } of result.judges ?? []) if (model !== undefined) spent.models.add(model);
        spent.add(result.judgeUsage);
        spent.add(result.simulatorUsage);
        parts.push(result);
        if (stop.isOver || (bails && firstFailure(parts) !== undefined)) break;
      }
    } catch (error) {
      mistakes.add(inFiles(error, files));
      unusable.add(input);
    }
    const all = parts.length > 0 ? joined(parts) : undefined;
    if (all !== undefined && input.warning !== undefined) all.warnings = [...(all.warnings ?? []), input.warning];
    const calibrated = all === undefined ? undefined : await withCalibrationBeside(all, input.files);
    const isInPortions = input.largeResults !== undefined && calibrated !== undefined;
    const result = isInPortions ? inOrder(calibrated, await selectedIds(input)) : calibrated;
    scored[at] = result;
    // One turn of the event loop, in which Ctrl-C is heard.
    await new Promise((resolve) => setImmediate(resolve));
    if (stop.isOver || (bails && result !== undefined && firstFailure([result]) !== undefined)) break;
  }
  bar.clear();
  const results = scored.flatMap((result) => result ?? []);
  const usable = inputs.filter((input) => !unusable.has(input));
  const leftOut = bails && !stop.isInterrupted ? await leftOutText(usable, results) : undefined;
  return { scored, mistakes: [...mistakes], models: spent.models, leftOut };
}

/** What would be scored. What an agent would do is taken to be what is expected of it. */
async function foreseenOf(
  inputs: readonly Input[],
  source: Source,
  options: ScoringOptions,
  given: Arguments,
): Promise<Foreseen[]> {
  const { readEvalSet } = await api();
  await source.prepare?.(inputs);
  const registries = await registriesOf(inputs, given.all("metrics"));
  const foreseen: Foreseen[] = [];
  for (const [at, input] of inputs.entries()) {
    const common = { ...options, ...planOf(input), registry: registries[at] as MetricRegistry };
    if (source.numRuns === undefined) {
      for (const portion of await portionsFor(input, source, false)) {
        const request = { ...common, ...planOf(portion), actual: portion.actual ?? new Uint8Array() };
        foreseen.push({ request, isRun: false, unknown: 0 });
      }
      continue;
    }
    const { evalSetId, evalCases } = readEvalSet(input.evalSet, baseName(input.files.evalSet));
    const wanted = input.selection.evalIds === undefined ? undefined : new Set(input.selection.evalIds);
    const selected = evalCases.filter(({ evalId }) => wanted?.has(evalId) ?? true);
    const known = selected.filter(({ conversation }) => (conversation ?? []).length > 0);
    const repeated = known.flatMap((one) => Array.from({ length: source.numRuns ?? 1 }, () => one));
    const evalIds = known.map(({ evalId }) => evalId);
    const unknown = selected.length - known.length;
    const actual = { evalSetId, evalCases: repeated };
    foreseen.push({ ...(known.length === 0 ? {} : { request: { ...common, evalIds, actual } }), isRun: true, unknown });
  }
  return foreseen;
}

/** The parts of an evalset that are scored one after the other. */
async function portionsFor(input: Input, source: Source, bails: boolean): Promise<Iterable<Input>> {
  const { largeResults } = input;
  if (largeResults !== undefined) return portionsOf(input, largeResults, await selectedIds(input));
  return (bails ? await source.portionsOf?.(input) : undefined) ?? [input];
}

/** Warns of modules of metrics none of which a config asks for. */
function sayUnused(inputs: readonly Input[], registries: readonly MetricRegistry[]): void {
  const isUsed = ({ config }: Input, at: number) => {
    const known = new Set(registries[at]?.customMetricNames());
    return Object.keys(criteriaIn(recordOf(config))).some((name) => known.has(name));
  };
  if (inputs.some(isUsed)) return;
  const names = new Set(registries.flatMap((registry) => [...registry.customMetricNames()]));
  const help = `They have ${[...names].join(", ")}: add those that are to score to \`criteria\` of the config`;
  warn("no criterion is a metric of --metrics, so it has no effect", undefined, help);
}

/** Where the metrics of each config are found. */
async function registriesOf(inputs: readonly Input[], modules: readonly string[]): Promise<MetricRegistry[]> {
  const { loadCustomMetrics } = await api();
  if (modules.length > 0) hostUserCode();
  const registries: MetricRegistry[] = [];
  for (const { config = "{}", files } of inputs) {
    try {
      const baseDir = dirname(files.config ?? files.evalSet);
      registries.push(await loadCustomMetrics(config, { modules, baseDir }));
    } catch (error) {
      throw inFiles(error, files);
    }
  }
  return registries;
}

/** @throws {Mistakes} for what is wrong with evalsets, metrics, judges and simulated users. */
async function checkAll(
  inputs: readonly Input[],
  source: Source,
  registries: readonly MetricRegistry[],
  options: ScoringOptions & { budget: Budget },
): Promise<void> {
  const mistakes: unknown[] = [];
  for (const [at, input] of inputs.entries()) {
    const { files, actual } = input;
    const own = { ...options, registry: registries[at] as MetricRegistry };
    try {
      const plan = planOf(input);
      const isRun = source.begin !== undefined;
      const checked = await check({ ...plan, ...(actual === undefined ? {} : { actual }) }, own, isRun);
      await source.check?.(input);
      if (isRun) {
        const { leftOut, warnings } = forecast(checked, { ...plan, ...options });
        input.leftOut = leftOut;
        for (const warning of [...checked.warnings, ...warnings]) {
          warn(warning.message, placeOf(warning, files), warning.help);
        }
      }
      await source.checkUsers?.(input, options.budget);
      if (options.strict === true && input.warning !== undefined) throw strictErrorOf([input.warning]);
    } catch (error) {
      append(mistakes, refusedWarnings(error, files));
    }
  }
  if (mistakes.length > 0) throw new Mistakes(mistakes);
}

/** What is evaluated, and by which metrics. */
export function planOf({ evalSet, config, files, selection: { evalIds } }: Input): Plan {
  return {
    evalSet,
    evalSetName: baseName(files.evalSet),
    ...(config === undefined ? {} : { config }),
    ...(evalIds === undefined ? {} : { evalIds }),
  };
}

function sayWarnings(scored: readonly (EvalSetResult | undefined)[], inputs: readonly Input[]): void {
  for (const [at, result] of scored.entries()) {
    const warnings = result?.warnings ?? [];
    const files: InputFiles = inputs[at]?.files ?? {};
    for (const warning of warnings) warn(warning.message, placeOf(warning, files), warning.help);
  }
}

/** Writes all results, and says what could not be written where it should be. */
async function writeResults(
  planned: readonly Destination[],
  scored: readonly (EvalSetResult | undefined)[],
  details: boolean,
): Promise<unknown[]> {
  const { resultsToAdkJsonChunks } = await api();
  const mistakes: unknown[] = [];
  for (const { format, file, evalSet } of planned) {
    const wanted = evalSet === undefined ? scored : scored.slice(evalSet, evalSet + 1);
    const shown = wanted.flatMap((result) => result ?? []);
    if (evalSet !== undefined && shown.length === 0) continue;
    const text = () =>
      format === "json"
        ? jsonPieces(shown, resultsToAdkJsonChunks, file === undefined)
        : rendered(format, shown, file === undefined, details);
    try {
      const mistake = await writeSafely(file, text, `report${REPORT_FORMATS[format].ending}`);
      if (mistake !== undefined) mistakes.push(mistake);
      else if (file !== undefined) note(`wrote ${file}`);
    } catch (error) {
      // What one format cannot show, others may.
      mistakes.push(error);
    }
  }
  return mistakes;
}

function* jsonPieces(
  results: readonly EvalSetResult[],
  chunksOf: (result: EvalSetResult) => Iterable<string>,
  onScreen: boolean,
): Generator<string> {
  for (const result of results) {
    const reliability = repeatedOf([result]);
    const told = reliability === undefined ? result : { ...result, reliability };
    for (const piece of chunksOf(told)) yield onScreen ? inertJson(piece) : piece;
  }
}

function rendered(
  format: ReportFormat,
  results: readonly EvalSetResult[],
  onScreen: boolean,
  details: boolean,
): string | Iterable<string> {
  const options = { details, ...screenOptions(onScreen) };
  return REPORT_FORMATS[format].render?.(results, options) ?? "";
}

function summaryOf(results: readonly EvalSetResult[]): string {
  return `${casesText(results)}: ${countsText(countCases(results))}`;
}
