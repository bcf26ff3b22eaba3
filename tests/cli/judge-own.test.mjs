// Judges of the user's own: modules that the command line loads.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { baseUrl } from "../providers/server.mjs";
import { BARE, folderOf, run } from "./command.mjs";
import { ask, FAIR, FILES, judge, judged, server, statuses } from "./judging.mjs";

/** A judge of the user's own: a module, whose function finds the answer of `late` wrong. */
const OWN = `
const verdict = (is) => ({ text: JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: is }) });
export const fair = async ({ prompt }) => verdict(prompt.includes("I do not know.") ? "invalid" : "valid");
export const lenient = async () => verdict("valid");
export const limit = 3;
export { fair as judge };
console.log("loaded");
`;

test("asks a judge of your own by its module", async (t) => {
  const cwd = folderOf(t, {
    ...FILES,
    "judge.mjs": OWN,
    "default.mjs": `export { fair as default } from "./judge.mjs";`,
  });
  for (const module of ["./judge.mjs", "judge.mjs", "./default.mjs", "judge.mjs#fair", "judge.mjs:fair"]) {
    const { status, stdout, stderr } = await judge(cwd, ["--judge", module], {});
    assert.equal(status, 1, stderr);
    assert.deepEqual(statuses(stdout), FAIR, module);
    assert.match(stderr, /^loaded$/m);
  }
  const picked = await judge(cwd, ["--judge", "./judge.mjs#lenient"], {});
  assert.deepEqual([picked.status, statuses(picked.stdout)], [0, { noon: 1, late: 1 }]);
});

test("names a judge of your own in reports by its module, or by the model that it asks", async (t) => {
  const { url } = await server(t);
  const openai = `import { openaiJudge } from ${JSON.stringify(new URL("../../pkg/dist/esm/node.js", import.meta.url).href)};
export default openaiJudge({ model: "gpt-own", apiKey: "k", baseUrl: ${JSON.stringify(baseUrl(url, "openai"))} });`;
  const cwd = folderOf(t, { ...FILES, "judge.mjs": OWN, "openai.mjs": openai });
  const own = await run([...ask, "--judge", "./judge.mjs"], { cwd, env: BARE });
  assert.match(own.stdout, /judged by .*judge\.mjs/);
  const picked = await run([...ask, "--judge", "./judge.mjs#lenient"], { cwd, env: BARE });
  assert.match(picked.stdout, /judged by .*judge\.mjs#lenient/);
  const known = await run([...ask, "--judge", "./openai.mjs"], { cwd, env: BARE });
  assert.match(known.stdout, /judged by .*gpt-own/);
});

test("records the replies of a judge of your own", async (t) => {
  const cwd = folderOf(t, { ...FILES, "judge.mjs": OWN });
  const recorded = await judge(cwd, ["--judge", "./judge.mjs", "--record", "judge.jsonl"], {});
  assert.match(recorded.stderr, /^recorded judge\.jsonl$/m);
  const replayed = await judge(cwd, ["--judge", "replay:judge.jsonl"], {});
  assert.deepEqual(statuses(replayed.stdout), FAIR);
});

test("a judge that gives nothing ends as one that throws does", async (t) => {
  const code = `export const silent = async () => {}; export const empty = () => ({ verdict: "valid" });
    export const broken = () => { throw new Error("no"); };`;
  const cwd = folderOf(t, { ...FILES, "judge.mjs": code });
  for (const name of ["silent", "empty", "broken"]) {
    const { status, stderr } = await judge(cwd, ["--judge", `./judge.mjs#${name}`], {});
    assert.equal(status, 3, name);
    assert.match(stderr, /^error: no call of the judge got a reply: /m);
  }
});

for (const [what, args, words] of [
  ["there is no such module", ["./none.mjs"], /the module of the judge does not exist\n.*none\.mjs/],
  ["the module holds no judge", ["./empty.mjs"], /the module exports no judge\n.*empty\.mjs\n.*openaiJudge\(\).*limit/],
  [
    "it does not export the one that is named",
    ["./judge.mjs#strict"],
    /does not export `strict`\n.*\n.*fair, judge, lenient, limit/,
  ],
  ["what is named is no judge", ["./judge.mjs#limit"], /the export `limit` is not a judge/],
  [
    "a model is named too",
    ["./judge.mjs", "--model", "gemini-2.5-pro"],
    /--model has no effect on your own judge: its module decides which model it asks/,
  ],
  ["its code fails", ["./broken.mjs"], /the module of the judge cannot be loaded: Error: oh no/],
]) {
  test(`says what to do about a judge of your own if ${what}`, async (t) => {
    const files = {
      "judge.mjs": OWN,
      "empty.mjs": "export const limit = 1;",
      "broken.mjs": "throw new Error('oh no');",
    };
    const { status, stderr } = await judge(folderOf(t, { ...FILES, ...files }), ["--judge", ...args], {});
    assert.equal(status, 2);
    assert.match(stderr, words);
  });
}

test("loads no judge's module that a config or a .env names", async (t) => {
  const code =
    "import { writeFileSync } from 'node:fs'; writeFileSync('loaded', ''); export default () => ({ text: '' });";
  const config = { ...judged({ judge_model: "./judge.mjs" }), judge: "./judge.mjs" };
  const env = { "judge.mjs": code, ".env": "ADK_METRICS_JUDGE=./judge.mjs\n" };
  const cwd = folderOf(t, { ...FILES, ...env, "test_config.json": config });
  const { status } = await judge(cwd, [], {});
  assert.equal(status, 2);
  assert.equal(existsSync(join(cwd, "loaded")), false);
});

test("keeps the module of the judge from being overwritten", async (t) => {
  const cwd = folderOf(t, { ...FILES, "judge.mjs": OWN });
  const { status, stderr } = await judge(cwd, ["--judge", "./judge.mjs", "--output", "judge.mjs", "--force"], {});
  assert.equal(status, 2);
  assert.match(stderr, /the output would overwrite the module of the judge/);
});
