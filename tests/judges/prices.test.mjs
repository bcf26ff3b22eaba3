// What a run costs, and what is said where a price is missing.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";
import { BARE, folderOf, run } from "../cli/command.mjs";
import { ask, at, FILES, judged, server } from "../cli/judging.mjs";

const { AgentEvaluator, checkInputs, estimateCalls, evaluate, evaluateStream, openaiJudge, panelJudge } =
  await importEntry();
const { recordJudge, replayJudge } = await importEntry();
const report = await importEntry("./report");

const evalSet = evalSetOf({ one: [turn("When?", "At noon.")] });
const actual = evalSetOf({ one: [turn("When?", "At twelve.")] });
const VALID = JSON.stringify({ is_the_agent_response_valid: "valid" });
const reply = { text: VALID, usage: { inputTokens: 1_000_000, outputTokens: 10 } };
const price = (inputPerMillion) => ({ inputPerMillion, outputPerMillion: 0 });
const request = (judge, prices, more = {}) => ({
  evalSet,
  actual,
  criteria: { final_response_match_v2: { threshold: 0.5, judgeModelOptions: { numSamples: 3 } } },
  earlyStop: "none",
  judge,
  budget: { prices },
  ...more,
});
const grade = async function grade() {
  return reply;
};

/** Every text that a report has of the results. */
const reports = (set) =>
  Object.entries({
    table: report.renderTable(set, { width: 400 }),
    html: report.renderHtml(set),
    markdown: report.renderMarkdown(set),
    junit: report.renderJUnit(set),
  });

describe("what costs nothing known", () => {
  test("is no cost of 0: every report names who has no price, and a warning does", async () => {
    const set = await evaluate(request(grade, { other: price(1) }));
    assert.equal("cost" in set.judgeUsage, false);
    assert.deepEqual(set.judgeUsage.unpriced, ["the function grade"]);
    const told = set.warnings.map(({ message }) => message);
    assert.ok(told.includes("the cost does not include the function grade: there is no price"), `${told}`);
    for (const [name, text] of reports(set)) {
      assert.match(text, /the function grade/, name);
      assert.doesNotMatch(text, /cost:? ?0|judgeCost/i, name);
    }
    assert.match(report.renderTable(set, { width: 400 }), /cost unknown \(no price for the function grade\)/);
    assert.match(report.renderJUnit(set), /name="judgeWithoutPrice" value="the function grade"/);
  });

  test("is left out of a cost that is known for others", async () => {
    const [a, b] = ["a", "b"].map((name) => ({ name, judge: async () => reply }));
    const set = await evaluate(
      request(panelJudge([a, b].map(({ name, judge }) => Object.defineProperty(judge, "name", { value: name }))), {
        a: price(2),
      }),
    );
    assert.equal(set.judgeUsage.cost, 6);
    assert.deepEqual(set.judgeUsage.unpriced, ["b"]);
    assert.match(report.renderTable(set, { width: 400 }), /cost 6 without b \(no price\)/);
  });

  test("is nothing to speak of where nobody was asked, or without prices", async () => {
    const free = await evaluate(request(grade, undefined));
    assert.deepEqual(
      [free.judgeUsage.unpriced, free.judgeUsage.cost, free.warnings],
      [undefined, undefined, undefined],
    );
    const cache = { get: async () => reply, set: async () => {} };
    const versioned = Object.assign(async () => assert.fail(), { cacheVersion: "1" });
    const kept = await evaluate(request(versioned, { other: price(1) }, { cache }));
    assert.equal(kept.judgeUsage.calls, 0);
    assert.equal(kept.judgeUsage.unpriced, undefined);
  });
});

describe("a price for what is not asked", () => {
  const prices = { grade: price(1), foo: price(2), bar: price(3) };
  const message = "`foo`, `bar` are not asked, so their prices in `budget.prices` have no effect";
  const unusedIn = (warnings = []) => warnings.filter(({ path }) => path === "options");
  let calls = 0;
  const judge = Object.defineProperty(async () => (calls += 1) && reply, "name", { value: "grade" });

  test("is a warning, which strict evaluations refuse before anything is asked", async () => {
    const { warnings } = await evaluate(request(judge, prices));
    assert.deepEqual(unusedIn(warnings), [{ code: "invalid_input", message, path: "options", help: "Asked: grade" }]);
    const one = await evaluate(request(judge, { grade: price(1), foo: price(2) }));
    assert.match(
      unusedIn(one.warnings)[0].message,
      /^`foo` is not asked, so its price in `budget\.prices` has no effect$/,
    );
    const stream = evaluateStream(request(judge, prices));
    let next = await stream.next();
    while (!next.done) next = await stream.next();
    assert.deepEqual(unusedIn(next.value.warnings).length, 1);
    assert.deepEqual(unusedIn((await checkInputs(request(judge, prices))).warnings)[0].message, message);
    const before = calls;
    for (const work of [evaluate, checkInputs]) {
      await assert.rejects(work(request(judge, prices, { strict: true })), { code: "invalid_input", message });
    }
    assert.equal(calls, before);
  });

  test("is none of a panel, of its judges, or of a recording's model", async () => {
    const panel = panelJudge(
      ["a", "b"].map((name) => Object.defineProperty(async () => reply, "name", { value: name })),
    );
    for (const known of [{ "a, b": price(1) }, { a: price(1), b: price(1) }]) {
      assert.deepEqual(unusedIn((await evaluate(request(panel, known))).warnings), []);
    }
    assert.equal(unusedIn((await evaluate(request(panel, { "a, b": price(1), a: price(1) }))).warnings).length, 1);
    let text = "";
    await evaluate(
      request(
        recordJudge(judge, (line) => void (text += line)),
        undefined,
      ),
    );
    assert.deepEqual(unusedIn((await evaluate(request(replayJudge(text), { grade: price(1) }))).warnings), []);
  });

  test("is none of who plays users, and is told of once where an agent is run", async () => {
    const scenario = { startingPrompt: "Hi", conversationPlan: "Ask." };
    const users = {
      evalSetId: "s",
      evalCases: [{ evalId: "user", conversationScenario: scenario }, evalSet.evalCases[0]],
    };
    const player = Object.defineProperty(async () => "</finished>", "name", { value: "player" });
    const criteria = { ...request(judge).criteria, hallucinations_v1: 0.5 };
    const played = async (set, known, strict = false) => {
      const options = { judge, userSimulator: { judge: player }, budget: { prices: known }, strict };
      try {
        return await AgentEvaluator.evaluateEvalSet(() => "At noon.", set, criteria, 1, false, options);
      } catch (error) {
        if (error.results === undefined) throw error;
        return error.results[0];
      }
    };
    const known = { grade: price(1), player: price(2) };
    assert.deepEqual(unusedIn((await played(users, known, true)).warnings), []);
    const more = await played(users, { ...known, foo: price(1) });
    assert.deepEqual(unusedIn(more.warnings)[0].help, "Asked: grade, player");
    const { warnings } = await played(evalSet, known);
    assert.match(unusedIn(warnings)[0].message, /^`player` is not asked/);
    await assert.rejects(played(users, { ...known, foo: price(1) }, true), { code: "invalid_input" });
  });
});

describe("a function", () => {
  test("has the price of its name, or else that of the model that it is asked for", async () => {
    const costOf = async (prices) => (await evaluate(request(grade, prices))).judgeUsage.cost;
    assert.equal(await costOf({ grade: price(1), "gemini-2.5-flash": price(7) }), 3);
    assert.equal(await costOf({ "gemini-2.5-flash": price(7) }), 21);
  });

  test("is who an estimate says is asked", async () => {
    const [row] = await estimateCalls(request(grade, {}));
    assert.deepEqual([row.function, row.model, row.most.calls], ["grade", "gemini-2.5-flash", 3]);
  });
});

test("a server of one's own that nobody named a model for is asked for google-adk's default, and a warning says so", async () => {
  const asked = [];
  const fetch = async (_, { body }) => {
    asked.push(JSON.parse(body).model);
    return Response.json({ choices: [{ message: { content: VALID } }] });
  };
  const at = { baseUrl: "http://127.0.0.1:9/v1", fetch };
  const set = await evaluate(request(openaiJudge(at), undefined));
  assert.ok(asked.length > 0 && asked.every((model) => model === "gemini-2.5-flash"));
  assert.match(
    set.warnings[0].message,
    /was asked for gemini-2\.5-flash, google-adk's default: to choose another model/,
  );
  const named = await evaluate(request(openaiJudge({ ...at, model: "qwen" }), undefined));
  assert.equal(named.warnings, undefined);
  await assert.rejects(estimateCalls(request(openaiJudge({ apiKey: "k" }), undefined)), /openai, which has no model/);
});

test("a budget in money needs prices only where somebody is asked", async () => {
  const budget = { cost: 1 };
  const needs = { code: "invalid_input", path: "budget: cost", message: "a budget in money needs `prices`" };
  const free = { evalSet, actual, criteria: { response_match_score: 0 }, budget };
  const useless = "no metric asks a judge, so `budget` has no effect";
  for (const work of [evaluate, checkInputs]) {
    const { warnings } = await work(free);
    assert.ok(warnings.some(({ message }) => message === useless));
    await assert.rejects(work({ ...free, strict: true }), { code: "invalid_input", message: useless });
    await assert.rejects(work({ ...request(grade), budget }), needs);
  }
  assert.deepEqual(await estimateCalls(free), []);
  const run = (criteria) =>
    AgentEvaluator.evaluateEvalSet(() => "At noon.", evalSet, criteria, 1, false, { budget, judge: grade });
  assert.ok((await run({ response_match_score: 0 })).warnings.some(({ path }) => path === "options"));
  await assert.rejects(run({ final_response_match_v2: 0.5 }), needs);
  const vertex = { apiKey: "k" };
  await assert.rejects(evaluate({ ...free, criteria: { safety_v1: 0.5 }, vertex }), needs);
});

test("an estimate refuses a budget that an evaluation refuses, in the same words", async () => {
  for (const budget of [
    { cost: 1 },
    { cost: 1, prices: { other: price(1) } },
    { prices: { grade: { inputPerMillion: -1, outputPerMillion: 0 } } },
    { prices: { grade: price(1) }, call: 5 },
    { calls: 1.5 },
  ]) {
    const [told, found] = await Promise.all(
      [evaluate, estimateCalls].map((check) => check({ ...request(grade, {}), budget }).catch((error) => error)),
    );
    assert.equal(told.code, "invalid_input");
    assert.equal(`${found}`, `${told}`);
  }
  await evaluate({ ...request(grade, {}), budget: { calls: Infinity } });
});

describe("on the command line", () => {
  const JUDGE = `export default async () => (${JSON.stringify(reply)});\n`;
  const files = { ...FILES, "judge.mjs": JUDGE, "test_config.json": judged({ num_samples: 1 }) };
  const own = ["--judge", "./judge.mjs"];

  test("a function is priced by its module, and a dry run names it", async (t) => {
    const cwd = folderOf(t, files);
    const priced = await run([...ask, ...own, "--price", "judge.mjs=2,0"], { cwd, env: BARE });
    assert.match(priced.stdout, /judged by the function judge\.mjs: 2 calls, .*cost 4\b/, priced.stderr);
    assert.doesNotMatch(priced.stderr, /not asked|leaves out/);
    const byModel = await run([...ask, ...own, "--price", "gemini-2.5-flash=2,0"], { cwd, env: BARE });
    assert.match(byModel.stdout, /cost 4\b/);
    assert.doesNotMatch(byModel.stderr, /not asked|leaves out/);
    const limited = await run([...ask, ...own, "--price", "foo=2,0", "--max-cost", "5"], { cwd, env: BARE });
    assert.equal(limited.status, 2);
    assert.match(limited.stderr, /there is no price for the function judge\.mjs, which is asked/);
    const dry = await run([...ask, ...own, "--price", "judge.mjs=2,0", "--dry-run"], { cwd, env: BARE });
    assert.match(dry.stdout, /final_response_match_v2, the function judge\.mjs\n/);
    assert.match(dry.stdout, /cost 0\.0/);
  });

  test("a price that is missing is a warning of the results, which --strict heeds", async (t) => {
    const cwd = folderOf(t, files);
    const found = await run([...ask, ...own, "--price", "foo=1,2", "--strict"], { cwd, env: BARE });
    assert.equal(found.status, 2, found.stderr);
    assert.match(found.stdout, /the cost does not include the function judge\.mjs: there is no price/);
    assert.match(found.stdout, /cost unknown \(no price for\s+the function judge\.mjs\)/);
  });

  test("a price for what was not asked is a warning that --strict heeds too", async (t) => {
    const cwd = folderOf(t, files);
    const prices = ["--price", "judge.mjs=1,2", "--price", "foo=1,2"];
    const lenient = await run([...ask, ...own, ...prices], { cwd, env: BARE });
    assert.match(lenient.stderr, /warning: --price names foo, which was not asked/);
    const strict = await run([...ask, ...own, ...prices, "--strict"], { cwd, env: BARE });
    assert.deepEqual([lenient.status, strict.status], [0, 2], strict.stderr);
    const dry = await run([...ask, ...own, "--price", "foo=1,2", "--dry-run"], { cwd, env: BARE });
    assert.match(
      dry.stderr,
      /warning: no cost is estimated for the function judge\.mjs, for which there is no --price/,
    );
    assert.match(dry.stderr, /warning: --price names foo, which would not be asked/);
    const named = await run([...ask, ...own, "--price", "judge.mjs=1,2", "--dry-run"], { cwd, env: BARE });
    assert.doesNotMatch(named.stderr, /--price/);
  });

  test("a dry run says whether limits in tokens and money will end the run, or may", async (t) => {
    const cwd = folderOf(t, files);
    const dry = async (...limits) =>
      (await run([...ask, ...own, "--price", "judge.mjs=1000,1000", "--dry-run", ...limits], { cwd, env: BARE }))
        .stderr;
    assert.match(
      await dry("--max-cost", "0.0001"),
      /--max-cost 0\.0001 ends the run before everything is scored, which takes at least \d/,
    );
    assert.match(
      await dry("--max-tokens", "10"),
      /--max-tokens 10 ends the run before everything is scored, which takes at least \d/,
    );
    assert.match(await dry("--max-tokens", "1500"), /--max-tokens 1,500 may end the run before everything is scored/);
    assert.doesNotMatch(await dry("--max-tokens", "1000000", "--max-cost", "1000"), /end the run|ends the run/);
  });

  test("a dry run refuses a limit in money without the price of who is asked, as the run does", async (t) => {
    const cwd = folderOf(t, files);
    for (const more of [[], ["--dry-run"], ["--dry-run", "--max-calls", "3"]]) {
      const given = [...ask, ...own, "--price", "foo=2,0", "--max-cost", "5", ...more];
      const { status, stderr } = await run(given, { cwd, env: BARE });
      assert.equal(status, 2, stderr);
      assert.match(stderr, /there is no price for the function judge\.mjs, which is asked/);
    }
  });

  test("a dry run refuses a provider without a model of its own, as the run does", async (t) => {
    const cwd = folderOf(t, files);
    for (const more of [[], ["--dry-run"]]) {
      const { status, stderr } = await run([...ask, "--judge", "ollama", ...more], { cwd, env: BARE });
      assert.equal(status, 2, stderr);
      assert.match(stderr, /--judge ollama cannot ask gemini-2\.5-flash/);
    }
    const answering = await server(t, { reply: () => VALID });
    const env = { ...BARE, ...at.openai(answering) };
    const asked = await run([...ask, "--judge", "openai"], { cwd, env });
    assert.match(asked.stdout, /was asked for gemini-2\.5-flash, google-adk's default/, asked.stderr);
  });
});
