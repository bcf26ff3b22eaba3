#!/usr/bin/env node
// The command line: finds the command, runs it, and turns whatever goes wrong into words and an exit status.

import { closest } from "../closest.js";
import { type Command, COMMANDS, HELP, HELPS, versionText } from "./help.js";
import { Mistake, report } from "./mistakes.js";
import { endUserCode, ExitStatus, surviveBrokenStreams } from "./process.js";
import { writeOut } from "./write.js";

async function run([name, ...rest]: readonly string[]): Promise<ExitStatus> {
  switch (name) {
    case "eval":
    case "run":
    case "record":
    case "batch":
    case "merge":
    case "queue":
    case "compare":
    case "calibrate":
    case "labels":
    case "migrate":
    case "playground":
    case "completion":
      if (rest.includes("--help") || rest.includes("-h")) return await say(HELPS[name]);
      return await commandOf(name, rest);
    case "--help":
    case "-h":
    case "help":
      return await say(isCommand(rest[0]) ? HELPS[rest[0]] : HELP);
    case "--version":
    case "-v":
    case "-V":
      return await say(await versionText());
    case undefined:
      process.stderr.write(HELP);
      return ExitStatus.Unusable;
    default:
      throw unknownCommand(name);
  }
}

/** Each command is loaded when it is asked for. */
async function commandOf(name: Command, args: readonly string[]): Promise<ExitStatus> {
  switch (name) {
    case "eval":
      return await (await import("./eval.js")).evalCommand(args);
    case "run":
      return await (await import("./run.js")).runCommand(args);
    case "record":
      return await (await import("./record.js")).recordCommand(args);
    case "batch":
      return await (await import("./batch.js")).batchCommand(args);
    case "merge":
      return await (await import("./merge.js")).mergeCommand(args);
    case "queue":
      return await (await import("./queue.js")).queueCommand(args);
    case "compare":
      return await (await import("./compare.js")).compareCommand(args);
    case "calibrate":
      return await (await import("./calibrate.js")).calibrateCommand(args);
    case "labels":
      return await (await import("./labels.js")).labelsCommand(args);
    case "migrate":
      return await (await import("./migrate.js")).migrateCommand(args);
    case "playground":
      return await (await import("./playground.js")).playgroundCommand(args);
    case "completion":
      return await (await import("./completion.js")).completionCommand(args);
  }
}

function isCommand(name: string | undefined): name is Command {
  return COMMANDS.some((command) => command === name);
}

async function say(text: string): Promise<ExitStatus> {
  await writeOut(text);
  return ExitStatus.Passed;
}

function unknownCommand(name: string): Mistake {
  if (name.startsWith("-")) {
    const close = closest(name, ["--help", "--version"]);
    return new Mistake(`${name} is not a command`, {
      help: close === undefined ? "Options come after the command: adk-metrics eval …" : `Did you mean ${close}?`,
    });
  }
  const close = closest(name, COMMANDS);
  return new Mistake(`unknown command \`${name}\``, {
    help:
      close === undefined
        ? `The commands are ${COMMANDS.join(", ")}; see adk-metrics --help`
        : `Did you mean \`${close}\`?`,
  });
}

surviveBrokenStreams();
try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = report(error);
}
await endUserCode(process.exitCode);
