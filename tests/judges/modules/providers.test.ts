// The judges of built-in providers: their options, and the secrets they keep. What is asked and answered is in
// calls.test.ts.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endpointOf } from "../../../pkg-template/src/judges/endpoint.js";
import { identityOf } from "../../../pkg-template/src/judges/judge.js";
import {
  anthropicJudge,
  geminiJudge,
  ollamaJudge,
  openaiJudge,
  vertexJudge,
} from "../../../pkg-template/src/judges/providers.js";
import { recordJudge } from "../../../pkg-template/src/judges/record.js";
import type { Judge, JudgeReply } from "../../../pkg-template/src/types.js";
import { startServer } from "../../providers/server.mjs";
import "./engine.js";
import { assertHidden, errorOf, HOSTILE, NEVER, PLAIN } from "./support.js";

const SECRET = "sk-secret/key+1234567890";

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

/** What the server does next. */
let answer: unknown = "Yes.";
let server: Awaited<ReturnType<typeof startServer>>;

before(async () => {
  server = await startServer({ reply: () => answer as string });
});
after(() => server.close());

describe("a provider's judge", () => {
  test("asks the model of its options, with their headers", async () => {
    for (const judge of keyed(`${server.url}/`, { headers: { "x-team": "evals" }, model: "own" })) {
      assert.equal(await ask(judge), "Yes.");
      const { model, headers } = server.requests.at(-1) ?? assert.fail("nothing was asked");
      assert.equal(model, "own");
      assert.equal(headers["x-team"], "evals");
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
      provider: "openai",
    });
    assert.equal(
      endpointOf(async () => "yes"),
      undefined,
    );
    assert.equal(endpointOf(openaiJudge({ apiKey: "k", api: "responses" }))?.provider, "openai-responses");
  });

  test("asks for a token before each call", async () => {
    let count = 0;
    const judge = vertexJudge({ project: "p", accessToken: () => `token-${++count}`, baseUrl: server.url });
    await ask(judge);
    await ask(judge);
    assert.deepEqual(
      server.requests.slice(-2).map(({ headers }) => headers.authorization),
      ["Bearer token-1", "Bearer token-2"],
    );
  });

  test("says that there is no token", async () => {
    const broken = vertexJudge({ project: "p", accessToken: () => Promise.reject(new Error("not logged in")) });
    assert.match((await errorOf(() => ask(broken))).message, /returned no token: Error: not logged in/);
    for (const token of [undefined, "", "two words", 5]) {
      const error = await errorOf(() => ask(vertexJudge({ project: "p", accessToken: () => token as string })));
      assert.match(error.message, /`accessToken` returned/);
      assert.doesNotMatch(error.message, /two words/);
    }
  });

  test("is called as it stands, with a fetch of the user's", async () => {
    const given: unknown[] = [];
    const fetch = async function (this: unknown, url: unknown, init: RequestInit): Promise<Response> {
      given.push(this, url, init.method, init.redirect, init.signal instanceof AbortSignal);
      return new Response('{"message": {"content": "yes"}}');
    };
    const judge = ollamaJudge({ baseUrl: "http://h/", fetch: fetch as typeof globalThis.fetch });
    assert.equal(((await (judge as (request: typeof PLAIN) => Promise<JudgeReply>)(PLAIN)) as JudgeReply).text, "yes");
    assert.deepEqual(given, [undefined, "http://h/api/chat", "POST", "manual", true]);
  });

  test("is not to be asked again at a host that does not exist", async () => {
    const { message, retryable } = await errorOf(() => ask(ollamaJudge({ baseUrl: "http://no-such-host.invalid" })));
    assert.match(message, /ENOTFOUND|EAI_AGAIN/);
    assert.equal(retryable, !message.includes("ENOTFOUND"));
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
    answer = { fault: "auth", message: `no such key ${SECRET} or ${escaped}` };
    for (const judge of keyed(server.url, { headers: { "x-proxy": `Basic ${SECRET}` } })) {
      const error = await errorOf(() => ask(judge));
      assert.match(error.message, /no such key \[redacted\] or \[redacted\]/);
      assertHidden(error, SECRET);
      assertHidden(error, escaped);
    }
    const fetch = async (url: unknown, init: unknown) => {
      throw Object.assign(new Error(`could not fetch ${String(url)}`), { init });
    };
    for (const judge of keyed(server.url, { fetch })) assertHidden(await errorOf(() => ask(judge)), SECRET);
  });

  test("is in no reply, even if a server shows its model what it was sent", async () => {
    const headers = { "x-proxy": `Basic ${SECRET}`, "x-team": 'the "evals" team' };
    for (const judge of keyed(`${server.url}?code=a%2Fb%2Bc%3Dd`, { headers })) {
      answer = `Bearer ${SECRET}, Basic ${SECRET}, ${encodeURIComponent(SECRET)}, the "evals" team, a%2Fb%2Bc%3Dd, a/b+c=d.`;
      const text = await ask(judge);
      assert.match(text, /^(?:Bearer |Basic )?\[redacted\], /);
      for (const secret of [SECRET, encodeURIComponent(SECRET), "evals", "a%2Fb%2Bc%3Dd", "a/b+c=d"]) {
        assert.ok(!text.includes(secret), text);
      }
    }
    const reply = { model: `m ${SECRET}`, choices: [{ message: { content: "Yes." }, finish_reason: "stop" }] };
    const fetch = async () => Response.json(reply);
    const judge = openaiJudge({ apiKey: SECRET, baseUrl: server.url, fetch });
    assert.deepEqual(await judge(PLAIN, { signal: NEVER() }), { text: "Yes.", modelVersion: "m [redacted]" });
  });

  test("is in no reply and no error in another form either", async () => {
    const base64 = Buffer.from(`user:${SECRET}`).toString("base64");
    const broken = `${SECRET.slice(0, 6)}\n  ${SECRET.slice(6)}`;
    const percent = encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase());
    const forms = [SECRET.toUpperCase(), SECRET.replaceAll("/", "\\/"), percent, base64, broken];
    for (const form of forms) {
      for (const judge of keyed(server.url)) {
        answer = `It says ${form}.`;
        const text = await ask(judge);
        assert.match(text, /^It says \S*\[redacted\]\S*$/, form);
        answer = { fault: "auth", message: `no such key ${form}` };
        assert.match((await errorOf(() => ask(judge))).message, /no such key \S*\[redacted\]/, form);
      }
    }
  });

  test("that is a word of the question is none in the reply", async () => {
    answer = "Is it safe? It is, with ollama and for our-team.";
    const judge = ollamaJudge({ apiKey: "ollama", baseUrl: server.url, headers: { "x-team": "our-team" } });
    const prompt = "Is it safe? Use ollama.";
    const { text } = (await judge({ ...PLAIN, prompt }, { signal: NEVER() })) as JudgeReply;
    assert.equal(text, "Is it safe? It is, with ollama and for [redacted].");
  });

  test("is in no recording", async () => {
    answer = "Yes.";
    for (const judge of keyed(server.url)) {
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
    [{ baseUrl: "example.com" }, "options: baseUrl", /has to begin with https/],
    [{ baseUrl: "ftp://example.com" }, "options: baseUrl", /has to begin with/],
    [{ baseUrl: "https://user:secret@example.com" }, "options: baseUrl", /a user name or a password$/],
    [{ baseUrl: 5 }, "options: baseUrl", /expected an address/],
    [{ model: "" }, "options: model", /expected a name/],
    [{ model: 5 }, "options: model", /expected a name/],
    [{ fetch: "fetch" }, "options: fetch", /expected a function/],
    [{ headers: { "a b": "c" } }, "options: headers", /`a b` is not a header/],
    [{ headers: { a: "line\nbreak" } }, "options: headers", /`a` is not a header/],
    [{ headers: { a: 5 } }, "options: headers", /`a` is not a header/],
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
