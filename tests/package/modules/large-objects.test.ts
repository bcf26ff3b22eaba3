// Large objects are written piece by piece, wherever in them what is large stands, as `JSON.stringify` writes them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bytesInSteps } from "../../../pkg-template/src/engine/input.js";
import { fieldsToWrite } from "../../../pkg-template/src/engine/plain-json.js";
import { AdkMetricsError } from "../../../pkg-template/src/errors.js";

/** What is written, and in how many steps. */
function written(value: object, fields?: Parameters<typeof bytesInSteps>[2]) {
  const work = bytesInSteps(value, "evalSet", fields);
  for (let steps = 1; ; steps += 1) {
    const { done, value: bytes } = work.next();
    if (done === true) return { text: new TextDecoder().decode(bytes), steps };
  }
}

function errorOf(value: object): AdkMetricsError {
  try {
    written(value);
  } catch (error) {
    assert.ok(error instanceof AdkMetricsError);
    return error;
  }
  assert.fail("it is written");
}

const list = (length: number) => Array.from({ length }, (_, at) => ({ at, name: `item ${at}`, isEven: at % 2 === 0 }));

/** Places of a long list. */
const PLACES: Record<string, (long: unknown) => object> = {
  "the object itself": (long) => ({ long }),
  "one case": (long) => ({ evalCases: [{ evalId: "a", conversation: long, sessionInput: null }] }),
  "the arguments of a call": (long) => ({ turns: [{ calls: [{ args: { one: 1, rows: long, last: "x" } }] }] }),
  "lists in lists": (long) => [[[long, 1], []], [long]],
  "one case of many": (long) => ({ cases: list(500).map((item) => (item.at === 300 ? { ...item, long } : item)) }),
};

describe("a large object", () => {
  for (const [place, make] of Object.entries(PLACES)) {
    test(`is written in pieces where ${place} is large`, () => {
      const value = make(list(60_000));
      const { text, steps } = written(value);
      assert.equal(text, JSON.stringify(value));
      assert.ok(steps > text.length / 2 ** 18, `${steps} steps for ${text.length} characters`);
    });
  }

  test("holds what is not plain", () => {
    const odd = {
      ["__proto__"]: 1,
      date: new Date(0),
      left: undefined,
      also: () => 1,
      boxed: new Number(3),
      none: { toJSON: () => undefined },
      keyed: { toJSON: (key: string) => `I am ${key}` },
      symbol: Symbol("s"),
      bare: Object.assign(Object.create(null), { a: 1 }),
      map: new Map([[1, 2]]),
    };
    Object.defineProperty(odd, "getter", { get: () => 7, enumerable: true });
    const many = (value: unknown) => Array.from({ length: 100 }, () => value);
    const value = {
      odd,
      long: list(60_000),
      lists: Object.values(odd).map((one) => [one, list(20_000), ...many(one)]),
      more: { ...odd, long: list(60_000) },
    };
    assert.equal(written(value).text, JSON.stringify(value));
  });

  test("is written as far as it is read", () => {
    const fields = fieldsToWrite({ cases: { evalId: 1, conversation: { text: 1 }, unread: 0, needed: "[]" } });
    const turns = list(60_000).map(({ name }) => ({ text: name, other: { deep: name } }));
    const value = {
      cases: [{ evalId: "a", unread: turns, needed: turns, conversation: turns, unknown: turns, no: null }],
    };
    const conversation = turns.map(({ text }) => ({ text, other: 0 }));
    assert.deepEqual(JSON.parse(written(value, fields).text), {
      cases: [{ needed: [], evalId: "a", conversation, unknown: 0 }],
    });
    const empty = { cases: [{ unread: turns, needed: 5 }, ...turns] };
    const [first] = (JSON.parse(written(empty, fields).text) as { cases: object[] }).cases;
    assert.deepEqual(first, { needed: [] });
  });

  test("names the place of a mistake in it", () => {
    const turns: { name: unknown; at: number }[] = list(60_000);
    const value = { evalCases: [{ conversation: turns, rows: [[{ turns }]] }] };
    const mistake = (name: unknown) => {
      turns[50_000] = { name, at: 1 };
      const { code, path, message } = errorOf(value);
      assert.equal(path, "evalSet: evalCases[0].conversation[50000].name");
      return [code, message];
    };
    assert.deepEqual(mistake(NaN), ["unserializable", "JSON has no NaN"]);
    assert.deepEqual(mistake(1n), ["unserializable", "JSON has no BigInt"]);
    assert.deepEqual(mistake(value), ["unserializable", "the object contains itself"]);
    assert.deepEqual(mistake("\ud83c"), ["unserializable", "the text contains half of a surrogate pair"]);
    turns[50_000] = { name: "x", at: 1 };
    Object.defineProperty(turns[50_000], "name", {
      get: () => {
        throw new Error("not today");
      },
      enumerable: true,
    });
    assert.match(errorOf(value).message, /^reading the property failed: .*not today$/);
  });

  test("is refused where it is nested too deep or too large", () => {
    let deep: object = list(60_000);
    for (let level = 0; level < 300; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
    assert.match(errorOf(deep).message, /^nested more than 200 levels deep$/);
    const text = "x".repeat(2 ** 20);
    const { code, path } = errorOf({ cases: [Array.from({ length: 300 }, () => ({ text }))] });
    assert.deepEqual([code, path], ["limit_exceeded", "evalSet"]);
  });
});
