/** Writes JSON with every digit of integers, which reach the page as `bigint` where JavaScript's numbers round them. */

import { uniqueName } from "./unique.js";

/** Stands before the digits of integers while JSON is written; no text of the user's can have it. */
const MARK = uniqueName();
const MARKED = new RegExp(`"${MARK}([^"]+)"`, "g");

/** What JSON writes in decimal digits; larger numbers have an exponent. */
const MAX_DECIMAL = 1e21;

/** JSON with integers beyond 2^53. */
export function exactJson(value: unknown, indent?: number): string | undefined {
  return written(value, (part) => (typeof part === "bigint" ? `${MARK}${part}` : part), indent);
}

/** The same to be shown: “≈” precedes integers that are known only rounded. */
export function shownJson(value: unknown, indent?: number): string | undefined {
  return written(
    value,
    (part) => {
      if (typeof part === "bigint") return `${MARK}${part}`;
      const isRounded = typeof part === "number" && Number.isInteger(part) && !Number.isSafeInteger(part);
      return isRounded && Math.abs(part) < MAX_DECIMAL ? `${MARK}≈${part}` : part;
    },
    indent,
  );
}

function written(value: unknown, replace: (part: unknown) => unknown, indent?: number): string | undefined {
  const json = JSON.stringify(value, (_, part: unknown) => replace(part), indent) as string | undefined;
  return json?.replace(MARKED, "$1");
}
