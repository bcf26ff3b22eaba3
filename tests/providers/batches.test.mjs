// The official SDKs understand the batch interfaces that the server plays, and get what this package gets.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { startBatchServer } from "./batches.mjs";

const KEY = "key-of-nobody";
const ROWS = { 1: "error", 2: "expired", 3: "invalid", 4: "missing" };
const IDS = Array.from({ length: 6 }, (_, at) => `row-${at}`);
/** What came of each row: answers, or how they failed. */
const FOUND = { "row-0": "Yes: 0", "row-5": "Yes: 5" };

let server;
/** What goes wrong with the next batch. */
let faults = { rows: ROWS };
before(async () => {
  const reply = ({ prompt }) => `Yes: ${prompt}`;
  server = await startBatchServer({ reply, plan: () => ({ looks: 0, ...faults }) });
});
afterEach(() => (faults = { rows: ROWS }));
after(() => server.close());

test("OpenAI: files, create, list, retrieve, results", async () => {
  const client = new OpenAI({ apiKey: KEY, baseURL: `${server.url}/v1`, maxRetries: 0 });
  for (const [endpoint, body, textOf] of [
    [
      "/v1/chat/completions",
      (content) => ({ model: "gpt-4.1-mini", messages: [{ role: "user", content }] }),
      (found) => found.choices[0].message.content,
    ],
    ["/v1/responses", (input) => ({ model: "gpt-4.1-mini", input }), (found) => found.output[0].content[0].text],
  ]) {
    const lines = IDS.map((custom_id, at) =>
      JSON.stringify({ custom_id, method: "POST", url: endpoint, body: body(String(at)) }),
    );
    const file = await client.files.create({
      file: await toFile(Buffer.from(lines.join("\n")), "batch.jsonl"),
      purpose: "batch",
    });
    const made = await client.batches.create({
      input_file_id: file.id,
      endpoint,
      completion_window: "24h",
      metadata: { adk_metrics: endpoint },
    });
    const listed = [];
    for await (const batch of client.batches.list({ limit: 1 })) listed.push(batch.metadata.adk_metrics);
    assert.ok(listed.includes(endpoint));
    const batch = await client.batches.retrieve(made.id);
    assert.equal(batch.status, "completed");
    const rowsOf = async (id) =>
      (await (await client.files.content(id)).text())
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    const good = await rowsOf(batch.output_file_id);
    const bad = await rowsOf(batch.error_file_id);
    assert.deepEqual(
      Object.fromEntries(good.map(({ custom_id, response }) => [custom_id, textOf(response.body)]).sort()),
      FOUND,
    );
    const failures = bad.map((row) => [row.custom_id, row.error?.code ?? row.response.status_code]);
    assert.deepEqual(Object.fromEntries(failures.sort()), { "row-1": 503, "row-2": "batch_expired", "row-3": 400 });
  }
});

test("Anthropic: create, list, retrieve, results", async () => {
  const client = new Anthropic({ apiKey: KEY, baseURL: server.url, maxRetries: 0 });
  const requests = IDS.map((custom_id, at) => ({
    custom_id,
    params: { model: "claude-haiku-4-5", max_tokens: 100, messages: [{ role: "user", content: String(at) }] },
  }));
  const made = await client.messages.batches.create({ requests });
  const listed = [];
  for await (const batch of client.messages.batches.list({ limit: 1 })) listed.push(batch.id);
  assert.ok(listed.includes(made.id));
  assert.equal((await client.messages.batches.retrieve(made.id)).processing_status, "ended");
  const found = {};
  for await (const { custom_id, result } of await client.messages.batches.results(made.id)) {
    found[custom_id] =
      result.type === "succeeded" ? result.message.content[0].text : (result.error?.error.type ?? result.type);
  }
  assert.deepEqual(found, {
    ...FOUND,
    "row-1": "overloaded_error",
    "row-2": "expired",
    "row-3": "invalid_request_error",
  });
});

test("Gemini: create inline and from a file, list, get, results", async () => {
  const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: server.url } });
  const model = "gemini-2.5-pro";
  const inlined = IDS.map((key, at) => ({
    contents: [{ role: "user", parts: [{ text: String(at) }] }],
    metadata: { key },
  }));
  const lines = inlined.map(({ contents, metadata }) => JSON.stringify({ key: metadata.key, request: { contents } }));
  const file = await client.files.upload({
    file: new Blob([lines.join("\n")], { type: "application/jsonl" }),
    config: { mimeType: "application/jsonl", displayName: "from-file" },
  });
  for (const [displayName, src] of [
    ["from-inline", { inlinedRequests: inlined }],
    ["from-file", file.name],
  ]) {
    const made = await client.batches.create({ model, src, config: { displayName } });
    const listed = [];
    for await (const job of await client.batches.list({ config: { pageSize: 1 } })) listed.push(job.displayName);
    assert.ok(listed.includes(displayName));
    const { state, dest } = await client.batches.get({ name: made.name });
    assert.equal(state, "JOB_STATE_SUCCEEDED");
    const rows =
      dest.inlinedResponses ??
      (
        await (
          await fetch(`${server.url}/download/v1beta/${dest.fileName}:download?alt=media`, {
            headers: { "x-goog-api-key": KEY },
          })
        ).text()
      )
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    const found = rows.map(({ key, metadata, response, error }) => [
      key ?? metadata.key,
      response === undefined ? error.code : response.candidates[0].content.parts[0].text,
    ]);
    assert.deepEqual(Object.fromEntries(found.sort()), { ...FOUND, "row-1": 14, "row-2": 4, "row-3": 3 });
  }
});

/** A batch of chats. */
async function openAiBatch() {
  const client = new OpenAI({ apiKey: KEY, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const lines = IDS.map((custom_id, at) => {
    const body = { model: "gpt-4.1-mini", messages: [{ role: "user", content: String(at) }] };
    return JSON.stringify({ custom_id, method: "POST", url: "/v1/chat/completions", body });
  });
  const file = await client.files.create({
    file: await toFile(Buffer.from(lines.join("\n")), "b.jsonl"),
    purpose: "batch",
  });
  const { id } = await client.batches.create({
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  const rowsOf = async (name) => {
    const text = await (await client.files.content(name)).text();
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  return { batch: await client.batches.retrieve(id), rowsOf };
}

const everyRow = (fault) => ({ rows: Object.fromEntries(IDS.map((_, at) => [at, fault])) });

test("OpenAI: nothing but a file of errors", async () => {
  faults = { ...everyRow("error"), onlyErrors: true };
  const { batch, rowsOf } = await openAiBatch();
  assert.deepEqual([batch.status, batch.output_file_id], ["completed", undefined]);
  assert.equal((await rowsOf(batch.error_file_id)).length, IDS.length);
});

test("OpenAI: a file that is refused names its lines", async () => {
  faults = { create: "refused", lines: [2] };
  const { batch } = await openAiBatch();
  assert.deepEqual([batch.status, batch.output_file_id, batch.error_file_id], ["failed", undefined, undefined]);
  assert.deepEqual(
    batch.errors.data.map(({ line }) => line),
    [3],
  );
});

test("OpenAI: a second result, and one of nobody's", async () => {
  faults = { rows: { 1: "twice", 2: "unknown" } };
  const { batch, rowsOf } = await openAiBatch();
  const ids = (await rowsOf(batch.output_file_id)).map(({ custom_id }) => custom_id).sort();
  assert.deepEqual(ids, ["nobody", ...IDS.slice(0, 2), "row-1", ...IDS.slice(2)]);
});

test("a batch that was cancelled: each provider's rows", async () => {
  faults = { rows: { 1: "cancelled" } };
  const { batch, rowsOf } = await openAiBatch();
  assert.deepEqual(
    (await rowsOf(batch.error_file_id)).map(({ custom_id, error }) => [custom_id, error.code]),
    [["row-1", "batch_cancelled"]],
  );
  const client = new Anthropic({ apiKey: KEY, baseURL: server.url, maxRetries: 0 });
  const params = { model: "claude-haiku-4-5", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };
  const requests = IDS.map((custom_id) => ({ custom_id, params }));
  const { id } = await client.messages.batches.create({ requests });
  const types = {};
  for await (const { custom_id, result } of await client.messages.batches.results(id)) types[custom_id] = result.type;
  assert.deepEqual([types["row-0"], types["row-1"]], ["succeeded", "canceled"]);
});
