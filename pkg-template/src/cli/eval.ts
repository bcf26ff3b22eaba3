/** `eval`: scores evalsets against what an agent did. */

import { type Arguments, parseArguments } from "./arguments.js";
import { Journaling } from "./journal.js";
import { actualFiles } from "./files.js";
import { filesMatching, insteadOfActual } from "./find.js";
import { isRunLines } from "./line-files.js";
import { Mistake } from "./mistakes.js";
import { optionsOf } from "./options.js";
import type { ExitStatus } from "./process.js";
import { watch } from "./watch.js";
import { score } from "./scoring.js";
import type { Source } from "./source.js";

/** Runs `eval`. */
export async function evalCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("eval"));
  refuseWithoutBatch(given);
  const journal = await Journaling.of(given, "eval");
  if (given.has("watch")) return watch(given, args, "eval");
  return await evalWith(given, journal);
}

/** @throws {Mistake} for an option that says how batches are asked, where none are. */
export function refuseWithoutBatch(given: Arguments): void {
  if (given.has("batch")) return;
  const useless = ["batch-fallback", "batch-size", "batch-poll"].find((name) => given.has(name));
  if (useless !== undefined) throw new Mistake(`--${useless} has no effect without --batch`);
}

/** The files of what the agent did. */
export function runFiles(given: Arguments, evalSets: readonly string[]): string[] {
  const named = given.all("actual").flatMap((path) => filesMatching(path) ?? [path]);
  // All files of lines are about the only evalset.
  if (evalSets.length === 1 && named.length > 1 && named.every(isRunLines)) return named;
  return actualFiles(named, evalSets, (file) => insteadOfActual(file, given.positionals));
}

/** Scores what an agent did, or takes the answers that it takes from journals. */
export async function evalWith(given: Arguments, journal: Journaling | undefined): Promise<ExitStatus> {
  const sourceOf = (evalSets: readonly string[]): Source => ({
    files: runFiles(given, evalSets),
    actualOf: async ({ actual = new Uint8Array() }) => ({ actual }),
  });
  return score(given, "eval travel.evalset.json --actual travel.actual.json", sourceOf, journal);
}
