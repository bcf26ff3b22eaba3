/** `eval`: scores evalsets against what an agent did. */

import { parseArguments } from "./arguments.js";
import { actualFiles } from "./files.js";
import { agentFolderOf, runInstead } from "./find.js";
import type { ExitStatus } from "./process.js";
import { score, SCORING_OPTIONS } from "./scoring.js";

const OPTIONS = { actual: { type: "string", multiple: true }, ...SCORING_OPTIONS } as const;

/** Runs `eval`. */
export async function evalCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, OPTIONS);
  return score(given, "eval travel.evalset.json --actual travel.actual.json", (evalSets) => ({
    files: actualFiles(given.all("actual"), evalSets, (file) => runInstead(file, agentFolderOf(given.positionals))),
    actualOf: async ({ actual = new Uint8Array() }) => ({ actual }),
  }));
}
