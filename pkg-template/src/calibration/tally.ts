/** What results say of the metrics of a calibration, whose cases may come one by one. */

import { parseJson } from "../engine/json.js";
import { isBytes, isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { grouped } from "../lists.js";
import type { EvalCaseResult } from "../types.js";
import type { Share } from "./corrected.js";
import { criteriaOf, groupOf } from "./subjects.js";
import type { Calibration, CalibrationTally, PassRates, ResultsInput, SubjectCalibration } from "./types.js";
import { foundIn, type Verdict } from "./verdicts.js";

/**
 * Counts how often the metrics of a calibration pass in the cases of a stream, none of which it holds. {@link withCalibration}
 * takes it for the results of the stream, which are without their cases.
 *
 * @param calibration What `calibrate` gave, or what `calibrate --format json` wrote.
 * @throws {AdkMetricsError} `invalid_input` for what is no calibration.
 */
export function tallyFor(calibration: Calibration | string | Uint8Array): CalibrationTally {
  return new Tally(calibration);
}

/** What is known of a calibration and of cases. */
export class Tally implements CalibrationTally {
  readonly kept: Calibration;
  readonly subjects: readonly SubjectCalibration[];
  /** The settings of metrics. */
  readonly criteria: Record<string, unknown> = {};
  readonly #passes = new Map<SubjectCalibration, Passes>();

  constructor(calibration: Calibration | string | Uint8Array) {
    this.kept = reading("calibration", () => calibrationOf(calibration));
    this.subjects = this.kept.subjects.filter(isShown);
    for (const subject of this.subjects) this.#passes.set(subject, new Passes());
  }

  add(...results: readonly EvalCaseResult[]): void {
    this.addAll({ evalCaseResults: results });
  }

  addAll(results: ResultsInput): void {
    const { verdicts } = reading("results", () => foundIn(results));
    Object.assign(this.criteria, criteriaOf(verdicts));
    for (const [subject, passes] of this.#passes) {
      const own = verdicts.filter((verdict) => this.#isAbout(subject, verdict));
      for (const members of grouped(own, groupOf)) passes.add(members);
    }
  }

  /** How often a metric passed; undefined where it has no verdicts. */
  passed(subject: SubjectCalibration): Share | undefined {
    return this.#passes.get(subject)?.share;
  }

  #isAbout({ metricName, rubricId, rubrics }: SubjectCalibration, verdict: Verdict): boolean {
    if (verdict.metricName !== metricName) return false;
    if (rubrics === undefined) return verdict.rubricId === rubricId;
    const isSame = (one: SubjectCalibration) => one.metricName === metricName && one.rubricId === verdict.rubricId;
    return verdict.rubricId !== undefined && this.kept.subjects.some(isSame);
  }
}

/** How often verdicts pass. Those of a case depend on each other, so sums are over cases: of verdicts, passes, and their products. */
class Passes {
  #cases = 0;
  #count = 0;
  #passed = 0;
  #countSquares = 0;
  #passedSquares = 0;
  #products = 0;
  #last: { key: string; count: number; passed: number } | undefined;

  add(members: readonly Verdict[]): void {
    const key = groupOf(members[0] as Verdict);
    const before = this.#last?.key === key ? this.#last : undefined;
    if (before !== undefined) this.#sum(before, -1);
    const count = (before?.count ?? 0) + members.length;
    const passed = (before?.passed ?? 0) + members.filter(({ passes }) => passes).length;
    this.#last = { key, count, passed };
    this.#sum(this.#last, 1);
  }

  #sum({ count, passed }: { count: number; passed: number }, times: 1 | -1): void {
    this.#cases += times;
    this.#count += times * count;
    this.#passed += times * passed;
    this.#countSquares += times * count * count;
    this.#passedSquares += times * passed * passed;
    this.#products += times * count * passed;
  }

  /** The share, and as how many verdicts that do not depend on each other they count (L. Kish's design effect, 1965). */
  get share(): Share | undefined {
    const [cases, all] = [this.#cases, this.#count];
    if (all === 0) return undefined;
    const share = this.#passed / all;
    if (cases < 2) return { share, count: cases };
    // The sum over cases of (passed − share · count)², times all², of whole numbers.
    const squares =
      all * all * this.#passedSquares -
      2 * all * this.#passed * this.#products +
      this.#passed ** 2 * this.#countSquares;
    // What is left of a difference of equals is noise of the arithmetic.
    const isNone = squares <= 1e-12 * all * all * this.#passedSquares;
    const effective = isNone ? cases : ((share * (1 - share)) / squares) * all ** 4 * (1 - 1 / cases);
    return { share, count: Math.min(all, Math.max(cases, effective)) };
  }
}

/** A metric as a whole, and its rubrics together: labels of the one say nothing of the other. */
function isShown({ metricName, rubricId }: SubjectCalibration, _: number, all: readonly SubjectCalibration[]): boolean {
  return rubricId === undefined || !all.some((one) => one.metricName === metricName && one.rubrics !== undefined);
}

function calibrationOf(given: unknown): Calibration {
  let value = given;
  if (typeof given === "string" || isBytes(given)) {
    const text = typeof given === "string" ? given : new TextDecoder().decode(given);
    try {
      value = parseJson(text.replace(/^\uFEFF/, ""));
    } catch (cause) {
      throw new AdkMetricsError("invalid_json", `the calibration is not JSON: ${(cause as Error).message}`, {
        path: "calibration",
        cause,
      });
    }
  }
  const { subjects, judges, criteria, confidence = 0 } = (isObject(value) ? value : {}) as Partial<Calibration>;
  const isOne = (one: Partial<SubjectCalibration> | null): boolean =>
    isObject(one) &&
    typeof one.metricName === "string" &&
    typeof one.labelled === "number" &&
    isObject(one.agreement) &&
    typeof one.agreement.value === "number" &&
    isRight(one.passRate?.judgedRight);
  const areThere = Array.isArray(judges) && Array.from(judges).every(isObject) && isObject(criteria);
  const isConfidence = confidence > 0 && confidence < 1;
  if (areThere && isConfidence && Array.isArray(subjects) && Array.from(subjects).every(isOne))
    return value as Calibration;
  const { message } = unexpected("a calibration", value, "calibration");
  throw new AdkMetricsError("invalid_input", message, {
    path: "calibration",
    help: "Pass what calibrate() returns, or what `adk-metrics calibrate … --format json` writes",
  });
}

/** Whether what a corrected pass rate rests on can be used, if it is there. */
function isRight(judgedRight: PassRates["judgedRight"]): boolean {
  if (judgedRight === undefined) return true;
  const { ofPasses, ofFails } = (judgedRight as typeof judgedRight | null) ?? {};
  return [ofPasses, ofFails].every((one) => Number.isFinite(one?.share) && Number.isFinite(one?.count));
}
