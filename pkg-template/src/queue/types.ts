import type { AgentRunOptions } from "../agents/run.js";
import type { Agent } from "../agents/agent.js";
import type { Budget, Dialect, EarlyStop, EvaluatorOptions, MetricRegistry } from "../types.js";

/** Where a queue is. */
export interface QueueConnection {
  /** `redis://…`, `rediss://…` or `postgres://…`. */
  url: string;
  /** What tells it from other queues there. Default: `evaluation`. */
  name?: string;
}

/** An evalset. Every run of a case is a job. Files are named by paths that lead to the same on every worker. */
export interface QueuedEvalSet {
  /** The file of the evalset. */
  evalSet: string;
  /** The file with the metrics and their thresholds. Default: ADK's default criteria. */
  config?: string;
  /** The file of what the agent did. Without it, workers run their agent. */
  actual?: string;
  /** The cases. Default: all. */
  evalIds?: readonly string[];
  /** How often workers run their agent in each case. Default: 2. */
  numRuns?: number;
  /** Whose scores are given. */
  dialect?: Dialect;
  /** When votes end. A risk needs its `prior`: a job scores one run of a case, to which none can be fitted. */
  earlyStop?: EarlyStop;
  /** Metrics that are reported and decide nothing. */
  advisory?: readonly string[];
  /** What has the lower number comes first, from 1; what has none comes before. */
  priority?: number;
}

/** What is evaluated, and what all workers together may do for it. */
export interface QueuePlan {
  evalSets: readonly QueuedEvalSet[];
  /** What the judges of all workers may spend. */
  budget?: Omit<Budget, "timeMs">;
  /** How many runs of cases all workers together may begin in a number of seconds. */
  limit?: { jobs: number; seconds: number };
  /** How often a run of a case is tried whose judges gave no reply. Default: 3. */
  attempts?: number;
  /** How long the second attempt waits, in milliseconds; each one after it twice as long. Default: 5,000. */
  backoffMs?: number;
}

/** The result of adding a plan. */
export interface Enqueued {
  /** Runs of cases that were not in the queue before. */
  added: number;
  /** All of them. */
  total: number;
  /** Runs that had failed for good, and are tried again. */
  retried: number;
}

/** How scores come about, which has to be the same for all workers and for `collect`. */
export interface QueueScoring extends Pick<EvaluatorOptions, "prompts"> {
  /** Where metrics of your own are found. Default: `DEFAULT_METRIC_EVALUATOR_REGISTRY`. */
  registry?: MetricRegistry;
}

/** How a worker works. */
export interface WorkOptions
  extends
    QueueScoring,
    Pick<EvaluatorOptions, "judge" | "vertex" | "retry" | "timeoutMs" | "signal">,
    Pick<AgentRunOptions, "turnTimeoutMs"> {
  /** Whom to run, where the plan has no file of what an agent did. */
  agent?: Agent | Promise<Agent>;
  /** Maximum number of jobs in progress at the same time. Default: 4. */
  concurrency?: number;
  /** Whether to wait for more jobs when all are done. Default: false. */
  wait?: boolean;
  /** After how many milliseconds without a sign of life another worker takes a job over. Default: 30,000. */
  leaseMs?: number;
  /** Is told what is worth knowing and no result. */
  onNotice?(notice: string): void;
}

/** What a worker did. */
export interface Worked {
  done: number;
  /** Attempts that failed; the last one of a job counts in `status`. */
  failed: number;
  /** Why it ended: nothing was left to do, the budget was spent, or its signal was aborted. */
  ended: "done" | "budget" | "signal";
}

/** How far a queue is. */
export interface QueueStatus {
  name: string;
  total: number;
  done: number;
  /** Failed for good. */
  failed: number;
  active: number;
  waiting: number;
  /** Waiting for their next attempt. */
  delayed: number;
  workers: number;
  /** What judges spent, and may spend. */
  spent: { calls: number; tokens: number; cost: number };
  budget: Omit<Budget, "timeMs">;
  /** Whether nothing more is begun since the budget is spent. */
  isStopped: boolean;
}

/** How results are made of what workers did. */
export interface CollectOptions extends QueueScoring, Pick<EvaluatorOptions, "explain"> {
  /** Whether runs that are not done count as not evaluated; an error by default, unless the budget is spent. */
  partial?: boolean;
}
