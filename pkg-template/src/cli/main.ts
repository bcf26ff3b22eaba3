#!/usr/bin/env node
// The command line: finds the command, runs it, and turns whatever goes wrong into words and an exit status.

import { parseArguments } from "./arguments.js";
import { closest } from "./closest.js";
import { Mistake, report } from "./mistakes.js";
import { ExitStatus, forgiveClosedPipes, write } from "./process.js";
import { COMMANDS, EVAL_HELP, HELP, MIGRATE_HELP, versionText } from "./help.js";

const HELPS: Readonly<Record<string, string>> = { eval: EVAL_HELP, migrate: MIGRATE_HELP };

async function run([name, ...rest]: readonly string[]): Promise<ExitStatus> {
  switch (name) {
    case "eval":
    case "migrate":
      if (rest.includes("--help") || rest.includes("-h")) return await say(HELPS[name] as string);
      return name === "eval"
        ? await (await import("./eval.js")).evalCommand(rest)
        : await (await import("./migrate.js")).migrateCommand(rest);
    case "--help":
    case "-h":
    case "help":
      return await say(HELPS[rest[0] ?? ""] ?? HELP);
    case "--version":
    case "-V":
      return await say(await versionText());
    case undefined:
      process.stderr.write(HELP);
      return ExitStatus.Unusable;
    default:
      throw unknownCommand(name);
  }
}

async function say(text: string): Promise<ExitStatus> {
  await write(process.stdout, text);
  return ExitStatus.Passed;
}

function unknownCommand(name: string): Mistake {
  if (name.startsWith("-")) {
    // Options come after the command; the arguments reader has the words for those that do not exist.
    parseArguments([name], { help: { type: "boolean" }, version: { type: "boolean" } });
  }
  if (name === "compare") {
    return new Mistake("`compare` is not in this version", { help: `The commands are ${COMMANDS.join(" and ")}` });
  }
  const close = closest(name, COMMANDS);
  return new Mistake(`there is no command \`${name}\``, {
    help: close === undefined ? `The commands are ${COMMANDS.join(" and ")}; see adk-metrics --help` : `Did you mean \`${close}\`?`,
  });
}

forgiveClosedPipes();
try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = report(error);
}
