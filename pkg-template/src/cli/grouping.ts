/** `--group-by`: which cases depend on each other, which the intervals of reports respect. */

import type { EvalCase, EvalSetResult } from "../types.js";
import { count } from "../report/text.js";
import type { Arguments } from "./arguments.js";
import type { Input } from "./inputs.js";
import { Mistake } from "./mistakes.js";
import { note } from "./process.js";
import { selectedCases } from "./agent-runs.js";

/** The groups of cases of each input, by their ids; the evalset itself if it is one group. */
export type Grouping = readonly (ReadonlyMap<string, string> | undefined)[];

/**
 * Reads how cases are grouped, before anything is run.
 *
 * @throws {Mistake} for what groups nothing.
 */
export async function groupingOf(given: Arguments, inputs: readonly Input[]): Promise<Grouping | undefined> {
  const by = given.one("group-by");
  if (by === undefined) return undefined;
  if (by === "evalset") {
    if (inputs.length === 1) note("--group-by evalset has no effect on a single evalset");
    return inputs.map(() => undefined);
  }
  const [, key] = /^tag:([^]+)$/.exec(by) ?? [];
  if (key === undefined) {
    throw new Mistake(`--group-by cannot be \`${by}\``, {
      help: "Expected evalset, or tag:<key> with a key that your cases have, such as tag:topic",
    });
  }
  const cases = await Promise.all(inputs.map(async (input) => (await selectedCases(input)).evalCases));
  const tags = cases.map((all) => new Map(all.flatMap((one) => tagOf(one, key))));
  if (tags.every(({ size }) => size === 0)) {
    throw new Mistake(`--group-by ${by}: no case has the key \`${key}\``, {
      location: inputs.map(({ files }) => files.evalSet).join(", "),
      help: "Add it to the cases, or to the `state` of their `session_input`, with a string, a number or a list of these as its value",
    });
  }
  const all = tags.flatMap((ofInput) => [...ofInput.values()]);
  const total = cases.flat().length;
  const lacking = total - all.length;
  if (lacking > 0) {
    note(
      `--group-by ${by}: ${lacking} of ${count(total, "case")} ${lacking === 1 ? "lacks it and is" : "lack it and are"} not grouped`,
    );
  }
  if (all.length === total && new Set(all).size === 1)
    note(`--group-by ${by} has no effect: all cases are in one group`);
  return tags;
}

/** The tag of a case: of its own, or of the state in which its session begins. */
function tagOf(one: EvalCase, key: string): [evalId: string, tag: string][] {
  const state: unknown = one.sessionInput?.state;
  const found = [one, state].map((fields) =>
    typeof fields === "object" && fields !== null && Object.hasOwn(fields, key)
      ? textOf((fields as Record<string, unknown>)[key])
      : undefined,
  );
  const tag = found.find((text) => text !== undefined);
  return tag === undefined ? [] : [[one.evalId, tag]];
}

/** Several tags are one group: that of the cases which have the same ones. */
function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const texts = [...new Set(value.map(textOf))].sort();
    if (texts.includes(undefined)) return undefined;
    return texts.length > 1 ? JSON.stringify(texts) : texts[0];
  }
  const isTag = typeof value === "string" ? value !== "" : typeof value === "number" || typeof value === "boolean";
  return isTag ? String(value) : undefined;
}

/** Gives case results their groups. */
export function noteGroups(scored: readonly (EvalSetResult | undefined)[], grouping: Grouping): void {
  for (const [at, set] of scored.entries()) {
    const tags = grouping[at];
    for (const one of set?.evalCaseResults ?? []) {
      const group = tags === undefined ? set?.evalSetId : tags.get(one.evalId);
      if (group !== undefined) one.group = group;
    }
  }
}
