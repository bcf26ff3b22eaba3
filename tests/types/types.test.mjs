// The package's declarations as TypeScript users meet them: in a project of their own, with the package in its
// node_modules, under every way of resolving modules that finds it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packageFolder, root } from "../package/support/package.mjs";
import { openEditor } from "./editor.mjs";

const FILES = ["contract", "criteria", "judges", "misuse", "adk-ts"];
const tsc = join(root, "node_modules/typescript/bin/tsc");

/** Ways to resolve modules: the extension of the files decides whether Node takes them for ESM or CommonJS. */
const PROJECTS = {
  "ES modules in Node": { extension: "mts", compilerOptions: { module: "nodenext" }, more: ["node"] },
  "CommonJS in Node": { extension: "cts", compilerOptions: { module: "nodenext" }, more: ["node"] },
  "a bundler": {
    extension: "ts",
    compilerOptions: { module: "esnext", moduleResolution: "bundler" },
    more: ["node"],
  },
  "a bundler, without Node's types": {
    extension: "ts",
    compilerOptions: { module: "esnext", moduleResolution: "bundler", lib: ["es2022", "dom"], types: [] },
    more: ["node"],
  },
  "a bundler, for browsers alone": {
    extension: "ts",
    compilerOptions: {
      module: "esnext",
      moduleResolution: "bundler",
      customConditions: ["browser"],
      lib: ["es2022", "dom"],
      types: [],
    },
    more: ["browser"],
  },
};

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "adk-metrics-types-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules/adk-metrics"));
});
after(() => rmSync(folder, { recursive: true }));

/** Checks the files in a project; gives what TypeScript says. */
async function check(name, { extension, compilerOptions }, files) {
  const project = join(folder, name.replaceAll(/\W+/g, "-"));
  mkdirSync(project);
  for (const file of files)
    copyFileSync(fileURLToPath(new URL(file, import.meta.url)), join(project, file.replace(/ts$/, extension)));
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "es2022",
        strict: true,
        noEmit: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        types: [],
        ...compilerOptions,
      },
      include: ["."],
    }),
  );
  return promisify(execFile)(process.execPath, [tsc, "--project", project]).then(
    () => "",
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
}

describe("the declarations", () => {
  for (const [name, { more = [], ...settings }] of Object.entries(PROJECTS)) {
    test(`say what the contract says, to ${name}`, async () => {
      assert.equal(
        await check(
          name,
          settings,
          [...FILES, ...more].map((file) => `${file}.ts`),
        ),
        "",
      );
    });
  }
});

describe("an editor", () => {
  let editor;
  before(async () => (editor = await openEditor(tsc, folder)));
  after(() => editor.close());

  for (const [what, program, names] of [
    ["the names of metrics", "const c: Criteria = { | };", ["tool_trajectory_avg_score", "hallucinations_v1"]],
    [
      "the settings of a metric",
      "const c: Criteria = { tool_trajectory_avg_score: { | } };",
      ["threshold", "match_type", "matchType", "ignore_args", "ignoreArgs"],
    ],
    [
      "the settings of a metric that is named by the enum",
      "const c: Criteria = { [PrebuiltMetrics.HALLUCINATIONS_V1]: { | } };",
      ["threshold", "evaluate_intermediate_nl_responses", "judge_model_options"],
    ],
    [
      "their values",
      'const c: Criteria = { tool_trajectory_f1: { match_mode: "|" } };',
      ["name_only", "name_and_args"],
    ],
    [
      "the settings of judges",
      "const c: Criteria = { safety_v1: { judgeModelOptions: { | } } };",
      ["numSamples", "num_samples", "judgeModel"],
    ],
    [
      "the settings of an evaluator",
      'new TrajectoryEvaluator({ metricName: "", criterion: { | } });',
      ["threshold", "matchType"],
    ],
    ["the name of an evaluator's metric", 'new TrajectoryEvaluator({ metricName: "|" });', ["response_match_score"]],
  ]) {
    test(`completes ${what}`, async () => {
      const imports = 'import { type Criteria, PrebuiltMetrics, TrajectoryEvaluator } from "adk-metrics";';
      const found = await editor.completed(join(folder, "completed.mts"), `${imports}\n${program}`);
      for (const name of names) assert.ok(found.includes(name), `${name} is not among ${found.join(", ")}`);
    });
  }
});
