// What a journal adds to a judged evaluation: the same evaluation with and without one, in turns, asked of a provider on loopback
// in a process of its own, which answers at once. It measures the processor's time, which other programs do not change. Run it after `npm run build`: node benches/journal.mjs

import { fork } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { baseUrl, startServer } from "../tests/providers/server.mjs";
import { manyCases } from "../tests/package/support/conversations.mjs";
import { importEntry } from "../tests/package/support/package.mjs";

const CASES = Number(process.env.CASES ?? 500);
const ROUNDS = Number(process.env.ROUNDS ?? 7);

if (process.send !== undefined) {
  const text = JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: "valid" });
  const server = await startServer({ reply: () => text });
  process.send(server.url);
} else {
  const provider = fork(fileURLToPath(import.meta.url));
  const url = await new Promise((resolve) => provider.once("message", resolve));
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-bench-"));
  try {
    await measure(url, folder);
  } finally {
    provider.kill();
    rmSync(folder, { recursive: true });
  }
}

async function measure(url, folder) {
  const { evaluate, fileJournal, openaiJudge } = await importEntry();
  const evalSet = manyCases(CASES);
  const judge = openaiJudge({ apiKey: "none", model: "gpt-6-luna", baseUrl: baseUrl(url, "openai") });
  const criteria = { final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 3 } } };
  const times = { without: [], with: [], again: [] };
  let size = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const file = join(folder, `${round}.jsonl`);
    for (const which of ["without", "with", "again"]) {
      const journal = which === "without" ? undefined : fileJournal(file);
      const began = process.cpuUsage();
      await evaluate({ evalSet, actual: evalSet, criteria, judge, ...(journal && { journal }) });
      const { user, system } = process.cpuUsage(began);
      const took = (user + system) / 1000;
      journal?.close();
      // The first round warms up.
      if (round > 0) times[which].push(took);
    }
    size = statSync(file).size;
  }
  const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
  const [without, journaled, again] = [times.without, times.with, times.again].map(median);
  const ms = (time) => `${time.toFixed(0)} ms`;
  const more = (100 * (journaled / without - 1)).toFixed(1);
  console.log(`${CASES} cases, 2 calls each, median of ${ROUNDS} rounds`);
  console.log(`without a journal   ${ms(without)}`);
  console.log(`with one            ${ms(journaled)} (${more}% more), ${(size / 2 / CASES).toFixed(0)} bytes a call`);
  console.log(`once more from it   ${ms(again)}`);
}
