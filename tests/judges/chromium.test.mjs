// The judges in a real browser: the cache in IndexedDB, the built-in model by a stand-in for the global, and requests
// that a page may not make.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const isThere = existsSync(executablePath);
const skip =
  !isThere && process.env.CI !== "true" ? `there is no Chromium at ${executablePath}; CHROMIUM names another` : false;

const KEY = "a".repeat(64);
const REPLY = { text: "yes", usage: { inputTokens: 1 }, modelVersion: "m-1" };

/** The judges as a browser gets them. */
async function bundle() {
  return build({
    entryPoints: [fileURLToPath(new URL("page.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
    metafile: true,
    logLevel: "silent",
  });
}

test("the judges for browsers reach nothing of Node", async () => {
  const { metafile } = await bundle();
  const reached = Object.keys(metafile.inputs).map((path) => path.replace(/.*\/src\//, ""));
  assert.ok(reached.includes("judges/browser.ts"));
  for (const file of ["cache-file", "environment", "dotenv"]) assert.ok(!reached.includes(`judges/${file}.ts`), file);
});

describe("in a page", { skip }, () => {
  /** Two servers: of the page, and of a provider elsewhere that lets pages in or not. */
  const servers = [];
  let browser;
  let page;
  let provider;
  let letsIn;

  const serve = async (listener) => {
    const server = createServer(listener);
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    return `http://127.0.0.1:${server.address().port}`;
  };

  before(async () => {
    const [{ text }] = (await bundle()).outputFiles;
    const origin = await serve(({ url }, response) => {
      const isScript = url === "/judges.js";
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html; charset=utf-8" });
      response.end(isScript ? text : "<!doctype html><title>judges</title>");
    });
    provider = await serve((request, response) => {
      const headers = letsIn ? { "access-control-allow-origin": "*", "access-control-allow-headers": "*" } : {};
      response.writeHead(200, headers).end(request.method === "OPTIONS" ? "" : "yes");
    });
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
    page = await browser.newPage();
    await page.goto(origin);
    await page.evaluate(async () => {
      window.judges = await import("/judges.js");
      window.request = {
        ...{ id: "1", metricName: "safety_v1", purpose: "score", model: "m", prompt: "Is it safe?" },
        ...{ invocationIndex: 0, stepIndex: 0, sampleIndex: 0 },
      };
      /** The reply of a judge, or its error. */
      window.ask = async (judge, options = { signal: new AbortController().signal }) => {
        try {
          return { reply: await judge(window.request, options) };
        } catch ({ code, message, retryable, help }) {
          return { code, message, retryable, help };
        }
      };
      window.judges.provideWire({
        render: ({ baseUrl, inBrowser }) => ({ url: `${baseUrl}/${inBrowser}`, headers: { "x-key": "k" }, body: "{}" }),
        read: (_settings, _status, _headers, body) => ({ reply: { text: body } }),
        unreachable: (_settings, reason) => ({ message: `no answer: ${reason}`, retryable: true, help: "CORS" }),
      });
    });
  });
  after(async () => {
    await browser?.close();
    for (const server of servers) server.close();
  });

  test("the cache in IndexedDB outlives the page's connection to it", async () => {
    const found = await page.evaluate(
      async ([key, reply]) => {
        const { indexedDbCache } = window.judges;
        const cache = indexedDbCache("test");
        const before = await cache.get(key);
        await Promise.all([cache.set(key, reply), cache.set(`${key}1`, { ...reply, text: "other" })]);
        const again = await indexedDbCache("test").get(key);
        const elsewhere = await indexedDbCache("elsewhere").get(key);
        await new Promise((resolve, reject) => {
          const deleted = indexedDB.deleteDatabase("test");
          deleted.onsuccess = resolve;
          deleted.onerror = reject;
          deleted.onblocked = () => reject(new Error("the cache keeps its database open"));
        });
        const afterwards = await cache.get(key);
        await cache.set(key, reply);
        return { before, again, elsewhere, afterwards, last: await cache.get(key) };
      },
      [KEY, REPLY],
    );
    assert.deepEqual(found, {
      again: REPLY,
      last: REPLY,
      before: undefined,
      elsewhere: undefined,
      afterwards: undefined,
    });
  });

  test("keys of requests are those of Node", async () => {
    const inPage = await page.evaluate(() => window.judges.cacheKey(window.request));
    const { cacheKey } = await import("../../pkg-template/src/judges/cache.js");
    const request = await page.evaluate(() => window.request);
    assert.equal(inPage, await cacheKey(request));
  });

  test("a built-in model is asked, cancelled, and missed", async () => {
    const found = await page.evaluate(async () => {
      const own = Object.getOwnPropertyDescriptor(globalThis, "LanguageModel");
      const destroyed = [];
      const session = (prompt) => ({ prompt, destroy: () => destroyed.push(1), contextUsage: 7 });
      const stand = (prompt, availability = "available") => {
        const languageModel = { availability: async () => availability, create: async () => session(prompt) };
        Object.defineProperty(globalThis, "LanguageModel", { value: languageModel, configurable: true });
      };
      const judge = window.judges.browserJudge();
      stand(async () => "yes");
      const asked = await window.ask(judge);
      stand(
        (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      );
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 20);
      const cancelled = await window.ask(judge, { signal: controller.signal });
      stand(undefined, "downloadable");
      const downloadable = await window.ask(judge);
      delete globalThis.LanguageModel;
      const missed = "LanguageModel" in globalThis ? undefined : await window.ask(judge);
      if (own !== undefined) Object.defineProperty(globalThis, "LanguageModel", own);
      return { asked, cancelled, downloadable, missed, destroyed: destroyed.length };
    });
    assert.deepEqual(found.asked, { reply: { text: "yes", usage: { totalTokens: 7 } } });
    assert.equal(found.cancelled.code, "cancelled");
    assert.equal(found.downloadable.code, "judge_unavailable");
    if (found.missed !== undefined) assert.equal(found.missed.code, "judge_unavailable");
    assert.equal(found.destroyed, 2);
  });

  const askProvider = () =>
    page.evaluate(async (baseUrl) => {
      window.judge ??= window.judges.openaiJudge({ baseUrl });
      return window.ask(window.judge);
    }, provider);

  test("a server that does not let pages in is not asked again and again, until it did once", async () => {
    letsIn = false;
    const refused = await askProvider();
    assert.deepEqual([refused.code, refused.retryable, refused.help], ["judge_failed", false, "CORS"]);
    letsIn = true;
    assert.deepEqual(await askProvider(), { reply: { text: "yes" } });
    letsIn = false;
    assert.equal((await askProvider()).retryable, true);
  });

  test("a page that is offline says so", async () => {
    await page.context().setOffline(true);
    const { message, retryable } = await askProvider();
    await page.context().setOffline(false);
    assert.match(message, /this page is offline/);
    assert.equal(retryable, true);
  });
});
