/** Results for `calibrate` and `labels export`: from files of results, or from a journal, which has every reply. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LARGE_BYTES, lookedAt } from "../result-lines.js";
import { kindOf, readBytes, readPieces, sizeOf } from "./files.js";
import { Mistake } from "./mistakes.js";
import { definedProperties } from "../lists.js";

const HEADER = new TextEncoder().encode('{"format":"adk-metrics journal"');

const WHAT = "file of results";

/**
 * The bytes of results; JSON lines of any size in pieces, which are read each time they are asked for.
 *
 * @throws {Mistake} for what cannot be read, and a journal that cannot be merged, such as one that has not ended.
 */
export function readResultsOrJournal(file: string): Uint8Array | Iterable<Uint8Array> {
  if (kindOf(file) === "folder" || sizeOf(file) <= LARGE_BYTES) {
    const bytes = readBytes(file, WHAT);
    return isJournal(bytes) ? resultsOfJournal(file) : bytes;
  }
  const [head = new Uint8Array()] = readPieces(file, WHAT);
  if (isJournal(head)) return resultsOfJournal(file);
  return lookedAt([head]).isLines ? { [Symbol.iterator]: () => readPieces(file, WHAT) } : readBytes(file, WHAT);
}

function isJournal(bytes: Uint8Array): boolean {
  return HEADER.every((byte, at) => bytes[at] === byte);
}

/** As `merge --explain all` makes them, in a process of its own, without judges, and with the package's own metrics. */
function resultsOfJournal(file: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-"));
  try {
    const output = join(folder, "results.json");
    const merge = ["merge", file, "--explain", "all", "--format", "json", "--output", output];
    const { stderr } = spawnSync(process.execPath, [process.argv[1] ?? "", ...merge], {
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
      maxBuffer: 1 << 26,
    });
    if (existsSync(output)) return readFileSync(output);
    const [, why = "it cannot be merged"] = /^error: (.*)/m.exec(stderr) ?? [];
    const [, help] = /^ +help: (.*)/m.exec(stderr) ?? [];
    throw new Mistake(`the journal has no results: ${why}`, {
      location: file,
      ...definedProperties({ help }),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
