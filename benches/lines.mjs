// A million cases as JSON lines, scored by the command line in one process: time, memory, and what a second thread saves.
// The commands take turns.
//
// npm run build && node benches/lines.mjs --cases 1000000 --rounds 1

import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { run } from "../tests/cli/command.mjs";
import { responseDataset } from "./js/datasets.mjs";

const { values } = parseArgs({
  options: { cases: { type: "string", default: "1000000" }, rounds: { type: "string", default: "3" } },
});
const [cases, rounds] = [Number(values.cases), Number(values.rounds)];
const DISTINCT = 5000;

/** Notes what a process took, when it ends. */
const METER = `import { isMainThread } from "node:worker_threads";
import { writeFileSync } from "node:fs";
if (isMainThread) process.on("exit", () => writeFileSync("usage.json", JSON.stringify(process.resourceUsage())));`;

const folder = mkdtempSync(join(tmpdir(), "adk-metrics-bench-"));
try {
  await measure();
} finally {
  rmSync(folder, { recursive: true });
}

async function measure() {
  const { evalSet, actual } = responseDataset({ language: "english", words: 60, count: DISTINCT });
  await write("cases.jsonl", evalSet.evalCases);
  await write("runs.jsonl", actual.evalCases);
  const megabytes = (name) => statSync(join(folder, name)).size / 1e6;
  console.log(`${cases} cases, ${(megabytes("cases.jsonl") + megabytes("runs.jsonl")).toFixed(0)} MB of JSON lines`);
  const rows = { 1: [], 2: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const threads of [1, 2]) rows[threads].push(await score(threads));
  }
  const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
  const seconds = (threads, what) => median(rows[threads].map((row) => row[what]));
  for (const threads of [1, 2]) {
    const most = Math.max(...rows[threads].map(({ memory }) => memory));
    console.log(
      `--threads ${threads}: ${seconds(threads, "time").toFixed(1)} s, ${seconds(threads, "processor").toFixed(1)} s of the processor, at most ${most.toFixed(0)} MB`,
    );
  }
  console.log(`results: ${megabytes("out-2.jsonl").toFixed(0)} MB`);
  console.log(`speed-up: ${(seconds(1, "time") / seconds(2, "time")).toFixed(2)}`);
}

/** Writes so many cases, the same ones again and again under other ids. */
async function write(name, distinct) {
  const texts = distinct.map(({ evalId: _, ...rest }) => JSON.stringify(rest).slice(1));
  const stream = createWriteStream(join(folder, name));
  for (let at = 0; at < cases; at += 1) {
    const line = `{"eval_id":"case-${at}",${texts[at % texts.length]}\n`;
    if (!stream.write(line)) await once(stream, "drain");
  }
  stream.end();
  await once(stream, "close");
}

async function score(threads) {
  const output = `out-${threads}.jsonl`;
  const args = ["eval", "cases.jsonl", "--actual", "runs.jsonl", "--output", output, "--threads", String(threads)];
  rmSync(join(folder, output), { force: true });
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(METER)}` };
  const began = performance.now();
  const { status, stderr } = await run(args, { cwd: folder, env, limitMs: 3_600_000 });
  const time = (performance.now() - began) / 1000;
  if (status !== 0 && status !== 1) throw new Error(stderr);
  const usage = JSON.parse(readFileSync(join(folder, "usage.json"), "utf8"));
  return { time, processor: (usage.userCPUTime + usage.systemCPUTime) / 1e6, memory: usage.maxRSS / 1024 };
}
