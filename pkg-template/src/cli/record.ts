/** `record`: runs an agent on evalsets and keeps what it did, for `eval` to score. */

import { join } from "node:path";
import { check, NO_USER, type Plan } from "../agents/evaluation.js";
import { Spending } from "../agents/spending.js";
import { type InferenceResult, isScenario } from "../agents/run.js";
import { simulatorOf } from "../agents/test-files.js";
import { criteriaIn, recordOf } from "../engine/criteria.js";
import { strictErrorOf } from "../errors.js";
import { append } from "../lists.js";
import { isPrebuilt } from "../metric-info.js";
import { count, firstLine, inertJson } from "../report/text.js";
import type { Budget, MetricRegistry } from "../types.js";
import { AgentRuns, selectedCases } from "./agent-runs.js";
import { api } from "./api.js";
import { type Arguments, parseArguments } from "./arguments.js";
import { budgetFor, budgetOf, sayPrices } from "./budget.js";
import { type Input, mayHaveUsers, readInputs, selectionsOf } from "./inputs.js";
import { Interruption } from "./interruption.js";
import { Journaling } from "./journal.js";
import { judgeChoiceOf } from "./judge.js";
import { FOR_JUDGES, Judging, reportUseless, type Useless, uselessIn } from "./judging.js";
import { Mistake, Mistakes, locationOf, refusedWarnings } from "./mistakes.js";
import { optionsOf } from "./options.js";
import { distinctNames, isFolder } from "./outputs.js";
import { ExitStatus, note, refusedByStrict, warn, warningCount } from "./process.js";
import { ProgressBar } from "./progress.js";
import { simulatorText } from "../report/usage.js";
import { refuseInputs, refuseShared } from "./overwriting.js";
import { planOf } from "./source.js";
import { prepareNewFile, writeSafely } from "./write.js";

const EXAMPLE = "record --agent ./agent.ts travel.evalset.json --output travel.inferences.json";

/** Runs `record`. */
export async function recordCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("record"));
  return await recordWith(given, await Journaling.of(given, "record"));
}

/** Runs the agent and writes what it does, or takes that from journals. */
export async function recordWith(given: Arguments, journal: Journaling | undefined): Promise<ExitStatus> {
  const runs = new AgentRuns(given, EXAMPLE);
  const limits = budgetOf(given);
  const judges = judgeChoiceOf(given);
  const selections = selectionsOf(given, EXAMPLE);
  const outputs = outputsOf(
    given,
    selections.map(({ file }) => file),
  );
  const inputs = await readInputs(selections, undefined, given.one("config"));
  const files = outputs.flatMap((file) => file ?? []);
  const budget = budgetFor(judges.replay === undefined && inputs.some(mayHaveUsers), limits);
  refuseInputs(
    [...files, ...[judges.record].flatMap((file) => file ?? []), ...(journal?.output ?? [])],
    inputs,
    [
      ...runs.files,
      ...(journal?.inputs ?? []),
      ...(judges.module === undefined ? [] : [[judges.module.file, "module of the judge"] as const]),
    ],
    journal?.outputOption,
  );
  refuseShared(files, judges.record);
  refuseShared(files, journal?.output[0], "journal");
  for (const file of files) {
    prepareNewFile(file, given.has("force"));
  }

  const stop = new Interruption();
  const judging = new Judging(judges, () => stop.end());
  await api();
  await judging.load();
  await runs.prepare(inputs);
  if (journal?.isMerging === true) {
    runs.useMerged(journal.agent);
  } else {
    await checkAll(inputs, runs, budget, given.has("strict"));
    reportUseless(await uselessFor(inputs, given), given);
    await runs.load();
  }
  const spent = new Spending(budget);
  const { failed, unwritten } = await recordAll({ inputs, outputs, runs, stop, spent, journal });
  journal?.report(stop.isInterrupted, !given.has("force"));
  if (judging.calls > 0) {
    note(simulatorText([{ simulatorUsage: spent.used }]) as string);
    judging.sayFree(given);
  }
  judging.reportRecording();
  if (judging.calls > 0) sayPrices(budget.prices, spent.models);
  if (stop.isInterrupted) note("interrupted: only finished runs are written");
  append(unwritten, judging.unrecorded());
  if (unwritten.length > 0) throw new Mistakes(unwritten);
  if (stop.isInterrupted) return stop.status;
  if (given.has("strict") && warningCount() > 0) return refusedByStrict();
  return failed > 0 ? ExitStatus.Failed : ExitStatus.Passed;
}

/** A file for each evalset; nothing for stdout. */
function outputsOf(given: Arguments, evalSets: readonly string[]): (string | undefined)[] {
  const output = given.one("output") ?? "-";
  if (output !== "-" && isFolder(output)) {
    return distinctNames(evalSets).map((name) => join(output, `${name}.inferences.json`));
  }
  if (evalSets.length > 1) {
    throw new Mistake(`a file of inference results is for one evalset, and there are ${evalSets.length}`, {
      help: "Choose a folder: --output runs/ gets a file for each evalset",
    });
  }
  return [output === "-" ? undefined : output];
}

/** The options for simulated users that have no effect. */
async function uselessFor(inputs: readonly Input[], given: Arguments): Promise<Useless[]> {
  const sets = await Promise.all(inputs.map(selectedCases));
  if (!sets.some(({ evalCases }) => evalCases.some(isScenario)))
    return uselessIn(NO_USER, given, [...FOR_JUDGES, "price", "config"]);
  const hasSettings = inputs.some(({ config }) => Object.keys(simulatorOf(recordOf(config))).length > 0);
  return hasSettings ? [] : uselessIn("the config has no settings for simulated users", given, ["config"]);
}

/** What is wrong with evalsets, configs, selected cases and simulated users is known before the agent is run. */
async function checkAll(inputs: readonly Input[], runs: AgentRuns, budget: Budget, strict: boolean): Promise<void> {
  const mistakes: unknown[] = [];
  for (const input of inputs) {
    const { files } = input;
    try {
      // Nothing is scored here: custom metrics need no module, and no judge is asked.
      const { warnings: all } = await check(checkedPlan(input), { registry: registryOf(input), judge: notAsked });
      const warnings = all.filter(({ message }) => !isForUsers(input) || !message.includes(PLACEHOLDER));
      if (strict && warnings.length > 0) throw strictErrorOf(warnings);
      for (const warning of warnings) warn(warning.message, locationOf(warning, files), warning.help);
      await runs.check(input);
      await runs.checkUsers(input, budget, strict);
    } catch (error) {
      append(mistakes, refusedWarnings(error, files));
    }
  }
  if (mistakes.length > 0) throw new Mistakes(mistakes);
}

/** The metric that is checked where the config names none. */
const PLACEHOLDER = "response_match_score";

/** What is checked of an input. Nothing is scored, so a config for simulated users needs no criteria. */
function checkedPlan(input: Input): Plan {
  const config = { ...recordOf(input.config), criteria: { [PLACEHOLDER]: 1 } };
  return { ...planOf(input), ...(isForUsers(input) ? { config } : {}) };
}

function isForUsers(input: Input): boolean {
  const config = recordOf(input.config);
  return Object.keys(criteriaIn(config)).length === 0 && Object.keys(simulatorOf(config)).length > 0;
}

/** Takes every name in the criteria that is none of the engine's metrics for a custom metric. */
function registryOf({ config }: Input): MetricRegistry {
  const names =
    config === undefined ? [] : Object.keys(criteriaIn(recordOf(config))).filter((name) => !isPrebuilt(name));
  return {
    customMetricNames: () => names,
    getEvaluator: notAsked,
  };
}

function notAsked(): never {
  throw new Error("nothing is scored");
}

interface Work {
  inputs: readonly Input[];
  outputs: readonly (string | undefined)[];
  runs: AgentRuns;
  stop: Interruption;
  spent: Spending;
  journal: Journaling | undefined;
}

/** How many runs failed, and what could not be written where it should be. */
async function recordAll({
  inputs,
  outputs,
  runs,
  stop,
  spent,
  journal,
}: Work): Promise<{ failed: number; unwritten: Mistake[] }> {
  await journal?.open(inputs, runs.numRuns);
  stop.listen();
  const unwritten: Mistake[] = [];
  const bar = new ProgressBar();
  const warnings = new Set<string>();
  let failed = 0;
  for (const [at, input] of inputs.entries()) {
    const section = await journal?.section(at, 0, (await selectedCases(input)).evalSetId);
    const { results, spending } = await runs.run(input, stop, bar, spent.left(), { journal: section });
    spent.add(spending.used);
    for (const model of spending.models) spent.models.add(model);
    for (const warning of spending.state.warnings) warnings.add(warning);
    for (const warning of results.flatMap((result) => result.warnings ?? [])) warnings.add(warning);
    const failures = results.filter(({ status }) => status === 2);
    failed += failures.length;
    const of = `${count(results.length, "run")} of ${runs.name}${failures.length > 0 ? `, ${failures.length} failed` : ""}`;
    if (results.length > 0 || !stop.isInterrupted) {
      const mistake = await write(await inferencesJson(results, runs.name), outputs[at], of);
      if (mistake !== undefined) unwritten.push(mistake);
    }
    for (const { evalCaseId, errorMessage } of failures)
      note(`failed: ${evalCaseId}: ${firstLine(errorMessage ?? "")}`);
    if (stop.isOver) break;
  }
  stop.ignore();
  for (const warning of warnings) warn(warning);
  if (!stop.isInterrupted) await journal?.end();
  return { failed, unwritten };
}

async function write(
  json: () => Iterable<string>,
  file: string | undefined,
  what: string,
): Promise<Mistake | undefined> {
  const mistake = await writeSafely(file, file === undefined ? () => inert(json()) : json, "runs.inferences.json");
  if (mistake === undefined) note(file === undefined ? what : `wrote ${file}: ${what}`);
  return mistake;
}

function* inert(pieces: Iterable<string>): Generator<string> {
  for (const piece of pieces) yield inertJson(piece);
}

/** Inference results as google-adk has them. */
async function inferencesJson(results: readonly InferenceResult[], appName: string): Promise<() => Generator<string>> {
  const { evalSetToAdkJson } = await api();
  const jsonOf = ({ inferences, evalSetId, evalCaseId, sessionId, userId, status, errorMessage }: InferenceResult) => {
    // The conversations go through the engine's writer, which knows what is whose key.
    const evalSet = { evalSetId: "runs", evalCases: [{ evalId: "run", conversation: inferences }] };
    const written = JSON.parse(evalSetToAdkJson(evalSet)) as { eval_cases: { conversation?: unknown[] }[] };
    return {
      app_name: appName,
      eval_set_id: evalSetId,
      eval_case_id: evalCaseId,
      inferences: written.eval_cases[0]?.conversation ?? [],
      session_id: sessionId,
      ...(userId === undefined ? {} : { user_id: userId }),
      status,
      ...(errorMessage === undefined ? {} : { error_message: errorMessage }),
    };
  };
  return function* pieces() {
    yield "[";
    for (const [at, result] of results.entries()) {
      const json = JSON.stringify(jsonOf(result), null, 2);
      yield `${at > 0 ? "," : ""}\n  ${json.replaceAll("\n", "\n  ")}`;
    }
    yield results.length > 0 ? "\n]\n" : "]\n";
  };
}
