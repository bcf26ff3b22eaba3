// The contenders of the benchmarks still work, and agree: what nobody runs for a month is broken by then.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allDatasets } from "../../benches/js/datasets.mjs";
import { engine } from "../../benches/js/engine.mjs";
import { ours } from "../../benches/js/ours.mjs";

describe("the contenders of the benchmarks", async () => {
  const contenders = [...(await engine()), ...(await ours())].filter(({ semantics }) => semantics === "adk-python");

  for (const dataset of allDatasets(0.002)) {
    test(`give the same scores: ${dataset.name}`, async () => {
      const found = [];
      for (const contender of contenders) {
        for (const method of ["fromBytes", "fromObjects"]) {
          if (contender[method] !== undefined) found.push([contender.name, await contender[method](dataset)]);
        }
      }
      const [[, first]] = found;
      assert.equal(first.length, dataset.cases);
      assert.ok(found.length > 3);
      for (const [name, scores] of found) assert.deepEqual(scores, first, name);
    });
  }
});
