// A folder with the package, the packages of queues, and an evaluation: where workers are started.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BARE, ended, text } from "../cli/command.mjs";
import { packageFolder } from "../package/support/package.mjs";

const modules = fileURLToPath(new URL("node_modules", import.meta.url));

/** A function of the user's message; what it does is known by that. */
export const AGENT = `
export const agent = async (message) => {
  if (message.includes("broken")) throw new Error("the agent broke down at " + message);
  return "The answer to " + message;
};
`;

/** A folder with files in which `run` runs the command line. Objects are written as JSON. */
export function projectOf(t, files, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-queue-project-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "node_modules"));
  // Not a link: what it imports is looked for above the place where it really is.
  cpSync(packageFolder, join(folder, "node_modules/adk-metrics"), { recursive: true });
  for (const name of readdirSync(modules)) {
    if (name !== ".bin") symlinkSync(join(modules, name), join(folder, "node_modules", name), "junction");
  }
  const write = (name, content) =>
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  for (const [name, content] of Object.entries({ "package.json": { type: "module" }, ...files })) write(name, content);
  const start = (args, more = {}) => {
    const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env;
    const cli = join(folder, "node_modules/adk-metrics/dist/esm/cli.js");
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: folder,
      stdio: "pipe",
      env: { ...inherited, ...BARE, ...env, ...more },
    });
    const printed = [child.stdout, child.stderr].map(text);
    const end = async () => {
      const [[status, signal], stdout, stderr] = await Promise.all([ended(child, args.join(" ")), ...printed]);
      return { status, signal, stdout, stderr };
    };
    return { child, end: end() };
  };
  return {
    folder,
    write,
    read: (name) => readFileSync(join(folder, name), "utf8"),
    start,
    run: (args, more) => start(args, more).end,
    /** An entry of the package, in this process. */
    importEntry: (file) => import(join(folder, "node_modules/adk-metrics/dist/esm", file)),
  };
}

const TIMES = ["creation_timestamp", "duration"];
const DURATIONS = "invocation_duration_v1";

/** Results of an agent's runs without what differs from run to run: times, how long things took, and sessions. */
export function timeless(json) {
  const isDuration = (value) => [value?.metric_name, value?.metricName].includes(DURATIONS);
  const without = (key, value) =>
    TIMES.includes(key) ? "T" : Array.isArray(value) ? value.filter((one) => !isDuration(one)) : value;
  return JSON.stringify(JSON.parse(json, without), null, 2)
    .replaceAll(/\d{10}\.\d+/g, "T")
    .replaceAll(/[\da-f]{32}/g, "session");
}

/** Says where two texts differ: whole results would fill the screen. */
export function assertSame(actual, expected) {
  const [mine, others] = [actual, expected].map((text) => text.split("\n"));
  const at = mine.findIndex((line, index) => line !== others[index]);
  if (at === -1 && mine.length === others.length) return;
  const around = (lines) => lines.slice(Math.max(0, at - 6), at + 2).join("\n");
  assert.fail(`line ${at + 1} of ${mine.length}: ${around(mine)}\n\nexpected: ${around(others)}`);
}
