/** `eval` of JSON lines that need not fit into memory: scored in windows, results written as they come. */

import { availableParallelism } from "node:os";
import type { ScoringOptions } from "../agents/evaluation.js";
import { missingWarning } from "../agents/missing.js";
import { Spending } from "../agents/spending.js";
import { EvalStatus } from "../enums.js";
import { evaluatePart, namedResult } from "../evaluate.js";
import { WINDOW_BYTES } from "../lines/shape.js";
import { Whole } from "../lines/whole.js";
import { count } from "../report/text.js";
import { countsText, countStatuses } from "../report/results.js";
import { type Gates, GateTally } from "../statistics/gates.js";
import { headerOf } from "../stored-results.js";
import type { CalibrationTally } from "../calibration/types.js";
import type { Budget, EvalSetResult, EvaluateRequest, MetricRegistry } from "../types.js";
import { api } from "./api.js";
import { type Arguments, countOf } from "./arguments.js";
import { bailedAt } from "./bail.js";
import { pricedInResult, sayPrices } from "./budget.js";
import { tallyBeside, withCalibrationBeside } from "./calibration.js";
import { Draft } from "./draft.js";
import { configBeside, kindOf, readBytes, type Selection } from "./files.js";
import { realPath } from "./find.js";
import { sayGates } from "./gates.js";
import { type Input, mayAskJudges, sayWhichCriteria } from "./inputs.js";
import { Interruption } from "./interruption.js";
import type { JudgeChoice } from "./judge.js";
import { Judging, uselessIn } from "./judging.js";
import {
  ACTUAL,
  closeLineFiles,
  EVAL_SET,
  isLineFile,
  isRunLines,
  type LineFiles,
  placeIn,
  readLineFiles,
  totalSize,
} from "./line-files.js";
import { readInThread, scoredByThreads } from "./line-threads.js";
import {
  type PlacedWarning,
  type ScoredWindow,
  scoreWindow,
  spareOf,
  type Window,
  type WindowFiles,
  windowsOf,
} from "./line-windows.js";
import { Mistake, Mistakes } from "./mistakes.js";
import type { Destination } from "./outputs.js";
import { ExitStatus, note, refusedByStrict, warn, warningCount } from "./process.js";
import { ProgressBar } from "./progress.js";
import { registriesOf, sayUnusedMetrics, type Source, unusedEntries } from "./source.js";
import { plainFile } from "./write.js";
import { definedProperties } from "../lists.js";

/** What is scored, and how. */
export interface LineWork {
  /** The evalset as others see it: its config, and what its files are called. */
  input: Input;
  cases: LineFiles;
  runs: LineFiles;
  /** Where the results go. */
  output: string;
  options: ScoringOptions;
  budget: Budget;
  gates: Gates | undefined;
  judges: JudgeChoice;
}

/** With fewer windows, threads take longer to begin than they save. */
const WORTH_THREADS = 4;
/** With fewer bytes, a thread takes longer to begin than it saves. */
const WORTH_READING_APART = 32 * 2 ** 20;
/** Unless more are asked for: each takes some 100 MB. */
const MOST_THREADS = 2;
/** Runs without a case that are named. */
const MOST_NAMED = 5;

/** Options for which all of an evaluation has to be there at once. */
const WITH_ALL = ["dry-run", "group-by", "precision", "watch", "batch", "shard", "journal"];

/** The lines of an evaluation that need not be kept in memory; undefined for what has to be. */
export async function linesToStream(
  [selection, ...others]: readonly Selection[],
  source: Source,
  [planned, ...more]: readonly Destination[],
  given: Arguments,
): Promise<Pick<LineWork, "input" | "cases" | "runs" | "output"> | undefined> {
  const output = planned?.format === "jsonl" && more.length === 0 ? planned.file : undefined;
  const [first] = source.files ?? [];
  if (selection === undefined || others.length > 0 || output === undefined || first === undefined) return undefined;
  if (
    !isLineFile(selection.file) ||
    source.files?.every(isRunLines) !== true ||
    WITH_ALL.some((name) => given.has(name))
  )
    return undefined;
  // To a pipe or a device nothing can be written before what is known last.
  if (kindOf(output) !== undefined && plainFile(output) === undefined) return undefined;
  const evalSets = [selection.file, ...(selection.others ?? [])];
  const config = given.one("config") ?? configBeside(selection.file);
  const input: Input = {
    selection,
    files: { evalSet: selection.file, actual: first, ...definedProperties({ config }) },
    evalSet: new Uint8Array(),
    ...(config === undefined ? {} : { config: readBytes(config, "config") }),
  };
  const wanted = selection.evalIds && new Set(selection.evalIds);
  return { input, ...(await readBoth(evalSets, source.files, wanted, given)), output };
}

/** Reads the files of both sides: at the same time, where they are large and there are threads for both. */
async function readBoth(
  evalSets: readonly string[],
  actuals: readonly string[],
  wanted: ReadonlySet<string> | undefined,
  given: Arguments,
): Promise<Pick<LineWork, "cases" | "runs">> {
  const isWorthIt = given.has("threads") || totalSize(actuals) > WORTH_READING_APART;
  if (threadsOf(given) === 1 || !isWorthIt) {
    const cases = await readLineFiles(evalSets, EVAL_SET, wanted);
    return { cases, runs: await readLineFiles(actuals, ACTUAL) };
  }
  const end = new AbortController();
  const reading = readInThread(actuals, ACTUAL, end.signal);
  // A mistake in the cases is reported first.
  reading.catch(() => {});
  try {
    return { cases: await readLineFiles(evalSets, EVAL_SET, wanted), runs: await reading };
  } finally {
    end.abort();
  }
}

/** Scores lines, and writes the results as JSON lines. */
export async function scoreLines(work: LineWork, given: Arguments): Promise<ExitStatus> {
  const { input, options, budget, gates, output } = work;
  const stop = new Interruption();
  const judging = new Judging(work.judges, () => stop.end());
  const { fileCache } = await api();
  await judging.load();
  const [registry] = (await registriesOf([input], given.all("metrics"))) as [MetricRegistry];
  if (given.has("metrics")) await sayUnusedMetrics([input], [registry], given.all("metrics"));
  for (const { message, help } of unusedEntries(input)) warn(message, input.files.config, help);
  stop.listen();
  sayWhichCriteria([input], [registry]);
  const common = {
    ...options,
    ...judging.options(),
    ...(judging.cache === undefined ? {} : { cache: fileCache(judging.cache) }),
    ...(input.config === undefined ? {} : { config: input.config }),
  };
  const run = new LineRun(work, common, registry, { judging, stop, given });
  try {
    await run.score();
  } finally {
    closeLineFiles();
  }
  stop.write();
  const set = await run.finish();
  stop.ignore();
  const warned = warningCount();
  for (const { message, place, path, help } of run.warnings) warn(message, place ?? path, help);
  const before = warningCount();
  judging.report([set], false, given, mayAskJudges(input));
  sayPrices(budget.prices, run.models);
  const isWarned = warned + warningCount() > before;
  note(`wrote ${output}`);
  const { totals, mistake } = run;
  note(totals.text);
  if (run.left > 0 && stop.isInterrupted) note("interrupted: the results contain only the finished cases");
  else if (mistake === undefined)
    for (const { code, message } of set.warnings ?? []) if (code === "cancelled") warn(message);
  if (mistake !== undefined) note(`the results contain the ${count(totals.cases, "case")} before the error`);
  const wrong = [...(mistake === undefined ? [] : [mistake]), ...judging.unrecorded()];
  if (wrong.length > 0) throw new Mistakes(wrong);
  if (stop.isInterrupted) return stop.status;
  const failure = judging.failure([set], false, run.isUnjudged);
  if (failure === ExitStatus.Unreached) return failure;
  if (given.has("strict") && (isWarned || run.warnings.some(({ code }) => code !== "cancelled")))
    return refusedByStrict();
  if (failure !== undefined && gates === undefined) return failure;
  if (totals.cases === 0) warn("there were no cases to score");
  if (gates !== undefined) return sayGates(totals.gates.report());
  if (run.warnings.some(({ code }) => code === "custom_metric_failed")) return ExitStatus.Failed;
  return totals.gates.report().passed ? ExitStatus.Passed : ExitStatus.Failed;
}

/** How many cases there are, and how they ended. */
class Totals {
  cases = 0;
  results = 0;
  firstFailed: string | undefined;
  readonly gates: GateTally;
  readonly #statuses = { passed: 0, failed: 0, notEvaluated: 0 };

  constructor(gates: Gates) {
    this.gates = new GateTally(gates);
  }

  /** Adds results, those of a case one after the other. */
  add({ ids, statuses, statusesForGates }: Pick<ScoredWindow, "ids" | "statuses" | "statusesForGates">): void {
    for (let at = 0; at < ids.length;) {
      let end = at + 1;
      while (end < ids.length && ids[end] === ids[at]) end += 1;
      const own = statuses.slice(at, end);
      this.gates.add(ids[at] as string, statusesForGates.slice(at, end));
      this.cases += 1;
      if (own.some((status) => status !== EvalStatus.PASSED)) this.firstFailed ??= ids[at];
      at = end;
    }
    this.results += ids.length;
    const { passed, failed, notEvaluated } = countStatuses(statuses);
    this.#statuses.passed += passed;
    this.#statuses.failed += failed;
    this.#statuses.notEvaluated += notEvaluated;
  }

  /** `3 runs of 2 cases: 2 passed, 1 failed` */
  get text(): string {
    const cases = count(this.cases, "case");
    const what = this.results === this.cases ? cases : `${count(this.results, "run")} of ${cases}`;
    return `${what}: ${countsText(this.#statuses)}`;
  }
}

/** What a run of lines works with. */
interface Means {
  judging: Judging;
  stop: Interruption;
  given: Arguments;
}

type Options = Omit<EvaluateRequest, "evalSet" | "actual">;

/** An evaluation of lines in progress. */
class LineRun {
  readonly models = new Set<string>();
  readonly totals: Totals;
  isUnjudged = false;
  /** Why it ended early. */
  mistake: unknown;
  /** What a calibration beside the config warns of. */
  #ofCalibration: readonly PlacedWarning[] = [];
  /** What cases say of it, which are looked at as they come. */
  #tally: CalibrationTally | undefined;
  readonly #work: LineWork;
  readonly #options: Options;
  readonly #registry: MetricRegistry;
  readonly #means: Means;
  readonly #files: WindowFiles;
  readonly #whole = new Whole();
  readonly #spent: Spending;
  readonly #bar = new ProgressBar();
  readonly #began = Date.now() / 1000;
  /** What ended it before its end, if not a signal. */
  #ended: string | undefined;
  #draft: Draft | undefined;
  #hasStrays = false;
  /** A buffer whose text is written. */
  #spare: ArrayBuffer | undefined;

  constructor(work: LineWork, options: Options, registry: MetricRegistry, means: Means) {
    const { cases, runs } = work;
    this.#work = work;
    this.#options = options;
    this.#registry = registry;
    this.#means = means;
    this.#files = {
      evalSetId: cases.evalSetId,
      ranId: runs.evalSetId,
      evalSets: cases.files,
      actuals: runs.files,
      kind: runs.kind,
    };
    this.totals = new Totals(work.gates ?? {});
    this.#spent = new Spending(work.budget);
  }

  get warnings(): readonly PlacedWarning[] {
    return [...(this.#whole.set?.warnings ?? []), ...this.#ofCalibration];
  }

  /** Whether the runs of all cases are looked at, or those of selected ones in the evalset itself: one may be answered as expected. */
  get #hasAll(): boolean {
    const { cases, runs } = this.#work;
    const evalSets = new Set(cases.files.map(realPath));
    return cases.selected === undefined || runs.files.every((file) => evalSets.has(realPath(file)));
  }

  /** How many cases were not scored. */
  get left(): number {
    return this.#total - this.totals.cases;
  }

  /** Scores window by window, until a mistake, a signal or, with `--bail`, a failure. */
  async score(): Promise<void> {
    const { cases, runs, input } = this.#work;
    const { given, judging } = this.#means;
    this.#bar.begin(input.files.evalSet, () => judging.calls);
    this.#tally = await tallyBeside(input.files);
    const pairing = pairingOf(cases, runs);
    this.#hasStrays = pairing.warning !== undefined;
    try {
      for await (const scored of this.#windows(windowsOf(cases, runs, pairing.isByPlace))) {
        await this.#add(scored);
        if (this.#means.stop.isOver) break;
        if (!given.has("bail") || this.totals.firstFailed === undefined) continue;
        this.#ended = bailedAt(this.totals.firstFailed);
        break;
      }
      if (pairing.warning !== undefined) this.#whole.warn(pairing.warning);
    } catch (error) {
      if (this.#draft === undefined || !(error instanceof Mistake)) throw error;
      this.mistake = error;
      this.#ended = "An error ended the run";
    } finally {
      this.#bar.clear();
    }
  }

  /** Writes what is left to be written. @returns The results but the cases. */
  async finish(): Promise<EvalSetResult> {
    const found = this.left === 0 ? this.#set : this.#incomplete;
    const bare = { ...found, evalCaseResults: [] };
    const { files } = this.#work.input;
    const set = this.#tally === undefined ? bare : await withCalibrationBeside(bare, files, this.#tally);
    this.#ofCalibration = (set.warnings ?? []).slice(found.warnings?.length ?? 0);
    await this.#draft?.finish(headLine(set));
    return set;
  }

  get #total(): number {
    const { selected, rows } = this.#work.cases;
    return selected?.length ?? rows.count;
  }

  /** The results of a run that ended before all cases were scored. */
  get #incomplete(): EvalSetResult {
    const { warnings = [], ...set } = this.#set;
    const warning = missingWarning(this.totals.cases, this.#total, { what: this.#ended });
    return { ...set, cancelled: true, warnings: [warning, ...warnings] };
  }

  /** What is known of the results but the cases. */
  get #set(): EvalSetResult {
    const set = this.#whole.set as EvalSetResult;
    return { ...set, ...namedResult(set.evalSetId, this.#began) };
  }

  /** Scored windows. The first shows whether judges are asked. */
  async *#windows(windows: Generator<Window>): AsyncGenerator<ScoredWindow> {
    const { cases, runs, input } = this.#work;
    const { given } = this.#means;
    const { value = { cases: cases.rows.placesOf([]), runs: runs.rows.placesOf([]) } } = windows.next();
    const first = await this.#scored(value as Window);
    yield first;
    const count = threadsOf(given);
    const isWorthIt = given.has("threads") || cases.bytes + runs.bytes > WORTH_THREADS * WINDOW_BYTES;
    // Judges, custom metrics and what is counted for a calibration are those of this thread.
    const isBound = first.rest.judges !== undefined || given.has("metrics") || this.#tally !== undefined;
    const why = "judges, calibrations and your own metrics need a single thread";
    if (isBound) for (const { message } of uselessIn(why, given, ["threads"])) note(message);
    if (count > 1 && isWorthIt && !isBound) {
      const { config } = input;
      yield* scoredByThreads(windows, count, this.#files, { ...this.#work.options, ...(config && { config }) });
      return;
    }
    for (const window of windows) yield await this.#scored(window);
  }

  async #scored(window: Window): Promise<ScoredWindow> {
    // Leaves the thread to others, such as signals.
    await new Promise((resolve) => setImmediate(resolve));
    const signal = this.#means.stop.phase();
    const options = { ...this.#options, registry: this.#registry, budget: this.#spent.left(), signal };
    return await scoreWindow(
      window,
      this.#files,
      options,
      async (request, note) => {
        const set = await evaluatePart(request, note);
        this.#tally?.add(...set.evalCaseResults);
        return set;
      },
      this.#spare,
    );
  }

  async #add(window: ScoredWindow): Promise<void> {
    const { text, ids, rest, notes, isUnjudged } = window;
    // `judging.report` warns of what has no effect, and runs without a case are in no window.
    const isItself = notes?.isItself === true && !this.#hasStrays && this.#hasAll;
    this.#whole.add(rest, notes && { ...notes, unused: undefined, isItself }, ids.length);
    this.#draft ??= await Draft.begin(this.#work.output, headLine(this.#set));
    await this.#draft.append(text);
    this.#spare = spareOf(window);
    this.totals.add(window);
    this.isUnjudged ||= isUnjudged;
    this.#spent.add(rest.judgeUsage);
    for (const name of pricedInResult(rest, this.#options.budget?.prices)) this.models.add(name);
    this.#bar.update(this.#work.input.files.evalSet, { done: this.totals.cases, total: this.#total });
  }
}

/** The first line of the results. Where a warning is in files is for the screen. */
function headLine(set: EvalSetResult): string {
  const { evalCaseResults: _, warnings, ...rest } = set;
  const noted = warnings?.map(({ place: _place, ...warning }: PlacedWarning) => warning);
  return `${headerOf({ ...rest, ...(noted === undefined ? {} : { warnings: noted }) })}\n`;
}

/** How many threads are to score. */
function threadsOf(given: Arguments): number {
  const threads = given.one("threads");
  return threads === undefined ? Math.min(availableParallelism(), MOST_THREADS) : countOf("threads", threads);
}

/** Whether runs go with cases by their order, as they do where no id of a run is that of a case; and what is said of runs without one. */
function pairingOf(cases: LineFiles, runs: LineFiles): { isByPlace: boolean; warning: PlacedWarning | undefined } {
  const strays: number[] = [];
  let [stray, matched] = [0, 0];
  for (let row = 0; row < runs.rows.count; row += 1) {
    if (runs.rows.isIn(cases.rows, row)) matched += 1;
    else if (stray++ < MOST_NAMED) strays.push(row);
  }
  if (matched === 0 && runs.rows.count === cases.rows.count) return { isByPlace: true, warning: undefined };
  if (stray === 0) return { isByPlace: false, warning: undefined };
  const places = runs.rows.placesOf(strays);
  const named = strays.map((_, at) => placeIn(runs.files, places, at));
  return {
    isByPlace: false,
    warning: {
      code: "actual_missing",
      message: `${stray === 1 ? "an actual conversation belongs" : `${stray} actual conversations belong`} to no eval case and ${stray === 1 ? "is" : "are"} left out`,
      place: `${named.join(", ")}${stray > MOST_NAMED ? ", …" : ""}`,
      help: "Runs are matched with cases by eval id",
    },
  };
}
