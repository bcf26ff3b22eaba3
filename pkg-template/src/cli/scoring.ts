/** What `eval` and `run` share: evalsets and configs in, scores in every format out. */

import { dirname } from "node:path";
import { check, type Plan, type ScoringOptions } from "../agents/evaluation.js";
import { forecast } from "../agents/scorable.js";
import { Spending } from "../agents/spending.js";
import { EvalStatus } from "../enums.js";
import { FORMATS } from "./options.js";
import { REPORT_FORMATS, type ReportFormat } from "../report/formats.js";
import { append } from "../lists.js";
import { count } from "../report/text.js";
import type { JournalSection } from "../journal/section.js";
import type { Budget, Dialect, EvalSet, EvalSetResult, EvaluatorOptions, MetricRegistry, Progress } from "../types.js";
import { api } from "./api.js";
import { type Arguments, countOf, oneOf } from "./arguments.js";
import { closest } from "../closest.js";
import { criteriaIn, customMetricsIn } from "../engine/criteria.js";
import { recordOf, selectedCases, selectedIds } from "./agent-runs.js";
import { budgetOf, sayPrices } from "./budget.js";
import { withCalibrationBeside } from "./calibration.js";
import { provideEnvironment } from "../judges/default.js";
import { modelAtProvider } from "../judges/environment.js";
import { dryRun, type Foreseen } from "./dry-run.js";
import { baseName } from "./files.js";
import { gatesOf, gateStatus } from "./gates.js";
import { type Input, readInputs, sayWhichCriteria, selectionsOf } from "./inputs.js";
import { firstFailure, joined, leftOutText, untilFailure } from "./bail.js";
import { Interruption } from "./interruption.js";
import { judgeChoiceOf, JudgeMaker } from "./judge.js";
import { Judging } from "./judging.js";
import { strictErrorOf } from "../errors.js";
import { inFiles, inWhole, Mistake, Mistakes, placeOf, refusedWarnings } from "./mistakes.js";
import { destinations, distinctNames, formatsOf, refuseOthers } from "./outputs.js";
import { ExitStatus, hostUserCode, LOG_LEVELS, note, setLogLevel, warn } from "./process.js";
import { Journaling } from "./journal.js";
import { inOrder, portionsOf } from "./portions.js";
import { ProgressBar } from "./progress.js";
import { prepareFile } from "./write.js";
import { refuseInputs, refuseShared } from "./overwriting.js";
import { sayWarnings, summaryOf, writeResults } from "./reports.js";

/** What an agent did in the cases of an evalset. */
export interface Actual {
  actual: Uint8Array | object;
  /** The ids of the cases that it was run in; absent if it was run in all. */
  evalIds?: readonly string[];
  /** Whether it was stopped before it was run in all cases. */
  isCut?: boolean;
  /** The budget of simulated users, and what they spent of it. */
  spending?: Spending;
}

/** Where actual conversations come from: files, or an agent that is run. */
export interface Source {
  /** How often the agent is run in each case; absent for files. */
  numRuns?: number;
  /** The files with actual conversations, one for each evalset. */
  files?: readonly string[];
  /** Other files that are read, with what they are: no output may overwrite them. */
  others?: ReadonlyMap<string, string>;
  /** Completes the evalsets. */
  prepare?(inputs: readonly Input[]): Promise<void>;
  /** Checks whether the agent can be run in an evalset, before it is run in any. @throws What is missing. */
  check?(input: Input): Promise<void>;
  /** Checks the simulated users of the cases that are not left out. @throws What is missing. */
  checkUsers?(input: Input, budget: Budget): Promise<void>;
  /** Does what takes long, such as loading the agent, once nothing else is wrong. */
  begin?(): Promise<void>;
  /** Parts of an evalset, each scored before the agent is run in the next. For `--bail`, where the first failure ends all. */
  portionsOf?(input: Input): Promise<Input[]>;
  /** The actual conversations of one evalset. @param budget What is left of the budget. */
  actualOf(
    input: Input,
    stop: Interruption,
    bar: ProgressBar,
    budget: Budget,
    journal?: JournalSection,
  ): Promise<Actual>;
}

type Explain = NonNullable<EvaluatorOptions["explain"]>;

/**
 * Scores actual conversations, and writes the results.
 *
 * @param sourceOf Gives the source of the conversations for evalsets.
 * @param journal Where answers are kept, or found.
 */
export async function score(
  given: Arguments,
  command: string,
  sourceOf: (evalSets: readonly string[]) => Source,
  journal?: Journaling,
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
    // The judge is made but not asked: it knows whose replies the cache has, and how many judges it is.
    const maker = new JudgeMaker(judges);
    provideEnvironment(
      (model) => maker.judgeFor(model),
      () => maker.panel,
    );
    await maker.load();
    const foreseen = await foreseenOf(inputs, source, options, given);
    const vertex = judges.provider === "vertex" && judges.record === undefined ? { apiKey: "none" } : undefined;
    if (vertex !== undefined) for (const { request } of foreseen) if (request !== undefined) request.vertex = vertex;
    if (given.has("batch")) note("providers ask half of the price for batches, which is not deducted");
    const cache = judges.cache === undefined ? undefined : (await api()).fileCache(judges.cache);
    const { model, provider } = judges;
    const asked = model === undefined || provider !== undefined ? model : modelAtProvider(model);
    return dryRun(foreseen, { model: asked, budget, cache });
  }
  const files = planned.flatMap(({ file }) => file ?? []);
  const outputs = [...files, ...(judges.record === undefined ? [] : [judges.record]), ...(journal?.output ?? [])];
  refuseInputs(
    outputs,
    inputs,
    [
      ...(source.others ?? []),
      ...(journal?.inputs ?? []),
      ...given.all("metrics").map((file) => [file, "module of metrics"] as const),
      ...(judges.module === undefined ? [] : [[judges.module.file, "module of the judge"] as const]),
      ...(judges.replay === undefined ? [] : [[judges.replay, "recording"] as const]),
    ],
    journal?.outputOption,
  );
  refuseShared(files, judges.record);
  refuseShared(files, journal?.output[0], "journal");
  if (!given.has("force")) refuseOthers(planned, "report");
  for (const file of files) prepareFile(file);

  const stop = new Interruption();
  const judging = new Judging(judges, () => stop.end());
  const outcome = await evaluateAll({ inputs, source, options, budget, judging, stop, journal }, given);
  if (outcome === undefined) return stop.status;
  const { scored, mistakes, models, leftOut } = outcome;
  const results = scored.flatMap((result) => result ?? []);
  // Without results, outputs that are there already stay as they are.
  if (mistakes.length > 0 && results.length === 0) throw new Mistakes(mistakes);
  const toStdout = planned.find(({ file }) => file === undefined);
  if (toStdout?.format !== "table") sayWarnings(scored, inputs);
  stop.write();
  const unwritten = await writeResults(planned, scored, given.has("print-detailed-results"));
  stop.ignore();
  journal?.report(stop.isInterrupted);
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
  // One part of several may well have no case.
  if (cases.length === 0 && journal?.shard !== undefined) return ExitStatus.Passed;
  if (cases.length === 0) warn("there was no case to score");
  if (gates !== undefined) return gateStatus(results, gates);
  const warnings = results.flatMap((set) => set.warnings ?? []);
  if (warnings.some(({ code }) => code === "custom_metric_failed")) return ExitStatus.Failed;
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

interface Work {
  inputs: readonly Input[];
  source: Source;
  options: ScoringOptions;
  budget: Budget;
  judging: Judging;
  stop: Interruption;
  journal: Journaling | undefined;
}

/** The results of all inputs. */
interface Outcome {
  /** The result of each input, in their order; undefined for one that was not scored. */
  scored: readonly (EvalSetResult | undefined)[];
  /** Why inputs could not be scored. */
  mistakes: readonly unknown[];
  models: ReadonlySet<string>;
  leftOut: string | undefined;
}

/** @returns Undefined if a signal ended the wait for batches. */
async function evaluateAll(
  { inputs, source, options, budget, judging, stop, journal }: Work,
  given: Arguments,
): Promise<Outcome | undefined> {
  const { evaluate, fileCache } = await api();
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
  if (given.has("metrics")) sayUnusedMetrics(inputs, registries);
  const strict = given.has("strict");
  if (source.begin !== undefined || strict) {
    await checkAll(inputs, source, registries, { ...common, ...journal?.checkOptions, budget, strict });
  }
  await source.begin?.();
  await journal?.open(inputs, source.numRuns);
  stop.listen();
  sayWhichCriteria(inputs, registries);
  if (given.has("batch")) {
    const { askInBatches } = await import("./batch.js");
    const work = { inputs, registries, options: common, judging, budget };
    const answered = await askInBatches(work, given, stop);
    if (answered === undefined) return undefined;
    common.cache = answered;
  }
  const bar = new ProgressBar();
  const scored = inputs.map((): EvalSetResult | undefined => undefined);
  const mistakes = new Set<unknown>();
  const unusable = new Set<Input>();
  const spent = new Spending(budget);
  const bails = given.has("bail");
  let isCut = false;
  for (const [at, input] of inputs.entries()) {
    let { files } = input;
    const parts: EvalSetResult[] = [];
    let portions = 0;
    try {
      for (const portion of await portionsFor(input, source, bails)) {
        ({ files } = portion);
        const { evalSetId, evalCases } = journal === undefined ? NO_CASES : await selectedCases(portion);
        const section = await journal?.section(at, portions, evalSetId);
        portions += 1;
        const evalIds = section && source.numRuns === undefined ? oursOf(evalCases, section, portion) : undefined;
        if (evalIds?.length === 0) continue;
        const did = await source.actualOf(portion, stop, bar, spent.left(), section);
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
          ...(evalIds === undefined ? {} : { evalIds }),
          ...(did.evalIds === undefined ? {} : { evalIds: did.evalIds }),
          actual: did.actual,
          ...(section === undefined ? {} : { journal: section }),
          registry: registries[at] as MetricRegistry,
          budget: (did.spending ?? spent).left(),
          signal,
          onProgress,
        };
        const result = bails ? await untilFailure(request) : await evaluate(request);
        // The cases that a cancelled run left out come after those that were done.
        if (!bails && result.cancelled === true) result.evalCaseResults.length = done;
        if (did.isCut === true || result.cancelled === true) isCut = true;
        // Warnings about the command's options come from `judging.report`, once for all evalsets.
        if (result.warnings !== undefined) result.warnings = result.warnings.filter(({ path }) => path !== "options");
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
    // Yields to the event loop, so that Ctrl-C is noticed.
    await new Promise((resolve) => setImmediate(resolve));
    if (stop.isOver || (bails && result !== undefined && firstFailure([result]) !== undefined)) break;
  }
  bar.clear();
  if (!isCut && !stop.isOver && mistakes.size === 0) await journal?.end();
  const results = scored.flatMap((result) => result ?? []);
  const usable = inputs.filter((input) => !unusable.has(input));
  const leftOut = bails && !stop.isInterrupted ? await leftOutText(usable, results) : undefined;
  return { scored, mistakes: [...mistakes], models: spent.models, leftOut };
}

const NO_CASES: Pick<EvalSet, "evalSetId" | "evalCases"> = { evalSetId: "", evalCases: [] };

/** The ids of the cases of this shard; undefined without `--shard`. */
function oursOf(evalCases: EvalSet["evalCases"], section: JournalSection, { selection }: Input): string[] | undefined {
  const { isOurs } = section;
  if (isOurs === undefined) return undefined;
  section.selected = { evalIds: selection.evalIds };
  return evalCases.map(({ evalId }) => evalId).filter((evalId) => isOurs(evalId, 0));
}

/** What would be scored, for `--dry-run`: an agent that is not run is taken to do what is expected. */
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
export async function portionsFor(
  input: Input,
  source: Pick<Source, "portionsOf">,
  bails: boolean,
): Promise<Iterable<Input>> {
  const { largeResults } = input;
  if (largeResults !== undefined) return portionsOf(input, largeResults, await selectedIds(input));
  return (bails ? await source.portionsOf?.(input) : undefined) ?? [input];
}

/** Warns if no config has a metric of `--metrics`. */
export function sayUnusedMetrics(inputs: readonly Input[], registries: readonly MetricRegistry[]): void {
  const isUsed = ({ config }: Input, at: number) => {
    const known = new Set(registries[at]?.customMetricNames());
    return Object.keys(criteriaIn(recordOf(config))).some((name) => known.has(name));
  };
  if (inputs.some(isUsed)) return;
  const names = new Set(registries.flatMap((registry) => [...registry.customMetricNames()]));
  const help = `They have ${[...names].join(", ")}: add those that are to score to \`criteria\` of the config`;
  warn("no criterion is a metric of --metrics, so it has no effect", undefined, help);
}

/** Warns of the entries of `custom_metrics` that no criterion names. */
function sayUnusedEntries(config: Uint8Array, file: string | undefined): void {
  const root = recordOf(config);
  const criteria = Object.keys(criteriaIn(root));
  for (const name of Object.keys(customMetricsIn(root))) {
    if (criteria.includes(name)) continue;
    const meant = closest(name, criteria);
    const help = meant === undefined ? `Name it in \`criteria\`, or leave it out` : `Did you mean \`${meant}\`?`;
    warn(`no criterion is called \`${name}\`, so custom_metrics.${name} has no effect`, file, help);
  }
}

/** Where the metrics of each config are found. */
export async function registriesOf(inputs: readonly Input[], modules: readonly string[]): Promise<MetricRegistry[]> {
  const { loadCustomMetrics } = await api();
  if (modules.length > 0) hostUserCode();
  const registries: MetricRegistry[] = [];
  for (const { config = "{}", files } of inputs) {
    try {
      const baseDir = dirname(files.config ?? files.evalSet);
      registries.push(await loadCustomMetrics(config, { modules, baseDir }));
      if (typeof config !== "string") sayUnusedEntries(config, files.config);
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
      if (options.judge === undefined) await source.checkUsers?.(input, options.budget);
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
