// The package in an extension of Manifest 3, whose pages and service worker may run no code but the extension's own.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import esbuild from "esbuild";
import { chromium } from "playwright-core";
import { CHROMIUM, CHROMIUM_FLAGS, NO_CHROMIUM } from "../../scripts/chromium.mjs";
import { mustRun } from "../package/support/package.mjs";
import { makeProject } from "./project.mjs";

const skip = mustRun ? false : (NO_CHROMIUM ?? false);

/** What Node finds. */
const SCORE = 0.5714285714285715;

const MANIFEST = {
  manifest_version: 3,
  name: "adk-metrics",
  version: "1",
  background: { service_worker: "bundle.js", type: "module" },
  content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'" },
};

test("scores in the pages and the service worker of an extension", { skip }, async () => {
  const project = await makeProject();
  const profile = mkdtempSync(join(tmpdir(), "adk-metrics-profile-"));
  let browser;
  try {
    project.write({
      "score.mjs": `import { rouge1 } from "adk-metrics"; globalThis.score = (a, b) => rouge1(a, b).fmeasure;`,
      "extension/manifest.json": JSON.stringify(MANIFEST),
      "extension/page.html": '<!doctype html><script type="module" src="bundle.js"></script>',
    });
    const extension = join(project.folder, "extension");
    await esbuild.build({
      absWorkingDir: project.folder,
      entryPoints: ["score.mjs"],
      bundle: true,
      format: "esm",
      outfile: join(extension, "bundle.js"),
    });
    browser = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM,
      headless: false,
      ignoreDefaultArgs: ["--disable-extensions"],
      args: [
        ...CHROMIUM_FLAGS,
        "--headless=new",
        `--disable-extensions-except=${extension}`,
        `--load-extension=${extension}`,
      ],
    });
    const worker = browser.serviceWorkers()[0] ?? (await browser.waitForEvent("serviceworker", { timeout: 30_000 }));
    const score = () => globalThis.score("The weather is sunny", "It is sunny");
    assert.equal(await worker.evaluate(score), SCORE);
    const page = await browser.newPage();
    await page.goto(new URL("page.html", worker.url()).href);
    await page.waitForFunction(() => globalThis.score !== undefined);
    assert.equal(await page.evaluate(score), SCORE);
  } finally {
    await browser?.close();
    project.remove();
    rmSync(profile, { recursive: true, force: true });
  }
});
