/** What results say of the metrics of a calibration, whose cases may come one by one. */

import { parseJson } from "../engine/json.js";
import { isBytes, isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { grouped } from "../lists.js";
import type { EvalCaseResult } from "../types.js";
import type { Share } from "./corrected.js";
import { Passes } from "./passes.js";
import { criteriaOf, groupOf } from "./subjects.js";
import type { Calibration, CalibrationTally, PassRates, ResultsInput, SubjectCalibration } from "./types.js";
import { foundIn, type Verdict } from "./verdicts.js";

/**
 * Counts how often the metrics of a calibration pass in the cases of a stream, without keeping any. {@link withCalibration}
 * takes it for the results of the stream, which are without their cases.
 *
 * @param calibration What `calibrate` gave, or what `calibrate --format json` wrote.
 * @throws {AdkMetricsError} `invalid_input` for anything but a calibration.
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
      for (const members of grouped(own, groupOf)) passes.add(groupOf(members[0] as Verdict), members);
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
