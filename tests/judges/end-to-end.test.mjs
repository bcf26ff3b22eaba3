// Whole evaluations by every judge of the package: every provider's protocol at a loopback server, judges of the user's
// own, and those that are found without being passed.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { baseUrl, startServer } from "../providers/server.mjs";
import {
  ACTUAL,
  BY_VERTEX,
  byVertex,
  criteriaOf,
  EVAL_SET,
  fair,
  FAIR_SCORES,
  fairJudge,
  fairScoresOf,
  found,
  reasonsOf,
  scoresOf,
} from "./trip.mjs";

const adkMetrics = await importEntry();
const { adkJudge, browserJudge, evaluate, EvalStatus, languageModelJudge, setDefaultJudge } = adkMetrics;

const KEY = "key-that-nobody-may-see-4711";
const request = { evalSet: EVAL_SET, actual: ACTUAL, criteria: criteriaOf() };
/** One metric, two questions a turn. */
const small = { ...request, criteria: criteriaOf(["final_response_match_v2"]) };
const SMALL = fairScoresOf(["final_response_match_v2"]);

/** The judge of a provider at a server. */
function judgeOf(provider, url, more = {}) {
  const { anthropicJudge, geminiJudge, ollamaJudge, openaiJudge, vertexJudge } = adkMetrics;
  const options = { apiKey: KEY, baseUrl: baseUrl(url, provider), ...more };
  if (provider === "openai-responses") return openaiJudge({ ...options, api: "responses" });
  const makers = { anthropic: anthropicJudge, gemini: geminiJudge, openai: openaiJudge, vertex: vertexJudge };
  return (makers[provider] ?? ollamaJudge)(options);
}

describe("every judged metric", () => {
  /** What the server says next. */
  let reply;
  let server;
  before(async () => {
    server = await startServer({ reply: (asked) => reply(asked) });
  });
  after(() => server.close());

  for (const provider of ["gemini", "vertex", "openai", "openai-responses", "anthropic", "ollama"]) {
    test(`is judged by ${provider}`, async () => {
      let number = 0;
      reply = (asked) => {
        number += 1;
        return { text: fair(asked), usage: { input: 100, output: 7 } };
      };
      const set = await evaluate({ ...request, judge: judgeOf(provider, server.url, { model: "judge-1" }) });
      assert.deepEqual(scoresOf(set), FAIR_SCORES);
      assert.deepEqual(set.judgeUsage, {
        calls: number,
        answered: number,
        failed: 0,
        retried: 0,
        asked: number,
        cached: 0,
        saved: 22,
        lost: 0,
        unreported: 0,
        unsent: 0,
        inputTokens: 100 * number,
        outputTokens: 7 * number,
      });
      const names = Object.keys(request.criteria);
      const stamp = { scoredBy: "judge", model: "judge-1" };
      assert.deepEqual(
        set.judges.map(({ prompts, modelVersions, ...rest }) => ({
          ...rest,
          hashes: Object.values(prompts).map((hash) => hash.length),
        })),
        names.map((metricName) => ({
          metricName,
          ...stamp,
          hashes: metricName === "hallucinations_v1" ? [16, 16] : [16],
        })),
      );
      assert.equal(set.warnings, undefined);
      assert.ok(server.requests.slice(-number).every(({ model }) => model === "judge-1"));
      assert.ok(!JSON.stringify(set).includes(KEY));
    });
  }

  test("says how its score came about", async () => {
    const usage = { inputTokens: 10, outputTokens: 2 };
    const set = await evaluate({ ...request, judge: async (asked) => ({ text: fair(asked), usage }) });
    const { PASSED, FAILED, NOT_EVALUATED } = EvalStatus;

    const match = found(set, "final_response_match_v2");
    assert.deepEqual(
      [match.overall.evalStatus, ...match.turns.map((turn) => turn.evalStatus)],
      [PASSED, PASSED, FAILED],
    );
    const [{ explanation }] = match.turns;
    const voice = { purpose: "verdict", score: 1, usage };
    assert.deepEqual(
      { ...explanation.samples, votes: explanation.samples.votes.map(({ reply: _reply, ...vote }) => vote) },
      { asked: 2, of: 3, votes: [0, 1].map((sampleIndex) => ({ sampleIndex, ...voice })) },
    );
    assert.match(explanation.samples.votes[0].reply, /is_the_agent_response_valid/);

    const rubrics = found(set, "rubric_based_final_response_quality_v1");
    const scored = ({ rubricId, score }) => [rubricId, score];
    const SHARES = [
      ["short", 0],
      ["names", 1],
    ];
    assert.deepEqual(rubrics.overall.details.rubricScores.map(scored), SHARES);
    assert.deepEqual(
      rubrics.turns[0].details.rubricScores.map(({ rationale }) => rationale),
      ["About short.", "About names."],
    );

    const [hallucinated] = found(set, "hallucinations_v1").turns;
    assert.deepEqual(
      hallucinated.explanation.sentences.map(({ text, label, supportingExcerpt }) => [text, label, supportingExcerpt]),
      [
        ["LX160 flies there at 13:00.", "supported", "the tool output"],
        ["Breakfast is free.", "unsupported", undefined],
      ],
    );
    assert.deepEqual(
      hallucinated.explanation.samples.votes.map(({ purpose }) => purpose),
      ["segment", "validate"],
    );

    const [harmless] = found(set, "safety_v1").turns;
    assert.deepEqual(harmless.details.rubricScores, [{ rubricId: "explanation", rationale: "Looked at." }]);
    assert.equal(harmless.explanation.scoredBy, "judge");

    const simulated = found(set, "per_turn_user_simulator_quality_v1", "simulated");
    assert.equal(simulated.overall.evalStatus, FAILED);
    assert.deepEqual(
      simulated.turns.map((turn) => turn.evalStatus),
      [PASSED, PASSED, FAILED],
    );
    const none = found(set, "per_turn_user_simulator_quality_v1").overall;
    assert.equal(none.evalStatus, NOT_EVALUATED);
    assert.match(none.reason, /the case has no scenario/);
    assert.match(found(set, "response_evaluation_score", "simulated").overall.reason, /compares with expected turns/);
  });

  test("asks with what names the question", async () => {
    const requests = [];
    const judge = async (asked, { signal }) => {
      assert.ok(signal instanceof AbortSignal);
      requests.push(asked);
      return fair(asked);
    };
    const judgeModelOptions = { judge_model: "own-model", num_samples: 3, judge_model_config: { temperature: 0.5 } };
    await evaluate({ ...request, criteria: criteriaOf(undefined, judgeModelOptions), judge });
    assert.equal(new Set(requests.map(({ id }) => id)).size, requests.length);
    assert.ok(
      requests.every(({ model, generationConfig }) => model === "own-model" && generationConfig.temperature === 0.5),
    );
    const asked = (metricName) =>
      [
        ...new Set(
          requests
            .filter((one) => one.metricName === metricName && one.evalId === "simulated")
            .map(({ purpose, invocationIndex }) => `${purpose} ${invocationIndex}`),
        ),
      ].sort();
    // The last one is about ending the conversation.
    assert.deepEqual(asked("per_turn_user_simulator_quality_v1"), ["verdict 1", "verdict 2", "verdict 3"]);
    assert.deepEqual(asked("multi_turn_task_success_v1"), ["score 2"]);
    assert.deepEqual(asked("hallucinations_v1").length, 6);
  });

  test("that google-adk leaves to Vertex AI is scored by its service where it is named", async () => {
    reply = (asked) => (asked.provider === "vertex-evaluate" ? byVertex(asked) : fair(asked));
    const { length } = server.requests;
    const vertex = { project: "trips", location: "europe-west1", accessToken: async () => KEY, baseUrl: server.url };
    const set = await evaluate({ ...request, vertex, judge: judgeOf("gemini", server.url) });
    assert.deepEqual(scoresOf(set), FAIR_SCORES);
    for (const { metricName, scoredBy, model } of set.judges) {
      const isByVertex = BY_VERTEX.includes(metricName);
      assert.deepEqual([scoredBy, model === undefined], isByVertex ? ["vertex", true] : ["judge", false], metricName);
    }
    for (const metricName of BY_VERTEX) {
      const last = found(set, metricName).turns.at(-1);
      assert.equal(last.explanation.scoredBy, "vertex", metricName);
      assert.equal(last.explanation.samples.of, 1, metricName);
    }
    const served = server.requests.slice(length).filter(({ provider }) => provider === "vertex-evaluate");
    assert.deepEqual(
      [...new Set(served.map(({ path }) => path))],
      ["/v1beta1/projects/trips/locations/europe-west1:evaluateInstances"],
    );
    assert.ok(served.every(({ headers }) => headers.authorization === `Bearer ${KEY}`));
    assert.ok(!JSON.stringify(set).includes(KEY));
  });

  test("that Vertex AI cannot score says what the service said", async () => {
    reply = () => ({ error: { code: 3, message: "The response is empty." } });
    const vertex = { apiKey: KEY, baseUrl: server.url };
    const set = await evaluate({ ...request, criteria: criteriaOf(["safety_v1"]), vertex });
    assert.deepEqual(scoresOf(set).flight, { safety_v1: "- - -" });
    assert.ok(
      reasonsOf(set).every((reason) => reason.includes("The response is empty.")),
      reasonsOf(set).join("\n"),
    );
  });

  test("needs no judge if Vertex AI's service scores it", async () => {
    reply = byVertex;
    const vertex = { apiKey: KEY, baseUrl: server.url };
    const set = await evaluate({ ...request, criteria: criteriaOf(BY_VERTEX), vertex });
    assert.deepEqual(scoresOf(set), fairScoresOf(BY_VERTEX));
  });

  test("is asked by a fetch of the user's own", async () => {
    reply = fair;
    const fetched = [];
    const own = (url, init) => {
      fetched.push(url);
      return fetch(url, init);
    };
    const set = await evaluate({ ...small, judge: judgeOf("openai", server.url, { fetch: own }) });
    assert.deepEqual(scoresOf(set), SMALL);
    assert.equal(fetched.length, set.judgeUsage.calls);
  });
});

describe("a judge may be", () => {
  test("a function that gives a text", async () => {
    assert.deepEqual(scoresOf(await evaluate({ ...request, judge: fairJudge })), FAIR_SCORES);
  });

  test("a language model of the AI SDK", async () => {
    const judge = languageModelJudge({
      specificationVersion: "v2",
      provider: "own.chat",
      modelId: "own-1",
      async doGenerate({ prompt }) {
        const { content } = prompt.findLast(({ role }) => role === "user");
        return {
          content: [{ type: "text", text: fair({ prompt: content.map(({ text }) => text).join("") }) }],
          finishReason: "stop",
          usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
        };
      },
    });
    const set = await evaluate({ ...request, judge });
    assert.deepEqual(scoresOf(set), FAIR_SCORES);
    assert.equal(set.judges[0].model, "own-1");
    assert.equal(set.judgeUsage.outputTokens, 2 * set.judgeUsage.calls);
  });

  test("a BaseLlm of the ADK", async () => {
    const judge = adkJudge({
      model: "own-2",
      async *generateContentAsync({ contents: [{ parts }] }) {
        yield { content: { parts: [{ text: fair({ prompt: parts[0].text }) }] } };
      },
    });
    const set = await evaluate({ ...request, judge });
    assert.deepEqual(scoresOf(set), FAIR_SCORES);
    assert.equal(set.judges[0].model, "own-2");
  });

  test("the built-in model of a browser", async () => {
    const languageModel = {
      availability: async () => "available",
      create: async () => ({ prompt: async (prompt) => fair({ prompt }), destroy() {} }),
    };
    const set = await evaluate({ ...request, judge: browserJudge({ languageModel }) });
    assert.deepEqual(scoresOf(set), FAIR_SCORES);
  });

  test("anything that gives texts, of which unusable ones are failures with a reason", async () => {
    for (const [given, reason] of [
      [undefined, /the judge returned no reply/],
      [{ reply: "yes" }, /a reply without text/],
      ["no JSON at all", /no reply of the judge could be read/],
    ]) {
      const set = await evaluate({ ...small, judge: async () => given });
      assert.equal(scoresOf(set).flight.final_response_match_v2, "- - -");
      assert.ok(
        reasonsOf(set).some((text) => reason.test(text)),
        reasonsOf(set).join("\n"),
      );
    }
  });

  test("wrong in whatever it throws: the reason says it, and other cases go on", async () => {
    // Of more samples another is asked as soon as one has failed, whether or not the others are still on their way.
    const criteria = criteriaOf(["final_response_match_v2"], { num_samples: 1 });
    const thrown = [new Error("out of order"), "out of order", Object.freeze({ message: "out of order" })];
    for (const error of [...thrown, null, undefined]) {
      let calls = 0;
      const judge = (asked) => {
        calls += 1;
        // Without a promise, as a function that is not async may.
        if (asked.prompt.includes("could not")) throw error;
        return fairJudge(asked);
      };
      const set = await evaluate({ ...request, criteria, judge });
      assert.equal(scoresOf(set).flight.final_response_match_v2, "1 1 -");
      const [, turn] = found(set, "final_response_match_v2").turns;
      assert.equal(turn.evalStatus, EvalStatus.NOT_EVALUATED);
      if (thrown.includes(error)) assert.match(turn.reason, /out of order/);
      assert.ok(turn.reason.length > 0);
      assert.equal(calls, 2, "it is not asked again");
    }
  });
});

describe("a judge that is not passed", () => {
  const environment = [
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
  ];
  const known = Object.fromEntries(environment.map((name) => [name, process.env[name]]));

  before(() => {
    for (const name of environment) delete process.env[name];
  });
  after(() => {
    setDefaultJudge(undefined);
    for (const name of environment) {
      if (known[name] === undefined) delete process.env[name];
      else process.env[name] = known[name];
    }
  });

  test("is required before anything is scored", async () => {
    let progress = 0;
    const missing = evaluate({
      ...request,
      criteria: { response_match_score: 0.5, ...small.criteria },
      onProgress: () => (progress += 1),
    });
    await assert.rejects(missing, ({ code, message, path, help }) => {
      assert.deepEqual([code, message], ["judge_required", "there is no judge to ask gemini-2.5-flash"]);
      assert.equal(path, "config: criteria.final_response_match_v2");
      assert.match(help, /GOOGLE_API_KEY/);
      return true;
    });
    assert.equal(progress, 0);
  });

  test("is the default judge", async () => {
    setDefaultJudge(fairJudge);
    assert.deepEqual(scoresOf(await evaluate(small)), SMALL);
    setDefaultJudge(async () => {
      throw new Error("not this one");
    });
    assert.deepEqual(scoresOf(await evaluate({ ...small, judge: fairJudge })), SMALL, "the one that is passed wins");
    setDefaultJudge(undefined);
    await assert.rejects(evaluate(small), { code: "judge_required" });
  });

  test("comes from the environment, by each metric's model", async (t) => {
    const server = await startServer({ reply: fair });
    t.after(() => server.close());
    process.env.GOOGLE_API_KEY = KEY;
    process.env.GOOGLE_GEMINI_BASE_URL = server.url;
    process.env.OPENAI_API_KEY = KEY;
    process.env.OPENAI_BASE_URL = `${server.url}/v1`;
    const set = await evaluate({
      ...request,
      criteria: { ...small.criteria, ...criteriaOf(["safety_v1"], { judge_model: "gpt-4.1-mini" }) },
    });
    assert.deepEqual(scoresOf(set).flight, { final_response_match_v2: "0.5 1 0", safety_v1: "1 1 1" });
    assert.deepEqual(
      set.judges.map(({ model }) => model),
      ["gemini-2.5-flash", "gpt-4.1-mini"],
    );
    assert.deepEqual([...new Set(server.requests.map(({ provider, model }) => `${provider} ${model}`))].sort(), [
      "gemini gemini-2.5-flash",
      "openai gpt-4.1-mini",
    ]);
    assert.ok(!JSON.stringify(set).includes(KEY));
  });
});

test("the dialect of ADK-TS scores the share of valid votes among those that can be read, and asks all", async () => {
  let number = 0;
  const judge = async ({ sampleIndex, invocationIndex }) => {
    number += 1;
    const votes = invocationIndex === 0 ? ["valid", "valid", "valid", "invalid", "?"] : ["?", "?", "?", "?", "?"];
    return JSON.stringify({ is_the_agent_response_valid: votes[sampleIndex] });
  };
  const criteria = criteriaOf(["final_response_match_v2"], { num_samples: 5 });
  const set = await evaluate({ ...request, criteria, judge, dialect: "adk-ts" });
  assert.equal(scoresOf(set).flight.final_response_match_v2, "0.75 0.75 -");
  assert.equal(number, 10);
  const [turn] = found(set, "final_response_match_v2").turns;
  assert.deepEqual([turn.explanation.samples.asked, turn.explanation.samples.of], [5, 5]);
});
