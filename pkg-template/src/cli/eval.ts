/** `eval`: scores evalsets against what an agent did. */

import { parseArguments } from "./arguments.js";
import { actualFiles } from "./files.js";
import { agentFolderOf, runInstead } from "./find.js";
import { optionsOf } from "./options.js";
import type { ExitStatus } from "./process.js";
import { watch } from "./watch.js";
import { score } from "./scoring.js";

/** Runs `eval`. */
export async function evalCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("eval"));
  if (given.has("watch")) return watch(given, args, "eval");
  return score(given, "eval travel.evalset.json --actual travel.actual.json", (evalSets) => ({
    files: actualFiles(given.all("actual"), evalSets, (file) => runInstead(file, agentFolderOf(given.positionals))),
    actualOf: async ({ actual = new Uint8Array() }) => ({ actual }),
  }));
}
