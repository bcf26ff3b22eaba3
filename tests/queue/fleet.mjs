// A fleet whose workers are killed at random and whose database is restarted, beside a single process.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../cli/command.mjs";
import { at, fair, judged, posix, server } from "../cli/judging.mjs";
import { random } from "../journal/journal.mjs";
import { manyCases } from "../package/support/conversations.mjs";
import { databases } from "./databases.mjs";
import { AGENT, assertSame, projectOf, timeless } from "./project.mjs";

const CASES = Number(process.env.QUEUE_CASES ?? 400);
const RUNS = 2;
const WORKERS = 3;
const CONCURRENCY = 8;
/** How many calls are made between two kills, about. */
const CALLS_PER_KILL = Math.min(100, CASES / 10);

const options = { skip: databases.skip || posix.skip, timeout: 900_000 };

/** Tests a fleet on a database. */
export function testFleet(name, begin) {
  test(`${name}: workers are killed, and the result is that of a single process`, options, async (t) => {
    const next = random(Number(process.env.QUEUE_SEED ?? 4711));
    const judge = await server(t, { reply: async (asked) => (await sleep(4), fair(asked)) });
    const files = {
      // Some answers are not what is expected, and in some cases the agent breaks down.
      "many.evalset.json": manyCases(CASES, (index) =>
        index % 7 === 0 ? "I do not know." : `The answer to question ${index}`,
      ),
      "agent.mjs": AGENT.replace('"broken"', '"77"'),
      "test_config.json": judged({ num_samples: 1 }),
    };
    const database = await begin(t);
    const project = projectOf(t, files, { ...at.gemini(judge), ADK_METRICS_QUEUE: database.url });
    const run = ["run", "--agent", "./agent.mjs", "many.evalset.json", "--num-runs", String(RUNS)];
    const whole = await project.run([...run, "--format", "json", "--output", "whole.json"]);
    assert.equal(whole.status, 1, whole.stderr);
    const needed = judge.requests.length;

    judge.requests.length = 0;
    const added = await project.run(["queue", "add", "many.evalset.json"]);
    assert.match(added.stderr, new RegExp(`^${(CASES * RUNS).toLocaleString("en")} runs of cases added$`, "m"));
    const work = ["queue", "work", "--agent", "./agent.mjs", "--lease", "2", "--concurrency", String(CONCURRENCY)];
    const start = () => {
      const worker = project.start(work);
      void worker.end.then((end) => ends.push(end));
      return worker;
    };
    const ends = [];
    const workers = Array.from({ length: WORKERS }, start);
    let kills = 0;
    let isRestarted = false;
    for (let limit = 0; ;) {
      limit += Math.floor(2 * next() * CALLS_PER_KILL);
      const isOver = () => ends.some(({ signal }) => signal === null);
      await until(() => judge.requests.length > limit || isOver(), "calls");
      if (isOver()) break;
      const which = Math.floor(next() * WORKERS);
      workers[which].child.kill("SIGKILL");
      await workers[which].end;
      kills += 1;
      if (!isRestarted && judge.requests.length > needed / 2) {
        isRestarted = true;
        await database.restart();
      }
      workers[which] = start();
    }
    const alive = (await Promise.all(workers.map(({ end }) => end))).filter(({ signal }) => signal === null);
    assert.equal(alive.length, WORKERS);
    for (const { status, stderr } of alive) assert.equal(status, 0, stderr);
    assert.ok(isRestarted && kills >= 5, `${kills} kills`);

    const status = await project.run(["queue", "status"]);
    const total = (CASES * RUNS).toLocaleString("en");
    assert.match(status.stdout, new RegExp(` ${total} done, 0 failed, 0 in progress, 0 waiting, 0 delayed$`, "m"));
    // What a killed worker had under way is asked again.
    const repeated = judge.requests.length - needed;
    assert.ok(repeated <= (kills + 1) * CONCURRENCY, `${repeated} calls repeated after ${kills} kills`);

    const before = judge.requests.length;
    const collected = await project.run(["queue", "collect", "--format", "json", "--output", "fleet.json"]);
    assert.equal(collected.status, whole.status, collected.stderr);
    assert.equal(judge.requests.length, before, "nobody is asked");
    const results = JSON.parse(project.read("fleet.json")).eval_case_results;
    const counts = new Map();
    for (const { eval_id: id } of results) counts.set(id, (counts.get(id) ?? 0) + 1);
    assert.deepEqual(
      [counts.size, new Set(counts.values())],
      [CASES, new Set([RUNS])],
      "every case exactly once a run",
    );
    assertSame(timeless(project.read("fleet.json")), timeless(project.read("whole.json")));
    t.diagnostic(`${kills} kills, ${repeated} calls repeated of ${needed}`);
  });

  test(`${name}: a worker that was taken for dead and goes on changes nothing`, options, async (t) => {
    let release = () => {};
    let released = Promise.resolve();
    const judge = await server(t, { reply: async (asked) => (await released, fair(asked)) });
    const files = {
      "many.evalset.json": manyCases(6, (index) => `The answer to question ${index}`),
      "agent.mjs": AGENT,
      "test_config.json": judged(),
    };
    const database = await begin(t);
    const project = projectOf(t, files, { ...at.gemini(judge), ADK_METRICS_QUEUE: database.url });
    const run = ["run", "--agent", "./agent.mjs", "many.evalset.json", "--num-runs", "1"];
    const whole = await project.run([...run, "--format", "json", "--output", "whole.json"]);
    const needed = judge.requests.length;

    released = new Promise((resolve) => (release = resolve));
    await project.run(["queue", "add", "many.evalset.json", "--num-runs", "1"]);
    const work = ["queue", "work", "--agent", "./agent.mjs", "--lease", "2", "--concurrency"];
    const first = project.start([...work, "2"]);
    await until(() => judge.requests.length === needed + 2, "calls");
    // Its leases expire, and what it does afterwards is done a second time.
    first.child.kill("SIGSTOP");
    const second = project.start([...work, "4"]);
    await until(() => judge.requests.length === needed + 6, "calls of the other worker");
    release();
    assert.equal((await second.end).status, 0);
    first.child.kill("SIGCONT");
    await first.end;
    const { stdout } = await project.run(["queue", "status"]);
    assert.match(stdout, / 6 done, 0 failed, 0 in progress, 0 waiting, 0 delayed$/m);
    assert.ok(judge.requests.length >= needed + 8, "two questions are asked a second time");
    const collected = await project.run(["queue", "collect", "--format", "json", "--output", "fleet.json"]);
    assert.equal(collected.status, whole.status, collected.stderr);
    assertSame(timeless(project.read("fleet.json")), timeless(project.read("whole.json")));
  });
}
