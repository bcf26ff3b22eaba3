// Projects with the packed package and one of the test runners, and what their tests say.

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeProject } from "../runtimes/project.mjs";

const exec = promisify(execFile);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The packages that a runner of `runners/` finds: its own before those of all. */
function packagesOf(runner) {
  const found = new Map();
  for (const folder of [here("node_modules"), here(`runners/${runner}/node_modules`)]) {
    if (!existsSync(folder)) continue;
    for (const name of readdirSync(folder)) if (!name.startsWith(".")) found.set(name, join(folder, name));
  }
  return found;
}

/** How the runners are started. What they find they write in one format. */
const PROGRAMS = {
  vitest: ["vitest/vitest.mjs", "run", "--reporter=json", "--outputFile=found.json"],
  jest: ["jest/bin/jest.js", "--json", "--outputFile=found.json"],
};

/**
 * A folder with the package and the packages of a runner. Of these there are links, but the package has to be there
 * itself: it looks for the runner from where it really is.
 */
class Project {
  constructor(folder, runner, packageFolder) {
    this.folder = folder;
    const modules = join(folder, "node_modules");
    cpSync(packageFolder, join(modules, "adk-metrics"), { recursive: true });
    for (const [name, at] of packagesOf(runner)) symlinkSync(at, join(modules, name), "junction");
    this.write("package.json", { private: true, type: "module" });
  }

  /** Copies a file or a folder, named from this one. */
  add(source, target) {
    cpSync(here(source), join(this.folder, target), { recursive: true });
  }

  /** Writes a file: text, or an object as JSON. */
  write(name, content) {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true });
    writeFileSync(join(this.folder, name), typeof content === "string" ? content : JSON.stringify(content));
  }

  /** Runs a program with Node; gives its exit status and what it printed. */
  async run(args, env = {}) {
    const options = { cwd: this.folder, env: { ...process.env, CI: "true", NO_COLOR: "1", ...env } };
    return exec(process.execPath, args, options).then(
      ({ stdout, stderr }) => ({ status: 0, printed: `${stdout}${stderr}` }),
      ({ code, stdout, stderr }) => ({ status: code, printed: `${stdout}${stderr}` }),
    );
  }

  /**
   * Runs the tests.
   *
   * @returns {Promise<{ status: number, printed: string, messages: Map<string, string> }>} `messages` has the message of
   * each test by its name; of a test that passed it is empty.
   */
  async test(program, env) {
    const [script, ...args] = PROGRAMS[program];
    const { status, printed } = await this.run([join("node_modules", script), ...args], env);
    const output = join(this.folder, "found.json");
    if (!existsSync(output)) throw new Error(`${program} ended with ${status}\n${printed}`);
    const messages = new Map();
    for (const { assertionResults } of JSON.parse(readFileSync(output, "utf8")).testResults) {
      for (const { title, status: found, failureMessages } of assertionResults) {
        messages.set(title, found === "passed" ? "" : failureMessages.join("\n"));
      }
    }
    return { status, printed, messages };
  }
}

/** Packs the package; `projectWith` gives a project with it and the packages of a runner. */
export async function packed() {
  const { folder, remove } = await makeProject();
  return {
    remove,
    projectWith: (name, runner) => new Project(join(folder, name), runner, join(folder, "node_modules/adk-metrics")),
  };
}
