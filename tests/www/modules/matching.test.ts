// Which files belong together.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Choices, type Matchable, matchFiles } from "../../../www/src/state/matching.js";
import type { FileKind } from "../../../www/src/worker/protocol-inputs.js";

const NONE: Choices = { roles: {}, actualOf: {} };

const file = (id: number, name: string, kind: FileKind, evalIds: string[] = [], evalSetId?: string): Matchable => ({
  id,
  name,
  folder: "",
  info: { kind, evalIds, turns: 0, ...(evalSetId === undefined ? {} : { evalSetId }) },
});

describe("files are matched", () => {
  test("by their names", () => {
    const files = [
      file(1, "weather.evalset.json", "evalset"),
      file(2, "travel.evalset.json", "evalset"),
      file(3, "travel.evalset_result.json", "results"),
      file(4, "weather.actual.json", "evalset"),
    ];
    assert.deepEqual(matchFiles(files, NONE).pairs, [
      { expected: 1, actual: 4 },
      { expected: 2, actual: 3 },
    ]);
  });

  test("by the evalset's id and the cases where names say nothing", () => {
    const files = [
      file(1, "a.json", "evalset", ["one", "two"], "set"),
      file(2, "b.json", "evalset", ["other"], "else"),
      file(3, "run.json", "inferences", ["other"]),
      file(4, "log.json", "results", ["one", "two"], "set"),
    ];
    assert.deepEqual(matchFiles(files, NONE).pairs, [
      { expected: 1, actual: 4 },
      { expected: 2, actual: 3 },
    ]);
  });

  test("one evalset and one run belong together whatever they are called", () => {
    const files = [file(1, "x.json", "evalset"), file(2, "y.json", "session")];
    assert.deepEqual(matchFiles(files, NONE).pairs, [{ expected: 1, actual: 2 }]);
  });

  test("of two evalsets with the same cases the one named so is what was done", () => {
    const files = [
      file(1, "weather.actual.json", "evalset", ["a"], "w"),
      file(2, "weather.evalset.json", "evalset", ["a"], "w"),
    ];
    assert.deepEqual(matchFiles(files, NONE).pairs, [{ expected: 2, actual: 1 }]);
  });

  test("results alone bring what was expected with them", () => {
    assert.deepEqual(matchFiles([file(7, "r.json", "results", ["a"])], NONE).pairs, [{ expected: "own", actual: 7 }]);
  });

  test("of an eval history by the newest results, whatever the order of the files", () => {
    const results = (id: number, madeAt: number, evalSetId = "greetings"): Matchable => {
      const { info, ...one } = file(id, `agent_${evalSetId}_${madeAt}.json`, "results", ["a"], evalSetId);
      return { ...one, info: { kind: "results", evalIds: ["a"], turns: 0, ...info, madeAt } };
    };
    const set = file(1, "greetings.evalset.json", "evalset", ["a"], "greetings");
    const times: [number, string?][] = [[100], [300], [200], [50, "other"], [60, "other"]];
    const files = [set, ...times.map(([madeAt, evalSetId], at) => results(at + 2, madeAt, evalSetId))];
    const { pairs, rest } = matchFiles(files, NONE);
    assert.deepEqual(pairs, [
      { expected: 1, actual: 3 },
      { expected: "own", actual: 6 },
    ]);
    assert.deepEqual(rest, [2, 4, 5]);
    const chosen = matchFiles(files, { ...NONE, roles: { 4: "actual" } });
    assert.deepEqual(chosen.pairs.at(1), { expected: "own", actual: 4 });
    // Other results that the user chooses take the place of the newest.
    const other = matchFiles(files, { ...NONE, actualOf: { 1: 2 } });
    assert.deepEqual(other.pairs, [
      { expected: 1, actual: 2 },
      { expected: "own", actual: 6 },
    ]);
    assert.deepEqual(other.rest, [3, 4, 5]);
  });

  test("the user's word counts", () => {
    const files = [
      file(1, "weather.evalset.json", "evalset"),
      file(2, "weather.actual.json", "evalset"),
      file(3, "other.actual.json", "evalset"),
    ];
    assert.deepEqual(matchFiles(files, { roles: {}, actualOf: { 1: 3 } }).pairs, [{ expected: 1, actual: 3 }]);
    assert.deepEqual(matchFiles(files, { roles: {}, actualOf: { 1: null } }).pairs, [
      { expected: 1, actual: undefined },
    ]);
    const { pairs, rest } = matchFiles(files, { roles: { 2: "none" }, actualOf: {} });
    assert.deepEqual(pairs, [{ expected: 1, actual: 3 }]);
    assert.deepEqual(rest, [2]);
  });

  test("configs and recordings stand by themselves", () => {
    const { configs, recordings, rest } = matchFiles(
      [file(1, "test_config.json", "config"), file(2, "judge.jsonl", "recording"), file(3, "notes.json", "unknown")],
      NONE,
    );
    assert.deepEqual([configs, recordings, rest], [[1], [2], [3]]);
  });
});
