// What is accepted and changes nothing is said.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BARE, folderOf, run } from "../cli/command.mjs";
import { ask, at, FILES, judged, server } from "../cli/judging.mjs";
import { evalSetOf, turn } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";

const { adkJudge, compareRuns, evaluate, openaiJudge, panelJudge, recordJudge, RougeEvaluator, TrajectoryEvaluator } =
  await importEntry();
const { ToolParameterMatchEvaluator } = await importEntry();
const { asAutoevalsScorer, asMastraStep, asOpenevalsEvaluator } = await importEntry("./interop");
const { renderComparisonCsv, renderComparisonJson, renderCsv, renderJUnit } = await importEntry("./report");

const evalSet = evalSetOf({ one: [turn("When?", "At noon.", [["clock", { hour: 19.9 }]])] });
const actual = evalSetOf({ one: [turn("When?", "At noon.", [["clock", { hour: 20 }]])] });
const judge = () => JSON.stringify({ is_the_agent_response_valid: "valid" });
const messagesOf = async (criteria) => {
  const asked = "final_response_match_v2" in criteria ? { judge } : {};
  const { warnings = [] } = await evaluate({ evalSet, actual, criteria, ...asked });
  return warnings.map(({ message }) => message);
};

test("a tolerance that no strategy heeds is a warning", async () => {
  const metric = { threshold: 0.5, numeric_tolerance: 0.1 };
  const warning = "`numeric_tolerance` has no effect: no strategy is `numeric`";
  assert.deepEqual(await messagesOf({ tool_parameter_match: metric }), [warning]);
  for (const more of [{ default_strategy: "numeric" }, { per_arg_strategies: { hour: "numeric" } }]) {
    assert.deepEqual(await messagesOf({ tool_parameter_match: { ...metric, ...more } }), []);
  }
});

test("a strategy for an argument that no expected call has is a warning, of an evaluator as well", async () => {
  const calls = { toolUses: [{ name: "book", args: { seats: 2 } }] };
  const turn = { userContent: { parts: [{ text: "Hi" }] }, intermediateData: calls };
  const criterion = { threshold: 0.5, per_arg_strategies: { zzz: "numeric" } };
  const metric = { metricName: "tool_parameter_match", threshold: 0.5, criterion };
  const { overallScore, warnings } = await new ToolParameterMatchEvaluator(metric).evaluateInvocations([turn], [turn]);
  assert.equal(overallScore, 1);
  assert.equal(warnings[0].path, "metric");
  assert.match(warnings[0].message, /no expected call has the argument "zzz"/);
});

test("one model beside several is a warning", async () => {
  const of = (judge_model_options) => messagesOf({ final_response_match_v2: { threshold: 0.5, judge_model_options } });
  const both = { judge_model: "a", judge_models: ["b", "c"], num_samples: 1 };
  assert.deepEqual(await of(both), ["`judge_model` has no effect beside `judge_models`"]);
  assert.deepEqual(await of({ judge_models: ["b", "c"], num_samples: 1 }), []);
});

test("a model in the criteria that is not asked is a warning, once for each, unless the judge is told the model", async () => {
  const llm = { model: "gpt-6-luna", generateContentAsync: async function* () {} };
  const functions = ["first", "second"].map((value) => Object.defineProperty(judge.bind(), "name", { value }));
  const of = async (judge_model, asked) => {
    const criterion = { threshold: 0.5, judge_model_options: { ...judge_model, num_samples: 1 } };
    const criteria = { final_response_match_v2: criterion, safety_v1: criterion };
    const found = await evaluate({ evalSet, actual, criteria, judge: asked, retry: { attempts: 1 } });
    return found.warnings.map(({ message }) => message).filter((message) => message.startsWith("`judge_model`"));
  };
  const own = (named, asked) =>
    `\`judge_model\` of the criteria is ${named}, but the judge asks ${asked}, which is its own model`;
  const noFetch = () => Promise.reject(new Error("no network"));
  const named = { judge_model: "gemini-3.5-flash-lite" };
  const openai = openaiJudge({ model: "gpt-6-luna", apiKey: "none", fetch: noFetch });
  for (const asked of [adkJudge(llm), openai, recordJudge(openai, { write() {} })]) {
    assert.deepEqual(await of(named, asked), [own("gemini-3.5-flash-lite", "gpt-6-luna")]);
    assert.deepEqual(await of({ judgeModel: "gemini-2.5-flash" }, asked), [own("gemini-2.5-flash", "gpt-6-luna")]);
    for (const same of [{}, { judge_model: "gpt-6-luna" }, { judge_model: "openai/gpt-6-luna" }]) {
      assert.deepEqual(await of(same, asked), []);
    }
  }
  assert.deepEqual(await of(named, judge), []);
  assert.deepEqual(
    await of(named, openaiJudge({ apiKey: "none", fetch: noFetch, baseUrl: "http://127.0.0.1:9/v1" })),
    [],
  );
  const panel = panelJudge([openai, ...functions]);
  assert.deepEqual(await of(named, panel), [own("gemini-3.5-flash-lite", "gpt-6-luna, first, second")]);
  assert.deepEqual(await of({ judge_model: "gpt-6-luna" }, panel), []);
});

test("--model says which models of the config it is asked instead of, and is no warning", async (t) => {
  const answering = await server(t);
  const noteOf = async (named) => {
    const folder = folderOf(t, { ...FILES, "test_config.json": judged({ judge_model: named }) });
    const env = { ...BARE, ...at.openai(answering) };
    const { stderr } = await run([...ask, "--judge", "openai", "--model", "gpt-6-luna"], { cwd: folder, env });
    assert.doesNotMatch(stderr, /warning: `judge_model`/);
    return /asking gpt-6-luna .*/.exec(stderr)?.[0];
  };
  assert.equal(
    await noteOf("gemini-3.5-flash-lite"),
    "asking gpt-6-luna (--model) instead of gemini-3.5-flash-lite, the model in the config",
  );
  assert.equal(await noteOf("gpt-6-luna"), undefined);
});

test("CSV says which metrics are advisory, where some are", async () => {
  const criteria = { response_match_score: 0.5, tool_trajectory_avg_score: 1 };
  const table = async (more) => {
    const set = await evaluate({ evalSet, actual, criteria, ...more });
    return renderCsv(set)
      .trim()
      .split("\r\n")
      .map((line) => line.split(","));
  };
  const [header, ...rows] = await table({ advisory: ["tool_trajectory_avg_score"] });
  const [name, flag] = ["metricName", "isAdvisory"].map((column) => header.indexOf(column));
  assert.ok(rows.every((row) => row[flag] === String(row[name] === "tool_trajectory_avg_score")));
  assert.ok(!(await table())[0].includes("isAdvisory"));
});

test("strings have no tool calls that could be compared, and what is no evaluator is refused at once", async () => {
  const trajectory = new TrajectoryEvaluator({ metricName: "tool_trajectory_avg_score", threshold: 1 });
  const scorer = asAutoevalsScorer("calls", trajectory);
  await assert.rejects(scorer({ output: "At noon.", expected: "At one." }), {
    message: "`tool_trajectory_avg_score` compares tool calls, which strings do not have",
    help: "Pass messages with `tool_calls`, or invocations",
  });
  const rouge = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.5 });
  assert.equal((await asAutoevalsScorer("words", rouge)({ output: "At noon.", expected: "At noon." })).score, 1);
  for (const make of [
    () => asAutoevalsScorer("words"),
    () => asOpenevalsEvaluator("words", {}),
    () => asMastraStep(undefined),
  ]) {
    assert.throws(make, {
      code: "invalid_input",
      message: /^expected an evaluator, with `evaluateInvocations`, found /,
    });
  }
  assert.throws(() => asAutoevalsScorer(rouge), { message: /^expected a string, found / });
});

test("an output that ends as another format does is a warning", async (t) => {
  const config = { criteria: { response_match_score: 0.1 } };
  const cwd = folderOf(t, { ...FILES, "test_config.json": config });
  const { stderr } = await run([...ask, "--format", "csv", "--output", "out.json"], { cwd, env: BARE });
  assert.match(stderr, /^warning: the output has the extension of json, but --format makes it csv\n {3}at out\.json/m);
  const fitting = await run([...ask, "--format", "csv", "--output", "out.csv"], { cwd, env: BARE });
  assert.doesNotMatch(fitting.stderr, /warning/);
});

test("an evaluator of one metric does not score under the name of another", async () => {
  const evaluator = new RougeEvaluator({ metricName: "tool_trajectory_avg_score", threshold: 1 });
  await assert.rejects(evaluator.evaluateInvocations([], []), {
    code: "invalid_input",
    message: "`RougeEvaluator` does not compute `tool_trajectory_avg_score`",
    path: "metric: metricName",
    help: "It computes `response_match_score`",
  });
});

test("formats without options refuse them, and take what map passes besides", async () => {
  const criteria = { response_match_score: 0.5 };
  const set = await evaluate({ evalSet, actual, criteria });
  const comparison = compareRuns(set, set);
  for (const [render, input] of [
    [renderCsv, set],
    [renderJUnit, set],
    [renderComparisonCsv, comparison],
    [renderComparisonJson, comparison],
  ]) {
    assert.throws(() => render(input, { titel: "x" }), {
      message: "there is no option `titel`",
      help: "This function has no options",
    });
    assert.equal([input].map(render)[0], render(input));
  }
});
