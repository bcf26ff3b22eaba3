// Agents of both libraries and functions are what the declarations ask for; code for ADK-TS's evaluators compiles as it is.

import * as google from "@google/adk";
import type { BaseAgent, BuiltAgent, EvalSet as AdkTsEvalSet, LlmAgent, Runner } from "@iqai/adk";
import {
  AgentBuilder,
  type EvaluationResult as AdkTsEvaluationResult,
  Evaluator as AdkTsEvaluator,
  InMemoryRunner,
} from "@iqai/adk";
import {
  type Agent,
  AgentEvaluationError,
  AgentEvaluator,
  type AgentTurn,
  type Criteria,
  EvalResult,
  type EvalSet,
  type EvalSetResult,
  type EvaluateConfig,
  type Invocation,
  LocalEvalService,
  MetricEvaluatorRegistry,
  type MetricValueInfo,
} from "adk-metrics";

export async function asWithAdkTs(agent: BaseAgent, evalSet: AdkTsEvalSet): Promise<void> {
  await AgentEvaluator.evaluate(agent, "evals/weather.test.json", 2, "session.json");
  await AgentEvaluator.evaluateEvalSet(agent, evalSet, { response_match_score: 0.8 }, 2, true);
  const criteria: Record<string, number> = { response_match_score: 0.8 };
  await AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria);
  const found: Record<string, number> = await AgentEvaluator.findConfigForTestFile("evals/weather.test.json");
  await AgentEvaluator.evaluateEvalSet(agent, evalSet, found);
  const thresholds = await AgentEvaluator.findConfigForTestFile("evals/weather.test.json");
  thresholds["response_match_score"]?.toFixed(2);
  const withSettings: Criteria = await AgentEvaluator.findConfigForTestFile("evals/weather.test.json");
  await AgentEvaluator.evaluateEvalSet(agent, evalSet, withSettings);
  await AgentEvaluator.migrateEvalDataToNewSchema("old.json", "new.json", "session.json");
}

export async function inTwoSteps(agent: BaseAgent, evalSet: EvalSet): Promise<EvalResult[]> {
  const service = new LocalEvalService(agent, 4);
  const inferenceResults: Invocation[][] = [];
  for await (const result of service.performInference({ evalSetId: "s", evalCases: [evalSet] })) {
    inferenceResults.push(result);
  }
  const evaluateConfig: EvaluateConfig = { evalMetrics: [{ metricName: "safety_v1", threshold: 1 }], parallelism: 2 };
  const results: EvalResult[] = [];
  for await (const result of service.evaluate({ inferenceResults, evaluateConfig })) results.push(result);
  return results;
}

export function everyAgent(
  llm: LlmAgent,
  built: BuiltAgent,
  runner: Runner,
  googleAgent: google.LlmAgent,
  googleRunner: google.Runner,
  app: google.App,
): (Agent | Promise<Agent>)[] {
  return [
    llm,
    built,
    runner,
    new InMemoryRunner(llm),
    AgentBuilder.create("a").withModel("m"),
    AgentBuilder.create("a").withModel("m").build(),
    googleAgent,
    googleRunner,
    new google.InMemoryRunner({ agent: googleAgent }),
    app,
    () => "text",
    async (message: string) => ({ parts: [{ text: message }] }),
    async function* (message: string, { signal, state }: AgentTurn) {
      if (!signal.aborted) yield { author: "a", content: { parts: [{ text: `${message} ${String(state.x)}` }] } };
    },
    (message, { userId, sessionId }) =>
      googleRunner.runAsync({ userId, sessionId, newMessage: { role: "user", parts: [{ text: message }] } }),
  ];
}

export async function failures(agent: Agent, evalSet: object): Promise<EvalSetResult | number | undefined> {
  try {
    return await AgentEvaluator.evaluateEvalSet(agent, evalSet, { hallucinations_v1: { threshold: 0.5 } }, 1, false, {
      judge: async () => "",
      parallelism: 2,
      turnTimeoutMs: 1_000,
      userSimulator: { maxAllowedInvocations: 3 },
    });
  } catch (error) {
    return error instanceof AgentEvaluationError ? error.failures[0]?.score : undefined;
  }
}

export const info: MetricValueInfo = {};

class Polite extends AdkTsEvaluator {
  async evaluateInvocations(): Promise<AdkTsEvaluationResult> {
    return { overallScore: this.metric.threshold, overallEvalStatus: 1, perInvocationResults: [] };
  }
  static override getMetricInfo() {
    return { metricName: "polite" };
  }
}
new MetricEvaluatorRegistry().registerEvaluator({ metricName: "polite" }, Polite);
new MetricEvaluatorRegistry().registerEvaluator(Polite.getMetricInfo(), Polite);

// @ts-expect-error: a text is no agent
void AgentEvaluator.evaluateEvalSet("agent", {}, {});
// @ts-expect-error: neither is an object without anything to run
void AgentEvaluator.evaluateEvalSet({ name: "agent" }, {}, {});
