// The playground in a real browser, served as users serve it: by `adk-metrics playground`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { chromium } from "playwright-core";
import { CHROMIUM_FLAGS, HEADLESS_CHROMIUM, NO_CHROMIUM } from "../../scripts/chromium.mjs";
import { mustRun, packageFolder, root } from "../package/support/package.mjs";

const NO_SITE = existsSync(join(packageFolder, "playground"))
  ? undefined
  : "the playground is not built: npm run build";

/** Why these tests cannot run here, or false. */
export const skip = mustRun ? false : (NO_CHROMIUM ?? NO_SITE ?? false);

/** How long what comes at once may take, in milliseconds: many times what it takes where other programs keep a machine busy. */
const PATIENCE = 60_000;

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A file of the repository's examples. */
export const example = (...path) => join(root, "examples", ...path);

/**
 * Serves the site and starts a browser for the tests of a file. `npm test` serves it once for all files, since a server
 * compresses the whole site when it starts: PLAYGROUND is its address.
 *
 * @param {object} [options]
 * @param {string[]} [options.args] What the command is given besides a port; with any, the file has a server of its own.
 * @param {string} [options.browser] The path of another browser.
 * @param {"allow" | "block"} [options.serviceWorkers] Whether pages have their service worker, for which a browser loads the
 * whole site.
 * @returns {{ origin: string, address: string, open(options?: object): Promise<import("playwright-core").Page> }} `open` gives a page with
 * a storage of its own; whatever goes wrong in it unnoticed fails the test that closes it (`done`).
 */
export function playground({ args, browser: executablePath = HEADLESS_CHROMIUM, serviceWorkers = "block" } = {}) {
  const site = { origin: "", address: "", open, done };
  let server;
  let browser;
  before(async () => {
    if (skip) return;
    site.address = args === undefined ? process.env.PLAYGROUND : undefined;
    if (site.address === undefined) {
      const cli = join(packageFolder, "dist/esm/cli.js");
      server = spawn(process.execPath, [cli, "playground", ...(args ?? []), "--port", "0"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      [site.address] = await once(createInterface(server.stdout), "line");
    }
    site.origin = new URL(site.address).origin;
    browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS });
  });
  after(async () => {
    await browser?.close();
    server?.kill();
  });

  /** A new page at an address of the site, such as `#/criteria`. */
  async function open({ at = "", theme = "light", width = 1280, height = 900, ...context } = {}) {
    const own = await browser.newContext({
      colorScheme: theme,
      reducedMotion: "reduce",
      serviceWorkers,
      viewport: { width, height },
      ...context,
    });
    const page = await own.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.mistakes = [];
    page.on("pageerror", (error) => page.mistakes.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") page.mistakes.push(message.text());
    });
    await page.goto(`${site.origin}/${at}`);
    return page;
  }

  /** Closes a page; nothing may have gone wrong in it. */
  async function done(page) {
    const { mistakes } = page;
    await page.context().close();
    assert.deepEqual(mistakes, []);
  }
  return site;
}

/** What axe finds on a page: rule, and the elements it is about. */
export async function violations(page) {
  // The page's policy allows no scripts but its own; what a debugger evaluates is not bound by it. It stays in the document.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  return page.evaluate(async () => {
    // What the bar at the top covers of a page that is scrolled is no smaller for it; a click may scroll with its next frame.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    scrollTo(0, 0);
    // Only what is wrong is told in full, and only texts leave the page: the rest of the results would take longer to
    // reach the test than to find.
    const found = await globalThis.axe.run(document, {
      resultTypes: ["violations"],
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  });
}

/** Reads until what is read is right, or too long has passed: the page follows with its next frame. */
async function settled(read, isRight) {
  const deadline = Date.now() + PATIENCE;
  let found = await read();
  while (!isRight(found) && Date.now() < deadline) {
    await sleep(20);
    found = await read();
  }
  return found;
}

/** Waits until what is read is what is expected. */
export async function becomes(read, expected, message) {
  assert.deepEqual(await settled(read, (found) => isDeepStrictEqual(found, expected)), expected, message);
}

/** Waits until a part of the page has a text, white space aside. */
export async function says(locator, pattern) {
  const read = async () => (await locator.innerText()).replace(/\s+/g, " ");
  assert.match(await settled(read, (found) => pattern.test(found)), pattern);
}

/** What the page keeps in the browser, by key. */
export async function keptRecords(page) {
  const entries = await page.evaluate(async () => {
    const name = "adk-metrics-playground";
    // Opening a database that is not there would make it, without what the page keeps in it.
    if (!(await indexedDB.databases()).some((database) => database.name === name)) return [];
    const opening = indexedDB.open(name);
    await new Promise((resolve) => (opening.onsuccess = resolve));
    const records = opening.result.transaction("runs").objectStore("runs");
    const [keys, values] = [records.getAllKeys(), records.getAll()];
    await new Promise((resolve) => (records.transaction.oncomplete = resolve));
    opening.result.close();
    return keys.result.map((key, at) => [String(key), values.result[at]]);
  });
  return Object.fromEntries(entries);
}

/** Waits until records of these keys are kept: a page that is left earlier starts anew. */
export const areKept = (page, ...keys) =>
  becomes(async () => {
    const kept = await keptRecords(page);
    return keys.filter((key) => kept[key] === undefined);
  }, []);
