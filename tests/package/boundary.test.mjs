// What crosses between the engine and TypeScript has a type that is declared in Rust (src/wasm/contract/).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { importEntry, root } from "./support/package.mjs";

const { evaluate, MetricEvaluatorRegistry } = await importEntry();
const read = (file) => readFileSync(join(root, "pkg-template/src/generated", file), "utf8");

/** The functions and methods of the engine: name, parameters, result. */
const exported = [
  .../(?:export interface InitOutput)[^]*/
    [Symbol.replace](read("adk_metrics.d.ts"), "")
    .replaceAll(/\/\*\*[^]*?\*\//g, "")
    .matchAll(/^(?:export function| {4}(?:static )?)\s*(\w+)\((.*)\)(?:: (.+))?;$/gm),
].map(([, name, parameters, result]) => ({ name, parameters, result }));

const EVALSET = {
  evalSetId: "set",
  evalCases: [
    {
      evalId: "case",
      conversation: [{ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } }],
    },
  ],
};

test("bytes are inputs, and texts are files: everything else has a type of its own", () => {
  assert.ok(exported.some(({ name }) => name === "handleCustom"));
  const bytes = exported.flatMap(({ parameters }) =>
    [...parameters.matchAll(/(\w+): Uint8Array/g)].map(([, key]) => key),
  );
  const inputs = [
    "actual",
    "body",
    "bytes",
    "config",
    "eval_set",
    "expected",
    "metric",
    "metrics",
    "question",
    "scenario",
    "text",
  ];
  assert.deepEqual([...new Set(bytes)].sort(), inputs);
  const texts = exported.filter(({ result }) => /\bstring$/.test(result ?? "")).map(({ name }) => name);
  const files = ["casesToJs", "evalSetToAdk", "evalSetToJs", "resultsToAdk", "resultsToJs"];
  assert.deepEqual(texts.sort(), [...files, "endpointOrigin", "userPrompt", "withTokens", "withoutTokens"].sort());
  assert.deepEqual(
    exported.filter(({ parameters, result }) => /\bany\b/.test(`${parameters} ${result}`)),
    [],
  );
});

test("options may be infinite, and of any text", async () => {
  const registry = new MetricEvaluatorRegistry();
  for (const metricName of ["half \ud800", "mine"]) {
    registry.registerEvaluator({ metricName, description: "", metricValueInfo: {} }, () => ({ overallScore: 1 }));
  }
  const prices = {
    "__proto__ \udc00": { inputPerMillion: Infinity, outputPerMillion: 2 ** 60 },
    m: { inputPerMillion: 0, outputPerMillion: 0 },
  };
  const { evalCaseResults } = await evaluate({
    evalSet: EVALSET,
    actual: EVALSET,
    criteria: { mine: 1 },
    registry,
    concurrency: Infinity,
    timeoutMs: Infinity,
    evalSetName: "\ud83d",
    seed: 2 ** 53 - 1,
    retry: { attempts: 2 ** 60, initialDelayMs: Infinity, maxDelayMs: Infinity, base: Infinity, jitter: 0 },
    budget: { calls: Infinity, tokens: 2 ** 60, cost: Infinity, timeMs: Infinity, prices },
  });
  assert.equal(evalCaseResults[0].overallEvalMetricResults[0].score, 1);
});

test("scores of one's own keep the sign of zero", async () => {
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator({ metricName: "mine", description: "", metricValueInfo: {} }, () => ({
    overallScore: -0,
  }));
  const { evalCaseResults } = await evaluate({ evalSet: EVALSET, actual: EVALSET, criteria: { mine: 0 }, registry });
  assert.ok(Object.is(evalCaseResults[0].overallEvalMetricResults[0].score, -0));
});
