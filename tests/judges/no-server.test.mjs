// What answers at the judge's address is no judge: it is not asked for minutes, and why nothing goes on is said meanwhile.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { BARE, folderOf, run } from "../cli/command.mjs";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";

const { evaluate, openaiJudge } = await importEntry();

const set = evalSetOf({ one: [turn("question", "answer")] });
const criteria = { final_response_match_v2: 0.8 };

/** A server that answers each request with another page. */
async function pages(t, answerTo = (at) => `<!doctype html><p>${at}`) {
  let asked = 0;
  const server = createServer(async (_, response) => response.end(await answerTo((asked += 1))));
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  return { baseUrl: `http://127.0.0.1:${server.address().port}/v1`, asked: () => asked };
}

test("a web page is asked no more after a few answers", async (t) => {
  const server = await pages(t);
  const judge = openaiJudge({ model: "qwen", apiKey: "key", baseUrl: server.baseUrl });
  const said = new Set();
  const retry = { initialDelayMs: 20, maxDelayMs: 1_000_000 };
  const onProgress = ({ judge }) => said.add(judge?.lastFailure);
  const result = await evaluate({ evalSet: set, actual: set, criteria, judge, retry, onProgress });
  assert.ok(server.asked() <= 6, `${server.asked()} calls`);
  const [{ overallEvalMetricResults, evalMetricResultPerInvocation }] = result.evalCaseResults;
  const reasons = [overallEvalMetricResults, evalMetricResultPerInvocation[0].evalMetricResults].map(
    ([{ reason }]) => reason,
  );
  for (const reason of reasons) assert.match(reason, /other than JSON: <!doctype html>.*web page answered/s);
  assert.ok([...said].some((failure) => /other than JSON/.test(failure)));
  assert.equal(result.judgeUsage.lastFailure, undefined);
});

test("a failure is told no more once a call is answered", async (t) => {
  const message = { role: "assistant", content: '{"is_the_agent_response_valid": "valid"}' };
  const reply = JSON.stringify({ choices: [{ message, finish_reason: "stop" }] });
  const server = await pages(t, (at) => (at < 3 ? "<p>" : reply));
  const judge = openaiJudge({ model: "qwen", apiKey: "key", baseUrl: server.baseUrl });
  const said = [];
  const onProgress = ({ judge }) => said.push(judge?.lastFailure);
  const retry = { initialDelayMs: 1 };
  await evaluate({ evalSet: set, actual: set, criteria, judge, retry, onProgress, concurrency: 1 });
  assert.match(said[0], /other than JSON/);
  assert.equal(said.at(-1), undefined);
});

test("the command says on stderr what the last call said", { timeout: 120_000 }, async (t) => {
  // All but the first answer take longer than the command waits before it tells of failures.
  const server = await pages(t, (at) => setTimeout(at === 1 ? 0 : 1500, "<p>Welcome</p>"));
  const files = { "e.json": set, "a.json": set, "test_config.json": { criteria } };
  const cwd = folderOf(
    t,
    Object.fromEntries(Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)])),
  );
  const env = { ...BARE, OPENAI_API_KEY: "key", OPENAI_BASE_URL: server.baseUrl };
  const args = ["eval", "e.json", "--actual", "a.json", "--judge", "openai", "--model", "qwen"];
  const { status, stderr } = await run(args, { cwd, env });
  assert.equal(status, 3, stderr);
  assert.match(stderr, /^no call has been answered yet; the last one failed: .*other than JSON: <p>Welcome<\/p>/m);
  assert.ok(server.asked() <= 6, `${server.asked()} calls`);
});
