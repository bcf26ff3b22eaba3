// Damaged results: whatever a value is replaced by, a report is rendered, or an error says where the damage is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareRuns } from "../../pkg-template/src/compare/runs.js";
import { AdkMetricsError } from "../../pkg-template/src/errors.js";
import * as report from "../../pkg-template/src/report/index.js";
import type { EvalSetResult } from "../../pkg-template/src/types.js";
import { supportSet, travelSet } from "./fixtures.js";
import { judgedSet } from "./judged-fixtures.js";

type Step = string | number;

/** Nested deeper than any walk by recursion can go. */
function deep(): unknown {
  let value: unknown = "end";
  for (let level = 0; level < 100_000; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const DEEP = deep();

const DAMAGES: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  "a number": -1.5,
  "an infinite number": Number.POSITIVE_INFINITY,
  "a string": "x",
  true: true,
  "an empty list": [],
  "a list of nothing": [null, undefined],
  "a list of lists": [[["x"]]],
  "an empty object": {},
  "an object in place of words": { toString: null, length: 3 },
  "a function": () => 1,
  "a symbol": Symbol("x"),
  "a large integer": 10n ** 30n,
  "something deep": DEEP,
};

function* pathsOf(value: unknown, path: readonly Step[] = []): Generator<readonly Step[]> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    // What is alike is damaged once, the first and the last of a list.
    if (Array.isArray(value) && Number(key) > 0 && Number(key) < value.length - 1) continue;
    yield* pathsOf(part, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** A copy along the path, with another value at its end. */
function damaged(value: unknown, [step, ...rest]: readonly Step[], by: unknown): unknown {
  if (step === undefined) return by;
  const copy: unknown = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  const parts = copy as Record<Step, unknown>;
  parts[step] = damaged(parts[step], rest, by);
  return copy;
}

function someOf(set: EvalSetResult, cases: number): EvalSetResult {
  return { ...set, evalCaseResults: set.evalCaseResults.slice(0, cases) };
}

const renderersOf = (of: "results" | "comparisons") =>
  Object.entries(report).filter(
    ([name]) => name.startsWith("render") && name.startsWith("renderComparison") === (of === "comparisons"),
  ) as [string, (value: never, options?: object) => string][];

const EVERY = process.env.ALL_DAMAGES === "1" ? 1 : 5;

/** How many damages a renderer refused; fails for any that it met otherwise than by a string or an error of ours. */
function refusedBy(render: (value: never) => string, whole: unknown): number {
  let refused = 0;
  for (const [at, path] of [...pathsOf(whole)].entries()) {
    // Every place is damaged in some ways, every way is tried in many places: all of both take minutes.
    for (const [damage, by] of Object.entries(DAMAGES).filter((_, way) => (way + at) % EVERY === 0)) {
      const place = `${path.join(".")}: ${damage}`;
      try {
        assert.equal(typeof render(damaged(whole, path, by) as never), "string", place);
      } catch (error) {
        if (!(error instanceof AdkMetricsError)) throw new Error(place, { cause: error });
        assert.equal(error.code, "invalid_input", place);
        assert.match(error.path ?? "", /^(?:results|comparisons)/, place);
        assert.ok(error.help, place);
        refused += 1;
      }
    }
  }
  return refused;
}

const SETS = { travel: someOf(travelSet(), 1), support: someOf(supportSet(), 2), judged: someOf(judgedSet(), 1) };

for (const [name, render] of renderersOf("results")) {
  for (const [which, set] of Object.entries(SETS)) {
    test(`${name} of damaged ${which} results raises errors of this package only`, () => {
      assert.ok(refusedBy(render, set) > 0);
      if (name === "renderTable") refusedBy((value) => render(value, { details: true }), set);
    });
  }
}

for (const [name, render] of renderersOf("comparisons")) {
  test(`${name} of a damaged comparison raises errors of this package only`, () => {
    const before = someOf(travelSet(), 3);
    const after = someOf(travelSet(), 3);
    for (const { overallEvalMetricResults, evalMetricResultPerInvocation } of after.evalCaseResults) {
      for (const metric of [
        overallEvalMetricResults,
        ...evalMetricResultPerInvocation.map((t) => t.evalMetricResults),
      ].flat())
        if (typeof metric.score === "number") metric.score /= 2;
    }
    assert.ok(refusedBy(render, compareRuns(before, after, { resamples: 100 })) > 0);
  });
}

test("comparing damaged results raises errors of this package only, also with holes in lists", () => {
  const whole = SETS.travel;
  let fine = 0;
  const compared = (value: never) => JSON.stringify(compareRuns(whole, value, { resamples: 100 }));
  for (const [at, path] of [...pathsOf(whole)].entries()) {
    const damages = Object.entries(DAMAGES).filter((_, way) => (way + at) % EVERY === 0);
    const part = path.reduce<unknown>((part, step) => (part as Record<Step, unknown>)[step], whole);
    const holed: unknown[] = Array.isArray(part) ? [...(part as unknown[])] : [];
    delete holed[0];
    for (const [damage, by] of [...damages, ["a hole", holed] as const]) {
      const place = `${path.join(".")}: ${damage}`;
      try {
        assert.equal(typeof compared(damaged(whole, path, by) as never), "string", place);
        fine += 1;
      } catch (error) {
        if (!(error instanceof AdkMetricsError)) throw new Error(place, { cause: error });
      }
    }
  }
  assert.ok(fine > 0);
});

test("an error names the damaged place", () => {
  const set = damaged(travelSet(), ["evalCaseResults", 1, "overallEvalMetricResults", 0, "score"], "high");
  assert.throws(() => report.renderCsv([set as EvalSetResult]), {
    name: "AdkMetricsError",
    code: "invalid_input",
    message: 'expected a number, found "high"',
    path: "results[0].evalCaseResults[1].overallEvalMetricResults[0].score",
  });
});

test("an error names the case where the damage is deeper than what is looked at first", () => {
  const metric = ["evalMetricResultPerInvocation", 0, "evalMetricResults", 0, "explanation"];
  const set = damaged(judgedSet(), ["evalCaseResults", 1, ...metric], { samples: { votes: 7 } });
  assert.throws(
    () => report.renderHtml([set as EvalSetResult]),
    (error) => {
      assert.ok(error instanceof AdkMetricsError);
      assert.match(error.path ?? "", /^results\[0\]\.evalCaseResults\[\d+\]$/);
      return true;
    },
  );
});
