/** Compares runs: those of this page under the thresholds of now, and results from files. */

import { AdkMetricsError, compareRuns, type EvalSetResult, type RunComparison } from "adk-metrics/web";
import { REPORT_FORMATS } from "adk-metrics/report";
import { textOf } from "./out.js";
import { outcomeOf } from "./problems.js";
import type { Comparing, Contender, ShownComparison } from "./protocol-compare.js";
import type { NamedFile } from "./protocol.js";
import { present } from "./runs.js";

/** Cases that are sent at a time. */
const SOME_CASES = 100;

/** The results of one evalset, as they are or as a file has them. */
interface Results {
  evalSetId: string;
  results: EvalSetResult | Uint8Array;
}

/** @param resultsOf The results of a run of this page. */
export function comparing(ready: Promise<void>, resultsOf: (run: string) => readonly EvalSetResult[]): Comparing {
  const opened = new Map<string, readonly Results[]>();
  let last: readonly RunComparison[] = [];

  const setsOf = (id: string): readonly Results[] =>
    opened.get(id) ?? resultsOf(id).map((results) => ({ evalSetId: results.evalSetId, results }));

  return {
    addResults: (files) =>
      outcomeOf(async () => {
        await ready;
        const read = files.map((file) => ({ ...factsOf(file.bytes, file), results: file.bytes }));
        const id = crypto.randomUUID();
        opened.set(
          id,
          read.map(({ set: { evalSetId }, results }) => ({ evalSetId, results })),
        );
        return contender(id, files.map(({ name }) => name).join(", "), read);
      }),

    contenderOf: (run, name) =>
      outcomeOf(() =>
        contender(
          run,
          name,
          resultsOf(run).map((results) => factsOf(results)),
        ),
      ),

    compare: (baseline, current) =>
      outcomeOf(() => {
        const before = new Map(setsOf(baseline).map((set) => [set.evalSetId, set.results]));
        const after = new Map(setsOf(current).map((set) => [set.evalSetId, set.results]));
        const both = [...after].flatMap(([evalSetId, results]) => {
          const base = before.get(evalSetId);
          return base === undefined ? [] : [compareRuns(base, results)];
        });
        // Evalsets go by other ids in old files: with one on each side there is no doubt.
        const [[, only] = [], [, other] = []] = [...before, ...after];
        const isOneEach = both.length === 0 && before.size === 1 && after.size === 1;
        last = isOneEach && only !== undefined && other !== undefined ? [compareRuns(only, other)] : both;
        if (last.length === 0) {
          throw new AdkMetricsError("invalid_input", "the two runs have no evalset in common", {
            help: `The baseline has ${[...before.keys()].join(", ")}; the other ${[...after.keys()].join(", ")}`,
          });
        }
        const without = (some: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>) =>
          isOneEach ? [] : [...some.keys()].filter((evalSetId) => !others.has(evalSetId));
        return {
          sets: last.map(shown),
          onlyBaseline: without(before, after),
          onlyCurrent: without(after, before),
        };
      }),

    comparedCases: (set, from, count) => outcomeOf(() => changedCases(last[set]).slice(from, from + count)),

    comparisonFile: (format) =>
      outcomeOf(() => {
        const { comparison, ending, mediaType } = REPORT_FORMATS[format];
        const content = textOf(comparison?.render(last, {}) ?? "");
        return { name: `comparison${comparison?.ending ?? ending}`, type: mediaType, content };
      }),
  };
}

type Facts = { set: Contender["sets"][number]; creationTimestamp?: number };

/** What is known of results: a run compared with itself tells. */
function factsOf(results: EvalSetResult | Uint8Array, file?: NamedFile): Facts {
  try {
    const { current } = compareRuns(results, results, { resamples: 100 });
    const { evalSetId, creationTimestamp, cases } = current;
    return { set: { evalSetId, ...cases }, ...present({ creationTimestamp }) };
  } catch (error) {
    if (file === undefined || !(error instanceof AdkMetricsError)) throw error;
    const { code, message, line, help } = error;
    throw new AdkMetricsError(code, `${file.name}: ${message}`, {
      ...present({ line, help: help ?? "Open evalset results, as Export or eval --format json write them" }),
    });
  }
}

function contender(id: string, name: string, facts: readonly Facts[]): Contender {
  const creationTimestamp = facts.find((one) => one.creationTimestamp !== undefined)?.creationTimestamp;
  return { id, name, sets: facts.map(({ set }) => set), ...present({ creationTimestamp }) };
}

function shown(comparison: RunComparison): ShownComparison {
  const changed = changedCases(comparison);
  const regressed = changed.filter(({ change }) => change === "regressed").map(({ evalId }) => evalId);
  return { ...comparison, cases: changed.slice(0, SOME_CASES), changed: changed.length, regressed };
}

function changedCases(comparison: RunComparison | undefined) {
  return comparison?.cases.filter(({ change }) => change !== "unchanged") ?? [];
}
