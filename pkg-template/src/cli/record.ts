/** `record`: runs an agent on evalsets and keeps what it did, for `eval` to score. */

import { join } from "node:path";
import { check } from "../agents/evaluation.js";
import { Spending } from "../agents/spending.js";
import type { InferenceResult } from "../agents/run.js";
import { count } from "../report/text.js";
import { AGENT_OPTIONS, AgentRuns } from "./agent-runs.js";
import { api } from "./api.js";
import { type Arguments, parseArguments } from "./arguments.js";
import { BUDGET_OPTIONS, budgetOf, sayPrices } from "./budget.js";
import { kindOf } from "./files.js";
import { type Input, readInputs, selectionsOf } from "./inputs.js";
import { Interruption } from "./interruption.js";
import { judgeChoiceOf } from "./judge.js";
import { Judging } from "./judging.js";
import { inFiles, Mistake } from "./mistakes.js";
import { distinctNames, isFolder } from "./outputs.js";
import { ExitStatus, note } from "./process.js";
import { ProgressBar } from "./progress.js";
import { planOf, refuseInputs, refuseShared } from "./scoring.js";
import { prepareFile, writeFile, writeOut } from "./write.js";

const OPTIONS = {
  ...AGENT_OPTIONS,
  ...BUDGET_OPTIONS,
  config: { type: "string" },
  force: { type: "boolean" },
  judge: { type: "string" },
  model: { type: "string" },
  output: { type: "string" },
  record: { type: "string" },
  help: { type: "boolean" },
} as const;

const EXAMPLE = "record --agent ./agent.ts travel.evalset.json --output travel.inferences.json";

/** Runs `record`. */
export async function recordCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, OPTIONS);
  const runs = new AgentRuns(given, EXAMPLE);
  const budget = budgetOf(given);
  const judges = judgeChoiceOf(given);
  const selections = selectionsOf(given, EXAMPLE);
  const outputs = outputsOf(
    given,
    selections.map(({ file }) => file),
  );
  const inputs = readInputs(selections, undefined, given.one("config"));
  const files = outputs.flatMap((file) => file ?? []);
  refuseInputs(judges.record === undefined ? files : [...files, judges.record], inputs, runs.files);
  refuseShared(files, judges.record);
  for (const file of files) {
    if (kindOf(file) === "file" && !given.has("force")) {
      throw new Mistake("the output is there already", { place: file, help: "Overwrite it with --force" });
    }
    prepareFile(file);
  }

  const stop = new Interruption();
  const judging = new Judging(judges, () => stop.end());
  await api();
  await runs.prepare(inputs);
  await checkAll(inputs);
  await runs.load();
  const spent = new Spending(budget);
  const failed = await recordAll({ inputs, outputs, runs, stop, spent });
  judging.check();
  if (judging.calls > 0) note(`simulated users: ${count(judging.calls, "call")}`);
  judging.reportRecording();
  if (budget.prices !== undefined && judging.calls > 0) sayPrices(budget.prices, spent.models);
  if (stop.isInterrupted) {
    note("interrupted: only the runs that were done are written");
    return ExitStatus.Interrupted;
  }
  return failed > 0 ? ExitStatus.Failed : ExitStatus.Passed;
}

/** A file for each evalset; nothing for stdout. */
function outputsOf(given: Arguments, evalSets: readonly string[]): (string | undefined)[] {
  const output = given.one("output") ?? "-";
  if (output !== "-" && isFolder(output)) {
    return distinctNames(evalSets).map((name) => join(output, `${name}.inferences.json`));
  }
  if (evalSets.length > 1) {
    throw new Mistake(`what the agent does in ${evalSets.length} evalsets does not fit in one file`, {
      help: "Name a folder: --output runs/ gets a file for each evalset",
    });
  }
  return [output === "-" ? undefined : output];
}

/** What is wrong with evalsets and selected cases is known before the agent is run. */
async function checkAll(inputs: readonly Input[]): Promise<void> {
  for (const input of inputs) {
    try {
      await check({ ...planOf(input), config: { criteria: {} } }, {});
    } catch (error) {
      throw inFiles(error, input.files);
    }
  }
}

interface Work {
  inputs: readonly Input[];
  outputs: readonly (string | undefined)[];
  runs: AgentRuns;
  stop: Interruption;
  spent: Spending;
}

/** How many runs failed. */
async function recordAll({ inputs, outputs, runs, stop, spent }: Work): Promise<number> {
  stop.listen();
  const bar = new ProgressBar();
  let failed = 0;
  for (const [at, input] of inputs.entries()) {
    const { results, spending } = await runs.run(input, stop, bar, spent.left());
    spent.add(spending.used);
    for (const model of spending.models) spent.models.add(model);
    const failures = results.filter(({ status }) => status === 2);
    failed += failures.length;
    const of = `${count(results.length, "run")} of ${runs.name}${failures.length > 0 ? `, ${failures.length} failed` : ""}`;
    if (results.length > 0 || !stop.isInterrupted) {
      await write(await inferencesJson(results, runs.name), outputs[at], of);
    }
    for (const { evalCaseId, errorMessage } of failures) note(`failed: ${evalCaseId}: ${errorMessage}`);
    if (stop.isOver) break;
  }
  stop.ignore();
  return failed;
}

async function write(json: string, file: string | undefined, what: string): Promise<void> {
  if (file === undefined) {
    await writeOut(json);
    note(what);
  } else {
    writeFile(file, json);
    note(`wrote ${file}: ${what}`);
  }
}

/** Inference results as google-adk has them. */
async function inferencesJson(results: readonly InferenceResult[], appName: string): Promise<string> {
  const { evalSetToAdkJson } = await api();
  // The conversations go through the engine's writer, which knows what is whose key.
  const evalCases = results.map(({ inferences }, at) => ({ evalId: String(at), conversation: inferences }));
  const written = JSON.parse(evalSetToAdkJson({ evalSetId: "runs", evalCases })) as {
    eval_cases: { conversation?: unknown[] }[];
  };
  const list = results.map(({ evalSetId, evalCaseId, sessionId, userId, status, errorMessage }, at) => ({
    app_name: appName,
    eval_set_id: evalSetId,
    eval_case_id: evalCaseId,
    inferences: written.eval_cases[at]?.conversation ?? [],
    session_id: sessionId,
    ...(userId === undefined ? {} : { user_id: userId }),
    status,
    ...(errorMessage === undefined ? {} : { error_message: errorMessage }),
  }));
  return `${JSON.stringify(list, null, 2)}\n`;
}
