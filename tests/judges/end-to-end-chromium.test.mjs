// Whole evaluations in a real browser, by the package as pages get it: every provider's protocol from another origin, the
// cache in IndexedDB, and what a page says of servers that it cannot reach.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { CHROMIUM, CHROMIUM_FLAGS, NO_CHROMIUM } from "../../scripts/chromium.mjs";
import { root, target } from "../package/support/package.mjs";
import { baseUrl, startServer } from "../providers/server.mjs";
import { BY_VERTEX, byVertex, fair, FAIR_SCORES, fairScoresOf, sometimes } from "./trip.mjs";

const skip = process.env.CI === "true" ? false : (NO_CHROMIUM ?? false);

const KEY = "key-that-nobody-may-see-4711";
const entry = target(".", "import");

describe("in a page", { skip }, () => {
  let site;
  let open;
  let closed;
  let browser;
  let page;
  /** What the providers do next. */
  let answer = fair;

  before(async () => {
    site = createServer(({ url }, response) => {
      const isPage = url === "/";
      const file = url === "/trip.mjs" ? join(root, "tests/judges/trip.mjs") : join(dirname(entry), url);
      if (!isPage && !existsSync(file)) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": isPage ? "text/html; charset=utf-8" : "text/javascript" });
      response.end(isPage ? "<!doctype html><title>evaluations</title>" : readFileSync(file));
    });
    await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
    open = await startServer({ reply: (asked) => answer(asked) });
    closed = await startServer({ cors: false, reply: fair });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${site.address().port}`);
    await page.evaluate(
      async (entry) => {
        const adkMetrics = (window.adkMetrics = await import(entry));
        const trip = (window.trip = await import("/trip.mjs"));
        /** The judge of a provider. */
        window.judgeOf = ([provider, url, apiKey], more = {}) => {
          const { anthropicJudge, geminiJudge, ollamaJudge, openaiJudge, vertexJudge } = adkMetrics;
          const options = { apiKey, baseUrl: url, model: "judge-1", ...more };
          if (provider === "openai-responses") return openaiJudge({ ...options, api: "responses" });
          const makers = { anthropic: anthropicJudge, gemini: geminiJudge, openai: openaiJudge, vertex: vertexJudge };
          return (makers[provider] ?? ollamaJudge)(options);
        };
        /** What comes of an evaluation, as far as it can leave the page. */
        window.evaluated = async ({ names, evalIds, ...options }) => {
          const { EVAL_SET, ACTUAL, criteriaOf, reasonsOf, scoresOf } = trip;
          const request = { evalSet: EVAL_SET, actual: ACTUAL, criteria: criteriaOf(names), evalIds };
          const set = await adkMetrics.evaluate({
            retry: { initialDelayMs: 2, maxDelayMs: 10 },
            ...request,
            ...options,
          });
          const { judges, judgeUsage, warnings, cancelled } = set;
          const text = JSON.stringify(set);
          return { scores: scoresOf(set), reasons: reasonsOf(set), judges, judgeUsage, warnings, cancelled, text };
        };
      },
      `/${entry.slice(dirname(entry).length + 1)}`,
    );
  });
  after(async () => {
    await browser?.close();
    site?.close();
    await open?.close();
    await closed?.close();
  });

  const at = (provider, { url }) => [provider, baseUrl(url, provider), KEY];

  for (const provider of ["gemini", "vertex", "openai", "openai-responses", "anthropic", "ollama"]) {
    test(`every judged metric is judged by ${provider}`, async () => {
      answer = (asked) => ({ text: fair(asked), usage: { input: 100, output: 7 } });
      const { length } = open.requests;
      const set = await page.evaluate(
        (where) => window.evaluated({ judge: window.judgeOf(where) }),
        at(provider, open),
      );
      assert.deepEqual(set.scores, FAIR_SCORES);
      const calls = open.requests.length - length;
      assert.deepEqual(set.judgeUsage, {
        calls,
        answered: calls,
        failed: 0,
        retried: 0,
        asked: calls,
        cached: 0,
        saved: 22,
        lost: 0,
        unreported: 0,
        unsent: 0,
        inputTokens: 100 * calls,
        outputTokens: 7 * calls,
      });
      assert.ok(set.judges.every(({ model, scoredBy }) => model === "judge-1" && scoredBy === "judge"));
      assert.ok(!set.text.includes(KEY));
    });
  }

  test("Vertex AI's service scores what google-adk leaves to it", async () => {
    answer = byVertex;
    const set = await page.evaluate(
      ([names, baseUrl, apiKey]) => window.evaluated({ names, vertex: { apiKey, baseUrl } }),
      [BY_VERTEX, open.url, KEY],
    );
    assert.deepEqual(set.scores, fairScoresOf(BY_VERTEX));
    assert.ok(set.judges.every(({ scoredBy }) => scoredBy === "vertex"));
  });

  test("no verdict is lost where a third of the answers break off or ask to wait", async () => {
    const faults = [
      { fault: "reset" },
      { fault: "half" },
      { fault: "rate_limit", retryAfterMs: 5 },
      { fault: "server" },
    ];
    // The first fault, and every answer before the first reset, shows that the server lets the page in.
    answer = sometimes(3, ...faults);
    const set = await page.evaluate(
      (where) => window.evaluated({ judge: window.judgeOf(where), concurrency: 3 }),
      at("openai", open),
    );
    assert.deepEqual(set.scores, FAIR_SCORES);
    assert.equal(set.judgeUsage.lost, 0);
  });

  const names = ["final_response_match_v2"];
  const evalIds = ["flight"];

  for (const provider of ["gemini", "openai", "anthropic", "ollama"]) {
    test(`the reason says what to do where ${provider} does not let pages in`, async () => {
      const set = await page.evaluate(
        ([where, request]) => window.evaluated({ ...request, judge: window.judgeOf(where) }),
        [at(provider, closed), { names, evalIds }],
      );
      assert.equal(set.scores.flight.final_response_match_v2, "- - -");
      assert.equal(set.judgeUsage.retried, 0);
      for (const reason of set.reasons) {
        assert.match(reason, /did not answer: TypeError: Failed to fetch/);
        assert.match(reason, /CORS|OLLAMA_ORIGINS|origin|page/i);
      }
      assert.ok(!set.text.includes(KEY));
    });
  }

  test("the reason says that the page is offline", async () => {
    answer = fair;
    await page.context().setOffline(true);
    const set = await page.evaluate(
      ([where, request]) =>
        window.evaluated({ ...request, judge: window.judgeOf(where), retry: { attempts: 2, initialDelayMs: 1 } }),
      [at("gemini", open), { names, evalIds }],
    );
    await page.context().setOffline(false);
    for (const reason of set.reasons) assert.match(reason, /this page is offline/);
  });

  test("an evaluation that is cancelled closes its connections", async () => {
    const { length } = open.requests;
    answer = () => ({ fault: "hang" });
    const running = page.evaluate(
      ([where, request]) => {
        const controller = new AbortController();
        window.cancel = () => controller.abort();
        return window.evaluated({ ...request, judge: window.judgeOf(where), signal: controller.signal });
      },
      [at("gemini", open), { names, evalIds }],
    );
    while (open.requests.length < length + 4) await new Promise((resolve) => setTimeout(resolve, 5));
    const ended = open.requests.slice(length).map(({ socket }) => socket.destroyed || once(socket, "close"));
    await page.evaluate(() => window.cancel());
    const set = await running;
    await Promise.all(ended);
    assert.deepEqual([set.cancelled, set.scores.flight.final_response_match_v2], [true, "- - -"]);
    assert.ok(set.reasons.every((reason) => /cancelled/.test(reason)));
  });

  test("a second evaluation finds its replies in IndexedDB", async () => {
    answer = fair;
    const evaluated = () =>
      page.evaluate(
        ([where, request]) =>
          window.evaluated({
            ...request,
            judge: window.judgeOf(where),
            cache: window.adkMetrics.indexedDbCache("replies"),
          }),
        [at("gemini", open), { names, evalIds }],
      );
    const once = await evaluated();
    const { length } = open.requests;
    const twice = await evaluated();
    assert.deepEqual(twice.scores, once.scores);
    assert.deepEqual([twice.judgeUsage.calls, twice.judgeUsage.cached], [0, once.judgeUsage.calls]);
    assert.equal(open.requests.length, length);
  });

  test("judges of the page's own judge: a function, a recording of it, and the built-in model by a stand-in", async () => {
    const found = await page.evaluate(async () => {
      const { browserJudge, recordJudge, replayJudge, setDefaultJudge } = window.adkMetrics;
      const { fair } = window.trip;
      const lines = [];
      const own = await window.evaluated({
        judge: recordJudge(
          async (asked) => fair(asked),
          (line) => lines.push(line),
        ),
      });
      const replayed = await window.evaluated({ judge: replayJudge(lines) });
      window.LanguageModel = {
        availability: async () => "available",
        create: async () => ({ prompt: async (prompt) => fair({ prompt }), destroy() {} }),
      };
      setDefaultJudge(browserJudge());
      const builtIn = await window.evaluated({});
      setDefaultJudge(undefined);
      const missing = await window.evaluated({}).then(
        () => "scored",
        ({ code }) => code,
      );
      return { scores: [own, replayed, builtIn].map(({ scores }) => scores), missing };
    });
    for (const scores of found.scores) assert.deepEqual(scores, FAIR_SCORES);
    assert.equal(found.missing, "judge_required");
  });
});
