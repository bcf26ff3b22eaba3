// What is right in another place is told so: configs and options where criteria belong, texts where paths do, and functions
// that make judges where judges do.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as adk from "../../pkg/dist/esm/node.js";

const { AgentEvaluator, evaluate } = adk;

const turns = [{ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } }];
const evalSet = { evalSetId: "s", evalCases: [{ evalId: "c", conversation: turns }] };
const agent = () => "Hello";
const run = (criteria) => AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1);

test("a config is told where criteria belong", async () => {
  const config = { criteria: { response_match_score: 0.5 } };
  for (const work of [() => run(config), () => evaluate({ evalSet, actual: evalSet, criteria: config })]) {
    await assert.rejects(work, (error) => {
      assert.equal(error.message, "expected criteria, found a config with `criteria`");
      assert.match(error.help, /Pass only the value of `criteria`; `evaluate` takes the whole object as `config`/);
      return true;
    });
  }
});

test("options are told where criteria belong", async () => {
  for (const [key, value] of [
    ["numRuns", 2],
    ["turnTimeoutMs", 5],
    ["judge", async () => ""],
    ["budget", { calls: 1 }],
  ]) {
    await assert.rejects(run({ response_match_score: 1, [key]: value }), (error) => {
      assert.equal(error.message, `\`${key}\` is an option, not a metric`);
      assert.match(
        error.help,
        /Pass options as a separate argument after the criteria; for the default criteria, pass undefined/,
      );
      return true;
    });
  }
});

test("a text is told where a path belongs", async () => {
  for (const text of [JSON.stringify(evalSet), JSON.stringify(evalSet, null, 2), `\n[${" ".repeat(5000)}]`]) {
    await assert.rejects(AgentEvaluator.evaluate(agent, text), (error) => {
      assert.equal(error.message, "expected the path of an evalset, found the text of one");
      assert.match(error.help, /evaluateEvalSet/);
      return true;
    });
  }
  await assert.rejects(AgentEvaluator.evaluate(agent, "x".repeat(5000)), { code: "invalid_input" });
});

test("a function that makes a judge is refused before the agent is run", async () => {
  let runs = 0;
  const counted = () => String((runs += 1));
  const criteria = { safety_v1: 1 };
  const { geminiJudge, openaiJudge, anthropicJudge, ollamaJudge, vertexJudge, replayJudge, recordJudge } = adk;
  const { languageModelJudge, adkJudge } = adk;
  for (const [name, judge] of Object.entries({
    ...{ geminiJudge, openaiJudge, anthropicJudge, ollamaJudge, vertexJudge, replayJudge, recordJudge },
    ...{ languageModelJudge, adkJudge },
  })) {
    const places = {
      evaluate: () => evaluate({ evalSet, actual: evalSet, criteria, judge }),
      agent: () => AgentEvaluator.evaluateEvalSet(counted, evalSet, criteria, 1, false, { judge }),
      simulator: () =>
        AgentEvaluator.evaluateEvalSet(counted, evalSet, { response_match_score: 0 }, 1, false, {
          userSimulator: { judge },
        }),
      default: async () => adk.setDefaultJudge(judge),
      recorded: async () => recordJudge(judge, () => {}),
    };
    for (const [place, give] of Object.entries(places)) {
      await assert.rejects(give(), (error) => {
        assert.match(error.message, /^this function creates judges, and is not a judge itself/, `${name}, ${place}`);
        assert.match(error.help, /^Call it/);
        return true;
      });
    }
  }
  assert.equal(runs, 0);
});

test("an evalset that is scored by itself is told, whichever way it is given", async () => {
  const message = "the evalset is compared with itself, so most metrics cannot fail";
  const criteria = { response_match_score: 1 };
  const [text, bytes] = [JSON.stringify(evalSet), new TextEncoder().encode(JSON.stringify(evalSet))];
  for (const [expected, actual] of [
    [evalSet, evalSet],
    [bytes, bytes],
    [bytes, text],
  ]) {
    const { warnings = [] } = await evaluate({ evalSet: expected, actual, criteria });
    assert.deepEqual(
      warnings.map((one) => one.message),
      [message],
    );
    await assert.rejects(evaluate({ evalSet: expected, actual, criteria, strict: true }), { code: "invalid_input" });
  }
  const said = structuredClone(evalSet);
  said.evalCases[0].conversation[0].finalResponse.parts[0].text = "Hi!";
  for (const request of [
    { actual: said, criteria },
    { actual: evalSet, criteria: {}, countOnly: true },
  ]) {
    assert.equal((await evaluate({ evalSet, ...request })).warnings, undefined);
  }
});

test("options for judges that have no effect are told", async () => {
  const judge = () => "";
  const said = [{ evalId: "c", inferences: turns }];
  const request = { evalSet, actual: { inferenceResults: said }, criteria: { response_match_score: 1 } };
  const told = async (options) => (await evaluate({ ...request, ...options })).warnings?.map(({ message }) => message);
  assert.deepEqual(await told({ judge, budget: { calls: 1 } }), [
    "no metric asks a judge, so `judge`, `budget` have no effect",
  ]);
  assert.deepEqual(await told({ retry: { attempts: 2 } }), ["no metric asks a judge, so `retry` has no effect"]);
  assert.deepEqual(await told({ cache: adk.memoryCache() }), ["no metric asks a judge, so `cache` has no effect"]);
  assert.equal(await told({ concurrency: 2, timeoutMs: 5, earlyStop: "none" }), undefined);
  const ran = (criteria, set = evalSet) =>
    AgentEvaluator.evaluateEvalSet(agent, set, criteria, 1, false, {
      judge: () => "</finished>",
      budget: { calls: 9 },
    });
  const { warnings } = await ran({ response_match_score: 0 });
  assert.deepEqual(
    warnings.map(({ message }) => message),
    ["no metric asks a judge, so `judge`, `budget` have no effect"],
  );
  const conversationScenario = { startingPrompt: "Hi", conversationPlan: "Say hi." };
  const played = { evalSetId: "s", evalCases: [{ evalId: "c", conversationScenario }] };
  const { warnings: ofPlayed = [] } = await ran({ turns: 0 }, played).catch(({ results: [one] = [{}] }) => one);
  assert.ok(ofPlayed.every(({ path }) => path !== "options"));
});

test("strict evaluations refuse options that have no effect, before anything is scored or an agent is run", async () => {
  let turnsTaken = 0;
  const counted = () => (turnsTaken += 1) && "Hello";
  const judged = { judge: () => "" };
  const users = { userSimulator: { model: "a" } };
  const noJudge = /^no metric asks a judge, so `judge` has no effect$/;
  const noUser = /^no case has a simulated user, so `userSimulator` has no effect$/;
  const criteria = { response_match_score: 0 };
  const actual = { inferenceResults: [{ evalId: "c", inferences: turns }] };
  async function* lines() {
    yield `${JSON.stringify(evalSet.evalCases[0])}\n`;
  }
  const streamed = async (options) => {
    const stream = adk.evaluateStream({ evalSet: lines(), actual: lines(), criteria, ...options });
    for (;;) {
      const { done, value } = await stream.next();
      if (done) return value;
    }
  };
  const sessions = async (options) => {
    const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0 }] };
    const service = new adk.LocalEvalService(counted, 1, options);
    for await (const result of service.evaluateSession({ evalSetId: "s", evalCases: [evalSet], evaluateConfig })) {
      return result;
    }
  };
  const evaluated = (options) => AgentEvaluator.evaluateEvalSet(counted, evalSet, criteria, 1, false, options);
  for (const [work, options, message] of [
    [(more) => evaluate({ evalSet, actual, criteria, ...more }), judged, noJudge],
    [(more) => adk.checkInputs({ evalSet, actual, criteria, ...more }), judged, noJudge],
    [streamed, judged, noJudge],
    [evaluated, judged, noJudge],
    [evaluated, users, noUser],
    [sessions, judged, noJudge],
    [sessions, users, noUser],
  ]) {
    turnsTaken = 0;
    await assert.rejects(work({ ...options, strict: true }), (error) => {
      assert.match(error.message, message);
      return error.code === "invalid_input" && error.path === "options";
    });
    assert.equal(turnsTaken, 0);
    const { warnings = [] } = (await work(options)) ?? {};
    assert.ok(
      warnings.some((one) => message.test(one.message)),
      JSON.stringify(warnings),
    );
  }
});

test("what a turn expects is told so where it stands in a case, and in the words of the old forms", async () => {
  const calls = [{ tool_name: "delete_account", tool_input: {} }];
  const scored = (more, ofTurn) => {
    const conversation = [{ ...turns[0], ...ofTurn }];
    return evaluate({
      evalSet: { evalSetId: "s", evalCases: [{ evalId: "c", conversation, ...more }] },
      actual: evalSet,
      criteria: { tool_trajectory_avg_score: 1 },
    });
  };
  for (const key of ["tool_uses", "toolUses", "intermediate_data", "expected_tool_use", "finalResponse"]) {
    await assert.rejects(scored({ [key]: calls }), {
      message: `\`${key}\` is not a key of an eval case`,
      path: `evalSet: evalCases[0].${key}`,
      help: "It belongs in a turn, an item of `conversation`",
    });
  }
  for (const [key, meant] of [
    ["expected_tool_use", "intermediate_data.tool_uses"],
    ["expectedToolUse", "intermediateData.toolUses"],
    ["expected_tool_calls", "intermediate_data.tool_uses"],
  ]) {
    await assert.rejects(scored({}, { [key]: calls }), { help: `Did you mean \`${meant}\`?` });
  }
  // A case may have what else its author likes.
  assert.equal((await scored({ tools: calls, reference: "Hello" })).warnings, undefined);
});
