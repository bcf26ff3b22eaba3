// Custom metrics on the command line: modules that the user passes, and configs that name functions.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startServer } from "../providers/server.mjs";
import { CLOCK, evalSet, folderOf, GOOD, run } from "./command.mjs";

const ENTRY = new URL("../../pkg/dist/esm/node.js", import.meta.url).href;
const METRICS = `
  const textOf = (turn) => turn.finalResponse.parts[0].text;
  export const brevity = (metric, actual) => actual.every((turn) => textOf(turn).length < 20) ? 1 : 0;
  export function politeness(metric, actual, expected, scenario) {
    const perInvocationResults = actual.map((turn) => ({ score: /please/i.test(textOf(turn)) ? 1 : 0.5 }));
    return { perInvocationResults };
  }`;
const custom = (name, criterion = 0.5, metric = "politeness") => ({
  criteria: { [metric]: criterion },
  custom_metrics: { [metric]: { code_config: { name } } },
});

/** What a config makes of an agent that says that it is noon. */
async function score(t, config, { code = METRICS, file = "metrics.mjs", metrics = [file], ...options } = {}) {
  const cwd = folderOf(t, { ...GOOD, "test_config.json": config, [file]: code });
  const args = metrics.flatMap((module) => ["--metrics", module]);
  return run(["eval", "good.evalset.json", "--format", "csv", ...args], { cwd, ...options });
}

/** The line of a metric for the whole conversation. */
const lineOf = ({ stdout }, metric = "politeness") =>
  stdout.split("\r\n").find((line) => line.startsWith(`good,noon,1,,${metric},`));

test("a metric is found by its name, by the function that the config names, or in the module that it names", async (t) => {
  for (const config of [
    { criteria: { politeness: 0.5 } },
    custom("my_package.metrics.politeness"),
    custom("./metrics.mjs#politeness"),
    custom("metrics.mjs"),
  ]) {
    const outcome = await score(t, config);
    assert.equal(outcome.status, 0, outcome.stderr);
    assert.equal(lineOf(outcome), "good,noon,1,,politeness,0.5,0.5,passed,");
  }
  const renamed = await score(t, custom("my_package.metrics.politeness", 0.6, "manners"));
  assert.equal(lineOf(renamed, "manners"), "good,noon,1,,manners,0.5,0.6,failed,");
});

test("a metric of the engine is replaced only if the config says so", async (t) => {
  const code = "export const response_match_score = () => 0.25;";
  const criteria = { response_match_score: 0.5 };
  const kept = await score(t, { criteria }, { code });
  assert.match(lineOf(kept, "response_match_score"), /,1,0\.5,passed,$/);
  assert.match(
    kept.stderr,
    /^warning: the export `response_match_score` is not used: the engine computes this metric\n {3}at test_config\.json\n {3}help: To replace it: "custom_metrics": /m,
  );
  assert.doesNotMatch(kept.stderr, /no criterion names one/);
  const replaced = await score(t, custom("a.b.response_match_score", 0.5, "response_match_score"), { code });
  assert.match(lineOf(replaced, "response_match_score"), /,0\.25,0\.5,failed,$/);
});

test("modules may be ES modules, CommonJS or TypeScript, and classes are metrics too", async (t) => {
  const config = { criteria: { politeness: 0.5 } };
  const body = "evaluateInvocations(actual) { return { perInvocationResults: actual.map(() => ({ score: 0.75 })) }; }";
  const tsx = { NODE_OPTIONS: `--import ${import.meta.resolve("tsx")}` };
  for (const [file, code, env] of [
    ["m.cjs", "exports.politeness = () => 0.75;"],
    ["m.cjs", "module.exports = { politeness: async () => 0.75 };"],
    ["m.mjs", "export default function politeness() { return 0.75; }"],
    ["m.mjs", "export default { politeness: () => ({ overallScore: 0.75 }) };"],
    ["m.mjs", `export class politeness { ${body} }`],
    ["m.ts", "enum Score { Good = 0.75 } export const politeness = (): number => Score.Good;", tsx],
  ]) {
    const outcome = await score(t, config, { file, code, ...(env === undefined ? {} : { env }) });
    assert.equal(lineOf(outcome), "good,noon,1,,politeness,0.75,0.5,passed,", `${code}\n${outcome.stderr}`);
  }
});

test("a config runs no code that the user did not name", async (t) => {
  const code = "console.error('RAN'); export const politeness = () => 1;";
  for (const name of ["./metrics.mjs#politeness", "../metrics.mjs", "/etc/metrics.mjs", "metrics.mjs"]) {
    const { status, stdout, stderr } = await score(t, custom(name), { code, metrics: [] });
    assert.deepEqual([status, stdout], [2, ""]);
    assert.match(stderr, /^error: the metric `politeness` is in a module that is not allowed to run: .*metrics\.mjs$/m);
    assert.match(stderr, /at test_config\.json, custom_metrics\.politeness\.code_config\.name/);
    assert.match(stderr, /--metrics/);
    assert.doesNotMatch(stderr, /RAN/);
  }
});

test("says what is wrong with metrics of one's own", async (t) => {
  for (const [config, options, words] of [
    [custom("my_package.metrics.polite"), {}, null],
    [
      custom("my_package.metrics.manners", 0.5, "manners"),
      {},
      /`my_package\.metrics\.manners` is a Python function, which cannot run here[^]*help: Export a function `manners` from a JavaScript module/,
    ],
    [
      custom("./metrics.mjs#rudeness"),
      {},
      /metrics\.mjs exports no function or class `rudeness`[^]*It exports brevity, politeness/,
    ],
    [{ criteria: { politness: 0.5 } }, {}, /there is no metric `politness`[^]*Did you mean `politeness`\?/],
    [{ criteria: {} }, { metrics: ["nowhere.mjs"] }, /the module of the metrics does not exist\n {3}at .*nowhere\.mjs/],
    [
      { criteria: {} },
      { code: "throw new Error('no key')" },
      /the module of the metrics cannot be loaded: Error: no key/,
    ],
    [custom(""), { code: "" }, /the module of the metrics is empty/],
  ]) {
    const { status, stderr } = await score(t, config, options);
    assert.equal(status, words === null ? 0 : 2, stderr);
    if (words !== null) assert.match(stderr, words);
    assert.doesNotMatch(stderr, /unforeseen/);
  }
});

test("an entry of custom_metrics that no criterion names is a warning of the results, which --strict heeds", async (t) => {
  const { custom_metrics } = custom("a.b", 0.5, "politenes");
  const config = { criteria: { politeness: 0.5 }, custom_metrics };
  const { status, stderr } = await score(t, config);
  assert.equal(status, 0, stderr);
  assert.match(
    stderr,
    /warning: custom_metrics.politenes has no effect[^]*at test_config\.json[^]*Did you mean `politeness`\?/,
  );
  const cwd = folderOf(t, { ...GOOD, "test_config.json": config, "metrics.mjs": METRICS });
  const strict = await run(["eval", "good.evalset.json", "--metrics", "metrics.mjs", "--strict"], { cwd });
  assert.equal(strict.status, 2, strict.stderr);
  assert.match(strict.stdout, /warning: custom_metrics\.politenes has no effect: there is no criterion `politenes`/);
});

test("a metric that does not behave is not evaluated, with the reason; what it prints is no result", async (t) => {
  for (const [code, words] of [
    ["() => { throw new Error('no dictionary'); }", /no dictionary/],
    ["async () => { throw 'nothing'; }", /nothing/],
    ["() => NaN", /the metric gave NaN; a score is a finite number, or absent/],
    ["() => undefined", /expected a score or an evaluation result, found nothing/],
    ["() => true", /expected a score or an evaluation result, found true/],
    ["() => ({ score: 1 })", /the metric's answer contains no result.*overallScore/],
    ["() => ({ overallScore: '1' })", /number/],
    ["() => ({ overallScore: 1, overallEvalStatus: 9 })", /the metric gave the status 9; statuses are 1 to 4/],
    ["() => ({ perInvocationResults: {} })", /expected an array, found an object/],
    ["() => ({ perInvocationResults: [null] })", /expected an object, found null/],
    ["() => ({ perInvocationResults: [{ score: 1 }, { score: 1 }] })", /results for two turns|2 turns/],
    ["() => { console.log('note'); return {}; }", /the metric's answer contains no result/],
  ]) {
    const outcome = await score(t, { criteria: { politeness: 0.5 } }, { code: `export const politeness = ${code};` });
    assert.equal(outcome.status, 1, outcome.stderr);
    assert.match(lineOf(outcome), /^good,noon,1,,politeness,,0\.5,not evaluated,/, code);
    assert.match(lineOf(outcome), words, code);
    assert.doesNotMatch(outcome.stdout, /^note/m);
  }
});

test("a metric that fails beside one that passes is named, and the exit status is 1; one that declines is not", async (t) => {
  const criteria = { politeness: 0.5, response_match_score: 0 };
  const failing = await score(t, { criteria }, { code: "export const politeness = () => NaN;" });
  assert.match(
    failing.stderr,
    /warning: `politeness` failed in 1 of 1 case results, first in noon: the metric gave NaN/,
  );
  assert.equal(failing.status, 1);
  const code = "export const politeness = () => ({ overallEvalStatus: 3, perInvocationResults: [] });";
  const declining = await score(t, { criteria }, { code });
  assert.doesNotMatch(declining.stderr, /failed in/);
  assert.equal(declining.status, 0);
});

test("run scores by metrics of one's own too", async (t) => {
  const cwd = folderOf(t, {
    "good.evalset.json": evalSet({ noon: "It is noon." }, "good"),
    "good.config.json": custom("./metrics.mjs#politeness"),
    "metrics.mjs": METRICS,
    "agent.mjs": "export default (message) => 'Noon, please.';",
  });
  const args = ["--agent", "agent.mjs", "--config", "good.config.json", "--metrics", "metrics.mjs", "--format", "csv"];
  const outcome = await run(["run", "good.evalset.json", ...args], { cwd });
  assert.match(
    lineOf(outcome) ?? outcome.stderr,
    /^good,noon,1,,politeness,1,0\.5,passed,,"\{.+\}",2,2,false,"\{.+\}"$/,
  );
});

const JUDGED = {
  criteria: { final_response_match_v2: { threshold: 1, judge_model_options: { num_samples: 1 } } },
};

test("prices and budgets: what judges cost, and the end of it", async (t) => {
  const reply = () => '{"is_the_agent_response_valid": "valid"}';
  const server = await startServer({ reply });
  t.after(() => server.close());
  const env = { GOOGLE_API_KEY: "key", GOOGLE_GEMINI_BASE_URL: server.url, GOOGLE_GENAI_USE_VERTEXAI: "" };
  const own = `import { geminiJudge } from ${JSON.stringify(ENTRY)};
    export default geminiJudge({ apiKey: "key", baseUrl: "${server.url}", model: "gemini-2.5-pro" });`;
  const cwd = folderOf(t, { ...CLOCK, "test_config.json": JUDGED, "judge.mjs": own });
  const judge = (...args) => run(["eval", "clock.evalset.json", ...args], { cwd, env });
  const priced = await judge("--price", "gemini-2.5-flash=1000,2000");
  assert.equal(priced.status, 0, priced.stderr);
  assert.match(priced.stdout, /judged by .*: 2 calls, \d+ tokens in, \d+ out, cost [\d.]+/);
  assert.doesNotMatch((await judge()).stdout, /cost/);
  const [, input, output, cost] = /(\d+) tokens in, (\d+) out, cost ([\d.]+)/.exec(priced.stdout);
  assert.ok(Math.abs((input * 1000 + output * 2000) / 1e6 - cost) < 0.005);

  const wrong = await judge("--price", "gemini-2.5-flsh=1,2");
  assert.match(wrong.stdout, /the cost does not include gemini-2\.5-flash: there is no price/);
  assert.match(wrong.stderr, /--price names gemini-2\.5-flsh, which was not asked\n {3}help: Asked: gemini-2\.5-flash/);
  const unpriced = await judge("--price", "other=1,2", "--max-cost", "1");
  assert.equal(unpriced.status, 2);
  assert.match(unpriced.stderr, /there is no price for the model gemini-2\.5-flash/);

  // By the model that is asked, whatever the criterion names.
  const pro = ["--price", "gemini-2.5-pro=1000,2000"];
  for (const who of [
    ["--model", "gemini-2.5-pro"],
    ["--model", "gemini/gemini-2.5-pro"],
    ["--judge", "./judge.mjs"],
  ]) {
    assert.match((await judge(...who, ...pro)).stdout, new RegExp(`, cost ${cost}$`, "m"), who.join(" "));
    const limited = await judge(...who, ...pro, "--max-cost", "0.000001", "--concurrency", "1");
    assert.match(limited.stdout, /budget/, who.join(" "));
    const foreseen = await judge(...who, ...pro, "--dry-run");
    assert.match(foreseen.stdout, /^final_response_match_v2, gemini-2\.5-pro\n.*, cost [\d.]+$/m, who.join(" "));
  }

  for (const limit of [
    ["--max-calls", "1"],
    ["--max-tokens", "1"],
    ["--max-cost", "0.000001", "--price", "gemini-2.5-flash=1000,2000"],
  ]) {
    const limited = await judge(...limit, "--concurrency", "1");
    assert.equal(limited.status, 1, limited.stderr);
    assert.match(limited.stdout, /budget/, limit.join(" "));
  }
});

test("a budget is that of the whole command, simulated users included", async (t) => {
  const asked = [];
  const server = await startServer({
    reply: ({ prompt }) => {
      asked.push(prompt);
      return prompt.includes("whom you play") ? "</finished>" : '{"score": 1, "explanation": "fine"}';
    },
  });
  t.after(() => server.close());
  const env = { GOOGLE_API_KEY: "key", GOOGLE_GEMINI_BASE_URL: server.url, GOOGLE_GENAI_USE_VERTEXAI: "" };
  const scenario = { starting_prompt: "Hi", conversation_plan: "Talk." };
  const talk = { eval_set_id: "talk", eval_cases: [{ eval_id: "talk", conversation_scenario: scenario }] };
  const criteria = { multi_turn_task_success_v1: { threshold: 1, judge_model_options: { num_samples: 2 } } };
  const cwd = folderOf(t, {
    "a.evalset.json": talk,
    "b.evalset.json": { ...talk, eval_set_id: "other talk" },
    "test_config.json": { criteria },
    "agent.mjs": "export default (message) => 'Hello!';",
  });
  const agent = ["run", "--agent", "agent.mjs", "--num-runs", "1", "a.evalset.json", "b.evalset.json"];
  const all = await run(agent, { cwd, env });
  assert.equal(all.status, 0, all.stdout + all.stderr);
  assert.match(all.stdout, /^judged by .*: 4 calls/m);
  assert.match(all.stdout, /^simulated users, by .*: 2 calls/m);
  asked.length = 0;
  const limited = await run([...agent, "--max-calls", "4"], { cwd, env });
  assert.equal(limited.status, 1);
  assert.equal(asked.length, 4);
  assert.match(limited.stdout, /budget/);
  asked.length = 0;
  const recorded = await run(["record", ...agent.slice(1), "--output", "runs/", "--max-calls", "1"], { cwd, env });
  assert.equal(recorded.status, 1);
  assert.equal(asked.length, 1);
  assert.match(recorded.stderr, /^failed: talk: turn \d: .*the budget of .*was spent/m);
  const silent = { ...env, GOOGLE_API_KEY: "", GEMINI_API_KEY: "" };
  const unjudged = await run(["record", ...agent.slice(1), "--output", join(cwd, "other/")], { cwd, env: silent });
  assert.equal(unjudged.status, 2);
  assert.match(unjudged.stderr, /there is no judge to ask gemini-2\.5-flash/);
});

test("a limit of -1 on the turns of a simulated user in a config is capped, and the config is named", async (t) => {
  const server = await startServer({ reply: () => "Go on." });
  t.after(() => server.close());
  const env = { GOOGLE_API_KEY: "key", GOOGLE_GEMINI_BASE_URL: server.url, GOOGLE_GENAI_USE_VERTEXAI: "" };
  const scenario = { starting_prompt: "Hi", conversation_plan: "Talk." };
  const cwd = folderOf(t, {
    "a.evalset.json": { eval_set_id: "talk", eval_cases: [{ eval_id: "talk", conversation_scenario: scenario }] },
    "test_config.json": {
      criteria: { response_match_score: 0.5 },
      user_simulator_config: { max_allowed_invocations: -1 },
    },
    "agent.mjs": "export default (message) => 'Hello!';",
  });
  const args = ["record", "--agent", "agent.mjs", "--num-runs", "1", "a.evalset.json"];
  const { stdout, stderr } = await run(args, { cwd, env });
  assert.match(
    stderr,
    /^warning: user_simulator_config asks for unlimited turns \(`-1`\).*\n {3}at test_config\.json/m,
  );
  const [{ inferences }] = JSON.parse(stdout);
  assert.equal(inferences.length, 100);
});

test("modules of metrics and options for judges that have no effect are told", async (t) => {
  const config = { criteria: { response_match_score: 0.5 } };
  const unnamed = await score(t, config);
  assert.equal(unnamed.status, 0, unnamed.stderr);
  assert.match(
    unnamed.stderr,
    /warning: --metrics has no effect: no criterion names one of its metrics\n.*The modules have brevity, politeness/,
  );
  assert.doesNotMatch((await score(t, { criteria: { politeness: 0.5 } })).stderr, /no effect/);
  const none = await score(t, config, { code: "export const metrics = 5;" });
  assert.equal(none.status, 2);
  assert.match(none.stderr, /the module of metrics exports neither functions nor classes\n {3}at .*metrics\.mjs/);
  const cwd = folderOf(t, { ...GOOD, "test_config.json": config });
  const useless = ["--max-calls", "5", "--model", "gpt-5", "--batch", "--concurrency", "2"];
  const { stderr } = await run(["eval", "good.evalset.json", ...useless], { cwd });
  assert.match(stderr, /no metric asks a judge, so --model, --batch, --max-calls, and --concurrency have no effect/);
});
