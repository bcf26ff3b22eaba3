/** Opens results as they are: those of ADK, of `eval` and of this page. */

import { AdkMetricsError, type EvalSetResult, readResults, resultLines } from "adk-metrics/web";
import { countsOf } from "./counts.js";
import { baseName } from "./inspection.js";
import { outcomeOf } from "./problems.js";
import type { Opening } from "./protocol-open.js";
import type { NamedFile, RunSummary } from "./protocol.js";
import { definedProperties, type Run, type ScoredSet } from "./runs.js";
import { canBeShown } from "./shown.js";

/**
 * @param runOf A run of this page.
 * @param keep Stores a run.
 * @param forget Drops a run.
 */
export function opening(
  ready: Promise<void>,
  runOf: (run: string) => Run | undefined,
  keep: (sets: readonly ScoredSet[], id?: string) => RunSummary,
  forget: (run: string) => void,
): Opening {
  return {
    openResults: (files) =>
      outcomeOf(async () => {
        await ready;
        const [newest = [], ...earlier] = byAge(files.flatMap(setsOf));
        return {
          run: keep(newest),
          earlier: earlier.map((sets) => {
            const run = keep(sets);
            return { ...countsOf(run, run.verdicts), name: nameOf(sets) };
          }),
        };
      }),

    keepRun: (id) =>
      outcomeOf(async () => {
        const sets = runOf(id)?.sets ?? [];
        const lines = new Blob([...resultLines(sets.map(({ result }) => result))]);
        const packed = lines.stream().pipeThrough(new CompressionStream("gzip"));
        const files = sets.map(({ name, path, config }) => ({ name, ...definedProperties({ path, config }) }));
        return { files, bytes: new Uint8Array(await new Response(packed).arrayBuffer()) };
      }),

    restoreRun: ({ files, bytes }, id) =>
      outcomeOf(async () => {
        await ready;
        const lines = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
        const results = readResults(new Uint8Array(await new Response(lines).arrayBuffer())).map(shown);
        return keep(
          results.map((result, at) => ({ name: result.evalSetId, ...files[at], result })),
          id,
        );
      }),

    runSummary: (id) =>
      outcomeOf(() => {
        const run = runOf(id);
        if (run === undefined) throw new AdkMetricsError("invalid_input", "this run is no longer there");
        return run.summary();
      }),

    forgetRun: (id) => outcomeOf(() => forget(id)),
  };
}

/** @throws {AdkMetricsError} for results that cannot be shown. */
function shown(result: EvalSetResult): EvalSetResult {
  if (!canBeShown(result)) throw new AdkMetricsError("invalid_input", "these results are damaged");
  return result;
}

/** @throws {AdkMetricsError} for a file without results, with its name. */
function setsOf({ name, bytes }: NamedFile): ScoredSet[] {
  try {
    return readResults(bytes).map((result) => ({ name: baseName(name), result: shown(result) }));
  } catch (error) {
    if (!(error instanceof AdkMetricsError)) throw error;
    const { code, message, line, help } = error;
    throw new AdkMetricsError(code, `${name}: ${message}`, definedProperties({ line, help }));
  }
}

/** The newest results of each evalset, then the second newest of those that have more, and so on. */
function byAge(sets: readonly ScoredSet[]): ScoredSet[][] {
  const seen = new Map<string, number>();
  const runs: ScoredSet[][] = [];
  for (const set of sets.toSorted((a, b) => madeAt(b.result) - madeAt(a.result))) {
    const { evalSetId } = set.result;
    const age = seen.get(evalSetId) ?? 0;
    seen.set(evalSetId, age + 1);
    (runs[age] ??= []).push(set);
  }
  return runs;
}

const madeAt = ({ creationTimestamp }: EvalSetResult): number => creationTimestamp ?? 0;

/** When the results were made, or the name of their file if they do not say it. */
function nameOf(sets: readonly ScoredSet[]): string {
  const [first] = sets;
  if (first === undefined || madeAt(first.result) === 0) return first?.name ?? "Results";
  return new Date(madeAt(first.result) * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
