/** Custom metrics that are functions, as google-adk's custom metrics are. */

import { isObject, unexpected } from "./engine/values.js";
import { AdkMetricsError } from "./errors.js";
import { Evaluator, type EvaluatorClass } from "./evaluators.js";
import type {
  ConversationScenario,
  EvalMetric,
  EvaluationResult,
  EvaluatorOptions,
  Invocation,
  PerInvocationResult,
} from "./types.js";

/** What a {@link MetricFunction} found in one turn. */
export type TurnAnswer = Partial<Pick<PerInvocationResult, "score" | "evalStatus" | "reason">>;

/**
 * What a {@link MetricFunction} found: the score of the conversation, or a result. A status that it leaves out follows
 * from the threshold, an overall score from the mean of the turns' scores.
 */
export type MetricAnswer =
  | number
  | (Partial<Pick<EvaluationResult, "overallScore" | "overallEvalStatus" | "reason">> & {
      perInvocationResults?: readonly TurnAnswer[];
    });

/**
 * A metric of your own as a function. It takes what google-adk's custom metrics take: the metric with its settings, what
 * the agent did turn by turn, what was expected, and the scenario where the user was simulated.
 */
export type MetricFunction = (
  metric: EvalMetric,
  actual: Invocation[],
  expected?: Invocation[],
  scenario?: ConversationScenario,
) => MetricAnswer | Promise<MetricAnswer>;

/** Makes the evaluator of a metric. */
export type MakeEvaluator = (metric: EvalMetric, options: EvaluatorOptions) => Evaluator;

/** What makes the evaluators of a metric that is a class or a function. */
export function evaluatorMaker(given: EvaluatorClass | MetricFunction): MakeEvaluator {
  return isEvaluatorClass(given)
    ? (metric, options) => new given(metric, options)
    : (metric, options) => new FunctionEvaluator(given, metric, options);
}

/** A class may be compiled to a function, and a class may make its method in its constructor. */
function isEvaluatorClass(given: EvaluatorClass | MetricFunction): given is EvaluatorClass {
  const prototype = (given as { prototype?: Partial<Evaluator> }).prototype;
  return (
    typeof prototype?.evaluateInvocations === "function" || /^class\b/.test(Function.prototype.toString.call(given))
  );
}

const KEYS: readonly (keyof EvaluationResult)[] = [
  "overallScore",
  "overallEvalStatus",
  "perInvocationResults",
  "reason",
];

class FunctionEvaluator extends Evaluator {
  readonly #function: MetricFunction;

  constructor(given: MetricFunction, metric: EvalMetric, options: EvaluatorOptions) {
    super(metric, options);
    this.#function = given;
  }

  override async evaluateInvocations(
    actual: Invocation[],
    expected?: Invocation[],
    scenario?: ConversationScenario,
  ): Promise<EvaluationResult> {
    const answer: unknown = await this.#function(this.metric, actual, expected, scenario);
    if (typeof answer === "number") return completed({ overallScore: answer }, actual);
    if (!isObject(answer)) throw unexpected("a score or an evaluation result", answer, "the metric's answer");
    if (!KEYS.some((key) => key in answer)) {
      throw new AdkMetricsError("custom_metric_failed", "the metric's answer contains no result", {
        help: `Return a number, or an object with one of ${KEYS.join(", ")}`,
      });
    }
    return completed(answer, actual);
  }
}

/** The engine fills in the statuses that are left out. */
function completed(answer: Exclude<MetricAnswer, number>, actual: readonly Invocation[]): EvaluationResult {
  const { perInvocationResults: turns = [] } = answer;
  if (!Array.isArray(turns)) throw unexpected("an array", turns, "the metric's answer: perInvocationResults");
  const perInvocationResults = turns.map((turn: TurnAnswer, at) => {
    if (!isObject(turn)) throw unexpected("an object", turn, `the metric's answer: perInvocationResults[${at}]`);
    return { actualInvocation: actual[at], ...turn };
  });
  return { ...answer, perInvocationResults } as EvaluationResult;
}
