/** How the cases of a run ended, by evalset. */

import { EvalStatus } from "../enums.js";
import type { ComparableRun, RunSummary, Verdicts } from "./protocol.js";

/** A run as others see it: what it is of, and how its cases ended. */
export function countsOf({ id, sets, evalIds }: RunSummary, { cases }: Verdicts): Omit<ComparableRun, "name"> {
  const [judges, configs] = [judgesOf(sets), configsOf(sets)];
  const times = sets.map(({ scoredAt }) => scoredAt).filter((time) => Number.isFinite(time) && time > 0);
  return {
    id,
    sets: sets.map(({ evalSetId, name, from, count }) => {
      // A case that was run repeatedly passes if all of its runs do.
      const verdicts = new Map<string, number>();
      for (let row = from; row < from + count; row += 1) {
        const [evalId = "", status = 0] = [evalIds[row], cases[row]];
        verdicts.set(evalId, worse(verdicts.get(evalId), status));
      }
      const counts = { total: verdicts.size, passed: 0, failed: 0, notEvaluated: 0 };
      for (const status of verdicts.values()) {
        if (status === EvalStatus.PASSED) counts.passed += 1;
        else if (status === EvalStatus.FAILED) counts.failed += 1;
        else counts.notEvaluated += 1;
      }
      return { evalSetId, name, ...counts };
    }),
    ...(judges.length === 0 ? {} : { judges }),
    ...(configs.length === 0 ? {} : { configs }),
    ...(times.length === 0 ? {} : { creationTimestamp: Math.max(...times) }),
  };
}

function worse(one: number | undefined, other: number): number {
  return one === EvalStatus.FAILED || (one === EvalStatus.NOT_EVALUATED && other === EvalStatus.PASSED) ? one : other;
}

/** Who judged, with the version that answered where that is another name. */
export function judgesOf(sets: RunSummary["sets"]): string[] {
  const names = sets.flatMap(({ judges = [] }) =>
    judges.map(({ scoredBy, model, modelVersions = [], panel, panelVersions, function: own }) => {
      if (scoredBy === "vertex") return "Vertex AI";
      const named = (name: string, versions: readonly string[]) => {
        const answered = versions.filter((version) => version !== name);
        return answered.length === 0 ? name : `${name} (answered by ${answered.join(", ")})`;
      };
      if (panel && panelVersions) return panel.map((name) => named(name, panelVersions[name] ?? [])).join(", ");
      return named(model ?? (own ? `the function ${own}` : "a function"), modelVersions);
    }),
  );
  return [...new Set(names)];
}

/** What the configs are called. */
export function configsOf(sets: RunSummary["sets"]): string[] {
  return [...new Set(sets.flatMap(({ config }) => config ?? []))];
}
