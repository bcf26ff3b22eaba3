// The axis of a metric in the playground: its range, and the steps in which a threshold moves.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BINS, binsOf, scaleOf, settled } from "../../www/src/screens/results/scale.js";
import type { RunSummary } from "../../www/src/worker/protocol.js";

/** A run of one metric. */
const runOf = (scores: number[], metric: Partial<RunSummary["metrics"][number]> = {}): RunSummary => ({
  id: "run",
  sets: [],
  metrics: [{ name: "metric", ...metric }],
  evalIds: scores.map((_, at) => `case_${at}`),
  scores: Float64Array.from(scores),
  verdicts: { cases: new Uint8Array(scores.length), metrics: new Uint8Array(scores.length) },
  reasons: [],
});

describe("the axis of a metric", () => {
  for (const [what, run, expected] of [
    [
      "is the metric's own range",
      runOf([0.4], { least: 0, most: 1, threshold: 0.8 }),
      { least: 0, most: 1, step: 0.01 },
    ],
    ["has steps that fit the range", runOf([3], { least: 1, most: 5 }), { least: 1, most: 5, step: 0.02 }],
    ["goes from zero to the largest amount", runOf([900, 12_345, Number.NaN]), { least: 0, most: 12_345, step: 100 }],
    [
      "holds a threshold outside the range",
      runOf([0.4], { least: 0, most: 1, threshold: 2 }),
      { least: 0, most: 2, step: 0.02 },
    ],
    ["has a length where there is nothing to show", runOf([Number.NaN]), { least: 0, most: 1, step: 0.01 }],
  ] as const) {
    test(what, () => assert.deepEqual(scaleOf(run, 0), expected));
  }

  test("has a bin for each score, the highest in the last", () => {
    const run = runOf([0, 0.5, 1, Number.NaN], { least: 0, most: 1 });
    assert.deepEqual([...binsOf(run, 0, scaleOf(run, 0))], [0, Math.floor(BINS / 2), BINS - 1, -1]);
  });

  test("lets a threshold stand at multiples of a step, and at its ends", () => {
    const scale = { least: 0, most: 1, step: 0.01 };
    assert.equal(settled(scale, 0.1 + 0.2, 0.01), 0.3);
    assert.equal(settled(scale, 0.12345, 0.001), 0.123);
    assert.equal(settled(scale, 7, 0.01), 1);
    assert.equal(settled(scale, -7, 0.01), 0);
  });
});
