/** Lines of JSON, each a case of an evalset or what an agent did in one: what they are, and how they make up one JSON text. */

import { isObject } from "../engine/values.js";

/** How many bytes of a byte order mark a text begins with: some editors write one. */
export function markLength(text: Uint8Array): number {
  return text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf ? 3 : 0;
}

/** How much is scored at a time: bytes, and lines. */
export const WINDOW_BYTES = 0.5 * 2 ** 20;
export const WINDOW_LINES = 2000;

/** What lines are. */
export type LineKind = "eval_cases" | "inference_results" | "eval_case_results" | "sessions";

type Fields = Readonly<Record<string, unknown>>;

/** By which key a line is known. */
const KEYS: readonly (readonly [key: string, kind: LineKind])[] = [
  ["conversation", "eval_cases"],
  ["conversation_scenario", "eval_cases"],
  ["conversationScenario", "eval_cases"],
  ["eval_metric_result_per_invocation", "eval_case_results"],
  ["evalMetricResultPerInvocation", "eval_case_results"],
  ["inferences", "inference_results"],
  ["eval_case_id", "inference_results"],
  ["evalCaseId", "inference_results"],
  ["events", "sessions"],
];

/** The keys by which lines of a kind, or of any, are known. */
export function keysOfLines(kind?: LineKind): string[] {
  return KEYS.filter(([, own]) => kind === undefined || own === kind).map(([key]) => key);
}

/** What a line is; undefined for anything but a case and a run of one. */
export function kindOfLine(value: unknown): LineKind | undefined {
  if (!isObject(value)) return undefined;
  return KEYS.find(([key]) => Object.hasOwn(value, key))?.[1];
}

/** Whether a line says what the lines below are, as the first line of results does: it has the id of an evalset, and of no case. */
export function isHeaderLine(value: unknown): value is Fields {
  if (!isObject(value) || idOfLine(value, "eval_cases") !== undefined) return false;
  return ["eval_set_id", "evalSetId"].some((key) => Object.hasOwn(value, key)) && kindOfLine(value) === undefined;
}

/** The id of the evalset that a header names. */
export function evalSetIdOf({ eval_set_id: snake, evalSetId = snake }: Fields): string | undefined {
  return typeof evalSetId === "string" ? evalSetId : undefined;
}

/** The id of the case that a line is, or is a run of. */
export function idOfLine(value: object, kind: LineKind): string | undefined {
  const { eval_id, evalId = eval_id, eval_case_id, evalCaseId = eval_case_id } = value as Fields;
  const id = kind === "inference_results" ? (evalCaseId ?? evalId) : evalId;
  return typeof id === "string" ? id : undefined;
}

const [SNAKE_ID, EITHER_ID] = [
  /^\s*\{\s*"(?:eval_case_id|evalCaseId)"\s*:\s*"/y,
  /^\s*\{\s*"(?:eval_id|evalId)"\s*:\s*"/y,
];
const PLAIN = /[^"\\\u0080-\uffff]*"/y;

/**
 * The id of a line, if its beginning shows it: where it is the first key, and plain. The engine refuses keys that come twice, so
 * no other can follow.
 *
 * @param head The beginning of the line; its bytes as characters.
 */
export function idInHead(head: string, kind: LineKind): string | undefined {
  const first = kind === "inference_results" ? SNAKE_ID : EITHER_ID;
  first.lastIndex = 0;
  if (!first.test(head)) return undefined;
  PLAIN.lastIndex = first.lastIndex;
  return PLAIN.test(head) ? head.slice(first.lastIndex, PLAIN.lastIndex - 1) : undefined;
}

/** The text before and after lines, separated by commas, so that they are one JSON text. */
export function around(kind: LineKind, evalSetId: string): readonly [before: string, after: string] {
  const id = JSON.stringify(evalSetId);
  switch (kind) {
    case "eval_cases":
      return [`{"eval_set_id":${id},"eval_cases":[`, "]}"];
    case "eval_case_results":
      // Each names its evalset itself.
      return ['{"eval_set_result_id":"","eval_set_id":"","eval_case_results":[', "]}"];
    case "inference_results":
      return ['{"inference_results":[', "]}"];
    case "sessions":
      return ["[", "]"];
  }
}

/** Which of the lines a place in such a text is in: `eval_cases[17].conversation` is in the one at 17. */
export function lineAt(path: string): number | undefined {
  const [, at] = /^(?:(?:evalSet|actual): )?\$?\.?[\w]*\[(\d{1,15})\]/.exec(path) ?? [];
  return at === undefined ? undefined : Number(at);
}

/** The rest of such a path: `eval_cases[17].conversation` is `conversation` there. */
export function withinLine(path: string): string {
  return path.replace(/^[^\]]*\]\.?/, "");
}

/** Which of some lines cannot be read by itself: for an error that names none. */
export async function firstUnreadable(count: number, read: (at: number) => Promise<void>): Promise<number | undefined> {
  for (let at = 0; at < count; at += 1) {
    try {
      await read(at);
    } catch {
      return at;
    }
  }
  return undefined;
}
