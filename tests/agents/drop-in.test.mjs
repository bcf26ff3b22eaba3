// Metrics written against ADK-TS compile and run here with the import changed, and nothing else.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const LIBRARIES = { "@iqai/adk": path("node_modules/@iqai/adk"), "adk-metrics": path("../../pkg") };
const source = readFileSync(path("drop-in/evaluators.ts"), "utf8");

const folder = mkdtempSync(join(tmpdir(), "adk-metrics-drop-in-"));
after(() => rmSync(folder, { recursive: true }));

before(() => {
  mkdirSync(join(folder, "node_modules/@iqai"), { recursive: true });
  for (const [name, place] of Object.entries(LIBRARIES)) symlinkSync(place, join(folder, "node_modules", name));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const compilerOptions = { target: "es2022", module: "nodenext", strict: true, skipLibCheck: true, types: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["."] }));
});

/** The module with another library in its import. */
const fileFor = (library) => library.replaceAll(/\W/g, "-");

test("they compile against both libraries", () => {
  for (const library of Object.keys(LIBRARIES)) {
    writeFileSync(join(folder, `${fileFor(library)}.ts`), source.replace('"@iqai/adk"', JSON.stringify(library)));
  }
  const tsc = path("../../node_modules/typescript/bin/tsc");
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, "--project", folder], { encoding: "utf8" });
  assert.equal(`${stdout}${stderr}`, "");
});

const said = (text, city, called = city) => ({
  userContent: { role: "user", parts: [{ text: `How is the weather in ${city}?` }] },
  finalResponse: { role: "model", parts: [{ text }] },
  intermediateData: { toolUses: [{ name: "get_weather", args: { city: called } }], intermediateResponses: [] },
  creationTimestamp: 0,
});
const expected = [said("It rains in Oslo.", "Oslo"), said("It is dry in Rome.", "Rome")];
const actual = [said("Oslo is wet.", "Oslo"), said("No idea.", "Rome", "Paris")];

describe("they score the same", () => {
  for (const name of ["ToolCoverageEvaluator", "CityEvaluator"]) {
    test(name, async () => {
      const results = [];
      for (const library of Object.keys(LIBRARIES)) {
        const metrics = await import(pathToFileURL(join(folder, `${fileFor(library)}.js`)).href);
        const evaluator = new metrics[name]({ metricName: "own", threshold: 0.75 });
        results.push(await evaluator.evaluateInvocations(actual, expected));
      }
      assert.deepEqual(results[1], results[0]);
    });
  }

  test("in an evaluation, with an agent whose events are recorded, and an evalset in snake_case", async () => {
    const { AgentEvaluator, MetricEvaluatorRegistry } = await import("../../pkg/dist/esm/node.js");
    const metrics = await import(pathToFileURL(join(folder, "adk-metrics.js")).href);
    const registry = new MetricEvaluatorRegistry();
    registry.registerEvaluator(metrics.ToolCoverageEvaluator.getMetricInfo(), metrics.ToolCoverageEvaluator);
    registry.registerEvaluator(metrics.CityEvaluator.getMetricInfo(), metrics.CityEvaluator);
    const agent = () => [
      { author: "a", content: { parts: [{ functionCall: { name: "get_weather", args: { city: "Oslo" } } }] } },
      { author: "a", content: { parts: [{ text: "Oslo is wet." }] } },
    ];
    const evalSet = {
      eval_set_id: "weather",
      eval_cases: [
        {
          eval_id: "oslo",
          conversation: [
            {
              user_content: { parts: [{ text: "How is Oslo?" }] },
              intermediate_data: { tool_uses: [{ name: "get_weather", args: { city: "Oslo" } }, { name: "get_time" }] },
            },
          ],
        },
      ],
    };
    const criteria = { tool_coverage: 0.5, names_the_city: 1 };
    const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, { registry });
    const [{ overallEvalMetricResults }] = evalCaseResults;
    assert.deepEqual(
      overallEvalMetricResults.slice(0, 2).map(({ score }) => score),
      [0.5, 1],
    );
  });
});
