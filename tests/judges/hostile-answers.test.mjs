// Answers of untrusted servers: every recorded answer of every provider, with each of its values replaced, becomes a reply
// or an error of this package, and never repeats a key.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importEntry, testFile } from "../package/support/package.mjs";

const { AdkMetricsError, anthropicJudge, geminiJudge, ollamaJudge, openaiJudge, vertexJudge } = await importEntry();

const KEY = "key-that-nobody-may-see-4711";

const REQUEST = {
  id: "1",
  metricName: "safety_v1",
  purpose: "score",
  invocationIndex: 0,
  stepIndex: 0,
  sampleIndex: 0,
  model: "gemini-2.5-flash",
  prompt: "Is it safe?",
};

/** The judge of each provider that answers as `fetch` does. */
const JUDGES = {
  anthropic: (fetch) => anthropicJudge({ apiKey: KEY, model: "claude-1", fetch }),
  gemini: (fetch) => geminiJudge({ apiKey: KEY, fetch }),
  ollama: (fetch) => ollamaJudge({ model: "llama", headers: { authorization: `Bearer ${KEY}` }, fetch }),
  openai: (fetch) => openaiJudge({ apiKey: KEY, model: "gpt-1", fetch }),
  "openai-responses": (fetch) => openaiJudge({ apiKey: KEY, model: "gpt-1", api: "responses", fetch }),
  vertex: (fetch) => vertexJudge({ accessToken: KEY, project: "p", location: "us-central1", fetch }),
};

const nested = (depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

/** JSON texts that stand in place of a value. */
const DAMAGES = [
  "null",
  "true",
  "-1",
  "1e999",
  "123456789012345678901234567890",
  '""',
  JSON.stringify(`\u0000\ud800 ${KEY} \u001b[31m\n::error::x`),
  "[]",
  "{}",
  "[null]",
  "[[]]",
  '[{"text":5}]',
  '{"__proto__":{"text":"yes"},"text":null}',
  nested(60),
];

const JSON_PARTS = (value, path = []) =>
  typeof value === "object" && value !== null
    ? [path, ...Object.entries(value).flatMap(([key, part]) => JSON_PARTS(part, [...path, key]))]
    : [path];

/** The JSON text of a value in which one part is written as `text`. */
function withPart(value, path, text) {
  if (path.length === 0) return text;
  const mark = "replaced-7f3a";
  const copy = structuredClone(value);
  const parent = path.slice(0, -1).reduce((part, key) => part[key], copy);
  parent[path.at(-1)] = mark;
  return JSON.stringify(copy).replace(`"${mark}"`, () => text);
}

async function tried(judge, what) {
  let reply;
  try {
    reply = await judge(REQUEST, { signal: new AbortController().signal });
  } catch (error) {
    assert.ok(error instanceof AdkMetricsError, `${what}: ${error?.stack}`);
    assert.equal(error.code, "judge_failed", what);
    const texts = `${error.message} ${error.help} ${error.path}`;
    assert.ok(texts.length < 2_000, `${what}: an error of ${texts.length} characters`);
    assert.ok(!texts.includes(KEY), `${what}: ${texts}`);
    assert.doesNotMatch(texts, /[\u0000\u001b\n]/, what);
    return "error";
  }
  assert.equal(typeof reply.text, "string", what);
  assert.ok(!JSON.stringify(reply).includes(KEY), what);
  for (const count of Object.values(reply.usage ?? {})) assert.ok(Number.isSafeInteger(count) && count >= 0, what);
  return "reply";
}

const recorded = JSON.parse(testFile("providers/replies.json"));

describe("an answer of a hostile server is a reply or an error", () => {
  for (const [provider, judgeOf] of Object.entries(JUDGES)) {
    test(provider, async () => {
      const answers = recorded.filter(
        (one) => one.provider === provider || (provider === "vertex" && one.provider === "gemini"),
      );
      assert.ok(answers.length > 0);
      let body;
      let status;
      const judge = judgeOf(
        async () => new Response(body, { status, headers: { "content-type": "application/json" } }),
      );
      const ended = { reply: 0, error: 0 };
      for (const answer of answers) {
        status = answer.status;
        let value;
        try {
          value = JSON.parse(answer.body);
        } catch {
          continue;
        }
        for (const path of JSON_PARTS(value)) {
          for (const damage of DAMAGES) {
            body = withPart(value, path, damage);
            ended[await tried(judge, `${answer.answer}: ${path.join(".")} is ${damage.slice(0, 40)}`)] += 1;
          }
        }
      }
      assert.ok(ended.reply > 10 && ended.error > 10, JSON.stringify(ended));
    });
  }
});
