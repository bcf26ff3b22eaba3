import type { JudgeStamp } from "../types.js";

/**
 * Who judged a metric: `gemini-2.5-flash`, `Vertex AI`, `the function grade`, with the exact models that replies named
 * where these say more: `a function (gpt-6-luna-2026-09-22)`.
 */
export function judgeName({
  scoredBy,
  model,
  function: name,
  panel,
  modelVersions,
}: Omit<JudgeStamp, "metricName">): string {
  if (scoredBy === "vertex") return "Vertex AI";
  const ofFunction = typeof name !== "string" ? "a judge" : name === "" ? "a function" : `the function ${name}`;
  const who = model ?? ofFunction;
  // Results come from files too.
  const given: unknown[] = Array.isArray(modelVersions) ? modelVersions : [];
  const named: unknown[] = Array.isArray(panel) ? panel : [model];
  const versions = given.filter((version) => typeof version === "string" && !named.includes(version));
  if (versions.length === 0) return who;
  const [more, rest] = [versions.slice(0, 3), versions.length - 3];
  return `${who} (${more.join(", ")}${rest > 0 ? ` and ${rest} more` : ""})`;
}
