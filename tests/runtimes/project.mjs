// A project as a user has one: what `npm publish` would send, installed by npm.

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packageFolder } from "../package/support/package.mjs";

const exec = promisify(execFile);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The full path of a program of this folder's packages. */
export const bin = (name) => here(`node_modules/.bin/${name}`);

/**
 * Packs the package and installs it into a new project.
 *
 * @returns {Promise<{
 *   folder: string,
 *   write(files: Record<string, string>): void,
 *   run(command: string, args: string[], env?: Record<string, string>): Promise<string>,
 *   remove(): void,
 * }>} `write` makes files, `run` gives what a program prints.
 */
export async function makeProject() {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-runtimes-"));
  const npm = (...args) => exec("npm", args, { cwd: folder, shell: process.platform === "win32" });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
  const { stdout } = await npm("pack", packageFolder, "--json");
  const [{ filename }] = JSON.parse(stdout);
  await npm("install", `./${filename}`, "--offline", "--no-audit", "--no-fund");
  cpSync(here("program.mjs"), join(folder, "program.mjs"));
  cpSync(here("../browser/sample.mjs"), join(folder, "sample.mjs"));
  return {
    folder,
    write(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(join(folder, name, ".."), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
    },
    async run(command, args, env = {}) {
      const { stdout: printed } = await exec(command, args, {
        cwd: folder,
        env: { ...process.env, NO_COLOR: "1", ...env },
        maxBuffer: 2 ** 24,
      });
      return printed;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
