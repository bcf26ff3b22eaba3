// What every runner is given. The names of tests say what comes of them: those that begin with "fails" are to fail, and
// `matchers.test.mjs` looks at their messages.

// Jest's jsdom has none of its own.
const { TextEncoder } = require("node:util");

/** A turn of an evalset. */
const turn = (text, toolUses, answer) => ({
  userContent: { role: "user", parts: [{ text }] },
  intermediateData: { toolUses, intermediateResponses: [] },
  finalResponse: { role: "model", parts: [{ text: answer }] },
});

const weatherIn = (city, unit = "C") => ({ name: "get_weather", args: { city, unit } });

const evalSet = {
  evalSetId: "weather",
  evalCases: [
    { evalId: "one_city", conversation: [turn("Oslo?", [weatherIn("Oslo")], "It is sunny in Oslo.")] },
    {
      evalId: "two_turns",
      conversation: [
        turn("Lisbon?", [weatherIn("Lisbon")], "It rains in Lisbon."),
        turn("And Porto?", [weatherIn("Porto"), { name: "get_tide", args: {} }], "It rains there too."),
      ],
    },
  ],
};

/** What an agent that knows its lines answers to a message. */
const expectedOf = (message) =>
  evalSet.evalCases
    .flatMap(({ conversation }) => conversation)
    .find(({ userContent }) => userContent.parts[0].text === message);

/** An agent that does what is expected, but for what `change` makes of it. */
const agentWith = (change) => async (message) => {
  const { intermediateData, finalResponse } = expectedOf(message);
  const { calls = intermediateData.toolUses, text = finalResponse.parts[0].text } = change(message);
  return [
    ...calls.map((functionCall) => ({ content: { parts: [{ functionCall }] } })),
    { content: { role: "model", parts: [{ text }] } },
  ];
};

const goodAgent = agentWith(() => ({}));
const wrongCalls = agentWith((message) => {
  if (message === "Oslo?") return { calls: [weatherIn("Oslo", "F")] };
  return message === "And Porto?" ? { calls: [weatherIn("Porto"), { name: "get_news", args: { n: 3 } }] } : {};
});
const wrongText = agentWith((message) => (message === "Oslo?" ? { text: "No idea, sorry." } : {}));

/**
 * Defines the tests.
 *
 * @param adk What the package exports.
 * @param folder A folder with `weather.test.json`, its `test_config.json`, `lenient/weather.test.json` and `metrics.cjs`.
 */
exports.define = ({ test, expect, adk, folder }) => {
  const { AdkMetricsError, evaluate, EvalStatus, Evaluator, DEFAULT_METRIC_EVALUATOR_REGISTRY, TrajectoryEvaluator } =
    adk;
  const CALLS = { tool_trajectory_avg_score: 1 };
  const TEXTS = { response_match_score: 0.8 };

  /** What an agent does, as an evalset of actual conversations. */
  const actualOf = (change) => ({
    ...evalSet,
    evalCases: evalSet.evalCases.map(({ evalId, conversation }) => ({
      evalId,
      conversation: conversation.map((one) => change(one)),
    })),
  });
  const good = () => evaluate({ evalSet, actual: evalSet, criteria: { ...CALLS, ...TEXTS } });
  const silent = ({ intermediateData: _calls, ...one }) => one;
  /** Evalsets with a key that nobody reads: each has its own, since every warning is printed once. */
  const withKey = (key) => ({ ...evalSet, [key]: "me" });
  const bad = () => evaluate({ evalSet, actual: actualOf(silent), criteria: CALLS });
  const trajectory = (actual) => {
    const [, { conversation }] = evalSet.evalCases;
    const metric = { metricName: "tool_trajectory_avg_score", threshold: 1 };
    return new TrajectoryEvaluator(metric).evaluateInvocations(actual ?? conversation, conversation);
  };
  const judge = async ({ sampleIndex }) =>
    `{"reasoning": "it leaves out the wind", "is_the_agent_response_valid": "${sampleIndex === 0 ? "valid" : "invalid"}"}`;

  test("passes results that passed", async () => {
    const result = await good();
    expect(result).toPass();
    expect([result, result]).toPass();
    expect(result.evalCaseResults[0]).toPass();
    expect(await trajectory()).toPass();
    await expect(good()).resolves.toPass();
  });

  test("passes results that did not pass with .not", async () => {
    const result = await bad();
    expect(result).not.toPass();
    expect(result.evalCaseResults[0]).not.toPass();
    expect({ ...result, evalCaseResults: [] }).not.toPass();
    await expect(bad()).resolves.not.toPass();
  });

  test("passes results by what they have to reach", async () => {
    const silenced = { evalSet, actual: actualOf(silent), criteria: { ...CALLS, ...TEXTS } };
    expect(await evaluate({ ...silenced, advisory: Object.keys(CALLS) })).toPass();
    const both = [await good(), await evaluate(silenced)];
    expect(both).not.toPass();
    expect(both).toPass({ allowFlaky: true, minPassRate: 0.5 });
    expect(both).not.toPass({ minPassHat: { 2: 0.9 } });
    expect(() => expect(both).toPass({ minPassRate: 0.9 })).toThrow(
      /minPassRate: 2 of 4 runs passed \(50%\); 90% takes 4, 2 too few/,
    );
    expect(() => expect(both).toPass({ minPassRate: 90 })).toThrow(/expected a number from 0 to 1/);
  });

  test("passes agents", async () => {
    await expect(goodAgent).toPassEvalSet(evalSet);
    await expect(goodAgent).toPassEvalSet(new TextEncoder().encode(JSON.stringify(evalSet)));
    await expect(Promise.resolve(goodAgent)).toPassEvalSet(evalSet, CALLS, { numRuns: 1 });
    await expect(wrongText).toPassEvalSet(evalSet, CALLS);
    await expect(wrongText).not.toPassEvalSet(evalSet);
    await expect(wrongText).not.toPassEvalSet(evalSet, TEXTS);
  });

  test("passes with warnings, each printed once", async () => {
    const printed = [];
    const { warn } = console;
    console.warn = (...texts) => printed.push(texts.join(" "));
    try {
      for (let time = 0; time < 2; time += 1) {
        await expect(goodAgent).toPassEvalSet(withKey("owner"), CALLS);
        expect(await evaluate({ evalSet: withKey("team"), actual: evalSet, criteria: CALLS })).toPass();
        await expect(goodAgent).toPassEvalSet(`${folder}/warned/weather.test.json`);
      }
    } finally {
      console.warn = warn;
    }
    expect(printed).toEqual([
      "adk-metrics: warning: `owner` is not a key of an evalset and is left out (evalSet: owner)",
      "adk-metrics: warning: `team` is not a key of an evalset and is left out (evalSet: team)",
      "adk-metrics: warning: `group` is not a key of an evalset and is left out (evalSet: group, line 2)",
    ]);
  });

  test("passes agents by files, folders and URLs, with the criteria beside", async () => {
    await expect(wrongText).toPassEvalSet(`${folder}/lenient/weather.test.json`);
    await expect(wrongText).toPassEvalSet(`${folder}/lenient`);
    await expect(wrongText).toPassEvalSet(new URL(`file://${folder}/lenient/weather.test.json`));
    await expect(wrongText).not.toPassEvalSet(`${folder}/weather.test.json`);
    await expect(wrongText).toPassEvalSet(`${folder}/weather.test.json`, CALLS);
    await expect(goodAgent).toPassEvalSet(folder);
  });

  test("passes by the mean of all runs", async () => {
    const runs = new Map();
    const everyOther = agentWith((message) => {
      const run = (runs.get(message) ?? 0) + 1;
      runs.set(message, run);
      return run % 2 === 0 ? { calls: [] } : {};
    });
    await expect(everyOther).toPassEvalSet(evalSet, { tool_trajectory_avg_score: 0.5 });
    await expect(everyOther).not.toPassEvalSet(evalSet, { tool_trajectory_avg_score: 0.75 });
  });

  test("passes with the registry and the errors of the package", async () => {
    class Polite extends Evaluator {
      evaluateInvocations(actual) {
        const evalStatus = EvalStatus.PASSED;
        const perInvocationResults = actual.map((actualInvocation) => ({ actualInvocation, score: 1, evalStatus }));
        return { overallScore: 1, overallEvalStatus: evalStatus, perInvocationResults };
      }
    }
    DEFAULT_METRIC_EVALUATOR_REGISTRY.registerEvaluator({ metricName: "polite", metricValueInfo: {} }, Polite);
    await expect(goodAgent).toPassEvalSet(evalSet, { polite: 1 });
    const error = await expect(5)
      .toPassEvalSet(evalSet)
      .then(
        () => undefined,
        (thrown) => thrown,
      );
    expect(error).toBeInstanceOf(AdkMetricsError);
    expect(error.code).toBe("invalid_input");
  });

  test("passes by the metrics of a module", async () => {
    const config = { criteria: { answered: 1 } };
    const registry = await adk.loadCustomMetrics(config, { modules: [`${folder}/metrics.cjs`] });
    await expect(goodAgent).toPassEvalSet(evalSet, config.criteria, { registry });
  });

  test("passes with what the runner's realm and others hold", async () => {
    const text = JSON.stringify(evalSet);
    const ofHere = Uint8Array.from(Buffer.from(text));
    for (const actual of [text, evalSet, ofHere, ofHere.buffer, Buffer.from(text), new TextEncoder().encode(text)]) {
      expect(await evaluate({ evalSet: actual, actual, criteria: { ...CALLS, ...TEXTS } })).toPass();
    }
    const results = await good();
    const written = new TextEncoder().encode(adk.resultsToAdkJson(results));
    expect(adk.compareRuns([written], [Uint8Array.from(written)]).cases).toHaveLength(2);
    expect(adk.rouge1("It is sunny", "sunny it is").fmeasure).toBe(1);

    const judge = async () => '{"is_the_agent_response_valid": "valid"}';
    const criteria = { final_response_match_v2: 1 };
    expect(await evaluate({ evalSet, actual: evalSet, criteria, judge })).toPass();

    const error = await evaluate({ evalSet: "{", actual: evalSet, criteria }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(AdkMetricsError);
    expect(error).toBeInstanceOf(Error);
  });

  test("fails with the calls that differ", () =>
    expect(wrongCalls).toPassEvalSet(evalSet, { ...CALLS, ...TEXTS }, { numRuns: 1 }));
  test("fails with the runs that differ", () => {
    let runs = 0;
    const once = agentWith((message) => (message === "Oslo?" && runs++ === 0 ? { calls: [] } : {}));
    return expect(once).toPassEvalSet(evalSet, CALLS, { numRuns: 3, parallelism: 1 });
  });
  test("fails without what passes on average", () => {
    let runs = 0;
    const agent = agentWith((message) => {
      if (message !== "Oslo?") return {};
      return runs++ === 0 ? { calls: [], text: "No idea." } : { calls: [] };
    });
    const criteria = { ...CALLS, response_match_score: 0.5 };
    return expect(agent).toPassEvalSet(evalSet, criteria, { numRuns: 3, parallelism: 1 });
  });
  test("fails with runs that tell the same", () => expect(wrongCalls).toPassEvalSet(evalSet, CALLS));
  test("fails with the texts that differ", () => expect(wrongText).toPassEvalSet(`${folder}/weather.test.json`));
  test("fails with the votes of a judge", () =>
    expect(goodAgent).toPassEvalSet(evalSet, { final_response_match_v2: 1 }, { numRuns: 1, judge }));
  test("fails with the scores where it should not pass", () => expect(goodAgent).not.toPassEvalSet(evalSet));
  test("fails where an agent that threw should not pass", () =>
    expect(() => {
      throw new Error("the model is on strike");
    }).not.toPassEvalSet(evalSet, CALLS, { numRuns: 1 }));
  test("fails where results of a failed agent should not pass", async () => {
    const actual = evalSet.evalCases.map(({ evalId }) => ({ evalCaseId: evalId, inferences: [], status: 2 }));
    expect(await evaluate({ evalSet, actual, criteria: CALLS })).not.toPass();
  });
  test("fails with what the agent threw", () =>
    expect(() => {
      throw new Error("the model is on strike");
    }).toPassEvalSet(evalSet, CALLS, { numRuns: 1 }));

  test("fails with warnings before what differs", () => expect(wrongCalls).toPassEvalSet(withKey("owner"), CALLS));
  test("fails with the warnings of results", async () => {
    const actual = { ...actualOf(silent), owner: "me" };
    expect(await evaluate({ evalSet, actual, criteria: CALLS })).toPass();
  });
  test("fails for warnings where they are errors", () =>
    expect(goodAgent).toPassEvalSet(withKey("owner"), CALLS, { strict: true }));

  test("fails with the cases of results", async () => expect(await bad()).toPass());
  test("fails with the scores of results where they should not pass", async () => expect(await good()).not.toPass());
  test("fails with a case", async () => expect((await bad()).evalCaseResults[1]).toPass());
  test("fails with the metric of an evaluator", async () => {
    const [, { conversation }] = evalSet.evalCases;
    expect(await trajectory(conversation.map(silent))).toPass();
  });
  test("fails where there is no case", async () => expect({ ...(await good()), evalCaseResults: [] }).toPass());
  test("fails where the run was cancelled", async () => expect({ ...(await good()), cancelled: true }).toPass());

  test("fails for what is no result", () => expect(42).toPass());
  test("fails for a promise", () => expect(good()).toPass());
  test("fails for no result with .not", () => expect({ passed: true }).not.toPass());
  test("fails for what is no agent", () => expect({ name: "x" }).toPassEvalSet(evalSet));
  test("fails for no agent with .not", () => expect(undefined).not.toPassEvalSet(evalSet));
  test("fails for a missing file", () => expect(goodAgent).toPassEvalSet("missing.evalset.json"));
  test("fails for no evalset", () => expect(goodAgent).toPassEvalSet());
  test("fails for an unusable evalset", () => expect(goodAgent).toPassEvalSet({ evalCases: 3 }));
  test("fails for an unknown metric", () => expect(goodAgent).toPassEvalSet(evalSet, { response_mach_score: 1 }));
  test("fails for a misspelt option", () => expect(goodAgent).toPassEvalSet(evalSet, CALLS, { paralelism: 2 }));
  test("fails for an unknown option", () => expect(goodAgent).toPassEvalSet(evalSet, CALLS, { bogus: 1 }));
  test("fails for criteria among options", () => expect(goodAgent).toPassEvalSet(evalSet, CALLS, { criteria: CALLS }));
  test("fails for impossible runs", () => expect(goodAgent).toPassEvalSet(evalSet, CALLS, { numRuns: 0 }));
};

exports.evalSet = evalSet;
