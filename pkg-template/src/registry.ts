import { closest } from "./closest.js";
import { reading, unexpected } from "./engine/input.js";
import { PrebuiltMetrics } from "./enums.js";
import { AdkMetricsError } from "./errors.js";
import {
  type Evaluator,
  type EvaluatorClass,
  FinalResponseMatchV2Evaluator,
  HallucinationsV1Evaluator,
  InferenceCallCountV1Evaluator,
  InvocationDurationV1Evaluator,
  MultiTurnTaskSuccessV1Evaluator,
  MultiTurnToolUseQualityV1Evaluator,
  MultiTurnTrajectoryQualityV1Evaluator,
  PerTurnUserSimulatorQualityV1,
  ResponseEvaluator,
  RougeEvaluator,
  RubricBasedFinalResponseQualityV1Evaluator,
  RubricBasedMultiTurnTrajectoryEvaluator,
  RubricBasedToolUseV1Evaluator,
  SafetyEvaluatorV1,
  TokenUsageV1Evaluator,
  ToolCallCountV1Evaluator,
  ToolParameterMatchEvaluator,
  ToolTrajectoryF1Evaluator,
  TrajectoryEvaluator,
} from "./evaluators.js";
import { evaluatorMaker, type MakeEvaluator, type MetricFunction } from "./metric-function.js";
import { checkEvaluatorOptions } from "./known-options.js";
import { currentName } from "./metric-info.js";
import type { EvalMetric, EvaluatorOptions, Interval, MetricInfo, MetricRegistry } from "./types.js";

const ENGINE_CLASSES: readonly (readonly [PrebuiltMetrics, EvaluatorClass])[] = [
  [PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE, TrajectoryEvaluator],
  [PrebuiltMetrics.RESPONSE_MATCH_SCORE, RougeEvaluator],
  [PrebuiltMetrics.TOOL_PARAMETER_MATCH, ToolParameterMatchEvaluator],
  [PrebuiltMetrics.TOOL_TRAJECTORY_F1, ToolTrajectoryF1Evaluator],
  [PrebuiltMetrics.TOOL_CALL_COUNT_V1, ToolCallCountV1Evaluator],
  [PrebuiltMetrics.INFERENCE_CALL_COUNT_V1, InferenceCallCountV1Evaluator],
  [PrebuiltMetrics.TOKEN_USAGE_V1, TokenUsageV1Evaluator],
  [PrebuiltMetrics.INVOCATION_DURATION_V1, InvocationDurationV1Evaluator],
  [PrebuiltMetrics.FINAL_RESPONSE_MATCH_V2, FinalResponseMatchV2Evaluator],
  [PrebuiltMetrics.RUBRIC_BASED_FINAL_RESPONSE_QUALITY_V1, RubricBasedFinalResponseQualityV1Evaluator],
  [PrebuiltMetrics.RUBRIC_BASED_TOOL_USE_QUALITY_V1, RubricBasedToolUseV1Evaluator],
  [PrebuiltMetrics.RUBRIC_BASED_MULTI_TURN_TRAJECTORY_QUALITY_V1, RubricBasedMultiTurnTrajectoryEvaluator],
  [PrebuiltMetrics.HALLUCINATIONS_V1, HallucinationsV1Evaluator],
  [PrebuiltMetrics.PER_TURN_USER_SIMULATOR_QUALITY_V1, PerTurnUserSimulatorQualityV1],
  [PrebuiltMetrics.SAFETY_V1, SafetyEvaluatorV1],
  [PrebuiltMetrics.RESPONSE_EVALUATION_SCORE, ResponseEvaluator],
  [PrebuiltMetrics.MULTI_TURN_TASK_SUCCESS_V1, MultiTurnTaskSuccessV1Evaluator],
  [PrebuiltMetrics.MULTI_TURN_TRAJECTORY_QUALITY_V1, MultiTurnTrajectoryQualityV1Evaluator],
  [PrebuiltMetrics.MULTI_TURN_TOOL_USE_QUALITY_V1, MultiTurnToolUseQualityV1Evaluator],
];

/** Where evaluators are found by the name of their metric. */
export class MetricEvaluatorRegistry implements MetricRegistry {
  readonly #options: EvaluatorOptions;
  readonly #custom = new Map<string, { info: MetricInfo; make: MakeEvaluator }>();

  /** @param options What every evaluator of this registry is made with. */
  constructor(options: EvaluatorOptions = {}) {
    checkEvaluatorOptions(options);
    this.#options = options;
  }

  /**
   * The evaluator of a metric.
   *
   * @throws {AdkMetricsError} `unknown_metric` if there is none; `help` has the nearest name.
   */
  getEvaluator(metric: EvalMetric): Evaluator {
    const metricName = nameOf(metric, "metric");
    const name = currentName(metricName);
    const own = this.#custom.get(metricName);
    if (own !== undefined) return own.make(metric, this.#options);
    const found = ENGINE_CLASSES.find(([prebuilt]) => prebuilt === name)?.[1];
    if (found !== undefined) return new found(metric, this.#options);
    const near = closest(metricName, [...this.#custom.keys(), ...ENGINE_CLASSES.map(([prebuilt]) => prebuilt)]);
    const help =
      near === undefined ? "Register a metric of your own with registerEvaluator" : `Did you mean \`${near}\`?`;
    throw new AdkMetricsError("unknown_metric", `${metricName} not found in registry.`, {
      path: "metric: metricName",
      help,
    });
  }

  /**
   * Adds a metric of your own, or replaces the evaluator of one.
   *
   * @param evaluator A class that extends {@link Evaluator}, or a function.
   * @throws {AdkMetricsError} `invalid_input` for an info without a name, or what is neither class nor function.
   */
  registerEvaluator(info: MetricInfo, evaluator: EvaluatorClass | MetricFunction): void {
    const name = nameOf(info, "info");
    if (typeof evaluator !== "function") throw unexpected("a class or a function", evaluator, "evaluator");
    const copy = { ...reading("info", () => copyOf(info)), metricName: name };
    this.#custom.set(name, { info: copy, make: evaluatorMaker(evaluator) });
  }

  /** A registry with the same metrics; what is registered in one of the two is not in the other. */
  fork(): MetricEvaluatorRegistry {
    const fork = registryWith(this.#options);
    for (const [name, own] of this.#custom) fork.#custom.set(name, own);
    return fork;
  }

  /** What is known of every registered metric. */
  getRegisteredMetrics(): MetricInfo[] {
    const custom = [...this.#custom.values()].map(({ info }) => copyOf(info));
    const engine = ENGINE_CLASSES.filter(([name]) => !this.#custom.has(name));
    return [...engine.map(([name, evaluator]) => evaluator.getMetricInfo(name)), ...custom];
  }

  /** The names of the metrics that are not the engine's own. */
  customMetricNames(): string[] {
    return [...this.#custom.keys()];
  }
}

/** A bundler renames a class that names itself. */
function registryWith(options: EvaluatorOptions): MetricEvaluatorRegistry {
  return new MetricEvaluatorRegistry(options);
}

function nameOf(named: { metricName: string }, what: string): string {
  const metricName: unknown = reading(what, () => named?.metricName);
  if (typeof metricName !== "string") throw unexpected("a text", metricName, `${what}: metricName`);
  return metricName;
}

/** A `null`, as JSON of Python has it for what is absent, is left out. */
function copyOf({ metricValueInfo, ...info }: MetricInfo): MetricInfo {
  const given: MetricInfo["metricValueInfo"] | null = metricValueInfo;
  if (given === undefined || given === null) return info;
  const interval: Interval | undefined | null = given.interval;
  return {
    ...info,
    metricValueInfo: interval === undefined || interval === null ? {} : { interval: { ...interval } },
  };
}

/** The registry that is used where none is given. */
export const DEFAULT_METRIC_EVALUATOR_REGISTRY: MetricEvaluatorRegistry = /* @__PURE__ */ new MetricEvaluatorRegistry();
