// The programs of npm packages that samples may run with `npx`.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const FOLDERS = ["tests/testing", "tests/runtimes", "tests/agents", "."];

/** The file of a program, or nothing if its package is not installed. */
export function fileOf(program) {
  const folder = FOLDERS.find((folder) => existsSync(`${root}/${folder}/node_modules/${program}/package.json`));
  if (folder === undefined) return undefined;
  const inside = `${root}/${folder}/node_modules/${program}`;
  const { bin } = JSON.parse(readFileSync(`${inside}/package.json`, "utf8"));
  return `${inside}/${typeof bin === "string" ? bin : bin[program]}`;
}

/** The programs that a script runs with `npx` and that are not installed. */
export function missingPrograms(script) {
  const programs = new Set(
    [...script.matchAll(/\bnpx (?<program>[\w@][\w@/.-]*)/g)].map(({ groups }) => groups.program),
  );
  programs.delete("adk-metrics");
  return [...programs].filter((program) => fileOf(program) === undefined);
}
