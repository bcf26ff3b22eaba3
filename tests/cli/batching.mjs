// What the tests of batches share: cases, a judge with an opinion of them, and what is left of a command.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { startBatchServer } from "../providers/batches.mjs";
import { BARE, folderOf, run } from "./command.mjs";
import { at, judged, KEY, MODELS, server as liveServer } from "./judging.mjs";

/** Cases that each ask up to five questions. */
export function filesOf(count, options = {}) {
  const names = Array.from({ length: count }, (_, index) => `case-${index}`);
  const set = evalSetOf(
    Object.fromEntries(names.map((name) => [name, [turn(`question ${name}.`, `answer of ${name}.`)]])),
  );
  const config = judged({ num_samples: 5, ...options });
  const files = { "many.evalset.json": set, "many.actual.json": set, "test_config.json": config };
  return Object.fromEntries(Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)]));
}

export const verdict = (isValid) =>
  JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: isValid ? "valid" : "invalid" });

/** A judge that finds every third answer wrong, and whose first sample of every fifth says the opposite. */
function opinion() {
  const samples = new Map();
  return ({ prompt }) => {
    const number = Number(/question case-(\d+)\./.exec(prompt)[1]);
    const sample = samples.get(number) ?? 0;
    samples.set(number, sample + 1);
    return verdict((number % 3 !== 0) !== (number % 5 === 0 && sample === 0));
  };
}

export const EVAL = ["eval", "many.evalset.json", "--format", "json"];
export const BATCH = [...EVAL, "--batch", "--batch-poll", "0.01", "--cache", "replies"];

/** What of results does not depend on how the judge was asked. */
export function scoresIn(stdout) {
  return JSON.parse(stdout).eval_case_results.map(({ eval_id, final_eval_status, overall_eval_metric_results }) => {
    return [
      eval_id,
      final_eval_status,
      overall_eval_metric_results.map(({ score, eval_status }) => [score, eval_status]),
    ];
  });
}

export async function live(t, provider, count, options) {
  const answering = await liveServer(t, { reply: opinion() });
  const cwd = folderOf(t, filesOf(count, options));
  const { stdout, stderr } = await run([...EVAL, "--model", MODELS[provider]], {
    cwd,
    env: { ...BARE, ...at[provider](answering) },
  });
  assert.ok(stdout !== "", stderr);
  return { scores: scoresIn(stdout), calls: answering.requests.length };
}

export async function batchServer(t, options = {}) {
  const started = await startBatchServer({ reply: opinion(), ...options });
  t.after(() => started.close());
  return started;
}

export const filesIn = (folder) =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()) : [];

/** Runs the command with batches in a folder. */
export const ask = (cwd, answering, provider, args = BATCH, limitMs = undefined) =>
  run([...args, "--model", MODELS[provider]], { cwd, env: { ...BARE, ...at[provider](answering) }, limitMs });

/** No key is in any file of a folder. */
export function assertNoKeys(folder) {
  for (const one of filesIn(folder)) {
    const path = join(one.parentPath ?? one.path, one.name);
    assert.ok(!readFileSync(path, "utf8").includes(KEY), path);
  }
}

/** The scores that the judge comes to in the end, whatever goes wrong on the way. */
export const RIGHT = (count) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`case-${at}`, at % 3 === 0 ? 2 : 1]));
export const statusesIn = (stdout) => Object.fromEntries(scoresIn(stdout).map(([id, status]) => [id, status]));
