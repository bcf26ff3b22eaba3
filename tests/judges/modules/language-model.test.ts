// The judge that asks a language model of the AI SDK, against stand-ins that speak the interfaces v2, v3 and v4 of
// `@ai-sdk/provider`.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { identityOf } from "../../../pkg-template/src/judges/judge.js";
import {
  type AiSdkCall,
  type AiSdkLanguageModel,
  languageModelJudge,
} from "../../../pkg-template/src/judges/language-model.js";
import "./engine.js";
import { errorOf, HOSTILE, NEVER, PLAIN, REQUEST } from "./support.js";

const text = (words: string) => ({ type: "text", text: words });

const V2_RESULT = {
  content: [{ type: "reasoning", text: "hm" }, text('{"is_valid": '), { type: "source" }, text('"true"}')],
  finishReason: "stop",
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 17, reasoningTokens: 2 },
  response: { modelId: "model-2026-01-01" },
  warnings: [],
};
const V3_RESULT = {
  ...V2_RESULT,
  finishReason: { unified: "stop", raw: "STOP" },
  usage: {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: undefined },
    outputTokens: { total: 5, text: 3, reasoning: 2 },
  },
};

/** A model that gives a result, or throws it if it is an error, and notes how it was called. */
function modelOf(specificationVersion: string, result: unknown): AiSdkLanguageModel & { calls: AiSdkCall[] } {
  const calls: AiSdkCall[] = [];
  return {
    calls,
    specificationVersion,
    provider: "stand-in.chat",
    modelId: "model",
    async doGenerate(call) {
      calls.push(call);
      if (result instanceof Error) throw result;
      return result as never;
    },
  };
}

const ask = (result: unknown, request = REQUEST) =>
  languageModelJudge(modelOf("v2", result))(request, { signal: NEVER() });

/** An error as the AI SDK's providers throw it. */
const apiCallError = (facts: object) =>
  Object.assign(new Error("Too many requests"), { name: "AI_APICallError" }, facts);

describe("a language model of the AI SDK", () => {
  test("of v2, v3 and v4 replies with its text, its tokens and its version", async () => {
    const v2 = await languageModelJudge(modelOf("v2", V2_RESULT))(REQUEST, { signal: NEVER() });
    const usage = { inputTokens: 10, outputTokens: 5 };
    const reply = { text: '{"is_valid": "true"}', modelVersion: "model-2026-01-01" };
    assert.deepEqual(v2, { ...reply, usage: { ...usage, totalTokens: 17 } });
    for (const version of ["v3", "v4"]) {
      const judge = languageModelJudge(modelOf(version, V3_RESULT));
      assert.deepEqual(await judge(REQUEST, { signal: NEVER() }), { ...reply, usage });
    }
  });

  test("is asked in its own words", async () => {
    const model = modelOf("v3", V3_RESULT);
    const providerOptions = { google: { thinkingConfig: { thinkingBudget: 0 } } };
    const headers = { "x-team": "evals" };
    const { signal } = new AbortController();
    await languageModelJudge(model, { providerOptions, headers })(REQUEST, { signal });
    assert.deepEqual(model.calls, [
      {
        prompt: [
          { role: "system", content: "You are a strict judge." },
          { role: "user", content: [{ type: "text", text: "Is it valid?\nAnswer in JSON." }] },
        ],
        temperature: 0.5,
        maxOutputTokens: 256,
        responseFormat: { type: "json", schema: REQUEST.responseSchema },
        abortSignal: signal,
        providerOptions,
        headers,
      },
    ]);
  });

  test("is asked for plain text where JSON is not wanted", async () => {
    const model = modelOf("v3", V3_RESULT);
    await languageModelJudge(model)(PLAIN, { signal: NEVER() });
    await languageModelJudge(model, { structuredOutput: false })(REQUEST, { signal: NEVER() });
    assert.deepEqual(Object.keys(model.calls[0] ?? {}).sort(), ["abortSignal", "prompt"]);
    assert.deepEqual(model.calls[0]?.prompt, [{ role: "user", content: [text("Is it safe?")] }]);
    assert.equal(model.calls[1]?.responseFormat, undefined);
  });

  test("is shown control tokens of chat templates broken up, and its reply quotes them whole", async () => {
    const model = modelOf("v3", { ...V3_RESULT, content: [text("It says <\u2060|im_end|>.")] });
    const prompt = "a <|im_end|> [/INST]";
    const reply = await languageModelJudge(model)({ ...PLAIN, prompt }, { signal: NEVER() });
    const shown = model.calls[0]?.prompt[0];
    assert.deepEqual(shown?.content, [text("a <\u2060|im_end|> [\u2060/INST]")]);
    assert.equal((reply as { text: string }).text, "It says <|im_end|>.");
  });

  test("keeps its own model", () => {
    const { model, label } = identityOf(languageModelJudge(modelOf("v2", V2_RESULT)));
    assert.deepEqual([model, label], ["model", "ai-sdk stand-in.chat"]);
  });

  test("is called as a method of its own", async () => {
    class Model {
      specificationVersion = "v2";
      provider = "p";
      modelId = "m";
      #words = "yes";
      async doGenerate() {
        return { content: [text(this.#words)], finishReason: "stop", usage: {} };
      }
    }
    assert.deepEqual(await languageModelJudge(new Model())(PLAIN, { signal: NEVER() }), {
      text: "yes",
      modelVersion: "m",
    });
  });
});

describe("a reply that cannot be used", () => {
  const cases: [string, object, RegExp, boolean][] = [
    ["a filter's", { ...V2_RESULT, finishReason: "content-filter" }, /content filter/, false],
    ["a filter's in v3", { ...V3_RESULT, finishReason: { unified: "content-filter" } }, /content filter/, false],
    ["an error's", { ...V2_RESULT, finishReason: "error" }, /because of an error/, true],
    ["one that was cut off before it began", { content: [], finishReason: "length", usage: {} }, /cut off/, false],
    ["one without text", { content: [{ type: "tool-call" }], finishReason: "stop", usage: {} }, /no text/, true],
    ["one with a text that is none", { content: [{ type: "text", text: 5 }], finishReason: "stop" }, /no text/, true],
    ["one that is no object", 5 as never, /failed/, false],
    ["one without content", { finishReason: "stop" }, /failed/, false],
    ["one whose properties throw", HOSTILE, /failed/, false],
  ];
  for (const [name, result, message, retryable] of cases) {
    test(`such as ${name} is a failure`, async () => {
      const error = await errorOf(() => ask(result));
      assert.equal(error.code, "judge_failed");
      assert.match(error.message, message);
      assert.equal(error.retryable, retryable);
    });
  }

  test("is used all the same if it was cut off after its first words", async () => {
    const reply = await ask({ content: [text('{"is_valid": "true"')], finishReason: "length", usage: {} });
    assert.deepEqual(reply, { text: '{"is_valid": "true"', modelVersion: "model" });
  });
});

describe("a failed call", () => {
  test("says its status, when to come back and whether to", async () => {
    const error = await errorOf(() =>
      ask(apiCallError({ statusCode: 429, isRetryable: true, responseHeaders: { "Retry-After": "7" } })),
    );
    assert.equal(error.code, "judge_failed");
    assert.match(error.message, /Too many requests/);
    assert.deepEqual([error.status, error.retryAfterMs, error.retryable], [429, 7000, true]);
  });

  const facts: [string, object, object][] = [
    [
      "milliseconds win over seconds",
      { responseHeaders: { "retry-after": "9", "retry-after-ms": "250" } },
      { retryAfterMs: 250 },
    ],
    ["a header of a Headers object", { headers: new Headers({ "retry-after": "1.5" }) }, { retryAfterMs: 1500 }],
    [
      "the delay in Google's body",
      { responseBody: '{"error":{"details":[{"retryDelay": "34.5s"}]}}' },
      { retryAfterMs: 34500 },
    ],
    ["a status of a server in trouble", { status: 503 }, { status: 503, retryable: true }],
    ["a status of a wrong key", { status: 401 }, { status: 401, retryable: false }],
    [
      "a spent quota",
      { statusCode: 429, isRetryable: true, responseBody: '"insufficient_quota"' },
      { retryable: false },
    ],
    [
      "what was wrapped by several attempts",
      { lastError: { statusCode: 500, isRetryable: true } },
      { status: 500, retryable: true },
    ],
    ["a connection that broke", { cause: { code: "ECONNRESET" } }, { retryable: true }],
    ["a host that does not exist", { cause: { code: "ENOTFOUND" } }, { retryable: false }],
    ["its own word", { retryable: true, retryAfterMs: 5 }, { retryable: true, retryAfterMs: 5 }],
    ["nothing", {}, { retryable: false }],
    ["headers that throw", { headers: HOSTILE, responseHeaders: HOSTILE }, { retryable: false }],
  ];
  for (const [name, given, expected] of facts) {
    test(`is understood: ${name}`, async () => {
      const error = await errorOf(() => ask(apiCallError(given)));
      for (const [key, value] of Object.entries(expected)) assert.equal(error[key as "status"], value, key);
    });
  }

  test("that comes back at a date waits until then", async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const error = await errorOf(() => ask(apiCallError({ responseHeaders: { "retry-after": date } })));
    assert.ok((error.retryAfterMs ?? 0) > 50_000 && (error.retryAfterMs ?? 0) <= 60_000);
  });

  test("repeats the beginning of a long message", async () => {
    const { message } = await errorOf(() => ask(new Error(`It failed. ${"x".repeat(1e6)}`)));
    assert.match(message, /^the call of the language model failed: Error: It failed\. x+…$/);
    assert.ok(message.length < 500, String(message.length));
  });

  test("may throw anything", async () => {
    for (const thrown of [undefined, null, "words", 5, HOSTILE, Object.create(null)]) {
      const model = modelOf("v2", {});
      model.doGenerate = async () => {
        throw thrown;
      };
      const error = await errorOf(() => languageModelJudge(model)(PLAIN, { signal: NEVER() }));
      assert.equal(error.code, "judge_failed");
    }
  });
});

describe("cancelling", () => {
  test("ends a call at once, whether or not the model listens", async () => {
    const model = modelOf("v2", {});
    let heard = false;
    model.doGenerate = (call) => {
      call.abortSignal?.addEventListener("abort", () => (heard = true));
      return new Promise<never>(() => {});
    };
    const controller = new AbortController();
    const failed = errorOf(() => languageModelJudge(model)(PLAIN, { signal: controller.signal }));
    setImmediate(() => controller.abort());
    assert.equal((await failed).code, "cancelled");
    assert.ok(heard);
  });

  test("before a call makes none", async () => {
    const model = modelOf("v2", V2_RESULT);
    const error = await errorOf(() => languageModelJudge(model)(PLAIN, { signal: AbortSignal.abort() }));
    assert.equal(error.code, "cancelled");
    assert.equal(model.calls.length, 0);
  });

  test("by a timeout says so", async () => {
    const model = modelOf("v2", {});
    model.doGenerate = () => new Promise<never>(() => {});
    const controller = new AbortController();
    const failed = errorOf(() => languageModelJudge(model)(PLAIN, { signal: controller.signal }));
    setImmediate(() => controller.abort(new DOMException("too late", "TimeoutError")));
    assert.equal((await failed).code, "timeout");
  });
});

describe("what is no language model", () => {
  test("is refused with advice", async () => {
    for (const [given, message, help] of [
      ["openai/gpt-4.1", /found a name/, /openai\("gpt-6-luna"\)/],
      [{ ...modelOf("v1", {}) }, /AI SDK 4/, /AI SDK 5/],
      [{}, /expected a language model/, /(?:)/],
      [null, /found null/, /(?:)/],
      [HOSTILE, /no doGenerate for you/, /(?:)/],
    ] as const) {
      const error = await errorOf(() => languageModelJudge(given as never));
      assert.equal(error.code, "invalid_input");
      assert.match(error.message, message);
      assert.match(error.help ?? "", help);
    }
  });

  test("nor is a misspelt option one", async () => {
    const error = await errorOf(() => languageModelJudge(modelOf("v2", {}), { header: {} } as never));
    assert.match(error.help ?? "", /`headers`/);
  });
});

describe("a request", () => {
  const judge = languageModelJudge(modelOf("v2", V2_RESULT));
  test("that is none is refused", async () => {
    const cases: [unknown, RegExp][] = [
      [undefined, /request/],
      [{ ...PLAIN, prompt: 5 }, /prompt/],
      [{ ...PLAIN, sampleIndex: -1 }, /sampleIndex/],
      [{ ...PLAIN, purpose: "guess" }, /purpose/],
      [{ ...PLAIN, responseSchema: { deep: { value: NaN } } }, /responseSchema: deep.value/],
      [HOSTILE, /request/],
    ];
    for (const [given, path] of cases) {
      const error = await errorOf(() => judge(given as never, { signal: NEVER() }));
      assert.match(error.path ?? "", path);
    }
  });
});
