/** The results of a batch that is over: replies, and why the other questions have none. */

import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import type { EndpointSettings } from "../generated/contract.js";
import { questionOf, read } from "../judges/wire.js";
import type { JudgeReply } from "../types.js";
import type { NotedQuestion } from "./folder.js";
import type { BatchLook } from "./protocols.js";

/** How often results are downloaded that are not whole. */
const DOWNLOADS = 3;
/** Why a batch as a whole may be refused for the time being. */
const TEMPORARY = /limit|capacity|overload|unavailable|internal|try again/i;

/** What came of the questions of a batch. */
export interface BatchResults {
  /** Whether a row was about any of them. */
  hasRows: boolean;
  /** Those without a reply, by id. */
  unanswered: Map<string, NotedQuestion>;
  /** Why rows have none, by the question's id. */
  failures: Map<string, AdkMetricsError>;
}

/** The result of a batch that was refused as a whole: no rows. */
export function noResults(questions: readonly NotedQuestion[]): BatchResults {
  return {
    hasRows: false,
    unanswered: new Map(questions.map((question) => [question.id, question])),
    failures: new Map(),
  };
}

/**
 * Downloads the rows of a batch.
 *
 * @param take Keeps a reply; no question's is given twice.
 */
export async function downloadResults(
  look: BatchLook,
  questions: readonly NotedQuestion[],
  settings: EndpointSettings,
  take: (question: NotedQuestion, reply: JudgeReply) => Promise<void>,
): Promise<BatchResults> {
  const results = noResults(questions);
  const { unanswered, failures } = results;
  for (let download = 1; ; download += 1) {
    let isWhole = true;
    try {
      for await (const row of look.rows()) {
        if (row === undefined) {
          isWhole = false;
          continue;
        }
        const question = unanswered.get(row.id);
        // One of another batch, or the second of the same question.
        if (question === undefined) continue;
        results.hasRows = true;
        try {
          await take(question, read(settings, questionOf(question.request), row.raw));
          unanswered.delete(row.id);
          failures.delete(row.id);
        } catch (error) {
          if (!isAdkMetricsError(error) || error.code === "cache_failed") throw error;
          failures.set(row.id, error);
        }
      }
    } catch (error) {
      if (!isAdkMetricsError(error) || error.retryable !== true || download >= DOWNLOADS) throw error;
      isWhole = false;
    }
    if (isWhole || download >= DOWNLOADS) return results;
  }
}

/** Why each question without a reply has none; nothing of those that were not asked, and are to be. */
export function* failuresOf(
  { state, refused }: BatchLook,
  questions: readonly NotedQuestion[],
  { unanswered, failures }: BatchResults,
): Generator<[key: string, failure: AdkMetricsError]> {
  const refusals = new Map<string, AdkMetricsError>();
  for (const { line, message } of refused ?? []) {
    const question = line === undefined ? undefined : questions[line];
    if (question !== undefined) refusals.set(question.id, failed(message, false));
  }
  const [first] = refused ?? [];
  for (const { id, key } of unanswered.values()) {
    const failure = refusals.get(id) ?? failures.get(id);
    // What stood in a file beside wrong lines was not asked.
    if (failure === undefined && refusals.size > 0) continue;
    if (failure !== undefined) yield [key, failure];
    else if (refused === undefined)
      yield [key, failed(`the batch is ${state} and contains no answer to this question`, true)];
    else {
      const reason = first === undefined ? "" : `: ${first.message}`;
      yield [key, failed(`the batch was refused${reason}`, TEMPORARY.test(first?.message ?? ""))];
    }
  }
}

function failed(message: string, retryable: boolean): AdkMetricsError {
  return new AdkMetricsError("judge_failed", message, { retryable });
}
