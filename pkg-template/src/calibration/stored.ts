/** A calibration that was kept, with the results of another evaluation by the same judge. */

import { parseJson } from "../engine/json.js";
import { isBytes, isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { comparable, joinedStamp, judgeName, withoutVersions } from "../judges/stamp.js";
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
  const kept = reading("calibration", () => calibrationOf(calibration));
  return reading("results", () => {
    const now = criteriaOf(foundIn(results).verdicts);
    const judgeCalibrations: JudgeCalibration[] = [];
    const warnings = [...(results.warnings ?? [])];
    for (const stamp of results.judges ?? []) {
      const { metricName } = stamp;
      const subject =
        kept.subjects.find((one) => one.metricName === metricName && one.rubricId === undefined) ??
        kept.subjects.find((one) => one.metricName === metricName);
      if (subject === undefined) continue;
      const before = judgeOf(kept, metricName);
      const isAboutOne = typeof before !== "string";
      const isSetOtherwise = metricName in now && isOther(kept.criteria[metricName], now[metricName]);
      const changes = [
        ...(isAboutOne ? changesOf(before, stamp) : [`it ${before}`]),
        ...(isSetOtherwise ? ["the metric's settings"] : []),
      ].join(", ");
      const { labelled, agreement, scores, passRate } = subject;
      // Calibrations come from files too, and only their agreement is checked.
      // Where one side gives everything the same label, kappa is 0 and says nothing.
      const kappa = [scores?.weightedKappa, subject.kappa].find(
        (one) => typeof one?.value === "number" && (one.value !== 0 || one.low !== undefined),
      );
      const { judge, corrected } = passRate ?? {};
      judgeCalibrations.push({
        metricName,
        labelled,
        agreement,
        ...(kappa === undefined ? {} : { kappa }),
        ...(typeof judge === "number" && typeof corrected?.value === "number"
          ? { passRate: { judge, corrected } }
          : {}),
        ...(changes === "" ? {} : { stale: changes }),
      });
      if (!isAboutOne) {
        warnings.push(warningOf(`the calibration of \`${metricName}\` may not hold: it ${before}`, JUDGE_HELP));
      } else if (changes !== "") {
        const message = `the calibration of \`${metricName}\` may no longer hold. Changed since then: ${changes}`;
        const help = "Label verdicts of these results and run `adk-metrics calibrate` again";
        warnings.push(warningOf(message, help));
      }
    }
    if (judgeCalibrations.length === 0) return results;
    return { ...results, judgeCalibrations, ...(warnings.length === 0 ? {} : { warnings }) };
  });
}

/** What to do about a calibration that is about no judge, or several. */
export const JUDGE_HELP =
  "Calibrate the results of one judge at a time. Where they do not name it, specify it with --judge-model";

function warningOf(message: string, help: string): Mistake {
  return { code: "invalid_input", message, path: "calibration", help };
}

/** The one judge of a metric that a calibration is about, with all its versions, or why there is none. */
export function judgeOf(
  { judges, withoutJudge }: Pick<Calibration, "judges" | "withoutJudge">,
  metricName: string,
): JudgeStamp | string {
  const all = judges.filter((stamp) => stamp.metricName === metricName);
  const [first] = all;
  if (first === undefined || withoutJudge?.includes(metricName)) return "does not name its judge";
  const names = [...new Set(all.map(nameOf))];
  if (names.length > 1) return `is about several judges: ${names.join(", ")}`;
  if (all.some(({ prompts }) => isOther(prompts, first.prompts))) return "is about several prompts of its judge";
  return all.reduce<JudgeStamp>(joinedStamp, first);
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

/** What is another one in how a metric was judged. */
function changesOf(before: JudgeStamp, now: JudgeStamp): string[] {
  const [was, is] = [nameOf(before), nameOf(now)];
  const [old, current] = comparable(before, now).map(judgeName);
  return [
    ...(was === is ? [] : [`the judge (${was} before, ${is} now)`]),
    ...(was === is && old !== current ? [`the model's version (${old} before, ${current} now)`] : []),
    ...(before.prompts !== undefined && isOther(before.prompts, now.prompts ?? {}) ? ["the prompt"] : []),
  ];
}

const nameOf = (stamp: JudgeStamp): string => judgeName(withoutVersions(stamp));

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
