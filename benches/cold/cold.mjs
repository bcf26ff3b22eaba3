// Compares how long a new Node process takes to import a package and score one pair of responses.
//
//   node benches/cold/cold.mjs [--rounds 21]
//
// The contenders take turns (A B A B …). Printed is a Markdown table of medians in milliseconds: the whole process, from
// its start to its end, and the processor time that it used, both above those of an empty program of the same kind; within
// it, the import and the first score. On a machine that has other work the processor time says most. ADK-TS comes from
// tests/adk-ts, autoevals from here; what is not installed is left out.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "21" } } });
const rounds = Number(values.rounds);

const EXPECTED = "The weather in London is sunny";
const ACTUAL = "It's sunny in London today";
const turn = (text) =>
  `[{ invocationId: "1", userContent: { parts: [{ text: "Weather?" }] }, finalResponse: { role: "model", parts: [{ text: ${JSON.stringify(text)} }] } }]`;
const METRIC = '{ metricName: "response_match_score", threshold: 0.5 }';
const ROUGE = `(await new all.RougeEvaluator(${METRIC}).evaluateInvocations(${turn(ACTUAL)}, ${turn(EXPECTED)})).overallScore`;
const LEVENSHTEIN = `(await all.Levenshtein(${JSON.stringify({ output: ACTUAL, expected: EXPECTED })})).score`;

const CONTENDERS = [
  { name: "adk-metrics, ES module", kind: "mjs", specifier: "adk-metrics", score: ROUGE },
  { name: "adk-metrics, CommonJS", kind: "cjs", specifier: "adk-metrics", score: ROUGE },
  { name: "ADK-TS, ES module", kind: "mjs", specifier: "@iqai/adk", score: ROUGE },
  { name: "ADK-TS, CommonJS", kind: "cjs", specifier: "@iqai/adk", score: ROUGE },
  { name: "autoevals (`Levenshtein`), ES module", kind: "mjs", specifier: "autoevals", score: LEVENSHTEIN },
  { name: "autoevals (`Levenshtein`), CommonJS", kind: "cjs", specifier: "autoevals", score: LEVENSHTEIN },
];
const PACKAGES = {
  "adk-metrics": new URL("../../pkg", import.meta.url),
  "@iqai/adk": new URL("../../tests/adk-ts/node_modules/@iqai/adk", import.meta.url),
  autoevals: new URL("node_modules/autoevals", import.meta.url),
};

/** Prints what was measured and the processor time in milliseconds, as the last line. */
const REPORT = `((found) => {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ ...found, processor: (user + system) / 1000 }));
})`;

/** A program that tells what the import took, the score, and what the score took. */
function programOf({ kind, specifier, score }) {
  const load = kind === "mjs" ? `await import("${specifier}")` : `require("${specifier}")`;
  return `(async () => {
    const start = performance.now();
    const all = ${load};
    const imported = performance.now();
    const score = ${score};
    ${REPORT}({ load: imported - start, score, first: performance.now() - imported });
  })();`;
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

function measured(file) {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  const whole = performance.now() - start;
  if (status !== 0) throw new Error(stderr);
  return { whole, ...JSON.parse(stdout.trim().split("\n").at(-1)) };
}

const folder = mkdtempSync(join(tmpdir(), "adk-metrics-cold-"));
try {
  for (const [name, address] of Object.entries(PACKAGES)) {
    if (!existsSync(address)) continue;
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(fileURLToPath(address), link, "junction");
  }
  const contenders = CONTENDERS.filter(({ name, specifier }) => {
    const isThere = existsSync(PACKAGES[specifier]);
    if (!isThere) console.error(`${name} is left out: ${fileURLToPath(PACKAGES[specifier])} does not exist`);
    return isThere;
  });
  const programs = [
    { name: "nothing, ES module", kind: "mjs", text: `${REPORT}({}); export {};` },
    { name: "nothing, CommonJS", kind: "cjs", text: `${REPORT}({});` },
    ...contenders.map((contender) => ({ ...contender, text: programOf(contender) })),
  ].map((program, index) => ({ ...program, file: join(folder, `${index}.${program.kind}`), samples: [] }));
  for (const { file, text } of programs) writeFileSync(file, text);
  for (const { file } of programs) measured(file);
  for (let round = 0; round < rounds; round++) {
    for (const { file, samples } of programs) samples.push(measured(file));
  }

  const of = (program, what) => median(program.samples.map((sample) => sample[what]));
  const empty = { mjs: programs[0], cjs: programs[1] };
  console.log(`Node ${process.version}, ${cpus()[0].model}, ${rounds} rounds\n`);
  console.log("| a program that scores one pair with | process, ms | processor, ms | import | first score |");
  console.log("| - | -: | -: | -: | -: |");
  for (const program of programs) {
    const figures = program.specifier
      ? [
          ...["whole", "processor"].map((what) => of(program, what) - of(empty[program.kind], what)),
          ...["load", "first"].map((what) => of(program, what)),
        ].map((ms, index) => (index < 2 ? "+" : "") + ms.toFixed(1))
      : [of(program, "whole").toFixed(1), of(program, "processor").toFixed(1), "–", "–"];
    console.log(`| ${[program.name, ...figures].join(" | ")} |`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
