/** `run`: runs an agent on evalsets and scores what it does. */

import { recordedFor } from "../agents/record.js";
import type { Dialect } from "../types.js";
import { AgentRuns } from "./agent-runs.js";
import { type Arguments, parseArguments } from "./arguments.js";
import { refuseWithoutBatch } from "./eval.js";
import { Journaling } from "./journal.js";
import { optionsOf } from "./options.js";
import { type ExitStatus, note } from "./process.js";
import { watch } from "./watch.js";
import { score } from "./scoring.js";
import type { Source } from "./source.js";
import { definedProperties } from "../lists.js";

const EXAMPLE = "run --agent ./agent.ts travel.evalset.json";

/** Runs `run`. */
export async function runCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("run"));
  refuseWithoutBatch(given);
  const journal = await Journaling.of(given, "run");
  if (given.has("watch")) return watch(given, args, "run");
  return await runWith(given, journal);
}

/** Runs the agent and scores what it does, or takes what it did from journals. */
export async function runWith(given: Arguments, journal: Journaling | undefined): Promise<ExitStatus> {
  const runs = new AgentRuns(given, EXAMPLE, journal?.isMerging === true);
  const dialect = given.one("dialect") as Dialect | undefined;
  const sourceOf = (): Source => ({
    numRuns: runs.numRuns,
    others: runs.files,
    prepare: (inputs) => runs.prepare(inputs),
    check: (input) => runs.check(input),
    checkUsers: (input, budget, strict) => runs.checkUsers(input, budget, strict),
    begin: async () => (journal?.isMerging === true ? runs.useMerged(journal.agent) : await runs.load()),
    portionsOf: (input) => runs.portions(input),
    async actualOf(input, stop, bar, budget, journal) {
      const more = { bails: given.has("bail"), journal };
      const { results, evalIds, spending, isCut } = await runs.run(input, stop, bar, budget, more);
      if (stop.isInterrupted && evalIds !== undefined && evalIds.length > 0) {
        note("interrupted: scoring the finished runs; press Ctrl-C again to stop that too");
      }
      return {
        actual: { inferenceResults: recordedFor(results, dialect) },
        ...definedProperties({ evalIds }),
        spending,
        isCut,
      };
    },
  });
  return score(given, EXAMPLE, sourceOf, journal);
}
