// Case results are rows over columns: what they say of metrics and turns is made when it is looked at. Nobody has to know.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { evalSetOf, turn } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";

const { evaluate, withThresholds } = await importEntry();

const words = (count, seed) => Array.from({ length: count }, (_, at) => `w${(at * seed) % 17}`).join(" ");
const conversationOf = (turns, seed) =>
  Array.from({ length: turns }, (_, at) => turn(`q${at}`, words(4, seed + at), [["t", { at: at % seed }]]));

/** Cases of some turns each: `evaluate` gets the long ones in several batches. */
function requestOf(lengths) {
  const of = (seed) =>
    evalSetOf(Object.fromEntries(lengths.map((turns, at) => [`case ${at}`, conversationOf(turns, seed)])));
  const actual = of(3);
  delete actual.evalCases[1];
  return { evalSet: of(2), actual: { ...actual, evalCases: actual.evalCases.filter(Boolean) } };
}

const KEYS = ["evalSetId", "evalId", "finalEvalStatus", "overallEvalMetricResults", "evalMetricResultPerInvocation"];

for (const explain of ["all", "none"]) {
  test(`rows are like objects to all that copies and compares, explaining ${explain}`, async () => {
    const set = await evaluate({ ...requestOf([1, 2, 9000, 0, 3]), explain });
    const first = await evaluate({ ...requestOf([1, 2, 9000, 0, 3]), explain });
    for (const [at, row] of set.evalCaseResults.entries()) {
      assert.deepEqual(Object.keys(row).slice(0, KEYS.length), KEYS);
      assert.equal(Object.getPrototypeOf(row), Object.prototype);
      assert.equal(row.evalMetricResultPerInvocation, row.evalMetricResultPerInvocation);
      const json = JSON.parse(JSON.stringify(row));
      const other = first.evalCaseResults[at];
      // Each looks at one row first.
      const looks = [(row) => ({ ...row }), structuredClone, (row) => Object.assign({}, row), (row) => row];
      const seen = looks[at % looks.length](other);
      assert.deepEqual(seen, row);
      assert.deepEqual(JSON.parse(JSON.stringify(seen)), json);
      assert.match(inspect(other, { depth: 1 }), /overallEvalMetricResults: \[/);
    }
    const turns = set.evalCaseResults.map((row) => row.evalMetricResultPerInvocation.length);
    assert.deepEqual(turns, [1, 0, 9000, 0, 3]);
    for (const [number, { actualInvocation, evalMetricResults }] of Object.entries(
      set.evalCaseResults[2].evalMetricResultPerInvocation,
    )) {
      assert.equal(actualInvocation.userContent.parts[0].text, `q${number}`);
      assert.equal(evalMetricResults.length, 6);
    }
  });
}

test("rows can be looked at in any order, long after the engine has gone on", async () => {
  const lengths = Array.from({ length: 1500 }, (_, at) => at % 4);
  const [forwards, backwards] = [await evaluate(requestOf(lengths)), await evaluate(requestOf(lengths))];
  await evaluate(requestOf([5000]));
  for (const row of backwards.evalCaseResults.toReversed()) void row.evalMetricResultPerInvocation;
  assert.equal(JSON.stringify(forwards.evalCaseResults), JSON.stringify(backwards.evalCaseResults));
});

test("rows can be changed and frozen", async () => {
  const { evalCaseResults } = await evaluate(requestOf([1, 1, 2]));
  const [row, , other] = evalCaseResults;
  row.overallEvalMetricResults.length = 1;
  assert.equal(row.overallEvalMetricResults.length, 1);
  row.evalMetricResultPerInvocation = [];
  assert.deepEqual(row.evalMetricResultPerInvocation, []);
  assert.deepEqual(Object.keys(row).slice(0, KEYS.length), KEYS);
  Object.freeze(other);
  assert.equal(other.evalMetricResultPerInvocation.length, 2);
  assert.throws(() => (other.evalMetricResultPerInvocation = []), TypeError);
});

test("thresholds change the results of rows that nobody has looked at", async () => {
  const set = await evaluate(requestOf([1, 2, 3]));
  const strict = withThresholds(set, { response_match_score: 1.0, tool_trajectory_avg_score: 1.0 });
  assert.deepEqual(
    strict.evalCaseResults.map(({ evalId }) => evalId),
    ["case 0", "case 1", "case 2"],
  );
});
