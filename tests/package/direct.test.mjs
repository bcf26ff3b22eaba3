// Of objects the engine is given what metrics read: of a conversation by an evaluator, in one call, and of evalsets by
// `evaluate`. Of bytes it is given everything. A run of an evaluator is handed everything, as JSON: what
// takes more than one call goes there, such as a conversation with a scenario, of which these metrics read nothing. Both ways
// have to come to the same.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom } from "../adk-ts/random.mjs";
import { seen } from "./support/crashes.mjs";
import { turn } from "./support/conversations.mjs";
import { importEntry } from "./support/package.mjs";

const adk = await importEntry();

/** As many random conversations as are compared. FUZZ=1000000 takes an hour. */
const CONVERSATIONS = Number(process.env.FUZZ ?? 3000);

const SCENARIO = { startingPrompt: "", conversationPlan: "" };

/** The metrics that ask no judge, with settings. */
const METRICS = [
  ["RougeEvaluator", {}],
  ["TrajectoryEvaluator", { matchType: "EXACT" }],
  ["TrajectoryEvaluator", { matchType: "IN_ORDER" }],
  ["TrajectoryEvaluator", { matchType: "ANY_ORDER", ignoreArgs: true }],
  ["ToolParameterMatchEvaluator", { defaultStrategy: "contains" }],
  ["ToolTrajectoryF1Evaluator", {}],
  ["ToolCallCountV1Evaluator"],
  ["InferenceCallCountV1Evaluator"],
  ["TokenUsageV1Evaluator"],
  ["InvocationDurationV1Evaluator"],
];

const metricOf = (criterion) => ({
  metricName: "m",
  ...(criterion && { threshold: 0.6, criterion: { threshold: 0.6, ...criterion } }),
});

const EVALUATORS = METRICS.flatMap(([name, criterion]) =>
  [{ explain: "all" }, { explain: "none" }, { dialect: "adk-ts" }].map(
    (options) => new adk[name](metricOf(criterion), options),
  ),
);

/** Where a mistake has to be found by either way: what each class reads, in either spelling. */
const calls = (call) =>
  new RegExp(
    String.raw`^\w+: \[\d+\](\.intermediateData(\.toolUses(\[\d+\](\.(${call}))?)?|\.invocationEvents(\[\d+\](\.content(\.parts(\[\d+\](\.functionCall(\.(${call}))?)?)?)?)?)?)?)?$`,
  );
const CALLS = calls("name|args.*");
const EVENT = String.raw`intermediateData(\.invocationEvents(\[\d+\]`;
const READ = {
  RougeEvaluator: /^\w+: \[\d+\](\.finalResponse(\.parts(\[\d+\](\.text)?)?)?)?$/,
  TrajectoryEvaluator: CALLS,
  ToolParameterMatchEvaluator: CALLS,
  ToolTrajectoryF1Evaluator: CALLS,
  ToolCallCountV1Evaluator: calls("name"),
  InferenceCallCountV1Evaluator: new RegExp(
    String.raw`^\w+: \[\d+\](\.${EVENT}(\.(modelVersion|usageMetadata.*))?)?)?)?$`,
  ),
  TokenUsageV1Evaluator: new RegExp(String.raw`^\w+: \[\d+\](\.${EVENT}(\.usageMetadata.*)?)?)?)?$`),
  InvocationDurationV1Evaluator: /^\w+: \[\d+\](\.(duration|modelDuration|toolDuration))?$/,
};

/** What comes of a call, as text: results with all that they hold, errors by all that they say. */
async function outcome(work) {
  try {
    return JSON.stringify(await work(), (_, value) => (typeof value === "bigint" ? `${value}n` : value));
  } catch (error) {
    assert.ok(error instanceof adk.AdkMetricsError, error?.stack);
    const { code, message, path, help } = error;
    return JSON.stringify({ code, message, path, help });
  }
}

const { next, between, pick, chance } = createRandom(Number(process.env.SEED ?? 1));
const WORDS = [
  "sunny",
  "Sunny!",
  "it's",
  "ran",
  "running",
  "天気",
  "naïve",
  "🌞",
  "\n",
  "3.50",
  "\u0000",
  '"',
  "\\ud800",
  "",
];
const text = () => Array.from({ length: between(0, 6) }, () => pick(WORDS)).join(" ");
const NUMBERS = [0, -0, 1, 1.5, -2, 1e21, 5e-324, 0.1 + 0.2, 2 ** 53];
const maybe = (probability, make) => (chance(probability) ? make() : undefined);

function anything(depth = 0) {
  const kind = between(0, depth > 2 ? 4 : 6);
  if (kind === 5) return Array.from({ length: between(0, 3) }, () => anything(depth + 1));
  if (kind === 6) return Object.fromEntries(Array.from({ length: between(0, 3) }, () => [text(), anything(depth + 1)]));
  return [null, chance(0.5), pick(NUMBERS), text(), text()][kind];
}

const argsOf = () =>
  maybe(0.8, () => ({ city: pick(["London", "london", "Paris"]), ...maybe(0.3, () => ({ x: anything() })) }));
const callOf = () => ({ id: maybe(0.2, text), name: maybe(0.95, () => pick(["weather", "flights"])), args: argsOf() });
const contentOf = () => ({
  role: maybe(0.7, () => "model"),
  parts: maybe(0.95, () => Array.from({ length: between(0, 3) }, partOf)),
});

function partOf() {
  return {
    text: maybe(0.7, text),
    thought: maybe(0.2, () => chance(0.5)),
    functionCall: maybe(0.3, callOf),
    functionResponse: maybe(0.1, () => ({ id: "1", name: "weather", response: { x: anything() } })),
    thoughtSignature: maybe(0.1, () => "abc"),
  };
}

const eventOf = () => ({
  author: "agent",
  content: maybe(0.9, contentOf),
  usageMetadata: maybe(0.5, () => ({
    promptTokenCount: between(0, 9),
    candidatesTokenCount: maybe(0.5, () => 3),
    x: 1,
  })),
  modelVersion: maybe(0.3, text),
  groundingMetadata: maybe(0.1, () => ({ a: anything() })),
});

const dataOf = () =>
  chance(0.5)
    ? { invocationEvents: Array.from({ length: between(0, 3) }, eventOf) }
    : {
        toolUses: maybe(0.9, () => Array.from({ length: between(0, 3) }, callOf)),
        toolResponses: maybe(0.2, () => [{ id: "1", name: "weather", response: {} }]),
        intermediateResponses: maybe(0.2, () => [["agent", [{ text: "hm" }]]]),
      };

const turnOf = () => ({
  invocationId: maybe(0.3, text),
  userContent: contentOf(),
  finalResponse: maybe(0.9, contentOf),
  intermediateData: maybe(0.7, dataOf),
  creationTimestamp: maybe(0.3, () => 1),
  duration: maybe(0.5, () => next() * 3),
  modelDuration: maybe(0.3, () => next()),
  toolDuration: maybe(0.3, () => next()),
  rubrics: maybe(0.05, () => [{ rubricId: "r", rubricContent: { textProperty: "It is kind." } }]),
});

/** What is put somewhere now and then: keys that nobody knows, that resemble others, and values that do not fit. */
const ODD_KEYS = [
  "note",
  "finalRespons",
  "content",
  "arguments",
  "$x",
  "__proto__",
  "Text",
  "toolUses",
  "text",
  "final_response",
];
const ODD_VALUES = [
  null,
  undefined,
  "",
  "x",
  0,
  NaN,
  1n,
  [],
  {},
  [null],
  "\ud800",
  new Date(0),
  () => 1,
  new String("s"),
  new Map(),
];

function somewhere(value, change) {
  const places = [];
  const collect = (at) => {
    if (typeof at !== "object" || at === null) return;
    places.push(at);
    for (const inner of Object.values(at)) collect(inner);
  };
  collect(value);
  change(pick(places));
}

const snake = (value) =>
  Array.isArray(value)
    ? value.map(snake)
    : typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
      ? Object.fromEntries(
          Object.entries(value).map(([key, inner]) => [
            key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
            snake(inner),
          ]),
        )
      : value;

function conversationOf(turns) {
  const conversation = Array.from({ length: turns }, turnOf);
  return chance(0.3) ? snake(conversation) : conversation;
}

/** One that resembles another: results of pure chance would hardly ever match. */
function variantOf(conversation) {
  const variant = structuredClone(conversation);
  for (let changes = between(0, 2); changes > 0; changes -= 1) {
    somewhere(variant, (at) => {
      const key = pick([...Object.keys(at), "x"]);
      if (typeof at[key] === "string") at[key] = text();
      else if (Array.isArray(at) && at !== variant && typeof at[0] === "object") at.pop();
    });
  }
  return variant;
}

test("random conversations have the same results and errors by either way", async () => {
  let direct = 0;
  let unread = 0;
  for (let number = 0; number < CONVERSATIONS; number += 1) {
    const actual = conversationOf(between(0, 3));
    const expected = chance(0.05) ? undefined : chance(0.9) ? variantOf(actual) : conversationOf(between(0, 3));
    const isOdd = chance(0.3);
    if (isOdd) {
      somewhere(chance(0.5) && expected ? expected : actual, (at) => {
        const key = Array.isArray(at) ? between(0, at.length) : pick([...Object.keys(at), ...ODD_KEYS]);
        Object.defineProperty(at, key, {
          value: pick(ODD_VALUES),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      });
    }
    const evaluator = EVALUATORS[number % EVALUATORS.length];
    seen.calls = {};
    const found = await outcome(() => evaluator.evaluateInvocations(actual, expected));
    if (seen.calls.evalrunreader_step === undefined) direct += 1;
    const byRun = await outcome(() => evaluator.evaluateInvocations(actual, expected, SCENARIO));
    if (found === byRun) continue;
    // What nobody reads may be anything. Then a run refuses it, or warns of it.
    const refused = JSON.parse(byRun);
    if (refused.code === "rubric_conflict") continue;
    assert.ok(isOdd && (refused.code !== undefined || refused.warnings !== undefined), `${number}\n${found}\n${byRun}`);
    const paths = (refused.warnings ?? [refused]).map(({ path = "" }) =>
      path.replace(/_([a-z])/g, (_, c) => c.toUpperCase()),
    );
    const isOfRecord = / is missing$| is given twice| are both given/.test(refused.message);
    const read = paths.filter((path) => !isOfRecord && READ[evaluator.constructor.name].test(path));
    assert.deepEqual(read, [], `${number} ${evaluator.constructor.name}\n${found}\n${byRun}`);
    unread += 1;
  }
  assert.ok(direct > CONVERSATIONS / 2, `${direct} of ${CONVERSATIONS} took one call`);
  assert.ok(unread < CONVERSATIONS / 5, `${unread} of ${CONVERSATIONS}`);
});

/** Criteria of metrics that ask no judge, some at a time. */
const CRITERIA = {
  response_match_score: 0.6,
  tool_trajectory_avg_score: { threshold: 1, matchType: "IN_ORDER" },
  tool_parameter_match: { threshold: 0.6, defaultStrategy: "contains" },
  tool_trajectory_f1: 0.6,
};

test("evalsets as objects have the same results as their bytes", async () => {
  const bytesOf = (value) => new TextEncoder().encode(JSON.stringify(value));
  const optionalOf = () => ({
    sessionInput: maybe(0.2, () => ({ appName: "a", userId: text(), state: { x: anything() } })),
    rubrics: maybe(0.05, () => [{ rubricId: "r", rubricContent: { textProperty: "It is kind." } }]),
    note: maybe(0.02, anything),
  });
  let refused = 0;
  for (let cases = CONVERSATIONS / 3; cases > 0;) {
    const count = chance(0.1) ? between(60, 140) : between(1, 5);
    cases -= count;
    const conversations = Array.from({ length: count }, () => conversationOf(between(0, 3)));
    const setOf = (id, conversations) => ({
      evalSetId: id,
      evalCases: conversations.map((conversation, at) => ({ evalId: `case ${at}`, conversation, ...optionalOf() })),
    });
    const expected = setOf("set", conversations);
    const runs = setOf("runs", conversations.map(variantOf));
    const forms = [
      runs,
      runs.evalCases.map(({ evalId, conversation }) => ({ evalCaseId: evalId, inferences: conversation })),
      {
        evalSetId: "set",
        evalSetResultId: "results",
        evalCaseResults: runs.evalCases.map(({ evalId, conversation }) => ({
          evalId,
          finalEvalStatus: 1,
          evalMetricResultPerInvocation: conversation.map((actualInvocation) => ({
            actualInvocation,
            evalMetricResults: [],
          })),
        })),
      },
    ];
    const evalSet = chance(0.3) ? snake(expected) : expected;
    const actual = pick(forms);
    const names = Object.keys(CRITERIA).filter(() => chance(0.4));
    const criteria = chance(0.2) ? undefined : Object.fromEntries(names.map((name) => [name, CRITERIA[name]]));
    const options = pick([{ explain: "all" }, { explain: "none" }, { dialect: "adk-ts" }]);
    const countOnly = criteria !== undefined && names.length === 0;
    const outcomeOf = (inputs) =>
      outcome(async () => {
        const { evalCaseResults, warnings } = await adk.evaluate({ ...inputs, criteria, countOnly, ...options });
        return { evalCaseResults, warnings };
      });
    const found = await outcomeOf({ evalSet, actual });
    const fromBytes = await outcomeOf({ evalSet: bytesOf(evalSet), actual: bytesOf(actual) });
    assert.equal(found, fromBytes);
    refused += found.startsWith('{"code"') ? count : 0;
  }
  assert.ok(refused < CONVERSATIONS / 12, `${refused}`);
});

test("what the metric does not read may be anything, and comes back as it is", async () => {
  const fail = () => assert.fail("it was read");
  const unread = { userContent: { parts: 3 }, creationTimestamp: NaN, appDetails: 1n, rubrics: "none" };
  const broken = (more) =>
    Object.defineProperty({ ...unread, ...more }, "invocationId", { get: fail, enumerable: true });
  const { finalResponse, intermediateData } = turn("q", "It is sunny", [["weather", { city: "London" }]]);
  const given = {
    RougeEvaluator: broken({ finalResponse, intermediateData: { toolUses: NaN } }),
    TrajectoryEvaluator: broken({ intermediateData, finalResponse: { parts: [{ text: 5 }] } }),
  };
  for (const [name, invocation] of Object.entries(given)) {
    const evaluator = new adk[name]({ metricName: "m", threshold: 0.5 });
    const { overallScore, perInvocationResults } = await evaluator.evaluateInvocations([invocation], [invocation]);
    assert.equal(overallScore, 1);
    assert.equal(perInvocationResults[0].actualInvocation, invocation);
  }
  const evaluator = new adk.RougeEvaluator({ metricName: "m", threshold: 0.5 });
  const misspelt = [{ userContent: {}, finalRespons: finalResponse }];
  await assert.rejects(evaluator.evaluateInvocations(misspelt, misspelt), { path: /finalRespons$/ });
});

test("a conversation for which the engine's memory has to grow is scored", async () => {
  const turn = { userContent: {}, finalResponse: { parts: [{ text: "word ".repeat(6000) }] } };
  // Each keeps room of its own: all of them together have more than an engine begins with.
  for (let threshold = 0; threshold <= 1; threshold += 1 / 64) {
    const evaluator = new adk.RougeEvaluator({ metricName: "response_match_score", threshold }, { explain: "none" });
    const { overallScore } = await evaluator.evaluateInvocations([turn], [turn]);
    assert.equal(overallScore, 1);
  }
});
