// The judges of built-in providers: their options, the secrets they keep, and one call from request to reply. What is
// rendered and read here is made up; the providers' protocols are the engine's.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { endpointOf } from "../../pkg-template/src/judges/endpoint.js";
import { identityOf } from "../../pkg-template/src/judges/judge.js";
import {
  anthropicJudge,
  geminiJudge,
  ollamaJudge,
  openaiJudge,
  vertexJudge,
} from "../../pkg-template/src/judges/providers.js";
import { recordJudge } from "../../pkg-template/src/judges/record.js";
import { provideWire } from "../../pkg-template/src/judges/send.js";
import type { Judge, JudgeReply } from "../../pkg-template/src/types.js";
import { assertHidden, errorOf, HOSTILE, NEVER, PLAIN } from "./support.js";

const SECRET = "sk-secret/key+1234567890";

provideWire({
  render: ({ apiKey, accessToken, baseUrl, model, headers }, request) => ({
    url: `${baseUrl ?? "http://127.0.0.1:9"}/${model ?? request.model}?key=${encodeURIComponent(apiKey ?? "")}`,
    headers: { "content-type": "application/json", authorization: `Bearer ${accessToken ?? apiKey}`, ...headers },
    body: JSON.stringify({ prompt: request.prompt }),
  }),
  read: (_, status, headers, body) => {
    const after = headers["retry-after-ms"];
    const details = after === undefined ? {} : { retryAfterMs: Number(after) };
    return status === 200
      ? { reply: { text: body } }
      : { failure: { message: `the server says ${body}`, help: `not ${body}`, retryable: status >= 500, ...details } };
  },
  unreachable: (_, reason) => ({ message: `no answer: ${reason}`, retryable: true, help: "look for the network" }),
});

/** The judges of all providers with a key and an address, and those without need of a key. */
const keyed = (baseUrl: string, more: object = {}): Judge[] => [
  geminiJudge({ apiKey: SECRET, baseUrl, ...more }),
  vertexJudge({ apiKey: SECRET, baseUrl, ...more }),
  vertexJudge({ project: "p", accessToken: SECRET, baseUrl, ...more }),
  vertexJudge({ project: "p", location: "europe-west4", accessToken: async () => SECRET, baseUrl, ...more }),
  openaiJudge({ apiKey: SECRET, baseUrl, ...more }),
  openaiJudge({ apiKey: SECRET, baseUrl, api: "responses", ...more }),
  anthropicJudge({ apiKey: SECRET, baseUrl, ...more }),
  ollamaJudge({ apiKey: SECRET, baseUrl, ...more }),
];

const ask = async (judge: Judge) => ((await judge(PLAIN, { signal: NEVER() })) as JudgeReply).text;

/** A server that answers as its next entry says, and notes what it was asked. */
let server: ReturnType<typeof createServer>;
let origin: string;
const seen: { request: IncomingMessage; body: string }[] = [];
let answer: { status: number; headers?: Record<string, string>; body: string } | "hang" | "reset";

before(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      seen.push({ request, body });
      if (answer === "hang") return;
      if (answer === "reset") request.socket.destroy();
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

describe("a provider's judge", () => {
  test("asks its server once and gives its reply", async () => {
    answer = { status: 200, body: "yes" };
    for (const judge of keyed(`${origin}/`, { headers: { "x-team": "evals" }, model: "own" })) {
      seen.length = 0;
      assert.equal(await ask(judge), "yes");
      const [{ request, body } = assert.fail("nothing was asked")] = seen;
      assert.equal(seen.length, 1);
      assert.equal(request.method, "POST");
      assert.match(request.url ?? "", /^\/own\?/);
      assert.equal(request.headers.authorization, `Bearer ${SECRET}`);
      assert.equal(request.headers["x-team"], "evals");
      assert.equal(body, '{"prompt":"Is it safe?"}');
    }
  });

  test("tells the engine where it asks, and everyone else only who answers", async () => {
    const endpoint = endpointOf(vertexJudge({ project: "p", location: "l", accessToken: ` ${SECRET}\n`, model: "m" }));
    assert.deepEqual(await endpoint?.settings(), {
      provider: "vertex",
      headers: {},
      inBrowser: false,
      model: "m",
      project: "p",
      location: "l",
      accessToken: SECRET,
    });
    assert.deepEqual(identityOf(openaiJudge({ baseUrl: "http://h/v1?key=secret", model: "m" })), {
      model: "m",
      label: "openai http://h/v1",
    });
    assert.equal(
      endpointOf(async () => "yes"),
      undefined,
    );
    assert.equal(endpointOf(openaiJudge({ apiKey: "k", api: "responses" }))?.provider, "openai-responses");
  });

  test("asks for a token before each call", async () => {
    answer = { status: 200, body: "yes" };
    let count = 0;
    const judge = vertexJudge({ project: "p", accessToken: () => `token-${++count}`, baseUrl: origin });
    seen.length = 0;
    await ask(judge);
    await ask(judge);
    assert.deepEqual(
      seen.map(({ request }) => request.headers.authorization),
      ["Bearer token-1", "Bearer token-2"],
    );
  });

  test("says that there is no token", async () => {
    const broken = vertexJudge({ project: "p", accessToken: () => Promise.reject(new Error("not logged in")) });
    assert.match((await errorOf(() => ask(broken))).message, /gave no token: Error: not logged in/);
    for (const token of [undefined, "", "two words", 5]) {
      const error = await errorOf(() => ask(vertexJudge({ project: "p", accessToken: () => token as string })));
      assert.match(error.message, /`accessToken` gave/);
      assert.doesNotMatch(error.message, /two words/);
    }
  });

  test("is called as it stands, with a fetch of the user's", async () => {
    const given: unknown[] = [];
    const fetch = async function (this: unknown, url: unknown, init: RequestInit): Promise<Response> {
      given.push(this, url, init.method, init.redirect, init.signal instanceof AbortSignal);
      return new Response("yes");
    };
    const judge = ollamaJudge({ baseUrl: "http://h/", fetch: fetch as typeof globalThis.fetch });
    assert.equal(((await (judge as (request: typeof PLAIN) => Promise<JudgeReply>)(PLAIN)) as JudgeReply).text, "yes");
    assert.deepEqual(given, [undefined, "http://h/gemini-2.5-flash?key=", "POST", "manual", true]);
  });
});

describe("a failed call", () => {
  test("says what the server says", async () => {
    answer = { status: 503, headers: { "retry-after-ms": "250" }, body: "busy" };
    const error = await errorOf(() => ask(geminiJudge({ apiKey: SECRET, baseUrl: origin })));
    assert.equal(error.code, "judge_failed");
    assert.equal(error.message, "the server says busy");
    assert.deepEqual([error.status, error.retryable, error.retryAfterMs], [503, true, 250]);
  });

  test("does not follow to another address", async () => {
    answer = { status: 307, headers: { location: `https://elsewhere.example/v2?key=${SECRET}` }, body: "" };
    seen.length = 0;
    const error = await errorOf(() => ask(geminiJudge({ apiKey: SECRET, baseUrl: origin })));
    assert.match(error.message, /redirects to https:\/\/elsewhere\.example\/v2$/);
    assert.equal(error.retryable, false);
    assert.equal(seen.length, 1);
  });

  test("of a connection may be tried again, unless it cannot come about", async () => {
    answer = "reset";
    const reset = await errorOf(() => ask(geminiJudge({ apiKey: SECRET, baseUrl: origin })));
    assert.deepEqual([reset.code, reset.retryable, reset.help], ["judge_failed", true, "look for the network"]);
    const refused = await errorOf(() => ask(ollamaJudge({ baseUrl: "http://127.0.0.1:1" })));
    assert.match(refused.message, /no answer: TypeError: .*(?:ECONNREFUSED|bad port)/);
    const missing = await errorOf(() => ask(ollamaJudge({ baseUrl: "http://no-such-host.invalid" })));
    assert.match(missing.message, /ENOTFOUND|EAI_AGAIN/);
    assert.equal(missing.retryable, !missing.message.includes("ENOTFOUND"));
  });

  test("of a fetch that throws or gives anything else is the package's own", async () => {
    const answers = [
      () => Promise.reject(new Error("broken")),
      () => Promise.reject(undefined),
      () => {
        throw HOSTILE;
      },
      async () => undefined,
      async () => ({ text: async () => "yes" }),
      async () => ({ status: 200, headers: HOSTILE, text: async () => "yes" }),
      async () => ({ status: 200, headers: new Headers(), text: async () => Promise.reject(new Error("cut off")) }),
    ];
    for (const fetch of answers) {
      const error = await errorOf(() => ask(geminiJudge({ apiKey: SECRET, baseUrl: origin, fetch: fetch as never })));
      assert.equal(error.code, "judge_failed");
    }
  });

  test("ends at once when it is cancelled, and so does the request", async () => {
    answer = "hang";
    seen.length = 0;
    const controller = new AbortController();
    const judge = geminiJudge({ apiKey: SECRET, baseUrl: origin });
    const failed = errorOf(() => judge(PLAIN, { signal: controller.signal }));
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = new Promise((resolve) => seen[0]?.request.socket.on("close", resolve));
    controller.abort();
    assert.equal((await failed).code, "cancelled");
    await closed;
  });
});

describe("a key", () => {
  test("is in nothing that prints or stores a judge", () => {
    for (const judge of keyed("http://h", { headers: { "x-proxy-key": SECRET } })) {
      assertHidden(judge, SECRET);
      assertHidden({ judge, identity: identityOf(judge), endpoint: endpointOf(judge) }, SECRET);
    }
  });

  test("is in no error, even if servers and runtimes repeat it", async () => {
    const escaped = encodeURIComponent(SECRET);
    answer = { status: 401, body: `{"error": "no such key ${SECRET} or ${escaped}"}` };
    for (const judge of keyed(origin, { headers: { "x-proxy": `Basic ${SECRET}` } })) {
      const error = await errorOf(() => ask(judge));
      assert.match(error.message, /no such key \[redacted\] or \[redacted\]/);
      assertHidden(error, SECRET);
      assertHidden(error, escaped);
    }
    const fetch = async (url: unknown, init: unknown) => {
      throw Object.assign(new Error(`could not fetch ${String(url)}`), { init });
    };
    for (const judge of keyed(origin, { fetch })) assertHidden(await errorOf(() => ask(judge)), SECRET);
  });

  test("is in no recording", async () => {
    answer = { status: 200, body: "yes" };
    for (const judge of keyed(origin)) {
      let text = "";
      await ask(recordJudge(judge, (line) => void (text += line)));
      assert.ok(!text.includes(SECRET));
    }
  });

  test("that cannot be one is refused without repeating it", async () => {
    for (const apiKey of ["", "  ", "secret key", "secret\nkey", "sécret", 12345, null, undefined, { secret: 1 }]) {
      for (const make of [geminiJudge, anthropicJudge, openaiJudge]) {
        const error = await errorOf(() => make({ apiKey: apiKey as string }));
        assert.equal(error.path, "options: apiKey");
        assert.match(error.help ?? "", /https:/);
        assert.doesNotMatch(`${error.message} ${error.help}`, /cret|12345/);
      }
    }
  });

  test("is not needed by servers of one's own", async () => {
    assert.equal((await endpointOf(openaiJudge({ baseUrl: "http://h/v1" }))?.settings())?.apiKey, undefined);
    assert.equal((await endpointOf(ollamaJudge())?.settings())?.apiKey, undefined);
  });
});

describe("options", () => {
  const cases: [object, string | RegExp, RegExp][] = [
    [{ baseUrl: "example.com" }, "options: baseUrl", /cannot be read/],
    [{ baseUrl: "ftp://example.com" }, "options: baseUrl", /has to begin with/],
    [{ baseUrl: "https://user:secret@example.com" }, "options: baseUrl", /a name or a password$/],
    [{ baseUrl: 5 }, "options: baseUrl", /expected an address/],
    [{ model: "" }, "options: model", /expected a name/],
    [{ model: 5 }, "options: model", /expected a name/],
    [{ fetch: "fetch" }, "options: fetch", /expected a function/],
    [{ headers: { "a b": "c" } }, "options: headers", /`a b` is no header/],
    [{ headers: { a: "line\nbreak" } }, "options: headers", /`a` is no header/],
    [{ headers: { a: 5 } }, "options: headers", /`a` is no header/],
    [{ headers: "a" }, "options: headers", /expected an object/],
    [{ apikey: "sk-1" }, "options: apikey", /there is no option `apikey`/],
    [{ tokens: "sk-1" }, "options: tokens", /there is no option `tokens`/],
  ];
  for (const [given, path, message] of cases) {
    test(`are checked: ${JSON.stringify(given)}`, async () => {
      const error = await errorOf(() => geminiJudge({ apiKey: "k", ...given } as never));
      assert.equal(error.code, "invalid_input");
      assert.equal(error.path, path);
      assert.match(error.message, message);
    });
  }

  test("name what was meant by a misspelt one", async () => {
    const error = await errorOf(() => geminiJudge({ apikey: "k" } as never));
    assert.match(error.help ?? "", /`apiKey`/);
  });

  test("have to be an object that can be read", async () => {
    for (const given of [undefined, null, "sk-1", HOSTILE]) {
      for (const make of [geminiJudge, vertexJudge, openaiJudge, anthropicJudge]) {
        assert.equal((await errorOf(() => make(given as never))).code, "invalid_input");
      }
    }
  });

  test("of Vertex AI are a project with a token, or a key", async () => {
    for (const given of [{}, { project: "p" }, { accessToken: "t" }, { project: "p", accessToken: "t", apiKey: "k" }]) {
      assert.match(
        (await errorOf(() => vertexJudge(given))).message,
        /either `project` and `accessToken`, or `apiKey`/,
      );
    }
    assert.equal(
      (await errorOf(() => vertexJudge({ project: "p", accessToken: 5 as never }))).path,
      "options: accessToken",
    );
  });

  test("of OpenAI name one of its protocols", async () => {
    assert.equal((await errorOf(() => openaiJudge({ apiKey: "k", api: "completions" as never }))).path, "options: api");
  });
});
