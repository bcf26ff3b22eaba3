// The table of a comparison: what became of a case can be read whole, and why.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareRuns, evaluate } from "../../pkg/dist/esm/node.js";
import { renderComparisonMarkdown, renderComparisonTable } from "../../pkg-template/src/report/index.js";

const say = (text: string) => ({ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text }] } });
const setOf = (...answers: string[]) => ({
  evalSetId: "talk",
  evalCases: answers.map((text) => ({ evalId: "a-greeting-that-has-a-long-name", conversation: [say(text)] })),
});
const scored = (answers: string[], criteria: Record<string, number>) =>
  evaluate({ evalSet: setOf("Hello there"), actual: setOf(...answers), criteria });

test("the status of a case is not cut off where it was run repeatedly", async () => {
  const criteria = { response_match_score: 0.5 };
  const comparison = compareRuns(
    await scored(["Hello there", "Hello there"], criteria),
    await scored(["Hello there", "No", "No"], criteria),
  );
  for (const width of [80, 100, 160]) {
    const table = renderComparisonTable(comparison, { width });
    assert.match(table, /passed 2\/2 → failed 1\/3\n/);
    for (const line of table.split("\n")) assert.ok(line.length <= width, line);
  }
  assert.match(renderComparisonTable(comparison), /passed \(2 of 2 runs passed\) → failed \(1 of 3 runs passed\)/);
});

test("a case that regressed by a metric of the current run alone says so", async () => {
  const before = await scored(["Hello"], { response_match_score: 0.5 });
  const after = await scored(["Hello"], { response_match_score: 0.5, tool_trajectory_avg_score: 2 });
  const why = "failed by tool_trajectory_avg_score (1.0000, threshold 2), which only the current run has";
  const comparison = compareRuns(before, after);
  assert.equal(comparison.cases[0]?.change, "regressed");
  assert.ok(renderComparisonTable(comparison, { width: 160 }).includes(why));
  assert.match(renderComparisonMarkdown(comparison), /which only the current run has/);
  const fixed = compareRuns(after, before);
  assert.equal(fixed.cases[0]?.change, "fixed");
  assert.match(renderComparisonTable(fixed, { width: 160, details: true }), /which only the baseline has/);
  assert.equal(compareRuns(after, after).cases[0]?.current.reason, undefined);
});
