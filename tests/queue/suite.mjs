// What workers, those who add and those who collect do, on each database.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { BARE, until } from "../cli/command.mjs";
import { at, fair, judged, KEY, posix, server } from "../cli/judging.mjs";
import { evalSetOf, manyCases, turn } from "../package/support/conversations.mjs";
import { databases } from "./databases.mjs";
import { AGENT, assertSame, projectOf, timeless } from "./project.mjs";

const WORK = ["queue", "work", "--agent", "./agent.mjs", "--lease", "2"];
/** `fair`, but the judge never answers about cases whose question has the word. */
const mute = (word) => (asked) => (asked.prompt.includes(word) ? { fault: "bad_request" } : fair(asked));

/** Tests a queue on a database. */
export function testQueue(name, begin) {
  describe(name, { ...databases, concurrency: 1 }, () => {
    let database;
    const ends = [];
    before(async () => {
      database = await begin({ after: (end) => ends.push(end) });
    });
    // As `after` of tests: the last one first.
    after(async () => {
      for (const end of ends.reverse()) await end();
    });
    let count = 0;
    /** A project whose queue has a name of its own. */
    const started = async (t, files, options) => {
      const judge = await server(t, options);
      const project = projectOf(t, { "agent.mjs": AGENT, "test_config.json": judged(), ...files }, at.gemini(judge));
      const names = ["--queue", database.url, "--name", `queue-${(count += 1)}`];
      const queue = (args, more) => project.run([...args, ...names], more);
      const startQueue = (args, more) => project.start([...args, ...names], more);
      return { ...project, judge, queue, startQueue, connection: { url: database.url, name: names[3] } };
    };
    const counts = async ({ queue }) => (await queue(["queue", "status"])).stdout.split("\n")[2].trim();

    test("what an agent did is scored as by one process, byte for byte, in every format", async (t) => {
      const actual = manyCases(12, (index) => (index % 3 === 0 ? "I do not know." : `the answer is ${index}`));
      const files = { "many.evalset.json": manyCases(12), "many.actual.json": actual };
      const all = await started(t, {
        ...files,
        "test_config.json": judged({ num_samples: 3 }, { response_match_score: 0.5 }),
      });
      const outputs = ["jsonl", "html", "junit", "csv", "md"].map((format) => [format, `out.${format}`]);
      const more = [...outputs, ["json", "results/"]].flatMap(([format, file]) => [
        "--format",
        format,
        "--output",
        file,
      ]);
      const read = () =>
        [...outputs.map(([, file]) => file), "results/many.evalset_result.json"].map((file) =>
          all.read(file).replaceAll(/\d{10}\.\d+|\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "T"),
        );
      const price = ["--price", "gemini-2.5-flash=1,2"];
      const given = ["many.evalset.json", "--actual", "many.actual.json", ...price];
      const whole = await all.run(["eval", ...given, ...more, "--explain", "all"]);
      assert.equal(whole.status, 1, whole.stderr);
      const expected = read();
      for (const text of expected) assert.match(text, /gemini-2\.5-flash-001/, "the version that answered");
      await all.queue(["queue", "add", ...given]);
      const worked = await all.queue(["queue", "work"]);
      assert.match(worked.stderr, /^12 runs of cases done$/m);
      const collected = await all.queue(["queue", "collect", ...more, "--explain", "all"]);
      assert.equal(collected.status, whole.status, collected.stderr);
      for (const [index, text] of read().entries()) assertSame(text, expected[index]);
    });

    test("adding twice is harmless, and another evaluation needs another queue", async (t) => {
      const all = await started(t, { "many.evalset.json": manyCases(5), "other.evalset.json": manyCases(4) });
      const add = () => all.queue(["queue", "add", "many.evalset.json", "--num-runs", "3"]);
      assert.match((await add()).stderr, /^15 runs of cases added$/m);
      assert.match((await add()).stderr, /^0 runs of cases added, 15 already in the queue$/m);
      assert.match((await all.queue(WORK)).stderr, /^15 runs of cases done$/m);
      const asked = all.judge.requests.length;
      assert.match((await add()).stderr, /^0 runs of cases added, 15 already in the queue$/m);
      assert.match((await all.queue(WORK)).stderr, /^0 runs of cases done$/m);
      assert.equal(all.judge.requests.length, asked);
      assert.equal(await counts(all), "15 done, 0 failed, 0 in progress, 0 waiting, 0 delayed");
      const other = await all.queue(["queue", "add", "other.evalset.json"]);
      assert.equal(other.status, 2);
      assert.match(
        other.stderr,
        /the queue `queue-\d+` contains a different evaluation\n +help: Choose another queue name, or collect the results of this one and clear it/,
      );
      // With the queue go its replies.
      const cleared = await all.queue(["queue", "collect", "--clear", "--format", "json", "--output", "out.json"]);
      assert.equal(cleared.status, 0, cleared.stderr);
      assert.match((await all.queue(["queue", "collect"])).stderr, /nothing was added to the queue/);
      assert.match((await all.queue(["queue", "add", "other.evalset.json"])).stderr, /^8 runs of cases added$/m);
    });

    test("the budget of all workers is exceeded by the calls under way at most, and more money goes on", async (t) => {
      const [cases, most, workers, concurrency] = [60, 25, 3, 4];
      const files = { "many.evalset.json": manyCases(cases, (index) => `The answer to question ${index}`) };
      const all = await started(t, files, { reply: async (asked) => (await sleep(5), fair(asked)) });
      const given = ["many.evalset.json", "--num-runs", "1"];
      const price = ["--price", "gemini-2.5-flash=1000000,0"];
      const fleet = () =>
        Promise.all(Array.from({ length: workers }, () => all.queue([...WORK, "--concurrency", String(concurrency)])));
      for (const [limit, spent] of [
        [["--max-calls", String(most)], () => all.judge.requests.length],
        // The server counts words, and a token costs 1: so much that every call costs more than is left at last.
        [["--max-calls", "1000", "--max-cost", "3000", ...price], undefined],
      ]) {
        await all.queue(["queue", "add", ...given, ...limit]);
        const before = all.judge.requests.length;
        for (const { status, stderr } of await fleet()) {
          assert.equal(status, 0, stderr);
          assert.match(stderr, /; the budget is spent$/m);
        }
        if (spent !== undefined) assert.equal(spent(), most);
        const { stdout } = await all.queue(["queue", "status"]);
        if (spent === undefined) {
          const [, cost, calls] = /([\d,]+) of 1,000 calls.* ([\d,]+) of 3,000 cost/.exec(stdout) ?? [];
          const [made, paid] = [cost, calls].map((text) => Number(text.replaceAll(",", "")));
          assert.equal(made, all.judge.requests.length, stdout);
          // Those before cost nothing.
          const perCall = paid / (made - most);
          assert.ok(paid >= 3000 && paid < 3000 + (workers * concurrency + 1) * perCall, stdout);
          assert.ok(all.judge.requests.length > before, "the budget was raised");
        }
        assert.match(stdout, /^stopped +the budget of .* is spent: to continue, run queue add with a larger budget$/m);
        // What is not done is not evaluated, with the reason, and was no call.
        const collected = await all.queue([
          "queue",
          "collect",
          "--format",
          "json",
          "--output",
          "part.json",
          "--format",
          "jsonl",
          "--output",
          "part.jsonl",
        ]);
        assert.equal(collected.status, 1, collected.stderr);
        const results = JSON.parse(all.read("part.json"));
        const statuses = results.eval_case_results.map((one) => one.final_eval_status);
        assert.equal(statuses.length, cases);
        const done = statuses.filter((status) => status === 1).length;
        assert.ok(done > 0 && done < cases, `${done} of ${cases}`);
        assert.equal(statuses.filter((status) => status === 3).length, cases - done);
        assert.match(all.read("part.jsonl"), /the budget of [\d,]+ (?:calls|in money) is spent/);
        assert.equal(done, all.judge.requests.length, "each call gave a verdict");
        assert.match(collected.stderr, new RegExp(`: ${done} calls,`));
      }
      await all.queue(["queue", "add", ...given, "--max-calls", "1000", "--max-cost", "1000000", ...price]);
      await fleet();
      assert.equal(all.judge.requests.length, cases);
      const collected = await all.queue(["queue", "collect"]);
      assert.equal(collected.status, 0, collected.stderr);
    });

    test("a run whose judges give no reply is tried again, ends as not evaluated and keeps nobody waiting", async (t) => {
      const files = { "many.evalset.json": manyCases(6, (index) => `The answer to question ${index}`) };
      let word = "question 3";
      const all = await started(t, files, { reply: (asked) => mute(word)(asked) });
      const { enqueue, status } = await all.importEntry("queue.js");
      const plan = {
        evalSets: [{ evalSet: `${all.folder}/many.evalset.json`, config: `${all.folder}/test_config.json` }],
      };
      plan.evalSets[0].numRuns = 1;
      assert.deepEqual(await enqueue({ ...plan, attempts: 2, backoffMs: 50 }, all.connection), {
        ...{ added: 6, total: 6, retried: 0 },
      });
      const worked = await all.queue(WORK);
      assert.equal(worked.status, 0, worked.stderr);
      assert.match(worked.stderr, /^5 runs of cases done, 2 attempts failed$/m);
      const { done, failed } = await status(all.connection);
      assert.deepEqual([done, failed], [5, 1]);
      const { collect } = await all.importEntry("queue.js");
      const statusesOf = async () => {
        const [{ evalCaseResults }] = await collect(all.connection);
        return evalCaseResults.map(({ finalEvalStatus }) => finalEvalStatus);
      };
      assert.deepEqual(await statusesOf(), [1, 1, 1, 3, 1, 1]);
      const [{ evalCaseResults }] = await collect(all.connection);
      assert.match(evalCaseResults[3].overallEvalMetricResults[0].reason, /refused|400|invalid/i);
      // The outage is over: what failed for good is tried again.
      word = "question 9";
      assert.deepEqual(await enqueue(plan, all.connection), { added: 0, total: 6, retried: 1 });
      const before = all.judge.requests.length;
      await all.queue(WORK);
      assert.equal(all.judge.requests.length, before + 1);
      assert.deepEqual(await statusesOf(), [1, 1, 1, 1, 1, 1]);
    });

    test(
      "a run that ends every worker ends as not evaluated",
      name === "Redis" ? posix : { skip: "as on Redis" },
      async (t) => {
        const agent = `export const agent = (message) => {
        if (message === "question 1") process.kill(process.pid, "SIGKILL");
        return "The answer to " + message;
      };`;
        const files = {
          "many.evalset.json": manyCases(3, (index) => `The answer to question ${index}`),
          "agent.mjs": agent,
        };
        const all = await started(t, files);
        await all.queue(["queue", "add", "many.evalset.json", "--num-runs", "1"]);
        const args = ["queue", "work", "--agent", "./agent.mjs", "--lease", "1", "--concurrency", "1"];
        let killed = 0;
        for (let end; end?.signal !== null; killed += 1) {
          end = await all.queue(args);
          assert.ok(killed < 30, "it ends some day");
        }
        assert.match(await counts(all), /^2 done, 1 failed, 0 in progress, 0 waiting, 0 delayed$/);
        const { status, stderr } = await all.queue(["queue", "collect", "--format", "json", "--output", "out.json"]);
        assert.equal(status, 1, stderr);
        assert.match(all.read("out.json"), /the run failed permanently: job stalled more than allowable limit/);
        const results = JSON.parse(all.read("out.json")).eval_case_results;
        assert.deepEqual(
          results.map((one) => one.final_eval_status),
          [1, 3, 1],
        );
      },
    );

    test("SIGTERM lets a worker finish what is under way, and no more", posix, async (t) => {
      const files = { "many.evalset.json": manyCases(40, (index) => `The answer to question ${index}`) };
      const all = await started(t, files, { reply: async (asked) => (await sleep(50), fair(asked)) });
      await all.queue(["queue", "add", "many.evalset.json", "--num-runs", "1"]);
      const worker = all.startQueue([...WORK, "--concurrency", "3"]);
      await until(() => all.judge.requests.length >= 6, "calls");
      worker.child.kill("SIGTERM");
      const { status, stderr } = await worker.end;
      assert.equal(status, 143, stderr);
      assert.match(stderr, /^finishing the runs in progress; another signal leaves them to other workers$/m);
      const asked = all.judge.requests.length;
      assert.ok(asked < 40);
      assert.equal(await counts(all), `${asked} done, 0 failed, 0 in progress, ${40 - asked} waiting, 0 delayed`);
      const collect = ["queue", "collect", "--format", "json", "--output", "part.json"];
      const early = await all.queue(collect);
      assert.equal(early.status, 2);
      assert.match(early.stderr, new RegExp(`${40 - asked} runs are not done yet`));
      assert.equal((await all.queue([...collect, "--partial"])).status, 1);
      const statuses = JSON.parse(all.read("part.json")).eval_case_results.map((one) => one.final_eval_status);
      assert.equal(statuses.filter((status) => status === 1).length, asked);
      assert.equal(statuses.filter((status) => status === 3).length, 40 - asked);
      await all.queue(WORK);
      assert.equal(all.judge.requests.length, 40, "nothing is asked twice");
    });

    test("what has the lower priority comes first, and a limit holds for all workers together", async (t) => {
      const setOf = (id) => {
        const cases = Array.from({ length: 4 }, (_, index) => [`${id}-${index}`, [turn(`${id} ${index}`, "Yes.")]]);
        return evalSetOf(Object.fromEntries(cases), id);
      };
      const files = { "late.evalset.json": setOf("late"), "soon.evalset.json": setOf("soon") };
      const all = await started(t, { ...files, "test_config.json": { criteria: { response_match_score: 0.5 } } });
      const { enqueue, work, status } = await all.importEntry("queue.js");
      const evalSets = [
        ["late", 2],
        ["soon", 1],
      ].map(([id, priority]) => ({
        evalSet: `${all.folder}/${id}.evalset.json`,
        config: `${all.folder}/test_config.json`,
        numRuns: 1,
        priority,
      }));
      await enqueue({ evalSets, limit: { jobs: 3, seconds: 3600 } }, all.connection);
      const begun = [];
      const agent = (message) => (begun.push(message), "Yes.");
      const stop = new AbortController();
      const options = { agent, concurrency: 8, signal: stop.signal };
      const workers = [1, 2].map(() => work(all.connection, options));
      for (let done = 0; done < 3;) ({ done } = await status(all.connection));
      stop.abort();
      const ended = await Promise.all(workers);
      assert.deepEqual(new Set(ended.map((one) => one.ended)), new Set(["signal"]));
      assert.equal(begun.length, 3, "two workers would begin all eight at once");
      assert.ok(
        begun.every((message) => message.startsWith("soon")),
        begun.join(),
      );
      // Added again without a limit, it has none.
      await enqueue({ evalSets }, all.connection);
      assert.equal((await work(all.connection, { agent })).done, 5);
      await assert.rejects(enqueue({ evalSets: [{ evalSet: "x", priority: 0 }] }, all.connection), {
        path: "evalSets[0]: priority",
      });
    });

    test("votes end as the evaluation says", async (t) => {
      const config = judged({ num_samples: 5 });
      const all = await started(t, { "many.evalset.json": manyCases(3), "test_config.json": config });
      const add = ["queue", "add", "many.evalset.json", "--num-runs", "1"];
      await all.queue([...add, "--early-stop", "none"]);
      await all.queue(WORK);
      assert.equal(all.judge.requests.length, 15, "every sample is asked");
      const { enqueue } = await all.importEntry("queue.js");
      const evalSets = [{ evalSet: `${all.folder}/many.evalset.json`, earlyStop: { risk: 0.01 } }];
      await assert.rejects(enqueue({ evalSets }, all.connection), {
        message: /^in a queue, a risk needs a prior/,
        path: "evalSets[0]: earlyStop",
      });
    });

    test("a worker that has other files, another judge or no agent hands its jobs back", async (t) => {
      const files = { "many.evalset.json": manyCases(4, (index) => `The answer to question ${index}`) };
      const all = await started(t, files);
      await all.queue(["queue", "add", "many.evalset.json", "--num-runs", "1"]);
      const wrong = async (args, env, pattern) => {
        const { status, stderr } = await all.queue(args, env);
        assert.equal(status, 2, stderr);
        assert.match(stderr, pattern);
        assert.equal(await counts(all), "0 done, 0 failed, 0 in progress, 4 waiting, 0 delayed");
      };
      await wrong(["queue", "work"], {}, /many\.evalset\.json needs an agent, and this worker has none/);
      await wrong(WORK, BARE, /there is no judge to ask gemini-2\.5-flash/);
      const { "many.evalset.json": right } = files;
      all.write("many.evalset.json", manyCases(5));
      await wrong(
        WORK,
        {},
        /many\.evalset\.json has changed since it was queued\n[^]*help: Give every worker the unchanged files, or queue the new ones under another name/,
      );
      all.write("many.evalset.json", right);
      assert.match((await all.queue(WORK)).stderr, /^4 runs of cases done$/m);
    });

    test("workers that judge with other models do not mix", async (t) => {
      const files = { "many.evalset.json": manyCases(30, (index) => `The answer to question ${index}`) };
      // The first worker is kept busy until the second one has ended.
      let release;
      const released = new Promise((resolve) => (release = resolve));
      const reply = async (asked) => {
        if (all.judge.requests.length >= 4) await released;
        return fair(asked);
      };
      const all = await started(t, files, { reply });
      await all.queue(["queue", "add", "many.evalset.json", "--num-runs", "1"]);
      const first = all.startQueue([...WORK, "--concurrency", "2"]);
      await until(() => all.judge.requests.length >= 4, "calls");
      const { status, stderr } = await all.queue([...WORK, "--model", "gemini-2.5-pro"]);
      release();
      assert.equal(status, 2, stderr);
      assert.match(
        stderr,
        /the journal was started with different inputs: the judge|other workers began with another judge/,
      );
      assert.equal((await first.end).status, 0);
      const models = new Set(all.judge.requests.map(({ model }) => model));
      assert.deepEqual([...models], ["gemini-2.5-flash"]);
      assert.equal(await counts(all), "30 done, 0 failed, 0 in progress, 0 waiting, 0 delayed");
    });

    test("workers that meet one question at once ask it once, and again if who asked was killed", posix, async (t) => {
      const same = Array.from({ length: 24 }, (_, index) => [
        `case-${index}`,
        [turn("question 1", "The answer to question 1")],
      ]);
      const files = { "many.evalset.json": evalSetOf(Object.fromEntries(same)) };
      let release;
      let released = new Promise((resolve) => (release = resolve));
      const all = await started(t, files, { reply: async (asked) => (await released, fair(asked)) });
      await all.queue(["queue", "add", "many.evalset.json", "--num-runs", "1"]);
      const args = [...WORK, "--concurrency", "4"];
      const first = all.startQueue(args);
      await until(() => all.judge.requests.length === 1, "the first call");
      const others = [1, 2].map(() => all.startQueue(args));
      await until(async () => /^0 done, 0 failed, 12 in progress/.test(await counts(all)), "workers that wait");
      // Longer than the claim of a worker that does not renew it.
      await sleep(3_000);
      assert.equal(all.judge.requests.length, 1);
      first.child.kill("SIGKILL");
      await until(() => all.judge.requests.length === 2, "the call of another worker");
      release();
      for (const { status, stderr } of await Promise.all(others.map(({ end }) => end))) assert.equal(status, 0, stderr);
      assert.equal(all.judge.requests.length, 2);
      assert.equal(await counts(all), "24 done, 0 failed, 0 in progress, 0 waiting, 0 delayed");
    });

    test("no key is in the database", async (t) => {
      const all = await started(t, { "many.evalset.json": manyCases(4) });
      await all.queue(["queue", "add", "many.evalset.json", "--num-runs", "1", "--max-calls", "3"]);
      await all.queue(WORK);
      const dump = database.dump();
      assert.ok(dump.includes(all.connection.name), "what is looked through is there");
      assert.ok(!dump.includes(KEY));
    });

    test("a worker that waits does what is added later, and status shows it live", posix, async (t) => {
      const files = { "many.evalset.json": manyCases(6, (index) => `The answer to question ${index}`) };
      const all = await started(t, files);
      const worker = all.startQueue([...WORK, "--wait"]);
      const watching = all.startQueue(["queue", "status", "--watch"]);
      await all.queue(["queue", "add", "many.evalset.json", "--num-runs", "1"]);
      const { stdout, status } = await watching.end;
      assert.equal(status, 0);
      assert.match(stdout, /^runs +░+ 0\/\d$[^]*^runs +█+ 6\/6$/m);
      assert.match(stdout, /^workers +1/m);
      worker.child.kill("SIGINT");
      assert.equal((await worker.end).status, 130);
    });

    test("in code the same", async (t) => {
      const files = { "many.evalset.json": manyCases(6, (index) => `The answer to question ${index % 5}`) };
      const all = await started(t, files);
      const { enqueue, work, collect, status } = await all.importEntry("queue.js");
      const { AgentEvaluator } = await all.importEntry("node.js");
      const judge = async () => ({ text: fair({ prompt: "" }), usage: { inputTokens: 7, outputTokens: 2 } });
      const agent = async (message) => `The answer to ${message}`;
      const evalSet = `${all.folder}/many.evalset.json`;
      await enqueue({ evalSets: [{ evalSet, config: `${all.folder}/test_config.json` }] }, all.connection);
      await assert.rejects(collect(all.connection), {
        code: "queue_failed",
        message: /^12 runs are not done yet$/,
      });
      const worked = await Promise.all([1, 2].map(() => work(all.connection, { agent, judge, concurrency: 2 })));
      assert.equal(worked[0].done + worked[1].done, 12);
      const { spent } = await status(all.connection);
      assert.ok(spent.calls >= 6 && spent.tokens === 9 * spent.calls, JSON.stringify(spent));
      const [[whole], [fleet]] = [
        await AgentEvaluator.evaluate(agent, evalSet, 2, undefined, { judge }),
        await collect(all.connection),
      ];
      const { resultsToAdkJson } = await all.importEntry("node.js");
      assertSame(timeless(resultsToAdkJson(fleet)), timeless(resultsToAdkJson(whole)));
      assert.deepEqual(fleet.judgeUsage, whole.judgeUsage);
    });

    test("what replies do not report is estimated, so that a budget of tokens ends workers", async (t) => {
      const files = { "many.evalset.json": manyCases(6, (index) => `The answer to question ${index % 5}`) };
      const all = await started(t, files);
      const { enqueue, work, status } = await all.importEntry("queue.js");
      const judge = async () => ({ text: fair({ prompt: "" }), usage: { inputTokens: 7 } });
      const agent = async (message) => `The answer to ${message}`;
      const evalSets = [{ evalSet: `${all.folder}/many.evalset.json`, config: `${all.folder}/test_config.json` }];
      const output = Math.floor(fair({ prompt: "" }).length / 4);
      await enqueue({ evalSets, budget: { tokens: 2 * (7 + output) } }, all.connection);
      assert.equal((await work(all.connection, { agent, judge, concurrency: 1 })).ended, "budget");
      const { spent } = await status(all.connection);
      assert.ok(output > 0 && spent.calls >= 2);
      assert.equal(spent.tokens, (7 + output) * spent.calls);
    });

    test("metrics of one's own and simulated users are done by workers too", async (t) => {
      const scenario = { startingPrompt: "Hello.", conversationPlan: "Ask for the time, then end." };
      const evalSet = manyCases(4, (index) => `The answer to question ${index}`);
      const played = Array.from({ length: 3 }, (_, index) => ({
        evalId: `played-${index}`,
        conversationScenario: scenario,
      }));
      evalSet.evalCases.push(...played);
      const config = { criteria: { ...judged().criteria, own: 0.5, safety_like: 0.5 } };
      const all = await started(t, { "many.evalset.json": evalSet, "test_config.json": config });
      const { enqueue, work, collect } = await all.importEntry("queue.js");
      const { AgentEvaluator, MetricEvaluatorRegistry, resultsToAdkJson } = await all.importEntry("node.js");
      const registry = new MetricEvaluatorRegistry();
      let computed = 0;
      for (const metricName of ["own", "safety_like"]) {
        registry.registerEvaluator({ metricName }, (_metric, actual) => {
          computed += 1;
          return { overallScore: actual.length % 2, reason: `${actual.length} turns` };
        });
      }
      const judge = async ({ metricName, prompt }) => {
        if (metricName !== "user_simulator")
          return { text: fair({ prompt }), usage: { inputTokens: 7, outputTokens: 2 } };
        return { text: prompt.includes("What time") ? "</finished>" : "What time is it?", usage: { inputTokens: 1 } };
      };
      const agent = async (message) => `The answer to ${message}`;
      const file = `${all.folder}/many.evalset.json`;
      await enqueue({ evalSets: [{ evalSet: file, config: `${all.folder}/test_config.json` }] }, all.connection);
      // Nobody plays a user for nothing: the run is done when there is money.
      await enqueue(
        { evalSets: [{ evalSet: file, config: `${all.folder}/test_config.json` }], budget: { calls: 5 } },
        all.connection,
      );
      assert.equal((await work(all.connection, { agent, judge, registry, concurrency: 1 })).ended, "budget");
      await enqueue(
        { evalSets: [{ evalSet: file, config: `${all.folder}/test_config.json` }], budget: { calls: 100 } },
        all.connection,
      );
      const { ended } = await work(all.connection, { agent, judge, registry });
      assert.equal(ended, "done");
      const before = computed;
      const [fleet] = await collect(all.connection, { registry });
      assert.equal(computed, before, "nothing is computed again");
      const passes = await AgentEvaluator.evaluate(agent, file, 2, undefined, { judge, registry }).catch(
        (error) => error.results,
      );
      const [whole] = passes;
      assertSame(timeless(resultsToAdkJson(fleet)), timeless(resultsToAdkJson(whole)));
      assert.deepEqual(fleet.judgeUsage, whole.judgeUsage);
      assert.deepEqual(fleet.simulatorUsage, whole.simulatorUsage);
      assert.ok(fleet.simulatorUsage.calls > 0);
    });
  });
}
