// `npm run lint`: formatting, clippy natively and for WebAssembly, types, the package's manifest.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { bin, fail, installPackages, root, run, setup, step, tsc } from "./setup.mjs";

setup();
step("checking the formatting");
run("cargo", ["fmt", "--all", "--check"], { advice: "Run: npm run format" });
// It takes a minute of one processor, and most of what follows is compiled by one.
const prettier = spawn(bin("prettier"), ["--check", "--log-level=warn", "."], { cwd: root, stdio: "inherit" });
const formatted = new Promise((resolve) => {
  prettier.on("error", () => resolve(1));
  prettier.on("close", resolve);
});
process.on("exit", () => prettier.kill());
step("looking for mistakes in TypeScript and JavaScript");
run(bin("oxlint"), ["--type-aware", "pkg-template/src", "www/src"]);
run(bin("oxlint"), ["scripts", "tests", "benches"]);
step("running clippy");
run("cargo", ["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]);
run("cargo", [
  "clippy",
  "--locked",
  ...["--package", "adk-metrics", "--lib", "--features", "wasm", "--target", "wasm32-unknown-unknown", "--quiet"],
  ...["--", "-D", "warnings"],
]);
step("checking the licences of crates");
await import("./licenses.mjs");
step("building the documentation of the crate");
run("cargo", ["doc", "--locked", "--package", "adk-metrics", "--no-deps", "--quiet"], {
  env: { ...process.env, RUSTDOCFLAGS: "-D warnings" },
});
step("checking types and the package's manifest");
run(process.execPath, [tsc, "--project", join(root, "pkg-template/tsconfig.json"), "--noEmit"]);
run(bin("publint"), [join(root, "pkg")]);

const runtimes = join(root, "tests/runtimes");
if (process.env.CI === "true") installPackages(runtimes);
const attw = join(runtimes, "node_modules/.bin/attw");
if (existsSync(attw)) {
  step("checking that every way to resolve modules finds the right types");
  const check = (profile, ...entries) =>
    run(attw, ["--pack", join(root, "pkg"), "--profile", profile, "--entrypoints", ...entries]);
  check("node16", ".", "./report", "./jest", "./interop");
  // These have no CommonJS.
  check("esm-only", "./web", "./slim", "./vitest", "./calibration", "./queue");
} else {
  step("leaving out what @arethetypeswrong/cli checks: run `npm ci` in tests/runtimes");
}
if ((await formatted) !== 0) fail("files are not formatted, as is said above", "Run: npm run format");
