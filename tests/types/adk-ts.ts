// Code written for @iqai/adk compiles with only the import changed.

import {
  type EvalMetric,
  type EvalSet,
  EvalStatus,
  type EvaluationResult,
  Evaluator,
  type Invocation,
  type MetricInfo,
  PrebuiltMetrics,
  RougeEvaluator,
  TrajectoryEvaluator,
} from "adk-metrics";

const evalMetric: EvalMetric = { metricName: PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE, threshold: 1.0 };

export async function scores(actual: Invocation[], expected: Invocation[]): Promise<string[]> {
  const evaluators = [
    new TrajectoryEvaluator(evalMetric),
    new RougeEvaluator({ metricName: "response_match", threshold: 0.8 }),
  ];
  const lines: string[] = [];
  for (const evaluator of evaluators) {
    const result = await evaluator.evaluateInvocations(actual, expected);
    for (const { actualInvocation, expectedInvocation, score, evalStatus } of result.perInvocationResults) {
      const asked = actualInvocation.userContent.parts?.[0]?.text;
      const wanted = expectedInvocation?.finalResponse?.parts?.map((part) => part.text).join(" ");
      lines.push(`${EvalStatus[evalStatus]} ${score?.toFixed(2)} ${asked} ${wanted}`);
    }
  }
  return lines;
}

export class LengthEvaluator extends Evaluator {
  static override getMetricInfo(): MetricInfo {
    return {
      metricName: "length",
      description: "How long the answers are",
      metricValueInfo: { interval: { minValue: 0.0, openAtMin: false, maxValue: 1.0, openAtMax: false } },
    };
  }
  async evaluateInvocations(actual: Invocation[], expected: Invocation[] = []): Promise<EvaluationResult> {
    const perInvocationResults = actual.map((actualInvocation, index) => ({
      actualInvocation,
      ...(expected[index] === undefined ? {} : { expectedInvocation: expected[index] }),
      score: actualInvocation.finalResponse?.parts?.[0]?.text?.length ?? 0,
      evalStatus: EvalStatus.PASSED,
    }));
    return { overallScore: 1, overallEvalStatus: EvalStatus.PASSED, perInvocationResults };
  }
}

export const evalSet: EvalSet = {
  evalSetId: "weather",
  name: "Weather",
  description: "Asks for the weather",
  evalCases: [
    {
      evalId: "case-1",
      conversation: [
        {
          invocationId: "expected-1",
          userContent: { role: "user", parts: [{ text: "Weather?" }] },
          finalResponse: { role: "model", parts: [{ text: "Sunny" }] },
          intermediateData: {
            toolUses: [{ name: "get_weather", args: { city: "London" } }],
            intermediateResponses: [["agent", [{ text: "…" }]]],
          },
          creationTimestamp: Date.now() / 1000,
        },
      ],
      sessionInput: { appName: "app", userId: "user", state: {} },
    },
  ],
  creationTimestamp: 0,
};
