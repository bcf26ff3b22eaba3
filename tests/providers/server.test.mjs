/**
 * The server plays what it says: the official SDKs understand its replies and its errors. What it answers is kept in
 * replies.json, from which tests/engine/judge/providers.rs reads the same replies and errors.
 *
 * UPDATE_REPLIES=1 node --test server.test.mjs writes replies.json again.
 */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { SDKS } from "./sdks.mjs";
import { startServer, STATUS_FAULTS } from "./server.mjs";

const file = (name) => new URL(name, import.meta.url);
const json = async (name) => JSON.parse(await readFile(file(name), "utf8"));
const { generate } = await json("cases.json");
const ours = await json("ours.json");
/** The plainest case of each provider. */
const plain = generate.filter(({ name }) => name.endsWith(": a prompt alone"));
const requestOf = ({ name }) => ours.find((request) => request.name === name);

const ANSWERS = {
  text: "Yes.",
  "text after thoughts": { text: "Yes.", thoughts: "Let me see.", usage: { input: 9, output: 2 } },
  "text in parts": { parts: ["Yes", "."] },
  "truncated text": { text: "Ye", truncated: true },
  ...Object.fromEntries(
    ["blocked", "refusal", "truncated", "empty", "malformed", "html"].map((fault) => [fault, { fault }]),
  ),
  ...Object.fromEntries(STATUS_FAULTS.map((fault) => [fault, { fault }])),
  "rate_limit with Retry-After": { fault: "rate_limit", retryAfter: 2 },
  "rate_limit with retry-after-ms": { fault: "rate_limit", retryAfterMs: 250 },
  "rate_limit with RetryInfo": { fault: "rate_limit", retryInfo: "1.5s" },
};

async function playing(reply, options, use) {
  const server = await startServer({ reply, ...options });
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

const send = ({ url, headers, body }, server, init) =>
  fetch(new URL(new URL(url).pathname, server.url), { method: "POST", headers, body: JSON.stringify(body), ...init });

test("replies.json is what the server answers", async () => {
  const replies = [];
  for (const provided of plain) {
    for (const [name, answer] of Object.entries(ANSWERS)) {
      await playing(
        () => answer,
        {},
        async (server) => {
          const response = await send(requestOf(provided), server);
          const headers = [...response.headers].filter(([header]) => header.startsWith("retry-after"));
          const { provider } = provided.endpoint;
          replies.push({ provider, answer: name, status: response.status, headers, body: await response.text() });
        },
      );
    }
  }
  if (process.env.UPDATE_REPLIES) await writeFile(file("replies.json"), `${JSON.stringify(replies, null, 2)}\n`);
  assert.deepEqual(await json("replies.json"), replies);
});

for (const { endpoint, sdk } of plain) {
  const { provider } = endpoint;
  const call = (server) => SDKS[provider](server.url, endpoint, sdk);

  test(`${provider}: its SDK reads the text and not the thoughts`, () =>
    playing(
      () => ANSWERS["text after thoughts"],
      {},
      async (server) => assert.equal(await call(server), "Yes."),
    ));

  test(`${provider}: its SDK meets the statuses that are played`, () =>
    playing(
      ({ index }) => ({ fault: ["bad_request", "auth", "not_found"][index] }),
      {},
      async (server) => {
        for (const expected of [400, 401, 404]) {
          await assert.rejects(call(server), ({ status, status_code }) => (status ?? status_code) === expected);
        }
      },
    ));

  test(`${provider}: half replies, resets and malformed replies reach the client as such`, () =>
    playing(
      ({ index }) => ({ fault: ["half", "reset", "malformed"][index] }),
      {},
      async (server) => {
        const request = requestOf({ name: `${provider}: a prompt alone` });
        const half = await send(request, server);
        assert.equal(half.status, 200);
        await assert.rejects(half.text(), TypeError);
        await assert.rejects(send(request, server), TypeError);
        await assert.rejects((await send(request, server)).json(), SyntaxError);
      },
    ));

  test(`${provider}: a hanging call can be given up`, () =>
    playing(
      () => ({ fault: "hang" }),
      {},
      async (server) => {
        const signal = AbortSignal.timeout(50);
        await assert.rejects(send(requestOf({ name: `${provider}: a prompt alone` }), server, { signal }), {
          name: "TimeoutError",
        });
      },
    ));

  test(`${provider}: a request without a key is refused`, { skip: provider === "ollama" }, () =>
    playing(undefined, {}, async (server) => {
      const request = requestOf({ name: `${provider}: a prompt alone` });
      const { authorization, "x-goog-api-key": _, ...headers } = request.headers;
      assert.equal((await send({ ...request, headers }, server)).status, 401);
    }),
  );
}

test("the question is told in no provider's words", () =>
  playing(undefined, {}, async (server) => {
    for (const { name, request } of generate.filter(({ name }) => name.includes(": everything"))) {
      await (await send(requestOf({ name }), server)).text();
      const { model, system, prompt, schema } = server.requests.at(-1);
      assert.deepEqual(
        { model, system, prompt, schema },
        {
          model: request.model,
          system: request.system,
          prompt: request.prompt,
          schema: request.schema,
        },
      );
    }
  }));

test("pages of other origins are answered only if the server allows it", async () => {
  const origin = { origin: "https://example.com", "access-control-request-headers": "content-type, x-goog-api-key" };
  const preflight = (server) =>
    fetch(`${server.url}/v1/models/m:generateContent`, { method: "OPTIONS", headers: origin });
  const allowed = (response) => response.headers.get("access-control-allow-origin");
  await playing(undefined, {}, async (server) => {
    const response = await preflight(server);
    assert.deepEqual([response.status, allowed(response)], [204, "*"]);
    assert.equal(response.headers.get("access-control-allow-headers"), origin["access-control-request-headers"]);
    assert.equal(allowed(await send(requestOf(plain[0]), server)), "*");
  });
  await playing(undefined, { cors: false }, async (server) => {
    assert.equal(allowed(await preflight(server)), null);
    assert.equal(allowed(await send(requestOf(plain[0]), server)), null);
  });
});

test("anthropic refuses pages that do not say they know what they do, and temperature", () =>
  playing(undefined, {}, async (server) => {
    const request = requestOf({ name: "anthropic: a prompt alone" });
    const headers = { ...request.headers, origin: "https://example.com" };
    assert.equal((await send({ ...request, headers }, server)).status, 401);
    assert.equal((await send({ ...request, body: { ...request.body, temperature: 1 } }, server)).status, 400);
  }));

test("evaluateInstances and latency", () =>
  playing(
    () => ({ score: 0.5, explanation: "Half." }),
    { latencyMs: 30 },
    async (server) => {
      const started = performance.now();
      const safety = await (await send(requestOf({ name: "safety of a turn" }), server)).json();
      assert.deepEqual(safety, { metricResults: [{ score: 0.5, explanation: "Half." }] });
      assert.ok(performance.now() - started >= 25);
      const coherence = await (await send(requestOf({ name: "coherence of a response" }), server)).json();
      assert.equal(coherence.coherenceResult.score, 0.5);
    },
  ));
