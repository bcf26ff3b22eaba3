/** `queue`: a fleet of workers evaluates. */

import { setTimeout as sleep } from "node:timers/promises";
import { closest } from "../closest.js";
import { openQueue, publicAddress } from "../queue/connect.js";
import { gathered } from "../queue/collect.js";
import { add } from "../queue/enqueue.js";
import type { StoredPlan } from "../queue/plan.js";
import { statusOf } from "../queue/status.js";
import type { QueueConnection, QueueStatus } from "../queue/types.js";
import { type Purse, spentText } from "../queue/purse.js";
import { workWith } from "../queue/work.js";
import { definedProperties } from "../lists.js";
import { amountText, count } from "../report/text.js";
import type { Dialect, EarlyStop } from "../types.js";
import { AgentRuns } from "./agent-runs.js";
import { api } from "./api.js";
import { type Arguments, countOf, oneOf, parseArguments } from "./arguments.js";
import { budgetFor, budgetOf } from "./budget.js";
import { actualFiles } from "./files.js";
import { isLineFile } from "./line-files.js";
import { insteadOfActual } from "./find.js";
import { type Input, mayAskJudges, mayHaveUsers, readInputs, selectionsOf } from "./inputs.js";
import { Journaling } from "./journal.js";
import { judgeChoiceOf } from "./judge.js";
import { Judging } from "./judging.js";
import { argumentsOf } from "./merge.js";
import { Mistake } from "./mistakes.js";
import { FOR_ALL, optionsOf, SUBCOMMANDS } from "./options.js";
import { endProcess, ExitStatus, note, screenOptions } from "./process.js";
import { earlyStopOf, METRIC_TIMEOUT_MS } from "./scoring.js";
import { registriesOf } from "./source.js";

/** Which options each command takes, besides those for all. */
const TAKES: Readonly<Record<string, readonly string[]>> = SUBCOMMANDS.queue ?? {};
const WATCH_MS = 1_000;

/** Runs `queue add`, `queue work`, `queue status` and `queue collect`. */
export async function queueCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("queue"));
  const [word = "", ...rest] = given.positionals;
  const words = Object.keys(TAKES);
  if (!words.includes(word)) {
    const meant = closest(word, words);
    throw new Mistake(word === "" ? "queue needs a subcommand" : `unknown command \`queue ${word}\``, {
      help:
        meant === undefined ? `The commands are queue ${words.join(", queue ")}` : `Did you mean \`queue ${meant}\`?`,
    });
  }
  const useless = [...given.options.keys()].find((name) => ![...FOR_ALL, ...(TAKES[word] ?? [])].includes(name));
  if (useless !== undefined) {
    const others = words.filter((one) => TAKES[one]?.includes(useless));
    throw new Mistake(`--${useless} has no effect on queue ${word}`, {
      help: `It is an option of queue ${others.join(", ")}`,
    });
  }
  if (word !== "add" && rest.length > 0) {
    throw new Mistake(`queue ${word} takes no evalset: the queue already has them`, { help: `Leave out ${rest[0]}` });
  }
  const connection = connectionOf(given);
  // Judges of the command line come before those of the package.
  if (word !== "work") await api();
  switch (word) {
    case "add":
      return await addTo(connection, { ...given, positionals: rest });
    case "work":
      return await workOn(connection, given);
    case "status":
      return await sayStatus(connection, given.has("watch"));
    default:
      return await collectFrom(connection, given);
  }
}

/** @throws {Mistake} if no queue is named. */
function connectionOf(given: Arguments): QueueConnection {
  const url = given.one("queue") ?? process.env.ADK_METRICS_QUEUE ?? "";
  const name = given.one("name");
  if (url !== "") return { url, ...definedProperties({ name }) };
  throw new Mistake("no queue specified", {
    help: "Add --queue redis://localhost:6379 (or postgres://…), or set ADK_METRICS_QUEUE in the environment",
  });
}

async function addTo(connection: QueueConnection, given: Arguments): Promise<ExitStatus> {
  const sets = selectionsOf(given, "queue add travel.evalset.json --queue redis://localhost:6379");
  const names = sets.map(({ file }) => file);
  const actual = given.has("actual")
    ? actualFiles(given.all("actual"), names, (file) => insteadOfActual(file, given.positionals))
    : undefined;
  const lines = [...names, ...(actual ?? [])].find(isLineFile);
  if (lines !== undefined) {
    throw new Mistake("a queue reads evalsets and what the agent did as JSON, not as JSON lines", {
      location: lines,
      help: 'Put the lines into one JSON file: {"eval_set_id": …, "eval_cases": […]}',
    });
  }
  const inputs = await readInputs(sets, actual, given.one("config"));
  const [runs, dialect, limit] = [given.one("num-runs"), given.one("dialect"), given.one("limit")];
  const [attempts, earlyStop] = [given.one("attempts"), given.one("early-stop")];
  const priorities = given.all("priority").map((text) => countOf("priority", text));
  if (priorities.length > 1 && priorities.length !== inputs.length) {
    throw new Mistake(`${count(inputs.length, "evalset")} but ${priorities.length} --priority`, {
      help: "Specify one for each evalset, in the same order",
    });
  }
  const evalSets = inputs.map(
    ({ files: { firstCase: _first, lines: _lines, ...files }, selection: { evalIds } }, at) => ({
      ...files,
      ...definedProperties({
        evalIds,
        numRuns: runs === undefined ? undefined : countOf("num-runs", runs),
        dialect: dialect === undefined ? undefined : oneOf<Dialect>("dialect", dialect, ["adk-python", "adk-ts"]),
        earlyStop: earlyStop === undefined ? undefined : queuedEarlyStop(earlyStop),
        advisory: given.has("advisory") ? given.all("advisory") : undefined,
        priority: priorities[at],
      }),
    }),
  );
  const isAsked = inputs.some(mayAskJudges) || (actual === undefined && inputs.some(mayHaveUsers));
  const budget = budgetFor(isAsked, budgetOf(given));
  const options = Object.fromEntries([...given.options].filter(([name]) => TAKES.add?.includes(name)));
  const command: StoredPlan["command"] = {
    positionals: sets.map(({ file, evalIds }) => (evalIds === undefined ? file : `${file}:${evalIds.join(",")}`)),
    options: { ...options, ...definedProperties({ actual }) },
  };
  const plan = {
    evalSets,
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
    ...definedProperties({
      limit: limit === undefined ? undefined : limitOf(limit),
      attempts: attempts === undefined ? undefined : countOf("attempts", attempts),
    }),
  };
  const { added, total, retried } = await add(plan, connection, command);
  const known = total - added;
  const parts = [
    `${count(added, "run")} of cases added`,
    ...(known > 0 ? [`${amountText(known)} already in the queue`] : []),
    ...(retried > 0 ? [`${amountText(retried)} failed ones to try again`] : []),
  ];
  note(parts.join(", "));
  return ExitStatus.Passed;
}

/** @throws {Mistake} for a risk. */
function queuedEarlyStop(text: string): EarlyStop {
  const when = earlyStopOf(text);
  if (typeof when !== "object") return when;
  throw new Mistake(
    "--early-stop with a risk cannot be used with queue add: a job scores one run of a case, to which no risk can be fitted",
    {
      help: "Leave out --early-stop, or call `enqueue` with the prior of an earlier run: earlyStop: { risk, prior }",
    },
  );
}

/** `600/60`: a number of runs of cases in a number of seconds. */
function limitOf(text: string): { jobs: number; seconds: number } {
  const [, jobs, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  if (jobs !== undefined) return { jobs: Number(jobs), seconds: Number(seconds) };
  throw new Mistake(`--limit cannot be \`${text}\``, {
    help: "Expected a number of runs per number of seconds: 600/60",
  });
}

async function workOn(connection: QueueConnection, given: Arguments): Promise<ExitStatus> {
  const runs = given.has("agent") ? new AgentRuns(given, "queue work") : undefined;
  const judging = new Judging(judgeChoiceOf(given), () => {});
  const [concurrency, lease] = [given.one("concurrency"), given.one("lease")];
  const modules = given.all("metrics");
  await judging.load();
  await api();
  await runs?.load();
  const stop = new AbortController();
  let status = ExitStatus.Passed;
  const onSignal = (signal: NodeJS.Signals): void => {
    status = signal === "SIGINT" ? ExitStatus.Interrupted : ExitStatus.Terminated;
    // Jobs in progress go to another worker when its lease is over.
    if (stop.signal.aborted) endProcess(status);
    note("finishing the runs in progress; another signal leaves them to other workers");
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  const { done, failed, ended } = await workWith(connection, {
    subject: runs?.subject,
    optionsFor(purse: Purse) {
      judging.gatherer = { isGathering: false, judgeOf: (judge) => purse.judge(judge) };
      const { vertex } = judging.options();
      return {
        ...definedProperties({ vertex: vertex && purse.vertex(vertex), turnTimeoutMs: runs?.turnTimeoutMs }),
        ...(modules.length > 0 ? { timeoutMs: METRIC_TIMEOUT_MS } : {}),
      };
    },
    registryOf: async ({ stored, evalSet, config }) => {
      const files = { evalSet: stored.evalSet, ...definedProperties({ config: stored.config }) };
      const input: Input = { selection: { file: stored.evalSet }, files, evalSet, ...definedProperties({ config }) };
      return (await registriesOf([input], modules))[0] as Awaited<ReturnType<typeof registriesOf>>[number];
    },
    signal: stop.signal,
    onNotice: note,
    wait: given.has("wait"),
    ...(concurrency === undefined ? {} : { concurrency: countOf("concurrency", concurrency) }),
    ...(lease === undefined ? {} : { leaseMs: 1000 * countOf("lease", lease) }),
  });
  const lost = failed === 0 ? "" : `, ${count(failed, "attempt")} failed`;
  note(`${count(done, "run")} of cases done${lost}${ended === "budget" ? "; the budget is spent" : ""}`);
  return ended === "signal" ? status : ExitStatus.Passed;
}

async function sayStatus(connection: QueueConnection, watches: boolean): Promise<ExitStatus> {
  const open = await openQueue(connection, note);
  try {
    let shown = "";
    let first: { at: number; settled: number } | undefined;
    for (;;) {
      const now = await statusOf(open);
      const settled = now.done + now.failed;
      first ??= { at: Date.now(), settled };
      const speed = (1000 * (settled - first.settled)) / Math.max(1, Date.now() - first.at);
      const text = statusText(now, publicAddress(connection.url), speed);
      const { isTTY } = process.stdout;
      if (text !== shown) {
        const lines = shown.split("\n").length - 1;
        process.stdout.write(isTTY && shown !== "" ? `\u001b[${lines}A\u001b[J${text}` : text);
      }
      shown = text;
      if (!watches || now.isStopped || (now.total > 0 && settled === now.total)) return ExitStatus.Passed;
      await sleep(WATCH_MS);
    }
  } finally {
    await open.close();
  }
}

function statusText(now: QueueStatus, address: string, speed: number): string {
  const { name, total, done, failed, active, waiting, delayed, workers, spent, budget } = now;
  const settled = done + failed;
  const width = Math.min(40, Math.max(10, screenOptions(true).width - 40));
  const full = total === 0 ? 0 : Math.floor((width * settled) / total);
  const left = speed > 0 && settled < total ? `, ${amountText(Math.ceil((total - settled) / speed))} s left` : "";
  const amounts = (["calls", "tokens", "cost"] as const)
    .filter((kind) => spent[kind] > 0 || budget[kind] !== undefined)
    .map((kind) => {
      const most = budget[kind] === undefined ? "" : ` of ${amountText(budget[kind], 4)}`;
      return `${amountText(spent[kind], 4)}${most} ${kind}`;
    });
  const pace = amountText(speed, 1);
  const rows = [
    ["queue", `${name} at ${address}`],
    ["runs", `${"█".repeat(full)}${"░".repeat(width - full)} ${amountText(settled)}/${amountText(total)}`],
    [
      "",
      `${amountText(done)} done, ${amountText(failed)} failed, ${amountText(active)} in progress, ${amountText(waiting)} waiting, ${amountText(delayed)} delayed`,
    ],
    [
      "workers",
      `${amountText(workers)}${speed > 0 ? `, ${pace} ${pace === "1" ? "run" : "runs"} a second${left}` : ""}`,
    ],
    ["spent", amounts.length === 0 ? "nothing" : amounts.join(", ")],
    ...(now.isStopped
      ? [["stopped", `${spentText(spent, budget) ?? "paused"}: to continue, run queue add with a larger budget`]]
      : []),
  ];
  return rows.map(([title = "", text = ""]) => `${title.padEnd(9)}${text}\n`).join("");
}

async function collectFrom(connection: QueueConnection, given: Arguments): Promise<ExitStatus> {
  const open = await openQueue(connection, note);
  try {
    const { plan, parts } = await gathered(open, given.has("partial"));
    if (plan.command === undefined) {
      throw new Mistake("the evaluation was added by a program, not by queue add", {
        help: "Collect it in code: `collect` of adk-metrics/queue",
      });
    }
    const { positionals } = plan.command;
    // Whoever writes to the database says what is scored, and no more.
    const options = Object.fromEntries(
      Object.entries(plan.command.options).filter(
        ([name, values]) => TAKES.add?.includes(name) && Array.isArray(values),
      ),
    );
    const entries = parts.flatMap((part) => part.entries);
    const journal = Journaling.merged([], entries, (at, evalId, run) => parts[at]?.whyMissing(evalId, run));
    const all = argumentsOf(positionals, options, given);
    note(`collecting ${positionals.join(" ")}`);
    const isScored = parts.some(({ input }) => input.actual !== undefined);
    const status = isScored
      ? await (await import("./eval.js")).evalWith(all, journal)
      : await (await import("./run.js")).runWith(all, journal);
    if (given.has("clear")) {
      await open.queue.obliterate({ force: true });
      await open.store.clear();
    }
    return status;
  } finally {
    await open.close();
  }
}
