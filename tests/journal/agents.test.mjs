// Runs of agents that were interrupted go on: what an agent did is not done again, nor are its judges and users asked again.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";
import { BARE, ended, folderOf as filesIn, run, start, text } from "../cli/command.mjs";
import { at, fair, judged, posix, server } from "../cli/judging.mjs";
import { fileJournal, folderOf, forgetFailures, inEveryFormat, planOf, random, withoutCredits } from "./journal.mjs";

const { AgentEvaluator, LocalEvalService } = await importEntry();

const evalSet = {
  evalSetId: "trips",
  evalCases: [
    ...evalSetOf({ one: [turn("Hi", "Hello"), turn("Bye", "Good bye")], two: [turn("Time?", "Noon")] }).evalCases,
    {
      evalId: "played",
      conversationScenario: { startingPrompt: "I want to go to Rome.", conversationPlan: "Book a train to Rome." },
    },
  ],
};
const criteria = {
  response_match_score: 0,
  final_response_match_v2: { threshold: 0, judge_model_options: { num_samples: 3 } },
  hallucinations_v1: 0,
};

/** An agent and a judge, which count, and whose every answer is another: so nothing that comes again was done again. */
function counting(before = 0) {
  const counts = { runs: before, turns: before, calls: before, users: before };
  const agent = async (message, { history }) => {
    if (history.length === 0) counts.runs += 1;
    counts.turns += 1;
    if (counts.turns % 7 === 3) throw new Error(`the agent broke down in turn ${counts.turns}`);
    return `answer ${counts.turns} to ${message}`;
  };
  const answered = [];
  const judge = async ({ metricName, purpose, prompt, sampleIndex }) => {
    if (metricName === "user_simulator") {
      counts.users += 1;
      return { text: counts.users % 3 === 0 ? "</finished>" : `message ${counts.users}`, usage: { inputTokens: 3 } };
    }
    counts.calls += 1;
    if (counts.calls % 5 === 2) throw Object.assign(new Error("busy"), { retryable: true, retryAfterMs: 0 });
    answered.push(`${sampleIndex} ${prompt}`);
    const valid = { reasoning: "Compared.", is_the_agent_response_valid: counts.calls % 2 ? "valid" : "invalid" };
    return { text: purpose === "segment" ? "<sentence>It is so.</sentence>" : JSON.stringify(valid) };
  };
  return { counts, answered, agent, judge };
}

/** The results of an evaluation that throws where the agent does not pass. */
async function resultsOf(evaluation) {
  try {
    return await evaluation;
  } catch (error) {
    if (error.results === undefined) throw error;
    return error.results[0];
  }
}

const settings = { parallelism: 1, concurrency: 1, retry: { initialDelayMs: 0, maxDelayMs: 0 } };

test("AgentEvaluator goes on at every entry, and comes to the same bytes", async (t) => {
  const folder = folderOf(t);
  const evaluated = async (file, world) => {
    const journal = fileJournal(file);
    try {
      const options = { ...settings, judge: world.judge, journal };
      return await resultsOf(AgentEvaluator.evaluateEvalSet(world.agent, evalSet, criteria, 2, false, options));
    } finally {
      journal.close();
    }
  };
  const file = join(folder, "whole.jsonl");
  const whole = counting();
  const expected = inEveryFormat(await evaluated(file, whole));
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  const entries = lines.slice(1).map((line) => JSON.parse(line));
  assert.equal(entries.filter(({ type }) => type === "run").length, 6);
  // What is in the journal from its beginning comes out again.
  const none = counting(1000);
  assert.deepEqual(inEveryFormat(await evaluated(file, none)), expected);
  assert.deepEqual(none.counts, { runs: 1000, turns: 1000, calls: 1000, users: 1000 });
  for (let kept = 2; kept < lines.length; kept += 3) {
    const interrupted = join(folder, `${kept}.jsonl`);
    writeFileSync(interrupted, `${lines.slice(0, kept).join("\n")}\n${lines[kept].slice(0, 9)}`);
    const before = entries.slice(0, kept - 1);
    const doneRuns = before.filter(({ type }) => type === "run").length;
    const world = counting();
    // The world goes on where it was when it was interrupted.
    const again = await evaluated(interrupted, world);
    assert.equal(world.counts.runs, 6 - doneRuns, `${kept} lines`);
    const judgedBefore = before.filter(({ type, key }) => type === "reply" && !key.startsWith("user_simulator")).length;
    if (doneRuns === 6) {
      const answered = new Set(whole.answered.slice(0, judgedBefore));
      assert.deepEqual(
        world.answered.filter((question) => answered.has(question)),
        [],
        `${kept} lines`,
      );
      assert.equal(world.counts.users, 0);
    }
    // And once more, from what is whole now.
    const last = counting(1000);
    assert.deepEqual(inEveryFormat(await evaluated(interrupted, last)), inEveryFormat(again));
    assert.deepEqual(last.counts.calls, 1000);
  }
});

/** How many runs of agents at random are interrupted; each at every point. */
const PLANS = Number(process.env.JOURNAL_PLANS ?? 4);

const OF_THE_RUN = /^(?:eval_set_result_(?:id|name)|session_id|invocation_id|creation_timestamp|duration)$/;

/** Results without what differs from run to run of an agent: times and sessions. */
const timeless = (result, plan) =>
  JSON.stringify(JSON.parse(plan.faulty ? withoutCredits(result) : inEveryFormat(result).json), (key, value) => {
    const isTime = OF_THE_RUN.test(key) || value?.metric_name === "invocation_duration_v1";
    return isTime ? undefined : value;
  });

test("agents at random, which are interrupted at any point, come to the results of an undisturbed run", async (t) => {
  const folder = folderOf(t);
  for (let seed = 1; seed <= PLANS; seed += 1) {
    const plan = planOf(seed);
    const { own: _, ...criteriaOfPlan } = plan.criteria;
    /** The same agent and judge as often as wanted, which count. */
    const evaluated = async (file) => {
      const { request, calls } = plan.requestOf();
      let runs = 0;
      const agent = async (message, { history }) => {
        if (history.length === 0) runs += 1;
        const luck = random(seed + message.length * 31 + message.charCodeAt(message.length - 1) * 7);
        luck();
        if (luck() < 0.15) throw new Error(`the agent broke down at ${message}`);
        return luck() < 0.5 ? "I do not know." : message.replace("question", "answer");
      };
      const { judge, concurrency, retry } = request;
      const notices = [];
      const journal = fileJournal(file, { onNotice: (notice) => notices.push(notice) });
      const options = { judge, concurrency, retry, parallelism: 1 + (seed % 3), journal };
      try {
        const evaluation = AgentEvaluator.evaluateEvalSet(agent, plan.evalSet, criteriaOfPlan, 2, false, options);
        return { result: await resultsOf(evaluation), runs, calls: calls(), notices };
      } finally {
        journal.close();
      }
    };
    const file = join(folder, `plan-${seed}.jsonl`);
    const whole = await evaluated(file);
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    for (let kept = 2; kept <= lines.length; kept += 1) {
      const entries = lines.slice(1, kept).map((line) => JSON.parse(line));
      for (const cut of [0, 1, 17]) {
        const rest = lines[kept] ?? "";
        if (cut >= rest.length && cut > 0) continue;
        const interrupted = join(folder, "interrupted.jsonl");
        writeFileSync(interrupted, `${lines.slice(0, kept).join("\n")}\n${rest.slice(0, cut)}`);
        const again = await evaluated(interrupted);
        const at = `plan ${seed}, ${kept} lines and ${cut} characters`;
        forgetFailures(again.result, entries);
        assert.equal(timeless(again.result, plan), timeless(whole.result, plan), at);
        assert.equal(again.runs, whole.runs - entries.filter(({ type }) => type === "run").length, at);
        const replies = entries.filter(({ type, cached }) => type === "reply" && cached !== true).length;
        assert.equal(again.calls, whole.calls - replies, at);
        assert.equal(again.notices.length, cut > 0 ? 1 : 0, at);
      }
    }
  }
});

test("LocalEvalService goes on", async (t) => {
  const file = join(folderOf(t), "service.jsonl");
  const evaluateConfig = {
    evalMetrics: Object.entries(criteria).map(([metricName, criterion]) => {
      return typeof criterion === "number" ? { metricName, threshold: criterion } : { metricName, criterion };
    }),
  };
  const evaluated = async (world) => {
    const journal = fileJournal(file);
    const { parallelism: _, ...options } = settings;
    const service = new LocalEvalService(world.agent, 1, { ...options, judge: world.judge, journal });
    const texts = [];
    for await (const result of service.evaluateSession({ evalSetId: "trips", evalCases: [evalSet], evaluateConfig })) {
      texts.push(inEveryFormat(result));
    }
    journal.close();
    return texts;
  };
  const first = await evaluated(counting());
  assert.equal(first.length, 3);
  const world = counting(1000);
  assert.deepEqual(await evaluated(world), first);
  assert.deepEqual(world.counts, { runs: 1000, turns: 1000, calls: 1000, users: 1000 });
});

test("other runs are refused", async (t) => {
  const file = join(folderOf(t), "run.jsonl");
  const { agent, judge } = counting();
  const evaluated = async (set, runs, options = {}) => {
    const journal = fileJournal(file);
    try {
      const all = { ...settings, judge, journal, ...options };
      return await resultsOf(AgentEvaluator.evaluateEvalSet(agent, set, criteria, runs, false, all));
    } finally {
      journal.close();
    }
  };
  await evaluated(evalSet, 1);
  const other = { ...evalSet, evalCases: evalSet.evalCases.slice(1) };
  await assert.rejects(evaluated(other, 1), /the journal was started with different inputs: the evalset\b/);
  await assert.rejects(evaluated(evalSet, 2), /the number of runs \(1 then, 2 now\)/);
  await assert.rejects(
    evaluated(evalSet, 1, { userSimulator: { maxAllowedInvocations: 3 } }),
    /different inputs: the simulated user\b/,
  );
});

const AGENT = `
import { appendFileSync } from "node:fs";
export default async function agent(message) {
  appendFileSync("turns.txt", message + "\\n");
  await new Promise((resolve) => setTimeout(resolve, 5));
  return "The answer to " + message;
}
`;

test("run and record on the command line: kill -9, Ctrl-C", posix, async (t) => {
  const names = Array.from({ length: 10 }, (_, index) => `case-${index}`);
  const set = evalSetOf(Object.fromEntries(names.map((name) => [name, [turn(name, `The answer to ${name}`)]])));
  const files = { "agent.mjs": AGENT, "many.evalset.json": set, "test_config.json": judged() };
  const written = Object.fromEntries(
    Object.entries(files).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
  const answering = await server(t, { reply: fair });
  const env = { ...BARE, ...at.gemini(answering) };
  for (const [command, output] of [
    ["run", "out.json"],
    ["record", "out.inferences.json"],
  ]) {
    for (const signal of ["SIGKILL", "SIGINT"]) {
      const cwd = filesIn(t, written);
      const args = [
        command,
        "--agent",
        "./agent.mjs",
        "many.evalset.json",
        "--journal",
        "run.jsonl",
        "--output",
        output,
      ];
      const journaled = () => {
        try {
          return readFileSync(join(cwd, "run.jsonl"), "utf8").split('"type":"run"').length - 1;
        } catch {
          return 0;
        }
      };
      const child = start(args, { cwd, env });
      void text(child.stdout);
      const said = text(child.stderr);
      while (journaled() < 6) await new Promise((resolve) => setTimeout(resolve, 2));
      child.kill(signal);
      await ended(child, signal);
      const done = journaled();
      assert.ok(done < 20, `${command} was too fast`);
      const before = readFileSync(join(cwd, "turns.txt"), "utf8").split("\n").length - 1;
      const asked = answering.requests.length;
      const forced = signal === "SIGINT" && command === "record" ? ["--force"] : [];
      if (signal === "SIGINT")
        assert.match(
          await said,
          new RegExp(`^to continue: adk-metrics ${command} .*--resume${forced.map((one) => ` ${one}`).join("")}$`, "m"),
        );
      const again = await run([...args, "--resume", ...forced], { cwd, env });
      assert.equal(again.status, 0, again.stderr);
      assert.match(again.stderr, /^\d+ runs of the agent(?: and \d+ answers?)? from the journal run\.jsonl$/m);
      const turns = readFileSync(join(cwd, "turns.txt"), "utf8").split("\n").length - 1;
      assert.equal(turns - before, 20 - done, again.stderr);
      if (command === "run") assert.ok(answering.requests.length - asked <= 10);
      // What is whole says the same once more, without the agent and without judges.
      const result = readFileSync(join(cwd, output), "utf8");
      const calls = answering.requests.length;
      const last = await run([...args, "--force"], { cwd, env });
      assert.equal(last.status, 0, last.stderr);
      assert.equal(readFileSync(join(cwd, output), "utf8"), result);
      assert.equal(answering.requests.length, calls);
      assert.equal(readFileSync(join(cwd, "turns.txt"), "utf8").split("\n").length - 1, turns);
    }
  }
});
