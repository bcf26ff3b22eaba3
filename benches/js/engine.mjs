// The engine in WebAssembly without the package around it, as a contender: what the native engine does, and no more. Results
// stay in the engine's memory as columns; only the scores are taken, to see that they are right.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const sources = new URL("../../pkg-template/src/", import.meta.url);

/** As many case results as a step of a long run of the package takes. */
const CASES_PER_STEP = 512;

/** The engine as a contender; empty before it is built. */
export async function engine() {
  const wasm = new URL("generated/adk_metrics.wasm", sources);
  if (!existsSync(wasm)) return [];
  const { EvalRunReader, initSync } = await import(new URL("generated/adk_metrics.js", sources));
  const { CASE_TURNS, NUMBERS_PER_CASE, readColumns, runOptions, STEP_FINISHED } = await ofPackage();
  const { memory } = initSync({ module: readFileSync(wasm) });
  const encoder = new TextEncoder();
  const options = runOptions({ explain: "none" });
  return [
    {
      name: "adk-metrics, engine alone",
      semantics: "adk-python",
      fromBytes({ evalSetBytes, actualBytes, metric: { metricName, threshold } }) {
        const config = encoder.encode(JSON.stringify({ criteria: { [metricName]: threshold } }));
        const reader = new EvalRunReader(evalSetBytes, actualBytes, config, options);
        let run;
        while (run === undefined) run = reader.step();
        reader.free();
        const { metrics } = run.header();
        const scores = [];
        for (let isFinished = false; !isFinished;) {
          const table = run.poll(0, CASES_PER_STEP);
          // Memory may have grown, and have another buffer then.
          const { cases, next, scores: slots } = readColumns(memory.buffer, table);
          // Of each case the metrics of the conversation come first, then those of each turn.
          for (let place = 0, slot = 0; place < cases.length; place += NUMBERS_PER_CASE) {
            scores.push(slots[slot]);
            slot += metrics.length * (1 + cases[place + CASE_TURNS]);
          }
          isFinished = next === STEP_FINISHED;
        }
        run.free();
        return scores;
      },
    },
  ];
}

/** What the package itself uses to speak with the engine. */
async function ofPackage() {
  const contents = `export * from "./generated/columns.js"; export { runOptions } from "./run/options.js";`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(sources) },
    bundle: true,
    format: "esm",
    platform: "node",
    write: false,
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}
