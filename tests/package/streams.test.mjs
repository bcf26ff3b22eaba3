// Evaluations of streams of JSON lines: the results are those of the whole evalset, and no more of it is kept than is scored next.

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { AdkMetricsError, evaluate, evaluateStream, EvalStatus } = await importEntry();
const { renderHtml, renderJUnit, renderMarkdown, renderTable } = await importEntry("./report");

const idOf = (at) => `case-${at}`;
const turn = (text) => ({ userContent: { parts: [{ text: "When?" }] }, finalResponse: { parts: [{ text }] } });
const ANSWER = "It is noon, and the clocks of the whole town strike at the same time – ⏰. ".repeat(8);
const caseOf = (at, text = ANSWER) => ({ eval_id: idOf(at), conversation: [turn(text)] });
/** One in ten answers something else. */
const runOf = (at) => caseOf(at, at % 10 === 0 ? "I do not know." : ANSWER);
const upTo = (count) => Array.from({ length: count }, (_, at) => at);
const linesOf = (values) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const criteria = { response_match_score: 0.8 };

/** The bytes of a text, in pieces of a size that cuts lines and characters. */
async function* pieces(text, size = 1000) {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function* items(values) {
  yield* values;
}

/** All that a stream gives, and what it returns. */
async function all(stream) {
  const results = [];
  for (;;) {
    const { done, value } = await stream.next();
    if (done) return { results, set: value };
    results.push(value);
  }
}

const textOf = (results) => JSON.stringify(results);
const lasting = ({
  evalSetResultId: _,
  evalSetResultName: __,
  creationTimestamp: ___,
  evalCaseResults: ____,
  ...set
}) => set;
const failed = async (request) => {
  const error = await all(evaluateStream({ criteria, ...request })).then(
    () => undefined,
    (thrown) => thrown,
  );
  assert.ok(error instanceof AdkMetricsError, String(error));
  return error;
};

test("results are those of the whole evalset, from pieces, text, objects and several streams", async () => {
  const cases = upTo(1500).map((at) => caseOf(at));
  const runs = upTo(1500).flatMap((at) =>
    at % 7 === 0 ? [runOf(at), { ...runOf(at + 1), eval_id: idOf(at) }] : [runOf(at)],
  );
  const whole = await evaluate({
    evalSet: { eval_set_id: "clock", eval_cases: cases },
    actual: { eval_set_id: "clock", eval_cases: runs },
    criteria,
  });
  const header = { eval_set_id: "clock" };
  // Each a few hundred lines early or late.
  const shuffled = runs.map((run, at) => [at + ((at * 7919) % 400), run]).toSorted(([a], [b]) => a - b);
  const inOrder = (ids, [, run]) => (ids.has(run.eval_id) ? ids : ids.add(run.eval_id));
  assert.ok([...shuffled.reduce(inOrder, new Set())].some((id, at) => id !== idOf(at)));
  const forms = {
    bytes: [pieces(linesOf([header, ...cases])), pieces(linesOf(runs))],
    "text with Windows' line breaks": [
      Readable.from([linesOf([header]), linesOf(cases).replaceAll("\n", "\r\n\r\n").trimEnd()]),
      Readable.from([linesOf(runs)]),
    ],
    objects: [items([header, ...cases]), items(runs)],
    "several streams, the first without a line break at its end": [
      [pieces(linesOf([header, ...cases.slice(0, 700)]).trimEnd()), pieces(linesOf(cases.slice(700)), 77)],
      [items(runs.slice(0, 3)), pieces(linesOf(runs.slice(3)))],
    ],
  };
  for (const [form, [evalSet, actual]] of Object.entries(forms)) {
    const { results, set } = await all(evaluateStream({ evalSet, actual, criteria }));
    assert.equal(textOf(results), textOf(whole.evalCaseResults), form);
    assert.deepEqual(lasting(set), lasting(whole), form);
    assert.deepEqual(set.evalCaseResults, []);
  }
  const { results } = await all(
    evaluateStream({ evalSet: pieces(linesOf(cases)), actual: items(shuffled.map(([, run]) => run)), criteria }),
  );
  const scores = (list) => list.map(({ evalId, finalEvalStatus }) => `${evalId} ${finalEvalStatus}`).toSorted();
  assert.deepEqual(scores(results), scores(whole.evalCaseResults));
});

test("no more lines are read than are scored next", async () => {
  const read = { cases: 0, runs: 0 };
  const most = { cases: 0, runs: 0 };
  let given = 0;
  async function* source(which, count) {
    for (let at = 0; at < count; at += 1) {
      read[which] += 1;
      most[which] = Math.max(most[which], at - given);
      yield caseOf(at);
    }
  }
  const stream = evaluateStream({
    evalSet: source("cases", 20_000),
    actual: source("runs", 20_000),
    criteria,
    explain: "none",
  });
  for await (const { evalId } of stream) {
    assert.equal(evalId, idOf(given));
    given += 1;
  }
  assert.deepEqual([given, read], [20_000, { cases: 20_000, runs: 20_000 }]);
  assert.ok(most.cases <= 2001 && most.runs <= 3001, JSON.stringify(most));
});

test("what is left of streams is closed where the loop is left", async () => {
  const closed = [];
  async function* endless(name) {
    try {
      for (let at = 0; ; at += 1) yield runOf(at);
    } finally {
      closed.push(name);
    }
  }
  for await (const { evalId } of evaluateStream({ evalSet: endless("cases"), actual: endless("runs"), criteria })) {
    assert.equal(evalId, idOf(0));
    break;
  }
  assert.deepEqual(closed.toSorted(), ["cases", "runs"]);
});

test("a signal ends it, even while a stream waits for its source", async () => {
  const stop = new AbortController();
  async function* stuck() {
    yield* upTo(3000).map((at) => caseOf(at));
    setTimeout(() => stop.abort(), 20);
    await new Promise(() => {});
  }
  const runs = items(upTo(5000).map((at) => runOf(at)));
  const { results, set } = await all(evaluateStream({ evalSet: stuck(), actual: runs, criteria, signal: stop.signal }));
  assert.equal(set.cancelled, true);
  assert.ok(results.length > 0 && results.length < 3000);
  // How many lines there would have been is not known.
  const done = new Intl.NumberFormat("en").format(results.length);
  const message = `The run was cancelled after ${done} results; the remaining lines were not evaluated`;
  assert.deepEqual(set.warnings[0], { code: "cancelled", message });
  for (const render of [renderTable, renderMarkdown, renderHtml, renderJUnit]) {
    assert.ok(
      render({ ...set, evalCaseResults: results.slice(0, 2) })
        .replaceAll(/\s+/g, " ")
        .includes(message.split(";")[0]),
    );
  }
  const none = await all(
    evaluateStream({ evalSet: stuck(), actual: items([]), criteria, signal: AbortSignal.abort() }),
  );
  assert.deepEqual([none.results, none.set.cancelled], [[], true]);
});

test("cases without runs fail, and runs without cases are counted, however many there are", async () => {
  const cases = [0, 1, 2, 3].map((at) => caseOf(at));
  const { results, set } = await all(
    evaluateStream({ evalSet: items(cases), actual: pieces(linesOf([7, 1, 3, 9].map(runOf))), criteria }),
  );
  assert.deepEqual(
    results.map(({ finalEvalStatus }) => finalEvalStatus),
    [EvalStatus.FAILED, EvalStatus.PASSED, EvalStatus.FAILED, EvalStatus.PASSED],
  );
  assert.match(results[0].reason, /./);
  assert.match(
    set.warnings[0].message,
    /^2 actual conversations belong to no eval case and are left out: actual, line 1, actual, line 4$/,
  );

  // A sample of the cases, and the runs of all of them.
  const sample = await all(
    evaluateStream({
      evalSet: items(upTo(300).map((at) => caseOf(10 * at + 5))),
      actual: items(upTo(3000).map((at) => runOf(at))),
      criteria,
    }),
  );
  assert.ok(sample.results.every(({ finalEvalStatus }) => finalEvalStatus === EvalStatus.PASSED));
  assert.match(sample.set.warnings[0].message, /^2700 actual conversations belong to no eval case/);
});

test("runs that are too far from their cases are an error, and never a case without a run", async () => {
  const cases = () => items(upTo(3000).map((at) => caseOf(at)));
  const runs = upTo(3000).map((at) => runOf(at));
  const [first, ...others] = runs;
  const late = await failed({ evalSet: cases(), actual: items([...others, first]) });
  assert.match(late.message, /the run of the case `case-0` comes too late/);
  assert.deepEqual([late.path, late.line], ["actual", 3000]);
  assert.match(late.help, /into the order of their cases/);
  const early = await failed({ evalSet: cases(), actual: items([runs.at(-1), ...runs.slice(0, -1)]) });
  assert.match(early.message, /the run of the case `case-2999` came too early/);
  assert.equal(early.path, "evalSet");
  const twice = await failed({ evalSet: items([caseOf(1), caseOf(2), caseOf(1)]), actual: items(runs) });
  assert.match(twice.message, /the case `case-1` occurs twice/);
  assert.equal(twice.line, 3);
});

test("what is wrong with a line is said with its stream and number", async () => {
  const good = upTo(30).map((at) => caseOf(at));
  const cut = JSON.stringify(caseOf(3)).slice(0, 90);
  const wrong = [
    [`${linesOf(good)}${cut}`, /the line is not complete JSON:/, 31],
    [`${linesOf(good)}[1, 2]\n`, /the line is not a JSON object/, 31],
    [`${linesOf(good)}${linesOf([{ conversation: [] }])}`, /has no `eval_id`/, 31],
    [`${linesOf([good[0], { ...good[1], conversation: [{ user_content: 3 }] }])}`, /expected an object/, 2],
    [`${linesOf(good)}\n{"eval_id": "x",, "conversation": []}\n`, /expected a key|the line is not complete JSON:/, 32],
    [`${linesOf(good)}{"eval_id": "x", "eval_id": "y", "conversation": []}\n`, /twice/, 31],
    // Lines of a reader that leaves out the line breaks.
    [linesOf(good).replaceAll("\n", ""), /the line is not complete JSON:|after the end|expected/, 1],
  ];
  for (const [text, message, line] of wrong) {
    const error = await failed({ evalSet: [items([{ eval_set_id: "clock" }]), pieces(text)], actual: items(good) });
    assert.match(error.message, message);
    assert.match(error.path, /^evalSet\[1\]/);
    assert.equal(error.line, line, error.message);
  }
  const asRun = await failed({
    evalSet: items(good),
    actual: pieces(linesOf([good[0], { ...good[1], conversation: [3] }])),
  });
  assert.match(asRun.path, /^actual: conversation\[0\]/);
  assert.equal(asRun.line, 2);
  const number = await failed({ evalSet: items(good), actual: items([good[0], 3]) });
  assert.match(number.message, /expected objects, or text or bytes of JSON lines, found 3/);
});

test("judges, budgets, progress and what concerns the whole", async () => {
  let calls = 0;
  const judge = () => {
    calls += 1;
    return JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: "valid" });
  };
  const judged = { final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 1 } } };
  // Several windows.
  const count = 1200;
  const cases = upTo(count).map((at) => caseOf(at, `${at} ${ANSWER}`));
  const seen = [];
  const { results, set } = await all(
    evaluateStream({
      evalSet: items(cases),
      actual: items(cases),
      criteria: judged,
      judge,
      budget: { calls: 1000 },
      onProgress: (progress) => seen.push(progress),
    }),
  );
  assert.deepEqual([calls, set.judgeUsage.calls, results.length], [1000, 1000, count]);
  assert.equal(results.filter(({ finalEvalStatus }) => finalEvalStatus === EvalStatus.NOT_EVALUATED).length, 200);
  assert.match(results.at(-1).overallEvalMetricResults[0].reason, /budget/);
  assert.deepEqual([seen.at(-1).done, seen.at(-1).judge.calls], [count, 1000]);
  assert.ok(seen.every(({ done }, at) => at === 0 || done >= seen[at - 1].done));
  assert.equal(set.warnings.filter(({ message }) => /compared with itself/.test(message)).length, 1);
});

test("a byte order mark before the first line is none of it", async () => {
  const text = `\uFEFF${linesOf([caseOf(1)])}`;
  const { results } = await all(evaluateStream({ evalSet: pieces(text, 2), actual: pieces(text, 100), criteria }));
  assert.deepEqual(
    results.map(({ evalId }) => evalId),
    ["case-1"],
  );
});

test("what needs the whole evaluation is an error", async () => {
  const request = () => ({ evalSet: items([caseOf(1)]), actual: items([caseOf(1)]) });
  for (const more of [{ journal: {} }, { evalIds: ["case-1"] }, { countOnly: true }, { earlyStop: { risk: 0.1 } }]) {
    const error = await failed({ ...request(), ...more });
    assert.match(error.message, /cannot be used with streams/);
    assert.equal(error.path, Object.keys(more)[0]);
  }
  const mixed = await failed({ ...request(), actual: { eval_cases: [caseOf(1)] } });
  assert.match(mixed.message, /expected a stream of JSON lines/);
  assert.equal(mixed.path, "actual");
  await assert.rejects(
    evaluate({ ...request(), criteria }),
    ({ path, help }) => path === "evalSet" && /evaluateStream/.test(help),
  );
});

test("a line without end is an error before it fills the memory", async () => {
  const spaces = new Uint8Array(32 * 2 ** 20).fill(0x20);
  async function* endless() {
    yield `${JSON.stringify(caseOf(1))}\n{"eval_id": "x", `;
    for (;;) yield spaces;
  }
  const { message, line, help } = await failed({ evalSet: endless(), actual: items([caseOf(1)]) });
  assert.match(message, /^the line is longer than 268435456 bytes/);
  assert.equal(line, 2);
  assert.match(help, /Every line has to be one case\. Is this a JSON file without line breaks\?/);
});

test("a line that comes byte by byte is put together in linear work", async (t) => {
  let copied = 0;
  const { set } = Uint8Array.prototype;
  Uint8Array.prototype.set = function (bytes, ...at) {
    copied += bytes.length;
    return set.call(this, bytes, ...at);
  };
  const { reduce } = Array.prototype;
  Array.prototype.reduce = function (...given) {
    copied += this.length;
    return reduce.apply(this, given);
  };
  t.after(() => Object.assign(Uint8Array.prototype, { set }) && Object.assign(Array.prototype, { reduce }));
  const text = linesOf([caseOf(0, "word ".repeat(4000))]);
  const request = { evalSet: pieces(text, 1), actual: pieces(text, 1), criteria };
  const { results } = await all(evaluateStream(request));
  assert.equal(results[0].overallEvalMetricResults[0].score, 1);
  assert.ok(copied < 2 * 8 * text.length, `${copied} for twice ${text.length}`);
});
