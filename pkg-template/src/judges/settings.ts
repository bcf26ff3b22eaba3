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

function renamedBelow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamedBelow);
  return typeof value === "object" && value !== null ? camelCaseSettings(value) : value;
}
