import type { NoOptions } from "./known-options.js";
import { signalOf, untilAborted } from "./abort.js";
import { Spending } from "./agents/spending.js";
import { reading, unexpected } from "./engine/values.js";
import { AdkMetricsError } from "./errors.js";
import { evaluatePart, namedResult, type PartNotes, resultsInBatches } from "./evaluate.js";
import { type Line, Lines, Pairing, type Pairs, streamsOf, textOf } from "./lines/pairs.js";
import { around, firstUnreadable, lineAt, withinLine } from "./lines/shape.js";
import { Whole } from "./lines/whole.js";
import { definedProperties, sum } from "./lists.js";
import { count } from "./report/text.js";
import { copyOf } from "./request-plan.js";
import { batchOf } from "./run/batching.js";
import type { Budget, EvalCaseResult, EvalSetResult, EvaluateRequest, JudgeProgress, Mistake } from "./types.js";

/**
 * As {@link evaluate}, giving each case result when it is there, in the order of completion. Leaving the loop cancels
 * the evaluation. The generator returns the results of the whole evalset.
 *
 * `evalSet` and `actual` may be streams of JSON lines, one case per line, or arrays of streams: whatever can be read with
 * `for await` and gives bytes, text or objects, such as `createReadStream("cases.jsonl")`. They are read as results are
 * asked for, and no more is kept than is scored next. Runs have to be in the order of their cases, give or take 1,000 lines.
 * Results come in the order of the cases, and what is returned at the end has none of them.
 */
export async function* evaluateStream(
  request: EvaluateRequest,
  options?: NoOptions,
): AsyncGenerator<EvalCaseResult, EvalSetResult> {
  const given = reading("request", () => copyOf(request, options));
  if (batchOf(given) !== undefined) {
    const help = "Batches answer all questions at once: use `evaluate`";
    throw new AdkMetricsError("invalid_input", "`batch` cannot be used with `evaluateStream`", { path: "batch", help });
  }
  const streams = streamsIn(given);
  if (streams !== undefined) return yield* new StreamRun(given, streams).results();
  const batches = resultsInBatches(given);
  try {
    for (;;) {
      const next = await batches.next();
      if (next.done === true) return next.value;
      yield* next.value;
    }
  } finally {
    await batches.return(undefined as never);
  }
}

interface Streams {
  readonly cases: Lines;
  readonly runs: Lines;
}

function streamsIn(request: EvaluateRequest): Streams | undefined {
  const [evalSet, actual] = [streamsOf(request.evalSet, "evalSet"), streamsOf(request.actual, "actual")];
  if (evalSet !== undefined && actual !== undefined) {
    return { cases: new Lines(evalSet, "evalSet"), runs: new Lines(actual, "actual") };
  }
  const other = evalSet === undefined ? "evalSet" : "actual";
  if (evalSet === undefined && actual === undefined) return undefined;
  throw unexpected("a stream of JSON lines", request[other], other, "Pass streams for both `evalSet` and `actual`");
}

/** What concerns the whole evaluation, which is never there. */
const OF_WHOLE = ["journal", "evalIds", "countOnly"] as const;

/** An evaluation of streams under way. */
class StreamRun {
  readonly #options: Omit<EvaluateRequest, "evalSet" | "actual">;
  readonly #streams: Streams;
  readonly #pairing: Pairing;
  readonly #whole = new Whole();
  readonly #spent: Spending;
  readonly #began = Date.now() / 1000;
  #done = 0;
  #judged: JudgeProgress | undefined;
  #cancelled = false;

  constructor({ evalSet: _, actual: __, ...options }: EvaluateRequest, streams: Streams) {
    const wrong =
      typeof options.earlyStop === "object" ? "earlyStop" : OF_WHOLE.find((name) => options[name] !== undefined);
    if (wrong !== undefined) {
      const what = wrong === "earlyStop" ? "a risk" : `\`${wrong}\``;
      throw new AdkMetricsError("invalid_input", `${what} cannot be used with streams`, { path: wrong });
    }
    this.#options = options;
    this.#streams = streams;
    this.#pairing = new Pairing(streams.cases, streams.runs);
    this.#spent = new Spending(options.budget);
  }

  async *results(): AsyncGenerator<EvalCaseResult, EvalSetResult> {
    const windows = this.#pairing[Symbol.asyncIterator]();
    const signal = signalOf(this.#options.signal);
    let isFirst = true;
    try {
      for (;;) {
        const next = await untilAborted(signal, () => windows.next());
        if (next.done === true) break;
        yield* await this.#score(next.value);
        isFirst = false;
        if (this.#cancelled) return this.#set;
      }
      // Who has no case still learns what is wrong with options.
      if (isFirst) await this.#score({ cases: [], runs: [] });
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error;
      if (isFirst) await this.#score({ cases: [], runs: [] });
      this.#cancelled = true;
    } finally {
      // A stream that waits for its source would be waited for.
      const closed = windows.return(undefined);
      if (!signal.aborted) await closed;
    }
    const { warning } = this.#pairing;
    if (warning !== undefined) this.#whole.warn(warning);
    return this.#set;
  }

  async #score(pairs: Pairs): Promise<EvalCaseResult[]> {
    let notes: PartNotes | undefined;
    let set: EvalSetResult;
    const { onProgress, budget } = this.#options;
    const request = { ...this.#options, ...this.#textsOf(pairs) };
    if (budget !== undefined) request.budget = this.#left;
    let judged = this.#judged;
    if (onProgress !== undefined) {
      request.onProgress = ({ done, total, judge }) => {
        if (judge !== undefined) judged = sum(this.#judged, judge);
        const known = judged === undefined ? {} : { judge: judged };
        onProgress({ done: this.#done + done, total: this.#done + total, ...known });
      };
    }
    try {
      set = await evaluatePart(request, (noted) => (notes = noted));
    } catch (error) {
      throw await this.#placed(error, pairs);
    }
    const { evalCaseResults: results, warnings, ...rest } = set;
    const placed = warnings?.map((warning) => ({ ...warning, ...placeOf(warning, pairs) }));
    const known = { ...rest, evalCaseResults: [], ...(placed === undefined ? {} : { warnings: placed }) };
    this.#whole.add(known, notes, results.length);
    this.#spent.add(set.judgeUsage);
    this.#done += results.length;
    this.#judged = judged;
    this.#cancelled = set.cancelled === true;
    return results;
  }

  /** What is left of the budget. */
  get #left(): Budget {
    const { timeMs, ...left } = this.#spent.left();
    return timeMs === undefined ? left : { ...left, timeMs: Math.max(0, timeMs - (Date.now() - 1000 * this.#began)) };
  }

  #textsOf({ cases, runs }: Pairs): Pick<EvaluateRequest, "evalSet" | "actual" | "evalSetName"> {
    const { kind = "eval_cases", evalSetId } = this.#streams.runs.kinds;
    const evalSetName = this.#streams.cases.kinds.evalSetId ?? this.#options.evalSetName ?? "evalset";
    return {
      evalSetName,
      evalSet: textOf(around("eval_cases", evalSetName), cases),
      actual: textOf(around(kind, evalSetId ?? evalSetName), runs),
    };
  }

  /** All that is known but the results of the cases. */
  get #set(): EvalSetResult {
    const set = this.#whole.set as EvalSetResult;
    const named = { ...set, ...namedResult(set.evalSetId, this.#began) };
    if (!this.#cancelled) return named;
    // How many there would have been is not known before all lines are read.
    const message = `The run was cancelled after ${count(this.#done, "result")}; the remaining lines were not evaluated`;
    return { ...named, cancelled: true, warnings: [{ code: "cancelled", message }, ...(named.warnings ?? [])] };
  }

  /** An error with its place in the streams. */
  async #placed(error: unknown, pairs: Pairs): Promise<unknown> {
    if (!(error instanceof AdkMetricsError) || !isOfLines(error.path)) return error;
    const { code, message, help } = error;
    const place = placeOf(error, pairs) ?? (await this.#guilty(error.path, pairs)) ?? { path: error.path };
    return new AdkMetricsError(code, message, { ...place, ...definedProperties({ help }), cause: error });
  }

  /** The first line that cannot be read by itself. */
  async #guilty(path: string, { cases, runs }: Pairs): Promise<Pick<Line, "path" | "line"> | undefined> {
    const lines = linesAt(path, { cases, runs });
    const at = await firstUnreadable(lines.length, async (at) => {
      const one = lines.slice(at, at + 1);
      const alone = lines === cases ? { cases: one, runs: [] } : { cases: [], runs: one };
      await evaluatePart({ ...this.#textsOf(alone), criteria: {}, countOnly: true }, () => {});
    });
    const found = at === undefined ? undefined : lines[at];
    return found && { path: found.path, line: found.line };
  }
}

function isOfLines(path: string | undefined): path is string {
  return /^(?:evalSet|actual)\b/.test(path ?? "");
}

function linesAt(path: string, { cases, runs }: Pairs): readonly Line[] {
  return path.startsWith("evalSet") ? cases : runs;
}

/** Where in the streams a mistake in a window is; undefined if that is not known. */
function placeOf({ path }: Pick<Mistake, "path">, pairs: Pairs): Pick<Mistake, "path" | "line"> | undefined {
  if (!isOfLines(path)) return undefined;
  const at = lineAt(path);
  const found = at === undefined ? undefined : linesAt(path, pairs)[at];
  if (found === undefined) return undefined;
  return { path: [found.path, withinLine(path)].filter(Boolean).join(": "), line: found.line };
}
