/**
 * Files in a folder that others can write to: a link or a pipe may be where a file is expected, and a process may have
 * ended in the middle of a line.
 */
// Node only: no bundle for browsers may reach this file.
import * as fs from "node:fs";
import { parseJson } from "../engine/json.js";
import { isObject } from "../engine/values.js";
import { LineBuffer } from "./lines.js";

/** The most characters of a line: of a prompt and its schemas, each at most 4 MiB, escaped. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** Whether this is a folder, not a link to one. */
export function isFolder(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The objects in lines of JSON, read piece by piece. Other lines are skipped, such as one that was cut off. */
export function* linesIn(path: string): Generator<object> {
  const file = openRegular(path);
  if (file === undefined) return;
  const buffer = Buffer.alloc(1 << 16);
  const decoder = new TextDecoder();
  try {
    const buffered = new LineBuffer(LONGEST_LINE);
    for (;;) {
      const length = fs.readSync(file, buffer);
      for (const line of buffered.push(decoder.decode(buffer.subarray(0, length), { stream: length > 0 }))) {
        const value = objectIn(line);
        if (value !== undefined) yield value;
      }
      if (length === 0) return;
    }
  } finally {
    fs.closeSync(file);
  }
}

function objectIn(line: string): object | undefined {
  try {
    const value: unknown = parseJson(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces a file with a new one, so that nothing is written where a link leads. */
export function openAnew(path: string): number {
  fs.rmSync(path, { force: true });
  return fs.openSync(path, "wx");
}

/** Opens a regular file; undefined for anything else. Does not wait for a pipe that no program writes to. */
function openRegular(path: string): number | undefined {
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const file = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  if (fs.fstatSync(file).isFile()) return file;
  fs.closeSync(file);
  return undefined;
}

export function readRegular(path: string): string {
  const file = openRegular(path);
  if (file === undefined) throw new Error(`${path} is not a file`);
  try {
    return fs.readFileSync(file, "utf8");
  } finally {
    fs.closeSync(file);
  }
}

/** Replaces a file at once: readers find the old text or the new one. It is on the disk afterwards. */
export function writeWhole(path: string, text: string): void {
  const beside = `${path}.tmp`;
  const file = openAnew(beside);
  try {
    fs.writeSync(file, `${text}\n`);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  fs.renameSync(beside, path);
}
