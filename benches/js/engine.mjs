// The engine in WebAssembly without the package around it, as a contender: what the native engine does, and no more. Results
// stay in the engine's memory as columns; only the scores are taken, to see that they are right.

import { existsSync, readFileSync } from "node:fs";

const generated = new URL("../../pkg-template/src/generated/", import.meta.url);

/** As many case results as a step of a long run of the package takes. */
const CASES_PER_STEP = 512;

/** Where the table of a batch says that the run is over, and where its cases and scores are: `src/wasm/batch.rs`. */
const [FINISHED, CASES, SCORES] = [1, 2, 12];

/** How many numbers the engine has of a case, and which of them says how many turns it has. */
const [NUMBERS_A_CASE, TURNS] = [5, 3];

/** The engine as a contender; empty before it is built. */
export async function engine() {
  const wasm = new URL("adk_metrics.wasm", generated);
  if (!existsSync(wasm)) return [];
  const { EvalRunReader, initSync } = await import(new URL("adk_metrics.js", generated));
  const { memory } = initSync({ module: readFileSync(wasm) });
  const encoder = new TextEncoder();
  const options = { dialect: "adk-python", explain: "none", concurrency: 8 };
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
          // Memory may grow, and have another buffer then.
          const at = run.poll(0, CASES_PER_STEP);
          const table = new Float64Array(memory.buffer, at, SCORES + 2);
          const cases = new Uint32Array(memory.buffer, table[CASES], table[CASES + 1]);
          const slots = new Float64Array(memory.buffer, table[SCORES], table[SCORES + 1]);
          // Of each case the metrics of the conversation come first, then those of each turn.
          for (let place = 0, slot = 0; place < cases.length; place += NUMBERS_A_CASE) {
            scores.push(slots[slot]);
            slot += metrics.length * (1 + cases[place + TURNS]);
          }
          isFinished = table[FINISHED] === 1;
        }
        run.free();
        return scores;
      },
    },
  ];
}
