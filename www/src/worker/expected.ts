/**
 * The evalset that evalset results were made with, as far as they say: results hold what was expected beside what was
 * done, so that they can be scored again alone. Numbers keep their digits where the browser can.
 */

import type { NamedFile } from "./protocol.js";

type Bag = Readonly<Record<string, unknown>>;

/** An evalset of what was expected; of turns without it, what the user said. */
export function expectedOf({ name, bytes }: NamedFile): NamedFile {
  let root = exactly(new TextDecoder().decode(bytes));
  if (typeof root === "string") root = exactly(root);
  const results = root as Bag;
  const cases = listOf(results, "eval_case_results", "evalCaseResults");
  const byId = new Map(cases.map((one) => [one["eval_id"] ?? one["evalId"], one]));
  const evalSet = {
    eval_set_id: results["eval_set_id"] ?? results["evalSetId"] ?? "results",
    eval_cases: [...byId].map(([id, one]) => ({
      eval_id: id,
      conversation: listOf(one, "eval_metric_result_per_invocation", "evalMetricResultPerInvocation").map(expectedTurn),
    })),
  };
  const base = name.replace(/(\.evalset_result)?\.json$/i, "");
  return { name: `${base} (what the results expect)`, bytes: new TextEncoder().encode(JSON.stringify(evalSet)) };
}

function expectedTurn(turn: Bag): unknown {
  const expected = turn["expected_invocation"] ?? turn["expectedInvocation"];
  if (expected !== undefined && expected !== null) return expected;
  const actual = (turn["actual_invocation"] ?? turn["actualInvocation"] ?? {}) as Bag;
  return { user_content: actual["user_content"] ?? actual["userContent"] ?? {} };
}

function listOf(bag: Bag, ...keys: string[]): readonly Bag[] {
  return (keys.map((key) => bag[key]).find((found) => Array.isArray(found)) ?? []) as readonly Bag[];
}

type Exact = (
  text: string,
  reviver: (key: string, value: unknown, context?: { source?: string }) => unknown,
) => unknown;

/** Reads JSON in which numbers that a double cannot hold stay as they are written. */
function exactly(text: string): unknown {
  const raw: unknown = Reflect.get(JSON, "rawJSON");
  if (typeof raw !== "function") return JSON.parse(text) as unknown;
  return (JSON.parse as Exact)(text, (_, value, context) => {
    if (typeof value !== "number" || context?.source === undefined || String(value) === context.source) return value;
    return (raw as (source: string) => unknown)(context.source);
  });
}
