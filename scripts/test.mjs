// `npm test`: sets up, builds once, runs every suite. With CI=true nothing may be missing; otherwise suites that need
// something that is not here are left out and named.

import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { build } from "./build.mjs";
import { fail, installPackages, root, run, step } from "./setup.mjs";
import { buildSite } from "./site.mjs";

const inCi = process.env.CI === "true";
/** Whether suites run that take minutes. */
const isWhole = inCi || process.argv.includes("--all");
const environment = { ...process.env };
const leftOut = [];

if (inCi) {
  // The demo builds as well.
  await import("./demo.mjs");
  buildSite();
  await import("./lint.mjs");
  await import("./size.mjs");
} else {
  await build();
  buildSite();
}

const chromium = process.env.CHROMIUM ?? onPath(["chromium", "chromium-browser", "google-chrome"]);
if (chromium !== undefined) environment.CHROMIUM = chromium;

step("testing the crate");
run("cargo", ["test", "--workspace", "--exclude", "xtask", "--quiet"]);

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
if (inCi) for (const folder of Object.keys(OWN_PACKAGES)) installPackages(join(root, folder));
const isInstalled = (folder) => existsSync(join(root, folder, "node_modules"));

if (environment.CHROMIUM === undefined) leave("browser", "Chromium is not installed (or set CHROMIUM to its path)");
for (const [folder, name] of Object.entries(OWN_PACKAGES)) {
  if (!isInstalled(folder)) leave(name, `run \`npm ci\` in ${folder}`);
}
if (environment.ADK_PYTHON === undefined) {
  leave(
    "google-adk reads what we write",
    "set ADK_PYTHON to a Python with `pip install -r tests/parity/requirements.txt`",
  );
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

const folders = [
  "tests/report",
  "tests/package",
  "tests/cli",
  "tests/types",
  "tests/docs",
  "tests/judges",
  "tests/browser",
];
if (isWhole) folders.push("tests/www");
else leave("the screens of the playground", "they take minutes: npm test -- --all");
folders.push(...["tests/providers", "tests/agents", "tests/interop", "tests/testing"].filter(isInstalled));
const testsOf = (folder) =>
  readdirSync(join(root, folder))
    .filter((file) => /\.test\.(mjs|ts)$/.test(file))
    .map((file) => join(folder, file));

if (leftOut.length > 0) {
  console.error("\nLeft out:");
  for (const line of leftOut) console.error(`  – ${line}`);
  console.error("");
}
const test = (files) =>
  run(process.execPath, ["--import", "tsx", "--test", "--test-reporter=spec", ...files], { env: environment });
step("testing the package");
test(folders.flatMap(testsOf));
if (isInstalled("tests/runtimes")) {
  step("testing the package in every runtime and by every bundler");
  test(testsOf("tests/runtimes"));
}
