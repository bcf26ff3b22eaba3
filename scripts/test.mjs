// `npm test`: sets up, builds once, runs every suite. With CI=true nothing may be missing; otherwise suites that need
// something that is not here are left out and named.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { fail, has, installPackages, root, run, step } from "./setup.mjs";

const inCi = process.env.CI === "true";
const environment = { ...process.env };
const leftOut = [];

await build();
if (inCi) await import("./lint.mjs");
await import("./size.mjs");

environment.CHROMIUM ??= ["chromium", "chromium-browser", "google-chrome"].find((name) => has(name)) ?? "";
if (environment.CHROMIUM === "") delete environment.CHROMIUM;

step("testing the crate");
run("cargo", ["test", "--workspace", "--exclude", "xtask", "--quiet"]);

if (inCi) installPackages(join(root, "tests/adk-ts"));

const suites = [
  { name: "reports", files: "tests/report" },
  { name: "package", files: "tests/package" },
  { name: "command line", files: "tests/cli" },
  { name: "types", files: "tests/types" },
  {
    name: "browser",
    files: "tests/browser",
    missing: environment.CHROMIUM === undefined && "Chromium is not installed (or set CHROMIUM to its path)",
  },
  {
    name: "parity with the installed @iqai/adk",
    files: "tests/package/live",
    missing: !existsSync(join(root, "tests/adk-ts/node_modules")) && "run `npm ci` in tests/adk-ts",
  },
  {
    name: "google-adk reads what we write",
    files: "tests/readback",
    missing:
      environment.ADK_PYTHON === undefined &&
      "set ADK_PYTHON to a Python with `pip install -r tests/parity/requirements.txt`",
  },
];

const files = [];
for (const { name, files: folder, missing } of suites) {
  if (typeof missing === "string") {
    if (inCi) fail(`the suite "${name}" cannot run: ${missing}`);
    leftOut.push(`${name}: ${missing}`);
    continue;
  }
  const found = existsSync(join(root, folder))
    ? readdirSync(join(root, folder)).filter((file) => /\.test\.(mjs|ts)$/.test(file))
    : [];
  files.push(...found.map((file) => join(folder, file)));
}

if (leftOut.length > 0) {
  console.error("\nLeft out:");
  for (const line of leftOut) console.error(`  – ${line}`);
  console.error("");
}
step("testing the package");
run(process.execPath, ["--import", "tsx", "--test", "--test-reporter=spec", ...files], { env: environment });
