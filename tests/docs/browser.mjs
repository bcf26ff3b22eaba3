// Samples in a page, in Chromium. A sample in JavaScript is bundled first, as everyone does; a sample in HTML is a page of
// its own, for which the addresses of npm's mirrors (`https://cdn.jsdelivr.net/npm/adk-metrics@1/…`) lead to the package.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { CHROMIUM, CHROMIUM_FLAGS, NO_CHROMIUM } from "../../scripts/chromium.mjs";
import { packageFolder } from "../package/support/package.mjs";
import { assertShown, instrument } from "./shown.mjs";
import { checkOutput, earlierCode, stemOf } from "./workshop.mjs";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};
const SITE = "http://samples.localhost";
const ENGINE = join(packageFolder, "dist/adk_metrics.wasm");
const MIRRORS = /^https:\/\/(?:cdn\.jsdelivr\.net\/npm|unpkg\.com)\/adk-metrics(?:@[^/]+)?\/(.*)$/;

const PRELUDE = `
const shown = (globalThis.shown = []);
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
globalThis.__sample = (line, value) => shown.push([line, text(value)]);
globalThis.__sample.log = (line, ...values) => {
  shown.push([line, values.map(text).join(" ")]);
  console.log(values.map(text).join(" "));
};`;

/** Chromium, or why there is none. */
export async function openBrowser() {
  if (NO_CHROMIUM !== undefined) return { missing: NO_CHROMIUM };
  let started;
  const start = () => (started ??= chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS }));
  return { start, close: async () => (await started)?.close() };
}

/** Runs a sample in a page of its own. */
export async function runInBrowser(browser, place, sample) {
  const page = await (await browser.start()).newPage();
  const said = [];
  const wrong = [];
  page.on("console", (message) => (message.type() === "error" ? wrong : said).push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  await page.route("**/*", (route) => {
    const url = route.request().url();
    const { pathname } = new URL(url);
    // A page serves the engine from wherever its author put it.
    const own = basename(pathname) === basename(ENGINE) ? ENGINE : join(place.folder, pathname);
    const file = url.startsWith(SITE) ? own : MIRRORS.test(url) && join(packageFolder, MIRRORS.exec(url)[1]);
    if (url === `${SITE}/favicon.ico`) return route.fulfill({ status: 204 });
    if (!file || !existsSync(file)) return route.fulfill({ status: 404 });
    return route.fulfill({
      body: readFileSync(file),
      contentType: TYPES[extname(file)] ?? "application/octet-stream",
      headers: { "access-control-allow-origin": "*" },
    });
  });
  try {
    if (sample.language === "html") {
      const file = sample.file ?? `sample-${sample.line}.html`;
      place.write(file, sample.code);
      await page.goto(`${SITE}/${file}`, { waitUntil: "networkidle" });
      assert.deepEqual(wrong, [], sample.name);
      checkOutput(sample, await page.locator("body").innerText());
      return;
    }
    const { code, shown } = instrument(sample.code, sample.name);
    const name = `${stemOf(sample)}.page`;
    place.write(`${name}.${sample.language}`, earlierCode(sample) + code);
    await build({
      entryPoints: [join(place.folder, `${name}.${sample.language}`)],
      outdir: place.folder,
      entryNames: `${name}.bundle`,
      bundle: true,
      format: "esm",
      logLevel: "silent",
      loader: { ".wasm": "file" },
    });
    place.write(`${name}.html`, `<!doctype html><script>${PRELUDE}</script><body></body>`);
    await page.goto(`${SITE}/${name}.html`);
    await page.evaluate((file) => import(file), `/${name}.bundle.js`);
    assert.deepEqual(wrong, [], sample.name);
    const values = await page.evaluate(() => globalThis.shown);
    for (const { line, text } of shown) {
      assertShown(
        values
          .filter(([at]) => at === line)
          .map(([, value]) => value)
          .join("\n"),
        text,
        `${sample.name}: "→ ${text}"`,
      );
    }
    checkOutput(sample, said.join("\n"));
  } finally {
    await page.close();
  }
}
