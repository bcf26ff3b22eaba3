// The judge that asks a `BaseLlm`: of ADK-TS with the real class where it is installed (`npm ci --ignore-scripts` in
// tests/adk-ts), of `@google/adk` with a stand-in that has its interface.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  adkJudge,
  type AdkLlm,
  type AdkLlmRequest,
  type AdkLlmResponse,
} from "../../../pkg-template/src/judges/adk.js";
import { identityOf } from "../../../pkg-template/src/judges/judge.js";
import { SETTINGS } from "../../../pkg-template/src/generated/settings.js";
import "./engine.js";
import { errorOf, HOSTILE, NEVER, PLAIN, REQUEST } from "./support.js";

const folder = fileURLToPath(new URL("../../adk-ts", import.meta.url));
const isInstalled = existsSync(join(folder, "node_modules/@iqai/adk/package.json"));
const skip =
  !isInstalled && process.env.CI !== "true"
    ? "@iqai/adk is not installed: run `npm ci --ignore-scripts` in tests/adk-ts"
    : false;

const saying = (text: string): AdkLlmResponse => ({ content: { parts: [{ text }] } });

type Call = [AdkLlmRequest, boolean | undefined, AbortSignal | undefined];

/** A model of `@google/adk` that gives these responses, throws what is an error, and notes how it was called. */
function llmOf(...responses: unknown[]): AdkLlm & { calls: Call[] } {
  const calls: Call[] = [];
  return {
    calls,
    model: "gemini-2.5-pro",
    async *generateContentAsync(request, stream, signal) {
      calls.push([request, stream, signal]);
      for (const response of responses) {
        if (response instanceof Error) throw response;
        yield response as AdkLlmResponse;
      }
    },
  };
}

const ask = (...responses: unknown[]) => adkJudge(llmOf(...responses))(REQUEST, { signal: NEVER() });

describe("a BaseLlm", () => {
  test("replies with its text without thoughts, its tokens and its version", async () => {
    const response = {
      content: {
        role: "model",
        parts: [{ text: "hm", thought: true }, { text: '{"is_valid": ' }, { text: '"true"}' }],
      },
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 17, thoughtsTokenCount: 2 },
      modelVersion: "gemini-2.5-pro-001",
      finishReason: "STOP",
    };
    assert.deepEqual(await ask(response), {
      text: '{"is_valid": "true"}',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 17 },
      modelVersion: "gemini-2.5-pro-001",
    });
  });

  test("is asked once, without streaming, with a signal in both places", async () => {
    const llm = llmOf(saying("yes"));
    const { signal } = new AbortController();
    await adkJudge(llm)(REQUEST, { signal });
    const [[request, stream, given] = []] = llm.calls;
    assert.equal(llm.calls.length, 1);
    assert.equal(stream, false);
    assert.equal(given, signal);
    assert.ok(request !== undefined);
    assert.equal(request.model, "gemini-2.5-pro");
    assert.deepEqual(request.contents, [{ role: "user", parts: [{ text: REQUEST.prompt }] }]);
    assert.deepEqual(request.config, {
      temperature: 0.5,
      maxOutputTokens: 256,
      thinkingConfig: { thinkingBudget: 0 },
      abortSignal: signal,
      systemInstruction: REQUEST.system,
      responseMimeType: "application/json",
      responseJsonSchema: REQUEST.responseSchema,
    });
    assert.equal(request.getSystemInstructionText?.(), REQUEST.system);
  });

  test("gets a request of its own for each call, into which it may write", async () => {
    const llm = llmOf(saying("yes"));
    const judge = adkJudge(llm, { structuredOutput: false });
    await judge(REQUEST, { signal: NEVER() });
    const [first] = llm.calls[0] ?? [];
    assert.ok(first?.config !== undefined);
    assert.ok(!("responseJsonSchema" in first.config));
    Object.assign(first.config, { labels: { written: "by the model" } });
    first.contents.push({ role: "user", parts: [{ text: "more" }] });
    await judge(REQUEST, { signal: NEVER() });
    const [second] = llm.calls[1] ?? [];
    assert.ok(second?.config !== undefined && !("labels" in second.config));
    assert.equal(second?.contents.length, 1);
  });

  test("may reply in several responses, partial ones aside", async () => {
    const reply = await ask({ ...saying("ye"), partial: true }, saying("ye"), saying("s"), { text: "!" });
    assert.deepEqual(reply, { text: "yes!" });
  });

  test("keeps its own model", () => {
    const { model, label } = identityOf(adkJudge(llmOf()));
    assert.deepEqual({ model, label }, { model: "gemini-2.5-pro", label: "adk" });
  });

  test("is sent the settings that all judges may have, and nothing else of a config", async () => {
    const llm = llmOf(saying("yes"));
    const generationConfig = {
      top_k: 3,
      tools: [{ googleSearch: {} }],
      toolConfig: {},
      abort_signal: "none",
      system_instruction: "Reply in English.",
      automatic_function_calling: {},
      responseJsonSchema: { type: "string" },
    };
    const judge = adkJudge(llm);
    await judge({ ...PLAIN, generationConfig }, { signal: NEVER() });
    const [[request] = []] = llm.calls;
    const { abortSignal: _, ...config } = (request?.config ?? {}) as Record<string, unknown>;
    assert.deepEqual(config, { topK: 3, systemInstruction: "Reply in English." });
    assert.deepEqual(
      identityOf(judge)
        .notSent?.(generationConfig)
        .map((warning) => /`(\w+)`/.exec(warning)?.[1]),
      ["tools", "toolConfig", "abortSignal", "automaticFunctionCalling", "responseJsonSchema"],
    );
  });

  test("knows the same settings as the engine, whose list the schema of configs has", () => {
    const schema = JSON.parse(
      readFileSync(new URL("../../../pkg/schema/config.schema.json", import.meta.url), "utf8"),
    ) as {
      definitions: { JudgeModelConfig: { properties: object } };
    };
    const names = Object.keys(schema.definitions.JudgeModelConfig.properties).filter((name) => !name.includes("_"));
    assert.deepEqual([...SETTINGS].sort(), names.sort());
  });

  test("is not asked where a config says how to reach the server", async () => {
    const llm = llmOf(saying("yes"));
    for (const key of ["httpOptions", "http_options"]) {
      const generationConfig = { [key]: { baseUrl: "http://127.0.0.1:1" } };
      const error = await errorOf(() => adkJudge(llm)({ ...PLAIN, generationConfig }, { signal: NEVER() }));
      assert.equal(error.code, "invalid_input");
    }
    assert.equal(llm.calls.length, 0);
  });

  test("is shown control tokens of chat templates broken up, and its reply quotes them whole", async () => {
    const llm = llmOf(saying("It says <\u2060|im_end|>."));
    const reply = await adkJudge(llm)({ ...PLAIN, prompt: "a <|im_end|> [/INST]" }, { signal: NEVER() });
    assert.equal(llm.calls[0]?.[0].contents[0]?.parts?.[0]?.text, "a <\u2060|im_end|> [\u2060/INST]");
    assert.equal(reply.text, "It says <|im_end|>.");
  });
});

describe("a response that cannot be used", () => {
  const cases: [string, unknown[], RegExp, boolean][] = [
    ["blocked", [{ errorCode: "SAFETY", errorMessage: "blocked" }], /SAFETY: blocked/, false],
    ["blocked without words", [{ errorCode: "PROHIBITED_CONTENT" }], /PROHIBITED_CONTENT/, false],
    ["of an unknown error", [{ errorCode: "UNKNOWN_ERROR", errorMessage: "?" }], /UNKNOWN_ERROR/, true],
    ["cut off before it began", [{ content: { parts: [] }, finishReason: "MAX_TOKENS" }], /cut off/, false],
    ["without text", [{ content: { parts: [{ functionCall: {} }] } }], /no text/, true],
    ["of thoughts alone", [{ content: { parts: [{ text: "hm", thought: true }] } }], /no text/, true],
    ["that never came", [], /no text/, true],
    ["that is null", [null], /failed/, false],
    ["whose parts are no list", [{ content: { parts: 5 } }], /no text/, true],
    ["whose properties throw", [HOSTILE], /failed/, false],
    ["of an error that was thrown", [Object.assign(new Error("busy"), { status: 503 })], /busy/, true],
  ];
  for (const [name, responses, message, retryable] of cases) {
    test(`is a failure: ${name}`, async () => {
      const error = await errorOf(() => ask(...responses));
      assert.equal(error.code, "judge_failed");
      assert.match(error.message, message);
      assert.equal(error.retryable, retryable);
    });
  }

  test("is told in a few words", async () => {
    const { message } = await errorOf(() => ask({ errorCode: "UNKNOWN_ERROR", errorMessage: "x".repeat(1e6) }));
    assert.ok(message.length < 500, String(message.length));
  });

  test("is not mistaken for a reply when ADK-TS puts the error into its text", async () => {
    const response = {
      errorCode: "AI_SDK_ERROR",
      errorMessage: "LLM call failed for model gpt: Too many requests",
      content: { role: "model", parts: [{ text: "Error: Too many requests" }] },
      finishReason: "STOP",
      error: Object.assign(new Error("Too many requests"), {
        statusCode: 429,
        responseHeaders: { "retry-after": "3" },
      }),
    };
    const error = await errorOf(() => ask(response));
    assert.match(error.message, /AI_SDK_ERROR: LLM call failed/);
    assert.deepEqual([error.status, error.retryAfterMs, error.retryable], [429, 3000, true]);
  });
});

describe("cancelling", () => {
  test("ends a call at once, even of a model that does not listen", async () => {
    const llm = llmOf();
    llm.generateContentAsync = async function* () {
      await new Promise<never>(() => {});
      yield saying("never");
    };
    const controller = new AbortController();
    const failed = errorOf(() => adkJudge(llm)(PLAIN, { signal: controller.signal }));
    setImmediate(() => controller.abort());
    assert.equal((await failed).code, "cancelled");
  });
});

test("what is no BaseLlm is refused with advice", async () => {
  for (const [given, message] of [
    ["gpt-4.1", /found a name/],
    [undefined, /found nothing/],
    [{ model: "m" }, /expected a BaseLlm/],
    [HOSTILE, /no generateContentAsync for you/],
  ] as const) {
    const error = await errorOf(() => adkJudge(given as never));
    assert.equal(error.code, "invalid_input");
    assert.match(error.message, message);
  }
});

describe("ADK-TS itself", { skip }, () => {
  interface RealAdk {
    BaseLlm: new (model: string) => AdkLlm;
    LlmResponse: { new (data: object): AdkLlmResponse; fromError(error: unknown, options: object): AdkLlmResponse };
    AiSdkLlm: new (model: object) => AdkLlm;
  }
  const load = () => createRequire(join(folder, "package.json"))("@iqai/adk") as RealAdk;

  test("has its models asked as it asks them", async () => {
    const { BaseLlm, LlmResponse } = load();
    const seen: unknown[] = [];
    class Echo extends BaseLlm {
      async *generateContentAsyncImpl(request: AdkLlmRequest) {
        seen.push(request.model, request.getSystemInstructionText?.(), request.contents);
        yield new LlmResponse({
          content: { role: "model", parts: [{ text: "hm", thought: true }, { text: "yes" }] },
          usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
        });
      }
    }
    const reply = await adkJudge(new Echo("echo-1"))(REQUEST, { signal: NEVER() });
    assert.deepEqual(reply, { text: "yes", usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 } });
    assert.deepEqual(seen, ["echo-1", REQUEST.system, [{ role: "user", parts: [{ text: REQUEST.prompt }] }]]);
  });

  test("has its errors understood", async () => {
    const { BaseLlm, LlmResponse } = load();
    class Fails extends BaseLlm {
      async *generateContentAsyncImpl() {
        yield LlmResponse.fromError(Object.assign(new Error("overloaded"), { status: 529 }), { model: "m" });
      }
    }
    const error = await errorOf(() => adkJudge(new Fails("m"))(PLAIN, { signal: NEVER() }));
    assert.equal(error.code, "judge_failed");
    assert.deepEqual([error.status, error.retryable], [529, true]);
  });

  test("passes questions on to a model of the AI SDK", async () => {
    const { AiSdkLlm } = load();
    const prompts: unknown[] = [];
    const llm = new AiSdkLlm({
      specificationVersion: "v2",
      provider: "stand-in",
      modelId: "m",
      supportedUrls: {},
      async doGenerate({ prompt }: { prompt: { role: string }[] }) {
        prompts.push(prompt.map(({ role }) => role));
        const usage = { inputTokens: 2, outputTokens: 1, totalTokens: 3 };
        return { content: [{ type: "text", text: "yes" }], finishReason: "stop", usage, warnings: [] };
      },
    });
    const reply = await adkJudge(llm)(REQUEST, { signal: NEVER() });
    assert.deepEqual(reply, { text: "yes", usage: { inputTokens: 2, outputTokens: 1, totalTokens: 3 } });
    assert.deepEqual(prompts, [["system", "user"]]);
  });
});
