// Who judged: results, reports and comparisons name whoever was really asked.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { ACTUAL, criteriaOf, EVAL_SET, fair } from "./trip.mjs";

const { compareRuns, evaluate, recordJudge, replayJudge } = await importEntry();
const { renderHtml, renderJUnit, renderMarkdown, renderTable } = await importEntry("./report");

const request = {
  evalSet: EVAL_SET,
  actual: ACTUAL,
  evalIds: ["flight"],
  criteria: criteriaOf(["final_response_match_v2"]),
  retry: { initialDelayMs: 1 },
};

async function grade(asked) {
  return { text: fair(asked), modelVersion: "house-model-7", usage: { inputTokens: 3, outputTokens: 1 } };
}

const stampOf = ({ judges: [{ prompts, metricName, ...stamp }] }) => stamp;

test("a function is a function, whatever model the criterion names", async () => {
  const set = await evaluate({ ...request, judge: grade });
  assert.deepEqual(stampOf(set), { scoredBy: "judge", function: "grade", modelVersions: ["house-model-7"] });
  for (const [format, report] of Object.entries({ renderHtml, renderJUnit, renderMarkdown, renderTable })) {
    const text = report([set]);
    const words = text.replaceAll("&#40;", "(").replaceAll("&#41;", ")");
    assert.match(words, /the function grade \(house-model-7\)/i, format);
    assert.doesNotMatch(text, /gemini/, format);
  }
});

test("a function without a name is told as one", async () => {
  const set = await evaluate({
    ...request,
    judge: (
      () => async (asked) =>
        fair(asked)
    )(),
  });
  assert.deepEqual(stampOf(set), { scoredBy: "judge", function: "" });
  assert.match(renderTable([set]), /judged by a function: \d+ calls/);
});

test("a recording of a function says so when it is replayed", async () => {
  const lines = [];
  await evaluate({ ...request, judge: recordJudge(grade, (line) => void lines.push(line)) });
  const set = await evaluate({ ...request, judge: replayJudge(lines) });
  assert.deepEqual(stampOf(set), { scoredBy: "judge", function: "grade", modelVersions: ["house-model-7"] });
});

test("versions of models are noted of replies from a cache too, and differ in comparisons", async () => {
  const kept = new Map();
  const cache = { get: async (key) => kept.get(key), set: async (key, reply) => void kept.set(key, reply) };
  await evaluate({ ...request, judge: grade, cache });
  const before = await evaluate({ ...request, judge: grade, cache });
  assert.deepEqual(stampOf(before).modelVersions, ["house-model-7"]);
  const newer = Object.defineProperty(
    async (asked) => ({ ...(await grade(asked)), modelVersion: "house-model-8" }),
    "name",
    {
      value: "grade",
    },
  );
  const after = await evaluate({ ...request, judge: newer });
  const { notes } = compareRuns(before, after);
  assert.ok(
    notes.some(
      (note) =>
        /the judge of final_response_match_v2/.test(note) && /house-model-7/.test(note) && /house-model-8/.test(note),
    ),
    notes.join("\n"),
  );
});

test("tokens that no answer tells are told as an estimate", async () => {
  const set = await evaluate({ ...request, judge: async (asked) => fair(asked) });
  const { answered, unreported } = set.judgeUsage;
  assert.ok(answered > 0 && answered === unreported);
  assert.match(
    renderTable([set]).replaceAll(/\s+/g, " "),
    /tokens in, [\d,]+ out \(estimated, because no answer reported them\)/,
  );
  assert.match(renderHtml([set]), /estimated for \d+ answers/);
});

test("a `usage` that cannot be read is a warning", async () => {
  const judging = (usage) => async (asked) => ({ text: fair(asked), usage });
  const warned = async (judge) =>
    ((await evaluate({ ...request, judge })).warnings ?? [])
      .map(({ message }) => message)
      .filter((one) => /usage/.test(one));
  for (const usage of [
    { prompt_tokens: 10, completion_tokens: 2 },
    { input_tokens: 10, output_tokens: 2 },
    { inputTokens: "10", outputTokens: "2" },
    { inputTokens: 10, output_tokens: 2 },
  ]) {
    for (const wrap of [(judge) => judge, (judge) => recordJudge(judge, () => {})]) {
      const warnings = await warned(wrap(judging(usage)));
      assert.equal(warnings.length, 1, JSON.stringify(usage));
      assert.match(warnings[0], /the `usage` of the judge's replies has no `inputTokens` and `outputTokens`/);
    }
  }
  const misspelt = async (asked) => ({ text: fair(asked), usages: { inputTokens: 10, outputTokens: 2 } });
  assert.deepEqual(await warned(misspelt), [
    "the judge's replies have no `usage`, so tokens are estimated: did you mean `usage` by `usages`?",
  ]);
  for (const usage of [
    undefined,
    null,
    {},
    { inputTokens: 10 },
    { totalTokens: 12 },
    { inputTokens: 10, outputTokens: 2, cached_tokens: 3 },
    { inputTokens: undefined, outputTokens: null },
  ]) {
    assert.deepEqual(await warned(judging(usage)), [], JSON.stringify(usage));
  }
});

test("a list of models is never cut in the middle of its bracket", async () => {
  const [names, versions] = ["model", "version"].map((word) =>
    ["one", "two", "three"].map((name) => `a-rather-long-name-of-a-${word}-${name}`),
  );
  const judged = async (modelVersions) => {
    const set = await evaluate({ ...request, judge: grade });
    Object.assign(set.judges[0], { model: names.slice(0, 2).join(", "), panel: names.slice(0, 2), modelVersions });
    delete set.judges[0].function;
    return renderTable([set], { width: 400 });
  };
  assert.match(await judged(versions), new RegExp(`judged by ${names[0]}, ${names[1]}: `));
  assert.match(await judged([...names.slice(0, 2), "x"]), new RegExp(`judged by ${names[0]}, ${names[1]} \\(x\\): `));
});

const balanced = ({ calls, answered, failed, asked, cached, lost }) =>
  assert.deepEqual([calls, asked], [answered + failed, answered + cached + lost]);

for (const [name, more] of Object.entries({
  "without faults": {},
  "at the end of a budget": { budget: { calls: 3 } },
  "when time is over": { budget: { timeMs: 0 } },
  "when it is cancelled": { signal: AbortSignal.abort() },
})) {
  test(`the numbers of calls and samples add up ${name}`, async () => {
    balanced((await evaluate({ ...request, judge: grade, ...more })).judgeUsage);
  });
}

test("the numbers of calls and samples add up under faults, and where a key is refused", async () => {
  let number = 0;
  const faulty = async (asked) => {
    number += 1;
    if (number % 3 === 0) throw Object.assign(new Error("busy"), { retryable: true });
    if (number % 7 === 0) throw new Error("no");
    return fair(asked);
  };
  const set = await evaluate({ ...request, evalIds: undefined, judge: faulty });
  balanced(set.judgeUsage);
  assert.equal(set.judgeUsage.calls, number);
  const refused = await evaluate({
    ...request,
    evalIds: undefined,
    judge: async () => {
      throw Object.assign(new Error("the key is refused"), { status: 401, retryable: false });
    },
  });
  balanced(refused.judgeUsage);
  assert.ok(refused.judgeUsage.lost >= refused.judgeUsage.failed);
});

test("more than one model in a run is a warning", async () => {
  let calls = 0;
  const replaced = async (asked) => ({
    ...(await grade(asked)),
    modelVersion: `house-model-${(calls += 1) > 1 ? 8 : 7}`,
  });
  const set = await evaluate({ ...request, judge: replaced, earlyStop: false });
  const said = /final_response_match_v2: its replies come from more than one model \(house-model-7, house-model-8\)/;
  assert.match(set.warnings.map(({ message }) => message).join("\n"), said);
  assert.match(renderTable([set]), /more than one model/);
  assert.equal((await evaluate({ ...request, judge: grade })).warnings, undefined);
});
