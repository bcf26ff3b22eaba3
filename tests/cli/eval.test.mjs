import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, evalSet, folderOf, GOOD, root, run, turn } from "./command.mjs";

const clock = ["eval", "clock.evalset.json", "--actual", "clock.actual.json"];

/** `evalId: status` of every case in results in ADK's schema. */
function statuses(json) {
  return Object.fromEntries(JSON.parse(json).eval_case_results.map((one) => [one.eval_id, one.final_eval_status]));
}

test("exits with 0 if every case passes", async (t) => {
  const { status, stdout } = await run(["eval", "good.evalset.json", "--actual", "good.actual.json"], {
    cwd: folderOf(t, GOOD),
  });
  assert.equal(status, 0);
  assert.match(stdout, /1 case: 1 passed/);
});

test("exits with 1 if a case fails, and says why", async (t) => {
  const { status, stdout } = await run(clock, { cwd: folderOf(t, CLOCK) });
  assert.equal(status, 1);
  assert.match(stdout, /✗ late\n {2}response_match_score: failed/);
});

test("exits with 1 if a case is not evaluated", async (t) => {
  const scenario = { eval_id: "talk", conversation_scenario: { starting_prompt: "Hi", conversation_plan: "Talk." } };
  const cwd = folderOf(t, {
    "talk.evalset.json": { eval_set_id: "talk", eval_cases: [scenario] },
    "talk.actual.json": evalSet({ talk: "Hello." }),
  });
  const { status, stdout } = await run(["eval", "talk.evalset.json"], { cwd });
  assert.equal(status, 1);
  assert.match(stdout, /1 case: 1 not evaluated/);
});

test("exits with 1 if there is no case", async (t) => {
  const empty = { eval_set_id: "empty", eval_cases: [] };
  const cwd = folderOf(t, { "e.evalset.json": empty, "e.actual.json": empty });
  const { status, stderr } = await run(["eval", "e.evalset.json"], { cwd });
  assert.equal(status, 1);
  assert.match(stderr, /warning: there were no cases to score/);
});

test("scores the cases named after a colon only", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const one = await run(["eval", "clock.evalset.json:noon", "--format", "json"], { cwd });
  assert.deepEqual(statuses(one.stdout), { noon: 1 });
  assert.equal(one.status, 0);
  const both = await run(["eval", "clock.evalset.json:late, noon", "--format", "json"], { cwd });
  assert.deepEqual(statuses(both.stdout), { noon: 1, late: 2 });
});

test("takes a colon for part of a path or of a case where it is", { skip: process.platform === "win32" }, async (t) => {
  const cwd = folderOf(t, { "a:b.json": evalSet({ "x:y": "Yes." }), "runs.json": evalSet({ "x:y": "Yes." }) });
  for (const argument of ["a:b.json", "a:b.json:x:y"]) {
    assert.equal((await run(["eval", argument, "--actual", "runs.json"], { cwd })).status, 0, argument);
  }
});

test("names a missing file whole if its colon is that of a drive", async () => {
  const { stderr, status } = await run(["eval", "C:\\evals\\travel.json", "--actual", "x.json"]);
  assert.equal(status, 2);
  assert.match(stderr, /at C:\\evals\\travel\.json\n/);
});

test("takes what the agent did from the evalset's folder unless told", async (t) => {
  for (const ending of ["actual", "evalset_result", "inferences", "session"]) {
    const cwd = folderOf(t, CLOCK);
    renameSync(join(cwd, "clock.actual.json"), join(cwd, `clock.${ending}.json`));
    assert.match((await run(["eval", "clock.evalset.json"], { cwd })).stdout, /1 passed, 1 failed/, ending);
  }
});

test("names every evalset without what the agent did at once", async (t) => {
  const cwd = folderOf(t, { "a.evalset.json": evalSet({ a: "A" }, "a"), "b.evalset.json": evalSet({ b: "B" }, "b") });
  const { stderr, status } = await run(["eval", "."], { cwd });
  assert.equal(status, 2);
  const named = [...stderr.matchAll(/there is no file of what the agent did for the evalset (\w+)$/gm)];
  assert.deepEqual(
    named.map(([, name]) => name),
    ["a", "b"],
  );
});

test("says what a file is that is no evalset", async (t) => {
  const cwd = folderOf(t, {
    "test_config.json": { criteria: { response_match_score: 0.5 } },
    "results.json": { eval_set_result_id: "r", eval_case_results: [] },
    "inferences.json": { inferences: [] },
    "session.json": { id: "s", events: [] },
    "spans.json": { resourceSpans: [] },
  });
  const kinds = {
    "test_config.json": "an eval config: pass it as --config <file>",
    "results.json": "results, which say what an agent did: pass it as --actual <file>",
    "inferences.json": "results, which say what an agent did: pass it as --actual <file>",
    "session.json": "a session, which says what an agent did: pass it as --actual <file>",
    "spans.json": "traces, which say what an agent did: pass it as --actual <file>",
  };
  for (const [file, kind] of Object.entries(kinds)) {
    const { stderr, status } = await run(["eval", file], { cwd });
    assert.equal(status, 2);
    assert.equal(
      stderr.includes(`this is not an evalset\n   at ${file}\n   help: It looks like ${kind}`),
      true,
      stderr,
    );
  }
});

test("never takes another form of the evalset for what the agent did", async (t) => {
  const cwd = folderOf(t, {
    "old.test.json": [{ query: "Hi", reference: "Hello." }],
    "old.evalset.json": evalSet({ old: "Hello." }),
  });
  const { status, stderr } = await run(["eval", "old.test.json"], { cwd });
  assert.equal(status, 2);
  assert.match(stderr, /no file of what the agent did for the evalset old/);
});

test("takes what the agent did from a folder, by the evalset's name", async (t) => {
  const cwd = folderOf(t, CLOCK);
  mkdirSync(join(cwd, "runs"));
  renameSync(join(cwd, "clock.actual.json"), join(cwd, "runs/clock.evalset.json"));
  assert.match((await run(["eval", "clock.evalset.json", "--actual", "runs"], { cwd })).stdout, /1 passed, 1 failed/);
});

test("pairs several evalsets with as many --actual, in order", async (t) => {
  const cwd = folderOf(t, { ...CLOCK, ...GOOD });
  const files = ["good.evalset.json", "clock.evalset.json"];
  const { stdout, status } = await run(
    ["eval", ...files, "--actual", "good.actual.json", "--actual", "clock.actual.json"],
    { cwd },
  );
  assert.equal(status, 1);
  assert.match(stdout, /3 cases in 2 evalsets: 2 passed, 1 failed/);
  const fewer = await run(["eval", ...files, "--actual", "good.actual.json"], { cwd });
  assert.equal(fewer.status, 2);
  assert.match(
    fewer.stderr,
    /there are 2 evalsets but 1 --actual\n {3}help: Specify one --actual for each evalset, in the same order \(an evalset that is repeated counts once\), or one folder that contains them all/,
  );
});

test("takes test_config.json beside the evalset, and --config before it", async (t) => {
  const cwd = folderOf(t, {
    ...CLOCK,
    "test_config.json": { criteria: { response_match_score: 0 } },
    "strict.json": { criteria: { response_match_score: 1 } },
  });
  const beside = await run(clock, { cwd });
  assert.equal(beside.status, 0);
  assert.match(beside.stderr, /^criteria: test_config\.json: response_match_score 0$/m);
  const named = await run([...clock, "--config", "strict.json"], { cwd });
  assert.equal(named.status, 1);
  assert.match(named.stderr, /^criteria: strict\.json: response_match_score 1$/m);
});

test("says that ADK's default criteria apply where there is no config", async (t) => {
  const { stderr } = await run(clock, { cwd: folderOf(t, CLOCK) });
  assert.match(
    stderr,
    /^criteria: ADK's default, tool_trajectory_avg_score 1\.0 and response_match_score 0\.8, for clock\.evalset\.json$/m,
  );
});

test("counts the evalsets without a config where there are several, so that the line stays short", async (t) => {
  const names = Array.from({ length: 12 }, (_, at) => `weather-on-day-${at}`);
  const files = names.flatMap((name) => [
    [`${name}.evalset.json`, { ...CLOCK["clock.evalset.json"], eval_set_id: name }],
    [`${name}.actual.json`, CLOCK["clock.actual.json"]],
  ]);
  const cwd = folderOf(t, Object.fromEntries(files));
  const { stderr } = await run(["eval", ...names.map((name) => `${name}.evalset.json`)], { cwd });
  assert.match(
    stderr,
    /^what the agent did: 12 files, such as weather-on-day-0\.actual\.json\ncriteria: ADK's default, .*, for 12 evalsets\n$/,
  );
  assert.ok(
    stderr.split("\n").every((line) => line.length <= 100),
    stderr,
  );
});

test("warns of an evalset that is compared with itself, wherever results are shown", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const itself = ["eval", "clock.evalset.json", "--actual", "clock.evalset.json"];
  const { stdout, status } = await run(itself, { cwd });
  assert.equal(status, 0);
  assert.equal(stdout.match(/itself/g)?.length, 1, stdout);
  assert.match(stdout, /the evalset is compared with itself/);
  const { stderr } = await run([...itself, "--output", "out.xml"], { cwd });
  assert.match(stderr, /^warning: the evalset is compared with itself, [^]*at clock\.evalset\.json$/m);
  assert.match(readFileSync(join(cwd, "out.xml"), "utf8"), /the evalset is compared with itself/);
  assert.doesNotMatch((await run(clock, { cwd })).stdout, /itself/);
});

test("scores as the dialect says", async () => {
  const args = ["eval", "examples/phrasebook/phrasebook.evalset.json:station_ja", "--format", "csv"];
  assert.match((await run(args)).stdout, /station_ja,1,,response_match_score,1,/);
  assert.match((await run([...args, "--dialect", "adk-ts"])).stdout, /station_ja,1,,response_match_score,0,/);
});

test("explains what it is asked to explain", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const precision = /precision 0\.0000/;
  assert.match((await run(clock, { cwd })).stdout, precision);
  assert.doesNotMatch((await run([...clock, "--explain", "none"], { cwd })).stdout, precision);
  assert.match((await run([...clock, "--explain", "all"], { cwd })).stdout, precision);
});

test("shows every turn if asked", async (t) => {
  const { stdout } = await run([...clock, "--print-detailed-results"], { cwd: folderOf(t, CLOCK) });
  assert.match(stdout, /Details of noon\n {2}Turn 1\n/);
});

test("warns on stderr of runs that belong to no case", async (t) => {
  const cwd = folderOf(t, { ...GOOD, "good.actual.json": evalSet({ noon: "It is noon.", dawn: "It is dawn." }) });
  const { stderr, status } = await run(["eval", "good.evalset.json", "--format", "csv"], { cwd });
  assert.equal(status, 0);
  assert.match(stderr, /warning: the actual conversation "dawn" belongs to no eval case/);
});

/** A session in which an agent answered. */
function session(id, answer) {
  const said = (author, text) => ({ author, invocation_id: "i", content: { parts: [{ text }] } });
  return { id, app_name: "clock", user_id: "u", events: [said("user", "What is the time?"), said("clock", answer)] };
}

test("takes a session for the case with its id, and one for the one case that is selected", async (t) => {
  const cwd = folderOf(t, {
    ...CLOCK,
    "by-id.json": [session("late", "It is late."), session("noon", "It is noon.")],
    "one.json": session("adk-eval-session-1", "It is late."),
    "stray.json": [session("noon", "It is noon."), session("s2", "It is late.")],
  });
  const on = (cases, file, ...more) =>
    run(["eval", `clock.evalset.json${cases}`, "--actual", file, "--strict", "--format", "json", ...more], { cwd });
  const byId = await on("", "by-id.json");
  assert.deepEqual([statuses(byId.stdout), byId.status], [{ noon: 1, late: 1 }, 0]);
  const selected = await on(":late", "one.json");
  assert.deepEqual(
    [statuses(selected.stdout), selected.status, selected.stderr.includes("warning")],
    [{ late: 1 }, 0, false],
  );
  for (const shard of ["1/2", "2/2"]) {
    const part = await run(
      ["eval", "clock.evalset.json", "--actual", "one.json", "--shard", shard, "--journal", `part-${shard[0]}.jsonl`],
      { cwd },
    );
    assert.doesNotMatch(part.stdout, /1 passed/, "a part of two cases is no selection of one");
  }
  const stray = await on("", "stray.json");
  assert.equal(stray.status, 2);
  assert.match(stray.stderr, /the actual conversation "s2" belongs to no eval case.*\n.*`eval_id`.*readSessions/);
});

test("reads both old forms, by the names of their files", async () => {
  const rows = await run(["eval", "examples/home-automation/evening.test.json", "--format", "json"]);
  assert.deepEqual(statuses(rows.stdout), { evening: 1 });
  const named = await run(["eval", "examples/shop-assistant/shop.evalset.json", "--format", "json"]);
  assert.equal(JSON.parse(named.stdout).eval_set_id, "shop");
});

test("the examples score what they say", async () => {
  const counts = {
    "weather/weather.evalset.json": "5 cases: 2 passed, 3 failed",
    "travel-concierge/travel-concierge.evalset.json": "3 cases: 1 passed, 1 failed, 1 not evaluated",
    "home-automation/evening.test.json": "1 case: 1 passed",
    "home-automation/heating.test.json": "1 case: 1 failed",
    "shop-assistant/shop.evalset.json": "4 cases: 2 passed, 2 failed",
    "support/support.evalset.json": "4 cases: 2 passed, 2 failed",
    "phrasebook/phrasebook.evalset.json": "5 cases: 4 passed, 1 failed",
    "library-desk/library-desk.evalset.json": "1 case: 1 passed",
  };
  for (const [file, count] of Object.entries(counts)) {
    const { stdout } = await run(["eval", join("examples", file)]);
    assert.equal(stdout.split("\n").at(-3), count, file);
  }
});

test("the examples use every metric of this version", async () => {
  const { stdout } = await run(["eval", "--help"]);
  const [, list] = /^Metrics\n(.*?)\n\n/ms.exec(stdout);
  const files = ["weather/weather", "travel-concierge/travel-concierge", "shop-assistant/shop", "support/support"];
  const { stdout: csv } = await run([
    "eval",
    ...files.map((file) => `examples/${file}.evalset.json`),
    "--format",
    "csv",
  ]);
  const used = new Set(csv.split("\n").map((line) => line.split(",")[4]));
  for (const name of list.trim().split(/\s+/)) assert.ok(used.has(name), name);
});

test("keeps the bytes of a file: integers of any size are compared exactly", async (t) => {
  const call = (n) =>
    JSON.stringify({
      eval_set_id: "n",
      eval_cases: [{ eval_id: "n", conversation: [turn("Done.", [{ name: "f", args: { n: 0 } }])] }],
    }).replace('"n":0', `"n":${n}`);
  const cwd = folderOf(t, { "n.evalset.json": call("9007199254740993"), "n.actual.json": call("9007199254740992") });
  const { status } = await run(["eval", "n.evalset.json"], { cwd });
  assert.equal(status, 1);
  writeFileSync(join(cwd, "n.actual.json"), readFileSync(join(cwd, "n.evalset.json")));
  assert.equal((await run(["eval", "n.evalset.json"], { cwd })).status, 0);
});

test("runs from any folder", async (t) => {
  const { status } = await run(["eval", join(root, "examples/library-desk/library-desk.evalset.json")], {
    cwd: folderOf(t),
  });
  assert.equal(status, 0);
});

test("stops at the first case that does not pass if asked to, and says how many are left out", async (t) => {
  const said = { one: "It is noon.", two: "It is two.", three: "It is three.", four: "It is four." };
  const cwd = folderOf(t, {
    "a.evalset.json": evalSet(said, "a"),
    "a.actual.json": evalSet({ ...said, two: "Who knows?" }, "a"),
    "b.evalset.json": evalSet(said, "b"),
    "b.actual.json": evalSet(said, "b"),
  });
  const { status, stdout, stderr } = await run(
    ["eval", "a.evalset.json", "b.evalset.json", "--bail", "--format", "csv"],
    { cwd },
  );
  assert.equal(status, 1);
  assert.deepEqual(
    [
      ...new Set(
        stdout
          .split("\n")
          .slice(1)
          .filter((line) => !line.includes("not scored: the evaluation ended before"))
          .flatMap((line) => line.split(",")[1] ?? []),
      ),
    ].filter((id) => id !== ""),
    ["one", "two"],
  );
  assert.deepEqual(stdout.match(/^a,\w+(?=,1,,,,,not evaluated,not scored: the evaluation ended before)/gm), [
    "a,three",
    "a,four",
  ]);
  const ended = (more, left) => `warning: --bail ended the run at the case "two"${more}, which did not pass: ${left}`;
  assert.deepEqual(stderr.match(/^.*--bail.*$/gm), [
    ended("", '2 of 4 cases are done; results are missing for "three" and "four"'),
    ended(' of "a"', '0 of 4 cases are done; results are missing for "one", "two", "three", and "four"'),
  ]);
  const good = await run(["eval", "b.evalset.json", "--bail"], { cwd });
  assert.equal(good.status, 0);
  assert.doesNotMatch(good.stderr, /--bail/);
});

test("counts the runs of a recording that --bail leaves out", async (t) => {
  const runsOf = (id, often, answer) =>
    Array.from({ length: often }, () => ({ eval_id: "c" + id, conversation: [turn(answer)] }));
  const set = (id, ...cases) => JSON.stringify({ eval_set_id: id, eval_cases: cases.flat() });
  const noon = "It is noon.";
  const cwd = folderOf(t, {
    "a.evalset.json": set("a", runsOf(0, 1, noon), runsOf(1, 1, noon), runsOf(2, 1, noon)),
    "a.actual.json": set("a", runsOf(0, 3, "Who knows?"), runsOf(1, 2, noon)),
    "b.evalset.json": set("b", runsOf(3, 1, noon)),
    "b.actual.json": set("b", runsOf(3, 2, noon)),
  });
  const files = ["a.evalset.json", "b.evalset.json"];
  const formats = ["json", "junit", "csv"].flatMap((format) => ["--format", format]);
  const { status, stderr } = await run(["eval", ...files, "--bail", ...formats, "--output", "out/"], { cwd });
  assert.equal(status, 1);
  assert.match(stderr, /which did not pass: 1 of 6 runs is done; runs are missing for "c0", "c1", and "c2"$/m);
  assert.match(stderr, /which did not pass: 0 of 2 runs are done; runs are missing for "c3"$/m);
  const read = (file) => readFileSync(join(cwd, "out", file), "utf8");
  const notRun = ["a", "b"].map((name) => JSON.parse(read(`${name}.evalset_result.json`)).notRun);
  assert.deepEqual(notRun, [
    [
      { evalId: "c0", runs: 2 },
      { evalId: "c1", runs: 2 },
      { evalId: "c2", runs: 1 },
    ],
    [{ evalId: "c3", runs: 2 }],
  ]);
  const junit = read("report.xml");
  assert.match(junit, /<testsuites [^>]*skipped="7"/);
  const named = [...junit.matchAll(/<testcase classname="a" name="(c0[^"]*)"/g)].map(([, name]) => name);
  const [first, ...left] = named.filter((name) => !name.includes("tool_trajectory"));
  assert.match(first, /^c0 \(run 1\) › response_match_score$/);
  assert.deepEqual(left, ["c0 (run 2)", "c0 (run 3)"]);
  assert.equal(read("report.csv").match(/^a,c1,2,.*not scored: the evaluation ended before/gm).length, 1);
});
