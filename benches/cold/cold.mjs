// Compares how long a new Node process takes to import a package and score one pair of responses.
//
//   node benches/cold/cold.mjs [--rounds 21]
//
// The contenders take turns (A B A B …). Printed is a Markdown table of medians in milliseconds: the whole process, from
// its start to its end, and the processor time that it used, both of a program as users write it and above those of one of the
// same kind that only prints a number; of a second program, that looks at the clock, the import and the first score. On a
// machine that has other work the processor time says most. ADK-TS comes from tests/adk-ts, autoevals from here; what is
// not installed is left out.

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
const ROUGE = {
  name: "RougeEvaluator",
  score: `(await new RougeEvaluator(${METRIC}).evaluateInvocations(${turn(ACTUAL)}, ${turn(EXPECTED)})).overallScore`,
};
const LEVENSHTEIN = {
  name: "Levenshtein",
  score: `(await Levenshtein(${JSON.stringify({ output: ACTUAL, expected: EXPECTED })})).score`,
};

const CONTENDERS = [
  { name: "adk-metrics, ES module", kind: "mjs", specifier: "adk-metrics", scorer: ROUGE },
  { name: "adk-metrics, CommonJS", kind: "cjs", specifier: "adk-metrics", scorer: ROUGE },
  { name: "ADK-TS, ES module", kind: "mjs", specifier: "@iqai/adk", scorer: ROUGE },
  { name: "ADK-TS, CommonJS", kind: "cjs", specifier: "@iqai/adk", scorer: ROUGE },
  { name: "autoevals (`Levenshtein`), ES module", kind: "mjs", specifier: "autoevals", scorer: LEVENSHTEIN },
  { name: "autoevals (`Levenshtein`), CommonJS", kind: "cjs", specifier: "autoevals", scorer: LEVENSHTEIN },
];
const PACKAGES = {
  "adk-metrics": new URL("../../pkg", import.meta.url),
  "@iqai/adk": new URL("../../tests/adk-ts/node_modules/@iqai/adk", import.meta.url),
  autoevals: new URL("node_modules/autoevals", import.meta.url),
};

/** Prints the processor time in milliseconds. */
const PROCESSOR = `{
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ processor: (user + system) / 1000 }));
}`;

/** A program that prints a score as users would write it. */
function plainProgram({ kind, specifier, scorer: { name, score } }) {
  return kind === "mjs"
    ? `import { ${name} } from "${specifier}"; console.log(${score}); ${PROCESSOR}`
    : `const { ${name} } = require("${specifier}"); (async () => { console.log(${score}); ${PROCESSOR} })();`;
}

/** A program that prints what the import took, and what the score took. */
function timedProgram({ kind, specifier, scorer: { name, score } }) {
  return `(async () => {
    const start = performance.now();
    const { ${name} } = ${kind === "mjs" ? `await import("${specifier}")` : `require("${specifier}")`};
    const imported = performance.now();
    const score = ${score};
    console.log(JSON.stringify({ load: imported - start, score, first: performance.now() - imported }));
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
    { name: "nothing, ES module", kind: "mjs", text: `console.log(0.5); ${PROCESSOR} export {};` },
    { name: "nothing, CommonJS", kind: "cjs", text: `console.log(0.5); ${PROCESSOR}` },
    ...contenders.map((contender) => ({ ...contender, text: plainProgram(contender), timed: timedProgram(contender) })),
  ].map((program, index) => {
    const [file, timedFile] = ["", "-timed"].map((mark) => join(folder, `${index}${mark}.${program.kind}`));
    writeFileSync(file, program.text);
    if (program.timed !== undefined) writeFileSync(timedFile, program.timed);
    return { ...program, files: program.timed === undefined ? [file] : [file, timedFile], samples: [] };
  });
  // What the plain program says of the whole process stands over what the timed one does.
  const measuredAll = ({ files }) => Object.assign({}, ...files.map(measured).reverse());
  for (const program of programs) measuredAll(program);
  for (let round = 0; round < rounds; round++) {
    for (const program of programs) program.samples.push(measuredAll(program));
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
