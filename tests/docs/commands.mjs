// `npx` and `npm` as samples find them. `npx` runs programs that are here; `npm` looks whether what it is asked for
// exists, and does nothing: what it would do is tested elsewhere (`tests/runtimes`) or would begin again from here.

import { existsSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const [name, ...args] = process.argv.slice(2);
const root = fileURLToPath(new URL("../..", import.meta.url));

process.exitCode = { npm, npx }[name]();

function npx() {
  const [program, ...rest] = args;
  const file = program === "adk-metrics" ? process.env.SAMPLE_CLI : binOf(program);
  if (file === undefined) return fail(`npx: samples know no program "${program}"`);
  return spawnSync(process.execPath, [file, ...rest], { stdio: "inherit" }).status;
}

function binOf(program) {
  const folders = ["tests/testing", "tests/runtimes", "tests/agents", "."];
  const folder = folders.find((folder) => existsSync(`${root}/${folder}/node_modules/${program}/package.json`));
  if (folder === undefined) return undefined;
  const inside = `${root}/${folder}/node_modules/${program}`;
  const { bin } = JSON.parse(readFileSync(`${inside}/package.json`, "utf8"));
  return `${inside}/${typeof bin === "string" ? bin : bin[program]}`;
}

function npm() {
  const [command, ...rest] = args;
  const names = rest.filter((word) => !word.startsWith("-"));
  if (command === "ci" || command === "install" || command === "uninstall") return 0;
  const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
  const script = command === "run" ? names[0] : command;
  return script in scripts ? 0 : fail(`npm: there is no script "${script}"`);
}

function fail(message) {
  console.error(message);
  return 127;
}
