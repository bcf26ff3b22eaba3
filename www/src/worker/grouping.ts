/** Which cases of a run depend on each other, by what their evalsets say of them. */

import { type EvalCaseResult, readEvalSet } from "adk-metrics/web";
import type { ScoredSet } from "./runs.js";

/** The groups of cases, by the case's key. */
export type Groups = ReadonlyMap<string, string>;

/** The most tags that are offered. */
const MOST_TAGS = 20;

const known = new WeakMap<readonly ScoredSet[], ReadonlyMap<string, Groups>>();

/** The group of a result, if its case has one. */
export function groupIn(groups: Groups | undefined, result: EvalCaseResult): string | undefined {
  return groups?.get(keyOf(result.evalSetId, result.evalId));
}

/** What cases can be grouped by, named as `--group-by` does: several evalsets, and tags that several cases share. */
export function groupingsOf(sets: readonly ScoredSet[]): ReadonlyMap<string, Groups> {
  const found = known.get(sets) ?? new Map(groupings(sets));
  known.set(sets, found);
  return found;
}

function* groupings(sets: readonly ScoredSet[]): Generator<[string, Groups]> {
  const cases = sets.flatMap(({ result }) => result.evalCaseResults);
  const byEvalSet = new Map(cases.map(({ evalSetId, evalId }) => [keyOf(evalSetId, evalId), evalSetId]));
  if (isGrouping(byEvalSet)) yield ["evalset", byEvalSet];
  const tags = new Map<string, Map<string, string>>();
  for (const { source, result } of sets) {
    for (const { evalId, sessionInput, creationTimestamp: _, ...own } of evalCasesOf(source)) {
      for (const [key, value] of Object.entries({ ...sessionInput?.state, ...own })) {
        const tag = tagOf(value);
        if (tag === undefined) continue;
        const ofKey = tags.get(key) ?? new Map<string, string>();
        tags.set(key, ofKey.set(keyOf(result.evalSetId, evalId), tag));
      }
    }
  }
  const shared = [...tags].filter(([, groups]) => isGrouping(groups)).sort(([a], [b]) => a.localeCompare(b, "en"));
  for (const [key, groups] of shared.slice(0, MOST_TAGS)) yield [`tag:${key}`, groups];
}

function evalCasesOf(source: ScoredSet["source"]) {
  try {
    return source === undefined ? [] : readEvalSet(source.evalSet, source.evalSetName).evalCases;
  } catch {
    return [];
  }
}

/** Whether there are several groups, and several cases in one. */
function isGrouping(groups: Groups): boolean {
  const { size } = new Set(groups.values());
  return size > 1 && size < groups.size;
}

function keyOf(evalSetId: string, evalId: string): string {
  return JSON.stringify([evalSetId, evalId]);
}

/** A tag as text; a list of tags is one group. */
function tagOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const texts = [...new Set(value.map(tagOf))].sort();
    return texts.includes(undefined) ? undefined : texts.length > 1 ? JSON.stringify(texts) : texts[0];
  }
  if (typeof value === "string") return value === "" ? undefined : value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
