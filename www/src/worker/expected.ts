/**
 * Reconstructs the evalset of evalset results: they contain what was expected as well as what the agent did, so they can
 * be scored again without other files. Numbers keep all their digits if the browser supports `JSON.rawJSON`.
 */

import type { NamedFile } from "./protocol.js";
import { withoutLines } from "./result-lines.js";

type JsonObject = Readonly<Record<string, unknown>>;

/** An evalset of what was expected. Turns without an expectation have the user's message only. */
export function expectedOf({ name, bytes }: NamedFile): NamedFile {
  let root = parseExactly(new TextDecoder().decode(withoutLines(bytes)));
  if (typeof root === "string") root = parseExactly(root);
  const results = root as JsonObject;
  const cases = listOf(results, "eval_case_results", "evalCaseResults");
  const byId = new Map(cases.map((result) => [result["eval_id"] ?? result["evalId"], result]));
  const evalSet = {
    eval_set_id: results["eval_set_id"] ?? results["evalSetId"] ?? "results",
    eval_cases: [...byId].map(([id, result]) => ({
      eval_id: id,
      conversation: listOf(result, "eval_metric_result_per_invocation", "evalMetricResultPerInvocation").map(
        expectedTurn,
      ),
    })),
  };
  const base = name.replace(/(\.evalset_result)?\.json$/i, "");
  return { name: `${base} (what the results expect)`, bytes: new TextEncoder().encode(JSON.stringify(evalSet)) };
}

function expectedTurn(turn: JsonObject): unknown {
  const expected = turn["expected_invocation"] ?? turn["expectedInvocation"];
  if (expected !== undefined && expected !== null) return expected;
  const actual = (turn["actual_invocation"] ?? turn["actualInvocation"] ?? {}) as JsonObject;
  return { user_content: actual["user_content"] ?? actual["userContent"] ?? {} };
}

function listOf(object: JsonObject, ...keys: string[]): readonly JsonObject[] {
  return (keys.map((key) => object[key]).find((found) => Array.isArray(found)) ?? []) as readonly JsonObject[];
}

type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context?: { source?: string }) => unknown,
) => unknown;

/** Parses JSON; numbers that a double cannot represent exactly are kept as they are written. */
function parseExactly(text: string): unknown {
  const raw: unknown = Reflect.get(JSON, "rawJSON");
  if (typeof raw !== "function") return JSON.parse(text) as unknown;
  return (JSON.parse as ParseWithSource)(text, (_, value, context) => {
    if (typeof value !== "number" || context?.source === undefined || String(value) === context.source) return value;
    return (raw as (source: string) => unknown)(context.source);
  });
}
