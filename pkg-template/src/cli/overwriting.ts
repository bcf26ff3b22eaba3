/** Which outputs are refused, because what they would overwrite is needed. */

import { resolve } from "node:path";
import type { Input } from "./inputs.js";
import { Mistake } from "./mistakes.js";
import { plainFile } from "./write.js";

const INPUT_NAMES = { evalSet: "evalset", actual: "file of what the agent did", config: "config" } as const;

/** @throws {Mistake} for an output that is an input, by whatever path: its only copy would be lost. */
export function refuseInputs(
  outputs: readonly string[],
  inputs: readonly Input[],
  others: Iterable<readonly [string, string]>,
  options: Readonly<Record<string, string>> = {},
): void {
  const names = new Map<string, string>();
  const add = (file: string | undefined, name: string) => {
    const path = file === undefined ? undefined : plainFile(file);
    if (path !== undefined) names.set(path, name);
  };
  for (const [file, name] of others) add(file, name);
  for (const { files } of inputs) {
    for (const input of ["config", "actual", "evalSet"] as const) add(files[input], INPUT_NAMES[input]);
  }
  for (const output of outputs) {
    const name = names.get(plainFile(output) ?? "");
    if (name === undefined) continue;
    throw new Mistake(`the output would overwrite the ${name}`, {
      location: output,
      help: Object.hasOwn(options, output)
        ? `Choose another file with --${options[output]}`
        : "Choose another file or folder with --output",
    });
  }
}

/** @throws {Mistake} for results in one place with a recording or journal. */
export function refuseShared(
  files: readonly string[],
  record: string | undefined,
  name: "recording" | "journal" = "recording",
): void {
  if (record === undefined || !files.some((file) => resolve(file) === resolve(record))) return;
  throw new Mistake(`the results and the ${name} would go to the same file`, {
    location: record,
    help: `Choose another file with --${name === "journal" ? name : "record"}`,
  });
}
