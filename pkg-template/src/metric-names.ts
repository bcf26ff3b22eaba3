/** The names that metrics go by, and what is known by them. */

import { type JudgePurpose, LEGACY_NAMES, PrebuiltMetrics, PROMPTS, VOTE_WORDS } from "./generated/metrics.js";

/** Today's name of a metric that may go by ADK-TS's old one; any other name as it is. */
export function currentName(name: string): string {
  return Object.hasOwn(LEGACY_NAMES, name) ? (LEGACY_NAMES[name] as string) : name;
}

/** The name of a metric that may be written as the enum does (`RESPONSE_MATCH_SCORE`), or in ADK-TS's old way. */
export function canonicalName(name: string): string {
  return currentName(
    Object.hasOwn(PrebuiltMetrics, name) ? PrebuiltMetrics[name as keyof typeof PrebuiltMetrics] : name,
  );
}

/** Whether a metric asks its judge for something. */
export function asksFor(metricName: string, purpose: JudgePurpose): boolean {
  const name = currentName(metricName);
  return Object.hasOwn(PROMPTS, name) && PROMPTS[name]?.[purpose] !== undefined;
}

/** What a vote for and a vote against are called, for metrics that a majority decides. */
export function voteWords(metricName: string): readonly [positive: string, negative: string] | undefined {
  const name = currentName(metricName);
  return Object.hasOwn(VOTE_WORDS, name) ? VOTE_WORDS[name] : undefined;
}
