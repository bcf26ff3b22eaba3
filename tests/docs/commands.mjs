// `npx` and `npm` as samples find them. `npx` runs programs that are here; `npm` looks whether what it is asked for
// exists, and does nothing: what it would do is tested elsewhere (`tests/runtimes`) or would begin again from here.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fileOf } from "./programs.mjs";

const [name, ...args] = process.argv.slice(2);
const root = fileURLToPath(new URL("../..", import.meta.url));

process.exitCode = await { npm, npx }[name]();

function npx() {
  const [program, ...rest] = args;
  const file = program === "adk-metrics" ? process.env.SAMPLE_CLI : fileOf(program);
  if (file === undefined) return fail(`npx: samples know no program "${program}"`);
  if (rest[0] === "playground") return serves(file, rest);
  return spawnSync(process.execPath, [file, ...rest], { stdio: "inherit" }).status;
}

/** Runs a command that serves until it is ended: it has to say where, and is ended then. Nobody's browser opens. */
async function serves(file, rest) {
  const args = [file, ...rest.filter((word) => word !== "--open"), "--port", "0"];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const said = once(createInterface(server.stdout), "line").then(([line]) => line);
  const ended = once(server, "exit").then(([status]) => `it ended with ${status}`);
  const line = await Promise.race([said, ended]);
  server.kill();
  return /^http:\/\/localhost:\d+\/(?:#follow=[\w-]+)?$/.test(line)
    ? 0
    : fail(`npx: ${rest.join(" ")} serves nothing: ${line}`);
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
