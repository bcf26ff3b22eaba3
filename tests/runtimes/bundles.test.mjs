// What bundlers take of the package, and what they leave.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import nodeResolve from "@rollup/plugin-node-resolve";
import esbuild from "esbuild";
import { rollup } from "rollup";
import { minify } from "terser";
import webpack from "webpack";
import { packageFolder } from "../package/support/package.mjs";
import { makeProject } from "./project.mjs";

let project;

before(async () => {
  project = await makeProject();
});
after(() => project?.remove());

/** Names of what one evaluator has no use for. */
const OTHERS = {
  providers: ["anthropicJudge", "geminiJudge", "openaiJudge", "vertexJudge", "ollamaJudge"],
  "other judges": ["browserJudge", "languageModelJudge", "adkJudge", "replayJudge", "recordJudge", "indexedDbCache"],
  reports: ["renderHtml", "renderJUnit", "renderTable", "renderMarkdown", "renderCsv"],
  agents: ["AgentEvaluator", "LocalEvalService", "Observation"],
  comparisons: ["compareRuns"],
};

const TOOLS = {
  async esbuild(entry) {
    const { outputFiles } = await esbuild.build({
      absWorkingDir: project.folder,
      entryPoints: [entry],
      bundle: true,
      format: "esm",
      write: false,
      logLevel: "error",
    });
    return outputFiles[0].text;
  },
  async rollup(entry) {
    const bundle = await rollup({
      input: join(project.folder, entry),
      plugins: [nodeResolve({ browser: true })],
      onLog: (_level, { message }) => assert.fail(message),
    });
    const { output } = await bundle.generate({ format: "es" });
    await bundle.close();
    return output[0].code;
  },
  async webpack(entry) {
    const path = join(project.folder, "webpack");
    const stats = await new Promise((resolve, reject) =>
      webpack(
        {
          mode: "production",
          context: project.folder,
          entry: `./${entry}`,
          output: { path, filename: "bundle.js", library: { type: "module" } },
          experiments: { outputModule: true },
          optimization: { minimize: false },
          performance: false,
        },
        (error, result) => (error ? reject(error) : resolve(result)),
      ),
    );
    const { warnings, errors } = stats.toJson({ all: false, warnings: true, errors: true });
    assert.deepEqual([...warnings, ...errors], []);
    // webpack leaves it to the minifier to drop what is not used. Names stay, so that they can be found.
    const { code } = await minify(readFileSync(join(path, "bundle.js"), "utf8"), { module: true, mangle: false });
    return code;
  },
};

/** How often a name is defined. */
const definitions = (text, name) =>
  (text.match(new RegExp(`\\b(function ${name}\\(|class ${name}\\b|${name} ?= ?[^=])`, "g")) ?? []).length;

/** Bytes without the engine, which is the longest text in it. */
const sizeOf = (text) => Buffer.byteLength(text.replace(/"[^"]{100000,}"/, ""));

describe("a bundle", () => {
  for (const [name, bundle] of Object.entries(TOOLS)) {
    test(`of one function has no evaluator, by ${name}`, async () => {
      project.write({ "rouge.mjs": 'export { rouge1 } from "adk-metrics";' });
      const text = await bundle("rouge.mjs");
      for (const other of ["MetricEvaluatorRegistry", "TrajectoryEvaluator", "evaluate"]) {
        assert.equal(definitions(text, other), 0, `${other} is in it`);
      }
    });

    test(`of one evaluator has nothing of what it does not use, by ${name}`, async (context) => {
      project.write({
        "everything.mjs":
          'export * from "adk-metrics"; export * from "adk-metrics/report"; export * from "adk-metrics/interop";',
        "one.mjs": 'export { TrajectoryEvaluator } from "adk-metrics";',
      });
      const [everything, one] = [await bundle("everything.mjs"), await bundle("one.mjs")];
      for (const [kind, names] of Object.entries(OTHERS)) {
        for (const name of names) {
          assert.ok(definitions(everything, name) > 0, `there is no ${name}`);
          assert.equal(definitions(one, name), 0, `${kind}: ${name} is in it`);
        }
      }
      const sizes = { everything: sizeOf(everything), "one evaluator": sizeOf(one) };
      for (const [what, size] of Object.entries(sizes)) {
        context.diagnostic(`${what}, without the engine: ${(size / 1000).toFixed(0)} kB, by ${name}`);
      }
      // The engine's own glue and how runs are driven are most of it.
      assert.ok(sizes["one evaluator"] < 0.36 * sizes.everything, JSON.stringify(sizes));
    });
  }

  test("for browsers has nothing of Node's", async () => {
    for (const entry of [
      "adk-metrics",
      "adk-metrics/web",
      "adk-metrics/slim",
      "adk-metrics/report",
      "adk-metrics/interop",
      "adk-metrics/calibration",
    ]) {
      project.write({ "everything.mjs": `export * from "${entry}";` });
      const text = await TOOLS.esbuild("everything.mjs");
      for (const found of [/\b(?:from|import)\s*\(?\s*["']node:/, /process\.env/, /fileCache/, /require\(/]) {
        assert.doesNotMatch(text, found, entry);
      }
    }
  });

  for (const target of ["web", "webworker", "node"]) {
    test(`is made without a warning by webpack, for ${target}`, async () => {
      project.write({
        "modules.mjs": ["adk-metrics", "adk-metrics/report", "adk-metrics/interop"]
          .map((entry) => `export * from "${entry}";`)
          .join("\n"),
        "commonjs.cjs": 'exports.all = [require("adk-metrics"), require("adk-metrics/report")];',
      });
      const entry = { modules: "./modules.mjs", commonjs: "./commonjs.cjs" };
      const output = { path: join(project.folder, `webpack-${target}`) };
      // Its minifier is given the same for each: once is enough.
      const optimization = { minimize: target === "web" };
      const common = { mode: "production", context: project.folder, performance: false };
      const settings = { ...common, target, entry, output, optimization };
      const stats = await new Promise((resolve, reject) =>
        webpack(settings, (error, result) => (error ? reject(error) : resolve(result))),
      );
      const { warnings, errors } = stats.toJson({ all: false, warnings: true, errors: true });
      assert.deepEqual([...warnings, ...errors], []);
    });
  }

  test("by /web or /slim does not hold the engine", async () => {
    const sizes = {};
    for (const entry of ["adk-metrics", "adk-metrics/web", "adk-metrics/slim"]) {
      project.write({ "everything.mjs": `export * from "${entry}";` });
      sizes[entry] = (await TOOLS.esbuild("everything.mjs")).length;
    }
    const wasm = readFileSync(join(packageFolder, "dist/adk_metrics.wasm"));
    const inlined = (deflateRawSync(wasm, { level: 9 }).length * 5) / 4;
    assert.ok(sizes["adk-metrics/web"] < sizes["adk-metrics"] - inlined * 0.95, JSON.stringify(sizes));
    assert.ok(sizes["adk-metrics/slim"] < sizes["adk-metrics"] - inlined * 0.95, JSON.stringify(sizes));
  });

  test("for a page that uses both entries holds one engine", async () => {
    project.write({
      "both.mjs": `import { rouge1 } from "adk-metrics"; import { init, rouge1 as other } from "adk-metrics/web";
        export { init, other, rouge1 };`,
    });
    const text = await TOOLS.esbuild("both.mjs");
    assert.equal(definitions(text, "EvalRun"), 1);
  });
});
