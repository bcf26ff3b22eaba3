/** Labels with the verdicts that they are about; what is wrong with the others. */

import { closest } from "../closest.js";
import { SCALES } from "../generated/metrics.js";
import { judgeName, withoutVersions } from "../judges/stamp.js";
import { definedProperties, group, grouped } from "../lists.js";
import { canonicalName } from "../metric-names.js";
import { cellText } from "../report/csv.js";
import { type LabelRow, readLabel } from "./labels.js";
import type { Verdict } from "./verdicts.js";
import type { LabelProblem } from "./types.js";

/** A verdict with what people say of it. */
export interface Labelled {
  verdict: Verdict;
  /** Whether people pass it. */
  passes: boolean;
  /** The score that they give, for a metric with a scale of its own. */
  score?: number;
  /** What each of them says, as a category of the metric's. */
  categories: number[];
  /** Whether it was chosen because it looks doubtful. */
  isDoubtful: boolean;
}

/** What labels came to. */
export interface Matched {
  labelled: Labelled[];
  /** Verdicts that as many annotators pass as fail, and what each of them says. */
  undecided: Pick<Labelled, "verdict" | "categories">[];
  /** Labels that are there, those that count, and rows without one. */
  given: number;
  used: number;
  empty: number;
  annotators: number;
  problems: LabelProblem[];
}

/** How a metric's labels are read, compared and counted. */
export interface Scale {
  least: number;
  most: number;
}

/** The scale of a metric whose labels are scores; undefined for one whose labels are yes or no. */
export function scaleOf({ metricName, rubricId }: Pick<Verdict, "metricName" | "rubricId">): Scale | undefined {
  const range = rubricId === undefined && Object.hasOwn(SCALES, metricName) ? SCALES[metricName] : undefined;
  return range === undefined ? undefined : { least: range[0], most: range[1] };
}

/** What a verdict is known by. */
export function keyOf({ evalSetId, evalId, run, turn, metricName, rubricId }: Verdict): string {
  return JSON.stringify([evalSetId, evalId, run, turn ?? 0, metricName, rubricId ?? null]);
}

/** A label with the verdict that it is about. */
export interface Reading {
  row: LabelRow;
  verdict: Verdict;
  annotator: string;
  passes: boolean;
  score?: number;
}

/** Each label, and each comment without one, with its verdict; how many rows have neither, and why others are about no verdict. */
export function readingsOf(
  rows: readonly LabelRow[],
  verdicts: readonly Verdict[],
): { readings: Reading[]; comments: Pick<Reading, "row" | "verdict">[]; empty: number; problems: LabelProblem[] } {
  const find = finderOf(verdicts);
  const problems: LabelProblem[] = [];
  const readings: Reading[] = [];
  const comments: Pick<Reading, "row" | "verdict">[] = [];
  let empty = 0;
  for (const row of rows) {
    const { label } = row.fields;
    if (row.problem !== undefined) {
      const { message, help } = row.problem;
      problems.push({ ...positionOf(row), message, ...definedProperties({ help }) });
      continue;
    }
    if (label === "" || label === undefined || label === null) {
      const commented = text(row.fields.comment) === "" ? undefined : find(row);
      if (commented === undefined) empty += 1;
      else if ("verdict" in commented) comments.push({ row, verdict: commented.verdict });
      else problems.push({ ...positionOf(row), ...commented });
      continue;
    }
    const found = wrongChoice(row) ?? find(row);
    const read = "verdict" in found ? readingOf(row, found.verdict) : found;
    if ("verdict" in read) readings.push(read);
    else problems.push({ ...positionOf(row), ...read });
  }
  const [respelt, ...others] = [...readings, ...comments].filter(({ row, verdict }) => isOtherForm(row, verdict));
  if (respelt !== undefined) {
    const more = others.length === 1 ? "1 other" : `${others.length} others`;
    const [who, counts] =
      others.length === 0 ? ["this label has", "it counts"] : [`this label and ${more} have`, "they count"];
    const message = `${who} ids in another Unicode form (NFC or NFD) than the results; ${counts}`;
    problems.push({ ...positionOf(respelt.row), message });
  }
  return { readings, comments, empty, problems };
}

/** Finds the verdict of each label, and what people say of each together. */
export function matched(rows: readonly LabelRow[], verdicts: readonly Verdict[]): Matched {
  const { readings, comments, empty: blank, problems } = readingsOf(rows, verdicts);
  const empty = blank + comments.length;
  const labelled: Labelled[] = [];
  const undecided: Matched["undecided"] = [];
  let used = 0;
  for (const readingsOfOne of grouped(readings, ({ verdict }) => keyOf(verdict))) {
    const single = withoutRepeated(readingsOfOne, problems);
    const [first] = single;
    if (first === undefined) continue;
    const scale = scaleOf(first.verdict);
    const categories = single.map((one) => categoryOf(one, scale));
    const joint = jointly(single, scale);
    const passing = single.filter(({ passes }) => passes).length;
    if (passing * 2 === single.length) problems.push(disagreementOf(single, joint));
    if (joint === undefined) {
      undecided.push({ verdict: first.verdict, categories });
      continue;
    }
    used += single.length;
    const isDoubtful = readingsOfOne.some(({ row }) => row.fields.chosen === "doubtful");
    labelled.push({ verdict: first.verdict, ...joint, categories, isDoubtful });
  }
  // Whoever gave no name may be one of those who did.
  const names = new Set(readings.map(({ annotator }) => annotator));
  if (names.size > 1) names.delete("");
  problems.sort((a, b) => a.label - b.label);
  return { labelled, undecided, given: rows.length - empty, used, empty, annotators: names.size, problems };
}

function positionOf({ line, at }: LabelRow): { line?: number; label: number } {
  return { ...definedProperties({ line }), label: at };
}

/** Labels that are about nothing get suggestions, which are searched for among all names, until so many have one. */
const MOST_SUGGESTED = 20;
const MOST_LISTED = 20;

type Wrong = Pick<LabelProblem, "message" | "help">;

export const text = (value: unknown): string => (value === undefined || value === null ? "" : String(value).trim());

/** What was chosen as doubtful, in another spelling, would count among those that were drawn at random. */
function wrongChoice({ fields }: LabelRow): Wrong | undefined {
  const chosen = text(fields.chosen);
  if (["", "random", "doubtful"].includes(chosen)) return undefined;
  return {
    message: `\`chosen\` cannot be ${JSON.stringify(chosen.slice(0, 40))}`,
    help: "Expected random, doubtful or nothing",
  };
}

/** How labels may have an id: without white space around it, and as a cell has it where it looks like a formula. */
function spellings(id: string): ReadonlySet<string> {
  return new Set([id.trim(), cellText(id).trim()]);
}

type Of = (one: Verdict) => string;

const OF_CASE: Of = ({ evalId }) => evalId;
const OF_SET: Of = ({ evalSetId }) => evalSetId;
const OF_METRIC: Of = ({ metricName }) => metricName;
const OF_RUBRIC: Of = ({ rubricId = "" }) => rubricId;
const OF_RUN: Of = ({ run }) => String(run);
const OF_TURN: Of = ({ turn = "" }) => String(turn);
const OF_JUDGE: Of = ({ judge }) => (judge === undefined ? "" : judgeName(withoutVersions(judge)));

/** Verdicts by what they have, in its spellings and in their Unicode forms. */
interface Index {
  names: Set<string>;
  spelt: Map<string, Verdict[]>;
  forms: Map<string, Verdict[]>;
}

/** Made once for each list, however many labels there are. */
const indexes = new WeakMap<readonly Verdict[], Map<Of, Index>>();

function indexOf(all: readonly Verdict[], of: Of): Index {
  const known = indexes.get(all) ?? new Map<Of, Index>();
  indexes.set(all, known);
  const index = known.get(of) ?? { names: new Set(), spelt: new Map(), forms: new Map() };
  if (known.has(of)) return index;
  known.set(of, index);
  for (const one of all) {
    index.names.add(of(one));
    const ids = spellings(of(one));
    for (const id of ids) group(index.spelt, id, one);
    for (const form of new Set([...ids].map((id) => id.normalize()))) group(index.forms, form, one);
  }
  return index;
}

/** Those with one of the names, in the Unicode form that was given, or else in another; undefined for none, and for several such. */
function ofName(all: readonly Verdict[], name: string, of: Of): readonly Verdict[] | undefined {
  const { spelt, forms } = indexOf(all, of);
  const exact = spelt.get(name);
  if (exact !== undefined) return exact;
  const others = forms.get(name.normalize());
  return others !== undefined && indexOf(others, of).names.size === 1 ? others : undefined;
}

/** Whether a label has an id in another Unicode form than its verdict. */
function isOtherForm({ fields }: LabelRow, { evalId, evalSetId, rubricId = "", metricName }: Verdict): boolean {
  const ids = [
    [fields.evalId, evalId],
    [fields.evalSetId, evalSetId],
    [fields.rubricId, rubricId],
    [canonicalName(text(fields.metricName)), metricName],
  ] as const;
  const isOther = ([given, id]: (typeof ids)[number]): boolean => text(given) !== "" && !spellings(id).has(text(given));
  return ids.some(isOther);
}

/** What finds the verdict that a label is about. */
function finderOf(verdicts: readonly Verdict[]): (row: LabelRow) => { verdict: Verdict } | Wrong {
  let suggested = 0;
  const unknown = (what: string, name: string, known: Iterable<string>, otherwise: string): Wrong => {
    suggested += 1;
    const meant = suggested > MOST_SUGGESTED ? undefined : closest(name, known);
    const help = meant === undefined ? otherwise : `Did you mean ${meant}?`;
    return {
      message:
        name === ""
          ? `the label does not say which ${what} it is for`
          : `there is no ${what} \`${name}\` in the results`,
      ...(help === "" ? {} : { help }),
    };
  };
  return ({ fields }) => {
    const evalId = text(fields.evalId);
    const ofCase = ofName(verdicts, evalId, OF_CASE);
    if (ofCase === undefined) {
      return unknown("case", evalId, indexOf(verdicts, OF_CASE).spelt.keys(), "Cases are identified by their eval id");
    }
    const [metric, rubric] = [canonicalName(text(fields.metricName)), text(fields.rubricId)];
    const inSet = narrowed(ofCase, text(fields.evalSetId), OF_SET);
    if (inSet === undefined) {
      return unknown("evalset", text(fields.evalSetId), indexOf(ofCase, OF_SET).names, "");
    }
    const sets = indexOf(inSet, OF_SET).names;
    if (sets.size > 1) {
      return {
        message: `several evalsets have a case \`${evalId}\`: ${listed(sets)}`,
        help: "Enter which one in the column evalset",
      };
    }
    const ofMetric = ofName(inSet, metric, OF_METRIC);
    if (ofMetric === undefined) {
      const { names } = indexOf(inSet, OF_METRIC);
      return unknown("verdict of the metric", metric, names, `This case has verdicts of ${listed(names)}`);
    }
    const ofRubric = ofName(ofMetric, rubric, OF_RUBRIC);
    if (ofRubric === undefined) {
      const { names } = indexOf(ofMetric, OF_RUBRIC);
      const rubrics = listed(names);
      const help = rubrics === "" ? `${metric} has no rubrics` : `The rubrics are ${rubrics}`;
      if (rubric === "") return { message: "the label does not say which rubric it is for", help };
      return unknown("rubric", rubric, names, help);
    }
    return ofRunAndTurn(ofRubric, text(fields.run), text(fields.turn));
  };
}

function ofRunAndTurn(found: readonly Verdict[], run: string, turn: string): { verdict: Verdict } | Wrong {
  const { runs, turns } = found[0] as Verdict;
  const ofRun = narrowed(found, run, OF_RUN);
  if (ofRun === undefined) {
    return {
      message: `this case has no run ${run} with this verdict`,
      help: `It has ${runs === 1 ? "1 run" : `${runs} runs`}`,
    };
  }
  if (run === "" && runs > 1) {
    const judges = firstOf(indexOf(found, OF_JUDGE).names);
    if (judges.length > 1) {
      return {
        message: `the case has verdicts of ${judges.join(" and of ")}, and the label does not say which one it is for`,
        help: "Calibrate the results of one judge at a time, or compare two with --compare",
      };
    }
    return {
      message: `the case has ${runs} runs, and the label does not say which one it is for`,
      help: "Enter which one in the column run, from 1 up",
    };
  }
  const { names } = indexOf(ofRun, OF_TURN);
  const isWhole = names.size === 1 && names.has("");
  if (isWhole && (turn === "" || turn === String(turns))) return { verdict: ofRun[0] as Verdict };
  const ofTurn = narrowed(ofRun, turn, OF_TURN);
  if (ofTurn === undefined) {
    return {
      message: isWhole
        ? "this metric judges the whole conversation, not a turn"
        : `there is no verdict of turn ${turn}`,
      help: isWhole
        ? "Leave the turn empty"
        : `Turns are counted from 1; the case has ${turns === 1 ? "1 turn" : `${turns} turns`}`,
    };
  }
  if (turn === "" && turns > 1) {
    return {
      message: `the case has ${turns} turns, and the label does not say which one it is for`,
      help: "Enter which one in the column turn, from 1 up",
    };
  }
  return { verdict: ofTurn[0] as Verdict };
}

/** Those with a value, or all where none is asked for; undefined where none has it. */
function narrowed(all: readonly Verdict[], value: string, of: Of): readonly Verdict[] | undefined {
  return value === "" ? all : ofName(all, value, of);
}

/** The first of many names that are not empty. */
function firstOf(names: Iterable<string>): string[] {
  const first: string[] = [];
  for (const name of names) {
    if (name !== "") first.push(name);
    if (first.length === MOST_LISTED) break;
  }
  return first;
}

function listed(names: ReadonlySet<string>): string {
  const first = firstOf(names);
  const more = names.size - first.length - Number(names.has(""));
  return first.join(", ") + (more === 0 ? "" : ` and ${more} more`);
}

/** What a label says of its verdict. */
function readingOf(row: LabelRow, verdict: Verdict): Reading | Wrong {
  const scale = scaleOf(verdict);
  const read = readLabel(row.fields.label);
  const outside = (range: string): Wrong => ({
    message: `the label \`${text(row.fields.label).slice(0, 40)}\` is not on the scale of ${verdict.rubricId === undefined ? verdict.metricName : "a rubric"} (${range})`,
  });
  const about = { row, verdict, annotator: text(row.fields.annotator).normalize() };
  const { score, passes } = read ?? {};
  const threshold = verdict.threshold ?? 0.5;
  if (scale !== undefined) {
    const { least, most } = scale;
    if (score === undefined && passes !== undefined) return { ...about, passes };
    if (score === undefined || score < least || score > most) return outside(`${least} to ${most}, or pass or fail`);
    return { ...about, score, passes: score >= threshold };
  }
  return passes === undefined ? outside("1 or 0, pass or fail") : { ...about, passes };
}

/** Without repeated labels of one person: the same again counts once, others do not count. */
function withoutRepeated(readings: readonly Reading[], problems: LabelProblem[]): Reading[] {
  return grouped(readings, ({ annotator }) => annotator).flatMap((own) => {
    const [first, ...others] = own as [Reading, ...Reading[]];
    const where = first.row.line === undefined ? `label ${first.row.at}` : `line ${first.row.line}`;
    const isSame = (one: Reading): boolean => one.passes === first.passes && one.score === first.score;
    const help =
      first.annotator === ""
        ? "If two people gave them, enter their names in the column annotator"
        : "Remove one of them";
    for (const one of others) {
      const message = isSame(one)
        ? `this verdict is labelled twice, also in ${where}; it counts once`
        : `this verdict is labelled differently in ${where}; neither counts`;
      problems.push({ ...positionOf(one.row), message, help });
    }
    return others.every(isSame) ? [first] : [];
  });
}

function categoryOf({ score, passes }: Reading, scale: Scale | undefined): number {
  if (scale === undefined) return passes ? 1 : 0;
  return score === undefined ? (passes ? scale.most - scale.least : 0) : Math.round(score) - scale.least;
}

/** The message for a verdict that as many people pass as fail. */
function disagreementOf(readings: readonly Reading[], joint: ReturnType<typeof jointly>): LabelProblem {
  const each = readings.map(({ annotator, passes, score }) => {
    return `${annotator || "someone unnamed"} ${passes ? "passes" : "fails"} it${score === undefined ? "" : ` (${score})`}`;
  });
  const help =
    joint === undefined
      ? "The labels count for the agreement of annotators, but not for the judge. Agree on one label, or let another person decide"
      : `Their median, ${joint.score}, counts. Agree on one label, or let another person decide`;
  return {
    ...positionOf((readings.at(-1) as Reading).row),
    message: `annotators disagree, and neither side has a majority: ${each.join(", ")}`,
    help,
  };
}

/** What people say together: the majority, or the median of scores. Undefined for a tie. */
function jointly(
  readings: readonly Reading[],
  scale: Scale | undefined,
): { passes: boolean; score?: number } | undefined {
  const passing = readings.filter(({ passes }) => passes).length;
  if (scale !== undefined && readings.every(({ score }) => score !== undefined)) {
    const scores = readings.map(({ score }) => score as number).sort((a, b) => a - b);
    const half = Math.floor(scores.length / 2);
    const median =
      scores.length % 2 === 1
        ? (scores[half] as number)
        : ((scores[half - 1] as number) + (scores[half] as number)) / 2;
    const threshold = (readings[0] as Reading).verdict.threshold ?? 0.5;
    return { score: median, passes: median >= threshold };
  }
  return passing * 2 === readings.length ? undefined : { passes: passing * 2 > readings.length };
}
