// Compares ADK-TS, js-rouge, google-adk and this project's package over the same data, in one process.
//
//   node benches/js/bench.mjs [--rounds 9] [--scale 1] [--only <part of a dataset's name>] [--beside <another pkg/>]
//   ADK_PYTHON=/path/to/python node benches/js/bench.mjs     adds google-adk
//
// The contenders take turns (A B A B …), so that heat and frequency changes meet all of them alike. A sample is a whole
// run over the dataset, repeated until it lasts 20 ms. Printed are Markdown tables: the median over the samples with its
// range, both per case, the throughput in MB (10⁶ bytes of JSON, or of text for pairs) per second, and the speed relative
// to ADK-TS. Contenders with the same semantics must give the same scores to the last bit; a difference stops the run.

import { parseArgs } from "node:util";
import { cpus } from "node:os";
import { baselines } from "./baseline.mjs";
import { allDatasets, allPairs } from "./datasets.mjs";
import { engine } from "./engine.mjs";
import { google } from "./google.mjs";
import { native } from "./native.mjs";
import { ours } from "./ours.mjs";

const SAMPLE_MS = 20;
const WARM_UP_MS = 150;

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    scale: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    beside: { type: "string" },
  },
});
const rounds = Number(options.rounds);

function median(sorted) {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Milliseconds per run: how often to repeat a run so that a sample is long enough, after warming up. */
async function calibrate(run) {
  const start = performance.now();
  let runs = 0;
  let last = 0;
  do {
    const before = performance.now();
    await run();
    last = performance.now() - before;
    runs++;
  } while (performance.now() - start < WARM_UP_MS || runs < 2);
  return Math.max(1, Math.ceil(SAMPLE_MS / last));
}

/** Samples in milliseconds per run, sorted, for each of the named runs in turn. */
async function interleaved(entries) {
  for (const entry of entries) entry.repeats = await calibrate(entry.run);
  for (let round = 0; round < rounds; round++) {
    for (const entry of entries) {
      globalThis.gc?.();
      const start = performance.now();
      for (let i = 0; i < entry.repeats; i++) await entry.run();
      entry.samples.push((performance.now() - start) / entry.repeats);
    }
  }
  for (const entry of entries) entry.samples.sort((a, b) => a - b);
}

/** Throws if two contenders of the same semantics give different scores. */
function requireAgreement(title, scored) {
  const first = new Map();
  for (const { name, semantics, scores } of scored) {
    const other = first.get(semantics);
    if (other === undefined) first.set(semantics, { name, scores });
    else {
      const at = scores.findIndex((score, index) => !Object.is(score, other.scores[index]));
      if (at >= 0)
        throw new Error(`${title}: case ${at} is ${scores[at]} for ${name} and ${other.scores[at]} for ${other.name}`);
    }
  }
}

const microseconds = (milliseconds, cases) => {
  const value = (milliseconds * 1000) / cases;
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

/** `rows`: `{ name, samples (ms per run, sorted), cases, bytes }`; speeds are relative to the first ADK-TS row. */
function printTable(title, unit, rows) {
  const perCase = ({ samples, cases }) => median(samples) / cases;
  const reference = rows.find(({ name }) => name.startsWith("ADK-TS"));
  const width = Math.max(...rows.map(({ name }) => name.length));
  console.log(`\n### ${title}\n`);
  console.log(`| ${"".padEnd(width)} | median, µs per ${unit} | range | MB/s | speed |\n|-|-:|-:|-:|-:|`);
  for (const row of rows) {
    const throughput = row.bytes / 1e6 / (median(row.samples) / 1e3);
    const speed = reference ? `${(perCase(reference) / perCase(row)).toPrecision(3)}×` : "";
    const range = `${microseconds(row.samples[0], row.cases)}–${microseconds(row.samples.at(-1), row.cases)}`;
    console.log(
      `| ${row.name.padEnd(width)} | ${microseconds(median(row.samples), row.cases)} | ${range} | ${throughput.toPrecision(3)} | ${speed} |`,
    );
  }
}

async function benchDataset(dataset, contenders, python, nativeSamples) {
  const serving = contenders.filter(
    ({ metrics }) => metrics === undefined || metrics.includes(dataset.metric.metricName),
  );
  for (const [method, title, pythonSamples] of [
    ["fromBytes", "from bytes", python?.bytes],
    ["fromObjects", "from objects", python?.objects],
  ]) {
    const label = `${dataset.name}, ${title}: ${dataset.cases} cases, ${(dataset.bytes / 1e6).toFixed(1)} MB`;
    const entries = serving
      .filter((contender) => contender[method])
      .map((contender) => ({
        name: contender.name,
        semantics: contender.semantics,
        run: () => contender[method](dataset),
        samples: [],
      }));
    const scored = await Promise.all(
      entries.map(async ({ name, semantics, run }) => ({ name, semantics, scores: await run() })),
    );
    requireAgreement(label, scored);
    await interleaved(entries);
    const rows = entries.map(({ name, samples }) => ({ name, samples, cases: dataset.cases, bytes: dataset.bytes }));
    if (method === "fromBytes" && nativeSamples) {
      rows.push({
        name: "adk-metrics, native",
        samples: nativeSamples,
        cases: dataset.cases,
        bytes: dataset.bytes,
      });
    }
    if (python) {
      const subsetOf = (scores) => scores.slice(0, python.scores.length);
      requireAgreement(label, [
        { name: "google-adk", semantics: "adk-python", scores: python.scores },
        ...scored.map((one) => ({ ...one, scores: subsetOf(one.scores) })),
      ]);
      const samples = pythonSamples.map((seconds) => seconds * 1e3).sort((a, b) => a - b);
      rows.push({
        name: `google-adk ${python.version}, first ${python.subset.cases}`,
        samples,
        cases: python.subset.cases,
        bytes: python.subset.bytes,
      });
    }
    printTable(label, "case", rows);
  }
}

/** What the results of a case keep of memory, in bytes, before anybody looks at them; needs --expose-gc. */
async function benchMemory(dataset, contenders) {
  if (globalThis.gc === undefined) return;
  const used = async () => {
    for (let round = 0; round < 3; round++) {
      await new Promise((done) => setTimeout(done, 20));
      globalThis.gc();
    }
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  console.log(`\n### ${dataset.name}, memory of results of objects\n\n| | bytes per case |\n|-|-:|`);
  for (const { name, results } of contenders.filter(({ results }) => results)) {
    await results(dataset).then(({ evalCaseResults }) => evalCaseResults.length);
    const before = await used();
    const kept = await results(dataset);
    const bytes = (await used()) - before;
    console.log(`| ${name} | ${(bytes / kept.evalCaseResults.length).toFixed(0)} |`);
  }
}

async function benchPairs({ name, pairs, bytes }, contenders) {
  const scorePairs = (pair) => pairs.map(({ reference, candidate }) => pair(reference, candidate));
  const entries = contenders
    .filter(({ pair }) => pair)
    .map((contender) => ({ ...contender, run: () => scorePairs(contender.pair), samples: [] }));
  if (entries.length === 0) return;
  await interleaved(entries);
  printTable(
    `two strings, ${name}`,
    "pair",
    entries.map((entry) => ({ name: entry.name, samples: entry.samples, cases: pairs.length, bytes })),
  );
}

const contenders = [...(await baselines()), ...(await ours()), ...(await engine())];
if (options.beside !== undefined) contenders.push(...(await ours(options.beside)));
const chosen = (list) => list.filter(({ name }) => name.includes(options.only));
const datasets = chosen(allDatasets(Number(options.scale)));
const python = await google(datasets, Math.min(rounds, 5));
const nativeSamples = native(datasets, rounds);
if (contenders.length === 0) {
  console.error("Nothing to compare.");
  process.exit(1);
}

console.log(`Node ${process.version}, ${cpus()[0]?.model ?? "unknown processor"}, ${rounds} rounds`);
for (const [index, dataset] of datasets.entries()) {
  await benchDataset(dataset, contenders, python[index], nativeSamples[index]);
  await benchMemory(dataset, contenders);
}
for (const pairs of chosen(allPairs(Number(options.scale)))) await benchPairs(pairs, contenders);
// ADK-TS keeps timers alive after its import.
process.exit(0);
