// Wrong use does not compile: each error below is expected, and a line that compiles fails the check.

import {
  AgentEvaluator,
  EvalStatus,
  evaluate,
  Evaluator,
  MetricEvaluatorRegistry,
  PrebuiltMetrics,
  rouge1,
  RougeEvaluator,
  withThresholds,
} from "adk-metrics";

// @ts-expect-error a metric has a name
new RougeEvaluator({ threshold: 1 });
// @ts-expect-error a threshold is a number
new RougeEvaluator({ metricName: "response_match_score", threshold: "1" });
// @ts-expect-error there is no such dialect
new RougeEvaluator({ metricName: "response_match_score" }, { dialect: "adk-java" });
// @ts-expect-error evaluators of one's own implement evaluateInvocations
export class Nothing extends Evaluator {}
// @ts-expect-error Evaluator is abstract
new Evaluator({ metricName: "x" });
// @ts-expect-error a request names what the agent did
void evaluate({ evalSet: "{}" });
// @ts-expect-error an input is no number
void evaluate({ evalSet: 1, actual: "{}" });
// @ts-expect-error `explain` is one of three
void evaluate({ evalSet: "{}", actual: "{}", explain: true });
// @ts-expect-error texts are compared
rouge1("a", 1);
// @ts-expect-error scores are numbers
export const score: string = rouge1("a", "b").fmeasure;
// @ts-expect-error a conversation is a list of invocations
void new RougeEvaluator({ metricName: "x" }).evaluateInvocations({});
// @ts-expect-error an object is no evaluator class
new MetricEvaluatorRegistry().registerEvaluator({ metricName: "x" }, {});
// @ts-expect-error a text is no score
new MetricEvaluatorRegistry().registerEvaluator({ metricName: "x" }, () => "1");
// @ts-expect-error there is no such metric
export const unknown = PrebuiltMetrics.NONSENSE;
// @ts-expect-error nor such a status
export const status = EvalStatus.UNKNOWN;

export async function onResults(): Promise<void> {
  const set = await evaluate({ evalSet: "{}", actual: "{}" });
  // @ts-expect-error results are under evalCaseResults
  void set.results;
  // @ts-expect-error a score may be absent
  set.evalCaseResults[0]!.overallEvalMetricResults[0]!.score.toFixed();
  // @ts-expect-error thresholds are numbers or criteria
  withThresholds(set, { response_match_score: "0.5" });
}

const wanted = { response_match_score: 0.5 };
// @ts-expect-error an agent answers in words, content or events
void AgentEvaluator.evaluateEvalSet(async () => 5, "", wanted);
// @ts-expect-error an agent answers in words, content or events
void AgentEvaluator.evaluateEvalSet(() => true, "", wanted);
void AgentEvaluator.evaluateEvalSet(async () => "Hello", "", wanted);
void AgentEvaluator.evaluateEvalSet(async () => null, "", wanted);
void AgentEvaluator.evaluateEvalSet(async () => ({ parts: [{ text: "Hello" }] }), "", wanted);
void AgentEvaluator.evaluateEvalSet(
  async function* () {
    yield "Hello";
  },
  "",
  wanted,
);

// @ts-expect-error The function does not return its answer.
void AgentEvaluator.evaluateEvalSet(async () => {}, "", {});
