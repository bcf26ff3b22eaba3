// Agents run on the command line: two cases, and an agent that answers as it should in one of them.

import { CLOCK, folderOf, run } from "./command.mjs";

export const { "clock.evalset.json": CLOCK_SET } = CLOCK;
export const FILES = { "clock.evalset.json": CLOCK_SET };
/** An agent that answers as it should in one of the two cases. */
export const AGENT = "export default (message) => 'It is noon.';";

/** Runs an agent whose module holds this code, once in each case unless the arguments say otherwise. */
export async function runAgent(t, code, { args = [], files = {}, file = "agent.mjs", ...options } = {}) {
  const cwd = folderOf(t, { ...FILES, [file]: code, ...files });
  const often = args.includes("--num-runs") ? [] : ["--num-runs", "1"];
  return run(["run", "--agent", file, "clock.evalset.json", ...often, ...args], { cwd, ...options });
}

/** The cases of results in ADK's schema: their ids and statuses. */
export const statuses = ({ stdout }) =>
  JSON.parse(stdout).eval_case_results.map((one) => [one.eval_id, one.final_eval_status]);
/** What an agent gets that always says that it is noon. */
export const BOTH = [
  ["noon", 1],
  ["late", 2],
];
export const json = ["--format", "json"];
