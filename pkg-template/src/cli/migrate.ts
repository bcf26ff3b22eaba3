/** `migrate`: any form of evalset in today's ADK schema. */

import { parseArguments } from "./arguments.js";
import { api } from "./api.js";
import { baseName, kindOf, readBytes } from "./files.js";
import { inFile, Mistake } from "./mistakes.js";
import { ExitStatus, note } from "./process.js";
import { prepareFile, writeFile, writeOut } from "./write.js";

/** Runs `migrate`. */
export async function migrateCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, {
    output: { type: "string" },
    force: { type: "boolean" },
    help: { type: "boolean" },
  });
  const [file, ...others] = given.positionals;
  if (file === undefined) throw new Mistake("no evalset is named", { help: "adk-metrics migrate old.test.json" });
  if (others.length > 0) {
    throw new Mistake("migrate takes one file at a time", { help: `Left over: ${others.join(" ")}` });
  }
  const bytes = readBytes(file, "evalset");
  const output = given.one("output");
  if (output !== undefined && output !== "-") {
    if (kindOf(output) === "file" && !given.has("force")) {
      throw new Mistake("the output is there already", { place: output, help: "Overwrite it with --force" });
    }
    prepareFile(output);
  }
  const { evalSetToAdkJson } = await api();
  let json: string;
  try {
    json = evalSetToAdkJson(bytes, baseName(file));
  } catch (error) {
    throw inFile(error, file);
  }
  if (output === undefined || output === "-") {
    await writeOut(json);
  } else {
    await writeFile(output, json);
    note(`wrote ${output}`);
  }
  return ExitStatus.Passed;
}
