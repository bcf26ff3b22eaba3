/** Results for `calibrate` and `labels export`: from files of results, or from a journal, which has every reply. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readBytes } from "./files.js";
import { Mistake } from "./mistakes.js";

const HEADER = new TextEncoder().encode('{"format":"adk-metrics journal"');

/** @throws {Mistake} for what cannot be read, and a journal that cannot be merged, such as one that has not ended. */
export function readResultsOrJournal(file: string): Uint8Array {
  const bytes = readBytes(file, "file of results");
  return HEADER.every((byte, at) => bytes[at] === byte) ? resultsOfJournal(file) : bytes;
}

/** As `merge --explain all` makes them, in a process of its own: it asks nobody, and scores with nothing but the package. */
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
      ...(help === undefined ? {} : { help }),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
