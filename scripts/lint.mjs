// `npm run lint`: formatting, clippy natively and for WebAssembly, types, the package's manifest.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { bin, installPackages, root, run, setup, step, tsc } from "./setup.mjs";

setup();
step("checking the formatting");
run("cargo", ["fmt", "--all", "--check"], { advice: "Run: npm run format" });
run(bin("prettier"), ["--check", "--log-level=warn", "."], { advice: "Run: npm run format" });
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
