// Servers of batches whose answers are wrong in every way: at worst they are an error, they are read up to a limit, nothing
// else is asked on their account, and no key is in what comes of it.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { judged } from "../cli/judging.mjs";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";

const { AdkMetricsError, evaluate, geminiJudge, openaiJudge } = await importEntry();

const KEY = "sk-key-4711";
const MIB = 1024 * 1024;
const set = evalSetOf({ one: [turn("one?", "One.")] }, "set");
const VALID = '{"reasoning": "", "is_the_agent_response_valid": "valid"}';
const deep = (text) => `${'{"a":'.repeat(20_000)}${text}${"}".repeat(20_000)}`;

/** How many bytes of answers were taken. */
let taken = 0;
const endless = (status, piece = "x".repeat(MIB), mebibytes = Infinity) => {
  const bytes = new TextEncoder().encode(piece);
  const pull = (controller) => {
    if ((taken += bytes.length) > mebibytes * MIB) controller.close();
    else controller.enqueue(bytes);
  };
  return new Response(new ReadableStream({ pull }), { status });
};

/** What comes of one question, asked of a server whose every answer is given by its method and path. */
async function asked(t, judgeOf, answerTo) {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-batches-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const urls = [];
  const ended = new AbortController();
  taken = 0;
  const fetch = async (url, { method }) => {
    urls.push(String(url));
    // A batch that is never over is waited for.
    if (urls.length > 12) ended.abort();
    const answer = answerTo(method, new URL(url).pathname);
    return answer instanceof Response
      ? answer
      : new Response(typeof answer === "string" ? answer : JSON.stringify(answer));
  };
  const criteria = judged({ num_samples: 1 }).criteria;
  const request = { evalSet: set, actual: set, criteria, judge: judgeOf(fetch), signal: ended.signal };
  const said = [];
  const batch = { folder, pollMs: 1, onNotice: (text) => said.push(text) };
  const result = await evaluate({ ...request, batch }).catch((error) => {
    assert.ok(error instanceof AdkMetricsError || ended.signal.aborted, error.stack);
    return error;
  });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const kept = files.map((one) => readFileSync(join(one.parentPath ?? one.path, one.name), "utf8"));
  const shown = [JSON.stringify(result), String(result), said, ...kept].join("\n");
  assert.ok(!shown.includes(KEY), shown.slice(0, 2000));
  return { result, urls, said: said.join("\n") };
}

const openai = (fetch) => openaiJudge({ apiKey: KEY, model: "m", baseUrl: "http://localhost:1/v1", fetch });
const gemini = (fetch) => geminiJudge({ apiKey: KEY, model: "m", baseUrl: "http://localhost:1", fetch });

/** A server of OpenAI's that answers a look, and with a file, as is said. */
const openaiServer =
  (look, file = "") =>
  (method, path) => {
    if (method === "POST") return { id: path.endsWith("/files") ? "file-1" : "batch_1" };
    const answer = path.endsWith("/content") ? file : look;
    return typeof answer === "function" ? answer() : answer;
  };

const WRONG = [
  undefined,
  null,
  true,
  5,
  1e308,
  "",
  "x",
  [],
  [null],
  {},
  { toString: 1, valueOf: 1 },
  { __proto__: null },
];
const over = (more) => ({ id: "batch_1", status: "completed", ...more });

test("looks at a batch", async (t) => {
  const looks = [
    ...["", "null", "5", "[", "\0", `${KEY}`, `"${KEY}"`, `{"${KEY}`, deep("1"), '{"__proto__":{"status":"failed"}}'],
    ...WRONG.map((value) => over({ request_counts: { completed: value, failed: value } })),
    ...WRONG.map((value) => over({ request_counts: value, output_file_id: value, error_file_id: value })),
    ...WRONG.map((value) => ({ status: "failed", errors: value })),
    ...WRONG.map((value) => ({
      status: "failed",
      errors: { data: [value, { line: value, code: value, message: value }] },
    })),
    { status: "failed", errors: { data: [{ line: 1, message: `Bearer ${KEY} is wrong` }] } },
    { status: "failed", errors: { data: [{ message: `Bearer ${KEY} is wrong` }] } },
    ...["..", ".", "../..", "/", "a/../b", "a?b", "a#b", "//elsewhere", "x".repeat(2000)].map((file) =>
      over({ output_file_id: file }),
    ),
    () => new Response(KEY, { status: 401 }),
    () => new Response(`{"error":{"message":"${KEY}"}}`, { status: 404 }),
    () => new Response("", { status: 302, headers: { location: "http://elsewhere/" } }),
    () => endless(200),
    () => endless(404),
  ];
  for (const look of looks) {
    const { urls } = await asked(t, openai, openaiServer(look));
    assert.deepEqual(
      urls.filter((url) => !/^http:\/\/localhost:1\/v1\/(files|batches)(\?limit=100|\/[\w-]+(\/content)?)?$/.test(url)),
      [],
    );
    assert.ok(taken <= 140 * MIB, `${taken} bytes`);
  }
});

test("files of replies", async (t) => {
  const row = (more) => JSON.stringify({ custom_id: "nobody", ...more });
  const files = [
    ...["", "\n\n", "null\n5\n[]\n\0\n", deep("1"), row({ response: null, error: null }), `{"${KEY}`],
    ...WRONG.map((value) => row({ response: value, error: value })),
    ...WRONG.map((value) => row({ response: { status_code: value, body: value } })),
    row({ response: 0 }).replace(":0", () => `:${deep("1")}`),
    () => endless(200),
    () => endless(200, "\n".repeat(MIB)),
    () => endless(200, `${row({ more: "x".repeat(10_000) })}\n`.repeat(100)),
  ];
  for (const file of files) {
    await asked(t, openai, openaiServer(over({ output_file_id: "file-2" }), file));
    assert.ok(taken <= 140 * MIB, `${taken} bytes`);
  }
});

test("a state is shown as a word", async (t) => {
  for (const state of ["\u001b[31m", KEY, "##vso[task.x]", "x".repeat(1000), { toString: 1 }]) {
    let looks = 0;
    const look = () => ({ id: "batch_1", status: (looks += 1) < 3 ? state : "failed" });
    const { said } = await asked(t, openai, openaiServer(look));
    assert.match(said, /unknown/);
  }
});

test("replies beside each other in one answer", async (t) => {
  const name = "batches/b1";
  const done = (rows) => ({
    name,
    metadata: { state: "BATCH_STATE_SUCCEEDED", output: { inlinedResponses: { inlinedResponses: rows } } },
  });
  const row = (more) => ({ metadata: { key: "nobody" }, ...more });
  const looks = [
    ...WRONG.map((value) =>
      done([value, row({ response: value }), row({ error: value }), row({ error: { code: value } })]),
    ),
    ...WRONG.map((value) => done(value)),
    ...WRONG.map((value) => ({ name, metadata: value, response: value })),
    JSON.stringify(done([row({ response: 0 })])).replace('"response":0', () => `"response":${deep("1")}`),
    { name, metadata: { state: "BATCH_STATE_FAILED" }, error: { message: `${KEY} is wrong` } },
    ...["..", "files/../../x", "/"].map((file) => ({
      name,
      metadata: { state: "BATCH_STATE_SUCCEEDED" },
      response: { responsesFile: file },
    })),
  ];
  for (const look of looks) {
    const { urls } = await asked(t, gemini, (method) => (method === "POST" ? { name } : look));
    const odd = urls.filter(
      (url) => !/^http:\/\/localhost:1\/v1\w*\/(batches(\/b1|\?pageSize=100)|models\/m:\w+)$/.test(url),
    );
    assert.deepEqual(odd, []);
  }
});

test("a reply is found after a line without end", async (t) => {
  let id;
  const line = () =>
    JSON.stringify({
      custom_id: id,
      response: { status_code: 200, body: { choices: [{ message: { content: VALID } }] } },
    });
  const judgeOf = (fetch) =>
    openai(async (url, init) => {
      if (init.body instanceof FormData) id = JSON.parse(await init.body.get("file").text()).custom_id;
      return fetch(url, init);
    });
  const { result } = await asked(
    t,
    judgeOf,
    openaiServer(over({ output_file_id: "file-2" }), () => `${"x".repeat(16 * MIB)}\n${line()}\n`),
  );
  assert.equal(result.evalCaseResults?.[0].finalEvalStatus, 1, String(result));
});
