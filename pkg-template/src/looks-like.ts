/** Recognises the other files of evaluations where one of them is given instead of another. */

import { isObject } from "./engine/values.js";

/** What files are, by a key that only they have. */
const KINDS: readonly (readonly [key: RegExp, what: string])[] = [
  [/^eval_?cases$/i, "an evalset, or conversations in its form"],
  [/^criteria$/, "a config"],
  [/^eval_?case_?results$/i, "results"],
  [/^inference_?results$/i, "inference results"],
  [/^events$/, "a session"],
  [/^labels$/, "labels"],
];

/** What a value seems to be, as the beginning of what to do instead; empty for what is unknown. */
export function looksLike(value: unknown): string {
  if (!isObject(value)) return "";
  const keys = Object.keys(value);
  const found = KINDS.find(([key]) => keys.some((name) => key.test(name)));
  return found === undefined ? "" : `This looks like ${found[1]}. `;
}
