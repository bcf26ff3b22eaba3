import type { EvalStatus } from "../enums.js";
import { describe, type EngineMistake } from "../errors.js";
import type { Batch } from "../generated/adk_metrics.js";
import type {
  Criterion,
  EvalCaseResult,
  EvalMetricResult,
  EvalMetricResultDetails,
  EvalMetricResultPerInvocation,
  Explanation,
  Invocation,
} from "../types.js";
import type { InvocationSource, Span } from "./invocations.js";

/** A metric of the run, in the order of the slots. */
export interface HeaderMetric {
  metricName: string;
  threshold?: number;
  criterion?: Criterion;
}

/** What the engine says before anything is scored. */
export interface Header {
  evalSetId: string;
  metrics: HeaderMetric[];
  total: number;
  warnings: EngineMistake[];
}

/** Where the invocations of both inputs are found. */
export interface Sources {
  actual: InvocationSource;
  expected: InvocationSource;
}

/** A case result, and what tells it from the others of its run. */
export interface DecodedCase {
  key: string;
  result: EvalCaseResult;
  /** Why the case could not be scored. */
  failure?: EngineMistake;
  /** Why single metrics could not be computed. */
  errors: EngineMistake[];
}

/** What is rare about a slot. */
interface Note {
  details?: EvalMetricResultDetails;
  explanation?: Explanation;
  error?: EngineMistake;
}

const NUMBERS_PER_CASE = 5;
const NOT_IN_PLACE = 0xffff_ffff;

/** The case results of a batch. The columns are described where the engine fills them: `src/wasm/batch.rs`. */
export function decodeCases(batch: Batch, header: Header, sources: Sources): DecodedCase[] {
  const cases = batch.cases();
  if (cases.length === 0) return [];
  const [scores, statuses, reasons, spans] = [batch.scores(), batch.statuses(), batch.reasons(), batch.spans()];
  const [ids, reasonTexts] = [batch.ids().split("\0"), batch.reasonTexts()];
  const notes = new Map(JSON.parse(batch.notes()) as [number, Note][]);
  const texts = (JSON.parse(batch.texts()) as Invocation[])[Symbol.iterator]();
  const { metrics, evalSetId } = header;
  let slot = 0;
  let span = 0;

  const metricResult = (metric: HeaderMetric): EvalMetricResult => {
    const score = scores[slot] as number;
    const reason = reasons[slot] as number;
    const result: EvalMetricResult = { metricName: metric.metricName, evalStatus: statuses[slot] as EvalStatus };
    if (metric.threshold !== undefined) result.threshold = metric.threshold;
    if (metric.criterion !== undefined) result.criterion = metric.criterion;
    if (score === score) result.score = score;
    if (reason !== 0) result.reason = reasonTexts[reason - 1] as string;
    const note = notes.size === 0 ? undefined : notes.get(slot);
    if (note?.details !== undefined) result.details = note.details;
    if (note?.explanation !== undefined) result.explanation = note.explanation;
    slot += 1;
    return result;
  };

  const invocation = (source: InvocationSource, conversation: number, turn: number): (() => Invocation) | undefined => {
    const [start, end] = [spans[span] as number, spans[span + 1] as number];
    span += 2;
    if (end === 0) return undefined;
    if (end !== NOT_IN_PLACE) return () => source.at(conversation, turn, [start, end]);
    const made = texts.next().value as Invocation;
    return () => made;
  };

  const decoded: DecodedCase[] = [];
  for (let at = 0; at < cases.length; at += NUMBERS_PER_CASE) {
    const number = at / NUMBERS_PER_CASE;
    const [place, run, status, turns, scored] = cases.subarray(at, at + NUMBERS_PER_CASE) as unknown as number[] as [
      number,
      number,
      number,
      number,
      number,
    ];
    const firstSlot = slot;
    const overall = scored === 1 ? metrics.map(metricResult) : [];
    const perInvocation: EvalMetricResultPerInvocation[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const actual = invocation(sources.actual, run - 1, turn);
      const expected = invocation(sources.expected, place, turn);
      perInvocation.push(turnResult(actual, expected, metrics.map(metricResult)));
    }
    const result: EvalCaseResult = {
      evalSetId,
      evalId: ids[3 * number] as string,
      finalEvalStatus: status as EvalStatus,
      overallEvalMetricResults: overall,
      evalMetricResultPerInvocation: perInvocation,
      sessionId: ids[3 * number + 1] as string,
    };
    const userId = ids[3 * number + 2] as string;
    if (userId !== "") result.userId = userId;
    const failure = notes.get(-1 - number) as EngineMistake | undefined;
    if (failure !== undefined) result.reason = describe(failure);
    const errors = overall.flatMap((_, index) => notes.get(firstSlot + index)?.error ?? []);
    decoded.push({ key: `${place}/${run}`, result, errors, ...(failure === undefined ? {} : { failure }) });
  }
  return decoded;
}

/** Invocations are parsed when they are first looked at, so that a large run does not pay for them. */
function turnResult(
  actual: (() => Invocation) | undefined,
  expected: (() => Invocation) | undefined,
  evalMetricResults: EvalMetricResult[],
): EvalMetricResultPerInvocation {
  let knownActual: Invocation | undefined;
  let knownExpected: Invocation | undefined;
  if (expected === undefined) {
    return {
      get actualInvocation() {
        return (knownActual ??= actual?.() ?? { userContent: {} });
      },
      evalMetricResults,
    };
  }
  return {
    get actualInvocation() {
      return (knownActual ??= actual?.() ?? { userContent: {} });
    },
    get expectedInvocation() {
      return (knownExpected ??= expected());
    },
    evalMetricResults,
  };
}

/** A metric of the user's own that the engine asks for. */
export interface HostTask {
  id: number;
  metric: number;
  case: number;
  run: number | null;
  actual: HostTurn[] | null;
  expected: HostTurn[] | null;
  scenario: object | null;
}

/** Where an invocation stands in its input, or the invocation itself. */
export type HostTurn = Span | Invocation;

/** The tasks of a batch. */
export function decodeTasks(batch: Batch): HostTask[] {
  return JSON.parse(batch.tasks()) as HostTask[];
}

/** The invocations of one side of a task. */
export function taskInvocations(turns: HostTurn[] | null, source: InvocationSource, conversation: number): Invocation[] {
  return (turns ?? []).map((turn, index) =>
    Array.isArray(turn) ? source.at(conversation, index, turn as Span) : (turn as Invocation),
  );
}
