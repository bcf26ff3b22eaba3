import { unexpected } from "./engine/input.js";
import { PrebuiltMetrics } from "./enums.js";
import { AdkMetricsError } from "./errors.js";
import {
  type Evaluator,
  type EvaluatorClass,
  InferenceCallCountV1Evaluator,
  InvocationDurationV1Evaluator,
  RougeEvaluator,
  TokenUsageV1Evaluator,
  ToolCallCountV1Evaluator,
  ToolParameterMatchEvaluator,
  ToolTrajectoryF1Evaluator,
  TrajectoryEvaluator,
} from "./evaluators.js";
import type { EvalMetric, EvaluatorOptions, MetricInfo, MetricRegistry } from "./types.js";

const ENGINE_CLASSES: readonly (readonly [PrebuiltMetrics, EvaluatorClass])[] = [
  [PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE, TrajectoryEvaluator],
  [PrebuiltMetrics.RESPONSE_MATCH_SCORE, RougeEvaluator],
  [PrebuiltMetrics.TOOL_PARAMETER_MATCH, ToolParameterMatchEvaluator],
  [PrebuiltMetrics.TOOL_TRAJECTORY_F1, ToolTrajectoryF1Evaluator],
  [PrebuiltMetrics.TOOL_CALL_COUNT_V1, ToolCallCountV1Evaluator],
  [PrebuiltMetrics.INFERENCE_CALL_COUNT_V1, InferenceCallCountV1Evaluator],
  [PrebuiltMetrics.TOKEN_USAGE_V1, TokenUsageV1Evaluator],
  [PrebuiltMetrics.INVOCATION_DURATION_V1, InvocationDurationV1Evaluator],
];

/** ADK-TS's old names of metrics. */
const LEGACY_NAMES: Readonly<Record<string, PrebuiltMetrics>> = {
  [PrebuiltMetrics.TOOL_TRAJECTORY_SCORE]: PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE,
  [PrebuiltMetrics.RESPONSE_MATCH]: PrebuiltMetrics.RESPONSE_MATCH_SCORE,
  [PrebuiltMetrics.SAFETY]: PrebuiltMetrics.SAFETY_V1,
};

/** Where evaluators are found by the name of their metric. */
export class MetricEvaluatorRegistry implements MetricRegistry {
  readonly #options: EvaluatorOptions;
  readonly #custom = new Map<string, { info: MetricInfo; evaluator: EvaluatorClass }>();

  /** @param options What every evaluator of this registry is made with. */
  constructor(options: EvaluatorOptions = {}) {
    this.#options = options;
  }

  /**
   * The evaluator of a metric.
   *
   * @throws {AdkMetricsError} `unknown_metric` if there is none.
   */
  getEvaluator(metric: EvalMetric): Evaluator {
    if (typeof metric?.metricName !== "string") throw unexpected("a text", metric?.metricName, "metric: metricName");
    const { metricName } = metric;
    const name = Object.hasOwn(LEGACY_NAMES, metricName) ? LEGACY_NAMES[metricName] : metricName;
    const found =
      this.#custom.get(metricName)?.evaluator ?? ENGINE_CLASSES.find(([prebuilt]) => prebuilt === name)?.[1];
    if (found === undefined) throw new AdkMetricsError("unknown_metric", `${metricName} not found in registry.`);
    return new found(metric, this.#options);
  }

  /** Adds a metric of your own, or replaces the evaluator of one. */
  registerEvaluator(info: MetricInfo, evaluator: EvaluatorClass): void {
    if (typeof info?.metricName !== "string") throw unexpected("a text", info?.metricName, "info: metricName");
    if (typeof evaluator !== "function") throw unexpected("a class", evaluator, "evaluator");
    this.#custom.set(info.metricName, { info: copyOf(info), evaluator });
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

function copyOf({ metricValueInfo, ...info }: MetricInfo): MetricInfo {
  if (metricValueInfo === undefined) return info;
  const { interval } = metricValueInfo;
  return { ...info, metricValueInfo: interval === undefined ? {} : { interval: { ...interval } } };
}

/** The registry that is used where none is given. */
export const DEFAULT_METRIC_EVALUATOR_REGISTRY: MetricEvaluatorRegistry = /* @__PURE__ */ new MetricEvaluatorRegistry();
