// `npm test`: sets up, builds once, runs every suite. A suite that fails does not keep the others from running. With
// CI=true nothing may be missing; otherwise suites that need something that is not here are left out and named.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { build } from "./build.mjs";
import { fail, root, step } from "./setup.mjs";
import { buildSite } from "./site.mjs";

const inCi = process.env.CI === "true";
/** Whether suites run that take minutes. */
const isWhole = inCi || process.argv.includes("--all");
const environment = { ...process.env };
const leftOut = [];
const failed = [];

/** Suites that need packages of their own, by the folder of each. */
const OWN_PACKAGES = {
  "tests/adk-ts": "parity with the installed @iqai/adk",
  "tests/providers": "requests of the providers' own SDKs",
  "tests/agents": "agents of @iqai/adk and @google/adk",
  "tests/docs": "the API reference",
  "tests/interop": "OpenTelemetry's SDK, autoevals, openevals and Mastra",
  "tests/testing": "matchers in Vitest and Jest",
  "tests/runtimes": "every runtime and bundler",
};
if (inCi) {
  // Packages are fetched while everything is built.
  const folders = Object.keys(OWN_PACKAGES).map((folder) => join(root, folder));
  const installing = spawn(process.execPath, [join(root, "scripts/install.mjs"), ...folders], { stdio: "inherit" });
  const installed = new Promise((resolve) => installing.on("close", resolve));
  // The demo builds as well.
  await import("./demo.mjs");
  buildSite();
  if ((await installed) !== 0) fail("the packages of the suites cannot be installed");
  check("formatting, lints and types", process.execPath, ["scripts/lint.mjs"]);
  check("the budgets of sizes", process.execPath, ["scripts/size.mjs"]);
} else {
  await build();
  buildSite();
}

const isInstalled = (folder) => existsSync(join(root, folder, "node_modules"));
/** Whether the suites of a folder can run: its packages are installed, or it has none of its own. */
const canRun = (folder) => !(folder in OWN_PACKAGES) || isInstalled(folder);

// An empty CHROMIUM stands for none.
environment.CHROMIUM ??= onPath(["chromium", "chromium-browser", "google-chrome"]) ?? "";
if (environment.CHROMIUM === "") leave("browser", "Chromium is not installed (or set CHROMIUM to its path)");
for (const [folder, name] of Object.entries(OWN_PACKAGES)) {
  if (!isInstalled(folder)) leave(name, `run \`npm ci\` in ${folder}`);
}
if (environment.ADK_PYTHON === undefined) {
  leave(
    "google-adk reads what we write",
    "set ADK_PYTHON to a Python with `pip install -r tests/parity/requirements.txt`",
  );
}

const folders = ["tests/package", "tests/judges", "tests/agents"].filter(canRun);
const apart = ["tests/report", "tests/cli", "tests/types", "tests/providers", "tests/interop", "tests/testing"];
const pages = ["tests/browser", "tests/docs"];
if (isWhole) {
  pages.push("tests/www");
  environment.ALL_SUITES = "true";
} else {
  leave("the screens of the playground", "they take minutes: npm test -- --all");
  leave("the changes that HACKING.md lists, made in a copy", "they compile the crate again: npm test -- --all");
}
// A workflow of their own runs them, weekly and for releases.
const frameworks = "apps of Next.js, Nuxt, SvelteKit and others: they install a gigabyte: npm run test:frameworks";
if (inCi) step(`leaving out ${frameworks}`);
else leftOut.push(frameworks);

check("the crate", "cargo", ["test", "--locked", "--workspace", "--exclude", "xtask", "--quiet", "--no-fail-fast"]);
if (isInstalled("tests/runtimes")) {
  checkWithNode("the package in every runtime and by every bundler", testsOf("tests/runtimes"), 2);
}
checkWithNode("pages and the documentation", pages.flatMap(testsOf));
checkWithNode("the command line, reports and what the package meets", apart.filter(canRun).flatMap(testsOf), 2);
checkWithNode("the package", folders.flatMap(testsOf));

if (leftOut.length > 0) console.error(`\nLeft out:\n${leftOut.map((line) => `  – ${line}\n`).join("")}`);
if (failed.length > 0) fail(`failed: ${failed.join("; ")}`, "What failed is said above, where it ran.");

/** Runs a group of tests, and notes its name if it fails. */
function check(name, command, args) {
  step(`testing ${name}`);
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", env: environment });
  if (error !== undefined) console.error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) failed.push(name);
}

/** Most suites are run one file at a time, since they hold what is done while something else waits. */
function checkWithNode(name, files, atOnce = 1) {
  const options = ["--import", "tsx", "--test", "--test-reporter=spec", `--test-concurrency=${atOnce}`];
  check(name, process.execPath, [...options, ...files]);
}

function testsOf(folder) {
  return readdirSync(join(root, folder))
    .filter((file) => /\.test\.(mjs|ts)$/.test(file))
    .map((file) => join(folder, file));
}

/** The full path of the first of these programs that is there. */
function onPath(names) {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** Notes a suite that cannot run here; its tests skip themselves. In CI nothing may be missing. */
function leave(name, missing) {
  if (inCi) fail(`the suite "${name}" cannot run: ${missing}`);
  leftOut.push(`${name}: ${missing}`);
}
