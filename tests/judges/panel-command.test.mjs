// Panels on the command line: judges of one's own that vote, and several models of a criterion.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BARE, folderOf, run } from "../cli/command.mjs";
import { ask, at, FILES, judged, server, statuses } from "../cli/judging.mjs";

const entry = JSON.stringify(new URL("../../pkg/dist/esm/node.js", import.meta.url).href);
/** A panel of which the first judge finds everything wrong, and the others find it right. */
const PANEL = `
import { appendFileSync } from "node:fs";
import { panelJudge } from ${entry};
const verdict = (name, is) => {
  appendFileSync("asked.txt", name);
  return JSON.stringify({ is_the_agent_response_valid: is });
};
async function a() { return verdict("a", "invalid"); }
async function b() { return verdict("b", "valid"); }
async function c() { return verdict("c", "valid"); }
export default panelJudge([a, b, c]);
`;
const MODELS = ["gpt-4.1-mini", "gpt-4.1"];
const PRICES = ["--price", `${MODELS.join(", ")}=1,2`];
const several = { ...FILES, "test_config.json": judged({ judge_models: MODELS }) };
const RIGHT = { noon: 1, late: 1 };
const json = ["--format", "json"];

test("a panel of one's own votes, and merged journals have its verdicts", async (t) => {
  const cwd = folderOf(t, { ...FILES, "panel.mjs": PANEL });
  const own = ["--judge", "./panel.mjs", ...json];
  const voted = await run([...ask, ...own, "--journal", "j.jsonl", "--output", "whole.json"], { cwd, env: BARE });
  assert.equal(voted.status, 0, voted.stderr);
  assert.equal([...readFileSync(join(cwd, "asked.txt"), "utf8")].sort().join(""), "aabbcc");
  const merged = await run(["merge", "j.jsonl", ...json, "--output", "merged.json"], { cwd, env: BARE });
  assert.equal(merged.status, 0, merged.stderr);
  const [whole, whatMerged] = ["whole.json", "merged.json"].map((file) => readFileSync(join(cwd, file), "utf8"));
  assert.deepEqual(statuses(whole), RIGHT);
  assert.equal(whatMerged, whole);
  writeFileSync(join(cwd, "asked.txt"), "");
  const dry = await run([...ask, "--judge", "./panel.mjs", "--dry-run"], { cwd, env: BARE });
  assert.match(dry.stdout, /in total\n.*at least: +4 calls.*\n.*\n.*at most: +6 calls/, dry.stderr);
  assert.equal(readFileSync(join(cwd, "asked.txt"), "utf8"), "", "nobody is asked in a dry run");
});

test("one model is refused in place of those that a criterion names", async (t) => {
  const answering = await server(t);
  const cwd = folderOf(t, several);
  const { status, stderr } = await run([...ask, "--model", "gpt-4.1"], {
    cwd,
    env: { ...BARE, ...at.openai(answering) },
  });
  assert.equal(status, 2, stderr);
  assert.match(
    stderr,
    /the judge asks gpt-4.1, but `judge_models` lists several models\n.*\n.*Remove the judge's `model` \(on the command line, --model\), or create the panel in code with panelJudge\(\[…\]\)/,
  );
  assert.equal(answering.requests.length, 0);
});

test("the variable that is named is that of the server whose failure is told", async (t) => {
  const page = await server(t, { reply: () => ({ fault: "html" }) });
  const models = { openai: "gpt-4.1", gemini: "gemini-3.5-flash-lite", anthropic: "claude-haiku-4-5" };
  const variables = { openai: "OPENAI_BASE_URL", gemini: "GOOGLE_GEMINI_BASE_URL", anthropic: "ANTHROPIC_BASE_URL" };
  const env = { ...BARE, ...at.openai(page), ...at.gemini(page), ...at.anthropic(page) };
  const providers = Object.keys(models);
  for (const names of [providers, providers.toReversed()]) {
    const cwd = folderOf(t, {
      ...FILES,
      "test_config.json": judged({ judge_models: names.map((name) => models[name]) }),
    });
    const { status, stderr } = await run([...ask, "--concurrency", "1"], { cwd, env });
    assert.equal(status, 3, stderr);
    const told = page.requests.at(-1).provider;
    assert.match(
      stderr,
      /error: no call of the judge got a reply: The server .* answered with something other than JSON/,
    );
    assert.match(stderr, new RegExp(`help: A web page answered: check ${variables[told]}`), told);
    assert.doesNotMatch(stderr, /error: .*A web page answered/, "the advice is given once");
  }
});

test("a dry run has the price of a panel that the run has, and leaves out replies that are kept", async (t) => {
  const answering = await server(t, { reply: () => JSON.stringify({ is_the_agent_response_valid: "valid" }) });
  const cwd = folderOf(t, several);
  const env = { ...BARE, ...at.openai(answering) };
  const dry = async (more) => await run([...ask, "--dry-run", ...more], { cwd, env });
  const priced = await dry(PRICES);
  assert.match(priced.stdout, /in total\n.*at least: +2 calls.*cost/);
  assert.doesNotMatch(priced.stderr, /leaves out/);
  const members = await dry(["--price", "gpt-4.1-mini=1,2", "--price", "gpt-4.1=1,2"]);
  assert.doesNotMatch(members.stderr, /leaves out/);
  const costs = [priced, members].map(({ stdout }) => /in total\n.*at least: .* cost ([\d.]+)/.exec(stdout)[1]);
  assert.equal(costs[0], costs[1]);
  const unpriced = await dry(["--price", "gpt-4.1-mini=1,2"]);
  assert.match(unpriced.stderr, /the cost does not include gpt-4.1, for which there is no --price/);
  const ran = await run([...ask, "--cache", "kept", ...PRICES], { cwd, env });
  assert.doesNotMatch(ran.stderr, /--price/);
  assert.equal(answering.requests.length, 4);
  const kept = await dry(["--cache", "kept"]);
  assert.match(kept.stdout, /no judge would be called/);
});

test("a recorded panel votes again when it is replayed", async (t) => {
  const cwd = folderOf(t, { ...FILES, "panel.mjs": PANEL });
  const recorded = await run([...ask, "--judge", "./panel.mjs", ...json, "--record", "r.jsonl"], { cwd, env: BARE });
  assert.deepEqual(statuses(recorded.stdout), RIGHT);
  const replayed = await run([...ask, "--judge", "replay:r.jsonl", ...json], { cwd, env: BARE });
  assert.deepEqual(statuses(replayed.stdout), RIGHT);
  const [one, other] = [recorded, replayed].map(({ stdout }) => JSON.parse(stdout).judges);
  assert.deepEqual(one[0].panel, ["a", "b", "c"]);
  assert.deepEqual(other, one);
});

test("no cache keeps the replies of a panel of functions", async (t) => {
  const cwd = folderOf(t, { ...FILES, "panel.mjs": PANEL });
  const { status, stderr } = await run([...ask, "--judge", "./panel.mjs", "--cache", "kept"], { cwd, env: BARE });
  assert.equal(status, 2, stderr);
  assert.match(stderr, /--cache cannot keep the replies of a function/);
  assert.match(stderr, /Give each function of the panel a version \(here a, b, c\)/);
  // A version of the panel itself would change nothing.
  const partly = PANEL.replace("[a, b, c]", '[Object.assign(a, { cacheVersion: "1" }), b, c]');
  writeFileSync(join(cwd, "panel.mjs"), partly);
  const other = await run([...ask, "--judge", "./panel.mjs", "--cache", "kept"], { cwd, env: BARE });
  assert.match(other.stderr, /\(here b, c\)[^]*Object\.assign\(b, \{ cacheVersion: "1" \}\)/);
});
