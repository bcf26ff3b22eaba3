// The judges in a real browser: the cache in IndexedDB, the built-in model by a stand-in for the global, and calls of
// providers from a page and a worker, as far as a page may make them.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { CHROMIUM, CHROMIUM_FLAGS, NO_CHROMIUM } from "../../scripts/chromium.mjs";
import { baseUrl, startServer } from "../providers/server.mjs";

const skip = process.env.CI === "true" ? false : (NO_CHROMIUM ?? false);

const KEY = "a".repeat(64);
const REPLY = { text: "yes", usage: { inputTokens: 1 }, modelVersion: "m-1" };

/** The judges as a browser gets them. */
async function bundle() {
  return build({
    entryPoints: [fileURLToPath(new URL("modules/page.ts", import.meta.url))],
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
  /** The server of the page, and two of providers elsewhere: one lets pages in, the other does not. */
  let site;
  let open;
  let closed;
  let browser;
  let page;
  /** What the providers do next. */
  let answer = "Yes.";

  before(async () => {
    const [{ text }] = (await bundle()).outputFiles;
    site = createServer(({ url }, response) => {
      const isScript = url === "/judges.js";
      if (url.startsWith("/?")) response.setHeader("content-security-policy", decodeURIComponent(url.slice(2)));
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html; charset=utf-8" });
      response.end(isScript ? text : "<!doctype html><title>judges</title>");
    });
    await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
    open = await startServer({ reply: () => answer });
    closed = await startServer({ cors: false });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
    page = await pageAt("");
  });

  /** A page that can ask; `policy` is its Content-Security-Policy. */
  async function pageAt(policy) {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${site.address().port}${policy === "" ? "" : `/?${encodeURIComponent(policy)}`}`);
    await page.evaluate(async () => {
      window.judges = await import("/judges.js");
      window.request = {
        ...{ id: "1", metricName: "safety_v1", purpose: "score", model: "m", prompt: "Is it safe?" },
        ...{ invocationIndex: 0, stepIndex: 0, sampleIndex: 0 },
      };
      /** The reply of a judge, or its error. */
      window.inWorker = (script) =>
        new Promise((resolve, reject) => {
          const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
          const worker = new Worker(url, { type: "module" });
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
        });
      window.ask = async (judge, options = { signal: new AbortController().signal }) => {
        try {
          return { reply: await judge(window.request, options) };
        } catch ({ code, message, retryable, retryAfterMs, status, help }) {
          return { code, message, retryable, retryAfterMs, status, help };
        }
      };
      /** The judge of a provider. */
      window.judgeOf = (provider, baseUrl, more = {}) => {
        const { geminiJudge, vertexJudge, openaiJudge, anthropicJudge, ollamaJudge } = window.judges;
        const options = { apiKey: "key-123456", baseUrl, ...more };
        if (provider === "openai-responses") return openaiJudge({ ...options, api: "responses" });
        const makers = { gemini: geminiJudge, vertex: vertexJudge, openai: openaiJudge, anthropic: anthropicJudge };
        return (makers[provider] ?? ollamaJudge)(options);
      };
    });
    return page;
  }
  after(async () => {
    await browser?.close();
    site?.close();
    await open?.close();
    await closed?.close();
  });

  test("whoever shares the cache in IndexedDB claims a question, one after the other", async () => {
    const found = await page.evaluate(async (key) => {
      const { indexedDbCache } = window.judges;
      const { signal } = new AbortController();
      const order = [];
      const script = `
        const { indexedDbCache } = await import("${location.origin}/judges.js");
        self.onmessage = async () => {
          postMessage("asks");
          await indexedDbCache("claims").claim("${key}", new AbortController().signal);
          postMessage("claims");
        };
        postMessage("is ready");`;
      const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })), {
        type: "module",
      });
      const told = (what) =>
        new Promise((resolve) => {
          worker.addEventListener("message", ({ data }) => data === what && resolve());
        });
      worker.addEventListener("message", ({ data }) => order.push(`the worker ${data}`));
      await told("is ready");
      const free = await indexedDbCache("claims").claim(key, signal);
      // Another question, and another cache, are free.
      for (const [name, other] of [
        ["claims", `${key}1`],
        ["others", key],
      ]) {
        (await indexedDbCache(name).claim(other, signal))();
      }
      worker.postMessage("");
      await told("asks");
      await new Promise((resolve) => setTimeout(resolve, 50));
      order.push("the page releases");
      const claimed = told("claims");
      free();
      await claimed;
      // Who waits may give up.
      const stop = new AbortController();
      const waiting = indexedDbCache("claims").claim(key, stop.signal);
      stop.abort(new Error("enough"));
      order.push(await waiting.catch(({ message }) => message));
      // A worker that is gone holds nothing.
      worker.terminate();
      (await indexedDbCache("claims").claim(key, signal))();
      return order;
    }, KEY);
    assert.deepEqual(found, [
      "the worker is ready",
      "the worker asks",
      "the page releases",
      "the worker claims",
      "enough",
    ]);
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

  const askOf = (provider, { url }, more) =>
    page.evaluate(
      ([provider, url, more]) => window.ask(window.judgeOf(provider, url, more)),
      [provider, baseUrl(url, provider), more],
    );

  for (const provider of ["gemini", "vertex", "openai", "openai-responses", "anthropic", "ollama"]) {
    test(`${provider} is asked from a page, and its answers are understood`, async () => {
      answer = { text: "Yes, ünïcödé.", usage: { input: 3, output: 1 } };
      const { reply } = await askOf(provider, open);
      assert.deepEqual([reply.text, reply.usage.inputTokens], ["Yes, ünïcödé.", 3]);
      const { prompt, headers } = open.requests.at(-1);
      assert.equal(prompt, "Is it safe?");
      assert.ok(headers.origin);
      answer = { fault: "rate_limit", retryAfterMs: 250 };
      const limited = await askOf(provider, open);
      assert.deepEqual([limited.code, limited.retryable, limited.retryAfterMs], ["judge_failed", true, 250]);
      answer = { fault: "half" };
      assert.equal((await askOf(provider, open)).retryable, true, "the server was reached");
      answer = { fault: "redirect", location: open.url };
      const { length } = open.requests;
      const redirected = await askOf(provider, open);
      assert.deepEqual([redirected.retryable, open.requests.length], [false, length + 1]);
      assert.match(redirected.message, /redirects to another address/);
    });

    test(`${provider} that does not let pages in is explained`, async () => {
      const refused = await askOf(provider, closed);
      assert.deepEqual([refused.code, refused.retryable, refused.status], ["judge_failed", false, undefined]);
      assert.match(refused.message, /did not answer: TypeError: Failed to fetch/);
      assert.ok(refused.help.length > 20);
    });
  }

  test("a server that answered before may be asked again when it does not", async () => {
    answer = "Yes.";
    await page.evaluate(async (url) => {
      window.judge = window.judgeOf("openai", url);
      await window.ask(window.judge);
    }, open.url);
    answer = { fault: "reset" };
    const { retryable } = await page.evaluate(() => window.ask(window.judge));
    assert.equal(retryable, true);
  });

  test("a call ends when it is cancelled, and so does its request", async () => {
    answer = { fault: "hang" };
    const { length } = open.requests;
    const failed = page.evaluate(async (url) => {
      const controller = new AbortController();
      window.cancel = () => controller.abort();
      return window.ask(window.judgeOf("gemini", url), { signal: controller.signal });
    }, open.url);
    while (open.requests.length === length) await new Promise((resolve) => setTimeout(resolve, 5));
    const ended = once(open.requests.at(-1).socket, "close");
    await page.evaluate(() => window.cancel());
    assert.equal((await failed).code, "cancelled");
    await ended;
  });

  test("a rejection of any kind is an error, by the page's fetch and by one of the user's", async () => {
    const found = await page.evaluate(async (url) => {
      const own = window.fetch;
      const errors = [];
      for (const reason of ["broken", undefined, null, 5, { code: "invalid_input", message: "mine" }]) {
        const fetch = () => Promise.reject(reason);
        window.fetch = fetch;
        const byPage = await window.ask(window.judgeOf("gemini", url));
        window.fetch = own;
        errors.push([byPage, await window.ask(window.judgeOf("gemini", url, { fetch }))]);
      }
      return errors;
    }, open.url);
    for (const [byPage, byUser] of found) {
      assert.deepEqual([byPage.code, byUser.code, byPage.message], ["judge_failed", "judge_failed", byUser.message]);
    }
  });

  test("a worker asks as a page does", async () => {
    answer = "Yes.";
    const text = await page.evaluate(
      async ([url, request]) => {
        const script = `
          import { geminiJudge } from "${location.origin}/judges.js";
          const judge = geminiJudge({ apiKey: "key-123456", baseUrl: "${url}" });
          const reply = await judge(${JSON.stringify(request)}, { signal: new AbortController().signal });
          postMessage(reply.text);`;
        return window.inWorker(script);
      },
      [open.url, await page.evaluate(() => window.request)],
    );
    assert.equal(text, "Yes.");
  });

  describe("whose Content-Security-Policy does not allow the server", () => {
    const asked = (page, more) =>
      page.evaluate(([url, more]) => window.ask(window.judgeOf("openai", url, more)), [open.url, more]);

    for (const [name, own] of [
      ["connect-src", "connect-src 'self'"],
      ["default-src", "default-src 'self'"],
    ]) {
      test(`says so, and what to add: ${name}`, async () => {
        const strict = await pageAt(`${own}; script-src 'self' 'wasm-unsafe-eval'`);
        const found = await asked(strict);
        assert.equal(found.message, `this page's Content-Security-Policy does not allow requests to ${open.url}`);
        assert.equal(found.help, `Add this to the policy: \`connect-src ${open.url}\``);
        assert.deepEqual([found.code, found.retryable, found.status], ["judge_failed", false, undefined]);
        const byOwn = await strict.evaluate(
          (url) => window.ask(window.judgeOf("openai", url, { fetch: (...given) => fetch(...given) })),
          open.url,
        );
        assert.equal(byOwn.message, found.message);
        await strict.close();
      });
    }

    test("says so in a worker", async () => {
      const strict = await pageAt("connect-src 'self'; script-src 'self' blob: 'wasm-unsafe-eval'");
      const help = await strict.evaluate(
        async ([url, request]) => {
          const script = `
            import { openaiJudge } from "${location.origin}/judges.js";
            const judge = openaiJudge({ apiKey: "key-123456", baseUrl: "${url}" });
            const { signal } = new AbortController();
            const failed = await judge(${JSON.stringify(request)}, { signal }).catch((error) => error);
            postMessage(failed.help);`;
          return window.inWorker(script);
        },
        [open.url, await page.evaluate(() => window.request)],
      );
      assert.equal(help, `Add this to the policy: \`connect-src ${open.url}\``);
      await strict.close();
    });

    test("is not mistaken for one that allows it, and forbids something else meanwhile", async () => {
      answer = "Yes.";
      const lenient = await pageAt(
        `connect-src 'self' ${open.url} ${closed.url}; script-src 'self' 'wasm-unsafe-eval'`,
      );
      assert.equal((await asked(lenient)).reply.text, "Yes.");
      const { message } = await lenient.evaluate(async (url) => {
        const call = window.ask(window.judgeOf("openai", url));
        await fetch("http://127.0.0.1:1/").catch(() => {});
        return call;
      }, closed.url);
      assert.match(message, /did not answer: TypeError: Failed to fetch/);
      await lenient.close();
    });
  });

  test("a page that is offline says so", async () => {
    await page.context().setOffline(true);
    const { message, retryable } = await askOf("gemini", open);
    await page.context().setOffline(false);
    assert.match(message, /this page is offline/);
    assert.equal(retryable, true);
  });
});
