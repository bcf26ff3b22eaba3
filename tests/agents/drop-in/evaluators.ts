// Metrics written for ADK-TS, as its users write them. Nothing but the import below may change.

import {
  type EvalMetric,
  EvalStatus,
  type EvaluationResult,
  Evaluator,
  type Invocation,
  type MetricInfo,
  type PerInvocationResult,
} from "@iqai/adk";

/** The share of the expected tools that were called, in any order. */
export class ToolCoverageEvaluator extends Evaluator {
  static getMetricInfo(): MetricInfo {
    return {
      metricName: "tool_coverage",
      description: "How many of the expected tools were called",
      defaultThreshold: 0.5,
      experimental: true,
      metricValueInfo: { interval: { minValue: 0, maxValue: 1, openAtMin: false, openAtMax: false } },
    };
  }

  async evaluateInvocations(
    actualInvocations: Invocation[],
    expectedInvocations: Invocation[],
  ): Promise<EvaluationResult> {
    const perInvocationResults: PerInvocationResult[] = [];
    let total = 0;
    for (let i = 0; i < actualInvocations.length; i++) {
      const score = this.coverage(actualInvocations[i], expectedInvocations[i]);
      total += score;
      perInvocationResults.push({
        actualInvocation: actualInvocations[i],
        expectedInvocation: expectedInvocations[i],
        score,
        evalStatus: this.statusOf(score),
      });
    }
    const overallScore = actualInvocations.length > 0 ? total / actualInvocations.length : 0;
    return { overallScore, overallEvalStatus: this.statusOf(overallScore), perInvocationResults };
  }

  private coverage(actual: Invocation, expected: Invocation): number {
    const called = new Set(actual.intermediateData?.toolUses.map((call) => call.name));
    const wanted = expected.intermediateData?.toolUses ?? [];
    if (wanted.length === 0) return called.size === 0 ? 1 : 0;
    return wanted.filter((call) => called.has(call.name)).length / wanted.length;
  }

  private statusOf(score: number): EvalStatus {
    return score >= this.metric.threshold ? EvalStatus.PASSED : EvalStatus.FAILED;
  }
}

/** Whether answers are short and name the city that was asked for. */
export class CityEvaluator extends Evaluator {
  private readonly limit: number;

  constructor(metric: EvalMetric) {
    super(metric);
    this.limit = 80;
  }

  static override getMetricInfo(): MetricInfo {
    return { metricName: "names_the_city", description: "Names the city in few words" };
  }

  override async evaluateInvocations(actual: Invocation[], expected: Invocation[]): Promise<EvaluationResult> {
    const perInvocationResults = actual.map((invocation, at): PerInvocationResult => {
      const text = invocation.finalResponse?.parts?.map((part) => part.text ?? "").join("") ?? "";
      const city = String(invocation.intermediateData?.toolUses[0]?.args?.["city"]);
      const score = text.includes(city) && text.length <= this.limit ? 1 : 0;
      const evalStatus = score >= this.metric.threshold ? EvalStatus.PASSED : EvalStatus.FAILED;
      return { actualInvocation: invocation, expectedInvocation: expected[at], score, evalStatus };
    });
    const scores = perInvocationResults.map(({ score }) => score ?? 0);
    const overallScore = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    const overallEvalStatus = overallScore >= this.metric.threshold ? EvalStatus.PASSED : EvalStatus.FAILED;
    return { overallScore, overallEvalStatus, perInvocationResults };
  }
}
