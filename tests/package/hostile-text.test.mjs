// Texts and bytes that nobody writes on purpose, and some that somebody does: cut off, broken, nested, too large, gone.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRandom } from "../adk-ts/random.mjs";
import { ACTUAL, evalSetOf, EXPECTED, turn } from "./support/conversations.mjs";
import { asActual, asConfig, asEvalSet, CRITERIA, everywhere, refuse, settle, SMALL } from "./support/hostile.mjs";
import { importEntry, testFile } from "./support/package.mjs";

const { evalSetToAdkJson, evaluate, resultsToAdkJson, rouge1 } = await importEntry();
const encoder = new TextEncoder();

describe("text", () => {
  test("cut off at any byte is refused, as text and as bytes", async () => {
    const text = JSON.stringify(SMALL);
    const bytes = encoder.encode(text);
    for (let length = 0; length < bytes.length; length += 1) {
      await refuse(
        asEvalSet(bytes.subarray(0, length)),
        { code: "invalid_json", path: "evalSet", line: 1 },
        `${length} bytes`,
      );
      await refuse(
        asActual(text.slice(0, length)),
        { code: "invalid_json", path: "actual", line: 1 },
        `${length} characters`,
      );
    }
  });

  test("that is empty or blank is refused", async () => {
    for (const empty of ["", " ", "\n\n", "\ufeff", new Uint8Array(), new ArrayBuffer(0)]) {
      for (const [name, given] of Object.entries(everywhere)) {
        await refuse(given(empty), { code: "invalid_json", path: name }, `an empty ${name}`);
      }
    }
  });

  test("nested ten thousand deep is refused", async () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ]) {
      for (const inner of ["1", ""]) {
        const text = open.repeat(10_000) + inner + close.repeat(inner === "" ? 0 : 10_000);
        for (const given of Object.values(everywhere)) await refuse(given(text), { code: "limit_exceeded" }, open);
      }
    }
  });

  test("with a key given twice is refused", async () => {
    for (const text of [
      '{"eval_set_id":"a","eval_set_id":"b","eval_cases":[]}',
      '{"eval_set_id":"a","eval_cases":[],"eval_\\u0063ases":[]}',
    ]) {
      await refuse(asEvalSet(text), { code: "invalid_json", message: /given twice/ }, text);
    }
  });

  test("that is not UTF-8, or holds half of a surrogate pair, is refused", async () => {
    const text = JSON.stringify(SMALL);
    const at = text.indexOf('"a b"') + 1;
    for (const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      const bytes = new Uint8Array([...encoder.encode(text.slice(0, at)), ...bad, ...encoder.encode(text.slice(at))]);
      await refuse(asEvalSet(bytes), { code: "invalid_json", path: "evalSet" }, `bytes ${bad}`);
    }
    for (const half of ["\ud800", "\udfff", "\\ud800", "\\udc00\\ud800", "\ude00\ud83d"]) {
      await refuse(
        asEvalSet(text.slice(0, at) + half + text.slice(at)),
        { code: "invalid_json", message: /surrogate/ },
        half,
      );
      await refuse(asEvalSet(text.replace('"x"', `"x${half}"`)), { code: "invalid_json", message: /surrogate/ }, half);
    }
  });

  test("with numbers of any size is read", async () => {
    for (const number of ["1e400", "-1e400", "1e-400", "-0", "-0.0", "9".repeat(400), "0.".padEnd(400, "1")]) {
      const text = JSON.stringify(SMALL).replace("[1,", `[${number},`);
      const { value } = await settle(() => evaluate({ evalSet: text, actual: text, criteria: CRITERIA }), number);
      assert.ok(value?.includes('"finalEvalStatus":1'), number);
    }
  });

  test("with keys of Object's prototype touches no prototype", async () => {
    const args = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":null}';
    const text = JSON.stringify(SMALL).replace(/"args":\{.*?\}\]\}/, `"args":${args}`);
    const set = await evaluate({ evalSet: text, actual: text, criteria: CRITERIA });
    const [{ actualInvocation }] = set.evalCaseResults[0].evalMetricResultPerInvocation;
    const read = actualInvocation.intermediateData.toolUses[0].args;
    assert.deepEqual(Object.keys(read), ["__proto__", "constructor", "toString"]);
    assert.equal({}.polluted, undefined);
    await settle(asConfig('{"criteria":{"__proto__":1,"constructor":{"threshold":1}},"__proto__":{"a":1}}'), "config");
    await settle(asEvalSet('{"__proto__":{"eval_set_id":"s"},"eval_cases":[]}'), "evalset");
  });

  test("of four megabytes in one string is scored", async () => {
    const words = encoder.encode("word ".repeat(800_000));
    const [before, after] = JSON.stringify(evalSetOf({ c: [turn("q", "HERE")] }))
      .split("HERE")
      .map((part) => encoder.encode(part));
    const bytes = new Uint8Array(before.length + words.length + after.length);
    bytes.set(before);
    bytes.set(words, before.length);
    bytes.set(after, before.length + words.length);
    const small = evalSetOf({ c: [turn("q", "word other")] });
    const set = await evaluate({
      evalSet: bytes,
      actual: small,
      criteria: { response_match_score: 0 },
      explain: "none",
    });
    const score = set.evalCaseResults[0].overallEvalMetricResults[0].score;
    assert.ok(score > 0 && score < 1e-5);
  });

  test("of a hundred megabytes in one string is refused, with the limit", async () => {
    const evalSet = JSON.stringify(evalSetOf({ c: [turn("q", "word ".repeat(20_000_000))] }));
    const message = "a string has more than 67108864 bytes or 1048576 escapes";
    const refused = { code: "limit_exceeded", path: "evalSet", message };
    await assert.rejects(
      evaluate({ evalSet, actual: { inferenceResults: [] }, criteria: { response_match_score: 1 } }),
      refused,
    );
  });

  test("of more than the engine reads is refused before it is copied", async () => {
    const tooMuch = new Uint8Array(256 * 1024 * 1024 + 1);
    for (const [name, given] of Object.entries(everywhere)) {
      await refuse(given(tooMuch), { code: "limit_exceeded", path: name }, name);
    }
    const long = "x".repeat(2 ** 28);
    await refuse(() => rouge1(long, long), { code: "limit_exceeded" }, "rouge1");
  });
});

describe("bytes", () => {
  const bytes = encoder.encode(JSON.stringify(SMALL));

  test("whose buffer was transferred are refused", async () => {
    for (const viewOf of [(buffer) => buffer, (buffer) => new Uint8Array(buffer), (buffer) => new DataView(buffer)]) {
      const { buffer } = bytes.slice();
      const value = viewOf(buffer);
      structuredClone(buffer, { transfer: [buffer] });
      for (const [path, given] of Object.entries(everywhere)) {
        await refuse(given(value), { code: "invalid_input", path, message: /bytes are gone/ }, path);
      }
    }
  });

  test("of a subclass are read by their true length", async () => {
    class Liar extends Uint8Array {
      get length() {
        return 2 ** 40;
      }
      get byteLength() {
        return 1;
      }
      get buffer() {
        throw new Error("no buffer");
      }
    }
    const set = await evaluate({ evalSet: Liar.from(bytes), actual: new Liar(bytes), criteria: CRITERIA });
    assert.equal(set.evalCaseResults[0].finalEvalStatus, 1);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    assert.equal((await evaluate({ evalSet: view, actual: view })).evalCaseResults.length, 1);
  });
});

test("random changes of real files are read or refused", async () => {
  const { documents } = JSON.parse(testFile("parity/vectors/shapes.json"));
  const { files } = JSON.parse(testFile("parity/vectors/legacy.json"));
  const texts = [
    JSON.stringify(documents.eval_set),
    JSON.stringify(documents.eval_set_result),
    JSON.stringify(EXPECTED, null, 2),
    ...files.slice(0, 20).map(({ text }) => text),
  ];
  const random = createRandom(0xbad_f00d);
  const pieces = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "0",
    "-",
    "1e9",
    "\\u",
    "\\",
    "\n",
    "true",
    '"a":',
    "\u0000",
    "é",
  ];
  const changed = (text) => {
    let found = text;
    for (let edits = random.between(1, 3); edits > 0; edits -= 1) {
      const at = random.between(0, found.length);
      const length = random.chance(0.5) ? 0 : random.between(1, 12);
      const inserted = random.chance(0.3) ? found.slice(at, at + random.between(1, 60)) : random.pick(pieces);
      found = found.slice(0, at) + inserted + found.slice(at + length);
    }
    return found;
  };
  let refused = 0;
  for (let round = 0; round < 1500; round += 1) {
    const text = changed(random.pick(texts));
    const uses = [asEvalSet(text), asActual(text), () => evalSetToAdkJson(text), () => resultsToAdkJson(text)];
    const { error } = await settle(random.pick(uses), text);
    if (error !== undefined) refused += 1;
  }
  assert.ok(refused > 500 && refused < 1500, `${refused} refused`);
});

test("bytes that change after the evaluation end in an error where they are looked at", async () => {
  const [first] = ACTUAL.evalCases;
  const twice = { ...ACTUAL, evalCases: [first, { ...first, evalId: "another" }] };
  const bytes = encoder.encode(JSON.stringify(twice));
  const set = await evaluate({ evalSet: bytes, actual: bytes, criteria: CRITERIA });
  bytes.fill(0x20);
  // Whether the agent said anything is looked at no further than the first turn in which it did.
  const [entry] = set.evalCaseResults[1].evalMetricResultPerInvocation;
  await refuse(() => entry.actualInvocation, { code: "invalid_json" }, "changed bytes");
});
