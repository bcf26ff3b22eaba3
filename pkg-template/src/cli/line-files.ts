/** Files of JSON lines: whether a file is one, and what its lines are. */

import { closeSync, readSync } from "node:fs";
import { closest } from "../closest.js";
import { MAX_BYTES } from "../generated/limits.js";
import { LINE_HEAD, LineKinds, parsedLine } from "../lines/kinds.js";
import { Rest } from "../lines/rest.js";
import { LineRows, type Places } from "../lines/rows.js";
import { around, type LineKind, markLength } from "../lines/shape.js";
import { isTraces } from "../interop/otlp.js";
import { baseName, headOf, missing, openRegular, readPieces, sizeOf } from "./files.js";
import { type InputFiles, Mistake } from "./mistakes.js";

/** What files of JSON lines are called. */
const LINES = /\.(?:jsonl|ndjson)$/i;

/** How much of a file tells traces from cases. */
const HEAD_BYTES = 4096;

const NEWLINE = 0x0a;

/** Whether a file is one of JSON lines, by its name. */
export function isLineFile(file: string): boolean {
  return LINES.test(file);
}

/** Whether a file of what the agent did is one of JSON lines: traces in lines are read as a whole. */
export function isRunLines(file: string): boolean {
  return isLineFile(file) && !isTraces(headOf(file, ACTUAL, HEAD_BYTES));
}

/** What files of lines are called in messages. */
export const EVAL_SET = "evalset";
export const ACTUAL = "file of what the agent did";

/** The lines of several files that go together. */
export interface LineFiles {
  readonly what: string;
  readonly files: readonly string[];
  readonly kind: LineKind;
  /** The id of the evalset, as a first line has it; else that of cases after their first file, and none of runs. */
  readonly evalSetId: string;
  readonly rows: LineRows;
  /** The lines that count. */
  readonly selected: readonly number[] | undefined;
  /** The size of the files in bytes. */
  readonly bytes: number;
}

/**
 * Reads files of lines, to find the case of each line.
 *
 * @param wanted The ids of the cases that count; all if absent.
 * @throws {Mistake} with file and line, for a line of another kind or a second line of the same case.
 */
export async function readLineFiles(
  files: readonly string[],
  what: string,
  wanted?: ReadonlySet<string>,
): Promise<LineFiles> {
  const rows = new LineRows();
  const selected: number[] = [];
  const missingIds = new Set(wanted);
  const known: string[] = [];
  let here = "";
  const kinds = new LineKinds(
    what === EVAL_SET,
    refusing(() => here),
  );
  for (const [number, file] of files.entries()) {
    await eachLine(file, what, (text, offset, line) => {
      here = `${file}:${line}`;
      const id = kinds.idOf(text, text.toString("latin1", 0, LINE_HEAD));
      if (id === undefined) return;
      if (wanted?.has(id) === true) {
        missingIds.delete(id);
        selected.push(rows.count);
      }
      if (wanted !== undefined && known.length < MOST_COMPARED) known.push(id);
      const before = rows.add(number, offset, text.length, line, id);
      if (before === undefined || what !== EVAL_SET) return;
      const places = rows.placesOf([before]);
      throw new Mistake(`the case \`${id}\` occurs twice`, {
        location: here,
        help: `It is also in ${placeIn(files, places, 0)}. To score several runs of a case, put them into the file of what the agent did`,
      });
    });
  }
  for (const id of missingIds) {
    const meant = closest(id, known);
    throw new Mistake(`the evalset has no case \`${id}\``, {
      location: files.join(", "),
      help: meant === undefined ? undefined : `Did you mean \`${meant}\`?`,
    });
  }
  return {
    what,
    files,
    kind: kinds.kind ?? "eval_cases",
    evalSetId: kinds.evalSetId ?? (what === EVAL_SET ? baseName(files[0] as string) : ""),
    rows,
    selected: wanted === undefined ? undefined : selected,
    bytes: totalSize(files),
  };
}

/** The cases that are looked through for one that is nearly called so. */
const MOST_COMPARED = 10_000;

/** File and line of one of some places. */
export function placeIn(files: readonly string[], { file, line }: Places, at: number): string {
  return `${files[file[at] as number]}:${line[at]}`;
}

/** The size of some files together, in bytes. */
export function totalSize(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + sizeOf(file), 0);
}

/** Visits the lines of a file that are not blank. */
async function eachLine(
  file: string,
  what: string,
  visit: (text: Buffer, offset: number, line: number) => void,
): Promise<void> {
  const rest = new Rest();
  let [offset, line] = [0, 1];
  const see = (text: Buffer) => {
    if (text.length > MAX_BYTES) throw tooLong(`${file}:${line}`);
    const begin = line === 1 ? markLength(text) : 0;
    if (!isBlank(text)) visit(text.subarray(begin), offset + begin, line);
  };
  for (const piece of readPieces(file, what)) {
    // Leaves the thread to others, such as signals.
    await new Promise((resolve) => setImmediate(resolve));
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const text = rest.size === 0 ? chunk.subarray(from, end) : Buffer.concat([rest.taken(), chunk.subarray(0, end)]);
      see(text);
      offset += text.length + 1;
      from = end + 1;
      line += 1;
    }
    rest.add(chunk.subarray(from));
    if (rest.size > MAX_BYTES) throw tooLong(`${file}:${line}`);
  }
  const last = rest.taken();
  see(Buffer.from(last.buffer, last.byteOffset, last.length));
}

function isBlank(text: Buffer): boolean {
  return text.every((byte) => byte <= 0x20);
}

function tooLong(location: string): Mistake {
  return new Mistake(`the line is longer than ${MAX_BYTES} bytes, the maximum for one line`, {
    location,
    help: "Every line has to be one case. Is this a JSON file without line breaks, with the extension .jsonl?",
  });
}

/** Makes the errors for what is wrong with a line. */
function refusing(here: () => string) {
  return (message: string, help?: string, cause?: unknown) => new Mistake(message, { location: here(), help, cause });
}

/** Some lines as one JSON text. */
export function textOf(
  files: readonly string[],
  what: string,
  around: readonly [string, string],
  places: Places,
): Buffer {
  const { file, offset, length } = places;
  const [before, after] = around.map((text) => Buffer.from(text)) as [Buffer, Buffer];
  let size = before.length + after.length + length.length;
  for (const one of length) size += one;
  const text = Buffer.allocUnsafe(size);
  let end = before.copy(text);
  for (let at = 0; at < length.length;) {
    // Adjacent lines are read together; commas come where they were broken.
    let until = at + 1;
    while (until < length.length && follows(places, until)) until += 1;
    const begin = offset[at] as number;
    const bytes = (offset[until - 1] as number) + (length[until - 1] as number) - begin;
    readInto(files[file[at] as number] as string, what, text.subarray(end, end + bytes), begin);
    for (let line = at + 1; line < until; line += 1) text[end + (offset[line] as number) - begin - 1] = COMMA;
    end += bytes;
    at = until;
    if (at < length.length) text[end++] = COMMA;
  }
  return text.subarray(0, end + after.copy(text, end));
}

const COMMA = 0x2c;

/** Whether a line begins where the one before ends. */
function follows({ file, offset, length }: Places, at: number): boolean {
  return file[at] === file[at - 1] && offset[at] === (offset[at - 1] as number) + (length[at - 1] as number) + 1;
}

/**
 * All lines of some files as one JSON text.
 *
 * @param input Is told where its items are.
 * @throws {Mistake} for more than fits in one, and for what is wrong in a line.
 */
export async function linesAsText(files: readonly string[], what: string, input: InputFiles): Promise<Uint8Array> {
  const size = totalSize(files);
  if (size > MAX_BYTES) {
    throw new Mistake(`the lines have ${size} bytes, but at most ${MAX_BYTES} fit in memory`, {
      location: files.join(", "),
      help: STREAMED,
    });
  }
  const { rows, kind, evalSetId } = await readLineFiles(files, what);
  const places = rows.placesOf(Array.from({ length: rows.count }, (_, row) => row));
  input.lines = {
    ...input.lines,
    [what === EVAL_SET ? "evalSet" : "actual"]: (item: number) => placeIn(files, places, item),
  };
  const [before, after] = around(kind, evalSetId);
  const joined = textOf(files, what, ["", ""], places);
  closeLineFiles();
  const text = Buffer.allocUnsafe(Buffer.byteLength(before + after) + joined.length + rows.count);
  let end = text.write(before);
  for (let row = 0, from = 0; row < rows.count; row += 1) {
    const line = joined.subarray(from, from + rows.lengthOf(row));
    parsedLine(
      line,
      what === EVAL_SET,
      refusing(() => placeIn(files, places, row)),
    );
    end += line.copy(text, end);
    // A line for each, by which the engine says where something is.
    if (row + 1 < rows.count) end += text.write(",\n", end);
    from += line.length + 1;
  }
  return text.subarray(0, end + text.write(after, end));
}

/** When lines are not kept in memory. */
export const STREAMED =
  "`eval` scores any number of lines if its only output is a JSON lines file (--output results.jsonl), without --journal, --shard, --batch, --watch and --dry-run";

/** The files that are open, the one that was opened first in front. */
const opened = new Map<string, number>();
const MOST_OPEN = 64;

function readInto(file: string, what: string, target: Buffer, position: number): void {
  const descriptor = opened.get(file) ?? openRegular(file, what);
  if (descriptor === undefined) throw missing(file, what);
  opened.set(file, descriptor);
  const [oldest] = opened.keys();
  if (opened.size > MOST_OPEN && oldest !== undefined) {
    closeSync(opened.get(oldest) as number);
    opened.delete(oldest);
  }
  for (let done = 0; done < target.length;) {
    const count = readSync(descriptor, target, done, target.length - done, position + done);
    if (count === 0) throw new Mistake(`the ${what} became shorter while it was being read`, { location: file });
    done += count;
  }
}

/** Closes the files that were read from. */
export function closeLineFiles(): void {
  for (const descriptor of opened.values()) closeSync(descriptor);
  opened.clear();
}
