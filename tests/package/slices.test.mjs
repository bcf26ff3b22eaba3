// The thread is left to others while inputs are read. The clock that is put in place here says at each look that much time
// has passed, so that every place where the thread may be left is one where it is: what is counted is work, not time.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { importEntry } from "./support/package.mjs";

const { AgentEvaluator, evaluate, evaluateStream, fileJournal, LocalEvalService, RougeEvaluator } = await importEntry();

const CASES = 1200;
const content = (text, role) => ({ role, parts: [{ text }] });
const turn = (at) => ({
  userContent: content(`What is the weather like on day ${at}?`, "user"),
  finalResponse: content(`It is sunny on day ${at % 7}, and “schön” 🌞`, "model"),
});
const each = (make) => Array.from({ length: CASES }, (_, at) => make(at));
const SET = { evalSetId: "set", evalCases: each((at) => ({ evalId: `case ${at}`, conversation: [turn(at)] })) };
const bytes = (value) => new TextEncoder().encode(JSON.stringify(value));
const SET_BYTES = bytes(SET);
const criteria = { response_match_score: 0.5 };

/** What an agent did, in each form that is read. */
const ACTUAL = {
  evalset: SET,
  results: {
    eval_set_result_id: "r",
    eval_set_id: "set",
    creation_timestamp: 1,
    eval_case_results: each((at) => ({
      eval_set_id: "set",
      eval_id: `case ${at}`,
      final_eval_status: 1,
      overall_eval_metric_results: [],
      eval_metric_result_per_invocation: [{ actual_invocation: turn(at), eval_metric_results: [] }],
      session_id: "s",
    })),
  },
  "inference results": each((at) => ({ evalCaseId: `case ${at}`, inferences: [turn(at)] })),
  sessions: each((at) => ({
    id: "s",
    evalId: `case ${at}`,
    events: [
      { author: "user", invocationId: "i", content: turn(at).userContent },
      { author: "agent", invocationId: "i", content: turn(at).finalResponse },
    ],
  })),
  "old rows": each((at) => ({ name: `case ${at}`, data: [{ query: "Weather?", reference: `Sunny ${at}` }] })),
};

/** How often the thread was left, and what is done then. */
let left = 0;
let whileLeft = () => {};
let hours = 0;
const real = { setImmediate, setTimeout, MessageChannel };
const realNow = performance.now;

function fakeClock() {
  [left, hours, whileLeft] = [0, 0, () => {}];
  performance.now = () => (hours += 1) * 3_600_000;
  globalThis.setImmediate = (callback) => {
    left += 1;
    return real.setImmediate(() => {
      whileLeft();
      callback();
    });
  };
}

function realClock() {
  Object.assign(globalThis, real);
  performance.now = realNow;
}

const plain = ({ evalSetResultId, evalSetResultName, creationTimestamp, ...set }) => JSON.stringify(set);

describe("the thread is left while inputs are read", () => {
  beforeEach(fakeClock);
  afterEach(realClock);

  for (const [form, actual] of Object.entries(ACTUAL)) {
    const given = { bytes: bytes(actual), text: JSON.stringify(actual), objects: actual };
    for (const [how, actual] of Object.entries(given)) {
      test(`${form} as ${how}, which are read as in one piece`, async () => {
        const request = () => ({
          evalSet: how === "objects" ? SET : SET_BYTES,
          actual: typeof actual === "object" && how === "bytes" ? actual.slice() : actual,
          criteria,
        });
        const stream = evaluateStream(request());
        const first = await stream.next();
        assert.equal(first.value.evalId, "case 0");
        const size = SET_BYTES.length + given.bytes.length;
        // At least each half megabyte of JSON is the end of a slice.
        assert.ok(left >= size / 2 ** 19, `the thread was left ${left} times for ${size} bytes`);
        await stream.return();
        const inSlices = await evaluate(request());
        realClock();
        assert.equal(plain(inSlices), plain(await evaluate(request())));
      });
    }
  }

  test("evalIds, as many as there are", async () => {
    const leftFor = async (evalIds) => {
      fakeClock();
      const stream = evaluateStream({ evalSet: SET_BYTES, actual: SET_BYTES.slice(), criteria, evalIds });
      assert.equal((await stream.next()).value.evalId, "case 0");
      await stream.return();
      return left;
    };
    const ids = Array.from({ length: 100_000 }, (_, at) => `case ${at % CASES}`);
    const more = (await leftFor(ids)) - (await leftFor(ids.slice(0, CASES)));
    // An id is as much work as 64 bytes of JSON.
    assert.ok(more >= Math.floor((64 * (ids.length - CASES)) / 2 ** 19), `the thread was left ${more} times more`);
  });

  test("finding out whether a metric can score none of the cases", async () => {
    const leftFor = async (criteria) => {
      fakeClock();
      const stream = evaluateStream({ evalSet: SET_BYTES, actual: SET_BYTES.slice(), criteria });
      assert.equal((await stream.next()).value.evalId, "case 0");
      const before = left;
      for await (const _ of stream);
      return before;
    };
    // No case expects a call, so each of them is looked at.
    const looked = await leftFor({ ...criteria, tool_parameter_match: 0.5 });
    assert.ok(looked - (await leftFor(criteria)) >= CASES - 1, `the thread was left ${looked} times`);
  });

  test("an evalset of an agent", async () => {
    const options = { parallelism: 2 };
    let before;
    const agent = () => ((before ??= left), "It is sunny");
    const ways = [
      () => AgentEvaluator.evaluateEvalSet(agent, SET_BYTES, { response_match_score: 0 }, 1, false, options),
      () => new LocalEvalService(agent, 2).performInference({ evalSetId: "set", evalCases: [SET_BYTES] }).next(),
    ];
    for (const way of ways) {
      fakeClock();
      before = undefined;
      await way();
      // Reading the evalset is the smaller part: it is handed over in pieces of a quarter of a megabyte.
      assert.ok(before >= SET_BYTES.length / 2 ** 19 + SET_BYTES.length / 2 ** 18, `${before}`);
      assert.ok(left - before >= CASES, `the thread was left ${left - before} times between ${CASES} cases`);
    }
  });

  test("answers of judges that come at the same time", async () => {
    const COUNT = 40;
    const evalSet = { evalSetId: "set", evalCases: SET.evalCases.slice(0, COUNT) };
    const waiting = [];
    let before;
    const judge = async () => {
      await new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length < COUNT) return;
        before = left;
        for (const answer of waiting) answer();
      });
      return '{"is_the_agent_response_valid": "valid"}';
    };
    const judged = { final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 1 } } };
    const request = { evalSet, actual: evalSet, criteria: judged, judge, concurrency: COUNT, timeoutMs: Infinity };
    const { judgeUsage } = await evaluate(request);
    assert.equal(judgeUsage.answered, COUNT);
    assert.ok(left - before >= COUNT, `the thread was left ${left - before} times for ${COUNT} answers`);
  });

  test("the results of one case, which are as in one piece", async () => {
    const rubrics = Array.from({ length: 100 }, (_, at) => ({
      rubricId: `rubric ${at}`,
      rubricContent: { textProperty: `It says how warm it is on day ${at}.` },
    }));
    const conversation = each(turn).slice(0, 400);
    const ofCase = (evalId, turns) => ({ evalSetId: "set", evalCases: [{ evalId, conversation: turns }] });
    const judged = { threshold: 0.5, rubrics, judgeModelOptions: { numSamples: 1 } };
    const request = {
      evalSet: ofCase("long", conversation),
      criteria: { rubric_based_final_response_quality_v1: judged },
      judge: ({ invocationIndex }) => {
        const answers = rubrics.map(({ rubricId }, at) => ({
          rubric_id: rubricId,
          property: `It says how warm it is on day ${at}.`,
          rationale: `Day ${invocationIndex}`,
          verdict: at % 2 ? "yes" : "no",
        }));
        return JSON.stringify({ rubrics: answers });
      },
      timeoutMs: Infinity,
    };
    // As bytes, and from sessions, whose turns are not in the input as such.
    const events = conversation.flatMap((turn, at) => [
      { author: "user", invocationId: `${at}`, content: turn.userContent },
      { author: "agent", invocationId: `${at}`, content: turn.finalResponse },
    ]);
    for (const actual of [bytes(request.evalSet), [{ id: "s", evalId: "long", events }]]) {
      fakeClock();
      const real = JSON.parse;
      let longest = 0;
      JSON.parse = (text, ...more) => {
        longest = Math.max(longest, text.length);
        return real(text, ...more);
      };
      const set = await evaluate({ ...request, actual }).finally(() => (JSON.parse = real));
      const [{ overallEvalMetricResults, evalMetricResultPerInvocation: turns }] = set.evalCaseResults;
      const size = JSON.stringify(turns.map(({ evalMetricResults }) => evalMetricResults)).length;
      assert.ok(size > 6 * 2 ** 20, `${size}`);
      assert.ok(longest < 2 ** 20, `${longest} characters of results were read in one piece`);
      assert.equal(overallEvalMetricResults.length, turns[0].evalMetricResults.length);
      assert.equal(overallEvalMetricResults[0].details.rubricScores.length, 100);
      assert.equal(turns.length, 400);
      for (const [at, { actualInvocation, expectedInvocation, evalMetricResults }] of turns.entries()) {
        assert.deepEqual(actualInvocation.userContent, conversation[at].userContent);
        assert.deepEqual(expectedInvocation.finalResponse, conversation[at].finalResponse);
        const [{ score, details }] = evalMetricResults;
        assert.equal(score, 0.5);
        assert.equal(details.rubricScores[99].rationale, `Day ${at}`);
      }
    }
  });

  test("one long conversation", async () => {
    const metric = { metricName: "response_match_score", threshold: 0.5 };
    const turns = each(turn);
    const result = await new RougeEvaluator(metric).evaluateInvocations(turns, turns);
    assert.equal(result.perInvocationResults.length, CASES);
    assert.ok(left >= bytes(turns).length / 2 ** 19, `${left}`);
  });
});

describe("while inputs are read", () => {
  beforeEach(fakeClock);
  afterEach(realClock);

  test("a signal is heard", async () => {
    for (const evalSet of [SET_BYTES, SET]) {
      for (const last of [1, 3]) {
        const controller = new AbortController();
        left = 0;
        whileLeft = () => left === last && controller.abort();
        const set = await evaluate({ evalSet, actual: evalSet, criteria, signal: controller.signal });
        assert.equal(set.cancelled, true);
        assert.deepEqual(set.evalCaseResults, []);
        assert.equal(left, last, "the thread was taken again");
      }
    }
  });

  test("a signal is heard in one conversation", async () => {
    const controller = new AbortController();
    whileLeft = () => controller.abort();
    const options = { signal: controller.signal };
    const evaluator = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.5 }, options);
    const turns = each(turn);
    const { overallEvalStatus, reason } = await evaluator.evaluateInvocations(turns, turns);
    assert.equal(overallEvalStatus, 3);
    assert.match(reason, /cancelled/);
    assert.equal(left, 1);
  });

  test("a signal that had aborted before leaves every case unscored", async () => {
    const signal = AbortSignal.abort();
    const set = await evaluate({ evalSet: SET_BYTES, actual: SET_BYTES, criteria, signal });
    assert.equal(set.cancelled, true);
    assert.equal(set.evalCaseResults.length, CASES);
  });

  test("the time of the budget counts", async () => {
    let asked = 0;
    const judge = () => ((asked += 1), '{"is_the_agent_response_valid": "valid"}');
    const set = await evaluate({
      evalSet: SET_BYTES,
      actual: SET_BYTES,
      criteria: { final_response_match_v2: 0.5 },
      judge,
      // The clock is looked at once for each slice that is read, and more often before the first call.
      budget: { timeMs: 3_600_000 * 5 },
    });
    assert.equal(asked, 0);
    assert.match(set.evalCaseResults[0].overallEvalMetricResults[0].reason, /time/);
  });

  test("bytes that are transferred are missed by name", async () => {
    const large = bytes({ ...SET, name: "x".repeat(2 ** 22) });
    whileLeft = () => left === 1 && structuredClone(large, { transfer: [large.buffer] });
    await assert.rejects(evaluate({ evalSet: SET_BYTES.slice(), actual: large, criteria }), {
      code: "invalid_input",
      message: "the bytes are gone: their buffer was transferred or resized",
      path: "actual",
      help: "Pass a copy: `bytes.slice()`",
    });
  });

  test("a mistake is the same as in one piece", async () => {
    const wrong = structuredClone(SET);
    wrong.evalCases[CASES - 1].conversation[0].userContent.parts = "no list";
    for (const evalSet of [wrong, JSON.stringify(wrong, null, 1), bytes(wrong)]) {
      fakeClock();
      const inSlices = await evaluate({ evalSet, actual: SET_BYTES }).catch((error) => error);
      realClock();
      const whole = await evaluate({ evalSet, actual: SET_BYTES }).catch((error) => error);
      assert.equal(inSlices.path, `evalSet: evalCases[${CASES - 1}].conversation[0].userContent.parts`);
      assert.deepEqual({ ...inSlices, message: inSlices.message }, { ...whole, message: whole.message });
    }
    wrong.evalCases[CASES - 1].conversation[0].userContent.parts = [{ text: "half \ud83c" }];
    fakeClock();
    await assert.rejects(evaluate({ evalSet: wrong, actual: SET_BYTES }), {
      code: "unserializable",
      path: `evalSet: evalCases[${CASES - 1}].conversation[0].userContent.parts[0].text`,
    });
  });

  test("objects are written as `JSON.stringify` writes them", async () => {
    const odd = structuredClone(SET);
    const keys = [];
    odd.evalCases[0] = { toJSON: (key) => (keys.push(key), SET.evalCases[0]) };
    odd.evalCases[1].creationTimestamp = new Number(5);
    odd.evalCases[2].rubrics = undefined;
    odd.description = undefined;
    odd.name = { toJSON: () => undefined };
    Object.defineProperty(odd, "creationTimestamp", { get: () => 7, enumerable: true });
    const set = await evaluate({ evalSet: odd, actual: SET_BYTES, criteria });
    assert.deepEqual([...new Set(keys)], ["0"]);
    assert.equal(plain(set), plain(await evaluate({ evalSet: JSON.stringify(odd), actual: SET_BYTES, criteria })));
    odd.evalCases[3] = undefined;
    await assert.rejects(evaluate({ evalSet: odd, actual: SET_BYTES }), { path: "evalSet: evalCases[3]" });
  });
});

describe("while a journal is read", () => {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-slices-"));
  const file = join(folder, "j.jsonl");
  const ENTRIES = 20_000;
  const entry = (at) => ({ type: "reply", section: "0", key: `question ${at}`, reply: { text: "x".repeat(100) } });
  beforeEach(() => {
    const lines = [
      { format: "adk-metrics journal", version: 1 },
      ...Array.from({ length: ENTRIES }, (_, at) => entry(at)),
    ];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    fakeClock();
  });
  afterEach(realClock);
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("the thread is left", async () => {
    const journal = fileJournal(file);
    const entries = await journal.read();
    // At each 64 KiB of lines.
    assert.ok(left >= (ENTRIES * 150) / 2 ** 16, `${left}`);
    assert.deepEqual([entries.length, entries.at(-1)], [ENTRIES, entry(ENTRIES - 1)]);
    const read = left;
    const stored = { read: () => entries, append: () => Promise.resolve() };
    await evaluate({ evalSet: SET_BYTES, actual: SET_BYTES, criteria, journal: stored });
    const withJournal = left - read;
    left = 0;
    await evaluate({ evalSet: SET_BYTES, actual: SET_BYTES, criteria });
    // Entries are checked, and then put where they are looked for.
    assert.ok(withJournal - left >= (2 * ENTRIES) / 1000, `${withJournal} and ${left}`);
    journal.close();
  });

  test("it may be closed, and opened anew, but not written", async () => {
    const journal = fileJournal(file);
    let appended;
    whileLeft = () => (appended ??= journal.append([entry(0)], false).catch((error) => error.message));
    assert.equal((await journal.read()).length, ENTRIES);
    assert.equal(await appended, "the journal cannot be written: it is still being read");
    let again;
    whileLeft = () => {
      journal.close();
      whileLeft = () => {};
      again = journal.read();
    };
    await assert.rejects(journal.read(), {
      code: "journal_failed",
      message: "the journal cannot be read: it was closed while it was being read",
    });
    assert.equal((await again).length, ENTRIES);
    await journal.append([entry(ENTRIES)], true);
    journal.close();
    assert.equal((await journal.read()).length, ENTRIES + 1);
    whileLeft = () => journal.close();
    await assert.rejects(journal.read(), {
      message: "the journal cannot be read: it was closed while it was being read",
    });
    await assert.rejects(journal.append([entry(0)], true), { message: "the journal cannot be written: it is closed" });
  });
});

// Browsers wait 4 ms for each timer of a chain, and a second in a hidden tab.
describe("the thread is left", () => {
  const request = { evalSet: SET_BYTES, actual: SET_BYTES, criteria };
  let timers = 0;
  let messages = 0;
  beforeEach(() => {
    fakeClock();
    [timers, messages] = [0, 0];
    globalThis.setTimeout = (...given) => ((timers += 1), real.setTimeout(...given));
    globalThis.MessageChannel = class extends real.MessageChannel {
      constructor() {
        super();
        messages += 1;
      }
    };
  });
  afterEach(realClock);

  test("by an immediate where there are any", async () => {
    await evaluate(request);
    assert.ok(left > 1);
    assert.deepEqual([messages, timers], [0, 0]);
  });

  test("by a message in browsers", async () => {
    delete globalThis.setImmediate;
    await evaluate(request);
    assert.ok(messages > 1);
    assert.equal(timers, 0);
  });

  test("by a timer where there is nothing else", async () => {
    delete globalThis.setImmediate;
    delete globalThis.MessageChannel;
    await evaluate(request);
    assert.ok(timers > 1);
  });

  test("with nothing that keeps a process", async () => {
    delete globalThis.setImmediate;
    const resources = () => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    const before = resources();
    await evaluate(request);
    // Ports are closed a turn later.
    await new Promise((resolve) => real.setTimeout(resolve));
    assert.equal(resources(), before);
  });
});
