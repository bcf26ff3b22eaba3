/** A queue for a fleet of workers, on Redis or PostgreSQL, with BullMQ. For Node, Deno and Bun. */

import type { EvalSetResult } from "../types.js";
import { collectFrom } from "./collect.js";
import { add } from "./enqueue.js";
import { statusAt } from "./status.js";
import type * as Queue from "./types.js";
import { workOn } from "./work.js";

export type * from "./types.js";

/**
 * Adds every run of every case to a queue, each as a job. What is there already is not added again, what failed for good is
 * tried once more, and what a budget says takes the place of what another one said. A queue has one evaluation.
 *
 * @throws {AdkMetricsError} `invalid_input` for a plan that cannot be; `queue_failed` if the queue cannot be reached, has another
 * evaluation, or a file cannot be read.
 */
export async function enqueue(
  plan: Queue.QueuePlan,
  connection: Queue.QueueConnection | string,
): Promise<Queue.Enqueued> {
  return await add(plan, connection);
}

/**
 * Works off a queue until nothing is left to do, or its signal aborts: jobs in progress are finished first. If the process
 * is killed, other workers go on from what it paid for: `await work("redis://localhost:6379", { agent, judge, concurrency: 8 })`.
 *
 * @throws {AdkMetricsError} if this worker cannot do the jobs: files, agent or judge are missing, or others than those of the
 * queue. What it had is handed back.
 */
export async function work(
  connection: Queue.QueueConnection | string,
  options: Queue.WorkOptions = {},
): Promise<Queue.Worked> {
  return await workOn(connection, options);
}

/** How far a queue is. @throws {AdkMetricsError} `queue_failed` if it cannot be reached. */
export async function status(connection: Queue.QueueConnection | string): Promise<Queue.QueueStatus> {
  return await statusAt(connection);
}

/**
 * Makes the results of what workers did, evalset by evalset: those that a single process would have. No judge is asked and
 * no agent is run; files are read again.
 *
 * @throws {AdkMetricsError} `queue_failed` if runs are not done.
 */
export async function collect(
  connection: Queue.QueueConnection | string,
  options: Queue.CollectOptions = {},
): Promise<EvalSetResult[]> {
  return await collectFrom(connection, options);
}
