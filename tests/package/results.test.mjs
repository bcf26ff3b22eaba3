// The package's contract: results, other thresholds, and ADK's schema.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ACTUAL, EXPECTED, evalSetOf, inSnakeCase, turn, walk } from "./support/conversations.mjs";
import { importEntry, manifest, root } from "./support/package.mjs";
import { CRITERIA, bytes, evaluateMine, registryWith } from "./support/contract.mjs";

const adk = await importEntry();
const { EvalStatus, evalSetToAdkJson, evaluate, readEvalSet, resultsToAdkJson, withThresholds } = adk;

describe("results", () => {
  test("are stamped", async () => {
    const before = Date.now() / 1000;
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA, dialect: "adk-ts" });
    assert.equal(set.engineVersion, manifest.version);
    const pinned = readFileSync(join(root, "tests/parity/requirements.txt"), "utf8");
    assert.ok(pinned.includes(`google-adk[eval]==${set.referenceVersion}\n`), set.referenceVersion);
    assert.equal(set.dialect, "adk-ts");
    assert.equal(set.evalSetId, "set");
    assert.ok(set.creationTimestamp >= before && set.creationTimestamp <= Date.now() / 1000);
    assert.ok(set.evalSetResultId.startsWith("set_"));
  });

  test("have a finite score or a reason, everywhere", async () => {
    const registry = registryWith(() => ({ perInvocationResults: [] }));
    for (const request of [
      { criteria: CRITERIA },
      { criteria: { mine: 1, tool_parameter_match: 0.5, tool_trajectory_f1: 0.5 }, registry },
      { dialect: "adk-ts" },
      { actual: evalSetOf({}) },
      { signal: AbortSignal.abort() },
    ]) {
      const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, ...request });
      for (const [path, value] of walk(set)) {
        if (typeof value === "number") assert.ok(Number.isFinite(value), path);
        if (typeof value !== "object" || value === null) continue;
        if (!("evalStatus" in value)) continue;
        assert.ok(value.score !== undefined || (typeof value.reason === "string" && value.reason !== ""), path);
        assert.ok(!("score" in value) || Number.isFinite(value.score), path);
        assert.ok(value.evalStatus !== EvalStatus.NOT_EVALUATED || value.reason !== undefined, path);
      }
    }
  });

  test("give a reason for every slot, however many reasons there are", async () => {
    const conversation = Array.from({ length: 350 }, () => ({ userContent: {} }));
    const evalSet = evalSetOf(
      Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`c${index}`, conversation])),
    );
    let count = 0;
    const work = (actual) => ({ perInvocationResults: actual.map(() => ({ reason: `reason ${(count += 1)}` })) });
    const set = await evaluateMine(work, { evalSet, actual: evalSet, concurrency: Infinity });
    const reasons = set.evalCaseResults.flatMap(({ evalMetricResultPerInvocation: turns }) =>
      turns.map(({ evalMetricResults: [mine] }) => mine.reason),
    );
    assert.equal(new Set(reasons).size, 70_000);
    assert.ok(reasons.every((reason) => reason !== undefined));
  });

  test("are explained for all results, for failures, or for none", async () => {
    const explained = {};
    for (const explain of ["all", "failures", "none"]) {
      const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA, explain });
      const results = set.evalCaseResults.flatMap((one) =>
        one.evalMetricResultPerInvocation.flatMap((turn) => turn.evalMetricResults.slice(0, 2)),
      );
      explained[explain] = results.filter((result) => result.explanation !== undefined);
      explained[`${explain} scores`] = results.map((result) => result.score);
    }
    assert.equal(explained.none.length, 0);
    assert.equal(explained.all.length, 8);
    assert.ok(explained.failures.length > 0 && explained.failures.length < 8);
    assert.ok(explained.failures.every((result) => result.evalStatus === EvalStatus.FAILED));
    assert.deepEqual(explained["all scores"], explained["none scores"]);
    assert.deepEqual(explained["all scores"], explained["failures scores"]);
  });

  test("explain a trajectory by its alignment and a response by its matched words", async () => {
    const actual = evalSetOf({ c: [turn("q", "It's sunny 🌞 in London", [["b", { x: 1, y: 2 }]])] });
    const evalSet = evalSetOf({ c: [turn("q", "Sunny London", [["b", { x: 1, y: 3 }]])] });
    const set = await evaluate({ evalSet, actual, criteria: CRITERIA });
    const [trajectory, response] = set.evalCaseResults[0].evalMetricResultPerInvocation[0].evalMetricResults;
    assert.deepEqual(trajectory.explanation.alignment, [
      { kind: "arguments", expectedIndex: 0, actualIndex: 0, differences: [{ path: "y", expected: 3, actual: 2 }] },
    ]);
    const { precision, recall, matched } = response.explanation.tokens;
    assert.equal((2 * precision * recall) / (precision + recall), response.score);
    const spans = JSON.stringify(matched).match(/\d+/g);
    assert.ok(spans.length > 0);
  });

  test("withThresholds gives what a fresh evaluation gives, and scores nothing", async () => {
    const others = { tool_trajectory_avg_score: 0.25, response_match_score: { threshold: 0.99 } };
    for (const input of [(value) => value, bytes]) {
      const request = { evalSet: input(EXPECTED), actual: input(ACTUAL) };
      const first = await evaluate({
        ...request,
        criteria: { tool_trajectory_avg_score: 1, response_match_score: { threshold: 0.1 } },
      });
      const before = JSON.stringify(first);
      const found = withThresholds(first, others);
      const fresh = await evaluate({ ...request, criteria: others });
      const { evalSetResultId, evalSetResultName, creationTimestamp } = found;
      assert.deepEqual(
        JSON.parse(JSON.stringify(found)),
        JSON.parse(JSON.stringify({ ...fresh, evalSetResultId, evalSetResultName, creationTimestamp })),
      );
      assert.equal(JSON.stringify(first), before);
    }
  });

  test("withThresholds takes the names that a config takes, and leaves other metrics alone", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    const changed = withThresholds(set, { TOOL_TRAJECTORY_AVG_SCORE: 0, token_usage_v1: 1 });
    const [, second] = changed.evalCaseResults;
    assert.equal(second.overallEvalMetricResults[0].evalStatus, EvalStatus.PASSED);
    assert.equal(second.overallEvalMetricResults[1], set.evalCaseResults[1].overallEvalMetricResults[1]);
    assert.equal(second.overallEvalMetricResults[4].evalStatus, EvalStatus.INFORMATIONAL);
  });
});

describe("withThresholds", () => {
  test("reaches a metric by any of its names, whichever the result carries", async () => {
    const names = ["tool_trajectory_avg_score", "tool_trajectory_score", "TOOL_TRAJECTORY_AVG_SCORE"];
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    for (const carried of names) {
      const text = JSON.stringify(set).replaceAll('"tool_trajectory_avg_score"', JSON.stringify(carried));
      for (const asked of [...names, "TOOL_TRAJECTORY_SCORE"]) {
        const [, second] = withThresholds(JSON.parse(text), { [asked]: 0 }).evalCaseResults;
        assert.equal(second.overallEvalMetricResults[0].threshold, 0, `${asked} for ${carried}`);
        assert.equal(second.evalMetricResultPerInvocation[0].evalMetricResults[0].threshold, 0);
        assert.equal(second.overallEvalMetricResults[0].metricName, carried);
      }
    }
  });

  test("prefers the very name of a metric", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    for (const criteria of [
      { response_match: 0.1, response_match_score: 0.2 },
      { response_match_score: 0.2, response_match: 0.1 },
    ]) {
      const [first] = withThresholds(set, criteria).evalCaseResults;
      assert.equal(first.overallEvalMetricResults[1].threshold, 0.2);
    }
  });

  test("refuses a metric that no result has, and says which there are", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    for (const criteria of [{ nonsense: 1 }, { safety: {} }]) {
      assert.throws(() => withThresholds(set, criteria), {
        name: "AdkMetricsError",
        code: "unknown_metric",
        help: /`tool_trajectory_avg_score`, `response_match_score`/,
      });
    }
    assert.throws(() => withThresholds(set, { response_match_scor: 1 }), {
      help: "Did you mean `response_match_score`?",
    });
    const empty = { ...set, evalCaseResults: [] };
    assert.deepEqual(withThresholds(empty, { nonsense: 1 }), empty);
  });

  test("warns of a threshold outside the range of scores as configs do", async () => {
    const inputs = { evalSet: EXPECTED, actual: ACTUAL };
    const set = await evaluate({ ...inputs, criteria: { response_match_score: 0.5 } });
    for (const criteria of [{ response_match_score: 50 }, { response_match_score: -1 }]) {
      const { warnings } = await evaluate({ ...inputs, criteria });
      assert.deepEqual(
        withThresholds(set, criteria).warnings.map(({ code, message, help }) => ({ code, message, help })),
        warnings.map(({ code, message, help }) => ({ code, message, help })),
      );
    }
    assert.equal(withThresholds(set, { response_match_score: 1 }).warnings, undefined);
  });
});

describe("ADK's schema", () => {
  test("results are written in snake_case with integer statuses, and read back as actual runs", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA });
    const text = resultsToAdkJson(set);
    const json = JSON.parse(text);
    assert.equal(json.eval_case_results[1].final_eval_status, 2);
    assert.equal(json.eval_case_results[1].overall_eval_metric_results[0].metric_name, "tool_trajectory_avg_score");
    assert.ok(!text.includes('"explanation"') && !text.includes('"reason"'));
    const again = await evaluate({ evalSet: EXPECTED, actual: text, criteria: CRITERIA });
    assert.deepEqual(
      again.evalCaseResults.map((one) => one.finalEvalStatus),
      set.evalCaseResults.map((one) => one.finalEvalStatus),
    );
  });

  test("an evalset is written in snake_case and read in camelCase, whatever it came in", () => {
    const text = evalSetToAdkJson(EXPECTED);
    assert.equal(JSON.parse(text).eval_cases[0].conversation[0].intermediate_data.tool_uses[0].args.theUnit, "C");
    assert.equal(evalSetToAdkJson(inSnakeCase(EXPECTED)), text);
    assert.equal(evalSetToAdkJson(text), text);
    assert.deepEqual(readEvalSet(text), readEvalSet(EXPECTED));
    assert.equal(readEvalSet(text).evalCases[2].evalId, "long");
  });

  test("an old file is read under the name given", () => {
    const old = JSON.stringify([
      { query: "q", reference: "r", expected_tool_use: [{ tool_name: "t", tool_input: { a_b: 1 } }] },
    ]);
    const set = readEvalSet(old, "home");
    assert.equal(set.evalSetId, "home");
    assert.deepEqual(set.evalCases[0].conversation[0].intermediateData.toolUses, [{ name: "t", args: { a_b: 1 } }]);
    assert.equal(JSON.parse(evalSetToAdkJson(old)).eval_set_id, "evalset");
  });
});
