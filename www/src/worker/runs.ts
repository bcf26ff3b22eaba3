/** The runs that the worker holds, and their columns. */

import { EvalStatus, type EvalSetResult, withThresholds } from "adk-metrics/web";
import type { CaseRow, MetricColumn, RunSummary, SetSummary, Verdicts } from "./protocol.js";

/** A run: the results of its evalsets, as they were scored and as they are under the thresholds set since. */
export class Run {
  readonly id: string;
  readonly #names: readonly string[];
  readonly #scored: readonly EvalSetResult[];
  #shown: readonly EvalSetResult[];

  constructor(id: string, sets: readonly { name: string; result: EvalSetResult }[]) {
    this.id = id;
    this.#names = sets.map(({ name }) => name);
    this.#scored = sets.map(({ result }) => result);
    this.#shown = this.#scored;
  }

  /** The results under the thresholds last set. */
  get results(): readonly EvalSetResult[] {
    return this.#shown;
  }

  summary(): RunSummary {
    const metrics = columnsOf(this.#shown);
    const at = new Map(metrics.map(({ name }, index) => [name, index]));
    const cases: CaseRow[] = [];
    const sets: SetSummary[] = [];
    for (const [set, result] of this.#shown.entries()) {
      const { evalSetId, judges, judgeUsage, cancelled, warnings, dialect } = result;
      const count = result.evalCaseResults.length;
      const known = { judges, judgeUsage, cancelled, warnings };
      sets.push({
        evalSetId,
        dialect,
        name: this.#names[set] ?? evalSetId,
        from: cases.length,
        count,
        ...present(known),
      });
      for (const one of result.evalCaseResults) {
        const turns = one.evalMetricResultPerInvocation.length;
        cases.push({ evalId: one.evalId, set, turns, ...(one.reason === undefined ? {} : { reason: one.reason }) });
      }
    }
    const scores = new Float64Array(cases.length * metrics.length).fill(Number.NaN);
    this.#eachResult((row, { metricName, score }) => {
      const column = at.get(metricName);
      if (column !== undefined && score !== undefined) scores[row * metrics.length + column] = score;
    });
    return { id: this.id, sets, metrics, cases, scores, verdicts: this.verdicts() };
  }

  /** Decides every status anew and says what they are. */
  setThresholds(thresholds: Readonly<Record<string, number>>): Verdicts {
    this.#shown = this.#scored.map((result) => {
      const names = new Set(metricNames([result]));
      const own = Object.fromEntries(Object.entries(thresholds).filter(([name]) => names.has(name)));
      return withThresholds(result, own);
    });
    return this.verdicts();
  }

  verdicts(): Verdicts {
    const names = metricNames(this.#shown);
    const at = new Map(names.map((name, index) => [name, index]));
    const cases = Uint8Array.from(this.#allCases(), ({ finalEvalStatus }) => finalEvalStatus);
    const metrics = new Uint8Array(cases.length * names.length);
    this.#eachResult((row, { metricName, evalStatus }) => {
      const column = at.get(metricName);
      if (column !== undefined) metrics[row * names.length + column] = evalStatus;
    });
    return { cases, metrics };
  }

  caseAt(row: number) {
    return this.#allCases()[row];
  }

  #allCases() {
    return this.#shown.flatMap(({ evalCaseResults }) => evalCaseResults);
  }

  #eachResult(visit: (row: number, result: { metricName: string; score?: number; evalStatus: EvalStatus }) => void) {
    let row = 0;
    for (const { evalCaseResults } of this.#shown) {
      for (const { overallEvalMetricResults } of evalCaseResults) {
        for (const result of overallEvalMetricResults) visit(row, result);
        row += 1;
      }
    }
  }
}

function metricNames(results: readonly EvalSetResult[]): string[] {
  const names = new Set<string>();
  for (const { evalCaseResults } of results) {
    for (const { overallEvalMetricResults } of evalCaseResults) {
      for (const { metricName } of overallEvalMetricResults) names.add(metricName);
    }
  }
  return [...names];
}

function columnsOf(results: readonly EvalSetResult[]): MetricColumn[] {
  const columns = new Map<string, MetricColumn>();
  for (const { evalCaseResults } of results) {
    for (const { overallEvalMetricResults } of evalCaseResults) {
      for (const { metricName: name, threshold } of overallEvalMetricResults) {
        const known = columns.get(name);
        if (known === undefined) columns.set(name, { name, ...present({ threshold }) });
        else if (known.threshold === undefined && threshold !== undefined) known.threshold = threshold;
      }
    }
  }
  return [...columns.values()];
}

/** The properties that have a value. */
export function present<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
