// The packed package in every runtime outside of browsers: the same scores, and a judge that is asked over the network.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { manifest, mustRun } from "../package/support/package.mjs";
import { bin } from "./project.mjs";
import { metricOf, smallSample, start, wholeSample } from "./support.mjs";

/** A program that a package brings for Linux alone. */
const forLinux = (path) => [fileURLToPath(new URL(`node_modules/${path}`, import.meta.url))].find(existsSync);
/** Every supported line of Node, the oldest version first. */
const NODES = ["node-20", "node-22", "node-24"].map((name) => [name, forLinux(`${name}/bin/node`)]);
const deno = forLinux("@deno/linux-x64-glibc/deno");
const unless = (program) => ({ skip: program === undefined && !mustRun && "it is brought for Linux alone" });

/** The program in CommonJS. */
const CJS = {
  "main.cjs": `const adk = require("adk-metrics");
    import("./program.mjs").then(({ found }) => found(adk)).then((all) => console.log(JSON.stringify(all)));`,
};

let project;

before(async () => {
  project = await start();
});
after(() => project?.stop());

const json = async (printed) => JSON.parse(await printed);

test("the judge settles what is expected of the others", async () => {
  const { sample, vectors, judged } = await project.expectedOfWhole();
  assert.ok(sample.count > 30_000, `${sample.count} scores`);
  assert.ok(vectors.count > 5_000, `${vectors.count} scores`);
  assert.deepEqual(project.expected.judged, judged);
  assert.deepEqual(
    judged.map(({ finalEvalStatus, score }) => [finalEvalStatus, score]),
    [
      [1, 1],
      [2, 0],
    ],
  );
});

test("the small sample has several of each metric, and hundreds of scores", () => {
  const whole = wholeSample();
  const small = smallSample(whole);
  const metrics = new Set(whole.vectors.map(metricOf));
  assert.ok(metrics.size >= 11, `${metrics.size}`);
  for (const metric of metrics) assert.ok(small.vectors.filter((one) => metricOf(one) === metric).length >= 3, metric);
  const { sample, vectors } = project.expected;
  assert.ok(sample.count > 800 && vectors.count > 300, `${sample.count} and ${vectors.count} scores`);
});

describe("Node", () => {
  test("scores the whole sample as an ES module", async () => {
    assert.deepEqual(await json(project.run("node", ["whole.mjs"])), await project.expectedOfWhole());
  });

  for (const [name, node] of NODES) {
    test(`scores in ${name}, as an ES module and as CommonJS`, unless(node), async () => {
      project.write(CJS);
      const version = await project.run(node, ["--version"]);
      assert.equal(version.split(".")[0], `v${name.split("-")[1]}`);
      if (name === NODES[0][0]) assert.equal(`${manifest.engines.node}.0\n`, `>=${version.slice(1)}`);
      assert.deepEqual(await json(project.run(node, ["main.mjs"])), project.expected);
      assert.deepEqual(await json(project.run(node, ["main.cjs"])), project.expected);
      // The newest engine of JavaScript; what runs the tests is among the oldest, or like it.
      if (name !== NODES.at(-1)[0]) return;
      assert.deepEqual(await json(project.run(node, ["whole.mjs"])), await project.expectedOfWhole());
    });

    test(`has one engine and one class of errors in ${name}, however it is loaded`, unless(node), async () => {
      project.write({
        "both.cjs": `const required = ["", "/report", "/interop", "/jest"].map((entry) => require("adk-metrics" + entry));
          Promise.all(["", "/report", "/interop", "/jest"].map((entry) => import("adk-metrics" + entry))).then((imported) => {
            const same = imported.map((entry, index) => Object.keys(entry).every((name) => entry[name] === required[index][name]));
            console.log(JSON.stringify(same));
          });`,
      });
      assert.equal(await project.run(node, ["both.cjs"]), "[true,true,true,true]\n");
    });
  }

  test("finds the names of what is imported from a file in CommonJS", async () => {
    project.write({
      "names.mjs": `for (const name of ["index", "report", "interop", "jest"]) {
          const imported = await import(\`./node_modules/adk-metrics/dist/cjs/\${name}.js\`);
          const { default: required, "module.exports": _, ...named } = imported;
          console.log(Object.keys(named).length > 0, Object.keys(required).every((key) => named[key] === required[key]));
        }`,
    });
    assert.equal(await project.run("node", ["names.mjs"]), "true true\n".repeat(4));
  });

  test("says that there is no WebAssembly where there is none", async () => {
    project.write({
      "jitless.mjs": `import { evaluate, rouge1 } from "adk-metrics";
        import * as slim from "adk-metrics/slim";
        import * as web from "adk-metrics/web";
        const say = ({ name, code, message, help }) => console.log(name, code, "|", message, "|", help);
        const evalSet = { evalSetId: "none", evalCases: [] };
        try { rouge1("a", "a"); } catch (error) { say(error); }
        await evaluate({ evalSet, actual: evalSet, criteria: { response_match_score: 1 } }).catch(say);
        await web.init().catch(say);
        await slim.init(new Uint8Array()).catch(say);
        try { slim.rouge1("a", "a"); } catch (error) { say(error); }`,
      "jitless.cjs": `const { rouge1 } = require("./node_modules/adk-metrics/dist/cjs/index.js");
        try { rouge1("a", "a"); } catch ({ name, code, message, help }) { console.log(name, code, "|", message, "|", help); }`,
    });
    for (const [file, count] of [
      ["jitless.mjs", 5],
      ["jitless.cjs", 1],
    ]) {
      const lines = (await project.run("node", ["--jitless", file])).trim().split("\n");
      assert.equal(lines.length, count);
      for (const line of lines) {
        assert.match(
          line,
          /^AdkMetricsError engine_unavailable \| this runtime has no WebAssembly.* \| Node with --jitless, .* do not have it/,
        );
      }
    }
  });

  test("shares one class of errors between the entries of CommonJS", async () => {
    project.write({
      "classes.cjs": `const { AdkMetricsError } = require("adk-metrics");
        const { renderTable } = require("adk-metrics/report");
        const { readTraces } = require("adk-metrics/interop");
        for (const mistaken of [renderTable, readTraces]) {
          try { mistaken(1); } catch (error) { console.log(error instanceof AdkMetricsError); }
        }`,
    });
    assert.equal(await project.run("node", ["classes.cjs"]), "true\ntrue\n");
  });

  test("scores by /web", async () => {
    assert.deepEqual(await json(project.run("node", ["web.mjs"])), project.expected);
  });

  test("scores by /slim, given bytes", async () => {
    project.write({
      "slim.mjs": `import { readFile } from "node:fs/promises";
        import * as adk from "adk-metrics/slim";
        import { found } from "./program.mjs";
        await adk.init(readFile(new URL(import.meta.resolve("adk-metrics/adk_metrics.wasm"))));
        console.log(JSON.stringify(await found(adk)));`,
    });
    assert.deepEqual(await json(project.run("node", ["slim.mjs"])), project.expected);
  });

  test("says what is missing, and what is wrong with what was brought", async () => {
    project.write({
      "wrong.mjs": `import { init, initSync, rouge1 } from "adk-metrics/slim";
        import { readFileSync } from "node:fs";
        const say = ({ code, message }) => console.log(code, message);
        try { rouge1("a", "a"); } catch (error) { say(error); }
        await init(new Uint8Array(8)).catch(say);
        await init(fetch("${project.pages.origin}/missing.wasm")).catch(say);
        await init(Promise.reject(new Error("offline"))).catch(say);
        initSync(readFileSync(new URL(import.meta.resolve("adk-metrics/adk_metrics.wasm"))));
        console.log(rouge1("a", "a").fmeasure);`,
    });
    const lines = (await project.run("node", ["wrong.mjs"])).trim().split("\n");
    const expected = [/call `await init\(\)` first/, /CompileError/, /missing\.wasm.*404/, /offline/, /^1$/];
    assert.equal(lines.length, expected.length);
    for (const [index, line] of lines.entries()) {
      assert.match(line, expected[index]);
      if (index < 4) assert.match(line, /^engine_unavailable the engine could not be loaded: /);
    }
  });

  test("runs what was bundled into one file for it, away from the package", async () => {
    for (const format of ["esm", "cjs"]) {
      const file = `bundled/main.${format === "esm" ? "mjs" : "cjs"}`;
      project.write({
        "main-bundled.mjs": `import * as adk from "adk-metrics"; import { found } from "./program.mjs";
          found(adk).then((all) => console.log(JSON.stringify(all)));`,
      });
      await build({
        absWorkingDir: project.folder,
        entryPoints: ["main-bundled.mjs"],
        bundle: true,
        platform: "node",
        format,
        outfile: file,
        logLevel: "error",
      });
      const installed = join(project.folder, "node_modules");
      renameSync(installed, `${installed}.away`);
      try {
        assert.deepEqual(await json(project.run("node", [file])), project.expected, format);
      } finally {
        renameSync(`${installed}.away`, installed);
      }
    }
  });
});

describe("Deno", unless(deno), () => {
  const run = (file) => project.run(deno, ["run", "--no-prompt", "--allow-net=127.0.0.1", file]);

  test("scores without leave to read files or the environment", async () => {
    assert.deepEqual(await json(run("main.mjs")), project.expected);
  });

  test("finds the types", async () => {
    project.write({
      "check.ts": `import { evaluate, fileCache, rouge1, type Judge } from "adk-metrics";
        import { init } from "adk-metrics/web";
        import { renderHtml } from "adk-metrics/report";
        const score: number = rouge1("a", "b").fmeasure;
        const judge: Judge = async ({ prompt }) => prompt;
        console.log(evaluate, fileCache, init, judge, renderHtml, score);`,
      "wrong.ts":
        'import { rouge1 } from "adk-metrics"; const score: string = rouge1("a", "b").fmeasure; console.log(score);',
    });
    await project.run(deno, ["check", "check.ts"]);
    await assert.rejects(project.run(deno, ["check", "wrong.ts"]), /TS2322/);
  });

  test("scores by /web, without leave as well", async () => {
    assert.deepEqual(await json(run("web.mjs")), project.expected);
  });
});

describe("Bun", () => {
  test("scores the whole sample", async () => {
    assert.deepEqual(await json(project.run(bin("bun"), ["run", "whole.mjs"])), await project.expectedOfWhole());
  });

  test("tests with the matchers", async () => {
    project.write({
      "matchers.test.mjs": `
        import { expect, test } from "bun:test";
        import { readEvalSet } from "adk-metrics";
        import { adkMatchers } from "adk-metrics/jest";
        expect.extend(adkMatchers);
        const said = (text) => ({ parts: [{ text }] });
        const conversation = [{ userContent: said("How is it in Oslo?"), finalResponse: said("Sunny.") }];
        const evalSet = { evalSetId: "weather", evalCases: [{ evalId: "oslo", conversation }] };
        test("an agent", async () => {
          await expect(() => "Sunny.").toPassEvalSet(evalSet);
          const message = await (async () => expect(() => "Rain.").toPassEvalSet(evalSet))().catch(String);
          expect(message).toContain("      - Sunny.\\n      + Rain.\\n");
        });
        test("a mistake", () => {
          expect(() => expect(3).toPass()).toThrow("found 3 (at results). Pass");
          try { readEvalSet({ evalCases: 3 }); } catch (error) { expect(error.line).toBeUndefined(); }
        });`,
    });
    await project.run(bin("bun"), ["test", "./matchers.test.mjs"]);
  });

  test("scores from one file that it bundled for itself", async () => {
    await project.run(bin("bun"), ["build", "main.mjs", "--target=bun", "--outfile=bun/main.js"]);
    assert.deepEqual(await json(project.run(bin("bun"), ["run", "bun/main.js"])), project.expected);
  });
});

describe("Cloudflare Workers", () => {
  const worker = (from, init = "") => `import * as adk from "${from}"; import { found } from "./program.mjs"; ${init}
    export default { fetch: async () => Response.json(await found(adk)) };`;

  /** Bundles a worker as Cloudflare does, and asks it. */
  async function asked(name, source) {
    project.write({
      [`${name}.mjs`]: source,
      [`${name}.json`]: JSON.stringify({ name, main: `${name}.mjs`, compatibility_date: "2026-01-01" }),
    });
    const config = ["--config", `${name}.json`];
    await project.run(bin("wrangler"), ["deploy", "--dry-run", "--outdir", `out/${name}`, ...config], {
      WRANGLER_SEND_METRICS: "false",
      CI: "true",
    });
    const out = join(project.folder, "out", name);
    mkdirSync(out, { recursive: true });
    const files = readdirSync(out);
    const miniflare = new Miniflare({
      modulesRoot: out,
      modules: [`${name}.js`, ...files.filter((file) => file.endsWith(".wasm"))].map((file) => ({
        type: file.endsWith(".wasm") ? "CompiledWasm" : "ESModule",
        path: join(out, file),
      })),
      compatibilityDate: "2026-01-01",
    });
    try {
      const response = await miniflare.dispatchFetch("http://worker/");
      return { found: await response.json(), wasm: files.filter((file) => file.endsWith(".wasm")).length };
    } finally {
      await miniflare.dispose();
    }
  }

  test("score without configuration, with one module beside the script", async () => {
    assert.deepEqual(await asked("worker", worker("adk-metrics")), { found: project.expected, wasm: 1 });
  });

  test("score by /web", async () => {
    assert.deepEqual(await asked("worker-web", worker("adk-metrics/web", "await adk.init();")), {
      found: project.expected,
      wasm: 1,
    });
  });

  test("score by /slim with a module that the worker imports", async () => {
    const source = `import module from "adk-metrics/adk_metrics.wasm"; ${worker("adk-metrics/slim", "adk.initSync(module);")}`;
    assert.deepEqual(await asked("worker-slim", source), { found: project.expected, wasm: 1 });
  });
});
