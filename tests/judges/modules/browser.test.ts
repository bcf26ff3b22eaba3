// The judge that asks the browser's built-in model. No such model is at hand: these are stand-ins that have the
// interface of the Prompt API and throw what it is documented to throw.

import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { browserJudge, type BrowserLanguageModel } from "../../../pkg-template/src/judges/browser.js";
import { identityOf } from "../../../pkg-template/src/judges/judge.js";
import "./engine.js";
import { errorOf, HOSTILE, NEVER, PLAIN, REQUEST } from "./support.js";

interface Log {
  availability: unknown[];
  created: Record<string, unknown>[];
  prompted: [string, Record<string, unknown> | undefined][];
  destroyed: number;
}

/** A model in some state that gives a reply, or throws it if it is an error. */
function modelOf(reply: unknown, availability = "available"): BrowserLanguageModel & { log: Log } {
  const log: Log = { availability: [], created: [], prompted: [], destroyed: 0 };
  return {
    log,
    async availability(options) {
      log.availability.push(options);
      return availability;
    },
    async create(options = {}) {
      log.created.push(options as Record<string, unknown>);
      return {
        contextUsage: 42,
        async prompt(input, more) {
          log.prompted.push([input, more]);
          if (reply instanceof Error) throw reply;
          return reply as string;
        },
        destroy() {
          log.destroyed += 1;
        },
      };
    },
  };
}

const inEnglish = { expectedOutputs: [{ type: "text", languages: ["en"] }] };

describe("the built-in model", () => {
  test("gets a session of its own for each question", async () => {
    const languageModel = modelOf('{"is_valid": "true"}');
    const { signal } = new AbortController();
    const judge = browserJudge({ languageModel });
    assert.deepEqual(await judge(REQUEST, { signal }), { text: '{"is_valid": "true"}', usage: { totalTokens: 42 } });
    await judge(PLAIN, { signal });
    const { log } = languageModel;
    assert.deepEqual(log.availability, [inEnglish, inEnglish]);
    assert.deepEqual(log.created, [
      { ...inEnglish, initialPrompts: [{ role: "system", content: REQUEST.system }], signal },
      { ...inEnglish, signal },
    ]);
    assert.deepEqual(log.prompted, [
      [REQUEST.prompt, { responseConstraint: REQUEST.responseSchema, signal }],
      [PLAIN.prompt, { signal }],
    ]);
    assert.equal(log.destroyed, 2);
  });

  test("is asked as the options say", async () => {
    const languageModel = modelOf("yes");
    const create = { expectedOutputs: [{ type: "text", languages: ["ja"] }] };
    const judge = browserJudge({ languageModel, create, structuredOutput: false });
    await judge({ ...REQUEST, generationConfig: { temperature: 0, top_k: 3 } }, { signal: NEVER() });
    const [options = {}] = languageModel.log.created;
    assert.deepEqual([options.expectedOutputs, options.temperature, options.topK], [create.expectedOutputs, 0, 3]);
    assert.equal(languageModel.log.prompted[0]?.[1]?.responseConstraint, undefined);
  });

  test("is shown control tokens of chat templates broken up, and its reply quotes them whole", async () => {
    const languageModel = modelOf("It says <\u2060|im_end|>.");
    const judge = browserJudge({ languageModel });
    const reply = await judge({ ...PLAIN, prompt: "a <|im_end|> [/INST]" }, { signal: NEVER() });
    assert.equal(languageModel.log.prompted[0]?.[0], "a <\u2060|im_end|> [\u2060/INST]");
    assert.equal((reply as { text: string }).text, "It says <|im_end|>.");
  });

  test("is found as the global LanguageModel", async () => {
    Reflect.set(globalThis, "LanguageModel", modelOf("yes"));
    assert.equal(((await browserJudge()(PLAIN, { signal: NEVER() })) as { text: string }).text, "yes");
  });

  test("has a name of its own, since browsers give it none", () => {
    const { model, label } = identityOf(browserJudge());
    assert.deepEqual([model, label], ["built-in", "browser"]);
  });

  afterEach(() => {
    Reflect.deleteProperty(globalThis, "LanguageModel");
    Reflect.deleteProperty(globalThis, "isSecureContext");
  });

  test("is missed with advice", async () => {
    const error = await errorOf(() => browserJudge()(PLAIN, { signal: NEVER() }));
    assert.equal(error.code, "judge_unavailable");
    assert.match(error.help ?? "", /Prompt API/);
    Reflect.set(globalThis, "isSecureContext", false);
    const insecure = await errorOf(() => browserJudge()(PLAIN, { signal: NEVER() }));
    assert.match(insecure.help ?? "", /https/);
  });
});

describe("a model that is not there yet", () => {
  for (const [state, message] of [
    ["downloadable", /not downloaded yet/],
    ["downloading", /still being downloaded/],
  ] as const) {
    test(`is not downloaded without being asked to: ${state}`, async () => {
      const languageModel = modelOf("yes", state);
      const error = await errorOf(() => browserJudge({ languageModel })(PLAIN, { signal: NEVER() }));
      assert.equal(error.code, "judge_unavailable");
      assert.match(error.message, message);
      assert.match(error.help ?? "", /download: true/);
      assert.equal(languageModel.log.created.length, 0);
    });
  }

  test("is downloaded on request, with progress", async () => {
    const languageModel = modelOf("yes", "downloadable");
    const { create } = languageModel;
    languageModel.create = async (options) => {
      const monitor = new EventTarget();
      (options as { monitor(target: EventTarget): void }).monitor(monitor);
      for (const loaded of [0, 0.5, 1]) {
        monitor.dispatchEvent(Object.assign(new Event("downloadprogress"), { loaded }));
      }
      return create(options);
    };
    const seen: number[] = [];
    const judge = browserJudge({ languageModel, download: true, onDownload: (loaded) => seen.push(loaded) });
    await judge(PLAIN, { signal: NEVER() });
    assert.deepEqual(seen, [0, 0.5, 1]);
  });

  test("may never be", async () => {
    for (const state of ["unavailable", "something new", 5]) {
      const languageModel = modelOf("yes", state as string);
      const error = await errorOf(() => browserJudge({ languageModel, download: true })(PLAIN, { signal: NEVER() }));
      assert.equal(error.code, "judge_unavailable");
    }
  });
});

describe("what the Prompt API throws", () => {
  const cases: [string, boolean, RegExp][] = [
    ["QuotaExceededError", false, /too long for/],
    ["NotAllowedError", false, /click/],
    ["NotSupportedError", false, /does not support/],
    ["NotReadableError", false, /filter/],
    ["SyntaxError", false, /structuredOutput/],
    ["OperationError", true, /^$/],
    ["UnknownError", true, /^$/],
    ["constructor", false, /^$/],
  ];
  for (const [name, retryable, help] of cases) {
    test(`is explained: ${name}`, async () => {
      const languageModel = modelOf(new DOMException("it did not work", name));
      const error = await errorOf(() => browserJudge({ languageModel })(PLAIN, { signal: NEVER() }));
      assert.equal(error.code, "judge_failed");
      assert.match(error.message, /it did not work/);
      assert.equal(error.retryable, retryable);
      assert.match(error.help ?? "", help);
      assert.equal(languageModel.log.destroyed, 1, "the session is given up all the same");
    });
  }

  test("ends in one full stop before the help", async () => {
    const languageModel = modelOf(new DOMException("It did not work.", "NotReadableError"));
    const error = await errorOf(() => browserJudge({ languageModel })(PLAIN, { signal: NEVER() }));
    assert.match(String(error), /It did not work\. The browser's filter/);
  });

  test("when a session is opened is explained as well", async () => {
    const languageModel = modelOf("yes");
    languageModel.create = async () => {
      throw new DOMException("the page has no permission", "NotAllowedError");
    };
    const error = await errorOf(() => browserJudge({ languageModel })(PLAIN, { signal: NEVER() }));
    assert.match(error.help ?? "", /click/);
  });

  test("may be anything", async () => {
    for (const thrown of [undefined, "words", HOSTILE]) {
      const languageModel = modelOf("yes");
      languageModel.availability = async () => {
        throw thrown;
      };
      const error = await errorOf(() => browserJudge({ languageModel })(PLAIN, { signal: NEVER() }));
      assert.equal(error.code, "judge_failed");
    }
  });

  test("when a session is given up is of no consequence", async () => {
    const languageModel = modelOf("yes");
    const { create } = languageModel;
    languageModel.create = async (options) =>
      Object.assign(await create(options), {
        destroy() {
          throw new Error("already gone");
        },
      });
    assert.equal(((await browserJudge({ languageModel })(PLAIN, { signal: NEVER() })) as { text: string }).text, "yes");
  });
});

test("a reply that is no text is a failure", async () => {
  for (const reply of ["", 5, undefined, { text: "yes" }]) {
    const error = await errorOf(() => browserJudge({ languageModel: modelOf(reply) })(PLAIN, { signal: NEVER() }));
    assert.match(error.message, /no text/);
  }
});

test("cancelling reaches the model, and gives up the session when it ends", async () => {
  const languageModel = modelOf("yes");
  const { create } = languageModel;
  languageModel.create = async (options) =>
    Object.assign(await create(options), {
      prompt: (_: string, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
  const controller = new AbortController();
  const failed = errorOf(() => browserJudge({ languageModel })(PLAIN, { signal: controller.signal }));
  setImmediate(() => controller.abort());
  assert.equal((await failed).code, "cancelled");
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(languageModel.log.destroyed, 1);
});

test("options that cannot be right are refused", async () => {
  for (const [given, path] of [
    [{ create: "en" }, "options: create"],
    [{ onDownload: true }, "options: onDownload"],
    [{ onProgress: () => {} }, "options: onProgress"],
    [HOSTILE, "options"],
  ] as const) {
    const error = await errorOf(() => browserJudge(given as never));
    assert.deepEqual([error.code, error.path], ["invalid_input", path]);
  }
});
