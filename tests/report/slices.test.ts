// A table is written in pieces from its beginning: what is counted is how many cases are read for one of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EvalStatus } from "../../pkg-template/src/enums.js";
import { renderTable, tableChunks } from "../../pkg-template/src/report/index.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult } from "../../pkg-template/src/types.js";
import { travelSet } from "./fixtures.js";

const CASES = 20_000;

test("a table is measured and written in pieces", () => {
  let scores = 0;
  const metric = (metricName: string, evalStatus: EvalStatus): EvalMetricResult => ({
    metricName,
    evalStatus,
    threshold: 0.5,
    get score() {
      scores += 1;
      return 0.75;
    },
  });
  const metrics = [
    metric("response_match_score", EvalStatus.PASSED),
    metric("token_usage_v1", EvalStatus.INFORMATIONAL),
  ];
  const [first] = travelSet().evalCaseResults as [EvalCaseResult];
  const evalCaseResults = Array.from({ length: CASES }, (_, at) => ({
    ...first,
    evalId: `case ${at}`,
    finalEvalStatus: EvalStatus.PASSED,
    overallEvalMetricResults: metrics,
    evalMetricResultPerInvocation: [],
  }));
  const set: EvalSetResult = { ...travelSet(), evalCaseResults };
  const chunks = tableChunks([set]);
  const pieces: string[] = [];
  for (;;) {
    scores = 0;
    const { done, value } = chunks.next();
    if (done) break;
    pieces.push(value);
    assert.ok(scores <= CASES / 4, `${scores} scores were read for piece ${pieces.length}`);
    assert.ok(value.length <= 200_000, `piece ${pieces.length} has ${value.length} characters`);
  }
  assert.equal(pieces.join(""), renderTable([set]));
});
