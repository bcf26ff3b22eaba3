/** A calibration that was kept, with the results of another evaluation by the same judge. */

import { parseJson } from "../engine/json.js";
import { isBytes, isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { judgeName } from "../judges/stamp.js";
import type { EvalSetResult, JudgeCalibration, JudgeStamp, Mistake } from "../types.js";
import { criteriaOf } from "./subjects.js";
import { foundIn } from "./verdicts.js";
import type { Calibration, SubjectCalibration } from "./types.js";

/**
 * Results with what a calibration found of their judges, which reports then show. Where the judge, its prompts or the metric is
 * another one since, a warning says so.
 *
 * @param calibration What `calibrate` gave, or what `calibrate --format json` wrote.
 * @throws {AdkMetricsError} `invalid_input` for what is no calibration.
 *
 * @example
 * renderTable(withCalibration(results, await readFile("judge.calibration.json")));
 */
export function withCalibration(results: EvalSetResult, calibration: Calibration | string | Uint8Array): EvalSetResult {
  const { subjects, judges, criteria } = reading("calibration", () => calibrationOf(calibration));
  return reading("results", () => {
    const now = criteriaOf(foundIn(results).verdicts);
    const judgeCalibrations = (results.judges ?? []).flatMap((stamp): JudgeCalibration[] => {
      const subject =
        subjects.find(({ metricName, rubricId }) => metricName === stamp.metricName && rubricId === undefined) ??
        subjects.find(({ metricName }) => metricName === stamp.metricName);
      if (subject === undefined) return [];
      const before = judges.find(({ metricName }) => metricName === stamp.metricName);
      const changes = [
        ...(before === undefined ? [] : changesOf(before, stamp)),
        ...(stamp.metricName in now && isOther(criteria[stamp.metricName], now[stamp.metricName])
          ? ["the metric's settings"]
          : []),
      ];
      return [foundBy(subject, changes)];
    });
    if (judgeCalibrations.length === 0) return results;
    const warnings = [...(results.warnings ?? []), ...judgeCalibrations.flatMap(warningOf)];
    return { ...results, judgeCalibrations, ...(warnings.length === 0 ? {} : { warnings }) };
  });
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
  const { subjects, judges, criteria } = (isObject(value) ? value : {}) as Partial<Calibration>;
  const isOne = (one: Partial<SubjectCalibration> | null): boolean =>
    isObject(one) &&
    typeof one.metricName === "string" &&
    typeof one.labelled === "number" &&
    isObject(one.agreement) &&
    typeof one.agreement.value === "number";
  const areThere = Array.isArray(judges) && Array.from(judges).every(isObject) && isObject(criteria);
  if (areThere && Array.isArray(subjects) && Array.from(subjects).every(isOne)) return value as Calibration;
  const { message } = unexpected("a calibration", value, "calibration");
  throw new AdkMetricsError("invalid_input", message, {
    path: "calibration",
    help: "Pass what calibrate() returns, or what `adk-metrics calibrate … --format json` writes",
  });
}

function foundBy(
  { metricName, labelled, agreement }: SubjectCalibration,
  changes: readonly string[],
): JudgeCalibration {
  return { metricName, labelled, agreement, ...(changes.length === 0 ? {} : { stale: changes.join(", ") }) };
}

function warningOf({ metricName, stale }: JudgeCalibration): Mistake[] {
  if (stale === undefined) return [];
  return [
    {
      code: "invalid_input",
      message: `the calibration of \`${metricName}\` may no longer hold. Changed since then: ${stale}`,
      path: "calibration",
      help: "Label verdicts of these results and run `adk-metrics calibrate` again",
    },
  ];
}

/** What is another one in how a metric was judged. */
function changesOf(before: JudgeStamp, now: JudgeStamp): string[] {
  const nameOf = ({ modelVersions: _, ...rest }: JudgeStamp): string => judgeName(rest);
  const [was, is] = [nameOf(before), nameOf(now)];
  const versions = [before.modelVersions, now.modelVersions];
  const areOthers = versions.every((list) => Array.isArray(list)) && isOther(...(versions as [unknown, unknown]));
  return [
    ...(was === is ? [] : [`the judge (${was} before, ${is} now)`]),
    ...(was === is && areOthers ? [`the model's version (${judgeName(before)} before, ${judgeName(now)} now)`] : []),
    ...(isOther(before.prompts ?? {}, now.prompts ?? {}) ? ["the prompt"] : []),
  ];
}

function isOther(one: unknown, other: unknown): boolean {
  return plainJson(one) !== plainJson(other);
}

/** A value as JSON whose keys are in one order and in camelCase, as files and objects spell them differently. */
function plainJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plainJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(
      ([key, one]) => [key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), plainJson(one)] as const,
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${one}`).join(",")}}`;
}
