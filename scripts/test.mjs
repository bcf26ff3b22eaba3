// `npm test`: sets up, builds once, runs every suite. A suite that fails does not keep the others from running. With
// CI=true nothing may be missing; otherwise suites that need something that is not here are left out and named.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { createInterface } from "node:readline";
import { build } from "./build.mjs";
import { fail, root, step } from "./setup.mjs";
import { buildSite } from "./site.mjs";

const inCi = process.env.CI === "true";
/** Whether suites run that take minutes. */
const isWhole = inCi || process.argv.includes("--all");
const environment = { ...process.env };
const leftOut = [];
/** The groups that failed, each with its tests that did. */
const failed = [];
/** Tests that failed once and passed when their file ran again. */
const unstable = [];

const CRATES = ["--workspace", "--exclude", "xtask", "--quiet"];

/** Suites that need packages of their own, by the folder of each. */
const OWN_PACKAGES = {
  "tests/adk-ts": "parity with the installed @iqai/adk",
  "tests/providers": "requests of the providers' own SDKs",
  "tests/agents": "agents of @iqai/adk and @google/adk",
  "tests/docs": "the API reference",
  "tests/models": "a real model as judge and as simulated user",
  "tests/interop": "OpenTelemetry's SDK, autoevals, openevals and Mastra",
  "tests/testing": "matchers in Vitest and Jest",
  "tests/queue": "queues on Redis and PostgreSQL",
  "tests/runtimes": "every runtime and bundler",
};
if (inCi) {
  // Packages are fetched while everything is built.
  const folders = Object.keys(OWN_PACKAGES).map((folder) => join(root, folder));
  const installing = spawn(process.execPath, [join(root, "scripts/install.mjs"), ...folders], { stdio: "inherit" });
  const installed = new Promise((resolve) => installing.on("close", resolve));
  await build(compileTests);
  // The demo asks for the same build.
  await import("./demo.mjs");
  buildSite();
  // The network is the limit meanwhile.
  if (process.env.CRATE_IS_TESTED === "true") step("testing the crate was done before, by .ci/run");
  else checkCrate();
  if ((await installed) !== 0) fail("the packages of the suites cannot be installed");
  check("formatting, lints and types", process.execPath, ["scripts/lint.mjs"]);
  check("the budgets of sizes", process.execPath, ["scripts/size.mjs"]);
} else {
  await build(compileTests);
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
const isInstalledOnDebian = existsSync("/usr/lib/postgresql");
const noDatabase = [
  ...(onPath(["redis-server"]) === undefined ? ["redis-server"] : []),
  ...(onPath(["initdb"]) === undefined && !isInstalledOnDebian ? ["postgresql"] : []),
];
if (isInstalled("tests/queue") && noDatabase.length > 0) {
  leave(OWN_PACKAGES["tests/queue"], `install ${noDatabase.join(" and ")}`);
}
const hasModel = existsSync(join(root, "tests/models/model"));
if (isInstalled("tests/models") && !hasModel) leave(OWN_PACKAGES["tests/models"], "run tests/models/fetch");
if (environment.ADK_PYTHON === undefined) {
  leave(
    "google-adk reads what we write",
    "set ADK_PYTHON to a Python with `pip install -r tests/parity/requirements.txt`",
  );
}

// Those with the longest files first.
const folders = ["tests/agents", "tests/judges", "tests/package"].filter(canRun);
const apart = [
  "tests/report",
  "tests/cli",
  "tests/types",
  "tests/providers",
  "tests/interop",
  "tests/testing",
  "tests/statistics",
  "tests/calibration",
];
const pages = ["tests/browser"];
if (isWhole) {
  pages.push("tests/www");
  // Their workers wait most of the time: they begin early, beside what does not, rather than wait alone at the end.
  apart.unshift("tests/queue", "tests/journal");
  environment.ALL_SUITES = "true";
} else {
  leave("the screens of the playground", "they take minutes: npm test -- --all");
  leave("runs that are killed, resumed, divided and queued", "they take minutes: npm test -- --all");
  leave("how often intervals contain the truth", "simulations take minutes: npm test -- --all");
  leave("the changes that HACKING.md lists, made in a copy", "they compile the crate again: npm test -- --all");
}
// A workflow of their own runs them, weekly and for releases.
const frameworks = "apps of Next.js, Nuxt, SvelteKit and others: they install a gigabyte: npm run test:frameworks";
if (inCi) step(`leaving out ${frameworks}`);
else leftOut.push(frameworks);

if (!inCi) checkCrate();
if (isInstalled("tests/runtimes")) {
  checkWithNode("the package in every runtime and by every bundler", testsOf("tests/runtimes"));
}
if (isInstalled("tests/models") && hasModel) checkWithNode("a real model", testsOf("tests/models"));
const site = isWhole && environment.CHROMIUM !== "" ? await served() : undefined;
// Browsers keep two processors busy by themselves.
checkWithNode("pages", pages.flatMap(testsOf), 2);
site?.kill();
checkWithNode(
  "the command line, the documentation and what the package meets",
  // The documentation first, whose samples take longest; what lacks its packages skips itself.
  ["tests/docs", ...apart.filter(canRun)].flatMap(testsOf),
);
checkWithNode("the package", folders.flatMap(testsOf));

if (leftOut.length > 0) console.error(`\nLeft out:\n${list(leftOut)}`);
if (unstable.length > 0) console.error(`\nFailed at first, and passed when run again:\n${list(unstable)}`);
if (failed.length > 0) {
  const groups = failed.map(({ name, tests }) => `  ${name}\n${list(tests, "    ")}`).join("");
  fail(`failed:\n${groups}`, "More is said above, where each of them ran.");
}

/** Serves the playground for all tests of its pages (tests/www/support.mjs). */
async function served() {
  const cli = join(root, "pkg/dist/esm/cli.js");
  const server = spawn(process.execPath, [cli, "playground", "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  const lines = createInterface(server.stdout);
  [environment.PLAYGROUND] = await Promise.race([once(lines, "line"), once(lines, "close")]);
  return server;
}

/** Runs a group of tests, and notes its name if it fails. */
function check(name, command, args) {
  step(`testing ${name}`);
  if (!succeeds(command, args)) failed.push({ name, tests: [] });
}

/** Compiles Rust's tests beside what else is done; what goes wrong is said when they are run. */
function compileTests() {
  spawn("cargo", ["test", "--locked", ...CRATES, "--no-run"], { cwd: root, stdio: "ignore" }).on("error", () => {});
}

/** Runs Rust's tests. */
function checkCrate() {
  const name = "the crate";
  step(`testing ${name}`);
  const args = ["test", "--locked", ...CRATES, "--no-fail-fast"];
  const options = { cwd: root, stdio: ["inherit", "pipe", "inherit"], env: environment, encoding: "utf8" };
  const { status, stdout, error } = spawnSync("cargo", args, { ...options, maxBuffer: 1 << 28 });
  console.log(stdout ?? "");
  if (error !== undefined) console.error(`cargo cannot be run: ${error.message}`);
  // Each test program lists the names of its failed tests after what they printed.
  const lists = [...(stdout ?? "").matchAll(/^failures:\n((?: {4}\S.*\n)+)/gm)];
  const tests = lists.flatMap(([, names]) => names.trim().split(/\n\s*/));
  if (status !== 0) failed.push({ name, tests });
}

/**
 * Runs a group of test files, three at once, since most wait for programs that they started, or for time to pass: two
 * leave a third of two processors idle. Files with a failure are run once more on their own: what passes then is named at
 * the end, but fails nobody's build.
 */
function checkWithNode(name, files, atOnce = 3) {
  step(`testing ${name}`);
  const first = nodeTest(files, atOnce);
  if (first.passed) return;
  const again = [...new Set(first.failures.map(({ file }) => file))];
  // Many are no accident.
  if (again.length === 0 || again.length > 3 || again.includes(undefined)) {
    failed.push({ name, tests: first.failures.map(described) });
    return;
  }
  step(`testing again what failed: ${again.map((file) => relative(root, file)).join(", ")}`);
  const second = nodeTest(again, 1);
  const fails = (file) => second.failures.some((failure) => failure.file === file);
  unstable.push(...first.failures.filter(({ file }) => !fails(file)).map(described));
  if (!second.passed) failed.push({ name, tests: second.failures.map(described) });
}

/** Runs test files by Node's test runner; the tests that failed, as `failures.mjs` reports them. */
function nodeTest(files, atOnce) {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-failures-"));
  const report = join(folder, "failures.jsonl");
  const loader = new URL("typescript.mjs", import.meta.url).href;
  const options = ["--import", loader, "--test", `--test-concurrency=${atOnce}`];
  options.push("--test-reporter=spec", "--test-reporter-destination=stdout");
  options.push(`--test-reporter=${join(root, "scripts/failures.mjs")}`, `--test-reporter-destination=${report}`);
  const passed = succeeds(process.execPath, [...options, ...files]);
  const lines = existsSync(report) ? readFileSync(report, "utf8").split("\n") : [];
  rmSync(folder, { recursive: true });
  return { passed, failures: lines.filter((line) => line !== "").map((line) => JSON.parse(line)) };
}

/** Runs a command whose output is shown; whether it ended with 0. */
function succeeds(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", env: environment });
  if (error !== undefined) console.error(`${command} cannot be run: ${error.message}`);
  return status === 0;
}

/** A failed test in a few lines: its file, its name, the beginning of what was thrown. */
function described({ file, name, message }) {
  const lines = message.split("\n").filter((line) => line.trim() !== "");
  const shown = lines.slice(0, 12).map((line) => `\n        ${line.slice(0, 300)}`);
  return `${file === undefined ? "" : `${relative(root, file)}: `}${name}${shown.join("")}`;
}

/** Lines of a list. */
function list(items, indent = "  ") {
  return items.map((item) => `${indent}– ${item}\n`).join("");
}

function testsOf(folder) {
  const modules = join(folder, "modules");
  return [folder, ...(existsSync(join(root, modules)) ? [modules] : [])].flatMap((place) =>
    readdirSync(join(root, place))
      .filter((file) => /\.test\.(mjs|ts)$/.test(file))
      .map((file) => join(place, file)),
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
