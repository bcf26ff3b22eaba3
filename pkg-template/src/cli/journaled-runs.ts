/** What an agent did according to a journal, for `batch submit --journal`. */

import { toBytes } from "../engine/input.js";
import { JournalSection } from "../journal/section.js";
import { count } from "../report/text.js";
import { AgentRuns, selectedCases } from "./agent-runs.js";
import type { Arguments } from "./arguments.js";
import type { BatchWork } from "./batch.js";
import { type Input, readInputs, selectionsOf } from "./inputs.js";
import { Interruption } from "./interruption.js";
import { Journaling } from "./journal.js";
import { argumentsOf, readShard, refuseModules } from "./merge.js";
import { Mistake } from "./mistakes.js";
import { warn } from "./process.js";
import { ProgressBar } from "./progress.js";

/** Options of a run that say who is asked: leaving them out would ask, and pay, another. */
const WHO = ["judge", "model"];

/**
 * The evalsets of a journal with what the agent did in them.
 *
 * @throws {Mistake} for a journal of something else, and for inputs that differ from those of the journal.
 */
export async function journaledRuns(
  given: Arguments,
  evalSets: readonly string[],
): Promise<Pick<BatchWork, "inputs" | "partOf">> {
  const file = given.one("journal") as string;
  if (evalSets.length > 0 || given.has("actual")) {
    throw new Mistake(`${evalSets[0] ?? "--actual"} cannot be used with --journal: the journal names the evalsets`);
  }
  const { command, entries } = readShard(file);
  const { command: name, positionals, options } = command;
  if (name !== "run") {
    const actual = name === "eval" ? options.actual : ["<what record wrote>"];
    throw new Mistake(`the journal is of ${name}, not of run`, {
      location: file,
      help: ["adk-metrics batch submit", ...positionals, ...(actual ?? []).flatMap((file) => ["--actual", file])].join(
        " ",
      ),
    });
  }
  refuseModules(options, given, "the run was");
  for (const option of WHO) {
    const value = options[option]?.[0];
    if (value === undefined || given.has(option)) continue;
    throw new Mistake(`the run was started with --${option} ${value}`, { help: "Add it here, or choose another" });
  }
  let missing = 0;
  const whyMissing = (): string => {
    missing += 1;
    return "it was not run yet";
  };
  const journal = Journaling.merged([file], entries, whyMissing);
  const all = argumentsOf(positionals, options, given);
  const runs = new AgentRuns(all, "", true);
  runs.useMerged(journal.agent);
  const found = await readInputs(selectionsOf(all, "batch submit"), undefined, all.one("config"));
  await runs.prepare(found);
  const answered = { read: async () => entries, append: async () => {} };
  const inputs: Input[] = [];
  const journals: JournalSection[] = [];
  let total = 0;
  for (const [at, input] of found.entries()) {
    const { evalSetId, evalCases } = await selectedCases(input);
    total += evalCases.length * runs.numRuns;
    const section = await journal.section(at, 0, evalSetId);
    const { results } = await runs.run(input, new Interruption(), new ProgressBar(), {}, { journal: section });
    inputs.push({ ...input, actual: toBytes({ inferenceResults: results }, "actual") });
    const replies = new JournalSection(answered, `${at}/0`);
    await replies.load();
    journals.push(replies);
  }
  if (missing > 0) {
    warn(
      `${missing} of ${count(total, "run")} ${missing === 1 ? "is" : "are"} not in the journal`,
      file,
      "Run its command again, with --resume, to do them",
    );
  }
  return { inputs, partOf: (_, at) => ({ section: journals[at] as JournalSection }) };
}
