// What a vote of five costs by batches, against asking every sample live: calls, batches and price, on a loopback server.
//
// npm run build && node benches/batches.mjs --cases 1000 --agreement 0.9

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BARE, run } from "../tests/cli/command.mjs";
import { at, judged } from "../tests/cli/judging.mjs";
import { evalSetOf, turn } from "../tests/package/support/conversations.mjs";
import { startBatchServer } from "../tests/providers/batches.mjs";

const { values } = parseArgs({
  options: { cases: { type: "string", default: "1000" }, agreement: { type: "string", default: "0.9" } },
});
const [cases, agreement] = [Number(values.cases), Number(values.agreement)];
const SAMPLES = 5;

/** Numbers from 0 to 1 that are the same each time. */
let state = 1;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const reply = () =>
  JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: random() < agreement ? "valid" : "invalid" });

const server = await startBatchServer({ reply, plan: () => ({ looks: 0 }) });
const folder = mkdtempSync(join(tmpdir(), "adk-metrics-batches-"));
try {
  const names = Array.from({ length: cases }, (_, index) => `case-${index}`);
  const set = JSON.stringify(
    evalSetOf(Object.fromEntries(names.map((name) => [name, [turn(`question ${name}`, `answer of ${name}`)]]))),
  );
  writeFileSync(join(folder, "set.evalset.json"), set);
  writeFileSync(join(folder, "set.actual.json"), set);
  writeFileSync(join(folder, "test_config.json"), JSON.stringify(judged({ num_samples: SAMPLES })));
  const args = ["eval", "set.evalset.json", "--model", "gpt-6-luna", "--batch", "--format", "json"];
  const env = { ...BARE, ...at.openai(server) };
  const began = performance.now();
  const { status, stderr } = await run(args, { cwd: folder, env, limitMs: 3_600_000 });
  if (status > 1) throw new Error(stderr);
  const seconds = (performance.now() - began) / 1000;
  const all = cases * SAMPLES;
  const asked = [...server.asked.values()].reduce((sum, times) => sum + times, 0);
  const percent = (share) => `${(100 * share).toFixed(0)}%`;
  console.log(`${cases} questions, ${SAMPLES} samples each, agreement ${agreement}; ${seconds.toFixed(1)} s`);
  console.log(`every sample live:      ${all} calls, price 100%`);
  console.log(`early stopping live:    ${asked} calls, price ${percent(asked / all)}`);
  const sizes = server.batches.map(({ requests }) => requests.length);
  console.log(
    `early stopping, batches: ${asked} calls in ${sizes.length} batches (${sizes.join(", ")}), price ${percent(asked / all / 2)}`,
  );
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
