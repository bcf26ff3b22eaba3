/**
 * Every request of cases.json, sent by the provider's official SDK and by the engine as it was built, arrives alike: the
 * same address, the same headers that matter, the same body. What is sent for `evaluateInstances` is ours.json's, which
 * tests/engine/judge/providers.rs keeps up to date.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeEndpoint } from "../../pkg-template/src/judges/endpoint.js";
import { send } from "../../pkg-template/src/judges/send.js";
import { evaluateInstances } from "../../pkg-template/src/judges/vertex-evaluate.js";
import "../judges/modules/engine.js";
import { SDKS } from "./sdks.mjs";
import { startServer } from "./server.mjs";

const json = async (file) => JSON.parse(await readFile(new URL(file, import.meta.url), "utf8"));
const { generate, evaluate } = await json("cases.json");
const ours = new Map((await json("ours.json")).map((request) => [request.name, request]));

const HEADERS = [
  "content-type",
  "authorization",
  "x-goog-api-key",
  "x-api-key",
  "anthropic-version",
  "anthropic-dangerous-direct-browser-access",
];

let server;
before(async () => {
  server = await startServer({ reply: ({ provider }) => (provider === "vertex-evaluate" ? { score: 1 } : "Yes.") });
});
after(() => server.close());

/** What the server saw, without what differs between any two clients. */
const arrived = ({ provider, path, headers, body }) => ({
  provider,
  path,
  headers: Object.fromEntries(HEADERS.filter((name) => name in headers).map((name) => [name, headers[name]])),
  body,
});

/** Runs what asks the server once, and gives what arrived. */
async function asked(ask) {
  const before = server.requests.length;
  const reply = await ask();
  assert.equal(server.requests.length, before + 1);
  return { ...arrived(server.requests[before]), reply };
}

/** Where our requests go, which are rendered for the provider's own address. */
function endpointOf({ bearer, ...settings }) {
  const fetched = (url, init) => fetch(new URL(new URL(url).pathname, server.url), init);
  return makeEndpoint({ headers: {}, inBrowser: false, ...settings }, fetched, bearer);
}

const never = () => new AbortController().signal;

async function judged(endpoint, { schema, config, ...question }) {
  const about = { id: "1", metricName: "m", purpose: "verdict", invocationIndex: 0, stepIndex: 0, sampleIndex: 0 };
  const request = { ...about, ...question, responseSchema: schema, generationConfig: config };
  return (await send(endpointOf(endpoint), request, never())).text;
}

async function evaluated({ name, endpoint }) {
  const { body } = ours.get(name);
  return JSON.parse((await evaluateInstances(endpointOf(endpoint), JSON.stringify(body), never())).text);
}

for (const { name, endpoint, request, sdk } of generate) {
  test(name, async () => {
    const theirs = await asked(() => SDKS[endpoint.provider](server.url, endpoint, sdk));
    const mine = await asked(() => judged(endpoint, request));
    assert.equal(theirs.reply, "Yes.");
    assert.equal(theirs.provider, endpoint.provider);
    // Google reads keys in either spelling; its SDK respells those in a config, this project those it knows.
    const same =
      name.includes("snake_case") || name.includes("a level of thinking") ? normalised : (arrived) => arrived;
    assert.deepEqual(same(mine), same(theirs));
  });
}

/** google-cloud-aiplatform writes keys in snake_case, absent values as null, and a slash before the colon. */
function normalised({ path, body, ...rest }) {
  const camel = (value) => {
    if (Array.isArray(value)) return value.map(camel);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, entry]) => entry !== null)
        .map(([key, entry]) => [key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()), camel(entry)]),
    );
  };
  return { ...rest, path: path.replace("/:", ":"), body: camel(body) };
}

const python = process.env.ADK_PYTHON;
const skip = python ? false : "ADK_PYTHON names no Python with tests/parity/requirements.txt";
const ofReference = evaluate.filter(({ invocations }) => invocations);

test("evaluateInstances is asked as google-adk asks it", { skip, timeout: 600_000 }, async (t) => {
  const before = server.requests.length;
  const script = fileURLToPath(new URL("vertex_evaluate.py", import.meta.url));
  const { stdout } = await promisify(execFile)(python, [script, server.url]);
  const scores = JSON.parse(stdout);
  const theirs = server.requests.slice(before).map(arrived);
  assert.deepEqual([scores, theirs.length], [ofReference.map(() => 1), ofReference.length]);
  for (const [index, given] of ofReference.entries()) {
    await t.test(given.name, async () => {
      const { reply: _, ...mine } = await asked(() => evaluated(given));
      assert.deepEqual(normalised(mine), normalised(theirs[index]));
    });
  }
});

test("evaluateInstances: coherence is asked in the form of the service's own metric", async () => {
  const given = evaluate.find(({ name }) => name === "coherence of a response");
  const { body, reply } = await asked(() => evaluated(given));
  assert.equal(reply.coherenceResult.score, 1);
  assert.deepEqual(body, { coherenceInput: { metricSpec: {}, instance: { prediction: "Answer 0" } } });
});
