import { differentIn } from "../journal/differences.js";
import type { JournaledBegin } from "../journal/section.js";
import { AdkMetricsError } from "../errors.js";
import type { Journal, JournalEntry } from "../types.js";
import type { Store } from "./store.js";

/** Where what a job paid for is kept. */
const keyOf = (jobId: string): string => `job:${jobId}`;

/** What was evaluated, which is the same for all jobs of an evalset. */
export async function begunIn(store: Store, evalSet: number): Promise<JournaledBegin[]> {
  return (await store.all(`begun:${evalSet}`)).map(([, text]) => JSON.parse(text) as JournaledBegin);
}

/** What a job paid for and settled, attempt by attempt. */
export async function entriesOf(store: Store, jobId: string): Promise<JournalEntry[]> {
  return (await store.all(keyOf(jobId))).flatMap(([, text]) => JSON.parse(text) as JournalEntry[]);
}

/**
 * The journal of a job, from which its next worker continues. Each attempt writes under a number of its own, so that one
 * whose worker was taken for dead does no harm.
 *
 * @param keeps Whether an entry is to be kept.
 */
export function jobJournal(
  store: Store,
  evalSet: number,
  job: { id: string; attempt: number },
  keeps: (entry: JournalEntry) => boolean,
): Journal {
  let count = 0;
  return {
    read: async () => [...(await begunIn(store, evalSet)), ...(await entriesOf(store, job.id))],
    async append(entries) {
      const rest: JournalEntry[] = [];
      for (const entry of entries) {
        if (entry.type === "begin") await begin(entry as JournaledBegin);
        else if (keeps(entry)) rest.push(entry);
      }
      if (rest.length === 0) return;
      const field = [job.attempt, count++].map((number) => String(number).padStart(9, "0")).join("-");
      await store.set(keyOf(job.id), field, JSON.stringify(rest));
    },
  };

  async function begin(entry: JournaledBegin): Promise<void> {
    const known = JSON.parse(await store.keep(`begun:${evalSet}`, entry.part, JSON.stringify(entry))) as JournaledBegin;
    const different = differentIn(known.inputs, entry.inputs);
    if (different.length === 0) return;
    throw new AdkMetricsError(
      "journal_failed",
      `other workers started with a different ${different.join(", a different ")}`,
      {
        help: "Start every worker with the same files, agent, judge and version",
      },
    );
  }
}
