// Methods of instances, the matchers and the class of errors with arguments that they are not made for.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { turn } from "./support/conversations.mjs";
import { CRITERIA, failingAt, LOOKS, onlyOwnErrors, SMALL, THROWING, WRONG } from "./support/hostile.mjs";
import { importEntry } from "./support/package.mjs";

const adk = await importEntry();
const { adkMatchers } = await importEntry("./jest");
const folder = mkdtempSync(join(tmpdir(), "adk-metrics-methods-"));
after(() => rmSync(folder, { recursive: true }));

const metric = { metricName: "response_match_score", threshold: 1 };
const agent = () => ({ text: "a b" });
const turns = [turn("q", "a b", [["t", { x: [1, { y: "z" }] }]])];
const evaluateConfig = { evalMetrics: [{ ...metric, criterion: { threshold: 1 } }], parallelism: 1 };
const request = {
  id: "1",
  metricName: "m",
  purpose: "verdict",
  invocationIndex: 0,
  stepIndex: 0,
  sampleIndex: 0,
  model: "m",
  prompt: "p",
  generationConfig: { temperature: 0 },
};
const answer = async () => new Response(JSON.stringify({ message: { content: "yes" } }));
const judges = [async function one() {}, async function two() {}];
const recording =
  `${JSON.stringify({ format: "adk-metrics recording", version: 1 })}\n` +
  `${JSON.stringify({ request, reply: { text: "yes" } })}\n`;

/** What a matcher says, whichever way it goes. */
const said = async (name, given) => (await adkMatchers[name].call({}, ...given)).message();

/** Makes what has methods, with arguments that a method takes. */
const INSTANCES = {
  "an evaluator": [() => new adk.RougeEvaluator(metric), [turns, turns, { startingPrompt: "q" }]],
  "an evaluator that asks": [
    () => new adk.FinalResponseMatchV2Evaluator({ metricName: "final_response_match_v2" }, { judge: () => "" }),
    [turns, turns],
  ],
  "a registry": [
    () => new adk.MetricEvaluatorRegistry(),
    [{ ...metric, metricValueInfo: { interval: { minValue: 0, maxValue: 1 } } }, () => 1],
  ],
  "a service": [
    () => new adk.LocalEvalService(agent),
    [
      { evalSetId: "s", evalCases: [SMALL], evaluateConfig },
      { evalSetId: "s", evalCases: [SMALL] },
    ],
    [{ inferenceResults: [turns], evaluateConfig }],
  ],
  "a cache": [() => adk.memoryCache(), ["a".repeat(64), { text: "yes", usage: { inputTokens: 1 } }]],
  "a cache in files": [() => adk.fileCache(join(folder, "cache")), ["a".repeat(64), { text: "yes" }]],
  "a cache in IndexedDB": [() => adk.indexedDbCache("x"), ["a".repeat(64), { text: "yes" }]],
  "a journal": [() => adk.fileJournal(join(folder, "journal.jsonl")), [[{ kind: "x" }], true]],
  "a judge": [() => ({ ask: adk.ollamaJudge({ model: "m", fetch: answer }) }), [request, {}]],
  "a panel": [() => ({ ask: adk.panelJudge(judges) }), [request, {}]],
  "a replay": [() => ({ ask: adk.replayJudge(recording) }), [request, {}]],
  "a recording": [() => ({ ask: adk.recordJudge(judges[0], () => {}) }), [request, {}]],
  "the matchers": [
    () => ({
      toPass: (...given) => said("toPass", given),
      toPassEvalSet: (...given) => said("toPassEvalSet", given),
      ofAgent: (...given) => said("toPassEvalSet", [agent, ...given]),
      ofSet: (...given) => said("toPassEvalSet", [agent, SMALL, ...given]),
      ofCriteria: (...given) => said("toPassEvalSet", [agent, SMALL, CRITERIA, ...given]),
    }),
    [await adk.evaluate({ evalSet: SMALL, actual: SMALL, criteria: CRITERIA }), { minPassRate: 1 }],
    [SMALL, CRITERIA, { numRuns: 1, userSimulator: { model: agent }, gates: { minPassRate: 1 } }],
  ],
  "the class of errors": [
    () => ({ make: (...given) => void new adk.AdkMetricsError(...given).toString() }),
    ["invalid_input", "no", { path: "p", line: 1, help: "h", retryable: true, cause: new Error("c") }],
  ],
};

/** The methods of an instance, those that it inherits too. */
function* methodsOf(instance) {
  const seen = new Set(["constructor"]);
  for (let at = instance; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value !== "function" || seen.has(name)) continue;
      seen.add(name);
      yield [name, (...given) => instance[name](...given)];
    }
  }
}

describe("methods raise errors of this package only", () => {
  for (const [what, [make, ...examples]] of Object.entries(INSTANCES)) {
    test(`of ${what}`, async () => {
      let calls = 0;
      for (const [name, work] of methodsOf(make())) {
        const attempt = async (...given) => {
          calls += 1;
          await onlyOwnErrors(`${what}.${name}`, work, given);
        };
        const values = [...WRONG.map((value) => () => value), ...THROWING];
        for (const value of values) {
          for (const example of [[], ...examples]) {
            for (let at = 0; at <= example.length; at += 1)
              await attempt(...example.slice(0, at), value(), ...example.slice(at + 1));
          }
        }
        for (const example of examples) {
          for (const [at, part] of example.entries()) {
            for (const last of LOOKS)
              await attempt(...example.slice(0, at), failingAt(part, last), ...example.slice(at + 1));
          }
        }
      }
      assert.ok(calls > 30, `${calls} calls`);
    });
  }
});
