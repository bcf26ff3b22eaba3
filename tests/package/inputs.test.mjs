// The package's contract: the inputs that are taken, and the errors of the others.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ACTUAL, EXPECTED, evalSetOf, inSnakeCase, turn } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";
import { CRITERIA, bytes } from "./support/contract.mjs";

const adk = await importEntry();
const { AdkMetricsError, EvalStatus, evaluate } = adk;

describe("inputs", () => {
  const shapes = {
    "an evalset in camelCase": (set) => [set, (at, turn) => set.evalCases[at].conversation[turn]],
    "an evalset in snake_case": (set) => {
      const snake = inSnakeCase(set);
      return [snake, (at, turn) => snake.eval_cases[at].conversation[turn]];
    },
    "evalset results": (set) => {
      const results = {
        evalSetId: "set",
        evalSetResultId: "r",
        evalCaseResults: set.evalCases.map(({ evalId, conversation }) => ({
          evalSetId: "set",
          evalId,
          finalEvalStatus: 1,
          overallEvalMetricResults: [],
          sessionId: `session-${evalId}`,
          evalMetricResultPerInvocation: conversation.map((actualInvocation) => ({
            actualInvocation,
            evalMetricResults: [],
          })),
        })),
      };
      const at = (at, turn) => results.evalCaseResults[at].evalMetricResultPerInvocation[turn].actualInvocation;
      return [results, at];
    },
    "a list of inference results": (set) => {
      const list = set.evalCases.map(({ evalId, conversation }) => ({ evalCaseId: evalId, inferences: conversation }));
      return [list, (at, turn) => list[at].inferences[turn]];
    },
    "inference results in an object": (set) => {
      const list = set.evalCases.map(({ evalId, conversation }) => ({
        eval_case_id: evalId,
        inferences: conversation,
      }));
      return [{ inference_results: list }, (at, turn) => list[at].inferences[turn]];
    },
  };
  for (const [what, make] of Object.entries(shapes)) {
    const isConverted = what === "an evalset in snake_case";
    const come = isConverted ? "come back in camelCase" : "come back";
    test(`the ${isConverted ? "" : "very "}invocations of ${what} ${come}, also if the cases stand in another order`, async () => {
      const shuffled = { ...ACTUAL, evalCases: [...ACTUAL.evalCases].reverse() };
      const [actual, invocation] = make(structuredClone(shuffled));
      const set = await evaluate({ evalSet: EXPECTED, actual, criteria: CRITERIA });
      for (const [at, { evalMetricResultPerInvocation: turns }] of set.evalCaseResults.entries()) {
        for (const [index, { actualInvocation, expectedInvocation }] of turns.entries()) {
          if (isConverted) assert.deepEqual(actualInvocation, shuffled.evalCases[2 - at].conversation[index]);
          else assert.equal(actualInvocation, invocation(2 - at, index));
          assert.equal(expectedInvocation, EXPECTED.evalCases[at].conversation[index]);
        }
      }
    });

    test(`${what} as object, text and bytes score the same`, async () => {
      const [actual] = make(structuredClone(ACTUAL));
      const results = [];
      for (const given of [
        actual,
        JSON.stringify(actual),
        bytes(actual),
        bytes(actual).buffer,
        new DataView(bytes(actual).buffer),
      ]) {
        const { evalCaseResults } = await evaluate({ evalSet: bytes(EXPECTED), actual: given, criteria: CRITERIA });
        results.push(
          evalCaseResults.map(({ evalMetricResultPerInvocation: turns, ...rest }) => ({
            ...rest,
            turns: turns.map((one) => one.evalMetricResults),
          })),
        );
      }
      for (const other of results.slice(1)) assert.deepEqual(other, results[0]);
      assert.deepEqual(
        results[0].map((result) => result.finalEvalStatus),
        [1, 2, 2],
      );
    });
  }

  test("session files are read, and their session and user named", async () => {
    const event = (author, text) => ({ author, invocationId: "i", content: { parts: [{ text }] }, timestamp: 1 });
    const sessions = [{ id: "s1", userId: "u1", evalId: "c", events: [event("user", "Hi"), event("agent", "Hello")] }];
    const evalSet = evalSetOf({ c: [turn("Hi", "Hello")] });
    const set = await evaluate({ evalSet, actual: sessions, criteria: { response_match_score: 1 } });
    const [result] = set.evalCaseResults;
    assert.deepEqual([result.finalEvalStatus, result.sessionId, result.userId], [1, "s1", "u1"]);
    const [{ actualInvocation }] = result.evalMetricResultPerInvocation;
    assert.equal(actualInvocation.finalResponse.parts[0].text, "Hello");
  });

  test("invocations read from bytes are parsed when looked at, once", async () => {
    const set = await evaluate({
      evalSet: bytes(inSnakeCase(EXPECTED)),
      actual: bytes(inSnakeCase(ACTUAL)),
      criteria: CRITERIA,
    });
    const [entry] = set.evalCaseResults[0].evalMetricResultPerInvocation;
    for (const key of ["actualInvocation", "expectedInvocation"]) {
      const property = Object.getOwnPropertyDescriptor(entry, key);
      assert.equal(typeof property.get, "function");
      assert.equal(property.enumerable, true);
      assert.equal(entry[key], entry[key]);
    }
    assert.deepEqual(Object.keys(entry), ["actualInvocation", "expectedInvocation", "evalMetricResults"]);
  });

  test("invocations read from bytes are in camelCase, with the arguments of tools untouched", async () => {
    const args = { a_b: { c_d: 1 }, eF: [{ g_h: null }], "": 0, eval_id: "x", tool_uses: [] };
    const evalSet = bytes(inSnakeCase(evalSetOf({ c: [turn("q", "a", [["t", args]])] })));
    const set = await evaluate({ evalSet, actual: evalSet, criteria: CRITERIA });
    const [{ actualInvocation }] = set.evalCaseResults[0].evalMetricResultPerInvocation;
    assert.equal(actualInvocation.userContent.parts[0].text, "q");
    assert.deepEqual(actualInvocation.intermediateData.toolUses[0].args, args);
  });

  test("results read from bytes can be copied every way", async () => {
    const set = await evaluate({ evalSet: bytes(EXPECTED), actual: bytes(ACTUAL), criteria: CRITERIA });
    const json = JSON.parse(JSON.stringify(set));
    const [entry] = set.evalCaseResults[0].evalMetricResultPerInvocation;
    assert.equal(
      json.evalCaseResults[0].evalMetricResultPerInvocation[0].actualInvocation.finalResponse.parts[0].text,
      "The weather in London is sunny",
    );
    assert.deepEqual(structuredClone(set), set);
    assert.deepEqual(
      JSON.parse(JSON.stringify({ ...entry })),
      json.evalCaseResults[0].evalMetricResultPerInvocation[0],
    );
  });

  test("a repeated eval id is another run of its case", async () => {
    const actual = { ...ACTUAL, evalCases: [...ACTUAL.evalCases, ...ACTUAL.evalCases.slice(0, 1)] };
    const list = actual.evalCases.map(({ evalId, conversation }) => ({ evalCaseId: evalId, inferences: conversation }));
    const set = await evaluate({ evalSet: EXPECTED, actual: list, criteria: CRITERIA });
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.evalId),
      ["passes", "passes", "fails", "long"],
    );
  });

  test("a case without a run is FAILED with the reason; a run without a case is a warning", async () => {
    const actual = evalSetOf({ passes: ACTUAL.evalCases[0].conversation, stray: [turn("x", "y")] });
    const set = await evaluate({ evalSet: EXPECTED, actual, criteria: CRITERIA });
    const { finalEvalStatus, reason } = set.evalCaseResults[1];
    assert.equal(finalEvalStatus, EvalStatus.FAILED);
    assert.match(reason, /there is no actual conversation for this case/);
    assert.equal(set.warnings.length, 1);
    assert.equal(set.warnings[0].message, 'the actual conversation "stray" belongs to no eval case and is left out');
  });

  test("a recording of other questions is warned of, with both texts", async () => {
    const [polite, rude] = ["Could you, please, tell me what the weather is in Paris", "on Sunday?"];
    const evalSet = evalSetOf({
      a: [turn("Hi there", "x"), turn(`${polite} today?`, "sunny")],
      b: [turn("In Rome?", "y")],
      c: [turn("In Oslo?", "z")],
    });
    const actual = evalSetOf({
      a: [turn("Hi\n there ", "x"), turn(`${polite} ${rude}`, "sunny")],
      b: [turn("In Bonn?", "y")],
      c: [turn("", "z")],
    });
    for (const inputs of [
      { evalSet, actual },
      { evalSet: bytes(evalSet), actual: bytes(actual) },
    ]) {
      const { warnings } = await evaluate({ ...inputs, criteria: CRITERIA });
      assert.deepEqual(warnings, [
        {
          code: "invalid_input",
          message:
            'in turn 2 of the case "a" the agent was asked "…weather is in Paris on Sunday?", but the evalset ' +
            'asks "…weather is in Paris today?"; so it is in 2 of 3 runs',
          path: "actual",
          help: "If the evalset was edited after the agent was run, run it again: these are answers to other questions",
        },
      ]);
      const one = await evaluate({ ...inputs, criteria: CRITERIA, evalIds: ["b"] });
      assert.match(
        one.warnings[0].message,
        /^in turn 1 of the case "b" .*"In Bonn\?", but the evalset asks "In Rome\?"$/,
      );
      assert.equal((await evaluate({ ...inputs, criteria: CRITERIA, evalIds: ["c"] })).warnings, undefined);
      await assert.rejects(evaluate({ ...inputs, criteria: CRITERIA, strict: true }), /the agent was asked/);
    }
  });

  test("what a simulated user said is not compared with the scenario", async () => {
    const scenario = { startingPrompt: "Hi", conversationPlan: "Ask for the weather." };
    const evalSet = { evalSetId: "set", evalCases: [{ evalId: "a", conversationScenario: scenario }] };
    const actual = evalSetOf({ a: [turn("Good day", "x")] });
    const { warnings } = await evaluate({ evalSet, actual, criteria: {}, countOnly: true });
    assert.equal(warnings, undefined);
  });

  test("runs pair by position only if no id matches and the counts agree", async () => {
    const rename = (set) => ({
      ...set,
      evalCases: set.evalCases.map((one, index) => ({ ...one, evalId: `other-${index}` })),
    });
    const same = await evaluate({ evalSet: EXPECTED, actual: rename(ACTUAL), criteria: CRITERIA });
    assert.deepEqual(
      same.evalCaseResults.map((one) => one.finalEvalStatus),
      [1, 2, 2],
    );
    const fewer = { ...ACTUAL, evalCases: rename(ACTUAL).evalCases.slice(1) };
    const none = await evaluate({ evalSet: EXPECTED, actual: fewer, criteria: CRITERIA });
    assert.ok(none.evalCaseResults.every((one) => one.reason !== undefined));
  });

  test("a difference in turns fails that case only", async () => {
    const actual = structuredClone(ACTUAL);
    actual.evalCases[2].conversation.pop();
    const set = await evaluate({ evalSet: EXPECTED, actual, criteria: CRITERIA });
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.finalEvalStatus),
      [1, 2, 2],
    );
    assert.match(set.evalCaseResults[2].reason, /has 1 turn, the expected one 2/);
  });

  test("any id comes back as it is", async () => {
    const ids = ["a\0b", "", "ü", "𝒳", '"', "\u2028", "__proto__", "constructor"];
    const evalCases = ids.map((evalId) => ({
      evalId,
      conversation: [turn("q", "a")],
      sessionInput: { appName: "app", userId: `user ${evalId}\0`, state: {} },
    }));
    const evalSet = { evalSetId: "s", evalCases };
    const set = await evaluate({ evalSet, actual: evalSet, criteria: CRITERIA });
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.evalId),
      ids,
    );
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.userId),
      ids.map((id) => `user ${id}\0`),
    );
  });

  test("evalIds choose the cases", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL, criteria: CRITERIA, evalIds: ["long", "passes"] });
    assert.deepEqual(
      set.evalCaseResults.map((one) => one.evalId),
      ["passes", "long"],
    );
  });

  test("without a config ADK's default criteria apply, and every config measures efficiency", async () => {
    const set = await evaluate({ evalSet: EXPECTED, actual: ACTUAL });
    assert.deepEqual(
      set.evalCaseResults[0].overallEvalMetricResults.map(({ metricName, threshold }) => [metricName, threshold]),
      [
        ["tool_trajectory_avg_score", 1],
        ["response_match_score", 0.8],
        ["tool_call_count_v1", undefined],
        ["inference_call_count_v1", undefined],
        ["token_usage_v1", undefined],
        ["invocation_duration_v1", undefined],
      ],
    );
  });
});

describe("errors", () => {
  const both = { evalSet: EXPECTED, actual: ACTUAL };
  const mistakes = [
    [
      { ...both, evalSet: '{\n "eval_set_id": "s",\n "eval_cases": [\n  {"eval_id": 7}\n ]\n}' },
      {
        code: "invalid_input",
        message: "expected a string, found the number 7",
        path: "evalSet: eval_cases[0].eval_id",
        line: 4,
      },
    ],
    [
      { ...both, evalSet: { evalSetId: "s", evalCases: [{ evalId: 7 }] } },
      {
        code: "invalid_input",
        message: "expected a string, found the number 7",
        path: "evalSet: evalCases[0].evalId",
        line: undefined,
      },
    ],
    [
      { ...both, actual: '{\n "eval_set_id": "s",\n oops' },
      { code: "invalid_json", message: "expected a key in double quotes, found 'o'", path: "actual", line: 3 },
    ],
    [
      { ...both, evalSet: "evals/weather.evalset.json" },
      {
        code: "invalid_input",
        message: 'expected JSON text, bytes or an object, found "evals/weather.evalset.json"',
        path: "evalSet",
        help: "Pass the contents of the file: await readFile(…)",
      },
    ],
    [
      { ...both, actual: Promise.resolve({}) },
      { code: "invalid_input", message: "expected JSON text, bytes or an object, found a Promise", path: "actual" },
    ],
    [
      { ...both, actual: new Response("{}") },
      { code: "invalid_input", message: "expected JSON text, bytes or an object, found a Response", path: "actual" },
    ],
    [
      { ...both, criteria: { response_match_scor: 1 } },
      {
        code: "unknown_metric",
        message: "there is no metric `response_match_scor`",
        path: "config: criteria.response_match_scor",
        help: "Did you mean `response_match_score`?",
      },
    ],
    [
      { ...both, config: '{"criteria":\n{"response_match_score": {}}}' },
      {
        code: "threshold_required",
        message: "the metric `response_match_score` needs a threshold",
        path: "config: criteria.response_match_score",
        line: 2,
      },
    ],
    [
      { ...both, criteria: { token_usage_v1: 1 } },
      { code: "threshold_not_supported", path: "config: criteria.token_usage_v1" },
    ],
    [
      { ...both, criteria: { tool_trajectory_avg_score: { threshold: 1, match_typ: "EXACT" } } },
      {
        code: "invalid_criterion",
        message: "`tool_trajectory_avg_score` has no setting `match_typ`",
        help: "Did you mean `match_type`?",
      },
    ],
    [
      { ...both, evalIds: ["nope"] },
      { code: "invalid_input", message: 'the evalset has no case "nope"', path: "evalSet" },
    ],
    [
      { evalSet: EXPECTED },
      { code: "invalid_input", message: "expected JSON text, bytes or an object, found nothing", path: "actual" },
    ],
    [
      { ...both, dialect: "adk-java" },
      { code: "invalid_input", message: 'expected "adk-python" or "adk-ts", found "adk-java"', path: "dialect" },
    ],
    [
      { ...both, explain: "some" },
      { code: "invalid_input", path: "explain" },
    ],
    [
      { ...both, concurrency: 0 },
      { code: "invalid_input", message: "expected a number from 1 up, found 0", path: "concurrency" },
    ],
    [
      { ...both, timeoutMs: NaN },
      { code: "invalid_input", path: "timeoutMs" },
    ],
    [undefined, { code: "invalid_input", message: "expected an object, found nothing", path: "request" }],
  ];
  for (const [request, expected] of mistakes) {
    test(`${expected.path ?? expected.code}: ${expected.message ?? expected.code}`, async () => {
      await assert.rejects(evaluate(request), (error) => {
        assert.ok(error instanceof AdkMetricsError);
        assert.ok(error instanceof Error);
        assert.equal(error.name, "AdkMetricsError");
        for (const [key, value] of Object.entries(expected)) assert.equal(error[key], value, key);
        assert.equal("line" in error, expected.line !== undefined);
        return true;
      });
    });
  }

  test("say everything in one text", async () => {
    const error = await evaluate({ ...both, config: '{"criteria": {"x": 1}}' }).catch((thrown) => thrown);
    assert.equal(`${error}`, "there is no metric `x` (at config: criteria.x, line 1). " + error.help);
  });
});

test("recorded token counts and durations below 0 count, as in google-adk, with a warning", async () => {
  const said = (role, text) => ({ role, parts: [{ text }] });
  const turn = { userContent: said("user", "Hi"), finalResponse: said("model", "Hello!") };
  const evalSet = { evalSetId: "set", evalCases: [{ evalId: "a", conversation: [turn] }] };
  const told = async (more, event) => {
    const invocationEvents = [{ author: "agent", ...event }];
    const inferences = [{ ...turn, ...more, intermediateData: { invocationEvents } }];
    const inferenceResults = [{ evalSetId: "set", evalCaseId: "a", sessionId: "s", status: 1, inferences }];
    const { warnings = [] } = await evaluate({
      evalSet,
      actual: JSON.stringify({ inferenceResults }),
      criteria: { response_match_score: 0.5 },
    });
    return warnings.map(({ message }) => message);
  };
  const warning = 'a token count or duration below 0 was recorded in "a", and counts as it is';
  for (const more of [{ duration: -1 }, { modelDuration: -0.5 }, { tool_duration: -2 }]) {
    assert.deepEqual(await told(more, {}), [warning]);
  }
  for (const usage of [{ promptTokenCount: -3 }, { thoughts_token_count: -1, prompt_token_count: 9 }]) {
    assert.deepEqual(await told({}, { usageMetadata: usage }), [warning]);
  }
  const functionCall = { name: "wait", args: { duration: -5 } };
  const event = { content: { parts: [{ functionCall }] }, usageMetadata: { promptTokenCount: 3 } };
  assert.deepEqual(await told({ duration: 1 }, event), [], "an argument is no amount of the run");
});
