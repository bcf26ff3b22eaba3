// The contract's signatures, used as their users do.

import {
  AdkMetricsError,
  type AdkMetricsErrorCode,
  type AlignmentEntry,
  compareRuns,
  type CompareOptions,
  type ConversationScenario,
  DEFAULT_METRIC_EVALUATOR_REGISTRY,
  type Dialect,
  type EvalCaseResult,
  type EvalMetric,
  type EvalMetricResult,
  type EvalSet,
  type EvalSetResult,
  EvalStatus,
  evalSetToAdkJson,
  evaluate,
  evaluateStream,
  type EvaluateRequest,
  type EvaluationResult,
  Evaluator,
  type EvaluatorOptions,
  type Invocation,
  type MetricAnswer,
  MetricEvaluatorRegistry,
  type MetricFunction,
  type MetricInfo,
  type PerInvocationResult,
  PrebuiltMetrics,
  type Progress,
  readEvalSet,
  ResponseEvaluator,
  type ResultChange,
  resultsToAdkJson,
  rouge1,
  RougeEvaluator,
  type PassComparison,
  type PassCounts,
  type RunComparison,
  TrajectoryEvaluator,
  withThresholds,
} from "adk-metrics";
import * as report from "adk-metrics/report";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
/** Whether `any` stands at the top of a type or of one of its properties. */
type HasAny<T> = IsAny<T> extends true ? true : true extends { [K in keyof T]-?: IsAny<T[K]> }[keyof T] ? true : false;
const holds = <T extends true>(): T | undefined => undefined;

// ---- values and their types

holds<Same<(typeof EvalStatus)["PASSED"] extends 1 ? true : false, true>>();
holds<Same<EvalStatus.INFORMATIONAL extends 4 ? true : false, true>>();
holds<Same<`${PrebuiltMetrics.TOOL_TRAJECTORY_SCORE}`, "tool_trajectory_score">>();
holds<Same<`${PrebuiltMetrics.RESPONSE_MATCH}`, "response_match">>();
holds<Same<`${PrebuiltMetrics.SAFETY}`, "safety">>();
holds<Same<Dialect, "adk-python" | "adk-ts">>();

const invocation: Invocation = {
  invocationId: "1",
  userContent: { role: "user", parts: [{ text: "Weather?" }] },
  finalResponse: { role: "model", parts: [{ text: "Sunny" }] },
  intermediateData: { toolUses: [{ name: "get_weather", args: { city: "London" } }], intermediateResponses: [] },
  creationTimestamp: 0,
};
const evalSet: EvalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: [invocation] }] };
const metric: EvalMetric = { metricName: PrebuiltMetrics.RESPONSE_MATCH_SCORE, threshold: 0.8 };

// ---- evaluators

export async function evaluators(signal: AbortSignal): Promise<number | undefined> {
  const options: EvaluatorOptions = {
    dialect: "adk-ts",
    explain: "failures",
    concurrency: 4,
    timeoutMs: 1000,
    signal,
    onProgress: ({ done, total }: Progress) => void (done / total),
  };
  const evaluator: Evaluator = new RougeEvaluator(metric, options);
  new ResponseEvaluator(metric);
  new TrajectoryEvaluator({
    metricName: "tool_trajectory_avg_score",
    criterion: { threshold: 1, matchType: "IN_ORDER" },
  });
  const result: EvaluationResult = await evaluator.evaluateInvocations([invocation], [invocation]);
  const turn: PerInvocationResult | undefined = result.perInvocationResults[0];
  const alignment: AlignmentEntry[] | undefined = turn?.explanation?.alignment;
  holds<Same<PerInvocationResult["evalStatus"], EvalStatus>>();
  holds<Same<PerInvocationResult["reason"], string | undefined>>();
  return alignment?.[0]?.expectedIndex ?? result.overallScore;
}

class WordCount extends Evaluator {
  override async evaluateInvocations(
    actual: Invocation[],
    _expected?: Invocation[],
    _scenario?: ConversationScenario,
  ): Promise<EvaluationResult> {
    const perInvocationResults = actual.map((actualInvocation) => ({
      actualInvocation,
      score: 1,
      evalStatus: EvalStatus.PASSED,
    }));
    return { overallScore: this.metric.threshold ?? 1, overallEvalStatus: EvalStatus.PASSED, perInvocationResults };
  }
  static override getMetricInfo(metricName = "word_count"): MetricInfo {
    return {
      metricName,
      metricValueInfo: { interval: { minValue: 0, openAtMin: false, maxValue: 1, openAtMax: true } },
    };
  }
}

class AtOnce extends Evaluator {
  override evaluateInvocations(): EvaluationResult {
    return { overallEvalStatus: EvalStatus.NOT_EVALUATED, perInvocationResults: [], reason: "not today" };
  }
}

// ---- the registry

export const registry = new MetricEvaluatorRegistry({ dialect: "adk-python" });
registry.registerEvaluator(WordCount.getMetricInfo(), WordCount);
registry.registerEvaluator({ metricName: "words", metricValueInfo: { interval: { minValue: 0 } } }, WordCount);
registry.registerEvaluator({ metricName: "at_once" }, AtOnce);
registry.registerEvaluator({ metricName: "a_number" }, () => 1);
registry.registerEvaluator({ metricName: "a_result" }, async (of, actual, expected, scenario) => ({
  reason: `${of.metricName} ${scenario?.startingPrompt ?? ""} ${expected?.length ?? 0}`,
  perInvocationResults: actual.map(() => ({ score: 1 })),
}));
export const own: MetricFunction = (of): MetricAnswer =>
  of.threshold ?? { overallScore: 0, perInvocationResults: [{}] };
export const fork: MetricEvaluatorRegistry = registry.fork();
export const infos: MetricInfo[] = registry.getRegisteredMetrics();
export const found: Evaluator = DEFAULT_METRIC_EVALUATOR_REGISTRY.getEvaluator(metric);

// ---- evaluate

export async function inputs(bytes: Uint8Array): Promise<EvalSetResult> {
  await evaluate({ evalSet, actual: evalSet, criteria: { response_match_score: 0.8 } });
  await evaluate({ evalSet: "{}", actual: bytes, config: bytes, registry, evalIds: ["c"], evalSetName: "home" });
  await evaluate({
    evalSet: bytes,
    actual: [{ evalCaseId: "c", inferences: [invocation] }],
    config: { criteria: { a: { threshold: 1 } } },
  });
  await evaluate({ evalSet: { eval_set_id: "s", eval_cases: [] }, actual: { events: [] } });
  const request: EvaluateRequest = { evalSet, actual: evalSet };
  const stream = evaluateStream(request);
  holds<Same<typeof stream, AsyncGenerator<EvalCaseResult, EvalSetResult>>>();
  for await (const { evalId, finalEvalStatus, overallEvalMetricResults } of stream) {
    holds<Same<typeof evalId, string>>();
    holds<Same<typeof overallEvalMetricResults, EvalMetricResult[]>>();
    if (finalEvalStatus === EvalStatus.FAILED) break;
  }
  const set = await evaluate(request);
  await evaluate({ ...request, actual: set });
  const [first] = set.evalCaseResults;
  const actual: Invocation | undefined = first?.evalMetricResultPerInvocation[0]?.actualInvocation;
  void actual;
  return withThresholds(set, { response_match_score: 0.5, tool_trajectory_avg_score: { threshold: 1 } });
}

// ---- compareRuns

export function regressionsOf(baseline: EvalSetResult, stored: Uint8Array): string[] {
  const options: CompareOptions = { resamples: 1000, seed: 7, confidence: 0.9 };
  compareRuns("{}", { eval_set_result_id: "r", eval_set_id: "s", eval_case_results: [] });
  const comparison: RunComparison = compareRuns(baseline, stored, options);
  const { hasRegressions, cases, metrics, counts, thresholdChanges, bootstrap, passes } = comparison;
  const { change: passed, baseline: before, interval: range, chance }: PassComparison = passes;
  holds<Same<typeof before, PassCounts>>();
  void [passed, range?.low, chance];
  holds<Same<typeof hasRegressions, boolean>>();
  holds<Same<keyof typeof counts, ResultChange>>();
  holds<Same<typeof bootstrap, { resamples: number; seed: number; confidence: number }>>();
  for (const { metricName, goal, change, difference, interval, verdicts } of metrics) {
    holds<Same<typeof goal, "higher" | "lower">>();
    holds<Same<typeof change, "better" | "worse" | "unclear" | "unchanged">>();
    holds<Same<typeof difference, number | undefined>>();
    holds<Same<typeof interval, { low: number; high: number } | undefined>>();
    void [metricName, verdicts?.passedToFailed];
  }
  const turn = cases[0]?.metrics[0]?.turns[0];
  const was: EvalStatus | undefined = turn?.baseline?.status;
  const rendered: string[] = [
    report.renderComparisonTable(comparison, { color: true, width: 80 }),
    report.renderComparisonMarkdown([comparison], { maxRows: 10 }),
    report.renderComparisonCsv(comparison),
    report.renderComparisonJson(comparison),
  ];
  void [thresholdChanges, turn?.invocationIndex, was, rendered];
  return cases.filter(({ change }) => change === "regressed").map(({ evalId }) => evalId);
}

export const text: string = evalSetToAdkJson(evalSet, "name");
export const readAgain: EvalSet = readEvalSet(text);
export const written = (set: EvalSetResult): string => resultsToAdkJson(set);
export const { precision, recall, fmeasure } = rouge1("a", "b", { dialect: "adk-ts" });

export function onError(error: unknown): AdkMetricsErrorCode | undefined {
  if (!(error instanceof AdkMetricsError)) return undefined;
  const { code, message, path, line, help, cause } = error;
  holds<Same<typeof message, string>>();
  holds<Same<typeof path, string | undefined>>();
  holds<Same<typeof line, number | undefined>>();
  holds<Same<typeof help, string | undefined>>();
  holds<Same<typeof cause, unknown>>();
  // The codes are a union of texts, not any text.
  holds<string extends typeof code ? false : true>();
  return code === "engine_crashed" || code === "unserializable" ? undefined : code;
}

// ---- no `any` comes out

type Results = [
  Awaited<ReturnType<typeof evaluate>>,
  EvalCaseResult,
  EvalMetricResult,
  EvalMetricResult["explanation"] & object,
  EvalMetricResult["details"] & object,
  EvalCaseResult["evalMetricResultPerInvocation"][number],
  Awaited<ReturnType<RougeEvaluator["evaluateInvocations"]>>,
  PerInvocationResult,
  ReturnType<typeof evalSetToAdkJson>,
  ReturnType<typeof readEvalSet>,
  EvalSet["evalCases"][number],
  Invocation,
  Invocation["userContent"],
  ReturnType<typeof rouge1>,
  ReturnType<typeof withThresholds>,
  RunComparison,
  RunComparison["cases"][number],
  RunComparison["cases"][number]["metrics"][number],
  RunComparison["metrics"][number],
  ReturnType<MetricEvaluatorRegistry["getRegisteredMetrics"]>[number],
  ReturnType<MetricEvaluatorRegistry["getEvaluator"]>,
  AdkMetricsError,
  AdkMetricsErrorCode,
];
holds<Same<{ [K in keyof Results]: HasAny<Results[K]> }[number], false>>();

type Exports = typeof import("adk-metrics");
holds<Same<HasAny<Exports>, false>>();
type ReportResults = {
  [K in keyof typeof report]: (typeof report)[K] extends (...given: never[]) => infer R ? IsAny<R> : false;
};
holds<Same<ReportResults[keyof ReportResults], false>>();
holds<Same<HasAny<typeof report>, false>>();
