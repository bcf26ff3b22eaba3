// Real apps of frameworks with the packed package: each is built as its framework builds it, without a warning about the
// package, served, and scores on its server and in a page. They are large, and are run by themselves: npm run
// test:frameworks.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { CHROMIUM, CHROMIUM_FLAGS } from "../../../scripts/chromium.mjs";
import { packageFolder } from "../../package/support/package.mjs";
import { serveFolder } from "../server.mjs";
import { APPS, SCORE } from "./apps.mjs";

const exec = promisify(execFile);
const environment = {
  ...process.env,
  NEXT_TELEMETRY_DISABLED: "1",
  ASTRO_TELEMETRY_DISABLED: "1",
  NUXT_TELEMETRY_DISABLED: "1",
  PARCEL_DISABLE_CACHE: "1",
  NO_COLOR: "1",
  CHROMIUM,
  CHROMIUM_FLAGS: JSON.stringify(CHROMIUM_FLAGS),
};
const limits = { env: environment, maxBuffer: 2 ** 26 };

/** What bundlers say of what they cannot follow, and of the package by its name. */
const WARNING = /adk-metrics|Critical dependency/;

let browser;
const folders = new Map();
const made = [];
before(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
});
after(async () => {
  await browser?.close();
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A copy of an app with its packages and the packed package, made once for all ways to build it. */
function installed(name) {
  if (!folders.has(name)) folders.set(name, install(name));
  return folders.get(name);
}

async function install(name) {
  const folder = mkdtempSync(join(tmpdir(), `framework-${name}-`));
  made.push(folder);
  cpSync(fileURLToPath(new URL(name, import.meta.url)), folder, { recursive: true });
  const npm = (...args) => exec("npm", args, { ...limits, cwd: folder, shell: process.platform === "win32" });
  const { stdout } = await npm("pack", packageFolder, "--json");
  const [{ filename }] = Object.values(JSON.parse(stdout));
  // Versions are exact. A lock file would name what frameworks have for every platform, which `npm ci` wants of a registry.
  await npm("install", `./${filename}`, "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund");
  return folder;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return String(port);
}

/** Serves what was built: by the framework's server, else as files. */
async function served(folder, { serve, serves }) {
  if (serves !== undefined) return serveFolder(join(folder, serves), {});
  const port = await freePort();
  const args = serve.map((part) => part.replace("{port}", port));
  // Some servers are told by their arguments where to listen, others by the environment.
  const env = { ...environment, HOST: "127.0.0.1", PORT: port };
  const server = spawn(process.execPath, args, { cwd: folder, env, stdio: "ignore" });
  const ended = once(server, "exit");
  const origin = `http://127.0.0.1:${port}`;
  const isUp = () => fetch(origin).then(Boolean, () => false);
  while (server.exitCode === null && !(await isUp())) await sleep(200);
  const close = async () => {
    server.kill();
    await ended;
  };
  return { origin, close };
}

describe("the package in an app", { concurrency: false }, () => {
  for (const [name, app] of Object.entries(APPS)) {
    test(`of ${name} builds without a warning and scores`, async () => {
      const folder = await installed(app.folder);
      const { stdout, stderr } = await exec(process.execPath, app.build, { ...limits, cwd: folder });
      assert.doesNotMatch(`${stdout}${stderr}`.replaceAll(folder, ""), WARNING);
      if (app.serve === undefined && app.serves === undefined) return;
      const { origin, close } = await served(folder, app);
      const page = await browser.newPage();
      try {
        for (const path of app.answers ?? []) {
          const { fmeasure } = await (await fetch(`${origin}${path}`)).json();
          assert.equal(String(fmeasure), SCORE, path);
        }
        await page.goto(`${origin}/`);
        for (const place of app.shows) {
          await page.locator(place).filter({ hasText: /\d/ }).waitFor();
          assert.equal(await page.locator(place).innerText(), SCORE, place);
        }
      } finally {
        await page.close();
        await close();
      }
    });
  }
});
