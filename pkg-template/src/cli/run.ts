/** `run`: runs an agent on evalsets and scores what it does. */

import { AgentRuns } from "./agent-runs.js";
import { parseArguments } from "./arguments.js";
import { optionsOf } from "./options.js";
import { type ExitStatus, note } from "./process.js";
import { watch } from "./watch.js";
import { score } from "./scoring.js";

const EXAMPLE = "run --agent ./agent.ts travel.evalset.json";

/** Runs `run`. */
export async function runCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("run"));
  if (given.has("watch")) return watch(given, args, "run");
  const runs = new AgentRuns(given, EXAMPLE);
  return score(given, EXAMPLE, () => ({
    numRuns: runs.numRuns,
    others: runs.files,
    prepare: (inputs) => runs.prepare(inputs),
    check: (input) => runs.check(input),
    checkUsers: (input, budget) => runs.checkUsers(input, budget),
    begin: () => runs.load(),
    portionsOf: (input) => runs.portions(input),
    async actualOf(input, stop, bar, budget) {
      const { results, evalIds, spending } = await runs.run(input, stop, bar, budget, given.has("bail"));
      if (stop.isInterrupted && evalIds !== undefined && evalIds.length > 0) {
        note("interrupted: scoring the runs that were done; Ctrl-C again ends that too");
      }
      return { actual: { inferenceResults: results }, ...(evalIds === undefined ? {} : { evalIds }), spending };
    },
  }));
}
