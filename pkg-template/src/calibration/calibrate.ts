/** How often a judge is right: its verdicts beside human labels. */

import { reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { PROMPTS } from "../generated/metrics.js";
import type { Estimate } from "../statistics/estimates.js";
import type { JudgeStamp } from "../types.js";
import { alphaOf, kappaOf, shareIn, shareOf } from "./agreement.js";
import { consistencyOf, type SampledQuestion } from "./consistency.js";
import { corrected, predictionPowered } from "./corrected.js";
import { rowsOf } from "./labels.js";
import { keyOf, type Labelled, type Matched, matched, scaleOf } from "./matched.js";
import { foundIn, type Verdict } from "./verdicts.js";
import {
  certaintyOf,
  checkUsable,
  confidenceOf,
  criteriaOf,
  groupOf,
  isMajority,
  judgesOf,
  judgeText,
  labelledSubjects,
  type Subject,
  tallyOf,
} from "./subjects.js";
import type {
  Calibration,
  CalibrationOptions,
  Consistency,
  Disagreement,
  LabelsInput,
  PassRates,
  ResultsInput,
  SubjectCalibration,
} from "./types.js";
import { definedProperties } from "../lists.js";

/**
 * Says how often a judge is right: compares the verdicts of results with labels that people gave.
 *
 * @param results One evalset's results or several: as `evaluate` gives them, or as files hold them.
 * @param labels CSV, JSON or lines of JSON, or a list of {@link Label}. Labels that cannot be used are listed in
 * `labels.problems`; the others count.
 * @throws {AdkMetricsError} `invalid_input` for anything but results and labels, and if no label can be used.
 *
 * @example
 * const { subjects } = calibrate(results, await readFile("labels.csv", "utf8"));
 */
export function calibrate(
  results: ResultsInput | readonly ResultsInput[],
  labels: LabelsInput,
  options: CalibrationOptions = {},
): Calibration {
  const confidence = confidenceOf(options);
  const { verdicts, usages } = reading("results", () => foundIn(results));
  const { judgeModel } = options;
  const rows = reading("labels", () => rowsOf(labels));
  const found = reading("labels", () => matched(rows, verdicts));
  checkUsable(found);
  const isAtRisk = usages.some(({ verdictsAtRisk = 0 }) => verdictsAtRisk > 0);
  const subjects = subjectsOf(verdicts, found, confidence, isAtRisk);
  const metrics = new Set(subjects.map(({ metricName }) => metricName));
  const judges = judgesOf(verdicts.filter(({ metricName }) => metrics.has(metricName)));
  const { given, used, empty, annotators, problems } = found;
  const withoutJudge = metricsWithoutJudge(found);
  const named = judgeModel === undefined ? [] : judgesNamed(judgeModel, withoutJudge, judges);
  return {
    confidence,
    judges: [...judges, ...named],
    ...(withoutJudge.length === named.length ? {} : { withoutJudge }),
    criteria: criteriaOf(found.labelled.map(({ verdict }) => verdict)),
    labels: { given, used, empty, annotators, problems },
    subjects,
    disagreements: found.labelled.flatMap(disagreementOf).sort((a, b) => b.severity - a.severity),
  };
}

/** The metrics that a judge is asked for, whose labelled verdicts come from results that name none. */
function metricsWithoutJudge({ labelled }: Matched): string[] {
  const found = labelled.flatMap(({ verdict: { metricName, judge } }) =>
    judge === undefined && Object.hasOwn(PROMPTS, metricName) ? metricName : [],
  );
  return [...new Set(found)];
}

/** @throws {AdkMetricsError} for an unknown name, and where results name all judges themselves. */
function judgesNamed(model: string, metrics: readonly string[], judges: readonly JudgeStamp[]): JudgeStamp[] {
  if (typeof model !== "string" || model === "") throw unexpected("the name of a model", model, "judgeModel");
  if (metrics.length > 0) return metrics.map((metricName) => ({ metricName, scoredBy: "judge", model }));
  const names = [...new Set(judges.map(judgeText))].join(", ");
  throw new AdkMetricsError(
    "invalid_input",
    `the judge is named already: ${names === "" ? "no label is about a verdict of one" : names}`,
    {
      path: "judgeModel",
      help: "Leave the model out: it is for results that do not name their judge",
    },
  );
}

function subjectsOf(
  verdicts: readonly Verdict[],
  found: Matched,
  confidence: number,
  isAtRisk: boolean,
): SubjectCalibration[] {
  const labels = new Map(found.labelled.map((one) => [keyOf(one.verdict), one]));
  const said = new Map([...found.labelled, ...found.undecided].map((one) => [keyOf(one.verdict), one.categories]));
  return labelledSubjects(verdicts, found.labelled).map((subject) => {
    const one = subjectOf(subject, labels, said, confidence);
    if (isAtRisk && subject.verdicts.some(isUnsettled)) return { ...one, consistencyReason: AT_RISK };
    const consistency = consistencyIn(subject.verdicts, labels);
    return consistency === undefined ? one : { ...one, consistency };
  });
}

/** @param said What each person says of a verdict, also where they could not agree on a label. */
function subjectOf(
  { verdicts, ...about }: Subject,
  labels: ReadonlyMap<string, Labelled>,
  said: ReadonlyMap<string, readonly number[]>,
  confidence: number,
): SubjectCalibration {
  const labelled = verdicts.flatMap((verdict) => labels.get(keyOf(verdict)) ?? []);
  const pairs = labelled.map(({ verdict, passes }) => ({
    judge: Number(verdict.passes),
    people: Number(passes),
    group: groupOf(verdict),
  }));
  const count = (judge: number, people: number): number =>
    pairs.filter((pair) => pair.judge === judge && pair.people === people).length;
  const passing = pairs.filter(({ people }) => people === 1);
  const failing = pairs.filter(({ people }) => people === 0);
  const agreement = shareOf(pairs, ({ judge, people }) => judge === people, confidence) as Estimate;
  const kappa = kappaOf(pairs, 2, false, confidence);
  const sensitivity = shareOf(passing, ({ judge }) => judge === 1, confidence);
  const specificity = shareOf(failing, ({ judge }) => judge === 0, confidence);
  const alpha = agreementOfPeople(verdicts, said, confidence);
  const scores = scoresOf(labelled, confidence);
  return {
    ...about,
    verdicts: verdicts.length,
    labelled: labelled.length,
    doubtful: labelled.filter(({ isDoubtful }) => isDoubtful).length,
    confusion: { bothPass: count(1, 1), onlyJudge: count(1, 0), onlyPeople: count(0, 1), bothFail: count(0, 0) },
    agreement,
    ...definedProperties({ kappa, scores, sensitivity, specificity, alpha }),
    passRate: passRatesOf(verdicts, labels, confidence),
  };
}

function agreementOfPeople(
  verdicts: readonly Verdict[],
  said: ReadonlyMap<string, readonly number[]>,
  confidence: number,
): SubjectCalibration["alpha"] {
  const [first] = verdicts;
  const scale = first === undefined ? undefined : scaleOf(first);
  const units = verdicts.map((verdict) => ({ categories: said.get(keyOf(verdict)) ?? [], group: groupOf(verdict) }));
  const size = scale === undefined ? 2 : scale.most - scale.least + 1;
  const estimate = alphaOf(units, size, scale !== undefined, confidence);
  const shared = units.filter(({ categories }) => categories.length > 1).length;
  return estimate === undefined ? undefined : { ...estimate, verdicts: shared };
}

function scoresOf(labelled: readonly Labelled[], confidence: number): SubjectCalibration["scores"] {
  const scale = labelled[0] === undefined ? undefined : scaleOf(labelled[0].verdict);
  if (scale === undefined) return undefined;
  const { least, most } = scale;
  const pairs = labelled.flatMap(({ verdict, score }) =>
    score === undefined || verdict.score === undefined
      ? []
      : [{ judge: Math.round(verdict.score) - least, people: Math.round(score) - least, group: groupOf(verdict) }],
  );
  if (pairs.length === 0) return undefined;
  const size = most - least + 1;
  const counts = Array.from({ length: size }, () => Array.from({ length: size }, () => 0));
  for (const { judge, people } of pairs) {
    const row = counts[judge];
    if (row !== undefined) row[people] = (row[people] ?? 0) + 1;
  }
  const weightedKappa = kappaOf(pairs, size, true, confidence);
  return { least, most, counts, ...definedProperties({ weightedKappa }) };
}

/** With fewer that people pass, or that they fail, intervals would span everything, or be far too narrow. */
const LEAST_OF_EACH = 5;

/** What was chosen because it looks doubtful says nothing of the rest: rates are made without it. */
function passRatesOf(
  verdicts: readonly Verdict[],
  labels: ReadonlyMap<string, Labelled>,
  confidence: number,
): PassRates {
  const judge = verdicts.filter(({ passes }) => passes).length / verdicts.length;
  const judged = verdicts.map((verdict) => {
    const label = labels.get(keyOf(verdict));
    const about = { passes: verdict.passes, group: groupOf(verdict) };
    return label === undefined || label.isDoubtful ? about : { ...about, people: label.passes };
  });
  const random = judged.filter((one): one is typeof one & { people: boolean } => "people" in one);
  if (random.length === 0) {
    return {
      judge,
      reason:
        "all labels are of verdicts that were chosen because they look doubtful, which says nothing about the others",
    };
  }
  const people = shareOf(random, (one) => one.people, confidence) as Estimate;
  const [passing, failing] = [random.filter((one) => one.people), random.filter((one) => !one.people)];
  if (passing.length < LEAST_OF_EACH || failing.length < LEAST_OF_EACH) {
    const all = passing.length === 0 ? "fails" : failing.length === 0 ? "passes" : undefined;
    return {
      judge,
      people,
      reason:
        all === undefined
          ? "that takes at least five labels that pass and five that fail"
          : `every labelled verdict ${all}, so the judge's error rate for the others is unknown`,
    };
  }
  const powered = predictionPowered(judged, confidence);
  const judgedRight = {
    ofPasses: shareIn(passing, ({ passes }) => passes),
    ofFails: shareIn(failing, ({ passes }) => !passes),
  };
  const rate = shareIn(judged, ({ passes }) => passes);
  const estimate = corrected(rate, judgedRight.ofPasses, judgedRight.ofFails, confidence);
  return {
    judge,
    people,
    ...(estimate === undefined
      ? { reason: "the judge is no better than chance" }
      : { corrected: estimate, judgedRight }),
    ...definedProperties({ powered }),
  };
}

/** Votes that were stopped before they were settled say little of how samples agree. */
const AT_RISK =
  "some votes were stopped early at a risk, so samples that might have disagreed are missing; to measure it, judge with early stopping `none`";

/** Whether samples were left out that might have changed the verdict. */
function isUnsettled(verdict: Verdict): boolean {
  const { votes, of } = verdict;
  if (votes === undefined || of === undefined || votes.length >= of) return false;
  const { yes, no } = tallyOf(verdict);
  return 2 * yes <= of && 2 * no < of;
}

function consistencyIn(verdicts: readonly Verdict[], labels: ReadonlyMap<string, Labelled>): Consistency | undefined {
  const questions = verdicts.flatMap((verdict): SampledQuestion[] => {
    const { votes, of } = verdict;
    if (votes === undefined || of === undefined) return [];
    return [{ ...tallyOf(verdict), asked: votes.length, of, people: labels.get(keyOf(verdict))?.passes }];
  });
  return consistencyOf(questions, verdicts.every(isMajority));
}

function disagreementOf({ verdict, passes, score }: Labelled): Disagreement[] {
  const { evalSetId, evalId, run, turn, metricName, rubricId, rationale } = verdict;
  const scale = scaleOf(verdict);
  const apart =
    scale === undefined || score === undefined || verdict.score === undefined
      ? undefined
      : Math.abs(verdict.score - score) / (scale.most - scale.least);
  if (verdict.passes === passes && (apart === undefined || apart < NOTEWORTHY)) return [];
  return [
    {
      evalSetId,
      evalId,
      run,
      ...definedProperties({ turn }),
      metricName,
      ...definedProperties({ rubricId }),
      judge: { passes: verdict.passes, ...(verdict.score === undefined ? {} : { score: verdict.score }) },
      people: { passes, ...definedProperties({ score }) },
      severity: apart ?? certaintyOf(verdict),
      ...definedProperties({ rationale }),
    },
  ];
}

/** Scores that are apart by less than this share of their scale count as equal: one of the points from 1 to 5. */
const NOTEWORTHY = 0.5;
