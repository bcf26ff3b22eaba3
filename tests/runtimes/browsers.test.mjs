// The packed package in Chromium under a strict Content-Security-Policy: as it is, and as bundlers make it.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { importMetaAssets } from "@web/rollup-plugin-import-meta-assets";
import nodeResolve from "@rollup/plugin-node-resolve";
import esbuild from "esbuild";
import { chromium } from "playwright-core";
import { rollup } from "rollup";
import { build as buildVite, createServer } from "vite";
import webpack from "webpack";
import { CHROMIUM, CHROMIUM_FLAGS, NO_CHROMIUM } from "../../scripts/chromium.mjs";
import { mustRun } from "../package/support/package.mjs";
import { start } from "./support.mjs";

const skip = mustRun ? false : (NO_CHROMIUM ?? false);
const DIST = "/node_modules/adk-metrics/dist/esm";
const html = (script) => `<!doctype html><meta charset="utf-8"><title>adk-metrics</title>${script}`;

/** The ways to enter, and what has to be awaited before anything is scored. */
const ENTRIES = { "adk-metrics": "", "adk-metrics/web": "await adk.init();" };
const program = (from, init, programs = ".") =>
  `import * as adk from "${from}"; import { found } from "${programs}/program.mjs";
   globalThis.found = async () => { ${init} return found(adk); };`;

let project;
let browser;

before(async () => {
  if (skip) return;
  project = await start();
  browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
});
after(async () => {
  await browser?.close();
  await project?.stop();
});

/** What a page finds; nothing may go wrong beside it. */
async function foundBy(url, ask = () => globalThis.found()) {
  const page = await browser.newPage();
  const troubles = [];
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
  try {
    await page.goto(url);
    await page
      .waitForFunction(() => globalThis.found !== undefined, undefined, { timeout: 20_000 })
      .catch((error) => {
        throw new Error(`the page does not start: ${troubles.join("; ")}`, { cause: error });
      });
    const result = await page.evaluate(ask);
    assert.deepEqual(troubles, []);
    return result;
  } finally {
    await page.close();
  }
}

const filesBelow = (folder) => readdirSync(folder, { recursive: true }).map(String);

describe("as it is, in Chromium", { skip }, () => {
  const page = (name) => `${project.pages.origin}/${name}.html`;

  for (const [name, [file, init, type]] of Object.entries({
    "the default entry": ["inline", "", "application/octet-stream"],
    "/web": ["web", "await adk.init();", "application/wasm"],
    "/slim, given a response,": [
      "slim",
      "await adk.init(fetch('/node_modules/adk-metrics/dist/adk_metrics.wasm'));",
      "",
    ],
  })) {
    test(`a module script scores by ${name}`, async () => {
      project.write({
        [`${file}.html`]: html(`<script type="module" src="/${file}-page.mjs"></script>`),
        [`${file}-page.mjs`]: program(`${DIST}/${file}.js`, init),
      });
      project.pages.requested.length = 0;
      assert.deepEqual(await foundBy(page(file)), project.expected);
      const modules = project.pages.requested.filter((path) => path.endsWith(".wasm"));
      assert.equal(modules.length, type === "application/octet-stream" ? 0 : 1);
    });
  }

  test("a module script scores the whole sample", async () => {
    project.write({
      "whole.html": html('<script type="module" src="/whole-page.mjs"></script>'),
      "whole-page.mjs": `import * as adk from "${DIST}/web.js"; import { found } from "/program.mjs"; import { whole } from "/where.mjs";
        globalThis.found = async () => { await adk.init(); return found(adk, whole); };`,
    });
    assert.deepEqual(await foundBy(page("whole")), await project.expectedOfWhole());
  });

  test("a classic script does, by import()", async () => {
    project.write({
      "classic.html": html('<script src="/classic.js"></script>'),
      "classic.js": `Promise.all([import("${DIST}/inline.js"), import("/program.mjs")]).then(([adk, { found }]) => {
        globalThis.found = () => found(adk); });`,
    });
    assert.deepEqual(await foundBy(page("classic")), project.expected);
  });

  for (const [file, init] of [
    ["inline", ""],
    ["web", "await adk.init();"],
  ]) {
    test(`a module worker does, by ${file}.js`, async () => {
      project.write({
        [`worker-${file}.html`]: html(`<script src="/worker-${file}-page.js"></script>`),
        [`worker-${file}-page.js`]: `globalThis.found = () => new Promise((resolve, reject) => {
          const worker = new Worker("/worker-${file}.mjs", { type: "module" });
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message)); });`,
        [`worker-${file}.mjs`]: `${program(`${DIST}/${file}.js`, init)} globalThis.found().then(postMessage);`,
      });
      assert.deepEqual(await foundBy(page(`worker-${file}`)), project.expected);
    });

    test(`a service worker does, by ${file}.js`, async () => {
      project.write({
        [`service-${file}.html`]: html(`<script src="/service-${file}-page.js"></script>`),
        [`service-${file}-page.js`]: `globalThis.found = async () => {
          const options = { type: "module", scope: "/service-${file}" };
          const { installing, waiting, active } = await navigator.serviceWorker.register("/service-${file}.mjs", options);
          return new Promise((resolve) => {
            navigator.serviceWorker.onmessage = ({ data }) => resolve(data);
            (active ?? waiting ?? installing).postMessage("score"); }); };`,
        [`service-${file}.mjs`]: `${program(`${DIST}/${file}.js`, init)}
          onmessage = (event) => event.waitUntil(globalThis.found().then((all) => event.source.postMessage(all)));`,
      });
      assert.deepEqual(await foundBy(page(`service-${file}`)), project.expected);
    });
  }
});

/** Builds `entry` of the project into `out/`, with an `index.html`; gives what it warned of. */
const BUNDLERS = {
  async vite(entry, out) {
    const source = `source-${entry}`;
    project.write({ [`${source}/index.html`]: html(`<script type="module" src="../${entry}"></script>`) });
    const warnings = [];
    const say = (message) => warnings.push(message);
    await buildVite({
      root: join(project.folder, source),
      base: "./",
      configFile: false,
      logLevel: "warn",
      customLogger: { info() {}, warn: say, warnOnce: say, error: say, clearScreen() {}, hasErrorLogged: () => false },
      build: { outDir: join(project.folder, out), emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 2000 },
    });
    return warnings;
  },
  async webpack(entry, out) {
    const compiler = webpack({
      context: project.folder,
      mode: "production",
      entry: `./${entry}`,
      output: { path: join(project.folder, out), filename: "main.js" },
      performance: false,
    });
    const stats = await new Promise((resolve, reject) =>
      compiler.run((error, done) => compiler.close(() => (error ? reject(error) : resolve(done)))),
    );
    const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
    project.write({ [`${out}/index.html`]: html('<script src="main.js"></script>') });
    return [...errors, ...warnings];
  },
  async rollup(entry, out) {
    const warnings = [];
    const bundle = await rollup({
      input: join(project.folder, entry),
      plugins: [nodeResolve({ browser: true }), importMetaAssets()],
      onwarn: ({ message }) => warnings.push(message),
    });
    await bundle.write({ dir: join(project.folder, out), format: "es", entryFileNames: "main.js" });
    await bundle.close();
    project.write({ [`${out}/index.html`]: html('<script type="module" src="main.js"></script>') });
    return warnings;
  },
  async esbuild(entry, out) {
    const { warnings } = await esbuild.build({
      absWorkingDir: project.folder,
      entryPoints: { main: entry },
      bundle: true,
      format: "esm",
      minify: true,
      outdir: out,
      logLevel: "silent",
    });
    project.write({ [`${out}/index.html`]: html('<script type="module" src="main.js"></script>') });
    return warnings;
  },
};

describe("as bundlers make it, in Chromium", { skip }, () => {
  for (const [name, bundle] of Object.entries(BUNDLERS)) {
    for (const [from, init] of Object.entries(ENTRIES)) {
      const isWeb = from.endsWith("/web");
      // esbuild leaves the addresses of assets as they are.
      if (isWeb && name === "esbuild") continue;
      const entry = `bundled-${isWeb ? "web" : "default"}`;
      test(`${name} builds a page by ${from}${isWeb ? " with one .wasm beside it" : " without configuration"}`, async () => {
        project.write({ [`${entry}.mjs`]: program(from, init) });
        const out = `out/${name}-${entry}`;
        assert.deepEqual(await bundle(`${entry}.mjs`, out), []);
        const modules = filesBelow(join(project.folder, out)).filter((file) => file.endsWith(".wasm"));
        assert.equal(modules.length, isWeb ? 1 : 0, modules.join());
        assert.deepEqual(await foundBy(`${project.pages.origin}/${out}/`), project.expected);
      });
    }
  }

  test("esbuild builds a page by adk-metrics/slim, with the address of the .wasm from its file loader", async () => {
    project.write({
      "bundled-slim.mjs": `import address from "adk-metrics/adk_metrics.wasm";
        ${program("adk-metrics/slim", "await adk.init(fetch(address));")}`,
    });
    await esbuild.build({
      absWorkingDir: project.folder,
      entryPoints: { main: "bundled-slim.mjs" },
      bundle: true,
      format: "esm",
      outdir: "out/slim",
      loader: { ".wasm": "file" },
      logLevel: "silent",
    });
    project.write({ "out/slim/index.html": html('<script type="module" src="main.js"></script>') });
    assert.deepEqual(await foundBy(`${project.pages.origin}/out/slim/`), project.expected);
  });

  for (const [from, init] of Object.entries(ENTRIES)) {
    test(`vite serves a page by ${from} while it is developed`, async () => {
      const folder = `developed-${from.replace("/", "-")}`;
      project.write({
        [`${folder}/index.html`]: html(
          '<link rel="icon" href="data:,"><script type="module" src="./page.mjs"></script>',
        ),
        [`${folder}/page.mjs`]: program(from, init, ".."),
      });
      const warnings = [];
      const say = (message) => warnings.push(message);
      const server = await createServer({
        root: join(project.folder, folder),
        configFile: false,
        server: { host: "127.0.0.1", port: 0, fs: { allow: [project.folder] } },
        cacheDir: join(project.folder, folder, ".vite"),
        customLogger: {
          info() {},
          warn: say,
          warnOnce: say,
          error: say,
          clearScreen() {},
          hasErrorLogged: () => false,
        },
      });
      try {
        await server.listen();
        const { port } = server.httpServer.address();
        assert.deepEqual(await foundBy(`http://127.0.0.1:${port}/`), project.expected);
        assert.deepEqual(warnings, []);
      } finally {
        await server.close();
      }
    });
  }
});
