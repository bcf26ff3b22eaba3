/** What `eval` and `run` share: evalsets and configs in, scores in every format out. */

import type { ScoringOptions } from "../agents/evaluation.js";
import { checkSimulator, playerWarnings } from "../agents/simulator.js";
import { Spending } from "../agents/spending.js";
import { simulatorOf } from "../agents/test-files.js";
import { EvalStatus } from "../enums.js";
import { isAdkMetricsError } from "../errors.js";
import { DEFAULT_MODEL } from "../generated/metrics.js";
import { provideEnvironment } from "../judges/default.js";
import { modelAtProvider } from "../judges/environment.js";
import { REPORT_FORMATS, type ReportFormat } from "../report/formats.js";
import { count } from "../report/text.js";
import type { Gates } from "../statistics/gates.js";
import type { Budget, Dialect, EarlyStop, EvalSetResult, EvaluatorOptions, MetricRegistry } from "../types.js";
import { api } from "./api.js";
import { type Arguments, countOf, oneOf } from "./arguments.js";
import { budgetFor, budgetOf, sayPrices, uselessPrices } from "./budget.js";
import { dryRun, type Foreseen } from "./dry-run.js";
import { recordOf } from "../engine/criteria.js";
import { asksOf, evaluateAll, uselessFor } from "./evaluate-all.js";
import { baseName } from "./files.js";
import { gatesOf, gateStatus, precisionOf } from "./gates.js";
import { groupingOf, noteGroups } from "./grouping.js";
import { type Input, readInputs, selectionsOf } from "./inputs.js";
import { Interruption } from "./interruption.js";
import type { Journaling } from "./journal.js";
import { type JudgeChoice, judgeChoiceOf, JudgeMaker } from "./judge.js";
import { Judging, reportUseless, uselessIn } from "./judging.js";
import { Mistake, Mistakes } from "./mistakes.js";
import { FORMATS } from "./options.js";
import { type Destination, destinations, distinctNames, formatsOf, refuseOthers, sayOddEndings } from "./outputs.js";
import { refuseInputs, refuseShared } from "./overwriting.js";
import { ExitStatus, LOG_LEVELS, note, refusedByStrict, setLogLevel, warn, warningCount } from "./process.js";
import { sayWarnings, summaryOf, writeResults } from "./reports.js";
import type { Shown } from "./shown.js";
import { planOf, portionsFor, registriesOf, type Source } from "./source.js";
import { linesToStream, scoreLines } from "./stream.js";
import { prepareFile } from "./write.js";

type Explain = NonNullable<EvaluatorOptions["explain"]>;

/**
 * Scores actual conversations, writes the results, and shows them if that is wanted.
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
  if (!given.has("open")) return await scoreAll(given, command, sourceOf, journal);
  const { Shown } = await import("./shown.js");
  const shown = new Shown(given);
  const status = await scoreAll(given, command, sourceOf, journal, shown);
  await shown.show(status);
  return status;
}

async function scoreAll(
  given: Arguments,
  command: string,
  sourceOf: (evalSets: readonly string[]) => Source,
  journal: Journaling | undefined,
  shown?: Shown,
): Promise<ExitStatus> {
  const level = given.one("log-level");
  if (level !== undefined) setLogLevel(oneOf("log-level", level.toLowerCase(), LOG_LEVELS));
  const formats = formatsOf(given, FORMATS);
  const options = optionsOf(given, shown === undefined ? formats : [...formats, "jsonl"]);
  const limits = budgetOf(given);
  const gates = gatesOf(given);
  const judges = judgeChoiceOf(given);
  const selections = selectionsOf(given, command);
  const evalSets = selections.map(({ file }) => file);
  const source = sourceOf(evalSets);
  const names = distinctNames(evalSets);
  const planned = destinations(formats, given.all("output"), names);
  shown?.plan(planned, names);
  const lines = await linesToStream(selections, source, planned, given);
  const inputs = lines === undefined ? await readInputs(selections, source.files, given.one("config")) : [lines.input];
  const asks = asksOf(inputs, source);
  const budget = budgetFor(judges.replay === undefined && (asks.judges || asks.users), limits);
  if (lines !== undefined) {
    checkOutputs(planned, inputs, source, { judges, journal }, given);
    sayOddEndings(planned);
    return await scoreLines({ ...lines, options, budget, gates, judges }, given);
  }
  for (const { message } of uselessIn("nothing is scored as it is read", given, ["threads"])) note(message);
  const grouping = await groupingOf(given, inputs);
  const precision = precisionOf(given);
  shown?.addInputs(inputs);
  if (given.has("dry-run")) {
    const useless = uselessFor(inputs, asks, source, given);
    if (!asks.judges && !asks.users) useless.push(...uselessPrices(budget.prices, new Set(), "would not be asked"));
    useless.push(...uselessIn("a dry run writes no results", given, OUTPUT_OPTIONS));
    reportUseless(useless, given);
    return foretell(inputs, source, { options, budget, judges }, given);
  }
  checkOutputs(planned, inputs, source, { judges, journal }, given);
  sayOddEndings(planned);

  const stop = new Interruption();
  const judging = new Judging(judges, () => stop.end());
  const outcome = await evaluateAll({ inputs, source, options, budget, judging, stop, journal }, given);
  if (outcome === undefined) {
    journal?.report(true);
    return stop.status;
  }
  const { scored, mistakes, models } = outcome;
  if (grouping !== undefined) noteGroups(scored, grouping);
  const results = scored.flatMap((result) => result ?? []);
  if (precision !== undefined) for (const result of results) result.precision = precision;
  // Without results, outputs that are there already stay as they are.
  if (mistakes.length > 0 && results.length === 0) throw new Mistakes(mistakes);
  const toStdout = planned.find(({ file }) => file === undefined);
  const warned = warningCount();
  if (toStdout?.format !== "table") sayWarnings(scored, inputs);
  stop.write();
  const unwritten = await writeResults(planned, scored, given.has("print-detailed-results"));
  stop.ignore();
  journal?.report(stop.isInterrupted);
  const isEmptyShard = journal?.shard !== undefined && results.every((set) => set.evalCaseResults.length === 0);
  if (isEmptyShard && !stop.isInterrupted) note(`shard ${given.one("shard")} has none of the cases`);
  const before = warningCount();
  // Where an agent is run, options without effect were told before.
  const asksJudges = source.numRuns !== undefined || asks.judges;
  if (!isEmptyShard || stop.isInterrupted) judging.report(results, toStdout?.format === "table", given, asksJudges);
  // Another shard may have the cases of a model.
  if (journal?.shard === undefined) sayPrices(budget.prices, models);
  // Warnings about the command itself are in no results; --strict heeds them as well.
  const isWarned = warned + warningCount() > before;
  if (toStdout === undefined) note(summaryOf(results));
  if (stop.isInterrupted) note("interrupted: the results contain only the finished cases");
  const begun = results.filter(({ evalCaseResults, notRun }) => evalCaseResults.length > 0 || notRun === undefined);
  if (mistakes.length > 0) note(`the results contain ${begun.length} of ${count(inputs.length, "evalset")}`);
  const wrong = [...mistakes, ...unwritten, ...judging.unrecorded()];
  if (wrong.length > 0) throw new Mistakes(wrong);
  if (stop.isInterrupted) return stop.status;
  const failure = judging.failure(results, journal?.isMerging === true);
  if (failure === ExitStatus.Unreached) return failure;
  const inResults = results.flatMap(({ warnings = [] }) => warnings).some(({ code }) => code !== "cancelled");
  if (given.has("strict") && (isWarned || inResults)) return refusedByStrict();
  if (failure !== undefined && gates === undefined) return failure;
  return verdictOn(results, gates, journal?.shard !== undefined);
}

/** The exit status that results have earned. @param isShard Whether they are one part of several, which may have no case. */
function verdictOn(results: readonly EvalSetResult[], gates: Gates | undefined, isShard: boolean): ExitStatus {
  const cases = results.flatMap((set) => set.evalCaseResults);
  if (cases.length === 0 && isShard) return ExitStatus.Passed;
  if (cases.length === 0) warn("there were no cases to score");
  if (gates !== undefined) return gateStatus(results, gates);
  const warnings = results.flatMap((set) => set.warnings ?? []);
  if (warnings.some(({ code }) => code === "custom_metric_failed")) return ExitStatus.Failed;
  const passed = cases.length > 0 && cases.every(({ finalEvalStatus }) => finalEvalStatus === EvalStatus.PASSED);
  return passed ? ExitStatus.Passed : ExitStatus.Failed;
}

/** @throws {Mistake} for an output that would overwrite an input or another output, or cannot be written. */
function checkOutputs(
  planned: readonly Destination[],
  inputs: readonly Input[],
  source: Source,
  { judges, journal }: { judges: JudgeChoice; journal: Journaling | undefined },
  given: Arguments,
): void {
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
}

/** The options for results. */
const OUTPUT_OPTIONS = ["format", "output", "force", "print-detailed-results", "group-by", "precision"];

/** Says what would be scored and asked, for `--dry-run`. The judge is made but not asked: it knows whose replies the cache has. */
async function foretell(
  inputs: readonly Input[],
  source: Source,
  { options, budget, judges }: { options: ScoringOptions; budget: Budget; judges: JudgeChoice },
  given: Arguments,
): Promise<ExitStatus> {
  const maker = new JudgeMaker(judges, false);
  provideEnvironment(
    (model) => maker.judgeFor(model),
    () => maker.fixed,
  );
  await maker.load();
  const foreseen = await foreseenOf(inputs, source, options, given);
  const vertex = judges.provider === "vertex" && judges.record === undefined ? { apiKey: "none" } : undefined;
  if (vertex !== undefined) for (const { request } of foreseen) if (request !== undefined) request.vertex = vertex;
  if (given.has("batch")) note("costs are at the full price, although providers charge half for batches");
  const cache = judges.cache === undefined ? undefined : (await api()).fileCache(judges.cache);
  const { model, provider } = judges;
  const asked = model === undefined || provider !== undefined ? model : modelAtProvider(model);
  const played = inputs.filter((_, at) => (foreseen[at]?.unknown ?? 0) > 0);
  const users = await Promise.all(played.map((input) => warningsOfUser(input, maker, budget)));
  return dryRun(foreseen, { model: asked, budget, cache, users: users.flat() }, given);
}

/** What to know of the model that plays the users of an evalset. */
async function warningsOfUser({ config }: Input, maker: JudgeMaker, budget: Budget): Promise<string[]> {
  const ofFile = simulatorOf(recordOf(config));
  try {
    const options = { ...ofFile, judge: maker.judgeFor(ofFile.model ?? DEFAULT_MODEL) };
    checkSimulator(options, new Spending(budget));
    return await playerWarnings(options);
  } catch (error) {
    // Without a judge, its model is unknown.
    if (isAdkMetricsError(error) && error.code === "judge_required") return [];
    throw error;
  }
}

/** How long a custom metric may take for a case, in milliseconds; judges have as long for a call anyway. */
export const METRIC_TIMEOUT_MS = 120_000;

/** How to evaluate. Explanations are made only for the reports that show them, unless asked for. */
function optionsOf(given: Arguments, formats: readonly ReportFormat[]): ScoringOptions {
  const detailed = given.has("print-detailed-results");
  if (detailed && !formats.includes("table")) {
    throw new Mistake("--print-detailed-results affects only the table, and no table is written", {
      help: "Add --format table --output -, or leave it out: html has all details anyway",
    });
  }
  const wanted = formats.map((format) => REPORT_FORMATS[format].explains);
  const shown = (["all", "failures"] as const).find((which) => wanted.includes(which)) ?? "none";
  const explain = given.one("explain");
  const dialect = given.one("dialect");
  const concurrency = given.one("concurrency");
  const threads = given.one("threads");
  if (threads !== undefined) countOf("threads", threads);
  const earlyStop = given.one("early-stop");
  return {
    explain:
      explain === undefined
        ? detailed
          ? "all"
          : shown
        : oneOf<Explain>("explain", explain, ["none", "failures", "all"]),
    ...(dialect === undefined ? {} : { dialect: oneOf<Dialect>("dialect", dialect, ["adk-python", "adk-ts"]) }),
    ...(concurrency === undefined ? {} : { concurrency: countOf("concurrency", concurrency) }),
    ...(earlyStop === undefined ? {} : { earlyStop: earlyStopOf(earlyStop) }),
    ...(given.has("advisory") ? { advisory: given.all("advisory") } : {}),
    ...(given.has("metrics") ? { timeoutMs: METRIC_TIMEOUT_MS } : {}),
  };
}

/** @throws {Mistake} for what says nothing of when votes end. */
export function earlyStopOf(text: string): EarlyStop {
  if (text === "exact" || text === "none") return text;
  const risk = /^(?:0|0?\.\d+)$/.test(text) ? Number(text) : 0;
  if (risk > 0 && risk <= 0.5) return { risk };
  throw new Mistake(`--early-stop cannot be \`${text}\``, {
    help: "Expected exact, none, or a risk above 0 and at most 0.5, such as 0.01",
  });
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
