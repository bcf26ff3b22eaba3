// `npm run fuzz -- [seconds] [target ...]`: looks for inputs that break what has to hold for any, with cargo-fuzz, for so
// long in all (600 seconds). Needs a nightly compiler and cargo-fuzz: fuzz/README.md.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fail, has, root, run, step } from "./setup.mjs";

const WORDS = ["prompts", "replies", "rouge"];
const folder = join(root, "fuzz");
const [seconds = "600", ...named] = process.argv.slice(2);
const all = readdirSync(join(folder, "fuzz_targets")).map((file) => file.replace(/\.rs$/, ""));
const unknown = named.filter((name) => !all.includes(name));
if (!(Number(seconds) > 0)) fail(`expected a number of seconds, found ${seconds}`, "Run: npm run fuzz -- 600 json");
if (unknown.length > 0) fail(`no such target: ${unknown.join(", ")}`, `There are ${all.join(", ")}.`);
if (!has("cargo", ["+nightly", "fuzz", "--version"])) {
  fail("a nightly compiler and cargo-fuzz are needed", "fuzz/README.md says how to install them");
}
const targets = named.length > 0 ? named : all;

const seeds = join(root, "target/fuzz-corpus");
run("cargo", ["run", "--locked", "--quiet", "--package", "adk-metrics-fuzz", "--bin", "seeds", seeds]);
// What makes the smallest module is not worth its time here.
const env = { ...process.env, CARGO_PROFILE_RELEASE_LTO: "off", CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16" };
let inputs = 0;
const failed = [];
for (const target of targets) {
  step(`fuzzing ${target}`);
  const corpus = join(folder, "corpus", target);
  mkdirSync(corpus, { recursive: true });
  const options = [
    `-max_total_time=${Math.ceil(Number(seconds) / targets.length)}`,
    `-dict=${join(folder, "dictionaries", WORDS.includes(target) ? "words.dict" : "json.dict")}`,
    "-max_len=16384",
    "-timeout=20",
    "-print_final_stats=1",
  ];
  // The crate has no unsafe code for a sanitizer to look at.
  const fuzz = ["--features", "libfuzzer", "--sanitizer", "none", target];
  const { status, stderr, error } = spawnSync(
    "cargo",
    ["+nightly", "fuzz", "run", ...fuzz, join(seeds, target), corpus, "--", ...options],
    {
      cwd: root,
      env,
      stdio: ["ignore", "inherit", "pipe"],
      encoding: "utf8",
      maxBuffer: 2 ** 30,
    },
  );
  if (error !== undefined) fail(`cargo cannot be run: ${error.message}`);
  const [, count = "0"] = /stat::number_of_executed_units: +(\d+)/.exec(stderr) ?? [];
  inputs += Number(count);
  console.log(`${target}: ${Number(count).toLocaleString("en")} inputs`);
  if (status !== 0) {
    console.error(stderr.split("\n").slice(-40).join("\n"));
    failed.push(target);
  }
}
console.log(`${inputs.toLocaleString("en")} inputs in all`);
if (failed.length > 0) {
  fail(
    `something does not hold: ${failed.join(", ")}`,
    "The inputs are below fuzz/artifacts. fuzz/README.md says what to do.",
  );
}
