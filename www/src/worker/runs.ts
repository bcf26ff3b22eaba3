/** The runs in the worker, and their columns. */

import {
  DEFAULT_METRIC_EVALUATOR_REGISTRY,
  type EvalCaseResult,
  type EvalMetricResult,
  type EvalMetricResultPerInvocation,
  type EvalSetResult,
  EvalStatus,
  finalText,
  type Invocation,
  knownScore,
  toolCallsOf,
  withThresholds,
} from "adk-metrics/web";
import { head } from "../ui/format.js";
import { withExactIntegers } from "./integers.js";
import type { Source } from "./replay.js";
import {
  type CaseContent,
  type Matching,
  type MetricColumn,
  MAX_MATCHED_WORDS,
  type Question,
  type RunSummary,
  type SetSummary,
  type TurnContent,
  type Verdicts,
} from "./protocol.js";
import { groupingsOf } from "./grouping.js";
import { binsOf, type Columns, type Scale, scaleOf, spreadOf, tallyOf } from "./scale.js";

/** The results of one evalset of a run. */
export interface ScoredSet {
  name: string;
  path?: string;
  /** What the config is called. */
  config?: string;
  result: EvalSetResult;
  /** The inputs; absent for results that were opened from elsewhere. */
  source?: Source;
}

/** The most reasons in a summary. */
const MAX_REASONS = 20;

/** A run: the results of its evalsets, and the thresholds that were set since. */
export class Run {
  readonly id: string;
  readonly #sets: readonly ScoredSet[];
  readonly #columns: readonly MetricColumn[];
  /** The results without turns: statuses do not depend on turns, and copying them would take most of the time. */
  readonly #setsWithoutTurns: readonly EvalSetResult[];
  /** The index in the columns of each result of each case, in the order of the results. */
  readonly #cellIndices: Uint32Array;
  readonly #scores: Float64Array;
  readonly #scales: readonly Scale[];
  /** The bin of each case, metric by metric. */
  readonly #bins: readonly Int8Array[];
  #thresholds: ReadonlyMap<string, number>;

  /** @param thresholds Replace the run's own thresholds. */
  constructor(id: string, sets: readonly ScoredSet[], thresholds: ReadonlyMap<string, number> = new Map()) {
    this.id = id;
    this.#thresholds = thresholds;
    this.#sets = sets;
    this.#columns = columnsOf(sets);
    const at = new Map(this.#columns.map(({ name }, column) => [name, column]));
    this.#setsWithoutTurns = sets.map(({ result }) => ({
      ...result,
      evalCaseResults: result.evalCaseResults.map((one) => ({ ...one, evalMetricResultPerInvocation: [] })),
    }));
    const cases = sets.flatMap(({ result }) => result.evalCaseResults);
    this.#cellIndices = Uint32Array.from(
      cases.flatMap(({ overallEvalMetricResults }, row) =>
        overallEvalMetricResults.map(({ metricName }) => row * this.#columns.length + (at.get(metricName) ?? 0)),
      ),
    );
    const scores = new Float64Array(cases.length * this.#columns.length).fill(Number.NaN);
    let next = 0;
    for (const { overallEvalMetricResults } of cases) {
      for (const metric of overallEvalMetricResults) {
        scores[this.#cellIndices[next++] as number] = knownScore(metric) ?? Number.NaN;
      }
    }
    this.#scores = scores;
    const columns: Columns = { metrics: [...this.#columns], scores };
    this.#scales = this.#columns.map((_, column) => scaleOf(columns, column));
    this.#bins = this.#scales.map((scale, column) => binsOf(columns, column, scale));
  }

  /** The current thresholds, as far as they were changed. */
  get thresholds(): ReadonlyMap<string, number> {
    return this.#thresholds;
  }

  /** The results as they were scored. */
  get sets(): readonly ScoredSet[] {
    return this.#sets;
  }

  /** The results with the current thresholds. */
  get results(): readonly EvalSetResult[] {
    return this.#sets.map(({ result }) =>
      marked(withOwnThresholds(result, this.#thresholds), this.#columns, this.#thresholds),
    );
  }

  summary(): RunSummary {
    const evalIds: string[] = [];
    const questions: string[] = [];
    const sets: SetSummary[] = [];
    for (const { name, path, config, result } of this.#sets) {
      const { evalSetId, dialect, evalCaseResults } = result;
      const { judges, judgeCalibrations, judgeUsage, simulatorUsage, cancelled, warnings } = result;
      const known = { path, config, judges, judgeCalibrations, judgeUsage, simulatorUsage, cancelled, warnings };
      sets.push({
        evalSetId,
        dialect,
        name,
        from: evalIds.length,
        count: evalCaseResults.length,
        scoredAt: result.creationTimestamp,
        ...definedProperties(known),
      });
      for (const one of evalCaseResults) {
        evalIds.push(one.evalId);
        questions.push(questionOf(one));
      }
    }
    return {
      id: this.id,
      sets,
      metrics: [...this.#columns],
      scales: [...this.#scales],
      evalIds,
      questions,
      scores: this.#scores.slice(),
      verdicts: this.#verdicts(new Map()),
      reasons: this.#reasons(),
    };
  }

  #reasons(): RunSummary["reasons"] {
    const found = new Map<string, RunSummary["reasons"][number]>();
    const all = this.#sets.flatMap(({ result }) => result.evalCaseResults);
    for (const { metricName: metric, reason, evalStatus } of all.flatMap((one) => one.overallEvalMetricResults)) {
      if (reason === undefined || evalStatus !== EvalStatus.NOT_EVALUATED) continue;
      const key = `${metric}\n${reason}`;
      const known = found.get(key) ?? { metric, reason, count: 0 };
      known.count += 1;
      found.set(key, known);
    }
    return [...found.values()].sort((a, b) => b.count - a.count).slice(0, MAX_REASONS);
  }

  /** Applies thresholds and returns the new verdicts. */
  setThresholds(thresholds: ReadonlyMap<string, number>): Verdicts {
    this.#thresholds = thresholds;
    return this.#verdicts(thresholds);
  }

  /** A case with the current thresholds; undefined if the row does not exist. */
  caseAt(row: number): CaseContent | undefined {
    const place = this.#locate(row);
    if (place === undefined) return undefined;
    const { set, result } = place;
    const [shown] = withOwnThresholds({ ...set.result, evalCaseResults: [result] }, this.#thresholds).evalCaseResults;
    return shown === undefined ? undefined : contentOf(exact(limitMatchedWords(shown), set.source));
  }

  /** What its cases can be grouped by, with the group of each. */
  get groupings(): ReturnType<typeof groupingsOf> {
    return groupingsOf(this.#sets);
  }

  /** A case as it was scored, the results of its evalset, and its inputs; undefined if the row does not exist. */
  setAndCaseAt(row: number): { set: EvalSetResult; result: EvalCaseResult; source?: Source } | undefined {
    const place = this.#locate(row);
    if (place === undefined) return undefined;
    const { set, result } = place;
    return { set: set.result, result, ...definedProperties({ source: set.source }) };
  }

  /** The questions that judges were asked about a case. */
  async questionsAt(row: number): Promise<Question[]> {
    const { set, result } = this.#locate(row) ?? {};
    if (set?.source === undefined || result === undefined || !isJudged(result)) return [];
    const runs = set.result.evalCaseResults.filter(({ evalId }) => evalId === result.evalId);
    const { questionsOf } = await import("./replay.js");
    return questionsOf(set.source, result, set.result.judges ?? [], runs.length === 1);
  }

  /** The tool calls of a case, matched in every mode. */
  async matchingsAt(row: number): Promise<Matching[]> {
    const { set, result } = this.#locate(row) ?? {};
    if (set === undefined || result === undefined) return [];
    const { matchingsOf } = await import("./replay.js");
    return matchingsOf(set.result.dialect, exact(result, set.source));
  }

  #locate(row: number): { set: ScoredSet; result: EvalCaseResult } | undefined {
    let before = 0;
    for (const set of this.#sets) {
      const { evalCaseResults } = set.result;
      const result = evalCaseResults[row - before];
      if (result !== undefined) return { set, result };
      before += evalCaseResults.length;
    }
    return undefined;
  }

  #verdicts(thresholds: ReadonlyMap<string, number>): Verdicts {
    const shown = this.#setsWithoutTurns.map((set) => withOwnThresholds(set, thresholds));
    const count = shown.reduce((sum, { evalCaseResults }) => sum + evalCaseResults.length, 0);
    const cases = new Uint8Array(count);
    const metrics = new Uint8Array(count * this.#columns.length);
    let row = 0;
    let next = 0;
    for (const { evalCaseResults } of shown) {
      for (const { finalEvalStatus, overallEvalMetricResults } of evalCaseResults) {
        cases[row++] = finalEvalStatus;
        for (const { evalStatus } of overallEvalMetricResults)
          metrics[this.#cellIndices[next++] as number] = evalStatus;
      }
    }
    const spreads = this.#bins.map((bins, column) => spreadOf(bins, metrics, this.#columns.length, column));
    return { cases, metrics, tally: tallyOf(cases), spreads };
  }
}

/** Results with a warning about thresholds that were moved since they were scored. */
function marked(
  result: EvalSetResult,
  columns: readonly MetricColumn[],
  thresholds: ReadonlyMap<string, number>,
): EvalSetResult {
  const moved = columns.flatMap(({ name, threshold }) => {
    const now = thresholds.get(name);
    return now === undefined || now === threshold ? [] : [`${name} from ${threshold} to ${now}`];
  });
  if (moved.length === 0) return result;
  const message = `thresholds were moved after scoring: ${moved.join(", ")}`;
  return { ...result, warnings: [...(result.warnings ?? []), { code: "invalid_input", message, path: "thresholds" }] };
}

/** How much of a question is shown in a row. */
const QUESTION_LENGTH = 160;

/** The beginning of what the user asked first, on one line. Results from elsewhere may lack any part of it. */
function questionOf({ evalMetricResultPerInvocation: turns }: EvalCaseResult): string {
  const parts = turns?.[0]?.actualInvocation?.userContent?.parts;
  const text = Array.isArray(parts) ? parts.find((part) => typeof part?.text === "string")?.text : undefined;
  return head(text ?? "", QUESTION_LENGTH)
    .replace(/\s+/g, " ")
    .trim();
}

/** Results with other thresholds. Thresholds of metrics that they do not have are ignored. */
function withOwnThresholds(result: EvalSetResult, thresholds: ReadonlyMap<string, number>): EvalSetResult {
  const wanted = [...thresholds];
  if (wanted.length === 0) return result;
  const own = wanted.filter(([name]) =>
    result.evalCaseResults.some((one) => one.overallEvalMetricResults.some(({ metricName }) => metricName === name)),
  );
  return own.length === 0 ? result : withThresholds(result, Object.fromEntries(own));
}

/**
 * Limits the matched words of responses, since marking millions of words would block the page. Results from elsewhere may
 * be damaged; that is left to the page to report.
 */
function limitMatchedWords(result: EvalCaseResult): EvalCaseResult {
  const isLong = ({ explanation }: EvalMetricResult) => (explanation?.tokens?.matched?.length ?? 0) > MAX_MATCHED_WORDS;
  const limited = (metric: EvalMetricResult): EvalMetricResult => {
    const { explanation } = metric;
    if (explanation?.tokens === undefined || !isLong(metric)) return metric;
    const matched = explanation.tokens.matched.slice(0, MAX_MATCHED_WORDS);
    return { ...metric, explanation: { ...explanation, tokens: { ...explanation.tokens, matched } } };
  };
  const turns = result.evalMetricResultPerInvocation;
  if (!turns?.some(({ evalMetricResults }) => evalMetricResults?.some(isLong))) return result;
  return {
    ...result,
    evalMetricResultPerInvocation: turns.map((turn) => ({
      ...turn,
      evalMetricResults: turn.evalMetricResults.map(limited),
    })),
  };
}

/** A case with every digit of its integers, as far as they are known. Damaged results are left as they are. */
function exact(result: EvalCaseResult, source: Source | undefined): EvalCaseResult {
  try {
    return withExactIntegers(result, source, toolCallsOf);
  } catch {
    return result;
  }
}

/**
 * A case with what its turns hold. Calls are objects of the results, so that they cross to the page once. Results from
 * elsewhere may be damaged; then no turn is read, which is left to the page to report.
 */
function contentOf(result: EvalCaseResult): CaseContent {
  try {
    return { result, turns: result.evalMetricResultPerInvocation.map(turnContentOf) };
  } catch {
    return { result, turns: [] };
  }
}

function turnContentOf({
  actualInvocation: actual,
  expectedInvocation: expected,
}: EvalMetricResultPerInvocation): TurnContent {
  const side = (invocation: Invocation) => ({ text: finalText(invocation), calls: toolCallsOf(invocation) });
  return {
    userText: finalText({ ...actual, finalResponse: actual.userContent }),
    actual: side(actual),
    ...(expected === undefined ? {} : { expected: side(expected) }),
  };
}

function isJudged({ evalMetricResultPerInvocation: turns }: EvalCaseResult): boolean {
  return turns.some(({ evalMetricResults }) => evalMetricResults.some(({ explanation }) => explanation?.samples));
}

/** The metrics of a run in the order of their first results, informational ones last. */
function columnsOf(sets: readonly ScoredSet[]): MetricColumn[] {
  const infos = new Map(
    DEFAULT_METRIC_EVALUATOR_REGISTRY.getRegisteredMetrics().map((info) => [info.metricName, info]),
  );
  const columns = new Map<string, MetricColumn & { informs: boolean }>();
  for (const { result } of sets) {
    for (const { overallEvalMetricResults } of result.evalCaseResults) {
      for (const { metricName: name, threshold, evalStatus } of overallEvalMetricResults) {
        const column = columns.get(name);
        if (column === undefined) {
          const { minValue: min, maxValue: max } = infos.get(name)?.metricValueInfo?.interval ?? {};
          const informs = evalStatus === EvalStatus.INFORMATIONAL;
          columns.set(name, { name, informs, ...definedProperties({ threshold, min, max }) });
        } else if (column.threshold === undefined && threshold !== undefined) column.threshold = threshold;
      }
    }
  }
  return [...columns.values()]
    .sort((a, b) => Number(a.informs) - Number(b.informs))
    .map(({ informs: _informs, ...column }) => column);
}

/** The object without its undefined properties. */
export function definedProperties<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
