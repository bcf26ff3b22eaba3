// Agents on the command line, and agents that do not behave: each gives a result or an error that says what to do.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, ended, evalSet, folderOf, run, said, start, text, turn, until } from "./command.mjs";

const { "clock.evalset.json": CLOCK_SET } = CLOCK;
const FILES = { "clock.evalset.json": CLOCK_SET };
/** An agent that answers as it should in one of the two cases. */
const AGENT = "export default (message) => 'It is noon.';";

/** Runs an agent whose module holds this code, once in each case unless the arguments say otherwise. */
async function runAgent(t, code, { args = [], files = {}, file = "agent.mjs", ...options } = {}) {
  const cwd = folderOf(t, { ...FILES, [file]: code, ...files });
  const often = args.includes("--num-runs") ? [] : ["--num-runs", "1"];
  return run(["run", "--agent", file, "clock.evalset.json", ...often, ...args], { cwd, ...options });
}

/** The cases of results in ADK's schema: their ids and statuses. */
const statuses = ({ stdout }) =>
  JSON.parse(stdout).eval_case_results.map((one) => [one.eval_id, one.final_eval_status]);
const BOTH = [
  ["noon", 1],
  ["late", 2],
];
const json = ["--format", "json"];

test("runs an agent, scores what it does, and exits as eval does", async (t) => {
  const table = await runAgent(t, AGENT);
  assert.equal(table.status, 1);
  assert.match(table.stdout, /2 cases: 1 passed, 1 failed/);
  assert.match(table.stderr, /^running agent\.mjs: clock\.evalset\.json, 2 cases, 1 run each$/m);
  const one = await runAgent(t, AGENT, { args: ["--format", "csv"] });
  assert.match(one.stdout, /^clock,noon,1,,response_match_score,1,0\.8,passed,$/m);
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT });
  const passing = await run(["run", "--agent", "agent.mjs", "clock.evalset.json:noon", "--num-runs", "1"], { cwd });
  assert.equal(passing.status, 0);
  assert.match(passing.stdout, /1 case: 1 passed/);
});

test("looks at the simulated users of all evalsets before the agent is run for any", async (t) => {
  const scenario = (user_persona) => ({ starting_prompt: "Hi", conversation_plan: "Talk.", user_persona });
  const cases = { eval_cases: [{ eval_id: "chat", conversation_scenario: scenario("CLOWN") }] };
  const cwd = folderOf(t, {
    ...FILES,
    "talk.evalset.json": { eval_set_id: "talk", ...cases },
    "walk.evalset.json": { eval_set_id: "walk", ...cases },
    "judge.mjs": "export default async () => ({ text: 'Hi' });",
    "agent.mjs": `import { writeFileSync } from "node:fs"; export default () => { writeFileSync("called", ""); return ""; };`,
  });
  const evalSets = ["clock.evalset.json", "talk.evalset.json", "walk.evalset.json"];
  for (const args of [["run"], ["run", "--bail"], ["record", "--output", "runs/"]]) {
    const { status, stdout, stderr } = await run(
      [...args, "--agent", "agent.mjs", "--judge", "./judge.mjs", ...evalSets],
      { cwd },
    );
    assert.deepEqual([status, stdout], [2, ""], stderr);
    for (const name of ["talk", "walk"]) {
      assert.match(
        stderr,
        new RegExp(`error: there is no persona \`CLOWN\`\n {3}at ${name}\\.evalset\\.json, .*userPersona\n`),
      );
    }
    assert.equal(existsSync(join(cwd, "called")), false, args.join(" "));
  }
});

test("runs no agent where no metric can score what it does", async (t) => {
  const talk = { eval_id: "talk", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Talk." } };
  const { eval_cases: cases } = CLOCK_SET;
  const cwd = folderOf(t, {
    "talk.evalset.json": { eval_set_id: "talk", eval_cases: [talk] },
    "mixed.evalset.json": { eval_set_id: "mixed", eval_cases: [talk, ...cases] },
    "judge.mjs": "export default async () => ({ text: '</finished>' });",
    "agent.mjs": `export default (message) => { console.error("asked"); return "It is noon."; };`,
  });
  const agent = ["run", "--agent", "agent.mjs", "--judge", "./judge.mjs", "--num-runs", "1"];
  const why = /no metric can score the case "talk", so the agent is not run(?: there)?: `tool_trajectory_avg_score`/;
  for (const args of [
    ["talk.evalset.json"],
    ["mixed.evalset.json:talk"],
    ["talk.evalset.json", "--bail"],
    ["mixed.evalset.json", "--strict"],
  ]) {
    const { status, stdout, stderr } = await run([...agent, ...args], { cwd });
    assert.deepEqual([status, stdout], [2, ""], stderr);
    assert.match(stderr, why);
    assert.doesNotMatch(stderr, /^asked$/m);
  }
  const mixed = await run([...agent, "mixed.evalset.json", ...json], { cwd });
  assert.ok(mixed.stderr.indexOf("no metric can") < mixed.stderr.indexOf("asked\n"), "warned of before");
  assert.deepEqual([mixed.status, statuses(mixed)], [1, [["talk", 3], ...BOTH]], mixed.stderr);
  assert.match(mixed.stderr, why);
  assert.match(mixed.stderr, /^running agent\.mjs: mixed\.evalset\.json, 2 cases, 1 run each$/m);
  assert.equal(mixed.stderr.match(/^asked$/gm)?.length, 2);
});

test("runs every case as often as AgentEvaluator does, and says how to change it", async (t) => {
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT });
  const agent = ["--agent", "agent.mjs", "clock.evalset.json"];
  const twice = await run(["run", ...agent, ...json], { cwd });
  assert.match(
    twice.stderr,
    /^running agent\.mjs: .*, 2 cases, 2 runs each by default \(--num-runs 1 for a single run\)$/m,
  );
  assert.deepEqual(
    statuses(twice).map(([id]) => id),
    ["noon", "noon", "late", "late"],
  );
  const recorded = await run(["record", ...agent], { cwd });
  assert.equal(JSON.parse(recorded.stdout).length, 4);
  const once = await run(["run", ...agent, ...json, "--num-runs", "1"], { cwd });
  assert.match(once.stderr, /2 cases, 1 run each$/m);
});

test("stops running at the first case that does not pass if asked to", async (t) => {
  const cases = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`case${at}`, "It is noon."]));
  const code = `let runs = 0;
export default async (message) => { console.log("ran", ++runs); return runs === 3 ? "No idea." : "It is noon."; };`;
  const files = { "clock.evalset.json": evalSet(cases) };
  const one = ["--num-runs", "1", "--parallelism", "1"];
  const outcome = await runAgent(t, code, { files, args: ["--bail", ...one, ...json] });
  assert.equal(outcome.status, 1);
  assert.deepEqual(statuses(outcome), [
    ["case0", 1],
    ["case1", 1],
    ["case2", 2],
  ]);
  assert.match(outcome.stderr, /^warning: --bail stopped at case2, which did not pass; 6 cases left out$/m);
  assert.doesNotMatch(outcome.stderr, /ran 4/);
  assert.equal(outcome.stderr.match(/^running agent/gm).length, 1);
});

test("stops at the first run in which the agent throws if asked to", async (t) => {
  const cases = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`case${at}`, "It is noon."]));
  const code = `let runs = 0;
export default async (message) => { if (++runs === 1) throw new Error("oh no"); await new Promise((done) => setTimeout(done, 60_000)); };`;
  const outcome = await runAgent(t, code, {
    files: { "clock.evalset.json": evalSet(cases) },
    args: ["--bail", ...json],
  });
  assert.equal(outcome.status, 1);
  assert.deepEqual(statuses(outcome), [["case0", 2]]);
  assert.match(outcome.stderr, /8 cases left out/);
});

test("adds up what judges took in the parts of a run that may stop early", async (t) => {
  const files = {
    "clock.evalset.json": evalSet({ one: "Noon.", two: "Noon.", three: "Noon." }),
    "test_config.json": {
      criteria: { final_response_match_v2: { threshold: 1, judge_model_options: { num_samples: 1 } } },
    },
    "judge.mjs": `export default async () => ({ text: JSON.stringify({ is_the_agent_response_valid: "valid" }) });`,
  };
  const often = ["--num-runs", "1", "--parallelism", "1", "--judge", "./judge.mjs"];
  const outcome = await runAgent(t, `let n = 0; export default async (message) => "Noon, " + ++n;`, {
    files,
    args: ["--bail", ...often, ...json],
  });
  assert.equal(outcome.status, 0, outcome.stderr);
  assert.deepEqual(statuses(outcome), [
    ["one", 1],
    ["two", 1],
    ["three", 1],
  ]);
  assert.match(outcome.stderr, /^judged by .*judge\.mjs: 3 calls/m);
  assert.doesNotMatch(outcome.stderr, /left out/);
});

test("writes every format where eval does", async (t) => {
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT });
  const formats = ["table", "json", "junit", "md", "csv", "html"].flatMap((format) => ["--format", format]);
  const { status } = await run(["run", "--agent", "agent.mjs", "clock.evalset.json", ...formats, "--output", "out/"], {
    cwd,
  });
  assert.equal(status, 1);
  for (const file of [
    "report.txt",
    "clock.evalset_result.json",
    "report.xml",
    "report.md",
    "report.csv",
    "report.html",
  ])
    assert.ok(existsSync(join(cwd, "out", file)), file);
});

test("keeps stdout for results, whatever the agent prints", async (t) => {
  const code = `
    console.log("loaded");
    export default () => { process.stdout.write("asked\\n"); return "It is noon."; };`;
  const outcome = await runAgent(t, code, { args: json });
  assert.deepEqual(statuses(outcome), BOTH);
  assert.match(outcome.stderr, /^loaded$/m);
  assert.match(outcome.stderr, /^asked$/m);
});

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
  "no export": ["const agent = 1;", /the module exports no agent\n[^]*Export it as default, agent, rootAgent/],
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
    /cannot be loaded: SyntaxError: [^]*help: See where with node --check .*agent\.mjs/,
  ],
  "a module that is not there": ["import 'nowhere';", /cannot be loaded: .*Cannot find package 'nowhere'/],
  "a function that cannot make it": [
    "export default () => { throw new Error('no key'); };",
    /no key\n[^]*the export default\n[^]*help: It has no parameters, so it was called to make the agent/,
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

test("says what is wrong with the command line", async (t) => {
  const cwd = folderOf(t, { ...FILES, "agent.mjs": AGENT });
  const agent = ["--agent", "agent.mjs"];
  for (const [args, words] of [
    [["clock.evalset.json"], /no agent is named\n {3}help: adk-metrics run --agent/],
    [agent, /no evalset is named\n {3}help: adk-metrics run --agent/],
    [[...agent, "no.evalset.json"], /the evalset does not exist/],
    [["--agent", "agent.mjs#mine", "clock.evalset.json"], /exports no `mine`\n[^]*It exports nothing by name/],
    [["--agnt", "agent.mjs", "clock.evalset.json"], /there is no option --agnt\n {3}help: Did you mean --agent\?/],
    [[...agent, "clock.evalset.json", "--num-runs", "0"], /--num-runs cannot be `0`/],
    [[...agent, "clock.evalset.json", "--turn-timeout", "x"], /--turn-timeout cannot be `x`/],
    [[...agent, "clock.evalset.json", "--parallelism", "-1"], /--parallelism needs a value/],
    [[...agent, "clock.evalset.json:nono"], /there is no case `nono`|nono/],
    [[...agent, "clock.evalset.json", "--output", "agent.mjs"], /the output would overwrite the agent/],
    [[...agent, "clock.evalset.json", "--price", "m"], /--price cannot be `m`/],
    [[...agent, "clock.evalset.json", "--max-cost", "1"], /--max-cost needs the price/],
    [["--agent", "empty/", "clock.evalset.json"], /does not exist|holds no agent/],
  ]) {
    const { status, stdout, stderr } = await run(["run", ...args], { cwd });
    assert.deepEqual([status, stdout], [2, ""], stderr);
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /^running/m);
  }
  assert.equal(readFileSync(join(cwd, "agent.mjs"), "utf8"), AGENT);
});

const tattling = "export default (message) => { console.error('ASKED'); return 'It is noon.'; };";

test("finds what is wrong with metrics and judges before the agent is asked anything", async (t) => {
  const keys = Object.fromEntries(["GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"].map((key) => [key, ""]));
  for (const [criteria, words] of [
    [{ response_match_scor: 0.5 }, /there is no metric `response_match_scor`[^]*Did you mean `response_match_score`\?/],
    [{ final_response_match_v2: 0.5 }, /there is no judge to ask gemini-2\.5-flash/],
    [{ response_match_score: "high" }, /expected a threshold/],
  ]) {
    const { status, stderr } = await runAgent(t, tattling, { files: { "test_config.json": { criteria } }, env: keys });
    assert.equal(status, 2);
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /ASKED/);
  }
});

test("a turn that takes too long fails its case, and what the agent left running does not keep the process", async (t) => {
  const code =
    "setInterval(() => {}, 1000); export default (message) => /time/.test(message) && new Promise(() => {});";
  const { status, stdout, stderr } = await runAgent(t, code, { args: ["--turn-timeout", "0.2"] });
  assert.equal(status, 1, stderr);
  assert.match(stdout, /2 cases: 2 failed/);
  assert.match(stdout, /the agent did not finish turn 1 within 200 ms\. Set turnTimeoutMs, or\s+--turn-timeout/);
});

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

test("an agent that throws, says nothing or streams gives results", async (t) => {
  const throwing = await runAgent(t, "export default (message) => { throw new Error('out of order'); };");
  assert.equal(throwing.status, 1);
  assert.match(throwing.stdout, /the agent.s run failed: turn 1: Error: out of order/);
  const silent = await runAgent(t, "export default (message) => undefined;", { args: ["--format", "csv"] });
  assert.equal(silent.status, 1);
  assert.match(silent.stdout, /^clock,noon,1,,response_match_score,0,0\.8,failed,$/m);
  const streaming = `export default async function* (message) {
    yield { author: "clock", partial: true, content: { parts: [{ text: "It " }] } };
    yield { author: "clock", partial: true, content: { parts: [{ text: "is noon." }] } };
    yield { author: "clock", content: { parts: [{ text: "It is noon." }] } };
  }`;
  assert.deepEqual(statuses(await runAgent(t, streaming, { args: json })), BOTH);
});

test("errors that the agent leaves to nobody are said, and end nothing", async (t) => {
  const code = `export default (message) => {
    setTimeout(() => { throw new Error("stray"); });
    Promise.reject(new Error("lost"));
    return new Promise((resolve) => setTimeout(resolve, 50, "It is noon."));
  };`;
  const outcome = await runAgent(t, code, { args: json });
  assert.deepEqual(statuses(outcome), BOTH);
  for (const word of ["stray", "lost"])
    assert.match(
      outcome.stderr,
      new RegExp(`warning: the loaded code threw an error that nobody caught: Error: ${word}`),
    );
});

test("code that ends the process by itself is an error, whatever status it asks for", async (t) => {
  const endings = [
    "process.exit(0);",
    "export default () => process.exit();",
    "setTimeout(() => process.exit(1), 20); export default (message, turn) => new Promise(() => {});",
  ];
  for (const code of endings) {
    const { status, stdout, stderr } = await runAgent(t, code);
    assert.deepEqual([status, stdout], [2, ""], code);
    assert.match(stderr, /error: the loaded code ended the process/, code);
  }
});

test("runs each case as often as it is told, each run in a session of its own", async (t) => {
  const code = `
    const seen = new Map();
    export default (message, { sessionId }) => {
      seen.set(sessionId, (seen.get(sessionId) ?? 0) + 1);
      return seen.get(sessionId) === 1 ? "It is noon." : "again";
    };`;
  const outcome = await runAgent(t, code, { args: [...json, "--num-runs", "3"] });
  assert.deepEqual(
    statuses(outcome).filter(([id]) => id === "noon"),
    Array(3).fill(["noon", 1]),
  );
  assert.match(outcome.stderr, /2 cases, 3 runs each/);
});

test("an agent that fails in a later turn fails the case, with the reason", async (t) => {
  const files = {
    "long.evalset.json": {
      eval_set_id: "long",
      eval_cases: [{ eval_id: "two", conversation: [turn("1"), turn("2")] }],
    },
    "agent.mjs":
      "export default (m, { history }) => { if (history.length > 0) throw new Error('tired'); return '1'; };",
  };
  const { stdout } = await run(["run", "--agent", "agent.mjs", "long.evalset.json"], { cwd: folderOf(t, files) });
  assert.match(stdout, /the agent.s run failed: turn 2: Error: tired/);
});

test("begins evalsets in the old form with a session", async (t) => {
  const cwd = folderOf(t, {
    "old.test.json": [{ query: "Who am I?", reference: "Ada" }],
    "new.evalset.json": CLOCK_SET,
    "session.json": { state: { name: "Ada" } },
    "agent.mjs": "export default (message, { state }) => state.name;",
    "test_config.json": { criteria: { response_match_score: 1 } },
  });
  const args = ["run", "--agent", "agent.mjs", "--session", "session.json"];
  const { status, stdout, stderr } = await run([...args, "old.test.json"], { cwd });
  assert.equal(status, 0, stdout + stderr);
  const refused = await run([...args, "new.evalset.json"], { cwd });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /a session file is for rows of the old form/);
});

for (const [signal, exit] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
]) {
  const posix = { skip: process.platform === "win32" };
  test(`takes what is done when ${signal} interrupts it, and leaves out the rest`, posix, async (t) => {
    const code = `export default (message, { signal }) => message === "fast" ? "It is noon." : new Promise(() => {
    console.error("WAITING");
    setInterval(() => {}, 1000);
  });`;
    const slow = { ...turn("It is late."), user_content: { parts: [{ text: "slow" }] } };
    const fast = { ...turn("It is noon."), user_content: { parts: [{ text: "fast" }] } };
    const eval_cases = [
      { eval_id: "noon", conversation: [fast] },
      { eval_id: "late", conversation: [slow] },
    ];
    for (const command of ["run", "record"]) {
      const cwd = folderOf(t, { "c.evalset.json": { eval_set_id: "c", eval_cases }, "agent.mjs": code });
      const output = join(cwd, "out.json");
      const child = start(
        [
          command,
          "--agent",
          "agent.mjs",
          "c.evalset.json",
          "--num-runs",
          "1",
          "--output",
          output,
          ...(command === "run" ? json : []),
        ],
        { cwd },
      );
      const [end, all] = [ended(child), text(child.stderr)];
      await until(() => said(child.stderr).includes("WAITING"), "the agent to wait");
      child.kill(signal);
      assert.deepEqual(await end, [exit, null], said(child.stderr));
      const stderr = await all;
      const written = JSON.parse(readFileSync(output, "utf8"));
      const ids =
        command === "run"
          ? written.eval_case_results.map((one) => one.eval_id)
          : written.map((one) => one.eval_case_id);
      assert.deepEqual(ids, ["noon"], command);
      assert.match(stderr, /^interrupted: /m);
    }
  });
}

test("several evalsets, each with the config beside it", async (t) => {
  const cwd = folderOf(t, {
    ...FILES,
    "other.evalset.json": evalSet({ noon: "It is noon." }, "other"),
    "agent.mjs": AGENT,
  });
  const { status, stderr } = await run(
    ["run", "--agent", "agent.mjs", "clock.evalset.json", "other.evalset.json", ...json, "--output", "out/"],
    { cwd },
  );
  assert.equal(status, 1);
  assert.match(stderr, /^running agent\.mjs: other\.evalset\.json, 1 case, 2 runs each/m);
  assert.equal(JSON.parse(readFileSync(join(cwd, "out/other.evalset_result.json"), "utf8")).eval_set_id, "other");
});

/** What is scored, without times and ids. */
const scores = ({ stdout }) => stdout.split("\n").filter((line) => !line.includes("invocation_duration_v1"));

test("what is recorded scores as what is run", async (t) => {
  const code = `export default (message, { sessionId }) => {
    if (message === "fail") throw new Error("out of order");
    return [
      { author: "clock", content: { parts: [{ functionCall: { name: "now", args: { time_zone: "UTC", deepValue: { camelCase: 1.5 } } } }] } },
      { author: "clock", content: { parts: [{ functionResponse: { name: "now", response: { hour_now: 12 } } }] } },
      { author: "clock", content: { parts: [{ text: "It is noon." }] }, usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 } },
    ];
  };`;
  const calls = [{ name: "now", args: { time_zone: "UTC", deepValue: { camelCase: 1.5 } } }];
  const eval_cases = [
    { eval_id: "noon", conversation: [turn("It is noon.", calls), turn("It is late.", calls)] },
    { eval_id: "fail", conversation: [{ ...turn("x"), user_content: { parts: [{ text: "fail" }] } }] },
  ];
  const cwd = folderOf(t, { "clock.evalset.json": { eval_set_id: "clock", eval_cases }, "agent.mjs": code });
  const agent = ["--agent", "agent.mjs", "clock.evalset.json", "--num-runs", "2"];
  const ran = await run(["run", ...agent, "--format", "csv"], { cwd });
  const recorded = await run(["record", ...agent, "--output", "./"], { cwd });
  assert.equal(recorded.status, 1);
  assert.match(recorded.stderr, /^wrote clock\.inferences\.json: 4 runs of agent\.mjs, 2 failed$/m);
  assert.match(recorded.stderr, /^failed: fail: turn 1: Error: out of order$/m);
  const evaluated = await run(["eval", "clock.evalset.json", "--format", "csv"], { cwd });
  assert.deepEqual(scores(evaluated), scores(ran));
  assert.match(ran.stdout, /noon,1,,tool_trajectory_avg_score,1,1,passed/);
  const [first] = JSON.parse(readFileSync(join(cwd, "clock.inferences.json"), "utf8"));
  assert.deepEqual(first.inferences[0].intermediate_data.invocation_events[0].content.parts[0].function_call, calls[0]);
  assert.deepEqual(
    [first.app_name, first.eval_set_id, first.eval_case_id, first.status],
    ["agent.mjs", "clock", "noon", 1],
  );
});

test("records to stdout, into a folder for several evalsets, and never over another recording unasked", async (t) => {
  const cwd = folderOf(t, {
    ...FILES,
    "other.evalset.json": { ...CLOCK_SET, eval_set_id: "other" },
    "agent.mjs": AGENT,
  });
  const record = (...args) => run(["record", "--agent", "agent.mjs", "--num-runs", "1", ...args], { cwd });
  const printed = await record("clock.evalset.json:late");
  assert.equal(printed.status, 0, printed.stderr);
  assert.deepEqual(
    JSON.parse(printed.stdout).map((one) => one.eval_case_id),
    ["late"],
  );
  const both = ["clock.evalset.json", "other.evalset.json", "--output"];
  assert.match((await record(...both, "runs.json")).stderr, /does not fit in one file\n {3}help: Name a folder/);
  assert.equal((await record(...both, "runs/")).status, 0);
  for (const name of ["clock", "other"]) assert.ok(existsSync(join(cwd, "runs", `${name}.inferences.json`)));
  const again = await record(...both, "runs/");
  assert.equal(again.status, 2);
  assert.match(again.stderr, /the output already exists\n[^]*--force/);
  assert.equal((await record(...both, "runs/", "--force")).status, 0);
  const overwriting = await record("clock.evalset.json", "--output", "agent.mjs", "--force");
  assert.match(overwriting.stderr, /the output would overwrite the agent/);
  const unknown = await record("clock.evalset.json:nobody");
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /nobody/);
});
