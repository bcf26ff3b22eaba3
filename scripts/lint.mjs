// `npm run lint`: formatting, clippy natively and for WebAssembly, types, the package's manifest.

import { join } from "node:path";
import { bin, root, run, setup, step } from "./setup.mjs";

setup();
step("checking the formatting");
run("cargo", ["fmt", "--all", "--check"], { advice: "Run: npm run format" });
run(bin("prettier"), ["--check", "--log-level=warn", "."], { advice: "Run: npm run format" });
step("running clippy");
run("cargo", ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]);
run("cargo", [
  "clippy",
  ...["--package", "adk-metrics", "--lib", "--features", "wasm", "--target", "wasm32-unknown-unknown", "--quiet"],
  ...["--", "-D", "warnings"],
]);
step("building the documentation of the crate");
run("cargo", ["doc", "--package", "adk-metrics", "--no-deps", "--quiet"], {
  env: { ...process.env, RUSTDOCFLAGS: "-D warnings" },
});
step("checking types and the package's manifest");
run(bin("tsc"), ["--project", join(root, "pkg-template/tsconfig.json"), "--noEmit"]);
run(bin("publint"), [join(root, "pkg")]);
