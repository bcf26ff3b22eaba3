/** What to say of an eval id that no case of the evalset has. */

import { closest } from "../closest.js";
import { parseJson } from "../engine/json.js";
import { isObject } from "../engine/values.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import { definedProperties } from "../lists.js";

/** How the engine's message begins; its help names the first cases. */
const UNKNOWN_CASE = "the evalset has no case ";
/** The cases that the engine names. */
const NAMED = 5;
/** The cases that are looked through for one that is nearly called so. */
const MOST_COMPARED = 10_000;

interface Selection {
  evalIds?: readonly string[] | undefined;
  knownIds?(): string[];
}

/** Adds the nearest id, and how many others there are, to the error for a case that is not there. */
export function withNearestId(error: unknown, { evalIds, knownIds }: Selection): unknown {
  if (!isAdkMetricsError(error) || evalIds === undefined || !error.message.startsWith(UNKNOWN_CASE)) return error;
  const known = knownIds?.() ?? [];
  const all = new Set(known);
  const unknown = evalIds.find((id) => !all.has(id));
  if (known.length === 0 || unknown === undefined) return error;
  const meant = closest(unknown, known.slice(0, MOST_COMPARED));
  const others = known.length > NAMED ? ` and ${known.length - NAMED} more` : "";
  const hint = meant === undefined ? "" : `Did you mean ${JSON.stringify(meant)}? `;
  const { code, message, path } = error;
  return new AdkMetricsError(code, message, {
    ...definedProperties({ path }),
    help: `${hint}${error.help ?? ""}${others}`,
  });
}

/** The ids in an evalset in today's form; none for any other. */
export function idsIn(evalSet: Uint8Array): string[] {
  const value: unknown = parseJson(new TextDecoder().decode(evalSet));
  if (!isObject(value)) return [];
  const { eval_cases: snake, evalCases = snake } = value as Record<string, unknown>;
  if (!Array.isArray(evalCases)) return [];
  return evalCases.flatMap((one: unknown) => {
    if (!isObject(one)) return [];
    const { eval_id: id, evalId = id } = one as Record<string, unknown>;
    return typeof evalId === "string" ? [evalId] : [];
  });
}
