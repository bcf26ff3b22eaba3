// The package in a real browser: in a page, in a worker, under a strict Content-Security-Policy, bundled and unbundled.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { CHROMIUM, CHROMIUM_FLAGS, NO_CHROMIUM } from "../../scripts/chromium.mjs";
import { manyCases, turn } from "../package/support/conversations.mjs";
import { elements, members, survivesJavaScript } from "../package/support/json-text.mjs";
import { importEntry, mustRun, packageFolder, target, testFile } from "../package/support/package.mjs";
import { scoresOf } from "./sample.mjs";
import { serve } from "./serve.mjs";

const skip = mustRun ? false : (NO_CHROMIUM ?? false);

/** The entry that browsers and bundlers take, as the server serves it. */
const entry = target(".", "browser", "import").replace(packageFolder, "/pkg");
const importMap = `<script type="importmap">{"imports": {"adk-metrics": "${entry}"}}</script>`;

const everyNth = (list, count) => list.filter((_, index) => index % Math.floor(list.length / count) === 0);

/** 500 and more pairs of texts and trajectories, and a whole evalset. */
function sample() {
  const { pairs } = JSON.parse(testFile("parity/vectors/rouge.json"));
  const texts = elements(members(testFile("parity/vectors/trajectory.json")).cases);
  const cases = everyNth(texts.filter(survivesJavaScript), 600).map((text) => JSON.parse(text));
  const evalSet = manyCases(50);
  const actual = manyCases(50, (index) => `answer ${index} is the ${index % 7}`);
  return { pairs: everyNth(pairs, 800), cases, conversations: { evalSet: JSON.stringify(evalSet), actual } };
}

/** A program that a bundler makes of the package, which it finds in node_modules. */
async function bundled() {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-bundle-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageFolder, join(folder, "node_modules/adk-metrics"));
  const sampleFile = fileURLToPath(new URL("sample.mjs", import.meta.url));
  const contents = `export * from "adk-metrics"; export { scoresOf } from ${JSON.stringify(sampleFile)};`;
  try {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      format: "esm",
      platform: "browser",
      minify: true,
      write: false,
      logLevel: "silent",
    });
    return outputFiles[0].text;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const page = (script, head = importMap) => `<!doctype html><meta charset="utf-8">${head}${script}`;
const html = (body, headers) => ({ type: ".html", body, headers });
const javascript = (body) => ({ type: ".js", body });
const SAMPLE = "/sample.mjs";

describe("in Chromium", { skip }, () => {
  let browser;
  let server;
  let given;
  let expected;

  before(async () => {
    given = sample();
    assert.ok(given.pairs.length >= 500 && given.cases.length >= 500);
    expected = await scoresOf(await importEntry(), structuredClone(given));
    const bundle = await bundled();
    const strict = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'";
    const start = javascript('import * as adk from "/bundle.js"; window.adk = adk;');
    server = await serve({
      "/page.html": html(
        page(
          '<script type="module">import * as adk from "adk-metrics"; import { scoresOf } from "/sample.mjs"; window.adk = { ...adk, scoresOf };</script>',
        ),
      ),
      "/strict.html": html(page('<script type="module" src="/start.js"></script>', ""), {
        "content-security-policy": strict,
      }),
      "/no-wasm.html": html(page('<script type="module" src="/start.js"></script>', ""), {
        "content-security-policy": "script-src 'self'",
      }),
      "/start.js": start,
      "/bundle.js": javascript(bundle),
      "/worker.js": javascript(
        `import * as adk from "${entry}"; import { scoresOf } from "/sample.mjs";
         self.onmessage = async ({ data }) => self.postMessage(await scoresOf(adk, data));`,
      ),
      [SAMPLE]: javascript(readFileSync(new URL("sample.mjs", import.meta.url), "utf8")),
    });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
  });

  after(async () => {
    await browser?.close();
    await server?.close();
  });

  /** Opens a page, waits for the package, does something, and checks that nothing went wrong beside it. */
  async function inPage(path, work) {
    const opened = await browser.newPage();
    const troubles = [];
    opened.on("pageerror", (error) => troubles.push(String(error)));
    opened.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
    try {
      await opened.goto(`${server.origin}${path}`);
      await opened.waitForFunction(() => window.adk !== undefined, undefined, { timeout: 10_000 });
      const result = await work(opened);
      assert.deepEqual(troubles, []);
      return result;
    } finally {
      await opened.close();
    }
  }

  const scoreInPage = (opened) => opened.evaluate((data) => window.adk.scoresOf(window.adk, data), given);

  test("a page scores as Node does, bit for bit, with an import map alone", async () => {
    server.requested.length = 0;
    assert.deepEqual(await inPage("/page.html", scoreInPage), expected);
    assert.deepEqual(
      server.requested.filter((path) => path.endsWith(".wasm")),
      [],
      "the module travels in the JavaScript",
    );
  });

  test("a bundled page does, under a strict Content-Security-Policy", async () => {
    assert.deepEqual(await inPage("/strict.html", scoreInPage), expected);
  });

  test("a module worker does", async () => {
    const found = await inPage("/page.html", (opened) =>
      opened.evaluate(
        (data) =>
          new Promise((resolve, reject) => {
            const worker = new Worker("/worker.js", { type: "module" });
            worker.onmessage = ({ data: scores }) => resolve(scores);
            worker.onerror = ({ message }) => reject(new Error(message));
            worker.postMessage(data);
          }),
        given,
      ),
    );
    assert.deepEqual(found, expected);
  });

  /** What a page says of calls that need the engine: a synchronous one, and two that are not. */
  async function refusals(path, script = "") {
    const opened = await browser.newPage();
    try {
      await opened.addInitScript(script);
      await opened.goto(`${server.origin}${path}`);
      await opened.waitForFunction(() => window.adk !== undefined);
      return await opened.evaluate(async () => {
        const said = ({ name, code, message, help }) => ({ name, code, message, help });
        const { evaluate, rouge1, RougeEvaluator } = window.adk;
        const errors = [];
        try {
          rouge1("a", "b");
        } catch (error) {
          errors.push(said(error));
        }
        const evalSet = { evalSetId: "none", evalCases: [] };
        await evaluate({ evalSet, actual: evalSet, criteria: { response_match_score: 1 } }).catch((error) =>
          errors.push(said(error)),
        );
        const evaluator = () => new RougeEvaluator({ metricName: "response_match_score", threshold: 1 });
        await (async () => evaluator().evaluateInvocations([], []))().catch((error) => errors.push(said(error)));
        return errors;
      });
    } finally {
      await opened.close();
    }
  }

  test("a policy without 'wasm-unsafe-eval' is an error that says what to allow", async () => {
    const errors = await refusals("/no-wasm.html");
    assert.equal(errors.length, 3);
    for (const { name, code, help } of errors) {
      assert.deepEqual([name, code], ["AdkMetricsError", "engine_unavailable"]);
      assert.equal(help, "A Content-Security-Policy has to allow 'wasm-unsafe-eval'");
    }
  });

  test("a page without WebAssembly, as in Lockdown Mode, is told so by every call", async () => {
    const errors = await refusals("/strict.html", "delete globalThis.WebAssembly");
    assert.equal(errors.length, 3);
    for (const { name, code, message, help } of errors) {
      assert.deepEqual([name, code], ["AdkMetricsError", "engine_unavailable"]);
      assert.match(message, /this runtime has no WebAssembly/);
      assert.match(help, /Lockdown Mode/);
    }
  });

  test("importing the package starts nothing", async () => {
    const instances = await inPage("/page.html", (opened) =>
      opened.evaluate(async () => {
        const { Instance } = WebAssembly;
        let count = 0;
        WebAssembly.Instance = class extends Instance {
          constructor(...given) {
            super(...given);
            count += 1;
          }
        };
        const before = count;
        window.adk.rouge1("a", "b");
        return [before, count];
      }),
    );
    assert.deepEqual(instances, [0, 1]);
  });

  test("evaluating 5,000 cases leaves the page alive", async () => {
    const words =
      "It is sunny in London, and it will stay so until the evening when clouds come in from the west ".repeat(15);
    const setOf = (answer) => ({
      evalSetId: "s",
      evalCases: Array.from({ length: 5000 }, (_, index) => ({
        evalId: `case ${index}`,
        conversation: [turn("Weather?", `${answer} ${index}`, [["get_weather", { city: "London", day: index }]])],
      })),
    });
    const texts = { evalSet: JSON.stringify(setOf(words)), actual: JSON.stringify(setOf(`${words} but not ${words}`)) };
    const { cases, longest, total } = await inPage("/page.html", (opened) =>
      opened.evaluate(async (data) => {
        const encoder = new TextEncoder();
        const bytes = { evalSet: encoder.encode(data.evalSet), actual: encoder.encode(data.actual) };
        let [running, longest] = [true, 0];
        let last;
        const frame = (now) => {
          if (last !== undefined) longest = Math.max(longest, now - last);
          last = now;
          if (running) requestAnimationFrame(frame);
        };
        const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        requestAnimationFrame(frame);
        await nextFrame();
        const began = performance.now();
        const set = await window.adk.evaluate(bytes);
        const total = performance.now() - began;
        await nextFrame();
        running = false;
        return { cases: set.evalCaseResults.length, longest, total };
      }, texts),
    );
    assert.equal(cases, 5000);
    assert.ok(longest < total / 2, `${longest} of ${total} ms without a frame`);
  });
});
