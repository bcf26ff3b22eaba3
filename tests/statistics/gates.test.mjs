// What runs have to reach, in code and on the command line, and metrics that decide nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { folderOf, run } from "../cli/command.mjs";
import { importEntry } from "../package/support/package.mjs";

const {
  AdkMetricsError,
  AgentEvaluator,
  EvalStatus,
  checkGates,
  compareRuns,
  evaluate,
  resultsToAdkJson,
  withThresholds,
} = await importEntry();
const { renderHtml, renderJUnit, renderMarkdown, renderTable } = await importEntry("./report");
const { PASSED, FAILED, NOT_EVALUATED } = EvalStatus;

const STATUS = { P: PASSED, F: FAILED, N: NOT_EVALUATED };

/** Runs of cases: `{ id: "PPF" }` is a case that passed twice and failed once; `N` is a run without a verdict. */
const setOf = (runsOfCases) => ({
  evalSetId: "set",
  evalCaseResults: Object.entries(runsOfCases).flatMap(([evalId, runs]) =>
    [...runs].map((letter) => ({
      evalSetId: "set",
      evalId,
      finalEvalStatus: STATUS[letter],
      overallEvalMetricResults: [],
      evalMetricResultPerInvocation: [],
    })),
  ),
});

for (const [name, runs, gates, passed, message] of [
  ["every run, by default", { a: "PP" }, {}, true, "2 of 2 runs passed, and every run has to"],
  ["a run that failed", { a: "PF" }, {}, false, "1 of 2 runs passed, and every run has to"],
  ["no result", {}, {}, false, "there are no results"],
  [
    "a share that is reached",
    { a: "PPPPPPPPPF" },
    { minPassRate: 0.9 },
    true,
    "9 of 10 runs passed (90%); 90% takes 9",
  ],
  [
    "a share that is missed",
    { a: "PPPP", b: "PPFF" },
    { minPassRate: 0.9 },
    false,
    "6 of 8 runs passed (75%); 90% takes 8, 2 too few",
  ],
  [
    "runs that were not evaluated, which are not passed",
    { a: "PPN" },
    { minPassRate: 0.9 },
    false,
    "2 of 3 runs passed (66.7%); 90% takes 3, 1 too few; 1 lacks a verdict, which counts as not passed",
  ],
  ["a share of no result", {}, { minPassRate: 0 }, false, "there are no results"],
  ["pass^2 of no result", {}, { minPassHat: { 2: 0 } }, false, "there are no results"],
  ["no flaky case of no result", {}, { allowFlaky: true }, false, "there are no results"],
  // The means of 1 and 1/4: C(3, 3) / C(4, 3).
  [
    "pass^3 that is reached",
    { a: "PPPP", b: "PPPF" },
    { minPassHat: { 3: 0.6 } },
    true,
    "pass^3 is 0.625; 0.6 is needed",
  ],
  [
    "pass^3 that is missed",
    { a: "PPPP", b: "PPPF" },
    { minPassHat: { 3: 0.8 } },
    false,
    "pass^3 is 0.625; 0.8 is needed, 0.175 too little",
  ],
  [
    "pass^3 where a case was run twice",
    { a: "PPPP", b: "PP" },
    { minPassHat: { 3: 0.8 } },
    false,
    "pass^3 cannot be estimated: a case was run fewer than 3 times: b",
  ],
  [
    "flaky cases",
    { a: "PF", b: "PP" },
    { allowFlaky: true },
    true,
    "0 of 2 cases never passed; 1 passed in some runs only",
  ],
  [
    "cases that never pass",
    { a: "PF", b: "FF", c: "FN" },
    { allowFlaky: true },
    false,
    "2 of 3 cases never passed: b, c; 1 passed in some runs only",
  ],
]) {
  test(`gates: ${name}`, () => {
    const report = checkGates(setOf(runs), gates);
    assert.equal(report.passed, passed);
    assert.deepEqual(
      report.gates.map((gate) => gate.message),
      [message],
    );
  });
}

test("all gates have to be reached", () => {
  const { passed, gates } = checkGates([setOf({ a: "PPF", b: "PPP" })], {
    minPassRate: 0.8,
    minPassHat: { 2: 0.5, 3: 0.9 },
    allowFlaky: true,
  });
  assert.equal(passed, false);
  assert.deepEqual(
    gates.map(({ gate, passed: isReached }) => [gate, isReached]),
    [
      ["minPassRate", true],
      ["minPassHat", true],
      ["minPassHat", false],
      ["allowFlaky", true],
    ],
  );
});

for (const [gates, path, message] of [
  [{ minPassRate: 90 }, "gates: minPassRate", /expected a number from 0 to 1, such as 0\.9 for 90%, found 90/],
  [{ minPassRate: NaN }, "gates: minPassRate", /expected a number from 0 to 1/],
  [{ minPassHat: { 3: 1.5 } }, "gates: minPassHat: 3", /expected a number from 0 to 1/],
  [{ minPassHat: { 0: 0.5 } }, "gates: minPassHat", /expected whole numbers from 1 up as keys/],
  [{ minPassHat: 0.8 }, "gates: minPassHat", /expected an object such as \{ 3: 0\.8 \}/],
  [{ allowFlaky: "yes" }, "gates: allowFlaky", /expected true or false/],
  [{ minPasRate: 0.9 }, "gates: minPasRate", /there is no option `minPasRate`/],
]) {
  test(`gates that cannot be: ${JSON.stringify(gates)}`, () => {
    assert.throws(
      () => checkGates(setOf({ a: "P" }), gates),
      (error) => error instanceof AdkMetricsError && error.path === path && message.test(error.message),
    );
  });
}

const turn = (text) => [{ userContent: { parts: [{ text: "When?" }] }, finalResponse: { parts: [{ text }] } }];
const [GOOD, BAD] = ["the train leaves at nine", "no idea"];
const evalSet = { evalSetId: "trains", evalCases: ["a", "b"].map((evalId) => ({ evalId, conversation: turn(GOOD) })) };
const actual = {
  evalSetId: "trains",
  evalCases: [
    { evalId: "a", conversation: turn(GOOD) },
    { evalId: "a", conversation: turn(GOOD) },
    { evalId: "b", conversation: turn(GOOD) },
    { evalId: "b", conversation: turn(BAD) },
  ],
};
const criteria = { response_match_score: 0.8, tool_trajectory_avg_score: 1 };
const statuses = ({ evalCaseResults }) => evalCaseResults.map(({ finalEvalStatus }) => finalEvalStatus);

test("a metric that is advisory keeps its verdict and decides nothing", async () => {
  const request = { evalSet, actual, criteria };
  assert.deepEqual(statuses(await evaluate(request)), [PASSED, PASSED, PASSED, FAILED]);
  const results = await evaluate({ ...request, advisory: ["response_match_score"] });
  assert.deepEqual(statuses(results), [PASSED, PASSED, PASSED, PASSED]);
  assert.equal(results.evalCaseResults[3].overallEvalMetricResults[0].evalStatus, FAILED);
  assert.deepEqual(results.advisory, ["response_match_score"]);
  assert.deepEqual(JSON.parse(resultsToAdkJson(results)).advisory, ["response_match_score"]);
  for (const render of [renderTable, renderMarkdown, renderHtml]) {
    const text = render(results).replace(/\s+/g, " ");
    assert.match(text, /advisory, not counted(?::|&#58;) response(?:_|&#95;)match(?:_|&#95;)score/, render.name);
  }
  const junit = renderJUnit(results);
  assert.match(junit, /tests="8" failures="0" errors="0" skipped="1"/);
  assert.match(junit, /<skipped message="advisory, does not count: score 0\.0000, threshold 0\.8"\/>/);
  assert.match(junit, /<property name="advisory" value="response_match_score"\/>/);
  // With other thresholds it still decides nothing.
  assert.deepEqual(statuses(withThresholds(results, { response_match_score: 0.1 })), [PASSED, PASSED, PASSED, PASSED]);
});

test("a comparison knows which metrics decide nothing", async () => {
  const results = await evaluate({ evalSet, actual, criteria, advisory: ["response_match_score"] });
  const { cases, notes } = compareRuns(resultsToAdkJson(results), results);
  assert.deepEqual(
    cases.map(({ baseline, current }) => [baseline.status, current.status]),
    [
      [PASSED, PASSED],
      [PASSED, PASSED],
    ],
  );
  assert.ok(
    notes.every((note) => !/contradict/.test(note)),
    notes.join("\n"),
  );
});

test("a prompt for a metric that no criterion has is a warning, or an error with strict", async () => {
  const prompts = { safety_v1: "Is it safe? {{response}} {{user_prompt}}\n{{reply_format}}" };
  const request = { evalSet, actual, criteria, prompts };
  const { warnings } = await evaluate(request);
  assert.equal(warnings[0].message, "there is a prompt for `safety_v1`, which is not in the criteria");
  assert.equal(
    warnings[0].help,
    `The criteria contain ${Object.keys(criteria)
      .map((name) => `\`${name}\``)
      .join(", ")}`,
  );
  await assert.rejects(evaluate({ ...request, strict: true }), /there is a prompt for `safety_v1`/);
});

test("an advisory metric that no criterion has is a warning, or an error with strict", async () => {
  const request = { evalSet, actual, criteria, advisory: ["response_mach"] };
  const { warnings, advisory } = await evaluate(request);
  assert.equal(advisory, undefined);
  assert.equal(warnings[0].message, "the advisory metric `response_mach` is not in the criteria");
  await assert.rejects(
    evaluate({ ...request, strict: true }),
    /the advisory metric `response_mach` is not in the criteria/,
  );
  await assert.rejects(evaluate({ ...request, advisory: Object.keys(criteria) }), /all metrics are advisory/);
  await assert.rejects(
    evaluate({ ...request, advisory: "response_match_score" }),
    /expected an array of names of metrics/,
  );
});

test("AgentEvaluator passes by the other metrics, and refuses before it runs what nothing could pass", async () => {
  let asked = 0;
  const agent = async () => ((asked += 1), BAD);
  await assert.rejects(AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1), /response_match_score: failed/);
  const options = { advisory: ["response_match_score"] };
  const results = await AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, options);
  assert.deepEqual(statuses(results), [PASSED, PASSED]);
  const before = asked;
  const all = { advisory: Object.keys(criteria) };
  await assert.rejects(
    AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, all),
    /all metrics are advisory/,
  );
  assert.equal(asked, before);
});

const files = {
  "trains.evalset.json": JSON.stringify(evalSet),
  "trains.actual.json": JSON.stringify(actual),
  "test_config.json": JSON.stringify({ criteria }),
  "agent.mjs": `export default async () => ${JSON.stringify(BAD)};`,
};

for (const [args, status, said] of [
  [[], 1, /^criteria: [^\n]*\n$/],
  [["--min-pass-rate", "0.75"], 0, /\n--min-pass-rate: 3 of 4 runs passed \(75%\); 75% takes 3\n$/],
  [
    ["--min-pass-rate", ".9"],
    1,
    /\nnot reached: --min-pass-rate: 3 of 4 runs passed \(75%\); 90% takes 4, 1 too few\n$/,
  ],
  [
    ["--min-pass-hat", "2=0.5", "--allow-flaky"],
    0,
    /\n--min-pass-hat: pass\^2 is 0\.5; 0\.5 is needed\n--allow-flaky: /,
  ],
  [
    ["--min-pass-hat", "2=0.8"],
    1,
    /\nnot reached: --min-pass-hat: pass\^2 is 0\.5; 0\.8 is needed, 0\.3 too little\n$/,
  ],
  [["--advisory", "response_match_score"], 0, /^criteria: [^\n]*\n$/],
  [
    ["--min-pass-rate", "90%"],
    2,
    /error: --min-pass-rate cannot be `90%`\n.*Expected a number from 0 to 1; 90% is 0\.9\n/,
  ],
  [["--min-pass-rate", "1.5"], 2, /--min-pass-rate cannot be `1\.5`/],
  [["--min-pass-hat", "3"], 2, /--min-pass-hat cannot be `3`\n.*--min-pass-hat 3=0\.8\n/],
  [["--min-pass-hat", "2=0.5", "--min-pass-hat", "2=0.6"], 2, /sets pass\^2 twice/],
  [["--min-pass-rate", "0.9", "--bail"], 2, /--bail and --min-pass-rate cannot be used together/],
  [["--advisory", "response_mach", "--strict"], 2, /the advisory metric `response_mach` is not in the criteria/],
]) {
  test(`eval ${args.join(" ")}`, async (t) => {
    const cwd = folderOf(t, files);
    const found = await run(["eval", "trains.evalset.json", "--actual", "trains.actual.json", ...args], { cwd });
    assert.equal(found.status, status, found.stderr);
    assert.match(found.stderr, said);
  });
}

const greeted = (text) => ({ user_content: { parts: [{ text: "Hi" }] }, final_response: { parts: [{ text }] } });
const JUDGED = {
  eval_set_id: "judged",
  eval_cases: ["a", "b", "c"].map((eval_id) => ({ eval_id, conversation: [greeted(`Hello ${eval_id}.`)] })),
};
const CRITERIA = { response_match_score: 0, final_response_match_v2: 0.8 };

test("a run that passes without a verdict of its judge is not passed for a gate", async () => {
  // The judge answers about the first case alone.
  let calls = 0;
  const judge = () => (calls++ < 5 ? '{"is_the_agent_response_valid": "valid"}' : "?");
  const request = { evalSet: JUDGED, actual: JUDGED, criteria: CRITERIA, judge, concurrency: 1 };
  const results = await evaluate({ ...request, earlyStop: false });
  assert.ok(results.evalCaseResults.every(({ finalEvalStatus }) => finalEvalStatus === PASSED));
  for (const gates of [{}, { minPassRate: 1 }, { minPassRate: 0.5 }, { minPassHat: { 1: 1 } }, { allowFlaky: true }]) {
    assert.equal(checkGates(results, gates).passed, false, JSON.stringify(gates));
  }
  const [{ message }] = checkGates(results, { minPassRate: 1 }).gates;
  assert.match(message, /^1 of 3 runs passed .*, 2 too few; 2 lack a verdict, which counts as not passed/);
  assert.equal(checkGates(results, { minPassRate: 0.3 }).passed, true);
  // What only advises is not missed.
  calls = 0;
  const advised = await evaluate({ ...request, earlyStop: false, advisory: ["final_response_match_v2"] });
  assert.equal(checkGates(advised, { minPassRate: 1 }).passed, true);
  await assert.rejects(
    AgentEvaluator.evaluateEvalSet(() => "Hello.", JUDGED, CRITERIA, 1, false, {
      judge: () => "?",
      gates: { minPassRate: 1 },
    }),
    /minPassRate: 0 of 3 runs passed/,
  );
});

test("a case that a judge cannot be asked about is passed beside verdicts that are missing", async () => {
  // A metric of simulated users has no question about a case without one.
  const criteria = { ...CRITERIA, per_turn_user_simulator_quality_v1: 0.5 };
  let calls = 0;
  const judge = () => (calls++ < 2 ? "?" : '{"is_the_agent_response_valid": "valid"}');
  const judged = { evalSet: JUDGED, actual: JUDGED, criteria, judge, concurrency: 1, earlyStop: false };
  const one = { final_response_match_v2: { threshold: 0.8, judgeModelOptions: { numSamples: 1 } } };
  const results = await evaluate({ ...judged, criteria: { ...criteria, ...one } });
  const [{ message }] = checkGates(results, { minPassRate: 1 }).gates;
  assert.match(message, /^1 of 3 runs passed/);
});

test("a run without the result of a metric of one's own that failed is not passed for a gate", async () => {
  const { Evaluator, MetricEvaluatorRegistry } = await importEntry();
  class Mine extends Evaluator {
    static getMetricInfo() {
      return { metricName: "mine", metricValueInfo: { interval: { minValue: 0, maxValue: 1 } } };
    }
    async evaluateInvocations() {
      throw new Error("no");
    }
  }
  const registry = new MetricEvaluatorRegistry();
  registry.registerEvaluator(Mine.getMetricInfo(), Mine);
  const criteria = { response_match_score: 0, mine: 0.5 };
  const results = await evaluate({ evalSet: JUDGED, actual: JUDGED, criteria, registry });
  assert.equal(results.evalCaseResults[0].finalEvalStatus, PASSED);
  assert.equal(checkGates(results, { minPassRate: 0.1 }).passed, false);
});

for (const [kind, evalSet] of [
  ["", { "judged.evalset.json": JUDGED }],
  [" of JSON lines", { "judged.jsonl": `${JUDGED.eval_cases.map((one) => JSON.stringify(one)).join("\n")}\n` }],
]) {
  test(`on the command line, a gate${kind} misses the verdicts of judges, and an advisory metric is not missed`, async (t) => {
    const files = { ...evalSet, "c.json": { criteria: CRITERIA }, "judge.mjs": 'export default () => "?";' };
    const cwd = folderOf(t, files);
    const [name] = Object.keys(evalSet);
    const args = ["eval", name, "--actual", name, "--config", "c.json", "--judge", "./judge.mjs", "--output", "r.json"];
    if (kind !== "") args[args.length - 1] = "r.jsonl";
    const gated = await run([...args, "--min-pass-rate", "1"], { cwd });
    assert.equal(gated.status, 1, gated.stderr);
    assert.match(gated.stderr, /0 of 3 runs passed/);
    const advised = await run([...args, "--force", "--advisory", "final_response_match_v2"], { cwd });
    assert.equal(advised.status, 0, advised.stderr);
  });
}

test("run refuses a gate on more runs than there will be before the agent is run", async (t) => {
  const cwd = folderOf(t, files);
  const args = ["run", "--agent", "agent.mjs", "trains.evalset.json", "--min-pass-hat", "3=0.8"];
  const refused = await run(args, { cwd });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /needs 3 runs of each case, but each is run 2 times\n.*Add --num-runs 3/);
  const once = await run([...args, "--num-runs", "1"], { cwd });
  assert.match(once.stderr, /needs 3 runs of each case, but each is run once\n/);
  const done = await run([...args, "--num-runs", "3", "--advisory", "response_match_score"], { cwd });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stderr, /--min-pass-hat: pass\^3 is 1; 0\.8 is needed\n/);
});
