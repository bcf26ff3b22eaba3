// Inputs that are larger than one JSON text may be: the error says what to do instead.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTUAL, EXPECTED } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";

const { checkInputs, compareRuns, evaluate, readEvalSet, readResults, rouge1 } = await importEntry();

const MOST = 256 * 2 ** 20;
const bytes = new Uint8Array(MOST + 1).fill(0x20);
/** So few characters that they fit, and as bytes do not. */
const text = `"${"–".repeat(MOST / 3 + 1)}"`;
const LINES = /^Write it as JSON lines, one case per line: `eval` and `evaluateStream` score any number of lines$/;
const SPLIT = /^Split it into several files$/;

const cases = [
  ["an evalset", () => evaluate({ evalSet: bytes, actual: ACTUAL }), "evalSet", LINES],
  ["what the agent did", () => evaluate({ evalSet: EXPECTED, actual: bytes }), "actual", LINES],
  ["what the agent did, as text", () => evaluate({ evalSet: EXPECTED, actual: text }), "actual", LINES],
  ["a config", () => evaluate({ evalSet: EXPECTED, actual: ACTUAL, config: bytes }), "config", SPLIT],
  ["an evalset to be read", () => readEvalSet(bytes), "evalSet", LINES],
  ["an evalset to be checked", () => checkInputs({ evalSet: bytes }), "evalSet", LINES],
  ["results", () => readResults(bytes), "results", SPLIT],
  ["runs to be compared", () => compareRuns(bytes, bytes), "baseline", SPLIT],
  ["texts", () => rouge1("a".repeat(MOST), "b"), "reference and candidate", SPLIT],
];

for (const [what, read, path, help] of cases) {
  test(what, async () => {
    await assert.rejects(
      async () => await read(),
      (error) => {
        assert.equal(error.code, "limit_exceeded");
        assert.match(error.message, /^the input has \d+ bytes or more; one JSON text may have 268435456 \(256 MiB\)$/);
        assert.equal(error.path, path);
        assert.match(error.help, help);
        return true;
      },
    );
  });
}

test("the engine says it too", async () => {
  const values = new Uint8Array(MOST - 8).fill(0x31);
  for (let at = 1; at < values.length; at += 2) values[at] = 0x2c;
  values[0] = 0x5b;
  values[1] = 0x31;
  values[values.length - 1] = 0x5d;
  await assert.rejects(evaluate({ evalSet: values, actual: ACTUAL }), ({ message, help }) => {
    assert.equal(message, "the input has more than 16777216 values");
    assert.equal(help, "Split it into several files, or write its cases as JSON lines");
    return true;
  });
});

test("the calls of one turn, or one large call", async () => {
  const reasonOf = async (toolUses) => {
    const userContent = { parts: [{ text: "Go" }] };
    const conversation = [
      { userContent, finalResponse: { parts: [{ text: "Done" }] }, intermediateData: { toolUses } },
    ];
    const evalSet = { evalSetId: "large", evalCases: [{ evalId: "one", conversation }] };
    const { evalCaseResults } = await evaluate({
      evalSet,
      actual: evalSet,
      criteria: { tool_trajectory_avg_score: 1 },
    });
    return evalCaseResults[0].overallEvalMetricResults[0].reason;
  };
  const most = "at most 10000 and 8388608 are compared";
  assert.match(
    await reasonOf([{ name: "f", args: { text: "a".repeat(2 ** 23) } }]),
    new RegExp(`the turn has 1 tool call with 8388619 bytes of arguments; ${most}`),
  );
  assert.match(
    await reasonOf(Array.from({ length: 10_001 }, () => ({ name: "f", args: {} }))),
    new RegExp(`the turn has 10001 tool calls with 20002 bytes of arguments; ${most}`),
  );
});
