// Evaluations that were interrupted go on where they stopped: what was paid for is not paid again, and the results are those of
// an undisturbed run, byte for byte.

import assert from "node:assert/strict";
import fs, { existsSync, fstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import {
  evaluate,
  fileJournal,
  folderOf,
  forgetFailures,
  inEveryFormat,
  journalInMemory,
  planOf,
  withoutCredits,
} from "./journal.mjs";

/** How many evaluations are interrupted; each at every point. */
const PLANS = Number(process.env.JOURNAL_PLANS ?? 6);
/** In 18, cases that ask the same share a cache that is gone afterwards; in 37, calls for one of them fail. */
const SEEDS = new Set([...Array.from({ length: PLANS }, (_, at) => at + 1), 18, 37]);

test("an evaluation that is interrupted at any point goes on to the same bytes", async (t) => {
  const folder = folderOf(t);
  for (const seed of SEEDS) {
    const plan = planOf(seed);
    const written = (result) =>
      plan.faulty && plan.repeats ? { json: withoutCredits(result) } : inEveryFormat(result);
    const file = join(folder, `${seed}.jsonl`);
    const whole = plan.requestOf();
    const journal = fileJournal(file);
    const expected = written(await evaluate({ ...whole.request, journal }));
    journal.close();
    const bytes = readFileSync(file);
    const lines = String(bytes).split("\n").slice(0, -1);
    // Before the second line nothing is known of the time.
    for (let kept = 2; kept <= lines.length; kept += 1) {
      const rest = lines[kept] ?? "";
      // Also a line that lacks nothing but its end.
      for (const cut of new Set([0, 1, 17, rest.length])) {
        if (cut > rest.length) continue;
        const interrupted = join(folder, "interrupted.jsonl");
        writeFileSync(interrupted, `${lines.slice(0, kept).join("\n")}\n${rest.slice(0, cut)}`);
        const again = plan.requestOf();
        const notices = [];
        const going = fileJournal(interrupted, { onNotice: (notice) => notices.push(notice) });
        const result = await evaluate({ ...again.request, journal: going });
        going.close();
        const at = `plan ${seed}, ${kept} lines and ${cut} characters`;
        const entries = lines.slice(1, kept).map((line) => JSON.parse(line));
        const replies = entries.filter(({ type, cached }) => type === "reply" && cached !== true).length;
        assert.equal(again.calls(), whole.calls() - replies, at);
        const answers = entries.filter(({ type }) => type === "metric").length;
        assert.equal(again.computed(), whole.computed() - answers, at);
        assert.deepEqual(notices.length, cut > 0 ? 1 : 0, at);
        forgetFailures(result, entries);
        for (const [format, text] of Object.entries(written(result))) assert.equal(text, expected[format], at);
      }
    }
  }
});

test("the journal does not change the results", async (t) => {
  const { requestOf } = planOf(3);
  const times = (text) => text.replaceAll(/\d{10}\.\d+/g, "T");
  const journal = fileJournal(join(folderOf(t), "run.jsonl"));
  const one = inEveryFormat(await evaluate({ ...requestOf().request, journal }));
  const other = inEveryFormat(await evaluate(requestOf().request));
  assert.equal(times(one.json), times(other.json));
});

test("what settled is on the disk before the evaluation goes on", async (t) => {
  const { fdatasync } = fs;
  const replaced = (by) => {
    fs.fdatasync = by;
    syncBuiltinESMExports();
  };
  t.after(() => replaced(fdatasync));
  const synced = [];
  const isDone = [];
  replaced((descriptor, done) => {
    const { size } = fstatSync(descriptor);
    fdatasync(descriptor, (error) => {
      synced.push(size);
      done(error);
    });
  });
  const file = join(folderOf(t), "run.jsonl");
  const journal = fileJournal(file);
  const append = journal.append.bind(journal);
  journal.append = async (entries, settles) => {
    await append(entries, settles);
    const settled = readFileSync(file, "utf8").lastIndexOf(JSON.stringify(entries.at(-1)));
    assert.ok(settled >= 0);
    if (settles) isDone.push((synced.at(-1) ?? 0) > settled);
  };
  await evaluate({ ...planOf(3).requestOf().request, journal });
  journal.close();
  assert.ok(isDone.length > 0 && isDone.every(Boolean), isDone.join());
});

test("a journal of other inputs is refused, and says what differs", async (t) => {
  const { requestOf, evalSet, criteria } = planOf(5);
  const file = join(folderOf(t), "run.jsonl");
  const journaled = async (more) => {
    const journal = fileJournal(file);
    try {
      return await evaluate({ ...requestOf().request, ...more, journal });
    } finally {
      journal.close();
    }
  };
  await journaled({});
  const other = { ...evalSet, evalCases: evalSet.evalCases.slice(1) };
  for (const [more, what] of [
    [{ evalSet: other }, "the evalset"],
    [{ actual: other }, "what the agent did"],
    [{ evalSet: other, dialect: "adk-ts" }, "the evalset, the dialect"],
    [{ criteria: { ...criteria, response_match_score: 0.6 } }, "the config"],
    [
      { prompts: { final_response_match_v2: "{{user_prompt}} {{response}} {{reference}} {{reply_format}}" } },
      "the prompts",
    ],
    [{ judge: async function another() {} }, "the judge"],
    [{ evalIds: ["case-0"] }, "the selection of cases"],
    [{ advisory: ["own"] }, "the advisory metrics"],
  ]) {
    await assert.rejects(journaled(more), (error) => {
      assert.equal(error.code, "journal_failed");
      assert.ok(error.message.startsWith(`the journal was started with different inputs: ${what}`), error.message);
      return true;
    });
  }
  // What changes no result is free.
  await journaled({ concurrency: 1, explain: "none", budget: { calls: 1000 } });
  // Another version may score otherwise.
  const older = readFileSync(file, "utf8").replace(
    /"engine":"[^"]+","reference":"[^"]+"/,
    '"engine":"0.0.1","reference":"1.0.0"',
  );
  writeFileSync(file, older);
  await assert.rejects(
    journaled({}),
    /different inputs: the version of adk-metrics \(0\.0\.1 then, \S+ now\), the version of google-adk \(1\.0\.0 then, \S+ now\)/,
  );
});

test("a file that is no journal is left as it is", async (t) => {
  const file = join(folderOf(t), "precious.json");
  for (const text of ['{"mine": true}', '{"mine": true}\n', '{"format":"adk-metrics recording","version":1}\n']) {
    writeFileSync(file, text);
    const { request } = planOf(1).requestOf();
    await assert.rejects(evaluate({ ...request, journal: fileJournal(file) }), /it is not a journal of this package/);
    assert.equal(readFileSync(file, "utf8"), text);
    assert.equal(existsSync(`${file}.lock`), false);
  }
  const damaged = join(folderOf(t), "damaged.jsonl");
  const journal = fileJournal(damaged);
  await evaluate({ ...planOf(1).requestOf().request, journal });
  journal.close();
  const lines = readFileSync(damaged, "utf8").split("\n");
  lines[3] = lines[3].slice(0, 20);
  writeFileSync(damaged, lines.join("\n"));
  const size = statSync(damaged).size;
  await assert.rejects(
    evaluate({ ...planOf(1).requestOf().request, journal: fileJournal(damaged) }),
    /line 4 is not JSON/,
  );
  assert.equal(statSync(damaged).size, size);
});

test("one writer at a time, and a dead one's lock is taken over", async (t) => {
  const file = join(folderOf(t), "run.jsonl");
  const { requestOf } = planOf(2);
  const first = fileJournal(file);
  await evaluate({ ...requestOf().request, journal: first });
  await assert.rejects(evaluate({ ...requestOf().request, journal: fileJournal(file) }), (error) => {
    assert.match(error.message, /^this process is writing the journal/);
    return true;
  });
  first.close();
  assert.equal(existsSync(`${file}.lock`), false);
  // A process that cannot be: the largest number that there is.
  const { hostname } = await import("node:os");
  writeFileSync(`${file}.lock`, JSON.stringify({ pid: 4194304 + 1, host: hostname() }));
  const second = fileJournal(file);
  await evaluate({ ...requestOf().request, journal: second });
  second.close();
  writeFileSync(`${file}.lock`, JSON.stringify({ pid: 1, host: "elsewhere" }));
  await assert.rejects(
    evaluate({ ...requestOf().request, journal: fileJournal(file) }),
    /process 1 on elsewhere is writing/,
  );
});

test("evaluations with one journal go on by their order", async (t) => {
  const file = join(folderOf(t), "run.jsonl");
  const [one, two] = [planOf(7), planOf(8)];
  const both = async () => {
    const journal = fileJournal(file);
    const [first, second] = [one.requestOf(), two.requestOf()];
    const results = await Promise.all([first, second].map(({ request }) => evaluate({ ...request, journal })));
    journal.close();
    return { texts: results.map((result) => inEveryFormat(result).json), calls: first.calls() + second.calls() };
  };
  const before = await both();
  assert.ok(before.calls > 0);
  const after = await both();
  assert.equal(after.calls, 0);
  assert.deepEqual(after.texts, before.texts);
});

test("any store will do, and one that fails ends the evaluation", async () => {
  const { requestOf } = planOf(4);
  const entries = [];
  const journal = () => ({
    read: async () => JSON.parse(JSON.stringify(entries)),
    append: async (more) => void entries.push(...more),
  });
  const first = requestOf();
  const expected = await evaluate({ ...first.request, journal: journal() });
  const again = requestOf();
  assert.equal(
    inEveryFormat(await evaluate({ ...again.request, journal: journal() })).json,
    inEveryFormat(expected).json,
  );
  assert.equal(again.calls(), 0);
  const failing = {
    read: async () => [],
    append: async () => {
      throw new Error("the store is gone");
    },
  };
  await assert.rejects(evaluate({ ...requestOf().request, journal: failing }), (error) => {
    assert.equal(error.code, "journal_failed");
    assert.match(error.message, /cannot be written: the store is gone/);
    return true;
  });
  await assert.rejects(evaluate({ ...requestOf().request, journal: {} }), /an object with `read` and `append`/);
});

test("a call is in the journal before others find its reply in the cache, and do not count it", async () => {
  const written = [];
  const stored = [];
  const journal = {
    read: async () => [],
    async append(entries) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      written.push(...entries);
    },
  };
  const cache = {
    get: async () => undefined,
    async set(_, { text }) {
      stored.push(written.some(({ type, reply }) => type === "reply" && reply.text === text));
    },
  };
  let calls = 0;
  const reasoned = () => JSON.stringify({ reasoning: `${(calls += 1)}`, is_the_agent_response_valid: "valid" });
  await evaluate({ ...planOf(6).requestOf().request, judge: async () => reasoned(), journal, cache });
  assert.ok(calls > 0);
  assert.deepEqual(
    stored,
    Array.from({ length: calls }, () => true),
  );
});

/** Two cases, each asked about once by a judge; the calls of an evaluation, and one that goes on from its journal. */
async function callsOf(judge, options = () => ({})) {
  const evalSet = evalSetOf({ one: [turn("One?", "1")], two: [turn("Two?", "2")] });
  const criteria = { final_response_match_v2: { threshold: 0.5, judgeModelOptions: { numSamples: 1 } } };
  const { begin: journal } = journalInMemory();
  const request = { evalSet, actual: evalSet, criteria, judge };
  const first = await evaluate({ ...request, journal: journal(), ...options() });
  const second = await evaluate({ ...request, journal: journal() });
  return [first, second].map(({ judgeUsage: { calls, answered, failed } }) => ({ calls, answered, failed }));
}
const VALID = JSON.stringify({ reasoning: "", is_the_agent_response_valid: "valid" });

test("a call that took too long counts once in an evaluation that goes on", async () => {
  let asked = 0;
  const judge = async () => {
    asked += 1;
    await (asked === 1 ? new Promise(() => {}) : sleep(20));
    return VALID;
  };
  const [first, second] = await callsOf(judge, () => ({ timeoutMs: 200, retry: { initialDelayMs: 0 } }));
  assert.equal(asked, 3);
  assert.deepEqual(first, { calls: 3, answered: 2, failed: 1 });
  assert.deepEqual(second, first);
});

test("a reply that came when its call was cancelled is no call of its own", async () => {
  const controller = new AbortController();
  let asked = 0;
  const judge = async ({ evalId }, { signal }) => {
    asked += 1;
    if (evalId === "one") await new Promise((resolve) => signal.addEventListener("abort", resolve));
    else setTimeout(() => controller.abort(), 20);
    return VALID;
  };
  const [, second] = await callsOf(judge, () => ({ signal: controller.signal }));
  assert.equal(asked, 2);
  assert.deepEqual(second, { calls: 2, answered: 2, failed: 0 });
});

test("a call that ends with the time of the budget is no failure of its provider, and is made again", async () => {
  const evalSet = evalSetOf({ one: [turn("One?", "1")] });
  const criteria = { final_response_match_v2: { threshold: 0.5, judgeModelOptions: { numSamples: 1 } } };
  const { entries, begin: journal } = journalInMemory();
  const reasons = [];
  const judge = async (_request, { signal }) => {
    if (reasons.length > 0) return VALID;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    reasons.push(signal.reason);
    throw signal.reason;
  };
  const request = { evalSet, actual: evalSet, criteria, judge };
  const { judgeUsage: first } = await evaluate({ ...request, journal: journal(), budget: { timeMs: 100 } });
  assert.equal(first.lost, 1);
  assert.deepEqual(
    reasons.map(({ code, message }) => [code, message]),
    [["timeout", "the time of the budget is over"]],
  );
  assert.deepEqual(
    entries.filter(({ type }) => type === "failure"),
    [],
  );
  const { judgeUsage } = await evaluate({ ...request, journal: journal() });
  assert.deepEqual([judgeUsage.calls, judgeUsage.answered, judgeUsage.failed], [1, 1, 0]);
});

test("a call that was cancelled is no failure of its provider, and is made again", async () => {
  const evalSet = evalSetOf({ one: [turn("One?", "1")], two: [turn("Two?", "2")] });
  const criteria = { final_response_match_v2: { threshold: 0.5, judgeModelOptions: { numSamples: 1 } } };
  const { entries, begin: journal } = journalInMemory();
  const controller = new AbortController();
  const reasons = [];
  const judge = async ({ evalId }, { signal }) => {
    if (evalId === "one" && reasons.length === 0) {
      setTimeout(() => controller.abort(), 20);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      reasons.push(signal.reason);
      throw signal.reason;
    }
    return VALID;
  };
  const request = { evalSet, actual: evalSet, criteria, judge };
  const first = await evaluate({ ...request, journal: journal(), signal: controller.signal });
  assert.equal(first.cancelled, true);
  assert.deepEqual(
    reasons.map(({ code, message }) => [code, message]),
    [["cancelled", "the evaluation was cancelled"]],
  );
  assert.deepEqual(
    entries.filter(({ type }) => type === "failure"),
    [],
  );
  const { judgeUsage } = await evaluate({ ...request, journal: journal() });
  assert.deepEqual([judgeUsage.calls, judgeUsage.answered, judgeUsage.failed], [2, 2, 0]);
});

test("a journal that is whole does not grow when it is used again", async (t) => {
  const file = join(folderOf(t), "run.jsonl");
  const { requestOf } = planOf(6);
  const sizes = [];
  for (let time = 0; time < 3; time += 1) {
    const journal = fileJournal(file);
    await evaluate({ ...requestOf().request, journal });
    journal.close();
    sizes.push(statSync(file).size);
  }
  assert.deepEqual(sizes, [sizes[0], sizes[0], sizes[0]]);
});
