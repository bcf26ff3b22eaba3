import type { EvalStatus, PrebuiltMetrics } from "./enums.js";
import type { AdkMetricsError } from "./errors.js";
import type { Criteria, EvalConfig, JudgeModelOptions } from "./generated/criteria.js";
import type { Dialect, RunOptions } from "./generated/contract.js";
import type { JudgePurpose } from "./generated/metrics.js";
import type { EVALUATOR_OPTIONS, REQUEST_OPTIONS } from "./generated/options.js";
import type {
  DurationDetails,
  EvalCase,
  EvalCaseResult as StoredCaseResult,
  EvalMetricResult as StoredMetricResult,
  EvalMetricResultDetails,
  EvalSet,
  EvalSetResult as StoredSetResult,
  Explanation,
  IntermediateSummary,
  Invocation,
  InvocationEvents,
  Mistake,
  RubricScore,
  TokenUsageDetails,
} from "./generated/shapes.js";

export type * from "./generated/criteria.js";
export type { Budget, Dialect, Explain, Prices, RetryOptions } from "./generated/contract.js";
export type { JudgePurpose } from "./generated/metrics.js";
export type {
  AlignmentEntry,
  AlignmentKind,
  Content,
  ConversationScenario,
  Difference,
  DurationDetails,
  EvalCase,
  EvalMetricResultDetails,
  EvalSet,
  Explanation,
  FunctionCall,
  FunctionResponse,
  IntermediateData,
  IntermediateResponse,
  IntermediateSummary,
  Invocation,
  InvocationEvent,
  InvocationEvents,
  MatchedToken,
  Mistake,
  MistakeCode,
  Part,
  Rubric,
  RubricContent,
  RubricScore,
  RubricVotes,
  Samples,
  SampleUsage,
  SampleVote,
  Sentence,
  SessionInput,
  TokenOverlap,
  TokenUsageDetails,
  UsageMetadata,
} from "./generated/shapes.js";

/** An invocation as it may be given: what {@link Invocation} always has in `intermediateData` may be absent. */
export type InvocationInput = Omit<Invocation, "intermediateData"> & {
  intermediateData?: Partial<IntermediateSummary> | Partial<InvocationEvents>;
};

/** A file or a value that holds one: JSON text, its bytes (UTF-8), or the object itself. */
export type Input<T extends object> = string | Uint8Array | T | object;

/**
 * A config: JSON text, its bytes (UTF-8), or the object itself. An object may have its criteria at the top, as ADK-TS's
 * documentation has them.
 */
export type ConfigInput = string | Uint8Array | EvalConfig | (object & { criteria?: never });

/** A metric's settings. `threshold` wins over the metric's; the others are each metric's own. */
export interface Criterion {
  /** What the score has to reach. */
  threshold?: number;
  [setting: string]: unknown;
}

/** A metric with its settings; those of a known metric are {@link Criteria}'s. */
export interface EvalMetric<Settings extends Criterion = Criterion> {
  /** One of {@link PrebuiltMetrics}, or the name of a registered metric. */
  metricName: `${PrebuiltMetrics}` | (string & {});
  /** What the score has to reach. */
  threshold?: number;
  /** Further settings. */
  criterion?: Settings;
  /** Settings of the judge model; the criterion's win. */
  judgeModelOptions?: JudgeModelOptions;
}

/** The range of a metric's values. */
export interface Interval {
  minValue: number;
  openAtMin: boolean;
  maxValue: number;
  openAtMax: boolean;
}

/** What is known of a metric without running it. */
export interface MetricInfo {
  metricName: string;
  description?: string;
  /** The threshold to begin with, as ADK-TS notes it; nothing here reads it. */
  defaultThreshold?: number;
  /** Whether the metric may change, as ADK-TS notes it; nothing here reads it. */
  experimental?: boolean;
  metricValueInfo?: { interval?: Interval };
  /** Whether it passes or fails; a metric that does not only informs. */
  requiresThreshold?: boolean;
}

/** What a metric of your own is registered with. */
export interface MetricDeclaration extends Omit<MetricInfo, "metricValueInfo"> {
  /** The range of its scores, which may have only one end. */
  metricValueInfo?: { interval?: Partial<Interval> };
}

/** One question to a judge model. */
export interface JudgeRequest {
  /** Names the call within its run. */
  id: string;
  /** The metric that asks. */
  metricName: string;
  /** What for. */
  purpose: JudgePurpose;
  /** The case under evaluation; absent where a conversation is scored by itself. */
  evalId?: string;
  /** The turn, counted from 0. For the user simulator's stop signal it is the number of turns. */
  invocationIndex: number;
  /** The answer within the turn, counted from 0, where a metric asks about several. */
  stepIndex: number;
  /** Which of the samples of one question this is, counted from 0. */
  sampleIndex: number;
  /** The model that the criterion names; a judge with a model of its own asks that one. */
  model: string;
  /** The system prompt; absent unless the criterion sets one. */
  system?: string;
  /** The whole prompt. */
  prompt: string;
  /** JSON Schema of the reply, where it may be JSON. */
  responseSchema?: object;
  /** Sampling settings by Gemini's names in camelCase: `temperature`, `maxOutputTokens`, … */
  generationConfig?: object;
}

/** What a judge model said. */
export interface JudgeReply {
  /** The reply as it is, without thoughts. */
  text: string;
  /** What it cost. Tokens that are not told are estimated. */
  usage?: { inputTokens?: number; outputTokens?: number; totalTokens?: number };
  /** The exact model that answered. */
  modelVersion?: string;
}

/**
 * Asks a judge model. Errors that it throws end the sample; those with `retryable: true` are asked again, after
 * `retryAfterMs` if they say so.
 */
export interface Judge {
  (request: JudgeRequest, options: { signal: AbortSignal }): Promise<JudgeReply | string> | JudgeReply | string;
  /** Says for a function of your own which of its versions gave the replies in a `cache`: change it with the function. */
  readonly cacheVersion?: string;
}

/** Keeps replies by the key of their request. What it throws is a warning: the judge is asked instead. */
export interface JudgeCache {
  /** The reply of a key, if there is one. */
  get(key: string): Promise<JudgeReply | undefined> | JudgeReply | undefined;
  /** Keeps a reply. Promises are waited for. */
  set(key: string, reply: JudgeReply): unknown;
  /**
   * Claims a key whose reply is missing, so that other users of the cache do not ask the same: resolves as soon as no other user
   * holds it. Then the cache is looked at again, and the judge is asked if the reply is still missing. A cache without this method
   * may have the same question asked several times at once.
   *
   * @param signal Aborts when the reply is no longer needed.
   * @returns Releases the key: to be called once the reply is kept or the judge has failed.
   */
  claim?(key: string, signal: AbortSignal): Promise<() => void | Promise<void>>;
}

/** What a run paid for or settled: an object for JSON, which only this package makes and reads. */
export interface JournalEntry {
  type: "begin" | "reply" | "failure" | "metric" | "run" | "case" | "end";
  /** The evaluation, where a journal has several. */
  section: string;
}

/**
 * Where evaluations keep what they pay for and settle, so that the same ones continue where they stopped. The nth evaluation
 * with a journal goes on with the nth in it. What it throws ends the evaluation.
 */
export interface Journal {
  /** All entries in their order; called once, before anything is appended. */
  read(): Promise<Iterable<JournalEntry>>;
  /**
   * Adds entries, each call after those before it.
   *
   * @param settles Whether they should survive the end of the machine as well.
   * @returns Resolves when they are kept; only the end of the evaluation waits for it.
   */
  append(entries: readonly JournalEntry[], settles: boolean): Promise<void>;
}

/** Prompts of your own by metric name; for a metric that asks for several things, by purpose. */
export type PromptTemplates = Record<string, string | { [purpose in JudgePurpose]?: string }>;

/** Where Vertex AI is: a project and a location with an access token, or an API key. */
export interface VertexOptions {
  /** The Google Cloud project. */
  project?: string;
  /** The region, such as `us-central1`. Default: `global`. */
  location?: string;
  /** An OAuth 2.0 access token, or what gets one; asked before each call, so that it may be renewed. */
  accessToken?: string | (() => string | Promise<string>);
  /** An API key of Vertex AI in express mode, instead of project and token. */
  apiKey?: string | undefined;
  /** Another address, such as that of your own server. */
  baseUrl?: string | URL;
  /** Further HTTP headers. */
  headers?: Record<string, string>;
  /** What sends the requests. Default: the runtime's own `fetch`. */
  fetch?: typeof fetch;
}

/**
 * What the judges of a run did. At any time `calls` is `answered + failed + inFlight`, and `asked` is
 * `answered + cached + lost + queued + inFlight`.
 */
export interface JudgeProgress {
  /** Calls sent, repeated ones included. */
  calls: number;
  /** Calls answered. */
  answered: number;
  /** Calls that ended without an answer: failed, too late, or cancelled. */
  failed: number;
  /** Calls sent again after a failure. */
  retried: number;
  /** Calls that are not answered yet. */
  inFlight: number;
  /** Samples asked. */
  asked: number;
  /** Samples that wait for their first or next call. */
  queued: number;
  /** Samples for which no call was made: the cache, a recording or the same question before had the reply. */
  cached: number;
  /** Samples that early stopping made needless; they are not asked. */
  saved: number;
  /** How many of the saved samples might have changed a verdict, at least; with a risk only. */
  savedAtRisk?: number;
  /** Verdicts of votes that ended on a risk. */
  verdictsAtRisk?: number;
  /** Replies, reused ones included, that could not be read, so that they gave no vote; absent without any. */
  unread?: number;
  /** Samples that will have no reply. */
  lost: number;
  /** How many of these were never asked: the budget or the time was spent, or others of the question got no reply. */
  unsent: number;
  /** Answers that do not say how many tokens they took; these are estimated: four bytes of a prompt or reply are one. */
  unreported: number;
  /** Tokens of prompts. */
  inputTokens: number;
  /** Tokens of replies, thoughts included. */
  outputTokens: number;
  /** Money spent on those that have a price; absent if none has one. */
  cost?: number;
  /** How long the samples asked so far will take, in milliseconds; absent before the first reply. */
  leftMs?: number;
  /** What the last call that failed said; absent once another is answered. */
  lastFailure?: string;
}

/**
 * What the judges of a whole run did: `calls` is `answered + failed`, and `asked` is `answered + cached + lost`. Results
 * of older versions lack `answered`, `failed`, `asked`, `unreported` and `unsent`.
 */
export type JudgeUsage = Omit<
  JudgeProgress,
  "inFlight" | "queued" | "leftMs" | "lastFailure" | "answered" | "failed" | "asked" | "unreported" | "unsent"
> &
  Partial<Pick<JudgeProgress, "answered" | "failed" | "asked" | "unreported" | "unsent">> & {
    /**
     * Who was asked and has no price in the budget's `prices`, so that `cost` leaves their calls out; absent if everybody
     * has one, and without prices.
     */
    unpriced?: readonly string[];
  };

/** What the model did that played the user. `calls` is `answered + failed`. */
export interface SimulatorUsage
  extends
    Required<Pick<JudgeUsage, "calls" | "answered" | "failed" | "retried" | "cached" | "unreported">>,
    Pick<JudgeUsage, "unpriced"> {
  /**
   * Who was asked: models, and functions of your own as `the function play (gpt-6-luna)`, with the versions that their
   * replies name: only they know whom they ask.
   */
  models: string[];
  /** Messages that no call gave. */
  lost: number;
  /** Tokens of prompts. */
  inputTokens: number;
  /** Tokens of replies, thoughts included. */
  outputTokens: number;
  /** Money spent on those that have a price; absent if none has one. */
  cost?: number;
}

/** Who judged a metric, and how. */
export interface JudgeStamp {
  metricName: string;
  /** A judge, or the evaluation service of Vertex AI. */
  scoredBy: "judge" | "vertex";
  /** The model that was asked; absent for a function of your own, which alone knows whom it asks. */
  model?: string;
  /** The name of the function of your own that judged, empty if it has none; absent for judges of this package. */
  function?: string;
  /** The models or functions of a panel: samples 0, 1, … are the replies of the first, the second and so on, in turn. */
  panel?: string[];
  /** On what votes ended that were not certain: the risk, and how samples vote; absent without a risk, or if none could. */
  earlyStop?: { risk: number; prior: VotePrior };
  /** The exact models that replies name, in the order of the alphabet; of twenty at most. */
  modelVersions?: string[];
  /** Those that the replies of each judge of a panel name, by its name. */
  panelVersions?: Record<string, string[]>;
  /** The first 16 hexadecimal digits of the SHA-256 of each prompt's template, by the prompt's name. */
  prompts?: Record<string, string>;
}

/** How far a run is. */
export interface Progress {
  /** Case results that are there. */
  done: number;
  /** Case results there will be. */
  total: number;
  /** What the judges did; absent in a run that asks none. */
  judge?: JudgeProgress;
}

/** How likely the samples of a question vote yes: a beta distribution. */
export interface VotePrior {
  /** As many votes for it count before any vote; above 0. */
  positive: number;
  /** As many votes against it; above 0. */
  negative: number;
}

/**
 * When a vote ends. `true` or `"exact"`: when the missing samples cannot change it. `false` or `"none"`: when all samples are asked.
 * With a `risk`: also when all samples would decide otherwise with a chance below it, by how samples voted on the first 20 questions
 * of the metric, or by a `prior`.
 */
export type EarlyStop = boolean | "exact" | "none" | { risk: number; prior?: VotePrior };

/** How to evaluate. */
export interface EvaluatorOptions extends Partial<
  Pick<RunOptions, Exclude<(typeof EVALUATOR_OPTIONS)[number], "prompts" | "earlyStop">>
> {
  /** When a vote ends. Default: `"exact"`, when the missing samples cannot change it. */
  earlyStop?: EarlyStop;
  /** Who answers the questions of judged metrics. Default: the one of `setDefaultJudge`, or of the environment. */
  judge?: Judge;
  /** Has Vertex AI score the metrics that google-adk leaves to it; without it the judge does. */
  vertex?: VertexOptions;
  /** Prompts of your own. */
  prompts?: PromptTemplates;
  /** Where replies of judges are kept. Default: in memory, for one evaluation. */
  cache?: JudgeCache;
  /** Stops the evaluation; what is scored by then is returned. */
  signal?: AbortSignal;
  /** Called whenever case results arrive or judges were asked. What it throws ends the evaluation and passes through as it is. */
  onProgress?(progress: Progress): void;
}

/** What a metric found in one turn. */
export interface PerInvocationResult {
  actualInvocation: Invocation;
  expectedInvocation?: Invocation;
  score?: number;
  evalStatus: EvalStatus;
  rubricScores?: RubricScore[];
  tokenUsageDetails?: TokenUsageDetails;
  durationDetails?: DurationDetails;
  /** Why there is no score. */
  reason?: string;
  /** How the score came about. */
  explanation?: Explanation;
}

/** What a metric found in a conversation. */
export interface EvaluationResult {
  overallScore?: number;
  overallEvalStatus: EvalStatus;
  perInvocationResults: PerInvocationResult[];
  overallRubricScores?: RubricScore[];
  overallTokenUsageDetails?: TokenUsageDetails;
  overallDurationDetails?: DurationDetails;
  /** Why there is no score. */
  reason?: string;
  /** What may surprise in the metric's settings and the conversations. */
  warnings?: Mistake[];
}

/** What one metric found in a case or a turn. Results that only say why there is no score may be shared and frozen. */
export interface EvalMetricResult extends Omit<StoredMetricResult, "details"> {
  /** What the score is made of. */
  details?: EvalMetricResultDetails;
  /** Why there is no score. */
  reason?: string;
  /** How the score came about; for turns only. */
  explanation?: Explanation;
}

/** The results of one turn. */
export interface EvalMetricResultPerInvocation {
  /** What the agent did. Read from bytes it is parsed when first looked at. */
  actualInvocation: Invocation;
  /** What was expected of it. */
  expectedInvocation?: Invocation;
  /** One entry a metric. */
  evalMetricResults: EvalMetricResult[];
}

/** How the samples of a judge voted on one question, as results in files have it. */
export interface JudgeVotes {
  metricName: string;
  /** The turn, counted from 0. */
  invocationIndex: number;
  /** The rubric, for metrics that ask about several. */
  rubricId?: string;
  /** What each sample that was asked said: 1 or 0 for a verdict, else a score; null for what could not be read. */
  votes: (number | null)[];
  /** How many samples might have been asked. */
  of: number;
  /** Why, in the words of a sample that said what became the verdict. */
  rationale?: string;
}

/** The results of one run of a case. */
export interface EvalCaseResult extends Omit<
  StoredCaseResult,
  "overallEvalMetricResults" | "evalMetricResultPerInvocation" | "evalSetFile"
> {
  evalSetId: string;
  evalId: string;
  sessionId: string;
  /** Each metric's result for the whole conversation. */
  overallEvalMetricResults: EvalMetricResult[];
  /** Each metric's result for each turn. */
  evalMetricResultPerInvocation: EvalMetricResultPerInvocation[];
  /** Why the case could not be scored. */
  reason?: string;
  /** Names the group of cases that it is one of: they depend on each other, which intervals respect. */
  group?: string;
  /** How the samples of judges voted; in files only, where it replaces the explanations. */
  judgeVotes?: JudgeVotes[];
}

/** How often the judge of a metric, or a metric without one, was right, by human labels: what a calibration found. */
export interface JudgeCalibration {
  metricName: string;
  /** The rubric, or how many rubrics are taken together; absent for the metric as a whole. */
  rubricId?: string;
  rubrics?: number;
  /** How many verdicts were labelled. */
  labelled: number;
  /** In which share of them the judge and people say the same, with the ends of its interval. */
  agreement: { value: number; low?: number; high?: number };
  /** The same beyond chance: Cohen's kappa, weighted for scores. Absent if it is not known. */
  kappa?: { value: number; low?: number; high?: number };
  /**
   * The pass rate of these results: the judge's, and corrected for the errors that it made in the calibrated ones. `isEarlier` if
   * it is that of the calibrated results, because these lack the verdicts, or the calibration `judgedRight`. Absent if it cannot be corrected.
   */
  passRate?: { judge: number; corrected: { value: number; low?: number; high?: number }; isEarlier?: true };
  /** Why it may no longer hold: what is another one since. Absent if nothing is. */
  stale?: string;
}

/** The results of an evalset. */
export interface EvalSetResult extends Omit<StoredSetResult, "evalCaseResults"> {
  evalCaseResults: EvalCaseResult[];
  /** When it was made, in seconds since 1970. */
  creationTimestamp: number;
  /** The version of this package. */
  engineVersion: string;
  /** The version of google-adk whose scores the `adk-python` dialect gives. */
  referenceVersion: string;
  dialect: Dialect;
  /** Who judged the metrics that ask a judge. */
  judges?: JudgeStamp[];
  /** How often they were right, where a calibration was given: by `withCalibration`, or beside the config. */
  judgeCalibrations?: JudgeCalibration[];
  /** How precise the pass rate is wanted to be: reports say how many cases or runs that takes. */
  precision?: number;
  /** What that took. */
  judgeUsage?: JudgeUsage;
  /** What the model took that played the user. */
  simulatorUsage?: SimulatorUsage;
  /**
   * Whether the run was cancelled: then some results are NOT_EVALUATED for that reason. If it was cancelled while the inputs
   * were read, there are no case results.
   */
  cancelled?: boolean;
  /** The cases with runs that were not scored when the evaluation ended, and how many. */
  notRun?: { evalId: string; runs: number }[];
  /** What may surprise in the inputs. */
  warnings?: Mistake[];
  /** The metrics that decide nothing. */
  advisory?: string[];
}

/** What to evaluate. */
export interface EvaluateRequest extends EvaluatorOptions, Partial<Pick<RunOptions, (typeof REQUEST_OPTIONS)[number]>> {
  /** What is expected: an evalset of any form. */
  evalSet: Input<EvalSet>;
  /** What the agent did: an evalset of actual conversations, evalset results, inference results, sessions, or events. */
  actual: Input<EvalSet | EvalSetResult>;
  /** An eval config. Without `config` and `criteria` ADK's default criteria apply; both together are an error. */
  config?: ConfigInput;
  /** The criteria of a config alone: metric name to threshold or settings. Not together with `config`. */
  criteria?: Criteria;
  /** Where metrics of your own are found. Default: `DEFAULT_METRIC_EVALUATOR_REGISTRY`. */
  registry?: MetricRegistry;
  /** Whether warnings that are known before anything is scored are errors. Default: false. */
  strict?: boolean;
  /** Metrics that are reported and decide nothing: a case passes or fails by the others. */
  advisory?: readonly string[];
  /** Where the evaluation keeps what it pays for, so that it continues where it stopped. */
  journal?: Journal;
  /** Whether judges are asked through the batch APIs of their providers, at half the price, and how. For `evaluate` in Node, Deno and Bun. */
  batch?: boolean | BatchOptions;
}

/** How judges are asked in batches. */
export interface BatchOptions {
  /**
   * The folder that keeps replies and batches, as `--cache` of the command does; an interrupted evaluation continues with the
   * same one. Default: `adk-metrics-replies`.
   */
  folder?: string;
  /**
   * How to repeat questions that failed in a batch: in another one, or in live calls after all batches have ended, at the full
   * price, like the questions that follow from them. Default: `batch`.
   */
  fallback?: "batch" | "live";
  /** Maximum number of questions per batch. */
  size?: number;
  /** How long to wait before checking a batch again, in milliseconds. Default: 30,000. */
  pollMs?: number;
  /** Is told what is sent, how far it is and what came back. */
  onNotice?(notice: string): void;
}

/** What `evaluate` needs of a registry. */
export interface MetricRegistry {
  /** The names of the metrics that are not the engine's own. */
  customMetricNames(): string[];
  /** What scores such a metric. */
  getEvaluator(metric: EvalMetric): {
    /** Scores one conversation. */
    evaluateInvocations(
      actual: Invocation[],
      expected?: Invocation[],
      scenario?: EvalCase["conversationScenario"],
    ): Promise<EvaluationResult> | EvaluationResult;
  };
}

/** How two runs are compared. */
export interface CompareOptions {
  /** Number of bootstrap resamples of the cases for each confidence interval, from 100 to 1,000,000. Default: 10,000. */
  resamples?: number;
  /** Where the drawing begins: any whole number. The same seed gives the same intervals. Default: 0. */
  seed?: number;
  /** The confidence of the intervals, from 0.5 up and below 1. Default: 0.95. */
  confidence?: number;
}

/**
 * How a case or a metric's result in it changed, by its own verdict first:
 * - `regressed`: it passed and now fails or is not evaluated.
 * - `worse`: the verdict is the same, the score fell. For an informational metric: the amount grew. For a case: a metric
 *   regressed or got worse in it.
 * - `changed`: it failed or is not evaluated, before the one, now the other; neither is better. For a case with the same
 *   verdict: a metric changed so in it, and none got worse.
 * - `fixed`: it did not pass and now does.
 * - `better`: the verdict is the same, the score rose. For an informational metric: the amount fell. For a case: a metric
 *   was fixed or got better in it, and none got worse or changed.
 * - `unchanged`: all is as it was.
 */
export type ResultChange = "regressed" | "worse" | "changed" | "fixed" | "better" | "unchanged";

/**
 * What can be said over all cases: `better` and `worse` where the confidence interval of the difference leaves out 0 and
 * chance makes such a difference rarely enough (at 0.95 in at most one of twenty comparisons of equals, which needs six cases
 * that changed; the chance is that of all metrics together); `unchanged` where no case has another score; `unclear`
 * otherwise.
 */
export type MetricChange = "better" | "worse" | "unclear" | "unchanged";

/** One of the two runs that are compared. */
export interface ComparedRun {
  evalSetId: string;
  evalSetResultId: string;
  /** When it was made, in seconds since 1970. */
  creationTimestamp?: number;
  /** The cases it has, by eval id, and how they ended. */
  cases: { total: number; passed: number; failed: number; notEvaluated: number };
  /** How many runs of its cases it has: more than cases where some were run repeatedly. */
  runs: number;
}

/** What a metric found in a case or a turn, over all runs of the case. */
export interface ComparedScore {
  /** The mean over the runs that have a score; absent if none has. */
  score?: number;
  /** The status. Where runs disagree, that of their mean score. */
  status: EvalStatus;
  threshold?: number;
  /** Why there is no score; of the first run that says so. */
  reason?: string;
}

/** How a turn was scored differently. */
export interface TurnComparison {
  /** The turn, counted from 0. */
  invocationIndex: number;
  /** Absent if the baseline has no such turn. */
  baseline?: ComparedScore;
  /** Absent if the current run has no such turn. */
  current?: ComparedScore;
  /** Current minus baseline. */
  difference?: number;
}

/** A metric's results in a case. */
export interface CaseMetricComparison {
  metricName: string;
  change: ResultChange;
  /** Absent if the baseline has no result of the metric for this case. */
  baseline?: ComparedScore;
  /** Absent if the current run has none. */
  current?: ComparedScore;
  /** Current minus baseline, where both have a score. */
  difference?: number;
  /** The turns that were scored differently, in order. */
  turns: TurnComparison[];
}

/** How a case ended, over all its runs. */
export interface ComparedCase {
  /** The status. Where runs disagree, it follows from those of the metrics as that of a single run does. */
  status: EvalStatus;
  /** How often it was run. */
  runs: number;
  /** How many of these runs passed. */
  passedRuns: number;
  /** Why it could not be scored; of the first run that says so. */
  reason?: string;
}

/** A case in both runs. */
export interface CaseComparison {
  evalId: string;
  /**
   * How its own verdict changed; if it did not, the worst change of its metrics, informational ones
   * aside. A case that still fails is never `fixed`, one that now passes never `worse`.
   */
  change: ResultChange;
  baseline: ComparedCase;
  current: ComparedCase;
  /** The metrics that both runs have, in their order. */
  metrics: CaseMetricComparison[];
}

/** How many cases went from one verdict of a metric to another. */
export interface VerdictChanges {
  passedToFailed: number;
  passedToNotEvaluated: number;
  failedToPassed: number;
  failedToNotEvaluated: number;
  notEvaluatedToPassed: number;
  notEvaluatedToFailed: number;
}

/** A metric over all cases that both runs have. */
export interface MetricComparison {
  metricName: string;
  /**
   * What is good: a higher score; or a lower one, for an informational metric (calls, tokens, seconds) and one of your own
   * all of whose statuses say so.
   */
  goal: "higher" | "lower";
  change: MetricChange;
  /** The cases with a score in both runs, which the means, the difference and the interval are about. */
  compared: number;
  /** How many of these got better, got worse, or stayed as they were. */
  better: number;
  worse: number;
  unchanged: number;
  /** The cases with a score in one of the runs only. */
  onlyBaseline: number;
  onlyCurrent: number;
  baselineMean?: number;
  currentMean?: number;
  /** The mean of the cases' differences, current minus baseline. */
  difference?: number;
  /** The confidence interval of the difference; from two compared cases up. */
  interval?: { low: number; high: number };
  /** How likely chance alone makes a difference as large as this between equals; from two compared cases up. */
  chance?: number;
  /** The same, raised by S. Holm's method since several metrics of this kind were compared: with many, some differ by chance. */
  correctedChance?: number;
  /** The smallest true difference that such a comparison finds in four of five repetitions. Absent if no difference would be. */
  detectable?: number;
  /** Absent for informational metrics, which have no verdicts. */
  verdicts?: VerdictChanges;
}

/** The runs of one side that passed or failed; those that were not evaluated are not counted. */
export interface PassCounts {
  runs: number;
  passed: number;
}

/** How often the cases pass that both runs have. Every run of a case counts; each case counts alike. */
export interface PassComparison {
  baseline: PassCounts;
  current: PassCounts;
  change: MetricChange;
  /** The cases with a run that passed or failed on both sides, which the rest is about. */
  compared: number;
  /** The cases with a larger share of passing runs now, and those with a smaller one. */
  better: number;
  worse: number;
  /** The mean share of a case's runs that pass. Absent if no case is compared. */
  baselineRate?: number;
  currentRate?: number;
  /** Current minus baseline. */
  difference?: number;
  /** The confidence interval of the difference; from two compared cases up. */
  interval?: { low: number; high: number };
  /**
   * How likely chance alone makes a difference as large as this: the exact sign test, McNemar's, where all cases that changed did
   * so by as much, as those that ran once; otherwise the paired t-test.
   */
  chance: number;
  /** The smallest true difference that such a comparison finds in four of five repetitions. Absent if no difference would be. */
  detectable?: number;
}

/** A threshold that differs between the runs. */
export interface ThresholdChange {
  metricName: string;
  baseline?: number;
  current?: number;
  /** In how many cases. */
  cases: number;
}

/** How a run of an evalset differs from another: what `compareRuns` gives. Numbers are finite or absent. */
export interface RunComparison {
  baseline: ComparedRun;
  current: ComparedRun;
  /** Whether some case regressed: it passed and now does not. */
  hasRegressions: boolean;
  /** How many of the cases in both runs became what. */
  counts: Record<ResultChange, number>;
  /** How often they pass, over all runs. */
  passes: PassComparison;
  /** The metrics that both runs have, in the order in which they appear. */
  metrics: MetricComparison[];
  /**
   * The cases that both runs have: the regressed ones first, then those that got worse, changed, were fixed, got
   * better, and those unchanged; among alike the largest loss of score first, then in the order of the baseline.
   */
  cases: CaseComparison[];
  /** The eval ids that only the current run has, and those that only the baseline has. */
  addedCases: string[];
  removedCases: string[];
  /** The metrics that only the current run has, and those that only the baseline has. */
  addedMetrics: string[];
  removedMetrics: string[];
  thresholdChanges: ThresholdChange[];
  /**
   * What else differs between the runs and may explain differences: evalset, dialect, judges, a cancelled run, statuses
   * of cases that their metrics contradict. Also that a metric no longer passes in cases whose verdict is the same.
   */
  notes: string[];
  /** How the confidence intervals were made. */
  bootstrap: Required<CompareOptions>;
}

export type { AdkMetricsError };
