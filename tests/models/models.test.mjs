// Every judged metric, and a simulated user, with a real model at the other end of the wire. It is too small to judge well:
// what is tested is that its replies are read, and that what cannot be read is said.
//
// `MODEL_TESTS=full` asks five samples of every metric with longer replies; it takes about half an hour and
// prints the shares that docs/judges.md states.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { CRITERIA } from "../judges/trip.mjs";

const MODEL = fileURLToPath(new URL("model/SmolLM2-135M-Instruct.Q4_1.gguf", import.meta.url));
const NEEDED = [MODEL, ...["node_modules", "../agents/node_modules"].map((path) => new URL(path, import.meta.url))];
const isThere = NEEDED.every((path) => existsSync(path));
const isFull = process.env.MODEL_TESTS === "full";
const SAMPLES = isFull ? 5 : 1;
const USER_TURNS = 5;

const content = (role, part) => ({ role, parts: [part] });
const args = { city: "Oslo" };
const TOLD = {
  invocation_id: "1",
  user_content: content("user", { text: "Is it clear in Oslo?" }),
  final_response: content("model", { text: "Yes, it is clear." }),
  intermediate_data: {
    invocation_events: [
      { author: "weather", content: content("model", { function_call: { name: "sky", args } }) },
      {
        author: "weather",
        content: content("user", { function_response: { name: "sky", response: { sky: "clear" } } }),
      },
    ],
  },
};
const SCENARIO = { starting_prompt: "Is it clear in Oslo?", conversation_plan: "Ask about Oslo, then about Paris." };
/** What a simulated user says after that: the first message is the scenario's own, so that no judge is asked about it. */
const NEXT = { ...TOLD, invocation_id: "2", user_content: content("user", { text: "And in Paris?" }) };
const setOf = (one) => ({ eval_set_id: "sky", eval_cases: [{ eval_id: "oslo", ...one }] });

describe("a real model", { skip: isThere ? false : "tests/models/README.md says what it needs" }, () => {
  let server, adk, judge;
  before(async () => {
    const { serveModel } = await import("./server.mjs");
    adk = await import("../../pkg/dist/esm/node.js");
    // In CI nothing else runs beside it; threads that wait for a busy core are slower than one.
    server = await serveModel(MODEL, { threads: process.env.CI === "true" ? 2 : 1 });
    judge = adk.openaiJudge({ apiKey: "none", baseUrl: server.baseUrl, model: "smollm2" });
  });
  after(() => server?.close());

  /** Scores a conversation by one metric: its overall result, the results of its turns, and all samples. */
  async function scored(metricName, ignoreSchemas) {
    server.ignoreSchemas = ignoreSchemas;
    const isOfUser = metricName === "per_turn_user_simulator_quality_v1";
    const judge_model_config = { temperature: isFull ? 0.7 : 0, max_output_tokens: isFull ? 150 : 30 };
    const judge_model_options = { num_samples: SAMPLES, judge_model_config };
    const { evalCaseResults, judgeUsage } = await adk.evaluate({
      evalSet: setOf(isOfUser ? { conversation_scenario: SCENARIO } : { conversation: [TOLD] }),
      actual: setOf({ conversation: isOfUser ? [TOLD, NEXT] : [TOLD] }),
      criteria: { [metricName]: { ...CRITERIA[metricName], judge_model_options } },
      judge,
      earlyStop: false,
      concurrency: 1,
      timeoutMs: 600_000,
      retry: { attempts: 1 },
    });
    const [{ overallEvalMetricResults, evalMetricResultPerInvocation }] = evalCaseResults;
    const turns = evalMetricResultPerInvocation.map(({ evalMetricResults }) => evalMetricResults[0]);
    // The stop signal's turn is no turn of the conversation: its samples are those of the whole.
    const all = [overallEvalMetricResults[0], ...turns];
    const votes = all.flatMap(({ explanation }) => explanation?.samples?.votes ?? []);
    assert.equal(judgeUsage.failed, 0, "every call is answered");
    assert.ok(server.replies.length > 0 && server.replies.every((isBound) => isBound !== ignoreSchemas));
    server.replies.length = 0;
    // Sentences that were found are voted on in the reply to the next question.
    const isVoted = votes.some(({ purpose }) => purpose === "validate");
    const counted = votes.filter(({ purpose }) => !isVoted || purpose !== "segment");
    return { overall: overallEvalMetricResults[0], votes: counted };
  }
  const shareOf = (votes) => `${votes.filter(({ score }) => score !== undefined).length} of ${votes.length}`;

  for (const metricName of Object.keys(CRITERIA)) {
    test(`${metricName}: every reply is read with a schema, and what is not read without says why`, async (context) => {
      const bound = await scored(metricName, false);
      assert.equal(typeof bound.overall.score, "number", bound.overall.reason);
      assert.ok(bound.votes.length > 0, "there are replies to read");
      for (const { score, reply } of bound.votes) assert.equal(typeof score, "number", `not read: ${reply}`);
      context.diagnostic(`with a schema, ${shareOf(bound.votes)} replies were read`);
      const { overall, votes } = await scored(metricName, true);
      context.diagnostic(`without, ${shareOf(votes)}`);
      if (overall.score === undefined) assert.match(overall.reason, /could be read|sentence/);
    });
  }

  test("a simulated user talks to an agent for five turns", async (context) => {
    server.ignoreSchemas = false;
    const { LIBRARIES, call, say, sky, weatherAgent } = await import("../agents/libraries.mjs");
    const asked = { metricName: "", purpose: "score", invocationIndex: 0, stepIndex: 0, sampleIndex: 0, model: "" };
    /** The agent's model is the same one, which is told what the tool said. */
    const script = async ({ user, responses }) => {
      if (responses.length === 0) return call(["get_weather", { city: "Paris" }]);
      const prompt = `${user}\nThe sky is ${responses[0].response.sky}. Answer in a few words.`;
      const request = { ...asked, id: prompt, prompt, generationConfig: { maxOutputTokens: 12 } };
      return say((await judge(request, { signal: new AbortController().signal })).text);
    };
    const [library] = LIBRARIES;
    const result = await adk.AgentEvaluator.evaluateEvalSet(
      library.runner(weatherAgent(library, { script, tools: [library.tool("get_weather", sky)] })),
      setOf({ conversation_scenario: SCENARIO }),
      { multi_turn_task_success_v1: { threshold: 0, judge_model_options: { num_samples: 1 } } },
      1,
      false,
      {
        judge,
        userSimulator: {
          maxAllowedInvocations: USER_TURNS,
          modelConfiguration: { temperature: 0.5, maxOutputTokens: 12 },
        },
      },
    );
    const [{ evalMetricResultPerInvocation: turns, overallEvalMetricResults }] = result.evalCaseResults;
    assert.equal(typeof overallEvalMetricResults[0].score, "number", overallEvalMetricResults[0].reason);
    const said = turns.map(({ actualInvocation: { userContent, finalResponse } }) =>
      [userContent, finalResponse].map(({ parts }) => parts[0].text),
    );
    context.diagnostic(JSON.stringify(said));
    assert.equal(said.length, USER_TURNS);
    for (const text of said.flat()) assert.ok(text.trim() !== "");
  });
});
