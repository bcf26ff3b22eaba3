// Evalsets and runs as JSON lines: kept in memory where reports need all of them, else scored in windows and written as they come.

import assert from "node:assert/strict";
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cli, folderOf, run, turn } from "./command.mjs";
import { importEntry } from "../package/support/package.mjs";

const { readResults } = await importEntry();

const CASES = 1500;
const ANSWER = "It is noon, and the clocks of the whole town strike at the same time. ".repeat(8);
const idOf = (at) => `case-${String(at).padStart(5, "0")}`;
const lines = (values) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const caseOf = (at, text = ANSWER) => ({ eval_id: idOf(at), conversation: [turn(text, [])] });
/** One in ten answers something else. */
const runOf = (at) => caseOf(at, at % 10 === 0 ? "I do not know." : ANSWER);
const all = Array.from({ length: CASES }, (_, at) => at);
const config = { criteria: { response_match_score: 0.8 } };

const bodyOf = (file) => readFileSync(file, "utf8").split("\n").slice(1);
const headOf = (file) => JSON.parse(readFileSync(file, "utf8").split("\n", 1)[0]);
/** The head without what another time changes. */
const lasting = ({ evalSetResultId: _, evalSetResultName: __, creationTimestamp: ___, ...head }) => head;

test("streamed results are those of the whole, byte for byte, by any number of threads and from any order", async (t) => {
  const cases = all.map((at) => caseOf(at));
  const repeated = all.flatMap((at) =>
    at % 7 === 0 ? [runOf(at), { ...runOf(at + 1), eval_id: idOf(at) }] : [runOf(at)],
  );
  const cwd = folderOf(t, {
    "clock.evalset.json": JSON.stringify({ eval_set_id: "clock", eval_cases: cases }),
    "clock.actual.json": JSON.stringify({ eval_set_id: "clock", eval_cases: repeated }),
    "test_config.json": config,
  });
  writeFileSync(join(cwd, "head.jsonl"), lines([{ eval_set_id: "clock" }, ...cases.slice(0, 400)]));
  // Without a line break at the end, with blank lines and those of Windows.
  writeFileSync(join(cwd, "tail.jsonl"), `\n${lines(cases.slice(400)).replaceAll("\n", "\r\n\r\n").trimEnd()}`);
  // Two files: the second runs of cases lie elsewhere, and in another order.
  const firsts = all.map((at) => runOf(at));
  const seconds = all.filter((at) => at % 7 === 0).map((at) => ({ ...runOf(at + 1), eval_id: idOf(at) }));
  writeFileSync(join(cwd, "run-1.jsonl"), lines(firsts.toReversed()));
  writeFileSync(join(cwd, "run-2.jsonl"), lines(seconds));

  const whole = ["eval", "clock.evalset.json", "--actual", "clock.actual.json", "--output", "whole.jsonl"];
  assert.equal((await run(whole, { cwd })).status, 1);
  for (const threads of [1, 2, 3]) {
    const output = `streamed-${threads}.jsonl`;
    const args = ["eval", "head.jsonl", "tail.jsonl", "--actual", "run-*.jsonl", "--output", output];
    const { status, stderr } = await run([...args, "--threads", String(threads)], { cwd });
    assert.equal(status, 1, stderr);
    assert.match(stderr, /1,715 runs of 1,500 cases: [\d,]+ passed, [\d,]+ failed/);
    assert.deepEqual(bodyOf(join(cwd, output)), bodyOf(join(cwd, "whole.jsonl")));
    assert.deepEqual(lasting(headOf(join(cwd, output))), lasting(headOf(join(cwd, "whole.jsonl"))));
  }
  const [read] = readResults(readFileSync(join(cwd, "streamed-2.jsonl")));
  assert.equal(read.evalCaseResults.length, repeated.length);
  assert.deepEqual(
    readdirSync(cwd).filter((name) => name.endsWith(".tmp")),
    [],
  );

  // Every other report needs all of it, and is the same too.
  const [jsonLines, json] = ["lines.csv", "json.csv"];
  await run(["eval", "head.jsonl", "tail.jsonl", "--actual", "run-*.jsonl", "--output", jsonLines], { cwd });
  await run(["eval", "clock.evalset.json", "--actual", "clock.actual.json", "--output", json], { cwd });
  assert.equal(readFileSync(join(cwd, jsonLines), "utf8"), readFileSync(join(cwd, json), "utf8"));
});

/** Scores `cases.jsonl` and `runs.jsonl` by a number of threads, into a file named after it. */
const scoredBy = (threads) =>
  `eval cases.jsonl --actual runs.jsonl --output ${threads}.jsonl --threads ${threads}`.split(" ");

test("cases of many megabytes among small ones are written whole, by any number of threads", async (t) => {
  const cases = all.slice(0, 12).map((at) => caseOf(at, at % 3 === 1 ? "é🕛 ".repeat(4e5) : ANSWER));
  const cwd = folderOf(t, { "test_config.json": { criteria: { tool_trajectory_avg_score: 1 } } });
  writeFileSync(join(cwd, "cases.jsonl"), lines(cases));
  writeFileSync(join(cwd, "runs.jsonl"), lines(cases));
  for (const threads of ["1", "2"]) {
    const { status, stderr } = await run(scoredBy(threads), { cwd });
    assert.equal(status, 0, stderr);
    const [{ evalCaseResults }] = readResults(readFileSync(join(cwd, `${threads}.jsonl`)));
    for (const [at, { evalId, evalMetricResultPerInvocation }] of evalCaseResults.entries()) {
      assert.equal(evalId, cases[at].eval_id);
      const [{ actualInvocation, expectedInvocation }] = evalMetricResultPerInvocation;
      const { text } = cases[at].conversation[0].final_response.parts[0];
      for (const invocation of [actualInvocation, expectedInvocation]) {
        assert.ok(invocation.finalResponse.parts[0].text === text);
      }
    }
    assert.equal(evalCaseResults.length, cases.length);
  }
});

test("what the agent did may be cases, inference results, results or sessions, each in lines", async (t) => {
  const cases = [0, 1, 2].map((at) => caseOf(at));
  const cwd = folderOf(t, { "test_config.json": config });
  writeFileSync(join(cwd, "cases.jsonl"), lines(cases));
  // As some editors write files.
  writeFileSync(join(cwd, "runs.jsonl"), `\uFEFF${lines(cases)}`);
  const inferences = cases.map(({ eval_id, conversation }) => ({ eval_case_id: eval_id, inferences: conversation }));
  writeFileSync(join(cwd, "inferences.jsonl"), lines(inferences));
  const sessions = cases.map(({ eval_id }) => ({
    eval_id,
    id: eval_id,
    events: [
      { author: "user", content: { role: "user", parts: [{ text: "What time is it?" }] } },
      { author: "clock", content: { role: "model", parts: [{ text: ANSWER }] } },
    ],
  }));
  writeFileSync(join(cwd, "sessions.jsonl"), lines(sessions));
  for (const actual of ["runs", "inferences", "sessions", "results"]) {
    const output = actual === "runs" ? "results.jsonl" : `of-${actual}.jsonl`;
    const args = ["eval", "cases.jsonl", "--actual", `${actual}.jsonl`, "--output", output];
    const { status, stderr } = await run(args, { cwd });
    assert.equal(status, 0, `${actual}: ${stderr}`);
    assert.match(stderr, /3 cases: 3 passed/);
  }
});

test("cases and runs without the other are said, as for a whole evalset", async (t) => {
  const cwd = folderOf(t, { "test_config.json": config });
  writeFileSync(join(cwd, "cases.jsonl"), lines([0, 1, 2, 3].map((at) => caseOf(at))));
  writeFileSync(join(cwd, "runs.jsonl"), lines([7, 3, 1, 9].map((at) => caseOf(at))));
  const args = ["eval", "cases.jsonl", "--actual", "runs.jsonl", "--output", "results.jsonl"];
  const { status, stderr } = await run(args, { cwd });
  assert.equal(status, 1);
  assert.match(stderr, /4 cases: 2 passed, 2 failed/);
  assert.match(
    stderr,
    /2 actual conversations belong to no eval case and are left out\n {3}at runs\.jsonl:1, runs\.jsonl:4\n/,
  );
  const [{ evalCaseResults, warnings }] = readResults(readFileSync(join(cwd, "results.jsonl")));
  assert.deepEqual(
    evalCaseResults.map(({ finalEvalStatus }) => finalEvalStatus),
    [2, 1, 2, 1],
  );
  assert.equal(warnings.length, 1);
  assert.match(evalCaseResults[0].reason, /./);

  // Where no id matches and there are as many, they go together by their order.
  writeFileSync(join(cwd, "others.jsonl"), lines([10, 11, 12, 13].map((at) => caseOf(at))));
  const byPlace = await run(["eval", "cases.jsonl", "--actual", "others.jsonl", "--output", "by-place.jsonl"], { cwd });
  assert.equal(byPlace.status, 0, byPlace.stderr);
  assert.match(byPlace.stderr, /so they are paired in their order/);
});

test("selected cases, gates and --bail", async (t) => {
  const cwd = folderOf(t, { "test_config.json": config });
  writeFileSync(join(cwd, "cases.jsonl"), lines(all.map((at) => caseOf(at))));
  writeFileSync(join(cwd, "runs.jsonl"), lines(all.map((at) => runOf(at))));
  const evaluate = (named, ...more) =>
    run(["eval", named, "--actual", "runs.jsonl", "--output", "out.jsonl", "--force", ...more], { cwd });
  const selected = await evaluate(`cases.jsonl:${idOf(1400)},${idOf(3)}`);
  assert.equal(selected.status, 1, selected.stderr);
  assert.match(selected.stderr, /2 cases: 1 passed, 1 failed/);
  assert.doesNotMatch(selected.stderr, /belong to no/);
  // Another file, in which the agent answered as expected.
  const expected = await evaluate(`cases.jsonl:${idOf(3)}`, "--strict");
  assert.equal(expected.status, 0, expected.stderr);
  const itself = ["eval", `cases.jsonl:${idOf(3)}`, "--actual", "cases.jsonl", "--output", "out.jsonl", "--force"];
  assert.match((await run(itself, { cwd })).stderr, /the evalset is compared with itself/);
  const unknown = await evaluate("cases.jsonl:case-0003");
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /the evalset has no case `case-0003`/);
  assert.match(unknown.stderr, /Did you mean `case-00003`\?/);
  const reached = await evaluate("cases.jsonl", "--min-pass-rate", "0.9");
  assert.equal(reached.status, 0, reached.stderr);
  assert.match(reached.stderr, /1350 of 1500 runs passed \(90%\)/);
  assert.equal((await evaluate("cases.jsonl", "--min-pass-rate", "0.91")).status, 1);
  const bailed = await evaluate("cases.jsonl", "--bail");
  assert.equal(bailed.status, 1);
  const [said, ...more] = bailed.stderr.match(/^.*--bail.*$/gm);
  assert.match(
    said,
    /^warning: --bail ended the run at the case "case-00000", which did not pass: [\d,]+ of 1,500 cases/,
  );
  assert.deepEqual(more, []);
  assert.equal(`warning: ${headOf(join(cwd, "out.jsonl")).warnings[0].message}`, said);
});

test("what is wrong with a line is said with its file and number", async (t) => {
  const good = [0, 1, 2].map((at) => caseOf(at));
  const cut = JSON.stringify(caseOf(3)).slice(0, 70);
  const wrong = [
    ["cut off", `${lines(good)}\n${cut}`, /the line is not complete JSON:/, 5],
    [
      "another kind",
      `${lines(good)}${lines([{ eval_id: "x", inferences: [] }])}`,
      /either `conversation` or `conversation_scenario`/,
      4,
    ],
    ["no object", `${lines(good)}[1, 2]\n`, /the line is not a JSON object/, 4],
    ["no id", `${lines(good)}${lines([{ conversation: [] }])}`, /has no `eval_id`/, 4],
    ["an id twice", lines([...good, caseOf(1)]), /the case `case-00001` occurs twice/, 4],
    ["a wrong type", lines([good[0], { ...good[1], conversation: [{ user_content: 3 }] }]), /expected an object/, 2],
    [
      "no JSON in a line",
      `${lines(good)}{"eval_id": "x",, "conversation": []}\n`,
      /expected a key in double quotes|the line is not complete JSON:/,
      4,
    ],
    ["a key twice", `${lines(good)}{"eval_id": "x", "eval_id": "y", "conversation": []}\n`, /twice/, 4],
  ];
  for (const [name, text, message, line] of wrong) {
    const cwd = folderOf(t, { "test_config.json": config });
    writeFileSync(join(cwd, "cases.jsonl"), text);
    writeFileSync(join(cwd, "runs.jsonl"), lines(good));
    for (const output of ["out.jsonl", "out.csv"]) {
      const args = ["eval", "cases.jsonl", "--actual", "runs.jsonl", "--output", output];
      const { status, stderr } = await run(args, { cwd });
      assert.equal(status, 2, `${name}, ${output}: ${stderr}`);
      assert.match(stderr, message, name);
      assert.match(stderr, new RegExp(`cases\\.jsonl:${line}\\b`), `${name}, ${output}`);
      assert.ok(!existsSync(join(cwd, output)), name);
    }
    // The same in what the agent did.
    if (name === "an id twice" || name === "another kind") continue;
    writeFileSync(join(cwd, "good.jsonl"), lines(good));
    // A line of no case is left out unread.
    writeFileSync(join(cwd, "cases.jsonl"), text.replaceAll('"x"', `"${idOf(2)}"`));
    const { status, stderr } = await run(["eval", "good.jsonl", "--actual", "cases.jsonl", "--output", "o.jsonl"], {
      cwd,
    });
    assert.equal(status, 2, `${name}: ${stderr}`);
    assert.match(stderr, new RegExp(`cases\\.jsonl:${line}\\b`), name);
  }
});

test("a mistake late in the lines keeps the results before it, also from a thread", async (t) => {
  const cwd = folderOf(t, { "test_config.json": config });
  writeFileSync(join(cwd, "cases.jsonl"), lines(all.map((at) => caseOf(at))));
  const runs = all.map((at) => runOf(at));
  runs[1400] = { ...runs[1400], conversation: [{ user_content: 3 }] };
  writeFileSync(join(cwd, "runs.jsonl"), lines(runs));
  for (const threads of ["1", "2"]) {
    const { status, stderr } = await run(scoredBy(threads), { cwd });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /expected an object \(a content\), found the number 3/);
    assert.match(stderr, /at runs\.jsonl:1401, conversation\[0\]\.user_content/);
    assert.match(stderr, /the results contain the [\d,]+ cases before the error/);
    const [{ evalCaseResults }] = readResults(readFileSync(join(cwd, `${threads}.jsonl`)));
    assert.ok(evalCaseResults.length > 0 && evalCaseResults.length <= 1400);
    assert.deepEqual(
      evalCaseResults.map(({ evalId }) => evalId),
      all.slice(0, evalCaseResults.length).map(idOf),
    );
  }
});

test("a mistake in lines that a thread finds is said in the same way, after one in the cases", async (t) => {
  const cwd = folderOf(t, { "test_config.json": config });
  const good = lines([caseOf(0), caseOf(1)]);
  const cut = `${good}{"eval_id": "case-00002", "conv`;
  const said = async (cases, runs, threads) => {
    writeFileSync(join(cwd, "cases.jsonl"), cases);
    writeFileSync(join(cwd, "runs.jsonl"), runs);
    const args = ["eval", "cases.jsonl", "--actual", "runs.jsonl", "--output", "out.jsonl", "--threads", threads];
    const { status, stderr } = await run(args, { cwd });
    assert.equal(status, 2, stderr);
    return stderr;
  };
  const inRuns = await said(good, cut, "2");
  assert.match(inRuns, /at runs\.jsonl:3/);
  assert.equal(inRuns, await said(good, cut, "1"));
  const inBoth = await said(cut, cut, "2");
  assert.match(inBoth, /at cases\.jsonl:3/);
  assert.doesNotMatch(inBoth, /runs\.jsonl/);
});

test("--threads without effect is said, and a mistake in it comes before the work", async (t) => {
  const cwd = folderOf(t, {
    "test_config.json": config,
    "s.evalset.json": { eval_set_id: "s", eval_cases: [caseOf(0)] },
    "cases.jsonl": lines([caseOf(0)]),
    "runs.jsonl": lines([runOf(1)]),
    "metrics.mjs": "export const mine = () => 1;",
  });
  const streamed = ["cases.jsonl", "--actual", "runs.jsonl", "--output", "out.jsonl"];
  for (const args of [["s.evalset.json", "--actual", "s.evalset.json"], streamed]) {
    const { status, stderr } = await run(["eval", ...args, "--threads", "0"], { cwd });
    assert.equal(status, 2);
    assert.match(stderr, /^error: --threads cannot be `0`\n +help: Expected a whole number from 1 up\n$/);
  }
  const whole = await run(["eval", "s.evalset.json", "--actual", "s.evalset.json", "--threads", "4"], { cwd });
  assert.match(whole.stderr, /^nothing is scored as it is read, so --threads has no effect$/m);
  const metrics = await run(["eval", ...streamed, "--threads", "4", "--metrics", "metrics.mjs"], { cwd });
  assert.match(
    metrics.stderr,
    /^judges, calibrations and your own metrics need a single thread, so --threads has no effect$/m,
  );
});

test("more lines than fit into memory have a way that is named", async (t) => {
  const cwd = folderOf(t, { "test_config.json": config });
  writeFileSync(join(cwd, "cases.jsonl"), lines([caseOf(0)]));
  writeFileSync(join(cwd, "runs.jsonl"), lines([caseOf(0)]));
  // A line of 300 MB that is never read.
  const long = Buffer.alloc(2 ** 20, " ");
  for (let at = 0; at < 300; at += 1) appendFileSync(join(cwd, "runs.jsonl"), long);
  assert.ok(statSync(join(cwd, "runs.jsonl")).size > 256 * 2 ** 20);
  const { status, stderr } = await run(["eval", "cases.jsonl", "--actual", "runs.jsonl", "--output", "out.html"], {
    cwd,
  });
  assert.equal(status, 2);
  assert.match(stderr, /the lines have \d+ bytes, but at most 268435456 fit in memory/);
  assert.match(stderr, /help: .*--output results\.jsonl/);
});

test("other commands take evalsets as JSON lines", async (t) => {
  const cwd = folderOf(t, { "test_config.json": config });
  writeFileSync(join(cwd, "agent.mjs"), `export const agent = async () => ${JSON.stringify(ANSWER)};\n`);
  writeFileSync(join(cwd, "cases.jsonl"), lines([0, 1].map((at) => caseOf(at))));
  const { status, stderr, stdout } = await run(["run", "--agent", "./agent.mjs", "cases.jsonl", "--num-runs", "1"], {
    cwd,
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /2 cases: 2 passed/);
  assert.ok(existsSync(cli));
  const queued = await run(["queue", "add", "cases.jsonl", "--queue", "redis://localhost:1"], { cwd });
  assert.equal(queued.status, 2);
  assert.match(queued.stderr, /not as JSON lines/);
});

test("a misspelt key of the first line is named", async (t) => {
  const cwd = folderOf(t, { "a.jsonl": '{"eval_id":"x","conversatoin":[]}\n', "a.actual.jsonl": lines([runOf(1)]) });
  const { stderr, status } = await run(["eval", "a.jsonl", "--actual", "a.actual.jsonl"], { cwd });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /the line is not a case\n {3}at a\.jsonl:1\n {3}help: It has `conversatoin`\. Did you mean `conversation`\?/,
  );
});

test("results as lines are of the evalset that they name, and nothing in them is unknown", async (t) => {
  const setOf = (id) => JSON.stringify({ eval_set_id: id, eval_cases: [caseOf(0), caseOf(1)] });
  const cwd = folderOf(t, { "clock.evalset.json": setOf("clock"), "other.evalset.json": setOf("other") });
  writeFileSync(join(cwd, "test_config.json"), JSON.stringify(config));
  writeFileSync(join(cwd, "clock.jsonl"), lines([{ eval_set_id: "clock" }, caseOf(0), caseOf(1)]));
  writeFileSync(join(cwd, "runs.jsonl"), lines([runOf(0), runOf(1)]));
  const first = ["eval", "clock.evalset.json", "--actual", "runs.jsonl", "--output", "earlier.jsonl"];
  assert.equal((await run(first, { cwd })).status, 1);
  for (const evalSet of ["clock.evalset.json", "clock.jsonl"]) {
    for (const output of [[], ["--output", "again.jsonl", "--force"]]) {
      const args = ["eval", evalSet, "--actual", "earlier.jsonl", "--strict", ...output];
      const { status, stderr } = await run(args, { cwd });
      assert.equal(status, 1, stderr);
      assert.doesNotMatch(stderr, /warning|error/);
    }
  }
  writeFileSync(join(cwd, "named.jsonl"), lines([{ eval_set_id: "clock" }, runOf(0), runOf(1)]));
  writeFileSync(join(cwd, "other.jsonl"), lines([{ eval_set_id: "other" }, caseOf(0), caseOf(1)]));
  for (const actual of ["earlier.jsonl", "named.jsonl"]) {
    for (const evalSet of ["other.evalset.json", "other.jsonl"]) {
      const output = ["--output", "other-results.jsonl", "--force"];
      const { status, stderr } = await run(["eval", evalSet, "--actual", actual, ...output], { cwd });
      assert.equal(status, 1, stderr);
      assert.equal(
        stderr.match(/warning: the actual runs are of the evalset "clock", not of "other"/g)?.length,
        1,
        stderr,
      );
    }
  }
});
