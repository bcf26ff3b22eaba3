// Settings of the simulated user, personas and judges are checked before the agent is run.

import assert from "node:assert/strict";
import test from "node:test";
import { AgentEvaluator, languageModelJudge, LocalEvalService, openaiJudge } from "../../pkg/dist/esm/node.js";
import { countingTurns, errorOf, evalSetOf, turn } from "./evalsets.mjs";
import { CRITERIA, echo, PLAN, playing, run, scenarioOf } from "./simulated.mjs";

test("a configuration of the model that says which server to ask is refused before the agent is run", async () => {
  let runs = 0;
  const agent = () => {
    runs += 1;
    return "Hello!";
  };
  for (const key of ["httpOptions", "http_options"]) {
    const modelConfiguration = { temperature: 0, [key]: { baseUrl: "http://127.0.0.1:1" } };
    const error = await errorOf(() => run(agent, playing(["</finished>"]), { userSimulator: { modelConfiguration } }));
    assert.equal(error.code, "invalid_input");
    assert.equal(error.path, `userSimulator: modelConfiguration.${key}`);
  }
  assert.equal(runs, 0);
});

test("a misspelt setting of the simulated user is told which one is meant", async () => {
  for (const [key, help] of [
    ["modle", "Did you mean `model`?"],
    ["modelConfig", /^The keys are `judge`, `model`/],
    ["max_allowed_invocation", "Did you mean `maxAllowedInvocations`?"],
    ["instructions", "Did you mean `customInstructions`?"],
  ]) {
    const error = await errorOf(() => run(() => "Hello!", playing([]), { userSimulator: { [key]: "m" } }));
    assert.equal(error.message, `the user simulator has no setting \`${key}\``);
    if (typeof help === "string") assert.equal(error.help, help);
    else assert.match(error.help, help);
  }
});

test("a misspelt setting of the model is refused before the agent is run; one of a provider's own is not", async () => {
  let runs = 0;
  const agent = () => {
    runs += 1;
    return "Hello!";
  };
  const tried = (modelConfiguration) => run(agent, playing(["</finished>"]), { userSimulator: { modelConfiguration } });
  for (const [key, meant] of [
    ["temprature", "temperature"],
    ["max_output_token", "maxOutputTokens"],
  ]) {
    const error = await errorOf(() => tried({ [key]: 1 }));
    assert.deepEqual([error.code, error.message], ["invalid_input", `a model has no setting \`${key}\``]);
    assert.deepEqual(
      [error.path, error.help],
      [`userSimulator: modelConfiguration.${key}`, `Did you mean \`${meant}\`?`],
    );
  }
  assert.equal(runs, 0);
  await tried({ top_p: 0.5, maxOutputTokens: 9, num_ctx: 4096 });
  assert.equal(runs, 1);
});

test("an unknown persona and a prompt that lacks its rules are refused before the agent is run for any case", async () => {
  const scenario = { startingPrompt: "Weather in Paris?", conversationPlan: PLAN };
  const customInstructions = "{{ stop_signal }} {{ conversation_plan }} {{ conversation_history }}";
  const refused = [
    [{ userPersona: "expert" }, {}, /there is no persona `expert`/, 'the scenario of "trip": userPersona'],
    [
      { userPersona: "EXPERT" },
      { customInstructions },
      /do not contain \{\{ persona \}\}/,
      "userSimulator: customInstructions",
    ],
  ];
  for (const [persona, userSimulator, words, path] of refused) {
    const evalSet = evalSetOf({
      plain: { conversation: [turn("Hi", "Hello")] },
      trip: { conversationScenario: { ...scenario, ...persona } },
    });
    let runs = 0;
    const agent = () => String(++runs);
    const options = { judge: playing(["</finished>"]), userSimulator };
    const error = await errorOf(() => AgentEvaluator.evaluateEvalSet(agent, evalSet, CRITERIA, 1, false, options));
    assert.equal(error.code, "invalid_input");
    assert.match(error.message, words);
    assert.equal(runs, 0);
    assert.equal(error.path, path);
  }
});

test("what the user is to be played by, and who is to judge, is found out before the agent is run", async () => {
  let runs = 0;
  const agent = () => {
    runs += 1;
    return "Hello!";
  };
  const keys = ["GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_API_KEY"].filter((key) => key in process.env);
  assert.deepEqual(keys, [], "this test needs an environment without keys");
  const registry = countingTurns();
  const played = () => AgentEvaluator.evaluateEvalSet(agent, scenarioOf(), { turns: 1 }, 1, false, { registry });
  const judged = () => AgentEvaluator.evaluateEvalSet(agent, evalSetOf({ hi: [turn("Hi", "Hello!")] }), CRITERIA, 1);
  const service = async () => {
    const evaluateConfig = { evalMetrics: [{ metricName: "safety_v1", threshold: 1 }] };
    const evalCases = [evalSetOf({ hi: [turn("Hi", "Hello!")] })];
    const session = new LocalEvalService(agent).evaluateSession({ evalSetId: "hi", evalCases, evaluateConfig });
    for await (const _ of session);
  };
  for (const work of [played, judged, service]) {
    const { code, path } = await errorOf(work);
    assert.equal(code, "judge_required");
    assert.match(path, /^(?:evalSet|config: criteria\.\w+)$/);
    assert.equal(runs, 0);
  }
});

test("results say which settings of the model that plays the user are not sent", async () => {
  const choices = [{ message: { content: "</finished>" }, finish_reason: "stop" }];
  const bodies = [];
  const fetch = async (_, { body }) => {
    bodies.push(JSON.parse(body));
    return Response.json({ choices });
  };
  const openai = openaiJudge({ apiKey: "key-4711", model: "gpt-6-luna", fetch });
  const model = { modelId: "m", provider: "p", specificationVersion: "v2" };
  const doGenerate = async () => ({
    content: [{ type: "text", text: "</finished>" }],
    usage: {},
    finishReason: "stop",
  });
  const sdk = languageModelJudge({ ...model, doGenerate });
  for (const [judge, settings, told] of [
    [
      openai,
      { top_k: 5, temperature: 0, num_ctx: 9 },
      [/^simulated users: OpenAI is not sent `top_k`/, /^simulated users: OpenAI is not sent `num_ctx`/],
    ],
    [sdk, { topK: 5, thinkingConfig: {} }, [/^simulated users: `thinkingConfig` is not sent to /]],
    [openai, { temperature: 0 }, []],
    [openai, undefined, []],
  ]) {
    const userSimulator = { judge, ...(settings && { modelConfiguration: settings }) };
    const { warnings = [] } = await run((message) => `You said ${message}`, playing([]), { userSimulator, numRuns: 2 });
    const found = warnings.map(({ message }) => message).filter((message) => message.includes("not sent"));
    assert.equal(found.length, told.length, found.join("\n"));
    for (const [at, words] of told.entries()) assert.match(found[at], words);
  }
  assert.equal(bodies[0].top_k ?? bodies[0].num_ctx, undefined);
});

test("results say that the model of the config does not play the user, where the judge has its own", async () => {
  const fetch = async () =>
    Response.json({ choices: [{ message: { content: "</finished>" }, finish_reason: "stop" }] });
  const judge = openaiJudge({ apiKey: "key-4711", model: "gpt-6-luna", fetch });
  for (const [model, told] of [
    [
      "gemini-3.5-flash-lite",
      ["`model` of the user simulator is gemini-3.5-flash-lite, but the judge asks gpt-6-luna, which is its own model"],
    ],
    ["gpt-6-luna", []],
    [undefined, []],
  ]) {
    const userSimulator = { judge, ...(model && { model }) };
    const { warnings = [] } = await run((message) => `You said ${message}`, playing([]), { userSimulator, numRuns: 2 });
    assert.deepEqual(
      warnings.map(({ message }) => message).filter((message) => message.includes("its own model")),
      told,
    );
  }
});

const NUMBERS = [
  ["maxOutputTokens", -5, "expected a whole number from 1 to 2147483647, found the number -5"],
  ["max_output_tokens", 0, "expected a whole number from 1 to 2147483647, found the number 0"],
  ["maxOutputTokens", 1.5, "expected a whole number from 1 to 2147483647, found the number 1.5"],
  ["max_output_tokens", "5", 'expected a whole number from 1 to 2147483647, found the string "5"'],
  ["temperature", -1, "expected a number from 0 to 2, found the number -1"],
  ["candidateCount", 2, "expected 1, since only the first candidate is read and all are paid for, found the number 2"],
  ["top_p", 1.01, "expected a number from 0 to 1, found the number 1.01"],
  ["topK", -1, "expected a whole number from 0 to 2147483647, found the number -1"],
  ["stop_sequences", ["END", 5], "expected an array of strings, found an array"],
];

test("settings that no model can take are refused before the agent is run, also those that are no JSON", async () => {
  let runs = 0;
  const agent = () => `run ${(runs += 1)}`;
  const tried = (modelConfiguration) =>
    run(agent, playing(["</finished>"]), { userSimulator: { modelConfiguration } }).catch((error) => error);
  for (const [key, value, message] of NUMBERS) {
    const error = await tried({ [key]: value });
    assert.deepEqual([error.code, error.message], ["invalid_input", message]);
    assert.equal(error.path, `userSimulator: modelConfiguration.${key}`);
  }
  const twice = await tried({ topK: 5, top_k: 9 });
  assert.deepEqual([twice.code, twice.message], ["invalid_input", "`top_k` is also given as `topK`"]);
  const { path } = await tried({ maxOutputTokens: NaN });
  assert.match(path ?? "", /maxOutputTokens/);
  assert.equal(runs, 0);
});

test("times and attempts of a simulated user that cannot be are refused", async () => {
  for (const [options, path] of [
    [{ timeoutMs: -1 }, "userSimulator: timeoutMs"],
    [{ timeoutMs: NaN }, "userSimulator: timeoutMs"],
    [{ retry: { attempts: 0 } }, "userSimulator: retry: attempts"],
    [{ retry: { initialDelayMs: -1 } }, "userSimulator: retry: initialDelayMs"],
  ]) {
    const error = await errorOf(() => run(echo, playing(["</finished>"]), { userSimulator: options }));
    assert.deepEqual([error.code, error.path], ["invalid_input", path]);
  }
  // Timers take neither as they are.
  for (const timeoutMs of [0.5, Infinity]) {
    const reply = playing(["</finished>"]);
    const judge = timeoutMs < 1 ? async (request) => reply(request) : reply;
    const { evalCaseResults } = await run(echo, judge, { userSimulator: { timeoutMs, retry: { attempts: 1 } } });
    assert.doesNotMatch(JSON.stringify(evalCaseResults), /out of range/);
  }
});

test("strict evaluations refuse what is known of a simulated user's model before anybody is asked", async () => {
  let asked = 0;
  const count = () => `asked ${(asked += 1)}`;
  const fetch = async () => Response.json({ choices: [{ message: { content: count() }, finish_reason: "stop" }] });
  const judge = openaiJudge({ apiKey: "key-4711", model: "gpt-6-luna", fetch });
  for (const [userSimulator, message] of [
    [{ modelConfiguration: { top_k: 5 } }, /^simulated users: OpenAI is not sent `top_k`/],
    [{ model: "gemini-3.5-flash-lite" }, /^`model` of the user simulator is gemini-3\.5-flash-lite/],
  ]) {
    const options = { strict: true, userSimulator: { judge, ...userSimulator } };
    const error = await errorOf(() => run(count, playing([]), options));
    assert.match(error.message, message);
  }
  assert.equal(asked, 0);
  const fine = { judge, modelConfiguration: { temperature: 0 }, maxAllowedInvocations: 1, model: "gpt-6-luna" };
  await run(echo, playing([]), { strict: true, userSimulator: fine });
});
