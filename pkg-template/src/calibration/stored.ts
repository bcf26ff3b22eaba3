/** A calibration that was kept, with the results of another evaluation by the same judge. */

import { isObject, reading } from "../engine/values.js";
import { PROMPTS } from "../generated/metrics.js";
import { comparable, joinedStamp, judgeName, withoutVersions } from "../judges/stamp.js";
import { definedProperties, group } from "../lists.js";
import type { EvalSetResult, JudgeCalibration, JudgeStamp, Mistake } from "../types.js";
import { corrected, type Share } from "./corrected.js";
import { judgeText } from "./subjects.js";
import { Tally } from "./tally.js";
import type { Calibration, CalibrationTally, PassRates, SubjectCalibration } from "./types.js";

/**
 * Results with what a calibration found of their metrics, which reports then show. Where the judge, its prompts or the metric is
 * another one since, a warning says so.
 *
 * @param calibration What `calibrate` gave, or what `calibrate --format json` wrote; for results without their cases, as
 * streams give them, a tally of these.
 * @throws {AdkMetricsError} `invalid_input` for anything but a calibration.
 *
 * @example
 * renderTable(withCalibration(results, await readFile("judge.calibration.json")));
 */
export function withCalibration(
  results: EvalSetResult,
  calibration: Calibration | CalibrationTally | string | Uint8Array,
): EvalSetResult {
  const given = reading("calibration", () => (calibration instanceof Tally ? calibration : undefined));
  const tally = given ?? new Tally(calibration as Exclude<typeof calibration, CalibrationTally>);
  if (given === undefined) tally.addAll(results);
  return reading("results", () => {
    const { kept } = tally;
    const judgeCalibrations: JudgeCalibration[] = [];
    const sinceThen = changesSince(tally, results);
    // One for each metric, however many rubrics it has.
    const added = new Map<string, Mistake>();
    for (const subject of tally.subjects) {
      const { metricName, rubricId, rubrics, labelled, agreement, scores } = subject;
      const found = sinceThen(metricName);
      if (found === undefined) continue;
      const { changes, unsure } = found;
      // Calibrations come from files too, and only their agreement is checked.
      // Where one side gives everything the same label, kappa is 0 and says nothing.
      const kappa = [scores?.weightedKappa, subject.kappa].find(
        (one) => typeof one?.value === "number" && (one.value !== 0 || one.low !== undefined),
      );
      const passRate = passRateNow(subject, tally.passed(subject), kept.confidence);
      judgeCalibrations.push({
        metricName,
        ...definedProperties({ rubricId, rubrics }),
        labelled,
        agreement,
        ...definedProperties({ kappa, passRate }),
        ...(changes === "" ? {} : { stale: changes }),
      });
      const calibrated = `the calibration of \`${metricName}\``;
      if (unsure !== undefined) {
        added.set(metricName, warningOf(`${calibrated} may not hold: it ${unsure}`, JUDGE_HELP));
      } else if (changes !== "") {
        const help = "Label verdicts of these results and run `adk-metrics calibrate` again";
        added.set(metricName, warningOf(`${calibrated} may no longer hold. Changed since then: ${changes}`, help));
      }
    }
    if (judgeCalibrations.length === 0) return results;
    const warnings = [...(results.warnings ?? []), ...added.values()];
    return { ...results, judgeCalibrations, ...(warnings.length === 0 ? {} : { warnings }) };
  });
}

/** What is another one in a metric since a calibration, and why it may be about another judge. */
interface Since {
  changes: string;
  unsure?: string;
}

/** Finds out for a metric what has changed, once; nothing for a metric that the results do not have. */
function changesSince(
  { kept, criteria: now }: Tally,
  { judges }: EvalSetResult,
): (metricName: string) => Since | undefined {
  const stamps = new Map([...(judges ?? [])].reverse().map((stamp) => [stamp.metricName, stamp]));
  const before = new Map<string, JudgeStamp[]>();
  for (const stamp of kept.judges) group(before, stamp.metricName, stamp);
  const find = (metricName: string): Since | undefined => {
    const stamp = stamps.get(metricName);
    const judge = judgeOf({ ...kept, judges: before.get(metricName) ?? [] }, metricName);
    const hadNone = judge === NO_JUDGE && !Object.hasOwn(PROMPTS, metricName);
    if (stamp === undefined && !(hadNone && metricName in now)) return undefined;
    const isSetOtherwise = metricName in now && isOther(kept.criteria[metricName], now[metricName]);
    const unsure = stamp !== undefined && typeof judge === "string" ? judge : undefined;
    const changes = [
      ...(unsure === undefined ? [] : [`it ${unsure}`]),
      ...(stamp === undefined || typeof judge === "string" ? [] : changesOf(judge, stamp)),
      ...(isSetOtherwise ? ["the metric's settings"] : []),
    ].join(", ");
    return { changes, ...definedProperties({ unsure }) };
  };
  const known = new Map<string, Since | undefined>();
  return (metricName) => {
    if (!known.has(metricName)) known.set(metricName, find(metricName));
    return known.get(metricName);
  };
}

/** The pass rate of results, corrected for the errors that a calibration found; of the calibrated ones for results without verdicts. */
function passRateNow(
  { passRate: earlier }: SubjectCalibration,
  passed: Share | undefined,
  confidence: number,
): JudgeCalibration["passRate"] {
  const { judge, corrected: before, judgedRight } = (earlier ?? {}) as Partial<PassRates>;
  if (passed !== undefined && judgedRight !== undefined) {
    const now = corrected(passed, judgedRight.ofPasses, judgedRight.ofFails, confidence);
    return now === undefined ? undefined : { judge: passed.share, corrected: now };
  }
  if (typeof judge !== "number" || typeof before?.value !== "number") return undefined;
  return { judge, corrected: before, isEarlier: true };
}

/** What to do about a calibration that is about no judge, or several. */
export const JUDGE_HELP =
  "Calibrate the results of one judge at a time. Where they do not name it, specify it with --judge-model";

function warningOf(message: string, help: string): Mistake {
  return { code: "invalid_input", message, path: "calibration", help };
}

const NO_JUDGE = "does not name its judge";

/** The one judge of a metric that a calibration is about, with all its versions, or why there is none. */
export function judgeOf(
  { judges, withoutJudge }: Pick<Calibration, "judges" | "withoutJudge">,
  metricName: string,
): JudgeStamp | string {
  const all = judges.filter((stamp) => stamp.metricName === metricName);
  const [first] = all;
  if (first === undefined || withoutJudge?.includes(metricName)) return NO_JUDGE;
  const names = [...new Set(all.map((stamp) => judgeText(withoutVersions(stamp))))];
  if (names.length > 1) return `is about several judges: ${names.join(" and ")}`;
  if (all.some(({ prompts }) => isOther(prompts, first.prompts))) return "is about several prompts of its judge";
  return all.reduce<JudgeStamp>(joinedStamp, first);
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

/** Whether settings or prompts are others, in whatever spelling. */
export function isOther(one: unknown, other: unknown): boolean {
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
