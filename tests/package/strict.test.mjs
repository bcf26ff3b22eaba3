// Warnings that are errors, and configs without a criterion: nothing is run or asked before.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { evaluate } = await importEntry(".");
const { renderJUnit } = await importEntry("./report");

const turn = { userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } };
const setOf = (more) => ({ evalSetId: "s", evalCases: [{ evalId: "c", conversation: [turn] }], ...more });
const EVAL_SET = setOf({ owner: "me" });
const criteria = { response_match_score: 0.5 };

test("a warning is in the results and in JUnit", async () => {
  const set = await evaluate({ evalSet: EVAL_SET, actual: setOf({}), criteria });
  assert.deepEqual(set.warnings, [
    { code: "invalid_input", message: "`owner` is not a key of an evalset and is left out", path: "evalSet: owner" },
  ]);
  assert.match(
    renderJUnit(set),
    /<system-err>\nwarning: `owner` is not a key of an evalset and is left out \(evalSet: owner\)\n/,
  );
});

test("with `strict` a warning is an error, and no judge is asked", async () => {
  let asked = 0;
  const judge = () => {
    asked += 1;
    return "{}";
  };
  const request = { actual: setOf({}), judge, criteria: { final_response_match_v2: 0.5 }, strict: true };
  await assert.rejects(evaluate({ ...request, evalSet: EVAL_SET }), {
    code: "invalid_input",
    message: "`owner` is not a key of an evalset and is left out",
    path: "evalSet: owner",
  });
  await assert.rejects(evaluate({ ...request, evalSet: setOf({ owner: "me", team: "x" }) }), {
    message:
      "there are 2 warnings, which `strict` refuses:\n" +
      "- `owner` is not a key of an evalset and is left out (at evalSet: owner)\n" +
      "- `team` is not a key of an evalset and is left out (at evalSet: team)",
  });
  assert.equal(asked, 0);
});

test("without a criterion nothing is scored, unless counts alone are meant", async () => {
  for (const config of [{}, { criteria: {} }, { metrics: { response_match_score: 1 } }]) {
    await assert.rejects(evaluate({ evalSet: setOf({}), actual: setOf({}), config }), {
      code: "invalid_input",
      message: "there is no criterion, so nothing could pass or fail",
      help: /^A config looks like \{"criteria": /,
    });
  }
  const set = await evaluate({ evalSet: setOf({}), actual: setOf({}), criteria: {}, countOnly: true });
  assert.equal(set.evalCaseResults.length, 1);
});

test("metrics at the top of a config are criteria", async () => {
  const set = await evaluate({ evalSet: setOf({}), actual: setOf({}), config: { RESPONSE_MATCH_SCORE: 0.5 } });
  const [first] = set.evalCaseResults[0].overallEvalMetricResults;
  assert.deepEqual([first.metricName, first.score], ["response_match_score", 1]);
});

test("a misspelt key is an error with its place, also in an object", async () => {
  const misspelt = { ...turn, intermediateData: { toolUse: [{ name: "delete_account", args: {} }] } };
  const evalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: [misspelt] }] };
  await assert.rejects(evaluate({ evalSet, actual: setOf({}), criteria }), {
    code: "invalid_input",
    message: "`toolUse` is not a key of intermediate data",
    path: "evalSet: evalCases[0].conversation[0].intermediateData.toolUse",
    help: "Did you mean `toolUses`?",
  });
});
