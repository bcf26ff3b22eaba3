import { openQueue, type OpenQueue, STATES } from "./connect.js";
import { budgetIn, spentOf } from "./purse.js";
import type { QueueConnection, QueueStatus } from "./types.js";

export async function statusAt(connection: QueueConnection | string): Promise<QueueStatus> {
  const open = await openQueue(connection);
  try {
    return await statusOf(open);
  } finally {
    await open.close();
  }
}

export async function statusOf({ name, queue, store }: OpenQueue): Promise<QueueStatus> {
  const counts = await queue.getJobCounts(...STATES);
  const { completed = 0, failed = 0, active = 0, delayed = 0, waiting = 0, prioritized = 0, paused = 0 } = counts;
  return {
    name,
    total: Object.values(counts).reduce((sum, one) => sum + one, 0),
    done: completed,
    failed,
    active,
    waiting: waiting + prioritized + paused,
    delayed,
    workers: await queue.getWorkersCount(),
    spent: await spentOf(store),
    budget: await budgetIn(store),
    isStopped: await queue.isPaused(),
  };
}
