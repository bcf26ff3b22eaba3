/** How two runs of an evalset differ: case by case, turn by turn, and metric by metric over all cases. */

import { checkOptions } from "../known-options.js";
import { reading, unexpected } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { AdkMetricsError } from "../errors.js";
import { UNITS } from "../generated/metrics.js";
import type {
  CaseComparison,
  ComparedRun,
  CompareOptions,
  EvalSetResult,
  Input,
  RunComparison,
  ThresholdChange,
} from "../types.js";
import type { Bootstrap } from "../statistics/bootstrap.js";
import { caseComparison, type CommonMetric, isLowerIn, statusOfCase, worstFirst } from "./cases.js";
import { metricComparisons, passComparison } from "./metrics.js";
import { lostVerdicts, notesOf, nothingToCompare, tooMany } from "./notes.js";
import { readRun, type StoredRun, type StoredScore } from "./read.js";
import { definedProperties, group } from "../lists.js";

const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;

/**
 * Compares a run with a baseline: which cases regressed, by how much each metric's mean changed and whether that may be
 * chance.
 *
 * Cases belong together by eval id, metrics by name (ADK-TS's old names count as today's). A case that was run
 * repeatedly counts once, with the mean of its scores. Scores that differ by less than a billionth of their size are
 * equal.
 *
 * The confidence interval of a metric's difference is a paired percentile bootstrap over the cases (Efron and
 * Tibshirani 1993, chapter 13): O(resamples · cases) time for each metric, about a second for 10,000 cases. Equal
 * inputs give equal results. A metric got better or worse if its interval leaves out 0 and chance makes such a difference
 * rarely enough among as many metrics as there are (`docs/statistics.md`).
 *
 * Informational metrics (calls, tokens, seconds) are compared as well, where lower is better, but regress no case. Lower is
 * also better for a metric of your own if all of its statuses say so.
 * Cases and metrics that only one run has are listed and not compared.
 *
 * @param baseline The results to compare with: what `evaluate` resolves to, or ADK's evalset results in any spelling as
 * an object, JSON text or bytes; results of any size as chunks of bytes.
 * @param current The results to compare, likewise.
 * @throws {AdkMetricsError} for anything but results, for wrong options, and for runs without a case in common.
 *
 * @example
 * const { hasRegressions, cases } = compareRuns(await readFile("main.evalset_result.json"), await evaluate(request));
 * if (hasRegressions) console.error(cases.filter(({ change }) => change === "regressed").map(({ evalId }) => evalId));
 */
export function compareRuns(
  baseline: Input<EvalSetResult> | Iterable<Uint8Array>,
  current: Input<EvalSetResult> | Iterable<Uint8Array>,
  options: CompareOptions = {},
): RunComparison {
  const bootstrap = bootstrapOf(options);
  const [before, after] = [readRun(baseline, "baseline"), readRun(current, "current")];
  const evalIds = [...before.cases.keys()].filter((evalId) => after.cases.has(evalId));
  if (evalIds.length === 0) throw nothingInCommon(before, after);
  const metrics = commonMetrics(before, after);
  const order = new Map(metrics.map(({ key }, at) => [key, at]));
  const cases = evalIds.map((evalId) => caseComparison(evalId, before, after, metrics, order));
  const counts = { regressed: 0, worse: 0, changed: 0, fixed: 0, better: 0, unchanged: 0 };
  for (const { change } of cases) counts[change] += 1;
  const compared = metricComparisons(cases, metrics, bootstrap);
  return {
    baseline: comparedRun(before),
    current: comparedRun(after),
    hasRegressions: counts.regressed > 0,
    counts,
    passes: passComparison(before, after, evalIds, bootstrap),
    metrics: compared,
    cases: worstFirst(cases, metrics),
    addedCases: without(after.cases, before.cases),
    removedCases: without(before.cases, after.cases),
    addedMetrics: without(after.metricNames, before.metricNames).map((key) => after.metricNames.get(key) ?? key),
    removedMetrics: without(before.metricNames, after.metricNames).map((key) => before.metricNames.get(key) ?? key),
    thresholdChanges: thresholdChanges(cases),
    notes: [
      ...nothingToCompare(metrics, before, after),
      ...notesOf(before, after),
      ...lostVerdicts(cases, metrics),
      ...tooMany(compared, bootstrap),
    ],
    bootstrap,
  };
}

const OPTION_KEYS: Readonly<Record<keyof CompareOptions, true>> = { resamples: true, seed: true, confidence: true };

function bootstrapOf(options: CompareOptions): Bootstrap {
  checkOptions(options, Object.keys(OPTION_KEYS));
  return reading("options", () => {
    const { resamples = 10_000, seed = 0, confidence = 0.95 } = options;
    if (!Number.isSafeInteger(resamples) || resamples < 100 || resamples > 1_000_000) {
      throw unexpected("a whole number from 100 to 1,000,000", resamples, "options: resamples");
    }
    if (!Number.isSafeInteger(seed)) throw unexpected("a whole number", seed, "options: seed");
    if (typeof confidence !== "number" || !(confidence >= 0.5 && confidence < 1)) {
      throw unexpected("a number from 0.5 up and below 1", confidence, "options: confidence");
    }
    return { resamples, seed, confidence };
  });
}

function nothingInCommon(before: StoredRun, after: StoredRun): AdkMetricsError {
  const some = ({ cases }: StoredRun) => {
    if (cases.size === 0) return "no case";
    const first = [...cases.keys()].slice(0, 3).map((evalId) => `\`${evalId.slice(0, 80)}\``);
    return `${first.join(", ")}${cases.size > first.length ? ", …" : ""}`;
  };
  return new AdkMetricsError("invalid_input", "the two runs have no case in common", {
    path: "current",
    help: `Cases are paired by eval id. The baseline has ${some(before)}; the current run has ${some(after)}`,
  });
}

function commonMetrics(before: StoredRun, after: StoredRun): CommonMetric[] {
  const informing = new Set<string>(Object.keys(UNITS));
  const judging = new Map<string, StoredScore[]>();
  for (const { cases } of [before, after]) {
    for (const runs of cases.values()) {
      for (const { scores } of runs) {
        for (const [key, score] of scores) {
          if (score.status === INFORMATIONAL) informing.add(key);
          else if (score.status !== NOT_EVALUATED) group(judging, key, score);
        }
      }
    }
  }
  return [...after.metricNames]
    .filter(([key]) => before.metricNames.has(key))
    .map(([key, metricName]) => {
      const isInformational = informing.has(key) && !judging.has(key);
      return { key, metricName, isInformational, isLower: isInformational || isLowerIn(judging.get(key) ?? []) };
    });
}

function comparedRun({ evalSetId, evalSetResultId, creationTimestamp, cases, stamps }: StoredRun): ComparedRun {
  const counts = { total: cases.size, passed: 0, failed: 0, notEvaluated: 0 };
  let runs = 0;
  for (const one of cases.values()) {
    const status = statusOfCase(one, stamps.advisory);
    if (status === PASSED) counts.passed += 1;
    else if (status === FAILED) counts.failed += 1;
    else counts.notEvaluated += 1;
    runs += one.length;
  }
  return {
    evalSetId,
    evalSetResultId,
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    cases: counts,
    runs,
  };
}

function without(these: ReadonlyMap<string, unknown>, those: ReadonlyMap<string, unknown>): string[] {
  return [...these.keys()].filter((key) => !those.has(key));
}

function thresholdChanges(cases: readonly CaseComparison[]): ThresholdChange[] {
  const changes = new Map<string, ThresholdChange>();
  for (const { metrics } of cases) {
    for (const { metricName, baseline, current } of metrics) {
      if (baseline === undefined || current === undefined || baseline.threshold === current.threshold) continue;
      const key = JSON.stringify([metricName, baseline.threshold, current.threshold]);
      const known = changes.get(key);
      if (known !== undefined) {
        known.cases += 1;
        continue;
      }
      changes.set(key, {
        metricName,
        ...definedProperties({ baseline: baseline.threshold, current: current.threshold }),
        cases: 1,
      });
    }
  }
  return [...changes.values()];
}
