// Where the command line finds an agent in a module, and what it says of modules without one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { folderOf, run } from "./command.mjs";
import { BOTH, FILES, json, runAgent, statuses } from "./running.mjs";

const ANSWER = "(message) => 'It is noon.'";
const AGENTS = {
  default: ["agent.mjs", `export default ${ANSWER};`],
  agent: ["agent.mjs", `export const agent = ${ANSWER}; export const other = 1;`],
  rootAgent: ["agent.mjs", `export const rootAgent = ${ANSWER};`],
  root_agent: ["agent.mjs", `export const root_agent = ${ANSWER};`],
  "of CommonJS": ["agent.cjs", `module.exports = ${ANSWER};`],
  "of CommonJS by name": ["agent.cjs", `exports.agent = ${ANSWER};`],
  "of an object of CommonJS": ["agent.cjs", `const all = { agent: ${ANSWER} }; module.exports = all;`],
  "in a promise": ["agent.mjs", `export default Promise.resolve(${ANSWER});`],
  "made by a function": ["agent.mjs", `export const agent = () => ${ANSWER};`],
  "made by an async function": ["agent.mjs", `export default async () => ${ANSWER};`],
  "without parameters": ["agent.mjs", "export default async () => 'It is noon.';"],
  "that generates": ["agent.mjs", "export default async function* () { yield 'It is'; yield ' noon.'; }"],
  "by its name after #": ["agent.mjs#mine", `export default 1; export const mine = ${ANSWER};`],
  "in a folder": [".", `export default ${ANSWER};`],
};

for (const [name, [agent, code]] of Object.entries(AGENTS)) {
  test(`finds an agent ${name}`, async (t) => {
    const file = agent === "." ? "agent.mjs" : agent.replace(/#.*/, "");
    const cwd = folderOf(t, { ...FILES, [file]: code });
    const outcome = await run(["run", "--agent", agent, "clock.evalset.json", "--num-runs", "1", ...json], { cwd });
    assert.equal(outcome.status, 1, outcome.stderr);
    assert.deepEqual(statuses(outcome), BOTH);
  });
}

test("calls an agent without a name after its module", async (t) => {
  for (const code of [`export default ${ANSWER};`, `export default () => ${ANSWER};`]) {
    const cwd = folderOf(t, { ...FILES, "clock-agent.mjs": code });
    const { stderr } = await run(["run", "--agent", "clock-agent.mjs", "clock.evalset.json"], { cwd });
    assert.match(stderr, /^running clock-agent\.mjs: /m);
  }
});

/** Nothing that strips types can run this. */
const TYPESCRIPT = `
  enum Time { Noon = "It is noon." }
  export const agent = (message: string): string => Time.Noon;`;

test("runs TypeScript by the user's own loader, and says so where there is none", async (t) => {
  const NODE_OPTIONS = `--import ${import.meta.resolve("tsx")}`;
  for (const file of ["agent.ts", "agent.mts", "agent.cts"]) {
    const outcome = await runAgent(t, TYPESCRIPT, { file, args: json, env: { NODE_OPTIONS } });
    assert.deepEqual(statuses(outcome), BOTH, outcome.stderr);
  }
  const { status, stderr } = await runAgent(t, TYPESCRIPT, { file: "agent.ts", env: { NODE_OPTIONS: "" } });
  assert.equal(status, 2);
  assert.match(stderr, /^error: the module of the agent cannot be loaded: /);
  assert.match(stderr, /22\.18 and newer/);
  assert.match(stderr, /NODE_OPTIONS="--import tsx"/);
});

test("runs TypeScript whose types can be left out by itself", { skip: !process.features.typescript }, async (t) => {
  const code = "export const agent = (message: string): string => 'It is noon.';";
  assert.deepEqual(statuses(await runAgent(t, code, { file: "agent.ts", args: json })), BOTH);
});

const MISTAKES = {
  "no file": [null, /the module of the agent does not exist\n {3}at .*agent\.mjs/],
  "no export": ["const agent = 1;", /the module exports no agent\n[^]*Export the agent as default, agent, rootAgent/],
  "exports that are no agents": [
    "export const tools = [], weather = { name: 'x' };",
    /the module exports no agent\n[^]*--agent agent\.mjs#name\. It exports tools, weather/,
  ],
  "a class": [
    "export default class Agent {}",
    /expected an agent, found a class\n[^]*help: Pass an instance: new Agent/,
  ],
  "a promise of nothing": ["export default Promise.resolve(1);", /expected an agent, found 1\n[^]*the export default/],
  "a promise that is rejected": ["export default Promise.reject(new Error('no key'));", /no key/],
  "code that throws": ["throw new Error('no key');", /the module of the agent cannot be loaded: Error: no key/],
  "code that is none": [
    "export default (",
    /cannot be loaded: SyntaxError: [^]*help: To see where, run node --check .*agent\.mjs/,
  ],
  "a module that is not there": ["import 'nowhere';", /cannot be loaded: .*Cannot find package 'nowhere'/],
  "made with another copy of this package": [
    "export default () => { throw Object.assign(new Error('no key'), { help: 'Set KEY' }); };",
    /no key\n[^]*the export default\n[^]*help: Set KEY$/m,
  ],
  "a function that cannot make it": [
    "export default () => { throw new Error('no key'); };",
    /no key\n[^]*the export default\n[^]*help: The function has no parameters, so it was called to create the agent\. An agent takes the message as a parameter/,
  ],
};

for (const [name, [code, words]] of Object.entries(MISTAKES)) {
  test(`says what is wrong with an agent that is ${name}`, async (t) => {
    const { status, stdout, stderr } = await runAgent(t, code ?? "", {
      file: code === null ? "other.mjs" : "agent.mjs",
    }).then(async (outcome) =>
      code === null ? run(["run", "--agent", "agent.mjs", "clock.evalset.json"], { cwd: folderOf(t, FILES) }) : outcome,
    );
    assert.deepEqual([status, stdout], [2, ""], stderr);
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /unforeseen|\n {4}at /);
  });
}

test("an agent that is never there is not waited for", async (t) => {
  for (const [code, words] of [
    ["export default new Promise(() => {});", /making the agent took longer than 0\.2 s\n[^]*the export default/],
    [
      "export default () => new Promise(() => {});",
      /making the agent took longer than 0\.2 s\n[^]*An agent takes the message/,
    ],
    ["await new Promise(() => {}); export default 1;", /cannot be loaded: loading it took longer than 0\.2 s/],
  ]) {
    const { status, stderr } = await runAgent(t, code, { args: ["--turn-timeout", "0.2"] });
    assert.equal(status, 2, stderr);
    assert.match(stderr, words);
  }
});
