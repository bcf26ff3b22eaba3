// The tables of scores in the documentation: every score is what the package gives.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { importEntry, root } from "../package/support/package.mjs";

const { RougeEvaluator, TrajectoryEvaluator } = await importEntry();
const page = (name) => readFileSync(join(root, name), "utf8");

/** The rows of the table with these columns, as texts without code marks. */
function tableRows(text, columns) {
  const cells = (line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", ""));
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith("|") && cells(line).join() === columns.join());
  assert.notEqual(start, -1, `a table of ${columns}`);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map(cells);
}

async function responseMatch(expected, actual, dialect) {
  const says = (text) => [{ userContent: { parts: [{ text: "Go" }] }, finalResponse: { parts: [{ text }] } }];
  const evaluator = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.5 }, { dialect });
  const { overallScore } = await evaluator.evaluateInvocations(says(actual), says(expected));
  return overallScore;
}

/** A score as a table shows it: with as many decimals. */
const assertShown = (score, shown) => assert.equal(score.toFixed(shown.split(".")[1].length), shown);

describe("the documentation", () => {
  test("shows the scores of responses in both dialects", async () => {
    const rows = tableRows(page("docs/metrics/responses.md"), ["expected", "actual", "score"]);
    assert.equal(rows.length, 4);
    for (const [expected, actual, score] of rows) {
      for (const dialect of ["adk-python", "adk-ts"]) {
        assert.equal(await responseMatch(expected, actual, dialect), Number(score), `${expected}, ${dialect}`);
      }
    }
  });

  test("shows where the dialects differ", async () => {
    const rows = tableRows(page("docs/metrics.md"), ["expected", "actual", "adk-python", "adk-ts"]);
    assert.ok(rows.length > 0);
    for (const [expected, actual, python, typeScript] of rows) {
      assertShown(await responseMatch(expected, actual, "adk-python"), python);
      assertShown(await responseMatch(expected, actual, "adk-ts"), typeScript);
    }
  });

  test("shows the scores of the match types", async () => {
    const search = { name: "search_web", args: { query: "TypeScript generics" } };
    const summarize = { name: "summarize", args: { maxLength: 200 } };
    const other = { name: "open_page", args: {} };
    /** What each row of the table may mean. */
    const called = {
      "exactly that": [[search, summarize]],
      "one of the two only": [[search], [summarize]],
      "another tool instead of one of them": [
        [other, summarize],
        [search, other],
      ],
      "one of them with another key or value": [
        [{ ...search, args: { q: "TypeScript generics" } }, summarize],
        [search, { ...summarize, args: { maxLength: 100 } }],
      ],
      "both, with another call in between": [[search, other, summarize]],
      "both, swapped": [[summarize, search]],
    };
    const makes = (toolUses) => [
      { userContent: { parts: [{ text: "Go" }] }, intermediateData: { toolUses, intermediateResponses: [] } },
    ];
    const score = async (calls, matchType, dialect) => {
      const metric = { metricName: "tool_trajectory_avg_score", criterion: { threshold: 1, matchType } };
      const evaluator = new TrajectoryEvaluator(metric, { dialect });
      return (await evaluator.evaluateInvocations(makes(calls), makes([search, summarize]))).overallScore;
    };

    const types = ["EXACT", "IN_ORDER", "ANY_ORDER"];
    const rows = tableRows(page("docs/metrics/tool-calls.md"), ["the agent called", ...types]);
    assert.deepEqual(
      rows.map(([row]) => row),
      Object.keys(called),
    );
    for (const [row, ...shown] of rows) {
      for (const calls of called[row]) {
        for (const [index, type] of types.entries()) {
          assert.equal(await score(calls, type, "adk-python"), Number(shown[index]), `${row}, ${type}`);
        }
        assert.equal(await score(calls, "EXACT", "adk-ts"), Number(shown[0]), `${row}, adk-ts`);
      }
    }
  });
});
