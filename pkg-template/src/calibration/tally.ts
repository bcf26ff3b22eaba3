/** What results say of the metrics of a calibration, whose cases may come one by one. */

import { parseJson } from "../engine/json.js";
import { isBytes, isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { group, grouped } from "../lists.js";
import type { EvalCaseResult } from "../types.js";
import type { Share } from "./corrected.js";
import { Passes } from "./passes.js";
import { criteriaOf, groupOf } from "./subjects.js";
import type { Calibration, CalibrationTally, PassRates, ResultsInput, SubjectCalibration } from "./types.js";
import { foundIn, type Verdict } from "./verdicts.js";

type About = Pick<SubjectCalibration, "metricName" | "rubricId" | "rubrics">;

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
  readonly #passes = new Map<string, Passes>();
  /** The keys of the rubrics that have labels. */
  readonly #rubrics: ReadonlySet<string>;

  constructor(calibration: Calibration | string | Uint8Array) {
    this.kept = reading("calibration", () => calibrationOf(calibration));
    const { subjects } = this.kept;
    // A metric as a whole, and its rubrics together: labels of the one say nothing of the other.
    const joined = new Set(subjects.flatMap(({ metricName, rubrics }) => (rubrics === undefined ? [] : metricName)));
    this.subjects = subjects.filter(({ metricName, rubricId }) => rubricId === undefined || !joined.has(metricName));
    for (const subject of this.subjects) this.#passes.set(keyOf(subject), new Passes());
    this.#rubrics = new Set(subjects.flatMap((one) => (one.rubricId === undefined ? [] : keyOf(one))));
  }

  add(...results: readonly EvalCaseResult[]): void {
    this.addAll({ evalCaseResults: results });
  }

  addAll(results: ResultsInput): void {
    const { verdicts } = reading("results", () => foundIn(results));
    Object.assign(this.criteria, criteriaOf(verdicts));
    const own = new Map<string, Verdict[]>();
    for (const verdict of verdicts) {
      const key = keyOf(verdict);
      const keys = this.#rubrics.has(key) ? [key, keyOfRubrics(verdict)] : [key];
      for (const one of keys) if (this.#passes.has(one)) group(own, one, verdict);
    }
    for (const [key, about] of own) {
      for (const members of grouped(about, groupOf))
        this.#passes.get(key)?.add(groupOf(members[0] as Verdict), members);
    }
  }

  /** How often a metric passed; undefined where it has no verdicts. */
  passed(subject: SubjectCalibration): Share | undefined {
    return this.#passes.get(keyOf(subject))?.share;
  }
}

/** What a metric, a rubric, or all rubrics of a metric together are known by. */
function keyOf(about: About): string {
  return about.rubrics === undefined ? JSON.stringify([about.metricName, about.rubricId]) : keyOfRubrics(about);
}

function keyOfRubrics({ metricName }: About): string {
  return JSON.stringify([metricName]);
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
