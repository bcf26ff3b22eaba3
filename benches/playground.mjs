// What the playground takes to load, in bytes and in time, and how it copes with many cases: the time from files to
// results, the longest task of the page meanwhile, and what one step of a threshold takes until the verdicts of all cases
// are shown. Then several runs of them: the matrix of five, and the memory that the page and its worker have after ten.
//
//   npm run build && node benches/playground.mjs [--cases 10000] [--steps 60] [--rounds 5]
//
// A task is measured on the clock and in processor time; on a machine that does other things besides, the latter tells
// what the page itself does.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { CHROMIUM, CHROMIUM_FLAGS } from "../scripts/chromium.mjs";

const root = new URL("../", import.meta.url);
const { chromium } = createRequire(new URL("package.json", root))("playwright-core");

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "10000" },
    steps: { type: "string", default: "60" },
    rounds: { type: "string", default: "5" },
  },
});
const LOADS = 5;
const ROUNDS = Number(values.rounds);
const RUNS_IN_MATRIX = 5;
const RUNS = 10;
const cases = Number(values.cases);
const steps = Number(values.steps);

const CRITERIA = {
  tool_trajectory_avg_score: 1,
  response_match_score: 0.8,
  tool_trajectory_f1: 0.5,
  tool_parameter_match: 0.5,
};

/** Numbers from 0 to 1, the same ones each time (Park and Miller's generator). */
function random(seed) {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

/** Writes an evalset and what an agent did: 20 to 40 words and one or two tool calls in each case. */
function writeFiles(folder) {
  const next = random(7);
  const words = Array.from({ length: 400 }, (_, at) => `word${at}`);
  const word = () => words[Math.floor(next() * words.length)];
  const side = (conversationOf) =>
    JSON.stringify({
      eval_set_id: "many_cases",
      eval_cases: Array.from({ length: cases }, (_, at) => ({
        eval_id: `case_${at}`,
        conversation: [conversationOf(at)],
      })),
    });
  const texts = Array.from({ length: cases }, () => Array.from({ length: 20 + Math.floor(next() * 20) }, word));
  const turn = (at, text, calls) => ({
    user_content: { parts: [{ text: `Question ${at}` }], role: "user" },
    final_response: { parts: [{ text: text.join(" ") }], role: "model" },
    intermediate_data: {
      tool_uses: Array.from({ length: calls }, (_, call) => ({ name: `tool_${call}`, args: { at, unit: "metric" } })),
    },
  });
  const expected = side((at) => turn(at, texts[at], 1 + (at % 2)));
  const actual = side((at) => {
    const share = next();
    return turn(
      at,
      texts[at].map((one) => (next() < share ? word() : one)),
      1 + Math.floor(next() * 2),
    );
  });
  return [
    ["many.evalset.json", expected],
    ["many.actual.json", actual],
    ["test_config.json", JSON.stringify({ criteria: CRITERIA })],
  ].map(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  });
}

/** Notes what the threads of a page do while some work is under way. */
async function traced(browser, work) {
  const session = await browser.newBrowserCDPSession();
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value.filter(({ name }) => WANTED.has(name))));
  const includedCategories = ["toplevel", "__metadata"];
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories } });
  const result = await work();
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  const threads = events.filter(({ name }) => name === "thread_name");
  // The browser's own windows are pages too; that of the playground is the one with a worker.
  const withWorkers = new Set(
    threads.filter(({ args }) => args.name === "DedicatedWorker thread").map(({ pid }) => pid),
  );
  const mains = threads.filter(({ pid, args }) => args.name === "CrRendererMain" && withWorkers.has(pid));
  const places = new Set(mains.map(({ pid, tid }) => `${pid}/${tid}`));
  const tasks = events.filter(({ name, pid, tid }) => name !== "thread_name" && places.has(`${pid}/${tid}`));
  const longest = (key) => Math.max(0, ...tasks.map((task) => task[key] ?? 0)) / 1000;
  return { result, longest: { clock: longest("dur"), processor: longest("tdur") } };
}

const WANTED = new Set(["thread_name", "RunTask", "ThreadControllerImpl::RunTask"]);

/** In the page: presses a button, and gives how long it took until something is there. */
async function scored(button, selector) {
  const began = performance.now();
  button.click();
  while (document.querySelector(selector) === null) {
    await new Promise((seen) => {
      const observer = new MutationObserver(() => (observer.disconnect(), seen()));
      observer.observe(document.body, { subtree: true, childList: true });
    });
  }
  return performance.now() - began;
}

/** In the page: moves a threshold step by step, and gives how long each took until its outcome is shown. */
async function moved(count) {
  const slider = document.querySelector('[role="slider"][aria-label="Threshold of response_match_score"]');
  const outcome = slider.closest(".histogram").querySelector("footer p");
  const took = [];
  for (let step = 0; step < count; step += 1) {
    const before = outcome.textContent;
    const began = performance.now();
    const shown = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (outcome.textContent === before) return;
        observer.disconnect();
        resolve(performance.now() - began);
      });
      observer.observe(outcome, { subtree: true, childList: true, characterData: true });
    });
    const key = step < count / 2 ? "ArrowLeft" : "ArrowRight";
    slider.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    took.push(await shown);
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  }
  return took;
}

/** Passes on what a server at an address sends, and counts its bytes: as many as went over the wire, headers included. */
async function counted(address) {
  const { port } = new URL(address);
  const counter = { bytes: 0, paths: new Set(), address: "", close: () => proxy.close() };
  const proxy = createServer((inward) => {
    const outward = connect(Number(port), "127.0.0.1");
    outward.on("data", ({ length }) => (counter.bytes += length));
    inward.on("data", (sent) => counter.paths.add(/^GET (\S+)/.exec(sent.toString("latin1"))?.[1]));
    inward.pipe(outward).pipe(inward);
    for (const socket of [inward, outward]) socket.on("error", () => inward.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  counter.address = `http://localhost:${proxy.address().port}/`;
  return counter;
}

/** What files come to if they are compressed as well as brotli can, as static hosts may do beforehand. */
async function compressed(address, paths) {
  const fetched = [...paths].map((path) =>
    fetch(new URL(path, address), { headers: { "accept-encoding": "identity" } }),
  );
  const bodies = await Promise.all(
    fetched.map(async (response) => new Uint8Array(await (await response).arrayBuffer())),
  );
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  return bodies.reduce((sum, body) => sum + brotliCompressSync(body, { params }).length, 0);
}

/** Waits until the server sends files as small as they can be; it begins with less, so that nobody waits for it. */
async function compressing(address, paths, best) {
  const lengthOf = async (path) => {
    const head = get(new URL(path, address), { method: "HEAD", headers: { "accept-encoding": "br" } });
    const [response] = await once(head, "response");
    response.resume();
    return Number(response.headers["content-length"]);
  };
  for (;;) {
    const lengths = await Promise.all([...paths].map(lengthOf));
    if (lengths.reduce((sum, length) => sum + length, 0) < 1.005 * best) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Loads the page into a browser that has nothing of it, and scores the first example. */
async function loaded(browser, counter) {
  // The service worker loads the rest of the site in the background, for when there is no network: that is no part of it.
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, serviceWorkers: "block" });
  const page = await context.newPage();
  counter.bytes = 0;
  const began = performance.now();
  await page.goto(counter.address, { waitUntil: "commit" });
  const example = page.getByRole("button", { name: /Score it/ }).first();
  await example.waitFor();
  const interactive = { ms: performance.now() - began, bytes: counter.bytes };
  await example.click();
  await page.locator('[role="gridcell"]').first().waitFor();
  const scored = { ms: performance.now() - began, bytes: counter.bytes };
  await context.close();
  return { interactive, scored };
}

/** Opens many cases in a new page, scores them, and moves a threshold. */
async function scoredMany(browser, address, given) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(address);
  const input = page.locator('input[type="file"]').first();
  await input.waitFor({ state: "attached" });
  const score = page.locator('button[data-kind="primary"]:not([aria-disabled="true"])', {
    hasText: `${cases.toLocaleString("en")} cases`,
  });
  const reading = await traced(browser, async () => {
    const began = performance.now();
    await input.setInputFiles(given);
    await score.waitFor();
    return performance.now() - began;
  });
  const scoring = await traced(browser, async () => {
    const took = await score.evaluate(scored, `[role="grid"][aria-rowcount="${cases + 1}"] [role="gridcell"]`);
    // The rest of what is in sight comes with the next frames.
    await page.waitForTimeout(500);
    return took;
  });
  await page.evaluate(moved, 10);
  const moving = await traced(browser, async () => median(await page.evaluate(moved, steps)));
  await context.close();
  return { reading, scoring, moving };
}

/** The memory of the processes of a browser's pages, in bytes: what is shared with others counts in part. */
async function memory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const sizes = processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))[1]) * 1024);
  return Math.max(...sizes);
}

/** Scores many cases several times, looks at runs side by side, and scores them some more times. */
async function scoredOften(browser, address, given) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(address);
  const before = await memory(browser);
  await page.locator('input[type="file"]').first().setInputFiles(given);
  const results = page.locator(`[role="grid"][aria-rowcount="${cases + 1}"] [role="gridcell"]`).first();
  const kept = (count) =>
    page.waitForFunction((wanted) => document.querySelectorAll(".run-picker option").length === wanted, count);
  const score = async (count) => {
    await page.goto(`${address}#/files`);
    await page.locator('button[data-kind="primary"]:not([aria-disabled="true"])', { hasText: "cases" }).click();
    await results.waitFor();
    await kept(count);
  };
  for (let run = 1; run <= RUNS_IN_MATRIX; run += 1) await score(run);
  const opening = await traced(browser, async () => {
    const began = performance.now();
    await page.goto(`${address}#/runs`);
    await page
      .locator(`.matrix[aria-rowcount="${cases + 1}"] [role="cell"]`)
      .first()
      .waitFor();
    return performance.now() - began;
  });
  const scrolling = await traced(browser, async () => median(await page.evaluate(scrolled, steps)));
  for (let run = RUNS_IN_MATRIX + 1; run <= RUNS; run += 1) await score(run);
  // Runs are kept a moment later.
  await page.waitForTimeout(3000);
  const after = await memory(browser);
  await context.close();
  return { opening, scrolling, before, after };
}

/** In the page: scrolls the matrix, and gives how long each step took until its rows are there. */
async function scrolled(count) {
  const box = document.querySelector(".matrix");
  const took = [];
  for (let step = 1; step <= count; step += 1) {
    const began = performance.now();
    box.scrollTop = (step * (box.scrollHeight - box.clientHeight)) / count;
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
    took.push(performance.now() - began);
  }
  return took;
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const ms = (value) => `${value.toFixed(value < 100 ? 1 : 0)} ms`;

const folder = mkdtempSync(join(tmpdir(), "adk-metrics-playground-"));
const cli = new URL("pkg/dist/esm/cli.js", root).pathname;
const server = spawn(process.execPath, [cli, "playground", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
try {
  const [address] = await once(createInterface(server.stdout), "line");
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
  try {
    const counter = await counted(address);
    const loads = [];
    // The first one tells which files there are.
    await loaded(browser, counter);
    const best = await compressed(address, counter.paths);
    await compressing(address, counter.paths, best);
    for (let time = 0; time < LOADS; time += 1) loads.push(await loaded(browser, counter));
    counter.close();
    console.log("| loading | time | over the wire |\n|---|---:|---:|");
    for (const [what, key] of [
      ["until the page can be used", "interactive"],
      ["until the first example is scored", "scored"],
    ]) {
      const of = (field) => median(loads.map((load) => load[key][field]));
      console.log(`| ${what} (median of ${LOADS}) | ${ms(of("ms"))} | ${(of("bytes") / 1000).toFixed(1)} kB |`);
    }
    console.log(`\n${counter.paths.size} files; at brotli's highest quality they are ${(best / 1000).toFixed(0)} kB\n`);
    const given = writeFiles(folder);
    const rounds = [];
    for (let time = 0; time < ROUNDS; time += 1) rounds.push(await scoredMany(browser, address, given));
    const size = given.reduce((sum, path) => sum + statSync(path).size, 0);
    console.log(`${cases} cases, ${(size / 1e6).toFixed(1)} MB, ${Object.keys(CRITERIA).length} metrics\n`);
    console.log(
      `| medians of ${ROUNDS} | time | longest task of the page | of it processor time |\n|---|---:|---:|---:|`,
    );
    for (const [what, key] of [
      ["reading the files", "reading"],
      ["scoring them, until the results are shown", "scoring"],
      [`a step of a threshold (median of ${steps})`, "moving"],
    ]) {
      const of = (value) => ms(median(rounds.map((round) => value(round[key]))));
      const [clock, processor] = [of(({ longest }) => longest.clock), of(({ longest }) => longest.processor)];
      console.log(`| ${what} | ${of(({ result }) => result)} | ${clock} | ${processor} |`);
    }
    const { opening, scrolling, before, after } = await scoredOften(browser, address, given);
    for (const [what, { result, longest }] of [
      [`${RUNS_IN_MATRIX} runs side by side`, opening],
      ["a step of scrolling through them", scrolling],
    ]) {
      console.log(`| ${what} | ${ms(result)} | ${ms(longest.clock)} | ${ms(longest.processor)} |`);
    }
    const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
    console.log(`\nThe page and its worker have ${megabytes(before)} at first, ${megabytes(after)} after ${RUNS} runs`);
  } finally {
    await browser.close();
  }
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}
