// The axis of a metric in the playground: its range, and the steps in which a threshold moves.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EvalStatus } from "../../../www/src/enums.js";
import { BINS, binsOf, type Columns, scaleOf, snapToStep, spreadOf } from "../../../www/src/worker/scale.js";
import type { MetricColumn } from "../../../www/src/worker/protocol.js";

/** The columns of a run of one metric. */
const runOf = (scores: number[], metric: Partial<MetricColumn> = {}): Columns => ({
  metrics: [{ name: "metric", ...metric }],
  scores: Float64Array.from(scores),
});

describe("the axis of a metric", () => {
  for (const [what, run, expected] of [
    ["is the metric's own range", runOf([0.4], { min: 0, max: 1, threshold: 0.8 }), { min: 0, max: 1, step: 0.01 }],
    ["has steps that fit the range", runOf([3], { min: 1, max: 5 }), { min: 1, max: 5, step: 0.02 }],
    ["goes from zero to the largest amount", runOf([900, 12_345, Number.NaN]), { min: 0, max: 12_345, step: 100 }],
    [
      "holds a threshold outside the range",
      runOf([0.4], { min: 0, max: 1, threshold: 2 }),
      { min: 0, max: 2, step: 0.02 },
    ],
    ["has a length where there is nothing to show", runOf([Number.NaN]), { min: 0, max: 1, step: 0.01 }],
  ] as const) {
    test(what, () => assert.deepEqual(scaleOf(run, 0), expected));
  }

  test("has a bin for each score, the highest in the last", () => {
    const run = runOf([0, 0.5, 1, Number.NaN], { min: 0, max: 1 });
    assert.deepEqual([...binsOf(run, 0, scaleOf(run, 0))], [0, Math.floor(BINS / 2), BINS - 1, -1]);
  });

  test("counts in each bin how many passed, failed, and are only shown, and apart from them what has no score", () => {
    const run = runOf([0, 0, 1, 1, Number.NaN, Number.NaN], { min: 0, max: 1 });
    const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;
    const statuses = Uint8Array.of(FAILED, PASSED, PASSED, INFORMATIONAL, NOT_EVALUATED, 0);
    const { passed, failed, others, open } = spreadOf(binsOf(run, 0, scaleOf(run, 0)), statuses, 1, 0);
    assert.deepEqual([passed[0], failed[0], others[0]], [1, 1, 0]);
    assert.deepEqual([passed.at(-1), failed.at(-1), others.at(-1)], [1, 0, 1]);
    assert.equal(open, 1);
  });

  test("lets a threshold stand at multiples of a step, and at its ends", () => {
    const scale = { min: 0, max: 1, step: 0.01 };
    assert.equal(snapToStep(scale, 0.1 + 0.2, 0.01), 0.3);
    assert.equal(snapToStep(scale, 0.12345, 0.001), 0.123);
    assert.equal(snapToStep(scale, 7, 0.01), 1);
    assert.equal(snapToStep(scale, -7, 0.01), 0);
  });
});
