/** How the samples of a judge voted, in a form that results keep in files, where explanations have no place. */

import { parseJson } from "./engine/json.js";
import { isObject, unexpected } from "./engine/values.js";
import type { EvalCaseResult, EvalMetricResult, JudgeVotes } from "./types.js";

/** The votes that the explanations of a case's results have. */
export function judgeVotesOf({ evalMetricResultPerInvocation }: EvalCaseResult): JudgeVotes[] {
  return evalMetricResultPerInvocation.flatMap(({ evalMetricResults }, invocationIndex) =>
    (evalMetricResults ?? []).flatMap((metric) => votesOf(metric, invocationIndex)),
  );
}

function votesOf({ metricName, score, explanation }: EvalMetricResult, invocationIndex: number): JudgeVotes[] {
  const { samples, rubrics } = explanation ?? {};
  if (samples === undefined) return [];
  const about = { metricName, invocationIndex, of: samples.of };
  if (rubrics !== undefined) {
    return rubrics.map(({ rubricId, yes, no, unscored }) => ({
      ...about,
      rubricId,
      votes: [...times<number | null>(yes, 1), ...times<number | null>(no, 0), ...times(unscored, null)],
    }));
  }
  const read = samples.votes.filter(
    ({ purpose, stepIndex = 0 }) => (purpose === "verdict" || purpose === "score") && stepIndex === 0,
  );
  if (read.length === 0) return [];
  const telling = read.find((vote) => vote.score === score) ?? read[0];
  const rationale = proseOf(telling?.reply ?? "")?.slice(0, LONGEST_RATIONALE);
  const votes = read.map((vote) => vote.score ?? null);
  return [{ ...about, votes, ...(rationale === undefined ? {} : { rationale }) }];
}

/** As much of what a judge said is kept. */
const LONGEST_RATIONALE = 1000;

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

/** The keys under which judges say why, in replies that are JSON. */
const PROSE_KEYS = ["reasoning", "explanation", "rationale"];

/**
 * Why a judge replied as it did, where the reply is JSON, bare or fenced, that says so; undefined for any other.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but a string.
 */
export function rationaleOf(reply: string): string | undefined {
  if (typeof reply !== "string") throw unexpected("a string", reply, "reply");
  return proseOf(reply);
}

/** As {@link rationaleOf}, of replies in results: who reads them says where they are damaged. */
export function proseOf(reply: string): string | undefined {
  const text = reply.trim();
  const isFenced = text.startsWith("```") && text.endsWith("```");
  const body = isFenced ? text.slice(text.indexOf("\n") + 1, -3) : text;
  if (!body.trimStart().startsWith("{")) return undefined;
  let value: unknown;
  try {
    value = parseJson(body);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const found = PROSE_KEYS.map((key) => (value as Record<string, unknown>)[key]);
  return found.find((one): one is string => typeof one === "string" && one.trim() !== "");
}
