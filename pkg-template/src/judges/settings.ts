/** Names below these keys are the user's own, or those of another format. */
const OPAQUE_KEYS = new Set(["responseSchema", "responseJsonSchema", "labels", "httpOptions"]);

/** Settings with Gemini's names in camelCase, whichever way a config wrote them. */
export function camelCaseSettings(settings: object | undefined): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(settings ?? {})) {
    const name = key.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    renamed[name] = OPAQUE_KEYS.has(name) ? value : renamedBelow(value);
  }
  return renamed;
}

/** What of the settings of a `judge_model_config` is not among those that are sent, one sentence each. */
export function notSent(to: string, settings: object, sent: readonly string[], why: string): string[] {
  return Object.entries(camelCaseSettings(settings))
    .filter(([name, value]) => value !== undefined && value !== null && !sent.includes(name))
    .map(([name]) => `${to} is not sent \`${name}\`: ${why}`);
}

function renamedBelow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamedBelow);
  return typeof value === "object" && value !== null ? camelCaseSettings(value) : value;
}
