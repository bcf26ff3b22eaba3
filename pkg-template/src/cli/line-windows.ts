/** A large evaluation in windows: some cases with what was done in them, which are scored by themselves. */

import type { PartNotes } from "../evaluate.js";
import type { EvalStatus } from "../enums.js";
import { AdkMetricsError } from "../errors.js";
import type { Places } from "../lines/rows.js";
import {
  around,
  firstUnreadable,
  lineAt,
  type LineKind,
  WINDOW_BYTES,
  WINDOW_LINES,
  withinLine,
} from "../lines/shape.js";
import { gateStatuses } from "../statistics/gates.js";
import { caseLine } from "../stored-results.js";
import type { EvalCaseResult, EvalSetResult, EvaluateRequest, Mistake } from "../types.js";
import { ACTUAL, EVAL_SET, type LineFiles, placeIn, textOf } from "./line-files.js";
import { Mistake as FileMistake } from "./mistakes.js";
import { isUnjudged } from "./tally.js";

/** Some cases, and the runs of them. */
export interface Window {
  readonly cases: Places;
  readonly runs: Places;
}

/** The files of all windows, and what their lines are. */
export interface WindowFiles {
  readonly evalSetId: string;
  /** The evalset that the runs name, or nothing. */
  readonly ranId: string;
  readonly evalSets: readonly string[];
  readonly actuals: readonly string[];
  readonly kind: LineKind;
}

/** A warning, and where in the files it is. */
export type PlacedWarning = Mistake & { place?: string };

/** What a window came to. */
export interface ScoredWindow {
  /** A line for each result. When it is written, its buffer may take that of another window. */
  readonly text: Uint8Array<ArrayBuffer>;
  /** The results, in order: the ids of their cases, and how they ended. */
  readonly ids: readonly string[];
  readonly statuses: readonly EvalStatus[];
  readonly statusesForGates: readonly EvalStatus[];
  /** The results without their cases. */
  readonly rest: EvalSetResult;
  readonly notes: PartNotes | undefined;
  /** Whether a verdict is missing although a judge was to be asked. */
  readonly isUnjudged: boolean;
}

/** The windows of an evaluation, in the order of the cases. By their places where no id of a run is one of a case. */
export function* windowsOf(cases: LineFiles, runs: LineFiles, byPlace: boolean): Generator<Window> {
  const total = cases.selected?.length ?? cases.rows.count;
  let own: number[] = [];
  let theirs: number[] = [];
  let bytes = 0;
  const window = (): Window => ({ cases: cases.rows.placesOf(own), runs: runs.rows.placesOf(theirs) });
  for (let at = 0; at < total; at += 1) {
    const row = cases.selected?.[at] ?? at;
    const found = byPlace ? [row] : [...runs.rows.ofSameId(cases.rows, row)];
    const size = found.reduce((sum, run) => sum + runs.rows.lengthOf(run), cases.rows.lengthOf(row));
    if (own.length > 0 && (bytes + size > WINDOW_BYTES || own.length + theirs.length + found.length >= WINDOW_LINES)) {
      yield window();
      [own, theirs, bytes] = [[], [], 0];
    }
    own.push(row);
    theirs.push(...found);
    bytes += size;
  }
  if (own.length > 0) yield window();
}

/** Scores one part of an evaluation. */
type Evaluate = (request: EvaluateRequest, note: (notes: PartNotes) => void) => Promise<EvalSetResult>;

/**
 * Scores a window.
 *
 * @param spare A buffer that may take the text.
 * @throws {FileMistake} with file and line for what is wrong in one.
 */
export async function scoreWindow(
  window: Window,
  files: WindowFiles,
  options: Omit<EvaluateRequest, "evalSet" | "actual">,
  evaluate: Evaluate,
  spare?: ArrayBuffer,
): Promise<ScoredWindow> {
  let notes: PartNotes | undefined;
  const request = { ...options, evalSetName: files.evalSetId, ...textsOf(window, files) };
  let set: EvalSetResult;
  try {
    set = await evaluate(request, (noted) => (notes = noted));
  } catch (error) {
    throw await placed(error, window, files, evaluate);
  }
  const { evalCaseResults: results, warnings: all, ...rest } = set;
  const forGates = gateStatuses([set], notes?.failures.keys());
  // The command itself warns about its options.
  const warnings = all?.filter(({ path }) => path !== "options");
  return {
    text: linesOf(results, spare),
    ids: results.map(({ evalId }) => evalId),
    statuses: results.map(({ finalEvalStatus }) => finalEvalStatus),
    statusesForGates: results.map((result) => forGates.get(result) ?? result.finalEvalStatus),
    rest: {
      ...rest,
      evalCaseResults: [],
      ...(warnings === undefined ? {} : { warnings: warnings.map((warning) => withPlace(warning, window, files)) }),
    },
    notes,
    isUnjudged: isUnjudged([set]),
  };
}

/** More than most windows need. */
const LIKELY_BYTES = 8 * WINDOW_BYTES;
const NEWLINE = 0x0a;

/** A line for each result. Written one by one, since all of them as one string would be there twice more. */
function linesOf(results: readonly EvalCaseResult[], spare = new ArrayBuffer(LIKELY_BYTES)): Uint8Array<ArrayBuffer> {
  let bytes = Buffer.from(spare);
  let end = 0;
  for (const result of results) {
    const line = caseLine(result);
    const room = bytes.length - end - 1;
    if (MOST_BYTES_PER_UNIT * line.length > room && Buffer.byteLength(line) > room) {
      const larger = Buffer.from(new ArrayBuffer(2 * bytes.length + Buffer.byteLength(line)));
      bytes.copy(larger, 0, 0, end);
      bytes = larger;
    }
    end += bytes.write(line, end);
    bytes[end++] = NEWLINE;
  }
  return bytes.subarray(0, end);
}

/** In UTF-8, of a code unit of a string. */
const MOST_BYTES_PER_UNIT = 3;

/** The buffer of a window whose text is written, for the text of another; nothing if it is unusually large. */
export function spareOf({ text: { buffer } }: ScoredWindow): ArrayBuffer | undefined {
  return buffer.byteLength === LIKELY_BYTES ? buffer : undefined;
}

function textsOf({ cases, runs }: Window, { evalSetId, ranId, evalSets, actuals, kind }: WindowFiles) {
  return {
    evalSet: textOf(evalSets, EVAL_SET, around("eval_cases", evalSetId), cases),
    actual: textOf(actuals, ACTUAL, around(kind, ranId || evalSetId), runs),
  };
}

const ofEvalSet = (path: string | undefined): boolean => path?.startsWith("evalSet") === true;
const isOfLines = (path: string | undefined): path is string => ofEvalSet(path) || path?.startsWith("actual") === true;

/** File and line of what a path in a window leads to, and the rest of the path. */
function placeOf(path: string, { cases, runs }: Window, { evalSets, actuals }: WindowFiles): string | undefined {
  const at = lineAt(path);
  const [files, places] = ofEvalSet(path) ? [evalSets, cases] : [actuals, runs];
  if (at === undefined || at >= places.line.length) return undefined;
  return [placeIn(files, places, at), withinLine(path)].filter(Boolean).join(", ");
}

/** The lines of a window are not those of its files. */
function withPlace(warning: Mistake, window: Window, files: WindowFiles): PlacedWarning {
  const { line: _, ...rest } = warning;
  if (!isOfLines(rest.path)) return warning;
  const place = placeOf(rest.path, window, files);
  return place === undefined ? rest : { ...rest, place };
}

/** An error with its place in the files. */
async function placed(error: unknown, window: Window, files: WindowFiles, evaluate: Evaluate): Promise<unknown> {
  if (!(error instanceof AdkMetricsError) || !isOfLines(error.path)) return error;
  const { message, help, path } = error;
  const place = placeOf(path, window, files) ?? (await guilty(path, window, files, evaluate));
  const location = place ?? (ofEvalSet(path) ? files.evalSets : files.actuals).join(", ");
  return new FileMistake(message, { location, help, cause: error });
}

/** The first line that cannot be read by itself. */
async function guilty(
  path: string,
  window: Window,
  files: WindowFiles,
  evaluate: Evaluate,
): Promise<string | undefined> {
  const [names, places] = ofEvalSet(path) ? [files.evalSets, window.cases] : [files.actuals, window.runs];
  const at = await firstUnreadable(places.line.length, async (at) => {
    const one = oneOf(places, at);
    const alone = ofEvalSet(path) ? { cases: one, runs: oneOf(one, 1) } : { cases: oneOf(one, 1), runs: one };
    await evaluate({ ...textsOf(alone, files), criteria: {}, countOnly: true }, () => {});
  });
  return at === undefined ? undefined : placeIn(names, places, at);
}

function oneOf({ file, offset, length, line }: Places, at: number): Places {
  const next = at + 1;
  return {
    file: file.slice(at, next),
    offset: offset.slice(at, next),
    length: length.slice(at, next),
    line: line.slice(at, next),
  };
}
