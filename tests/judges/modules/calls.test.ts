// Calls of the providers' judges from question to reply: the engine as it was built, and a loopback server that speaks
// every provider's protocol. All of it by the runtime's own fetch and by one of the user's, which are to behave alike.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, afterEach, before, describe, test } from "node:test";
import { withEngine } from "../../../pkg-template/src/engine/instance.js";
import {
  anthropicJudge,
  geminiJudge,
  ollamaJudge,
  openaiJudge,
  vertexJudge,
} from "../../../pkg-template/src/judges/providers.js";
import { vertexEndpoint } from "../../../pkg-template/src/judges/provider-endpoint.js";
import { evaluateInstances } from "../../../pkg-template/src/judges/vertex-evaluate.js";
import type { Judge, JudgeReply } from "../../../pkg-template/src/types.js";
import { baseUrl, startServer, STATUS_FAULTS } from "../../providers/server.mjs";
import { loads } from "./engine.js";
import { assertHidden, errorOf, HOSTILE, NEVER, PLAIN, REQUEST } from "./support.js";

const KEY = "sk-secret/key+1234567890";

/** The judges of all providers, of a server at an address. */
const JUDGES: Record<string, (url: string, more: object) => Judge> = {
  gemini: (url, more) => geminiJudge({ apiKey: KEY, baseUrl: url, ...more }),
  vertex: (url, more) => vertexJudge({ project: "p", accessToken: async () => KEY, baseUrl: url, ...more }),
  openai: (url, more) => openaiJudge({ apiKey: KEY, baseUrl: url, ...more }),
  "openai-responses": (url, more) => openaiJudge({ apiKey: KEY, baseUrl: url, api: "responses", ...more }),
  anthropic: (url, more) => anthropicJudge({ apiKey: KEY, baseUrl: url, ...more }),
  ollama: (url, more) => ollamaJudge({ baseUrl: url, ...more }),
};
const GOOGLE = ["gemini", "vertex"];

const TRANSPORTS: Record<string, object> = {
  "the runtime's fetch": {},
  "a fetch of the user's": { fetch: (url: string, init: RequestInit) => fetch(url, init) },
};

/** What the server does next. */
let answer: unknown;
let server: Awaited<ReturnType<typeof startServer>>;

before(async () => {
  assert.equal(loads, 0, "nothing is loaded by importing and making judges");
  server = await startServer({ reply: () => answer as string });
});
after(() => server.close());

const ask = async (judge: Judge, signal = NEVER()): Promise<JudgeReply> =>
  (await judge(PLAIN, { signal })) as JudgeReply;

/** The error of a call that the server answers with a fault. */
async function failureOf(judge: Judge, fault: object) {
  answer = fault;
  const error = await errorOf(() => ask(judge));
  assert.equal(error.code, "judge_failed");
  assertHidden(error, KEY);
  return error;
}

const arrival = async (): Promise<void> => {
  const { length } = server.requests;
  while (server.requests.length === length) await new Promise((resolve) => setTimeout(resolve, 2));
};

for (const [name, transport] of Object.entries(TRANSPORTS)) {
  for (const [provider, make] of Object.entries(JUDGES)) {
    describe(`${provider}, by ${name}`, () => {
      let judge: Judge;
      before(() => {
        judge = make(baseUrl(server.url, provider), transport);
      });

      test("a question is asked once and its reply is read, without thoughts", async () => {
        answer = { text: "Yes, ünïcödé 🙂.", thoughts: "Let me see.", usage: { input: 9, output: 2 } };
        const { length } = server.requests;
        const { temperature: _, ...generationConfig } = REQUEST.generationConfig as Record<string, unknown>;
        const prompt = `${REQUEST.prompt} "\\ \u0001 ünïcödé 🙂 ${"x".repeat(100_000)}`;
        const reply = (await judge({ ...REQUEST, prompt, generationConfig }, { signal: NEVER() })) as JudgeReply;
        assert.equal(reply.text, "Yes, ünïcödé 🙂.");
        assert.equal(reply.usage?.inputTokens, 9);
        assert.ok(reply.modelVersion?.startsWith(REQUEST.model));
        assert.equal(server.requests.length, length + 1);
        const { system, prompt: asked, schema, headers, model } = server.requests.at(-1) ?? assert.fail();
        assert.deepEqual(
          [model, system, asked, schema],
          [REQUEST.model, REQUEST.system, prompt, REQUEST.responseSchema],
        );
        assert.equal(headers["content-type"], "application/json");
        assert.ok(Number(headers["content-length"]) > 100_000, "the body is sent in one piece");
      });

      test("a status is told with whether to ask again", async () => {
        for (const fault of STATUS_FAULTS) {
          const { status = 0, retryable, message } = await failureOf(judge, { fault });
          const again = [408, 429, 500, 502, 503, 504].includes(status) || (status === 529 && provider === "anthropic");
          assert.ok(status >= 400 && message.includes(`answered ${status}`), message);
          const isSpent = fault === "quota" && provider.startsWith("openai");
          assert.equal(retryable, again && !isSpent, `${fault}: ${message}`);
        }
      });

      test("the server says when to come back", async () => {
        const fault = "rate_limit";
        const wait = async (how: object) => (await failureOf(judge, { fault, ...how })).retryAfterMs;
        assert.equal(await wait({ retryAfter: 2 }), 2000);
        assert.equal(await wait({ retryAfterMs: 250 }), 250);
        const dated = (await wait({ retryAfter: new Date(Date.now() + 60_000) })) ?? 0;
        assert.ok(dated >= 58_000 && dated <= 61_000, String(dated));
        if (GOOGLE.includes(provider)) assert.equal(await wait({ retryInfo: "1.5s" }), 1500);
        assert.equal(await wait({}), undefined);
      });

      test("an answer that is no reply is a failure", async () => {
        for (const [fault, retryable] of Object.entries({ blocked: false, refusal: false, truncated: false })) {
          const error = await failureOf(judge, { fault });
          // Ollama's replies do not say that it refuses.
          if (provider !== "ollama" || fault === "truncated") assert.equal(error.retryable, retryable, error.message);
          assert.equal(error.status, 200);
        }
        for (const fault of ["empty", "malformed", "html"]) {
          const { retryable, status } = await failureOf(judge, { fault });
          assert.deepEqual([retryable, status], [true, 200], fault);
        }
      });

      test("a call that hangs ends when it is cancelled or out of time, and so does its request", async () => {
        answer = { fault: "hang" };
        const controller = new AbortController();
        const arrived = arrival();
        const cancelled = errorOf(() => ask(judge, controller.signal));
        await arrived;
        const { socket } = server.requests.at(-1) ?? assert.fail();
        const closed = once(socket, "close");
        controller.abort();
        assert.equal((await cancelled).code, "cancelled");
        await closed;
        assert.equal((await errorOf(() => ask(judge, AbortSignal.timeout(30)))).code, "timeout");
        assert.equal((await errorOf(() => ask(judge, AbortSignal.abort()))).code, "cancelled");
      });

      test("a connection that breaks, before or within the answer, may be tried again", async () => {
        for (const fault of ["reset", "half"]) {
          const { retryable, message, status, help } = await failureOf(judge, { fault });
          assert.deepEqual([retryable, status], [true, undefined], message);
          assert.match(message, /did not answer/);
          assert.ok(help);
        }
      });

      test("a redirect is not followed", async () => {
        const location = `${server.url}/v1/elsewhere?key=${KEY}`;
        const { length } = server.requests;
        const { retryable, message } = await failureOf(judge, { fault: "redirect", location });
        assert.equal(retryable, false);
        assert.match(message, new RegExp(`redirects to ${server.url}/v1/elsewhere$`));
        assert.equal(server.requests.length, length + 1);
      });

      test("a server that is not there is told with what to do", async () => {
        const gone = await startServer();
        await gone.close();
        const { message, retryable, help } = await errorOf(() => ask(make(gone.url, transport)));
        assert.match(message, /did not answer: TypeError: .*ECONNREFUSED/);
        assert.equal(retryable, true);
        assert.match(help ?? "", provider === "ollama" ? /ollama serve/ : /network/);
      });
    });
  }
}

describe("a fetch that rejects, throws, or gives no response", () => {
  const own = globalThis.fetch;
  afterEach(() => {
    globalThis.fetch = own;
  });

  const text = { status: 200, headers: new Headers() };
  const broken: Record<string, () => unknown> = {
    "rejects with an Error": () => Promise.reject(new Error("broken")),
    "rejects with a text": () => Promise.reject("broken"),
    "rejects with nothing": () => Promise.reject(),
    "rejects with null": () => Promise.reject(null),
    "rejects with an object": () => Promise.reject({ code: "invalid_input", message: "mine" }),
    "rejects with what throws": () => Promise.reject(HOSTILE),
    "throws an Error": () => {
      throw new Error("broken");
    },
    "throws a text": () => {
      throw "broken";
    },
    "throws an object like a mistake of the engine's": () => {
      throw { code: "invalid_input", message: "mine" };
    },
    "gives nothing": () => undefined,
    "gives a promise of nothing": async () => undefined,
    "gives null": async () => null,
    "gives a response without a status": async () => ({ text: async () => "yes" }),
    "gives headers that throw": async () => ({ ...text, headers: HOSTILE, text: async () => "yes" }),
    "gives a body that breaks off": async () => ({ ...text, text: () => Promise.reject("cut off") }),
    "gives a body that is no text": async () => ({ ...text, text: async () => 5 }),
  };
  /** What is said of some. */
  const words: Record<string, RegExp> = {
    "gives nothing": /: TypeError: fetch returned no response$/,
    "gives a promise of nothing": /: TypeError: fetch returned no response$/,
    "gives null": /: TypeError: fetch returned no response$/,
    "gives a response without a status": /: TypeError: fetch returned no response$/,
  };
  for (const status of [-1, 0, 99, 200.5, 600, NaN, Infinity]) {
    const name = `gives a response with the status ${status}`;
    broken[name] = async () => ({ status, headers: new Headers(), text: async () => "yes" });
    words[name] = new RegExp(`: TypeError: fetch returned an invalid response with status ${status}$`);
  }
  for (const [name, fetch] of Object.entries(broken)) {
    test(name, async () => {
      const url = server.url;
      const users = await errorOf(() => ask(geminiJudge({ apiKey: KEY, baseUrl: url, fetch: fetch as never })));
      globalThis.fetch = fetch as never;
      const own = await errorOf(() => ask(geminiJudge({ apiKey: KEY, baseUrl: url })));
      for (const error of [users, own]) {
        assert.equal(error.code, "judge_failed");
        assert.match(error.message, /^The server at 127\.0\.0\.1:\d+ did not answer: /);
        assert.match(error.message, words[name] ?? /./);
        assert.equal(error.retryable, true);
        assertHidden(error, KEY);
      }
      assert.equal(own.message, users.message);
    });
  }

  test("an address that is none is told", async () => {
    for (const [option, value] of [
      ["location", "a b"],
      ["location", "evil.example/x"],
      ["project", "../x"],
    ] as const) {
      const options = { project: "p", accessToken: KEY, [option]: value };
      const { code, message, path } = await errorOf(() => ask(vertexJudge(options)));
      assert.deepEqual([code, path], ["invalid_input", `options: ${option}`]);
      assert.equal(message, `\`${value}\` cannot be a ${option} of Google Cloud`);
    }
  });

  test("the runtime's is looked up at each call, and may be missing", async () => {
    answer = "Yes.";
    const judge = ollamaJudge({ baseUrl: server.url });
    const asked: unknown[] = [];
    globalThis.fetch = async function (this: unknown, request: Request) {
      asked.push(this, request.method, request.redirect, new URL(request.url).pathname);
      return own(request);
    } as never;
    assert.equal((await ask(judge)).text, "Yes.");
    assert.deepEqual(asked, [undefined, "POST", "manual", "/api/chat"]);
    globalThis.fetch = undefined as never;
    assert.equal((await errorOf(() => ask(judge))).code, "judge_unavailable");
  });
});

describe("an answer without end", () => {
  const MIB = 1024 * 1024;
  /** What was taken in, in MiB, and whether the stream was given up. */
  const seen = { taken: 0, cancelled: false };
  const endless = (status: number) => {
    Object.assign(seen, { taken: 0, cancelled: false });
    const pull = (controller: ReadableStreamDefaultController): void => {
      seen.taken += 1;
      controller.enqueue(new TextEncoder().encode("x".repeat(MIB)));
    };
    const cancel = (): void => void (seen.cancelled = true);
    return new Response(new ReadableStream({ pull, cancel }), { status });
  };
  const failing = (response: () => unknown) =>
    errorOf(() =>
      ask(openaiJudge({ apiKey: KEY, baseUrl: `${server.url}/v1?${KEY}`, fetch: async () => response() as Response })),
    );

  test("is no reply, and no more of it is taken in than 1 MiB", async () => {
    for (const [response, taken] of [
      [() => endless(200), 6],
      [() => ({ status: 200, headers: new Headers(), text: async () => "x".repeat(5 * MIB) }), 0],
    ] as const) {
      Object.assign(seen, { taken: 0, cancelled: false });
      const error = await failing(response);
      assert.deepEqual([error.code, error.retryable, error.status], ["judge_failed", false, 200]);
      assert.equal(
        error.message,
        `${server.url}/v1/chat/completions sent an answer of more than 1048576 bytes; at most 1048576 are read`,
      );
      assert.match(error.help ?? "", /maxOutputTokens/);
      assert.ok(seen.taken <= taken, String(seen.taken));
      assert.equal(seen.cancelled, taken > 0);
      assertHidden(error, KEY);
    }
  });

  test("to an error is cut, and the status is told", async () => {
    const { message, retryable, status } = await failing(() => endless(503));
    assert.deepEqual([retryable, status, seen.cancelled], [true, 503, true]);
    assert.match(message, /answered 503/);
    assert.ok(message.length < 1000 && seen.taken <= 6);
  });

  test("comes over the wire too", async () => {
    for (const [provider, make] of Object.entries(JUDGES)) {
      const judge = make(baseUrl(server.url, provider), {});
      answer = { text: "é".repeat(3 * MIB) };
      const { message } = await errorOf(() => ask(judge));
      assert.match(message, /sent an answer of more than 1048576 bytes/);
      answer = { text: "é".repeat(MIB / 4) };
      assert.equal((await ask(judge)).text.length, MIB / 4);
    }
  });

  test("of an error in words is cut", async () => {
    const { message } = await failing(() => {
      throw new Error(`${KEY.repeat(30)}${"x".repeat(1e6)}`);
    });
    assert.ok(message.length < 500, String(message.length));
    assert.ok(!message.includes(KEY.slice(0, 10)), message);
  });
});

test("a message that ends with a full stop gets no second one before the help", async () => {
  for (const [provider, make] of Object.entries(JUDGES)) {
    const error = await failureOf(make(baseUrl(server.url, provider), {}), { fault: "auth", message: "No such key." });
    assert.match(String(error), /No such key\. \S/);
  }
});

test("calls under way outlive the engine's instance", async () => {
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => (go = resolve));
  const slow = await startServer({ reply: async () => gate.then(() => "Yes.") });
  try {
    const calls = Object.entries(JUDGES).map(([provider, make]) => ask(make(baseUrl(slow.url, provider), {})));
    while (slow.requests.length < calls.length) await new Promise((resolve) => setTimeout(resolve, 2));
    const crash = (): never => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    assert.throws(() => withEngine(crash), { code: "engine_crashed" });
    go();
    assert.deepEqual(
      (await Promise.all(calls)).map(({ text }) => text),
      calls.map(() => "Yes."),
    );
  } finally {
    await slow.close();
  }
});

describe("evaluateInstances", () => {
  const BODY = '{"metrics":[{"predefinedMetricSpec":{"metricSpecName":"safety_v1"}}],"instance":{"prompt":{}}}';
  const endpoint = () =>
    vertexEndpoint({ project: "p", location: "eu", accessToken: () => KEY, baseUrl: `${server.url}?team=1` });
  const evaluate = (signal = NEVER()) => evaluateInstances(endpoint(), BODY, signal);

  test("sends the body as it is and gives the answer as it is", async () => {
    answer = { score: 0.5, explanation: "Half." };
    assert.deepEqual(await evaluate(), { text: '{"metricResults":[{"score":0.5,"explanation":"Half."}]}' });
    const { path, headers, body } = server.requests.at(-1) ?? assert.fail();
    assert.equal(path, "/v1beta1/projects/p/locations/eu:evaluateInstances");
    assert.equal(headers.authorization, `Bearer ${KEY}`);
    assert.deepEqual(body, JSON.parse(BODY));
  });

  test("leaves a metric that could not be scored to the reader, unless asking again may help", async () => {
    answer = { error: { code: 3, message: "no" } };
    assert.match((await evaluate()).text, /"message":"no"/);
    answer = { error: { code: 14, message: `overloaded ${KEY}` } };
    const error = await errorOf(() => evaluate());
    assert.deepEqual([error.code, error.retryable, error.status], ["judge_failed", true, 200]);
    assert.match(error.message, /could not score: overloaded \[redacted\]/);
  });

  test("gives no key, header or query that the answer repeats", async () => {
    const headers = { "x-proxy": 'a "secret" header' };
    const secret = vertexEndpoint({
      project: "p",
      accessToken: KEY,
      baseUrl: `${server.url}?code=query-secret`,
      headers,
    });
    answer = { score: 0.5, explanation: `${KEY} a "secret" header query-secret` };
    const { text } = await evaluateInstances(secret, BODY, NEVER());
    assert.deepEqual(JSON.parse(text), {
      metricResults: [{ score: 0.5, explanation: "[redacted] [redacted] [redacted]" }],
    });
  });

  test("fails as a judge does", async () => {
    answer = { fault: "rate_limit", retryInfo: "2s" };
    const limited = await errorOf(() => evaluate());
    assert.deepEqual(
      [limited.code, limited.retryable, limited.retryAfterMs, limited.status],
      ["judge_failed", true, 2000, 429],
    );
    for (const [fault, retryable] of Object.entries({ auth: false, malformed: true, html: true, half: true })) {
      answer = { fault };
      assert.equal((await errorOf(() => evaluate())).retryable, retryable, fault);
    }
    answer = { fault: "hang" };
    assert.equal((await errorOf(() => evaluate(AbortSignal.timeout(30)))).code, "timeout");
  });
});
