/** Compares runs: runs of this page with the current thresholds, and results from files. */

import { AdkMetricsError, compareRuns, type EvalSetResult, type RunComparison } from "adk-metrics/web";
import { REPORT_FORMATS } from "adk-metrics/report";
import { textOf } from "./exporting.js";
import { outcomeOf } from "./problems.js";
import { uniqueName } from "../ui/unique.js";
import type { Comparing, ComparableRun, ShownComparison } from "./protocol-compare.js";
import type { NamedFile } from "./protocol.js";
import { definedProperties } from "./runs.js";

/** How many cases are sent to the page at a time. */
const CASES_PER_PAGE = 100;

/** The results of one evalset: an object, or the bytes of a file. */
interface Results {
  evalSetId: string;
  results: EvalSetResult | Uint8Array;
}

/** @param resultsOf The results of a run of this page. */
export function comparing(ready: Promise<void>, resultsOf: (run: string) => readonly EvalSetResult[]): Comparing {
  const opened = new Map<string, readonly Results[]>();
  let lastComparisons: readonly RunComparison[] = [];

  const setsOf = (id: string): readonly Results[] =>
    opened.get(id) ?? resultsOf(id).map((results) => ({ evalSetId: results.evalSetId, results }));

  return {
    addResults: (files) =>
      outcomeOf(async () => {
        await ready;
        const read = files.map((file) => ({ ...infoOf(file.bytes, file), results: file.bytes }));
        const id = uniqueName();
        opened.set(
          id,
          read.map(({ set: { evalSetId }, results }) => ({ evalSetId, results })),
        );
        return toComparableRun(id, files.map(({ name }) => name).join(", "), read);
      }),

    comparableRun: (run, name) =>
      outcomeOf(() =>
        toComparableRun(
          run,
          name,
          resultsOf(run).map((results) => infoOf(results)),
        ),
      ),

    compare: (baseline, current) =>
      outcomeOf(() => {
        const before = new Map(setsOf(baseline).map((set) => [set.evalSetId, set.results]));
        const after = new Map(setsOf(current).map((set) => [set.evalSetId, set.results]));
        const shared = [...after].flatMap(([evalSetId, results]) => {
          const base = before.get(evalSetId);
          return base === undefined ? [] : [compareRuns(base, results)];
        });
        // Old files use different ids for an evalset. If both runs have a single evalset, those two are compared.
        const [[, only] = [], [, other] = []] = [...before, ...after];
        const isOneEach = shared.length === 0 && before.size === 1 && after.size === 1;
        lastComparisons = isOneEach && only !== undefined && other !== undefined ? [compareRuns(only, other)] : shared;
        if (lastComparisons.length === 0) {
          throw new AdkMetricsError("invalid_input", "the two runs have no evalset in common", {
            help: `The baseline has ${[...before.keys()].join(", ")}; the other ${[...after.keys()].join(", ")}`,
          });
        }
        const missingFrom = (some: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>) =>
          isOneEach ? [] : [...some.keys()].filter((evalSetId) => !others.has(evalSetId));
        return {
          sets: lastComparisons.map(firstPage),
          onlyBaseline: missingFrom(before, after),
          onlyCurrent: missingFrom(after, before),
        };
      }),

    comparedCases: (set, from, count) => outcomeOf(() => changedCases(lastComparisons[set]).slice(from, from + count)),

    comparisonFile: (format) =>
      outcomeOf(() => {
        const { comparison, ending, mediaType } = REPORT_FORMATS[format];
        const content = textOf(comparison?.render(lastComparisons, {}) ?? "");
        return { name: `comparison${comparison?.ending ?? ending}`, type: mediaType, content };
      }),
  };
}

type ResultsInfo = { set: ComparableRun["sets"][number]; creationTimestamp?: number };

/** The counts of results, read by comparing them with themselves. */
function infoOf(results: EvalSetResult | Uint8Array, file?: NamedFile): ResultsInfo {
  try {
    const { current } = compareRuns(results, results, { resamples: 100 });
    const { evalSetId, creationTimestamp, cases } = current;
    return { set: { evalSetId, ...cases }, ...definedProperties({ creationTimestamp }) };
  } catch (error) {
    if (file === undefined || !(error instanceof AdkMetricsError)) throw error;
    const { code, message, line, help } = error;
    throw new AdkMetricsError(code, `${file.name}: ${message}`, {
      ...definedProperties({ line, help: help ?? "Open evalset results that Export or eval --format json wrote" }),
    });
  }
}

function toComparableRun(id: string, name: string, infos: readonly ResultsInfo[]): ComparableRun {
  const creationTimestamp = infos.find((one) => one.creationTimestamp !== undefined)?.creationTimestamp;
  return { id, name, sets: infos.map(({ set }) => set), ...definedProperties({ creationTimestamp }) };
}

function firstPage(comparison: RunComparison): ShownComparison {
  const changed = changedCases(comparison);
  const regressed = changed.filter(({ change }) => change === "regressed").map(({ evalId }) => evalId);
  return { ...comparison, cases: changed.slice(0, CASES_PER_PAGE), changed: changed.length, regressed };
}

function changedCases(comparison: RunComparison | undefined) {
  return comparison?.cases.filter(({ change }) => change !== "unchanged") ?? [];
}
