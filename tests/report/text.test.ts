import assert from "node:assert/strict";
import { test } from "node:test";
import {
  amountText,
  callText,
  displayWidth,
  head,
  oneLine,
  pad,
  scoreText,
  shorten,
  valueText,
  visible,
  wrap,
} from "../../pkg-template/src/report/text.js";

test("a line takes as many columns as a terminal gives it", () => {
  const cases: [string, number][] = [
    ["", 0],
    ["plain ascii", 11],
    ["Zürich", 6],
    ["Zu\u0308rich", 6],
    ["京都", 4],
    ["ｶﾞ", 2],
    ["ＡＢ", 4],
    ["한국", 4],
    ["\u1112\u1161\u11ab", 2],
    ["🗻", 2],
    ["👨‍👩‍👧", 2],
    ["🇨🇭", 2],
    ["❤️", 2],
    ["✓ ✗", 3],
    ["한 👍🏽!", 6],
    ["สวัสดี", 4],
    ["\u200b", 0],
    ["𠮷", 2],
  ];
  for (const [line, width] of cases) assert.equal(displayWidth(line), width, JSON.stringify(line));
});

test("padding reaches the same column whatever the characters", () => {
  for (const line of ["abc", "京都", "👨‍👩‍👧x"]) assert.equal(displayWidth(pad(line, 8)), 8);
  assert.equal(pad("京", 4, "right"), "  京");
});

test("a shortened text never exceeds its width, and is cut between characters", () => {
  assert.equal(shorten("short", 5), "short");
  assert.equal(shorten("longer", 5), "long…");
  assert.equal(shorten("京都駅前", 5), "京都…");
  assert.equal(shorten("京都駅前", 4), "京…");
  assert.equal(shorten("👨‍👩‍👧👨‍👩‍👧", 3), "👨‍👩‍👧…");
  assert.equal(shorten("anything", 0), "");
  for (let width = 1; width < 20; width++) assert.ok(displayWidth(shorten("a京👨‍👩‍👧é \n".repeat(9), width)) <= width);
});

test("a megabyte is shortened without reading it all", (context) => {
  const segment = context.mock.method(Intl.Segmenter.prototype, "segment");
  shorten("京".repeat(1_000_000), 80);
  const lengths = segment.mock.calls.map(({ arguments: [text] }) => text.length);
  assert.ok(lengths.length > 0 && Math.max(...lengths) < 2000, lengths.join());
});

test("wrapping breaks at spaces, and wide words anywhere", () => {
  assert.deepEqual(wrap("one two three", 7), ["one two", "three"]);
  assert.deepEqual(wrap("京都駅前", 4), ["京都", "駅前"]);
  assert.deepEqual(wrap("first\n\nsecond", 20), ["first", "", "second"]);
  assert.deepEqual(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
  assert.deepEqual(wrap("", 4), [""]);
});

test("characters that act are shown instead", () => {
  assert.equal(visible("\u001b[31m"), "␛[31m");
  assert.equal(visible("\u0000\u007f\u0085"), "␀␡⟨U+0085⟩");
  assert.equal(visible("a\u202Eb\u2066"), "a⟨U+202E⟩b⟨U+2066⟩");
  assert.equal(visible("\uD800 \uFFFE"), "⟨U+D800⟩ ⟨U+FFFE⟩");
  assert.equal(visible("two\r\nlines\tand a tab"), "two\nlines\tand a tab");
  assert.equal(visible("lone\rreturn"), "lone␍return");
  assert.equal(oneLine("two\nlines"), "two↵lines");
});

test("a text is never cut inside a character", () => {
  assert.equal(head("a🗻", 2), "a");
  assert.equal(head("a🗻", 3), "a🗻");
});

test("a score has four digits, and more where they tell it from its threshold", () => {
  assert.equal(scoreText(1), "1.0000");
  assert.equal(scoreText(2 / 3), "0.6667");
  assert.equal(scoreText(0.79996, 0.8), "0.79996");
  assert.equal(scoreText(0.7999999999999999, 0.8), "0.7999999999999999");
  assert.equal(scoreText(0.8, 0.8), "0.8000");
  assert.equal(scoreText(0.1 + 0.2, 0.3), "0.30000000000000004");
  assert.equal(scoreText(1e-7), "1.000e-7");
  assert.equal(scoreText(-0), "0.0000");
});

test("what is no number is never shown as one", () => {
  for (const score of [undefined, null, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.equal(scoreText(score), "–");
    assert.equal(amountText(score), "–");
  }
});

test("amounts have their thousands set apart", () => {
  assert.equal(amountText(1234567), "1,234,567");
  assert.equal(amountText(1234.5, 1), "1,234.5");
  assert.equal(amountText(2, 3), "2");
  assert.equal(amountText(-1234), "-1,234");
});

test("a call reads like a call, and no arguments differ from empty ones", () => {
  assert.equal(
    callText({ name: "book", args: { nights: 2, "a key": ["x", null] } }),
    'book(nights: 2, "a key": ["x", null])',
  );
  assert.equal(callText({ name: "book", args: {} }), "book({})");
  assert.equal(callText({ name: "book", args: null }), "book()");
  assert.equal(callText({}), "(unnamed)()");
});

test("values of any kind, depth and size become one bounded line", () => {
  let deep: unknown[] = [];
  for (let level = 0; level < 100; level++) deep = [deep];
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const cases = [
    deep,
    circular,
    "x".repeat(1_000_000),
    Array.from({ length: 100_000 }, (_, at) => at),
    12345678901234567890n,
    "line\nfeed",
  ];
  for (const value of cases) {
    const text = valueText(value, 100);
    assert.ok(text.length <= 101);
    assert.ok(!text.includes("\n"));
  }
  assert.equal(valueText(12345678901234567890n), "12345678901234567890");
});
