// Makes sure that everything a task needs is there, installs what can be installed, and says what to do about the rest.
// It uses nothing but Node, since it runs before anything is installed.

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
const WASM_TARGET = "wasm32-unknown-unknown";

/** Says what is being done. */
export function step(text) {
  console.error(`• ${text}`);
}

/** Ends the process: what failed, and what to do. */
export function fail(problem, advice) {
  console.error(`\n✗ ${problem}`);
  if (advice !== undefined) console.error(`  ${advice}`);
  process.exit(1);
}

/** Runs a command in the repository, showing what it prints; ends the process if it fails. */
export function run(command, args, { advice, ...options } = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (error !== undefined) fail(`${command} cannot be run: ${error.message}`, advice);
  if (status !== 0) fail(`${[command, ...args].join(" ")} failed with exit status ${status}`, advice);
}

/** Whether a command can be run. */
export function has(command, args = ["--version"]) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "ignore" });
  return error === undefined && status === 0;
}

/** A program that an npm package of the repository brings. */
export function bin(name) {
  return join(root, "node_modules/.bin", name);
}

/** Today's TypeScript: of the name `tsc` there are two, since the oldest version that is supported is installed beside it. */
export const tsc = join(root, "node_modules/typescript/bin/tsc");

/** Checks Node and Rust, adds the WebAssembly target, installs the npm packages. */
export function setup() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Node 20.19 or newer is needed; this is ${process.version}`, "https://nodejs.org");
  }
  if (!has("cargo")) fail("Rust is needed: cargo is not found", "Install it with rustup: https://rustup.rs");
  if (has("rustup")) {
    const installed = execFileSync("rustup", ["target", "list", "--installed"], { cwd: root, encoding: "utf8" });
    if (!installed.split("\n").includes(WASM_TARGET)) {
      step(`adding the Rust target ${WASM_TARGET}`);
      run("rustup", ["target", "add", WASM_TARGET], { advice: "Is there a connection to static.rust-lang.org?" });
    }
  }
  installPackages(root);
}

/** `npm ci`, unless the packages are those of the lock file already. */
export function installPackages(folder) {
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  const stamp = join(folder, "node_modules/.installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  step(`installing npm packages in ${folder}`);
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    shell: process.platform === "win32",
    advice: "Is there a connection to the npm registry?",
  });
  writeFileSync(stamp, lock);
}
