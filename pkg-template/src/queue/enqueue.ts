import { DEFAULT_NUM_RUNS, checkPositive } from "../agents/run.js";
import { unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { optionsOf } from "../known-options.js";
import { definedProperties } from "../lists.js";
import { earlyStopOf } from "../run/early-stop.js";
import type { EarlyStop, VotePrior } from "../types.js";
import { openQueue, STATES } from "./connect.js";
import { jobsOf, plannedInput, sha256, type StoredPlan } from "./plan.js";
import { budgetIn } from "./purse.js";
import type { Enqueued, QueueConnection, QueuedEvalSet, QueuePlan } from "./types.js";

/** How many jobs are added at a time. */
const JOBS_AT_ONCE = 1_000;
const DEFAULT_ATTEMPTS = 3;
const DEFAULT_BACKOFF_MS = 5_000;

const PLAN = ["evalSets", "budget", "limit", "attempts", "backoffMs"] as const;
const EVAL_SET = [
  "evalSet",
  "config",
  "actual",
  "evalIds",
  "numRuns",
  "dialect",
  "earlyStop",
  "advisory",
  "priority",
] as const;

/** @param command What the command line was given. */
export async function add(
  plan: QueuePlan,
  connection: QueueConnection | string,
  command?: StoredPlan["command"],
): Promise<Enqueued> {
  const {
    evalSets,
    budget,
    limit,
    attempts = DEFAULT_ATTEMPTS,
    backoffMs = DEFAULT_BACKOFF_MS,
  } = optionsOf(plan, PLAN);
  if (!Array.isArray(evalSets) || evalSets.length === 0) throw unexpected("a list of evalsets", evalSets, "evalSets");
  checkPositive(attempts, "attempts");
  checkPositive(backoffMs, "backoffMs");
  if (limit !== undefined) for (const name of ["jobs", "seconds"] as const) checkPositive(limit[name], `limit.${name}`);
  const inputs = evalSets.map((one: QueuedEvalSet, at) => {
    const given = optionsOf(one, EVAL_SET, { path: `evalSets[${at}]` });
    const { actual, numRuns = DEFAULT_NUM_RUNS } = given;
    if (actual !== undefined && given.numRuns !== undefined) {
      throw new AdkMetricsError("invalid_input", "`numRuns` has no effect if the agent has already been run", {
        path: `evalSets[${at}]`,
      });
    }
    if (actual === undefined) checkPositive(numRuns, `evalSets[${at}]: numRuns`);
    checkEarlyStop(given.earlyStop, `evalSets[${at}]`);
    if (given.priority !== undefined) checkPositive(given.priority, `evalSets[${at}]: priority`);
    return plannedInput({ ...given, ...(actual === undefined ? { numRuns } : {}) });
  });
  const stored = inputs.map((input) => input.stored);
  // Where files are, and what comes first, decides nothing.
  const decided = stored.map(({ evalSet: _1, config: _2, actual: _3, priority: _4, ...rest }) => rest);
  const id = sha256(JSON.stringify(decided));
  const { queue, store, name, close } = await openQueue(connection);
  try {
    const text = JSON.stringify({ id, evalSets: stored, ...definedProperties({ command }) });
    const known = JSON.parse(await store.keep("plan", "plan", text)) as StoredPlan;
    if (known.id !== id) {
      throw new AdkMetricsError("queue_failed", `the queue \`${name}\` contains a different evaluation`, {
        help: "Choose another queue name, or collect the results of this one and clear it",
      });
    }
    if (known.command === undefined || command !== undefined) await store.set("plan", "plan", text);
    if (budget !== undefined)
      await store.set("plan", "budget", JSON.stringify({ ...(await budgetIn(store)), ...budget }));
    if (limit === undefined) await queue.removeGlobalRateLimit();
    else await queue.setGlobalRateLimit(limit.jobs, 1000 * limit.seconds);
    const total = async (): Promise<number> => sumOf(Object.values(await queue.getJobCounts(...STATES)));
    const before = await total();
    const jobs = inputs.flatMap((input, at) => jobsOf(id, at, input));
    for (let at = 0; at < jobs.length; at += JOBS_AT_ONCE) {
      await queue.addBulk(
        jobs.slice(at, at + JOBS_AT_ONCE).map((job) => ({
          name: "case",
          data: job.data,
          opts: {
            jobId: job.id,
            attempts,
            backoff: { type: "exponential", delay: backoffMs, jitter: 0.5 },
            ...definedProperties({ priority: stored[job.data.at]?.priority }),
          },
        })),
      );
    }
    const failed = await queue.getFailed();
    for (const job of failed) await job.retry("failed", { resetAttemptsMade: true });
    await queue.resume();
    return { added: (await total()) - before, total: jobs.length, retried: failed.length };
  } finally {
    await close();
  }
}

/** @throws {AdkMetricsError} `invalid_input` for a risk without a prior. */
function checkEarlyStop(earlyStop: EarlyStop | undefined, path: string): void {
  if (earlyStopOf(earlyStop).risk === undefined || (earlyStop as { prior?: VotePrior }).prior !== undefined) return;
  throw new AdkMetricsError(
    "invalid_input",
    "in a queue, a risk needs a prior: a job scores one run of a case, to which none can be fitted",
    {
      path: `${path}: earlyStop`,
      help: "Take it from `judges[0].earlyStop.prior` of the results of an earlier run",
    },
  );
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
