// Several judges that vote: who is asked what, what the votes come to, and what becomes of one that fails.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AdkMetricsError,
  compareRuns,
  estimateCalls,
  evaluate,
  geminiJudge,
  openaiJudge,
  panelJudge,
  recordJudge,
  replayJudge,
  setDefaultJudge,
} from "../../pkg/dist/esm/node.js";
import { journalInMemory } from "../package/support/journals.mjs";
import { renderTable } from "../../pkg/dist/esm/report.js";

const content = (role, text) => ({ role, parts: [{ text }] });
const TURN = { invocation_id: "1", user_content: content("user", "Hi"), final_response: content("model", "Hello.") };
const setOf = (turn) => ({ eval_set_id: "set", eval_cases: [{ eval_id: "one", conversation: [turn] }] });
const request = (judge, metric = "final_response_match_v2", judge_model_options = { num_samples: 1 }, more = {}) => ({
  evalSet: setOf(TURN),
  actual: setOf({ ...TURN, final_response: content("model", "Hello!") }),
  criteria: { [metric]: { threshold: 0.5, judge_model_options } },
  judge,
  concurrency: 1,
  retry: { attempts: 1 },
  ...more,
});
const resultOf = ({ evalCaseResults: [one] }) => one.evalMetricResultPerInvocation[0].evalMetricResults[0];
const valid = (is) => JSON.stringify({ is_the_agent_response_valid: is ? "valid" : "invalid" });
const score = (amount) => JSON.stringify({ explanation: "so", score: amount });

/** Judges with these names, each of which says one thing or throws it; and who was asked. */
function judges(replies, usage = {}) {
  const asked = [];
  const list = Object.entries(replies).map(([name, reply]) => {
    const named = {
      [name]: async ({ sampleIndex, model }) => {
        asked.push([name, sampleIndex, model]);
        if (reply instanceof Error) throw reply;
        return { text: reply, modelVersion: `${name}-1`, ...usage };
      },
    };
    return named[name];
  });
  return { panel: panelJudge(list), asked };
}

test("each judge of a panel is asked as many samples as there are in the criterion, in turn", async () => {
  const { panel, asked } = judges({ a: valid(true), b: valid(false), c: valid(true) });
  const set = await evaluate(request(panel, undefined, { num_samples: 2 }, { earlyStop: false }));
  assert.deepEqual(
    asked.map(([name, sampleIndex]) => [name, sampleIndex]),
    ["a", "b", "c", "a", "b", "c"].map((name, at) => [name, at]),
  );
  const { score: found, explanation } = resultOf(set);
  assert.equal(found, 1);
  assert.deepEqual(
    explanation.samples.votes.map(({ judge }) => judge),
    ["a", "b", "c", "a", "b", "c"],
  );
  const [{ model, panel: names, modelVersions }] = set.judges;
  assert.deepEqual([model, names, modelVersions], ["a, b, c", ["a", "b", "c"], ["a-1", "b-1", "c-1"]]);
  assert.equal(set.warnings, undefined, "several models are no surprise");
});

test("a risk needs a single judge, and is refused with a panel before anybody is asked", async () => {
  const { panel, asked } = judges({ a: valid(true), b: valid(false), c: valid(true) });
  const given = request(panel, undefined, { num_samples: 2 }, { earlyStop: { risk: 0.01 } });
  await assert.rejects(evaluate(given), {
    code: "invalid_input",
    path: "earlyStop",
    message: "early stopping at a risk needs a single judge, but final_response_match_v2 is judged by a panel",
  });
  assert.deepEqual(asked, []);
  // Also where nothing would be asked.
  for (const more of [{ budget: { calls: 0 } }, { cache: { get: async () => valid(true), set: async () => {} } }]) {
    await assert.rejects(estimateCalls({ ...given, ...more }), { code: "invalid_input", path: "earlyStop" });
  }
});

test("a judge of a panel that two models answer for is warned of, as it is alone", async () => {
  const versions = ["a-1", "a-2"];
  const saying = (name, next) => ({ [name]: async () => ({ text: valid(true), modelVersion: next() }) })[name];
  const panel = panelJudge([saying("a", () => versions.shift()), saying("b", () => "b-1")]);
  const set = await evaluate(request(panel, undefined, { num_samples: 2 }, { earlyStop: "none" }));
  assert.deepEqual(
    set.warnings.map(({ message }) => message),
    [
      "final_response_match_v2: the replies of a in the panel come from more than one model (a-1, a-2), whose verdicts may differ",
    ],
  );
  assert.deepEqual(set.judges[0].panelVersions, { a: ["a-1", "a-2"], b: ["b-1"] });
});

test("the versions of models are named by the judge of the panel that they belong to", async () => {
  const scored = (version) => {
    const big = async () => ({ text: valid(true), modelVersion: version });
    const small = async () => ({ text: valid(true), modelVersion: "small" });
    return evaluate(request(panelJudge([big, small])));
  };
  const [before, after] = [await scored("big-1"), await scored("big-2")];
  assert.match(renderTable(before, { width: 200 }), /big \(big-1\), small/);
  const { notes } = compareRuns(before, after);
  assert.deepEqual(notes, [
    "the judge of final_response_match_v2 differs: big (big-1), small in the baseline, big (big-2), small in the current run",
  ]);
  // Older results do not say whose the versions are.
  const older = structuredClone(after);
  delete older.judges[0].panelVersions;
  assert.deepEqual(compareRuns(older, after).notes, []);
});

test("the panel stops when the missing votes cannot change the verdict", async () => {
  const { panel, asked } = judges({ a: valid(true), b: valid(true), c: valid(false) });
  const set = await evaluate(request(panel));
  assert.deepEqual(
    asked.map(([name]) => name),
    ["a", "b"],
  );
  assert.equal(resultOf(set).score, 1);
  assert.equal(set.judgeUsage.saved, 1);
});

test("each judge of a panel costs what it costs, and a budget in money needs the price of every one", async () => {
  const text = valid(true);
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  const make = () => judges({ cheap: text, fair: text, dear: text }, { usage }).panel;
  const price = (amount) => ({ inputPerMillion: amount, outputPerMillion: 0 });
  const costOf = async (prices, more) => {
    const found = await evaluate(
      request(
        make(),
        "final_response_match_v2",
        { num_samples: 1 },
        { earlyStop: "none", budget: { prices, ...more } },
      ),
    );
    return found.judgeUsage.cost;
  };
  const members = { cheap: price(1), fair: price(10), dear: price(100) };
  assert.equal(await costOf(members), 111);
  assert.equal(await costOf({ ...members, "cheap, fair, dear": price(5) }), 15, "a price of the whole counts for all");
  assert.equal(await costOf(members, { cost: 1000 }), 111);
  const { dear: _, ...some } = members;
  assert.equal(await costOf(some), 11);
  await assert.rejects(costOf(some, { cost: 1000 }), {
    code: "invalid_input",
    message: "there is no price for the model dear, which is asked",
  });
});

test("disagreement is shown", async () => {
  const { panel } = judges({ a: valid(true), b: valid(false), c: valid(false) });
  const set = await evaluate(request(panel));
  assert.equal(resultOf(set).score, 0);
  const table = renderTable(set, { details: true, width: 200 });
  assert.match(table, /the panel disagrees \(a: valid, b: invalid, c: invalid\)/);
  assert.match(table, /sample 2, b/);
});

test("so is that of most samples of each judge, and nothing where these agree", async () => {
  const shown = async (first, second) => {
    const saying = (name, votes) => ({ [name]: async () => valid(votes.shift()) })[name];
    const panel = panelJudge([saying("a", [...first]), saying("b", [...second])]);
    const options = { num_samples: first.length };
    const set = await evaluate(request(panel, undefined, options, { earlyStop: "none" }));
    return /the panel disagrees \(.*?\)/.exec(renderTable(set, { details: true, width: 300 }))?.[0];
  };
  const [yes, no] = [true, false];
  const split = await shown([yes, yes, no, yes], [no, yes, no, no]);
  assert.equal(split, "the panel disagrees (a: 3 valid and 1 invalid, b: 3 invalid and 1 valid)");
  assert.equal(await shown([yes, no, no], [no, yes, no]), undefined);
});

test("a judge that fails voids no verdict that it cannot change", async () => {
  const refused = Object.assign(new Error("no such key"), { status: 401 });
  for (const replies of [
    { a: refused, b: valid(true), c: valid(true) },
    { a: valid(true), b: refused, c: valid(true) },
    { a: valid(true), b: valid(true), c: refused },
  ]) {
    const { panel } = judges(replies);
    assert.equal(resultOf(await evaluate(request(panel))).score, 1);
  }
  const { panel } = judges({ a: valid(true), b: refused, c: valid(false) });
  const { score: found, reason } = resultOf(await evaluate(request(panel)));
  assert.equal(found, undefined);
  assert.match(reason, /b failed: .*no such key/);
});

/** Cases that all ask something else. */
const casesOf = (text) => ({
  eval_set_id: "set",
  eval_cases: Array.from({ length: 10 }, (_, at) => ({
    eval_id: `case ${at}`,
    conversation: [{ ...TURN, user_content: content("user", `Hi ${at}`), final_response: content("model", text) }],
  })),
});
const ten = { evalSet: casesOf("Hello."), actual: casesOf("Hello!"), retry: { initialDelayMs: 0, maxDelayMs: 0 } };
const rejected = Object.assign(new Error("no such key"), { status: 401 });
const unknown = Object.assign(new Error("no such model"), { status: 404 });
const page = { status: 200, retryable: true, help: "A web page answered" };

for (const [what, failure, most] of [
  ["rejects its key", rejected, 1],
  ["does not know its model", unknown, 4],
  ["is a web page", new AdkMetricsError("judge_failed", "no JSON", page), 4],
]) {
  test(`a judge of a panel that ${what} is not asked again; where all are like it, the metric ends`, async () => {
    const every = judges({ a: failure, b: failure });
    const none = await evaluate(request(every.panel, undefined, {}, ten));
    assert.ok(every.asked.length <= 2 * most, `${every.asked.length} calls`);
    assert.equal(none.judgeUsage.calls, every.asked.length);
    const reasons = none.evalCaseResults.map(({ overallEvalMetricResults: [{ reason }] }) => reason);
    assert.match(reasons[0], /(key|model|JSON)/);
    assert.match(reasons.at(-1), /a[ :].*(key|model|JSON).*; b[ :].*(key|model|JSON)/);
    const one = judges({ a: valid(true), bad: failure, c: valid(true) });
    const set = await evaluate(request(one.panel, undefined, {}, { ...ten, earlyStop: "none" }));
    assert.equal(one.asked.filter(([name]) => name === "bad").length, most);
    const { calls, lost, answered } = set.judgeUsage;
    assert.deepEqual([calls, lost, answered], [100 + most, 50, 100]);
    assert.equal(resultOf(set).score, 1);
    assert.match(set.warnings[0].message, /: bad of the panel did not answer a single call: bad/);
    assert.equal(set.warnings.length, 1);
  });
}

test("every judge of a panel that never answers is named, also where no verdict comes about", async () => {
  const down = () => Object.assign(new Error("down"), { status: 500 });
  const { panel } = judges({ a: down(), b: down(), c: valid(true) });
  const set = await evaluate(request(panel, undefined, undefined, { ...ten, retry: { attempts: 1 } }));
  const told = set.warnings.map(({ message }) => message).filter((message) => message.includes("a single call"));
  assert.deepEqual(
    told.map((message) => /: (\w) of the panel/.exec(message)[1]),
    ["a", "b"],
  );
});

test("a judge of a panel that answered before, or fails for other reasons, is asked again", async () => {
  const busy = judges({ a: valid(true), bad: Object.assign(new Error("down"), { status: 500 }), c: valid(true) });
  const once = { ...ten, retry: { attempts: 1 }, earlyStop: "none" };
  const set = await evaluate(request(busy.panel, undefined, undefined, once));
  assert.equal(busy.asked.length, 30);
  assert.match(set.warnings[0].message, /bad of the panel did not answer a single call: bad failed: .*down/);
  let calls = 0;
  const moody = async () => {
    calls += 1;
    if (calls > 1) throw unknown;
    return valid(true);
  };
  const others = judges({ a: valid(true), b: valid(true) }).panel;
  const named = ["one", "two"].map((name) =>
    Object.defineProperty((...given) => others(...given), "name", { value: name }),
  );
  const half = await evaluate(request(panelJudge([moody, ...named]), undefined, undefined, once));
  assert.equal(calls, 10);
  assert.equal(half.warnings, undefined);
});

test("what merged journals count of a panel is what was asked", async () => {
  const { entries, begin } = journalInMemory();
  const { panel, asked } = judges({ a: valid(true), bad: rejected, c: valid(true) });
  const set = await evaluate(request(panel, undefined, undefined, { ...ten, journal: begin(), earlyStop: "none" }));
  assert.equal(set.judgeUsage.calls, asked.length);
  const lost = entries.filter(({ type }) => type === "failure");
  assert.equal(
    lost.reduce((sum, { attempt }) => sum + attempt, 0),
    1,
  );
});

test("grades count by their median, never by their mean", async () => {
  const three = judges({ a: score(1), b: score(5), c: score(5) });
  assert.equal(resultOf(await evaluate(request(three.panel, "response_evaluation_score"))).score, 5);
  const two = judges({ a: score(0.2), b: score(1) });
  const metric = "multi_turn_task_success_v1";
  assert.equal(resultOf(await evaluate(request(two.panel, metric))).score, 0.2, "of two in the middle the lower one");
  const one = async ({ sampleIndex }) => score([1, 5, 5][sampleIndex]);
  const single = await evaluate(request(one, "response_evaluation_score", { num_samples: 3 }));
  assert.equal(resultOf(single).score, 11 / 3, "a single judge's samples are averaged, as google-adk does");
});

test("grades stop when the missing ones cannot move the median, and one that fails voids none that it cannot move", async () => {
  const refused = Object.assign(new Error("no such key"), { status: 401 });
  const metric = "response_evaluation_score";
  const early = judges({ a: score(4), b: score(4), c: score(1) });
  const found = await evaluate(request(early.panel, metric));
  assert.deepEqual([resultOf(found).score, early.asked.length, found.judgeUsage.saved], [4, 2, 1]);
  const all = judges({ a: score(4), b: score(4), c: score(1) });
  await evaluate(request(all.panel, metric, { num_samples: 1 }, { earlyStop: "none" }));
  assert.equal(all.asked.length, 3);
  for (const earlyStop of ["exact", "none"]) {
    for (const replies of [
      { a: refused, b: score(4), c: score(4) },
      { a: score(4), b: refused, c: score(4) },
      { a: score(4), b: score(4), c: refused },
    ]) {
      const { panel } = judges(replies);
      const set = await evaluate(request(panel, metric, { num_samples: 1 }, { earlyStop }));
      assert.equal(resultOf(set).score, 4);
    }
    const { panel } = judges({ a: score(4), b: refused, c: score(5) });
    const { score: none, reason } = resultOf(await evaluate(request(panel, metric, { num_samples: 1 }, { earlyStop })));
    assert.equal(none, undefined);
    assert.match(reason, /b failed: .*no such key/);
  }
});

test("a criterion may name several models, which one judge is asked for", async () => {
  const asked = [];
  const judge = async ({ model }) => {
    asked.push(model);
    return valid(model !== "two");
  };
  for (const key of ["judge_models", "judgeModels"]) {
    asked.length = 0;
    const set = await evaluate(request(judge, undefined, { [key]: ["one", "two", "three"], num_samples: 1 }));
    assert.deepEqual(asked, ["one", "two", "three"]);
    assert.equal(resultOf(set).score, 1);
    assert.deepEqual(set.judges[0].panel, ["one", "two", "three"]);
  }
  const rows = await estimateCalls(
    request(undefined, undefined, { judge_models: ["one", "two", "three"], num_samples: 1 }),
  );
  assert.deepEqual(
    rows.map(({ model, least, most }) => [model, least.calls, most.calls]),
    [
      ["one", 1, 1],
      ["two", 1, 1],
      ["three", 0, 1],
    ],
  );
});

test("hallucinations_v1, which asks once, is judged by the first of a panel, and says so", async () => {
  const { panel, asked } = judges({ a: "<sentence>Hello!</sentence>", b: "" });
  const set = await evaluate(request(panel, "hallucinations_v1"));
  assert.deepEqual([...new Set(asked.map(([name]) => name))], ["a"]);
  assert.match(set.warnings[0].message, /only a of the panel judges it/);
  const [{ model, panel: names }] = set.judges;
  assert.deepEqual([model, names], ["a", undefined]);
  const prices = { a: { inputPerMillion: 1, outputPerMillion: 1 } };
  const paid = await evaluate(request(panel, "hallucinations_v1", {}, { budget: { cost: 9, prices } }));
  assert.ok(paid.judgeUsage.cost > 0);
  assert.equal(paid.judgeUsage.unpriced, undefined);
});

test("mistakes are told", async () => {
  const named = openaiJudge({ apiKey: "key", model: "gpt-4.1-mini" });
  for (const [list, words] of [
    [undefined, /a list of two to nine judges/],
    [[named], /expected two to nine judges, found 1$/],
    [[named, 1], /a judge/],
    [[named, named], /two judges of the panel have the name gpt-4.1-mini/],
    [[named, panelJudge([named, geminiJudge({ apiKey: "key", model: "gemini-3.5-flash-lite" })])], /needs a `model`/],
    [[named, async () => ""], /needs a `model` of its own, and a function a name/],
    ...[geminiJudge({ apiKey: "key" }), openaiJudge({ baseUrl: "http://127.0.0.1:9/v1" })].flatMap((nameless) => [
      [[named, nameless], /needs a `model` of its own/],
      [[recordJudge(nameless, () => {}), named], /needs a `model` of its own/],
    ]),
  ]) {
    assert.throws(
      () => panelJudge(list),
      (error) => error instanceof AdkMetricsError && words.test(error.message),
    );
  }
  for (const [judge_models, words] of [
    [["one"], /two to nine models/],
    ["one", /two to nine models/],
    [["one", 2], /the name of a model/],
    [["one", "one"], /a panel asks each model once/],
  ]) {
    await assert.rejects(evaluate(request(async () => "", undefined, { judge_models })), words);
  }
  await assert.rejects(
    evaluate(request(named, undefined, { judge_models: ["one", "two"] })),
    /the judge asks gpt-4.1-mini, but `judge_models` lists several models/,
  );
});

test("a panel is not asked for a criterion of other models", async () => {
  const { panel, asked } = judges({ a: valid(true), b: valid(true) });
  for (const metric of ["final_response_match_v2", "hallucinations_v1"]) {
    const others = { judge_models: ["one", "two"] };
    for (const ask of [evaluate, estimateCalls]) {
      await assert.rejects(ask(request(panel, metric, others)), /the judge is a panel of other models/);
    }
  }
  assert.deepEqual(asked, []);
  const same = await evaluate(request(panel, undefined, { judge_models: ["a", "b"], num_samples: 1 }));
  assert.equal(resultOf(same).score, 1);
});

test("a recording knows its panel, and is of one only", async () => {
  let text = "";
  const { panel } = judges({ a: valid(false), b: valid(true), c: valid(true) });
  const recorded = await evaluate(request(recordJudge(panel, (line) => void (text += line))));
  const replayed = await evaluate(request(replayJudge(text)));
  for (const set of [recorded, replayed]) assert.equal(resultOf(set).score, 1);
  assert.deepEqual(replayed.judges, recorded.judges);
  assert.equal(resultOf(await evaluate(request(replayJudge(text + text)))).score, 1, "the same panel twice");
  const header = (more) => `${JSON.stringify({ format: "adk-metrics recording", version: 1, ...more })}\n`;
  for (const [recording, words] of [
    [text + header({}), /the combined recordings belong to different panels/],
    [text + header({ panel: ["a", "b"] }), /the combined recordings belong to different panels/],
    ...["a, b", [], ["a"], ["a", ""], ["a", "a"], ["a", 2], Array.from("abcdefghij")].map((names) => [
      header({ panel: names }),
      /the names of two to nine judges/,
    ]),
  ]) {
    assert.throws(
      () => replayJudge(recording),
      (error) => error instanceof AdkMetricsError && words.test(error.message),
    );
  }
});

test("a judge that has a model is not asked for others, the default one neither", async (t) => {
  t.after(() => setDefaultJudge(undefined));
  setDefaultJudge(openaiJudge({ apiKey: "key", model: "gpt-4.1-mini" }));
  const words = /the judge asks gpt-4.1-mini, but `judge_models` lists several models/;
  await assert.rejects(evaluate(request(undefined, undefined, { judge_models: ["one", "two"] })), words);
});

test("whatever one judge of a panel gives is its reply or its failure, and the others are heard", async () => {
  const values = [
    undefined,
    null,
    5,
    "",
    "\0",
    "\ud800",
    "[".repeat(1e5),
    [],
    {},
    { toString: 1, valueOf: 1, toJSON: 1 },
  ];
  const throwing = new Proxy({}, { get: (_, key) => (key === "then" ? undefined : assert.fail("asked")) });
  const hostile = [
    ...values.flatMap((value) => [value, { text: value }, { text: valid(true), usage: value, modelVersion: value }]),
    '{"__proto__": {"is_the_agent_response_valid": "valid"}}',
    throwing,
  ];
  for (const given of hostile) {
    for (const give of [() => given, () => Promise.reject(given)]) {
      const judge = Object.defineProperty(async () => give(), "name", { value: "hostile" });
      const honest = [1, 2].map((at) =>
        Object.defineProperty(async () => valid(false), "name", { value: `honest${at}` }),
      );
      const { score } = resultOf(await evaluate(request(panelJudge([judge, ...honest]))));
      assert.equal(score, 0);
    }
  }
});
