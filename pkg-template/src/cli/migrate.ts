/** `migrate`: any form of evalset in today's ADK schema. */

import { evalSetWarnings } from "../adk-schema.js";
import { strictErrorOf } from "../errors.js";
import { inertJson } from "../report/text.js";
import { parseArguments } from "./arguments.js";
import { optionsOf } from "./options.js";
import { api } from "./api.js";
import { baseName, readBytes } from "./files.js";
import { inFile, Mistake, Mistakes } from "./mistakes.js";
import { ExitStatus, note, warn } from "./process.js";
import { prepareNewFile, writeFile, writeOut } from "./write.js";

/** Runs `migrate`. */
export async function migrateCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("migrate"));
  const [file, ...others] = given.positionals;
  if (file === undefined) throw new Mistake("no evalset specified", { help: "adk-metrics migrate old.test.json" });
  if (others.length > 0) {
    throw new Mistake("migrate takes one file at a time", { help: `Left over: ${others.join(" ")}` });
  }
  const bytes = readBytes(file, "evalset");
  const output = given.one("output");
  if (output !== undefined && output !== "-") {
    prepareNewFile(output, given.has("force"));
  }
  const { evalSetToAdkJson } = await api();
  let json: string;
  try {
    json = evalSetToAdkJson(bytes, baseName(file));
    const warnings = evalSetWarnings(bytes, baseName(file));
    if (given.has("strict") && warnings.length > 0) {
      throw new Mistakes(warnings.map((warning) => inFile(strictErrorOf([warning]), file)));
    }
    for (const warning of warnings) {
      const { location: place, help } = inFile(strictErrorOf([warning]), file) as Mistake;
      warn(warning.message, place, help);
    }
  } catch (error) {
    throw inFile(error, file);
  }
  if (output === undefined || output === "-") {
    await writeOut(inertJson(json));
  } else {
    await writeFile(output, json);
    note(`wrote ${output}`);
  }
  return ExitStatus.Passed;
}
