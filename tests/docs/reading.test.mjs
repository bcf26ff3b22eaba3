// Tests of the tests of samples: a page with a wrong claim fails.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readPage } from "./markdown.mjs";
import { assertPrinted, assertShown, instrument } from "./shown.mjs";

const block = (info, ...lines) => ["```" + info, ...lines, "```", ""].join("\n");
const read = (...blocks) => readPage("page.md", blocks.join("\n"));

describe("a page", () => {
  test("has its samples in order, with their files, flags and outputs", () => {
    const { folder, samples } = read(
      "<!-- samples: examples/support -->",
      block("json a/b.json", "{}"),
      block("ts", "one();"),
      block("ts continued", "two();"),
      block("text", "2"),
      block("sh exit=2", "three"),
    );
    assert.equal(folder, "examples/support");
    assert.deepEqual(
      samples.map(({ line, language, file, exit, output }) => [line, language, file, exit, output?.code]),
      [
        [2, "json", "a/b.json", undefined, undefined],
        [6, "ts", undefined, undefined, undefined],
        [10, "ts", undefined, undefined, "2\n"],
        [18, "sh", undefined, 2, undefined],
      ],
    );
    assert.equal(samples[2].before, samples[1]);
  });

  for (const [what, blocks, error] of [
    ["a language that nothing can try", [block("rust", "x")], /page.md:1: "rust" is none of/],
    ["a block without a language", [block("", "x")], /names no language/],
    ["a word that means nothing", [block("js quietly", "x")], /what is "quietly"/],
    ["an output of nothing", [block("text", "x")], /no sample that could print it/],
    ["two outputs of one sample", [block("sh", "x"), block("text", "x"), block("text", "x")], /has an output already/],
    ["a sample that goes on from nothing", [block("js continued", "x")], /no sample that it could go on from/],
    ["a block without an end", ["```js\nx"], /has no end/],
  ]) {
    test(`is refused for ${what}`, () => assert.throws(() => read(...blocks), error));
  }
});

describe("an arrow", () => {
  test("belongs to a call of console.log, a const or an expression", () => {
    const { code, shown } = instrument(
      ["console.log(1); // → 1", "console.log(", "  2,", "); // → 2", "const c = 3; // → 3", "4 + 0; // → 4"].join(
        "\n",
      ),
      "page.md:1",
    );
    const values = [];
    const sample = Object.assign((line, value) => values.push([line, value]), { log: (...args) => values.push(args) });
    new Function("__sample", code)(sample);
    assert.deepEqual(
      values,
      shown.map(({ line, text }) => [line, Number(text)]),
    );
  });

  test("may have several lines", () => {
    const { shown } = instrument("for (const n of [1, 2]) console.log(n); // → 1\n// → 2", "page.md:1");
    assert.deepEqual(shown, [{ line: 0, text: "1\n2" }]);
  });

  test("is not to be forgotten", () => {
    for (const code of ["console.log(x); // what x is", "x.y; // 0.5", 'x.y; // "a"']) {
      assert.throws(() => instrument(code, "page.md:1"), /mark what is printed with →/);
    }
    instrument("const x = 1; // a remark\nawait go(x); // another", "page.md:1");
  });
});

describe("what is printed", () => {
  test("is compared to the letter", () => {
    assertPrinted("a b\n  c\n", "a b\n  c", "page.md:1");
    for (const shown of ["a b", "a b\nc", "b\n  c", "a b\n  c\nd"]) {
      assert.throws(() => assertPrinted("a b\n  c\n", shown, "page.md:1"));
    }
    assert.throws(() => assertShown("0.51", "0.5", "page.md:1"));
  });

  test("may be left out where it says …", () => {
    assertPrinted("took 12 ms\na\nb\nend", "took … ms\n…\nend", "page.md:1");
    assertPrinted("a\nb", "…\nb", "page.md:1");
    assert.throws(() => assertPrinted("a\nb\nc", "…\nb", "page.md:1"));
    assertShown("{ at: 17, a: 1 }", "{ at: …, a: 1 }", "page.md:1");
  });
});
