/**
 * The settings of a judge or of a simulated user. No judge is sent anything but {@link SETTINGS}: a config is a file, and a
 * file does not decide which server is asked, with which tools, or by which headers.
 */

import { closest } from "../closest.js";
import { AdkMetricsError } from "../errors.js";
import { SETTINGS } from "../generated/settings.js";

/** The name of a setting. */
export type Setting = (typeof SETTINGS)[number];

/** Names below these keys are the user's own, or those of another format. */
const OPAQUE_KEYS = new Set(["responseSchema", "responseJsonSchema", "labels"]);

/**
 * Refuses settings that decide which server is asked, or how.
 *
 * @param path Their location.
 * @throws {AdkMetricsError} `invalid_input` for `httpOptions`, in any spelling.
 */
export function checkSettings(settings: object, path: string): void {
  const refused = Object.keys(settings).find((key) => key.replaceAll("_", "").toLowerCase() === "httpoptions");
  if (refused === undefined) return;
  const message = `\`${refused}\` is not allowed: a model's settings cannot decide which server is asked, or how`;
  const help = "Remove it, and set address and headers in code or by environment variables";
  throw new AdkMetricsError("invalid_input", message, { path: `${path}.${refused}`, help });
}

/**
 * Refuses misspelt settings. Unknown ones may be a provider's own.
 *
 * @param path Their location.
 * @throws {AdkMetricsError} `invalid_input`, with the setting that is meant.
 */
export function checkSpelling(settings: object, path: string): void {
  for (const key of Object.keys(settings)) {
    const meant = closest(key, SETTINGS);
    if (meant === undefined || folded(meant) === folded(key)) continue;
    const help = `Did you mean \`${meant}\`?`;
    throw new AdkMetricsError("invalid_input", `a model has no setting \`${key}\``, { path: `${path}.${key}`, help });
  }
}

const folded = (name: string): string => name.replaceAll("_", "").toLowerCase();

/** The settings with these names, in camelCase. */
export function knownSettings(
  settings: object | undefined,
  names: readonly Setting[],
): Partial<Record<Setting, unknown>> {
  const given = camelCaseSettings(settings);
  const known = names.filter((name) => given[name] !== undefined && given[name] !== null);
  return Object.fromEntries(known.map((name) => [name, given[name]]));
}

/** Settings with Gemini's names in camelCase, whichever way a config wrote them. */
function camelCaseSettings(settings: object | undefined): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(settings ?? {})) {
    const name = key.replace(/_+([a-z0-9]?)/g, (all, letter: string) => letter.toUpperCase() || all);
    renamed[name] = OPAQUE_KEYS.has(name) ? value : renamedBelow(value);
  }
  return renamed;
}

/** What of the settings of a `judge_model_config` is not among those that are sent, one sentence each. */
export function notSent(to: string, settings: object, sent: readonly string[], why: string): string[] {
  return Object.entries(camelCaseSettings(settings))
    .filter(([name, value]) => value !== undefined && value !== null && !sent.includes(name))
    .map(([name]) => `\`${name}\` is not sent to ${to}: ${why}`);
}

function renamedBelow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamedBelow);
  return typeof value === "object" && value !== null ? camelCaseSettings(value) : value;
}
