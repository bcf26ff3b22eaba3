// The return values of judges as replies: their length limit, and which of their other fields are kept.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_REPLY_LENGTH, miscountedText, replyOf, tokensOf } from "../../../pkg-template/src/judges/reply.js";
import { errorOf } from "./support.js";

describe("a reply", () => {
  test("has a text of up to a Mi characters", async () => {
    assert.equal(MAX_REPLY_LENGTH, 1_048_576);
    const longest = "x".repeat(MAX_REPLY_LENGTH);
    assert.equal(replyOf(longest).text.length, MAX_REPLY_LENGTH);
    for (const given of [`${longest}x`, { text: `${longest}x` }]) {
      const { code, message, retryable, help } = await errorOf(() => replyOf(given));
      assert.deepEqual([code, retryable], ["judge_failed", false]);
      assert.equal(message, "the judge returned a reply of 1048577 characters; at most 1048576 are read");
      assert.match(help ?? "", /maxOutputTokens/);
    }
  });

  test("has token counts that are exact", () => {
    const { usage } = replyOf({
      text: "yes",
      usage: { inputTokens: 2 ** 53, outputTokens: 2 ** 53 - 1, totalTokens: Infinity },
    });
    assert.deepEqual(usage, { outputTokens: 2 ** 53 - 1 });
    assert.deepEqual(replyOf({ text: "yes", usage: { inputTokens: -1, totalTokens: 1e300 } }), { text: "yes" });
  });

  test("whose counts cannot be read, or are misspelt, is known with what was meant", () => {
    const [inputTokens, outputTokens, totalTokens] = [5, 3, 8];
    for (const [given, found] of [
      [{ usage: { inputTokens, outputTokens } }, undefined],
      [{ usage: { inputTokens, outputTokens, cachedInputTokens: 2, reasoningTokens: 1 } }, undefined],
      [{ usage: { totalTokens } }, undefined],
      [{ usage: null }, undefined],
      [{}, undefined],
      [{ usage: { inputToken: 5, outputTokens } }, /: did you mean `inputTokens` by `inputToken`\?$/],
      [
        { usage: { input_tokens: 5, outputTokenz: 3, totalTokens } },
        /: did you mean `inputTokens` by `input_tokens`\?$/,
      ],
      [{ usage: { prompt: 5, completion: 3 } }, /so tokens are estimated$/],
      [{ usage: { inputTokens: "5", totalTokens } }, /so tokens are estimated$/],
      [{ usage: 8 }, /so tokens are estimated$/],
      [{ useage: { inputTokens, outputTokens } }, /: did you mean `usage` by `useage`\?$/],
    ] as const) {
      const text = miscountedText(replyOf({ text: "yes", ...given }));
      if (found === undefined) assert.equal(text, undefined, JSON.stringify(given));
      else assert.match(text ?? "", found, JSON.stringify(given));
    }
  });

  test("has tokens of two sides, of which only the total may count thoughts", () => {
    for (const [inputTokens, outputTokens, totalTokens, sides] of [
      [10, 2, 17, [10, 7]],
      [10, 0, 17, [10, 7]],
      [10, 2, 5, [10, 2]],
      [10, 2, undefined, [10, 2]],
      [10, undefined, 17, [10, 7]],
      [undefined, 2, 17, [15, 2]],
      [undefined, undefined, 17, [17, 0]],
    ] as const) {
      const found = tokensOf(JSON.parse(JSON.stringify({ inputTokens, outputTokens, totalTokens })));
      assert.deepEqual([found.inputTokens, found.outputTokens], sides);
    }
  });

  test("has a text as its model's name, or none", async () => {
    const usage = { inputTokens: 5, outputTokens: 3 };
    const error = await errorOf(() => replyOf({ text: "yes", modelVersion: 7, usage }));
    assert.equal(error.message, "the judge returned a reply whose modelVersion is of type number");
    assert.deepEqual(error.usage, usage);
    assert.deepEqual(replyOf({ text: "yes", modelVersion: null }), { text: "yes" });
  });

  test("names its model in a few words", () => {
    const { modelVersion = "" } = replyOf({ text: "yes", modelVersion: `${"x".repeat(399)}😀${"x".repeat(1e6)}` });
    assert.equal(modelVersion, `${"x".repeat(399)}…`);
  });

  test("that cannot be read says why in a few words", async () => {
    const given = {
      get text(): string {
        throw new Error("x".repeat(1e6));
      },
    };
    const { message } = await errorOf(() => replyOf(given));
    assert.match(message, /^reading the judge's reply failed: Error: x+…$/);
    assert.ok(message.length < 500, String(message.length));
  });

  test("that throws what cannot be looked at is an error all the same", () => {
    const unspeakable = new Proxy(
      {},
      {
        getPrototypeOf() {
          throw new Error("no prototype for you");
        },
      },
    );
    const given = {
      get text(): string {
        throw unspeakable;
      },
    };
    assert.throws(() => replyOf(given), { code: "judge_failed", message: /an error without a message$/ });
  });
});
