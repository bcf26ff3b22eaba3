import { isRecord } from "../lists.js";
import type { JudgeStamp } from "../types.js";

type Stamp = Omit<JudgeStamp, "metricName">;

/**
 * Who judged a metric: `gpt-6-luna`, `Vertex AI`, `the function grade`, with the exact models that replies named
 * where these say more: `a function (gpt-6-luna-2026-09-22)`, and of a panel `gpt-6 (gpt-6-luna), llama3.2`.
 */
export function judgeName({ scoredBy, model, function: name, panel, modelVersions, panelVersions }: Stamp): string {
  if (scoredBy === "vertex") return "Vertex AI";
  const ofFunction = typeof name !== "string" ? "a judge" : name === "" ? "a function" : `the function ${name}`;
  const who = model ?? ofFunction;
  // Results come from files too.
  if (Array.isArray(panel) && isRecord(panelVersions)) {
    return panel.map((member) => `${member}${versionsText(panelVersions[member], [member])}`).join(", ");
  }
  return `${who}${versionsText(modelVersions, Array.isArray(panel) ? panel : [model])}`;
}

function versionsText(given: unknown, known: readonly unknown[]): string {
  const all: unknown[] = Array.isArray(given) ? given : [];
  const versions = all.filter((version) => typeof version === "string" && !known.includes(version));
  if (versions.length === 0) return "";
  const [more, rest] = [versions.slice(0, 3), versions.length - 3];
  return ` (${more.join(", ")}${rest > 0 ? ` and ${rest} more` : ""})`;
}

/** A judge, without the versions of its models. */
export function withoutVersions<S extends Stamp>(stamp: S): Omit<S, "modelVersions" | "panelVersions"> {
  const { modelVersions: _, panelVersions: __, ...judge } = stamp;
  return judge;
}

/** Two judges with the versions that both name: older results name none, or not those of the judges of panels. */
export function comparable(one: Stamp, other: Stamp): [Stamp, Stamp] {
  const both = [one, other];
  const isNamed = both.every(({ modelVersions }) => Array.isArray(modelVersions));
  const isOfEach = both.every(({ panelVersions }) => isRecord(panelVersions));
  const named = ({ modelVersions, panelVersions, ...judge }: Stamp): Stamp => ({
    ...judge,
    ...(isNamed && modelVersions !== undefined ? { modelVersions } : {}),
    ...(isOfEach && panelVersions !== undefined ? { panelVersions } : {}),
  });
  return [named(one), named(other)];
}

/** The most versions of models that are remembered of a judge. */
export const MOST_VERSIONS = 20;

/** One stamp of two of the same judge, with the versions that either names. */
export function joinedStamp(one: JudgeStamp | undefined, other: JudgeStamp): JudgeStamp {
  const joined = (a: string[] = [], b: string[] = []) => [...new Set([...a, ...b])].sort().slice(0, MOST_VERSIONS);
  const modelVersions = joined(one?.modelVersions, other.modelVersions);
  const { panelVersions: before, ...rest } = { ...one, ...other, panelVersions: one?.panelVersions };
  const names = Object.keys({ ...before, ...other.panelVersions });
  const panelVersions = Object.fromEntries(
    names.map((name) => [name, joined(before?.[name], other.panelVersions?.[name])]),
  );
  return {
    ...rest,
    ...(modelVersions.length === 0 ? {} : { modelVersions }),
    ...(names.length === 0 ? {} : { panelVersions }),
  };
}
