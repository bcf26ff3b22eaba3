// Compares ADK-TS, js-rouge, google-adk and this project's package over the same data, in one process.
//
//   node benches/js/bench.mjs [--rounds 9] [--scale 1] [--only <part of a dataset's name>]
//                             [--contenders <part of their names>]… [--beside <another pkg/>] [--processor]
//   ADK_PYTHON=/path/to/python node benches/js/bench.mjs     adds google-adk
//
// The contenders take turns (A B A B …), so that heat and frequency changes meet all of them alike. A sample is a whole
// run over the dataset, repeated until it lasts 20 ms. Printed are Markdown tables: the median over the samples with its
// range, both per case, the throughput in MB (10⁶ bytes of JSON, or of text for pairs) per second, and the speed relative
// to ADK-TS. Contenders with the same semantics must give the same scores to the last bit; a difference stops the run.
// With another build, a column has the time relative to it: the median over the rounds of the ratio in each.

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
    contenders: { type: "string", multiple: true, default: [""] },
    beside: { type: "string" },
    processor: { type: "boolean", default: false },
  },
});
const rounds = Number(options.rounds);

/** Milliseconds: of the clock, or of the processor for all threads of this process, which others do not slow down as much. */
function now() {
  if (!options.processor) return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How often to repeat a run so that a sample is long enough, after warming up. */
async function calibrate(run) {
  const start = now();
  let runs = 0;
  let last = 0;
  do {
    const before = now();
    await run();
    last = now() - before;
    runs++;
  } while (now() - start < WARM_UP_MS || runs < 2);
  return Math.max(1, Math.ceil(SAMPLE_MS / last));
}

/** Samples in milliseconds per run, one of each round, for each of the named runs in turn. */
async function interleaved(entries) {
  for (const entry of entries) entry.repeats = await calibrate(entry.run);
  for (let round = 0; round < rounds; round++) {
    for (const entry of entries) {
      globalThis.gc?.();
      const start = now();
      for (let i = 0; i < entry.repeats; i++) await entry.run();
      entry.samples.push((now() - start) / entry.repeats);
    }
  }
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

/** `rows`: `{ name, samples (ms per run), cases, bytes }`; speeds are relative to the first ADK-TS row. */
function printTable(title, unit, rows) {
  const perCase = ({ samples, cases }) => median(samples) / cases;
  const reference = rows.find(({ name }) => name.startsWith("ADK-TS"));
  const width = Math.max(...rows.map(({ name }) => name.length));
  console.log(`\n### ${title}\n`);
  const [besides, rule] = options.beside === undefined ? ["", ""] : [" of the other build |", "-:|"];
  console.log(
    `| ${"".padEnd(width)} | median, µs per ${unit} | range | MB/s | speed |${besides}\n|-|-:|-:|-:|-:|${rule}`,
  );
  for (const row of rows) {
    const throughput = row.bytes / 1e6 / (median(row.samples) / 1e3);
    const speed = reference ? `${(perCase(reference) / perCase(row)).toPrecision(3)}×` : "";
    const [least, most] = [Math.min(...row.samples), Math.max(...row.samples)];
    const range = `${microseconds(least, row.cases)}–${microseconds(most, row.cases)}`;
    const other = rows.find(({ of }) => of !== undefined && of === row.name);
    const ratio = other && median(row.samples.map((sample, round) => sample / other.samples[round])).toFixed(2);
    const last = options.beside === undefined ? "" : ` ${ratio ?? ""} |`;
    console.log(
      `| ${row.name.padEnd(width)} | ${microseconds(median(row.samples), row.cases)} | ${range} | ${throughput.toPrecision(3)} | ${speed} |${last}`,
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
        of: contender.of,
        semantics: contender.semantics,
        run: () => contender[method](dataset),
        samples: [],
      }));
    const scored = await Promise.all(
      entries.map(async ({ name, semantics, run }) => ({ name, semantics, scores: await run() })),
    );
    requireAgreement(label, scored);
    await interleaved(entries);
    const { cases, bytes } = dataset;
    const rows = entries.map(({ name, of, samples }) => ({ name, of, samples, cases, bytes }));
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
      const samples = pythonSamples.map((seconds) => seconds * 1e3);
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
    entries.map(({ name, of, samples }) => ({ name, of, samples, cases: pairs.length, bytes })),
  );
}

const all = [...(await baselines()), ...(await ours()), ...(await engine())];
if (options.beside !== undefined) {
  const own = await ours();
  // Contenders of another build stand beside ours of the same kind, which come in the same order.
  all.push(...(await ours(options.beside)).map((contender, at) => ({ ...contender, of: own[at].name })));
}
const isWanted = (name) => options.contenders.some((part) => name.includes(part));
const contenders = all.filter(({ name }) => isWanted(name));
const chosen = (list) => list.filter(({ name }) => name.includes(options.only));
const datasets = chosen(allDatasets(Number(options.scale)));
const python = await google(datasets, Math.min(rounds, 5));
// It measures its own time by the clock.
const isNative = !options.processor && isWanted("adk-metrics, native");
const nativeSamples = isNative ? native(datasets, rounds) : [];
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
