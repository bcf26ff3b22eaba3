import { closest } from "./closest.js";
import { reading, unexpected } from "./engine/values.js";
import { ASSUMED, copyRanges, declareRange } from "./run/ranges.js";
import { AdkMetricsError } from "./errors.js";
import type { AdkEvaluatorClass, Evaluator, EvaluatorClass } from "./evaluators.js";
import { ENGINE_CLASSES } from "./generated/registry.js";
import { evaluatorMaker, type MakeEvaluator, type MetricFunction } from "./metric-function.js";
import { checkEvaluatorOptions, refuseMisspelt } from "./known-options.js";
import { currentName } from "./metric-names.js";
import type { EvalMetric, EvaluatorOptions, Interval, MetricDeclaration, MetricInfo, MetricRegistry } from "./types.js";

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
    const help = near === undefined ? "Register your own metrics with registerEvaluator" : `Did you mean \`${near}\`?`;
    throw new AdkMetricsError("unknown_metric", `there is no metric \`${metricName}\``, {
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
  registerEvaluator(info: MetricDeclaration, evaluator: EvaluatorClass | AdkEvaluatorClass | MetricFunction): void {
    const name = nameOf(info, "info");
    if (name.trim() === "") {
      throw new AdkMetricsError("invalid_input", "the metric has no name", {
        path: "info: metricName",
        help: 'Give it the name that criteria use: { metricName: "politeness" }',
      });
    }
    if (typeof evaluator !== "function") throw unexpected("a class or a function", evaluator, "evaluator");
    const copy = reading("info", () => {
      checkInfo(info, "info: ");
      return { ...copyOf(info), metricName: name };
    });
    const isAssumed = info.metricValueInfo === ASSUMED;
    declareRange(this, name, isAssumed ? undefined : rangeOf(copy.metricValueInfo?.interval));
    this.#custom.set(name, { info: copy, make: evaluatorMaker(evaluator as EvaluatorClass | MetricFunction) });
  }

  /** A registry with the same metrics; what is registered in one of the two is not in the other. */
  fork(): MetricEvaluatorRegistry {
    const fork = registryWith(this.#options);
    for (const [name, own] of this.#custom) fork.#custom.set(name, own);
    copyRanges(this, fork);
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
  if (typeof metricName !== "string") throw unexpected("a string", metricName, `${what}: metricName`);
  return metricName;
}

const THRESHOLD_KEYS = ["defaultThreshold", "requiresThreshold"];
const INFO_KEYS = ["metricName", "description", "experimental", "metricValueInfo", ...THRESHOLD_KEYS];
const INTERVAL_KEYS = ["minValue", "maxValue", "openAtMin", "openAtMax"];

/**
 * Checks the description of a metric.
 *
 * @param spellings How a key may be spelt; of several, the last counts.
 * @throws {AdkMetricsError} `invalid_input` for a misspelt key, and for the end of a range that is not a number.
 */
export function checkInfo(info: unknown, place: string, spellings = (key: string): string[] => [key]): void {
  const within = (fields: unknown, key: string): readonly [spelling: string, value: unknown] => {
    const values = spellings(key).map((spelling) => [spelling, (fields as Fields | null)?.[spelling]] as const);
    return values.findLast(([, value]) => value !== undefined && value !== null) ?? [key, undefined];
  };
  refuseMisspelt(info, INFO_KEYS.flatMap(spellings), place, true);
  const [valuesKey, values] = within(info, "metricValueInfo");
  refuseMisspelt(values, spellings("interval"), `${place}${valuesKey}.`);
  const [intervalKey, interval] = within(values, "interval");
  const at = `${place}${valuesKey}.${intervalKey}.`;
  refuseMisspelt(interval, INTERVAL_KEYS.flatMap(spellings), at);
  for (const name of ["minValue", "maxValue"]) {
    const [key, end = 0] = within(interval, name);
    if (typeof end !== "number") throw unexpected("a number", end, `${at}${key}`);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** A range whose missing ends are open. */
function rangeOf(interval: Partial<Interval> | undefined): Interval | undefined {
  const { minValue, maxValue, openAtMin = false, openAtMax = false } = interval ?? {};
  if ((minValue ?? maxValue ?? undefined) === undefined) return undefined;
  return { minValue: minValue ?? -Infinity, openAtMin, maxValue: maxValue ?? Infinity, openAtMax };
}

/** A `null`, as JSON of Python has it for what is absent, is left out. */
function copyOf({ metricValueInfo, ...info }: MetricDeclaration): MetricInfo {
  const given: MetricDeclaration["metricValueInfo"] | null = metricValueInfo;
  if (given === undefined || given === null) return info;
  const interval = given.interval as Interval | undefined | null;
  return {
    ...info,
    metricValueInfo: interval === undefined || interval === null ? {} : { interval: { ...interval } },
  };
}

/** The registry that is used where none is given. */
export const DEFAULT_METRIC_EVALUATOR_REGISTRY: MetricEvaluatorRegistry = /* @__PURE__ */ new MetricEvaluatorRegistry();
