/**
 * `--watch`: runs the command again whenever a file that it reads changes, comes or goes, each time in a process of its
 * own.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { agentModuleOf, moduleOf } from "./agent.js";
import type { Arguments } from "./arguments.js";
import { actualFiles, configBeside } from "./files.js";
import { agentToRun, insteadOfActual } from "./find.js";
import { selectionsOf } from "./inputs.js";
import { judgeChoiceOf } from "./judge.js";
import { Mistake } from "./mistakes.js";
import { type ExitStatus, note } from "./process.js";

/** How often files are looked at; a change counts when the next look finds no further one. */
const EVERY_MS = 250;
/** At every how many looks folders and patterns are searched for files that came. */
const SEARCH_EVERY = 4;

/** Runs a command until a signal ends it; the exit status is that of the last run. */
export async function watch(given: Arguments, args: readonly string[], command: "eval" | "run"): Promise<ExitStatus> {
  if (given.has("record")) {
    throw new Mistake("--record and --watch cannot be used together: a recording is never overwritten", {
      help: "Record one run without --watch, then watch with --judge replay:<file>",
    });
  }
  if (given.has("open")) {
    throw new Mistake("--open and --watch cannot be used together", {
      help: "Watch with --output results/run.jsonl, and show that with: adk-metrics playground results/ --open",
    });
  }
  let files = filesOf(given, command);
  const search = () => {
    try {
      files = filesOf(given, command);
    } catch {
      // Something is gone for now; the run says so.
    }
  };
  let child: ChildProcess | undefined;
  let wake = () => {};
  let isOver = false;
  const end = (signal: NodeJS.Signals) => {
    isOver = true;
    // Ctrl-C in a terminal reaches the child by itself.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child?.kill(signal);
    wake();
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  const rest = args.filter((argument) => argument !== "--watch");
  for (;;) {
    const before = stateOf(files);
    child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", command, ...rest], {
      stdio: "inherit",
    });
    const status = await exitOf(child);
    child = undefined;
    search();
    if (!isOver) {
      const names = files.map((file) => relative(process.cwd(), file)).join(", ");
      note(`exit status ${status}; watching ${names}; press Ctrl-C to stop`);
    }
    let last = before;
    for (let look = 1; !isOver; look++) {
      await new Promise<void>((done) => {
        wake = done;
        setTimeout(done, EVERY_MS);
      });
      if (look % SEARCH_EVERY === 0) search();
      const now = stateOf(files);
      if (now !== before && now === last) break;
      last = now;
    }
    if (isOver) return status;
    note("files changed: running again");
  }
}

function exitOf(child: ChildProcess): Promise<ExitStatus> {
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("exit", (status, signal) => done(status ?? (signal === "SIGTERM" ? 143 : 130)));
  });
}

/** The files that the command reads. */
function filesOf(given: Arguments, command: "eval" | "run"): string[] {
  const selections = selectionsOf(given, command);
  const evalSets = selections.map(({ file }) => file);
  const config = given.one("config");
  const agent = given.one("agent") ?? agentToRun(given.positionals);
  const { module, replay } = judgeChoiceOf(given);
  const files = [
    ...evalSets,
    ...(config === undefined ? evalSets.flatMap((file) => configBeside(file) ?? []) : [config]),
    ...(command === "eval"
      ? actualFiles(given.all("actual"), evalSets, (file) => insteadOfActual(file, given.positionals))
      : []),
    ...(command === "run" && agent !== undefined ? [agentModuleOf(agent).file] : []),
    ...given.all("metrics").map((file) => moduleOf(file).file),
    ...(module === undefined ? [] : [module.file]),
    ...[replay, given.one("session")].flatMap((file) => file ?? []),
  ];
  return [...new Set(files.map((file) => resolve(file)))];
}

/** What tells whether a file changed, came or went. */
function stateOf(files: readonly string[]): string {
  const states = files.map((file) => {
    try {
      const { mtimeMs, size, ino } = statSync(file);
      return `${file} ${mtimeMs} ${size} ${ino}`;
    } catch (error) {
      // Gone, a link to itself, or in a folder that may not be read: the run says so.
      return `${file} ${(error as NodeJS.ErrnoException).code ?? ""}`;
    }
  });
  return states.join("\n");
}
