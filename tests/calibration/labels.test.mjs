// The verdicts that people can label, and labels as objects: in which order, read from files, written to them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { resultsOf, RUBRICS, SCORES } from "./results.mjs";

const { labelSheet, readLabels, verdictsToLabel, writeLabels } = await importEntry("./calibration");

describe("labels as objects", () => {
  const cases = { sure: { polite: [1, 1, 1] }, split: [{ polite: [1, 0, 1, 0, 1] }, 2] };

  test("are given to the verdicts of a sheet, in its order", () => {
    const verdicts = verdictsToLabel(resultsOf(cases));
    assert.deepEqual(
      verdicts.map(({ evalId, turn }) => `${evalId} ${turn}`),
      labelSheet(resultsOf(cases))
        .trim()
        .split("\r\n")
        .slice(1)
        .map((row) => row.split(",").slice(1, 4))
        .map(([evalId, , turn]) => `${evalId} ${turn}`),
    );
    const rubric = verdicts.find(({ evalId, turn }) => evalId === "split" && turn === 1);
    assert.deepEqual(rubric, {
      ...{ evalSetId: "shop", evalId: "split", run: 1, turn: 1, metricName: RUBRICS, rubricId: "polite" },
      ...{ judge: { passes: true, score: 1 }, rule: "It is polite.", rationale: "because of polite" },
    });
    const score = verdicts.find(({ metricName }) => metricName === SCORES);
    assert.deepEqual([score.scale, score.judge.score], [{ least: 1, most: 5 }, 2]);
    assert.equal(verdictsToLabel(resultsOf(cases), { count: 1 }).length, 1);
    assert.throws(() => verdictsToLabel(resultsOf(cases), { blind: true }), /there is no option `blind`/);
  });

  test("are read with the places of their verdicts, and the others are told of", () => {
    const text = `case,turn,metric,rubric,label,comment,annotator,chosen
sure,,${RUBRICS},polite,not met,"short, ""cold""",Ann,random
split,2,${SCORES},,4,,,
split,2,${SCORES},,,,,
split,3,${SCORES},,4,,,
split,2,${SCORES},,,"which one?",Ann,
gone,1,${SCORES},,,"and this?",,`;
    const { labels, comments, empty, problems } = readLabels(resultsOf(cases), text);
    assert.deepEqual(labels, [
      {
        ...{ evalSetId: "shop", evalId: "sure", run: 1, metricName: RUBRICS, label: false, turn: 1 },
        ...{ rubricId: "polite", annotator: "Ann", chosen: "random", comment: 'short, "cold"' },
      },
      { evalSetId: "shop", evalId: "split", run: 1, metricName: SCORES, label: 4, turn: 2 },
    ]);
    assert.deepEqual(comments, [
      {
        ...{ evalSetId: "shop", evalId: "split", run: 1, metricName: SCORES, turn: 2 },
        ...{ annotator: "Ann", comment: "which one?" },
      },
    ]);
    assert.equal(empty, 1);
    assert.deepEqual(
      problems.map(({ line, message }) => [line, message]),
      [
        [5, "there is no verdict of turn 3"],
        [7, "there is no case `gone` in the results"],
      ],
    );
  });

  test("are written as they were read", () => {
    const odd = { "=1+1": { polite: [1] }, ' a "quoted", id\n': { polite: [0] } };
    const results = resultsOf(odd, { evalSetId: " @shop " });
    const labels = verdictsToLabel(results).map(({ judge: _judge, rule: _rule, rationale: _why, ...place }, at) => ({
      ...{ ...place, label: at === 0, comment: "why\nnot, then" },
    }));
    assert.deepEqual(readLabels(results, writeLabels(labels)), { labels, comments: [], empty: 0, problems: [] });
    assert.throws(() => writeLabels({}), /expected a list of labels/);
  });
});
