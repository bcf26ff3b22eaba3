// The words in which two texts differ.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changedWords } from "../../pkg-template/src/report/word-changes.js";

/** What is marked of both texts. */
function marked(expected: string, actual: string) {
  const changes = changedWords(expected, actual);
  return [
    changes.expected.map(([from, to]) => expected.slice(from, to)),
    changes.actual.map(([from, to]) => actual.slice(from, to)),
    changes.isExact,
  ];
}

test("changed words are marked on both sides, whole, and neighbours together", () => {
  for (const [expected, actual, ...found] of [
    ["It is 27 degrees in Rome.", "It is 81 degrees in Rome.", ["27"], ["81"]],
    ["It costs 12.50 euros", "It costs 12.75 euros", ["12.50"], ["12.75"]],
    ["on 2026-03-03, they don't", "on 2026-04-03, they didn't", ["2026-03-03", "don't"], ["2026-04-03", "didn't"]],
    ["a b c d", "a x y d", ["b c"], ["x y"]],
    ["a c", "a b c", [], ["b"]],
    ["first line\nlast line", "last line", ["first line"], []],
    ["warm", "warmer", ["warm"], ["warmer"]],
    ["東京は晴れ", "京都は晴れ", ["東"], ["都"]],
    ["", "Hello there", [], ["Hello there"]],
    ["same", "same", [], []],
    ["same  text\n", " same text", [], []],
    ["Yes.", "Yes!", ["."], ["!"]],
    ["👍🏽 fine", "👍🏿 fine", ["🏽"], ["🏿"]],
  ] as const) {
    assert.deepEqual(marked(expected, actual), [...found, true], JSON.stringify([expected, actual]));
  }
});

test("as many words are kept as two texts can share", () => {
  let state = 1;
  const random = (below: number) => (state = (state * 48271) % 2147483647) % below;
  const shared = (a: string[], b: string[]): number => {
    let row = b.map(() => 0);
    for (const word of a) {
      const next: number[] = [];
      for (const [at, other] of b.entries()) {
        next[at] = word === other ? (row[at - 1] ?? 0) + 1 : Math.max(row[at] ?? 0, next[at - 1] ?? 0);
      }
      row = next;
    }
    return row.at(-1) ?? 0;
  };
  for (let round = 0; round < 3000; round += 1) {
    const [a, b] = [0, 1].map(() => Array.from({ length: random(12) }, () => "abcd"[random(4)] as string)) as [
      string[],
      string[],
    ];
    const [expected, actual] = [a.join(" "), b.join(" ")];
    const changes = changedWords(expected, actual);
    const rest = (text: string, ranges: [number, number][]) => {
      let kept = "";
      let at = 0;
      for (const [from, to] of [...ranges, [text.length, text.length] as const]) {
        assert.ok(from >= at && to >= from);
        kept += text.slice(at, from);
        at = to;
      }
      return kept.split(" ").filter(Boolean);
    };
    const kept = rest(expected, changes.expected);
    assert.deepEqual(kept, rest(actual, changes.actual), `${expected} | ${actual}`);
    assert.equal(kept.length, shared(a, b), `${expected} | ${actual}`);
  }
});

test("texts that differ too much are marked from the first difference to the last, and say so", () => {
  const words = (letter: string, length: number) => Array.from({ length }, (_, at) => `${letter}${at}`).join(" ");
  assert.deepEqual(marked(`The ${words("a", 300)} end`, `The ${words("b", 300)} end`), [
    [words("a", 300)],
    [words("b", 300)],
    false,
  ]);
  const long = words("x", 100_000);
  assert.deepEqual(marked(`one ${long} two`, `eins ${long} zwei`), [[`one ${long} two`], [`eins ${long} zwei`], false]);
  assert.deepEqual(marked(`${long} one ${long}`, `${long} two ${long}`), [["one"], ["two"], true]);
});

test("the time is bounded by the texts, whatever they are", () => {
  const hostile = [
    "a ".repeat(50_000),
    "ab".repeat(1_000_000),
    "a-".repeat(40_000),
    "\u0301".repeat(90_000),
    "\ud800".repeat(1000),
  ];
  for (const a of hostile) {
    for (const b of hostile) changedWords(`${a}1${a}`, `2${b}`);
  }
  const { expected, actual } = changedWords("\ud83d\ude00\ud83d\ude01", "\ud83d\ude00\ud83d\ude02");
  assert.deepEqual([expected, actual], [[[2, 4]], [[2, 4]]]);
});
