import { CaseDecoder, type DecodedCase, readBatch } from "./engine/decode.js";
import { shareExplanation } from "./engine/explanation.js";
import { toBytes } from "./engine/input.js";
import { isObject, reading, unexpected } from "./engine/values.js";
import { stringify } from "./engine/writing.js";
import { type FieldsToWrite, PlainJson } from "./engine/plain-json.js";
import { fieldsReadByMetric } from "./engine/reads.js";
import { freeing } from "./engine/instance.js";
import { asHosted, invocationsOf } from "./engine/invocations.js";
import {
  type FoundConversation,
  type FoundSlot,
  type MetricSettings,
  scoreConversation,
  settingsOf,
} from "./engine/kept.js";
import { randomSeed, runOptions } from "./run/options.js";
import { drive } from "./run/run.js";
import { type RunPlan, type Session, sessionOf } from "./run/session.js";
import { call } from "./engine/call.js";
import { EvalStatus, PrebuiltMetrics } from "./enums.js";
import { AdkMetricsError, errorOf, isAdkMetricsError, warningOf } from "./errors.js";
import type { EngineError } from "./generated/contract.js";
import { checkEvaluatorOptions, EVALUATOR_OPTIONS } from "./known-options.js";
import type { EvalRun, EvalRunReader } from "./generated/adk_metrics.js";
import { isPrebuilt, metricInfo } from "./metric-info.js";
import { canonicalName } from "./metric-names.js";
import type {
  ConversationScenario,
  Criteria,
  EvalMetric,
  EvaluationResult,
  EvaluatorOptions,
  Invocation,
  InvocationInput,
  JudgeProgress,
  MetricInfo,
  MetricRegistry,
  PerInvocationResult,
  Progress,
} from "./types.js";
import { definedProperties } from "./lists.js";

/** Scores conversations. Extend it for a metric of your own. */
export abstract class Evaluator {
  /** The metric. A threshold is there unless the metric's info says that it needs none. */
  protected readonly metric: EvalMetric & { threshold: number };
  protected readonly options: EvaluatorOptions;

  constructor(metric: EvalMetric, options: EvaluatorOptions = {}) {
    this.metric = metric as EvalMetric & { threshold: number };
    this.options = options;
  }

  /**
   * Scores one conversation.
   *
   * @param actual What the agent did, turn by turn.
   * @param expected What was expected of it, turn by turn.
   * @param scenario The scenario, where the user was simulated.
   */
  abstract evaluateInvocations(
    actual: Invocation[],
    expected?: Invocation[],
    scenario?: ConversationScenario,
  ): Promise<EvaluationResult> | EvaluationResult;

  /** What is known of the metric without running it. */
  static getMetricInfo(_metricName?: string): MetricInfo {
    throw new AdkMetricsError("unknown_metric", "this evaluator has no static getMetricInfo() of its own");
  }
}

/** A class of evaluators, as the registry holds them. */
export interface EvaluatorClass {
  new (metric: EvalMetric, options?: EvaluatorOptions): Evaluator;
  /** What is known of the metric without running it. */
  getMetricInfo(metricName?: string): MetricInfo;
}

/** A class that extends the `Evaluator` of ADK-TS. */
export interface AdkEvaluatorClass {
  new (metric: never): {
    /** Scores one conversation. */
    evaluateInvocations(actual: never, expected: never): Promise<object>;
  };
  /** What is known of the metric without running it. */
  getMetricInfo(metricName?: string): { metricName?: string };
}

/** The settings of a metric. */
type SettingsOf<Name extends keyof Criteria> = Exclude<Criteria[Name], number | undefined>;

/** A metric that the engine computes. The classes that extend it are generated, but for {@link ResponseEvaluator}. */
export abstract class EngineEvaluator<Name extends keyof Criteria = string> extends Evaluator {
  /** The engine's name of the metric. */
  protected abstract readonly engineMetric: PrebuiltMetrics;

  // It is there for its types: a metric's own settings.
  constructor(metric: EvalMetric<SettingsOf<Name>>, options?: EvaluatorOptions) {
    super(metric, options);
  }

  /**
   * The metric and the options are read at the first call; what is changed in them later has no effect. A metric that asks
   * no judge is computed before the promise is returned, unless the conversation is long.
   *
   * @throws {AdkMetricsError} if an input cannot be used, or where google-adk raises.
   */
  override async evaluateInvocations(
    actual: InvocationInput[],
    expected?: InvocationInput[],
    scenario?: ConversationScenario,
  ): Promise<EvaluationResult> {
    let settings = SETTINGS.get(this);
    if (settings === undefined) {
      const metric = reading("metric", () => {
        if (!isObject(this.metric)) {
          const name = `new ${this.constructor.name}({ metricName: "${this.engineMetric}", threshold: 0.8 })`;
          throw unexpected("a metric with its threshold", this.metric, "metric", name);
        }
        const { metric_name, ...given } = this.metric as EvalMetric & NamedInSnakeCase;
        const metricName = (given as Partial<EvalMetric>).metricName ?? metric_name ?? "";
        if (isPrebuilt(metricName) && canonicalName(metricName) !== this.engineMetric) {
          throw new AdkMetricsError(
            "invalid_input",
            `\`${this.constructor.name}\` does not compute \`${metricName}\``,
            {
              path: "metric: metricName",
              help: `It computes \`${this.engineMetric}\``,
            },
          );
        }
        return { ...given, metricName: this.engineMetric };
      });
      settings = settingsFor(metric, this.options);
      SETTINGS.set(this, settings);
    }
    return evaluateConversation(settings, { actual, expected, scenario });
  }
}

/** A metric as configs and other packages write it. */
interface NamedInSnakeCase {
  metric_name?: string;
}

/** What an evaluator was given, read once. */
interface Settings extends MetricSettings {
  readonly options: EvaluatorOptions;
  /** What the metric reads of a turn, if it asks no judge. */
  readonly reads: FieldsToWrite | undefined;
}

const SETTINGS = new WeakMap<Evaluator, Settings>();

function settingsFor(metric: EvalMetric, given: EvaluatorOptions): Settings {
  if (isObject(given)) checkEvaluatorOptions(given);
  const engineOptions = runOptions(given);
  const options = reading("options", () => copyOf(given));
  return {
    ...settingsOf(stringify(metric, "metric"), engineOptions),
    options,
    reads: fieldsReadByMetric(metric.metricName),
  };
}

function copyOf(given: EvaluatorOptions): EvaluatorOptions {
  const copy: Partial<Record<keyof EvaluatorOptions, unknown>> = {};
  for (const key of EVALUATOR_OPTIONS) if (given[key] !== undefined) copy[key] = given[key];
  const { onProgress } = copy as EvaluatorOptions;
  if (onProgress !== undefined) copy.onProgress = (progress: Progress) => onProgress.call(given, progress);
  return copy as EvaluatorOptions;
}

/** ADK-TS's evaluator of two metrics: `response_evaluation_score`, and `response_match_score` by any other name. */
export class ResponseEvaluator extends EngineEvaluator<"response_evaluation_score" | "response_match_score"> {
  protected override get engineMetric(): PrebuiltMetrics {
    const metric: EvalMetric & NamedInSnakeCase = this.metric;
    return responseMetric(reading("metric", () => metric.metricName ?? metric.metric_name));
  }
  static override getMetricInfo(metricName?: string): MetricInfo {
    return metricInfo(responseMetric(metricName));
  }
}

function responseMetric(metricName: string | undefined): PrebuiltMetrics {
  const { RESPONSE_EVALUATION_SCORE, RESPONSE_MATCH_SCORE } = PrebuiltMetrics;
  return metricName === RESPONSE_EVALUATION_SCORE ? RESPONSE_EVALUATION_SCORE : RESPONSE_MATCH_SCORE;
}

/** One conversation, as an evaluator is given it. */
interface Conversation {
  actual: InvocationInput[];
  expected: InvocationInput[] | undefined;
  scenario: ConversationScenario | undefined;
}

/** The result, or its promise if it takes a run. */
function evaluateConversation(
  settings: Settings,
  { actual, expected, scenario }: Conversation,
): EvaluationResult | Promise<EvaluationResult> {
  checkTurns(actual, "actual");
  checkTurns(expected ?? [], "expected");
  const { reads } = settings;
  if (scenario === undefined && reads !== undefined) {
    const found = call(NO_TEXT, (engine) =>
      scoreConversation(engine, settings, () => conversationsJson(reads, actual, expected)),
    );
    if (found !== undefined) return evaluationOf(found, turnsOf(found, actual, expected));
  }
  return evaluateInRun(settings, { actual, expected, scenario });
}

function checkTurns(turns: InvocationInput[], name: string): void {
  if (!reading(name, () => Array.isArray(turns))) throw unexpected("an array of invocations", turns, name);
}

/** What the engine is given of a conversation that is scored in a single call: what the metric reads of it. */
function conversationsJson(
  reads: FieldsToWrite,
  actual: InvocationInput[],
  expected: InvocationInput[] | undefined,
): string | undefined {
  return new PlainJson(MOST_IN_A_CALL).write(expected === undefined ? [actual] : [actual, expected], reads);
}

/** The values and characters of a conversation that is scored in a single call. What a run takes besides is little for more. */
const MOST_IN_A_CALL = 2 ** 16;

/** Objects have no lines. */
const NO_TEXT = { hasLines: () => false };

/** The turns of a conversation that was scored in a single call. */
function turnsOf(
  { turns }: FoundConversation,
  actual: readonly InvocationInput[],
  expected: readonly InvocationInput[] | undefined,
): PerInvocationResult[] {
  return turns.map((found, turn) => {
    const wanted = expected?.[turn];
    return perInvocation(found, asHosted(actual[turn]), wanted === undefined ? undefined : asHosted(wanted));
  });
}

/** An evaluator has no config: what would be wrong with its criteria is wrong with its metric or its options. */
function refuseWithoutConfig(error: unknown): never {
  if (!isAdkMetricsError(error) || error.path?.startsWith("config: ") !== true) throw error;
  const { code, message, help } = error;
  const path = code === "judge_required" ? "options: judge" : "metric";
  throw new AdkMetricsError(code, message, { path, ...definedProperties({ help }), cause: error });
}

/** Scores a conversation as an evalset of its own: as judges need it, long conversations, and what is wrong with one. */
async function evaluateInRun(
  { metric, engineOptions, options }: Settings,
  { actual, expected, scenario }: Conversation,
): Promise<EvaluationResult> {
  const bytes = {
    metric: toBytes(metric, "metric"),
    actual: toBytes(actual, "actual"),
    expected: expected === undefined ? undefined : toBytes(expected, "expected"),
    scenario: scenario === undefined ? undefined : toBytes(scenario, "scenario"),
  };
  const seeded = { ...engineOptions, seed: options.seed ?? randomSeed() };
  const plan: RunPlan = {
    began: performance.now(),
    read: (engine) =>
      engine.EvalRunReader.fromInvocations(bytes.metric, bytes.actual, bytes.expected, bytes.scenario, seeded),
    sources: {
      actual: invocationsOf({ inferences: actual }, bytes.actual),
      expected: invocationsOf({ inferences: expected }, bytes.expected ?? new Uint8Array()),
    },
    options,
    registry: NO_REGISTRY,
    ...NO_TEXT,
  };
  const isShort = bytes.actual.length + (bytes.expected?.length ?? 0) <= MOST_AT_ONCE;
  const found = isShort ? scoredAtOnce(plan) : undefined;
  const { only, warnings } =
    found !== undefined && "only" in found ? found : await scoredInSteps(plan, found).catch(refuseWithoutConfig);
  const { result, failure, errors } = only;
  const problem = failure ?? errors[0];
  if (problem !== undefined && problem.code !== "cancelled") throw errorOf(problem, () => false);
  const overall: FoundSlot = result.overallEvalMetricResults[0] ?? { evalStatus: result.finalEvalStatus };
  const turns = result.evalMetricResultPerInvocation.flatMap((turn) =>
    turn.evalMetricResults.map((found) => perInvocation(found, turn.actualInvocation, turn.expectedInvocation)),
  );
  const reason = overall.reason ?? result.reason;
  const evaluation = evaluationOf(reason === undefined ? overall : { ...overall, reason }, turns);
  if (warnings.length > 0)
    evaluation.warnings = warnings.map((warning) =>
      warningOf(warning.path === "config" ? { ...warning, path: "metric" } : warning, plan),
    );
  return evaluation;
}

function evaluationOf(overall: FoundSlot, perInvocationResults: PerInvocationResult[]): EvaluationResult {
  const evaluation: EvaluationResult = { overallEvalStatus: overall.evalStatus, perInvocationResults };
  if (overall.score !== undefined) evaluation.overallScore = overall.score;
  if (overall.reason !== undefined) evaluation.reason = overall.reason;
  const { rubricScores, tokenUsageDetails, durationDetails } = overall.details ?? {};
  if (rubricScores !== undefined) evaluation.overallRubricScores = rubricScores;
  if (tokenUsageDetails !== undefined) evaluation.overallTokenUsageDetails = tokenUsageDetails;
  if (durationDetails !== undefined) evaluation.overallDurationDetails = durationDetails;
  return evaluation;
}

/** A conversation that was scored. */
interface Scored {
  only: DecodedCase;
  /** What may surprise in the inputs and the judge's settings. */
  warnings: readonly EngineError[];
}

/** The bytes of a conversation that is scored in a single step; one that is longer is left in its middle. */
const MOST_AT_ONCE = 256 * 1024;

/** The result of a metric that the engine answers in a single step; the open run if a judge has to be asked. */
function scoredAtOnce(plan: RunPlan): Scored | Session | undefined {
  return call(plan, (engine) => {
    const run = readAtOnce(plan.read(engine));
    const header = run.header();
    if (header.metrics.some(({ judge }) => judge !== undefined)) return sessionOf(run, plan.began);
    return freeing(run, () => {
      const [only] = new CaseDecoder(header, plan.sources).decode(readBatch(run.poll(0, 1)));
      return only && { only, warnings: header.warnings };
    });
  });
}

/** The run, with its inputs read in one piece. */
function readAtOnce(reader: EvalRunReader): EvalRun {
  return freeing(reader, () => {
    for (;;) {
      const run = reader.step();
      if (run !== undefined) return run;
    }
  });
}

/** Drives a run to its end, as judges and long conversations need it. */
async function scoredInSteps(plan: RunPlan, opened?: Session): Promise<Scored> {
  const { onProgress } = plan.options;
  const output = drive(plan, undefined, opened);
  let only: DecodedCase | undefined;
  let judge: JudgeProgress | undefined;
  const warnings: EngineError[] = [];
  try {
    for (;;) {
      const next = await output.next();
      if (next.done === true) {
        warnings.push(...(next.value.judges?.warnings ?? []));
        return { only: only ?? unread(), warnings };
      }
      if ("header" in next.value) {
        warnings.push(...next.value.header.warnings);
        continue;
      }
      if ("cases" in next.value) only ??= next.value.cases[0];
      else judge = next.value.judge;
      if (judge !== undefined) onProgress?.call(plan.options, { done: only === undefined ? 0 : 1, total: 1, judge });
    }
  } finally {
    await output.return({ cancelled: true });
  }
}

/** What comes of a conversation whose run was cancelled while it was read. */
function unread(): DecodedCase {
  const reason = "the run was cancelled before this was scored";
  const ids = { evalSetId: "", evalId: "", sessionId: "" };
  const results = { overallEvalMetricResults: [], evalMetricResultPerInvocation: [] };
  return { key: 0, errors: [], result: { ...ids, ...results, finalEvalStatus: EvalStatus.NOT_EVALUATED, reason } };
}

/** One metric of the engine needs no other. */
const NO_REGISTRY: MetricRegistry = {
  customMetricNames: () => [],
  getEvaluator: ({ metricName }) => {
    throw new AdkMetricsError("unknown_metric", metricName);
  },
};

function perInvocation(
  found: FoundSlot,
  actualInvocation: Invocation,
  expectedInvocation: Invocation | undefined,
): PerInvocationResult {
  const result: PerInvocationResult = { actualInvocation, evalStatus: found.evalStatus };
  if (expectedInvocation !== undefined) result.expectedInvocation = expectedInvocation;
  if (found.score !== undefined) result.score = found.score;
  if (found.reason !== undefined) result.reason = found.reason;
  shareExplanation(result, found);
  const { rubricScores, tokenUsageDetails, durationDetails } = found.details ?? {};
  if (rubricScores !== undefined) result.rubricScores = rubricScores;
  if (tokenUsageDetails !== undefined) result.tokenUsageDetails = tokenUsageDetails;
  if (durationDetails !== undefined) result.durationDetails = durationDetails;
  return result;
}
