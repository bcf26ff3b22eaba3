import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, folderOf, GOOD, run } from "./command.mjs";

/** Results as google-adk stores them, of one metric: eval id to score; null for none. */
function results(scores, { id = "clock", threshold = 0.5 } = {}) {
  const statusOf = (score) => (score === null ? 3 : score >= threshold ? 1 : 2);
  const one = (score) => ({ metric_name: "response_match_score", threshold, score, eval_status: statusOf(score) });
  return {
    eval_set_result_id: `${id}_1`,
    eval_set_result_name: `${id}_1`,
    eval_set_id: id,
    eval_case_results: Object.entries(scores).map(([evalId, score]) => ({
      eval_set_id: id,
      eval_id: evalId,
      final_eval_status: statusOf(score),
      overall_eval_metric_results: [one(score)],
      eval_metric_result_per_invocation: [
        {
          actual_invocation: { user_content: { parts: [{ text: "What is the time?" }] } },
          eval_metric_results: [one(score)],
        },
      ],
      session_id: evalId,
    })),
    creation_timestamp: 1.5,
  };
}

const BASE = results({ noon: 1, late: 0.8 });
const WORSE = results({ noon: 1, late: 0.2 });

const files = {
  "base.json": BASE,
  "same.json": BASE,
  "worse.json": WORSE,
  "string.json": JSON.stringify(JSON.stringify(WORSE)),
};

test("exits with 0 where no case regressed, and with 1 where one did", async (t) => {
  const cwd = folderOf(t, files);
  const same = await run(["compare", "base.json", "same.json"], { cwd });
  assert.deepEqual([same.status, same.stderr], [0, ""]);
  assert.match(same.stdout, /^clock {2}2 cases: 2 unchanged\n/);
  assert.match(same.stdout, /\nno regression in 2 cases\n$/);
  for (const file of ["worse.json", "string.json"]) {
    const worse = await run(["compare", "base.json", file], { cwd });
    assert.deepEqual([worse.status, worse.stderr], [1, ""]);
    assert.match(worse.stdout, /✗ late +response_match_score +0\.8000 +0\.2000 +-0\.6000 +passed → failed/);
    assert.match(worse.stdout, /\n {4}turn 1: 0\.8000 → 0\.2000, passed → failed\n/);
  }
  const better = await run(["compare", "worse.json", "base.json"], { cwd });
  assert.equal(better.status, 0);
  assert.match(better.stdout, /✓ late .* failed → passed/);
  const lost = await run(["compare", "base.json", "lost.json"], {
    cwd: folderOf(t, { ...files, "lost.json": results({ noon: 1, late: null }) }),
  });
  assert.equal(lost.status, 1);
});

test("warns of results that are compared with themselves, which never differ", async (t) => {
  const cwd = folderOf(t, files);
  const { status, stderr } = await run(["compare", "base.json", "./base.json"], { cwd });
  assert.equal(status, 0);
  assert.match(stderr, /^warning: the baseline is compared with itself: nothing can differ\n {3}at base\.json/);
  assert.equal(
    (await run(["compare", ".", ".", "--strict"], { cwd: folderOf(t, { "a.evalset_result.json": BASE }) })).status,
    2,
  );
});

test("warnings of the compared runs are told, and --strict heeds them", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const file = join(cwd, "a.jsonl");
  await run(["eval", "clock.evalset.json", "--actual", "clock.actual.json", "--output", file], { cwd });
  const [header, ...cases] = readFileSync(file, "utf8").split("\n");
  const warnings = [{ code: "invalid_input", message: "the evalset lacks answers" }];
  writeFileSync(join(cwd, "b.jsonl"), [JSON.stringify({ ...JSON.parse(header), warnings }), ...cases].join("\n"));
  const compare = (...args) => run(["compare", "a.jsonl", "b.jsonl", ...args], { cwd });
  const { status, stdout } = await compare();
  assert.equal(status, 0);
  assert.match(stdout, /warning: the current run has a warning: the evalset lacks answers/);
  assert.equal((await compare("--strict")).status, 2);
});

test("that runs were repeated is a note, which --strict takes as nothing wrong", async (t) => {
  const [one] = BASE.eval_case_results;
  const twice = { ...BASE, eval_case_results: [one, one] };
  const cwd = folderOf(t, { "a.json": twice, "b.json": twice });
  const { status, stdout } = await run(["compare", "a.json", "b.json", "--strict"], { cwd });
  assert.match(stdout, /some cases have several runs: a case's mean scores and the fraction/);
  assert.equal(status, 0);
  const csv = await run(["compare", "a.json", "b.json", "--strict", "--format", "csv"], { cwd });
  assert.match(csv.stderr, /^some cases have several runs: a case's mean scores and the fraction/m);
  assert.equal(csv.status, 0);
});

test("a drop that is sure counts with --fail-on-drop alone", async (t) => {
  const scores = (score) => Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`c${at}`, score + at / 100]));
  const cwd = folderOf(t, { "a.json": results(scores(0.9)), "b.json": results(scores(0.7)) });
  const lenient = await run(["compare", "a.json", "b.json"], { cwd });
  const strict = await run(["compare", "a.json", "b.json", "--fail-on-drop"], { cwd });
  assert.deepEqual([lenient.status, strict.status], [0, 1]);
  assert.match(strict.stdout, /response_match_score +8 .* worse\n/);
  assert.equal(strict.stdout, lenient.stdout);
  assert.equal((await run(["compare", "b.json", "a.json", "--fail-on-drop"], { cwd })).status, 0);
});

test("compares what eval writes", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const evaluate = (output) => run(["eval", "clock.evalset.json", "--format", "json", "--output", output], { cwd });
  await evaluate("base/");
  const actual = JSON.parse(readFileSync(join(cwd, "clock.actual.json"), "utf8"));
  actual.eval_cases[0].conversation[0].final_response.parts[0].text = "Ask me later.";
  writeFileSync(join(cwd, "clock.actual.json"), JSON.stringify(actual));
  await evaluate("now/");
  const { stdout, status } = await run(["compare", "base", "now/", "--format", "json"], { cwd });
  assert.equal(status, 1);
  const { hasRegressions, cases, counts } = JSON.parse(stdout);
  assert.deepEqual([hasRegressions, cases[0].evalId, counts.regressed], [true, "noon", 1]);
});

test("folders: JSON lines count where there is no JSON of the same results or name", async (t) => {
  const cwd = folderOf(t, GOOD);
  const evaluate = (format, output) =>
    run(["eval", "good.evalset.json", "--format", format, "--output", output], { cwd });
  const compared = (...more) => run(["compare", "base", "now", "--format", "json", ...more], { cwd });
  await evaluate("jsonl", "base/");
  await evaluate("jsonl", "now/");
  const { stdout, stderr, status } = await compared();
  assert.deepEqual([status, JSON.parse(stdout).cases.map(({ evalId }) => evalId)], [0, ["noon"]], stderr);
  const both = ["--format", "json", "--format", "jsonl"];
  for (const folder of ["base/", "now/"]) {
    await run(["eval", "good.evalset.json", ...both, "--output", folder], { cwd });
  }
  const same = await compared("--strict");
  assert.deepEqual([same.status, JSON.parse(same.stdout).cases.length], [0, 1], same.stderr);
  const named = (folder, ending) => join(cwd, folder, `good.${ending}`);
  copyFileSync(join(cwd, "now/report.results.jsonl"), named("now", "results.jsonl"));
  for (const folder of ["base", "now"]) {
    const file = (name) => join(cwd, folder, name);
    const lines = readFileSync(file("report.results.jsonl"), "utf8");
    writeFileSync(file("another.results.jsonl"), lines.replaceAll("good", "another"));
  }
  rmSync(named("now", "evalset_result.json"));
  rmSync(join(cwd, "now/report.results.jsonl"));
  const several = await compared("--strict");
  assert.equal(several.status, 0, several.stderr);
  assert.doesNotMatch(several.stderr, /warning/);
  assert.equal(JSON.parse(several.stdout).length, 2);
});

test("folders: files go together by name, others are named", async (t) => {
  const cwd = folderOf(t);
  for (const [folder, names] of Object.entries({ base: ["a", "b", "old"], now: ["a", "b", "new"] })) {
    mkdirSync(join(cwd, folder));
    for (const name of names) {
      const found = folder === "now" && name === "b" ? { noon: 0 } : { noon: 1 };
      const file = join(cwd, folder, `${name}.evalset_result.json`);
      writeFileSync(file, JSON.stringify(results(found, { id: name })));
    }
    writeFileSync(join(cwd, folder, "notes.json"), "[]");
  }
  const { stdout, stderr, status } = await run(["compare", "base", "now"], { cwd });
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^a {2}1 case: 1 unchanged\n[^]*\nb {2}1 case: 1 regressed\n[^]*\n1 regression in 2 cases of 2 evalsets\n$/,
  );
  assert.match(
    stderr,
    /no counterpart.*\n {3}at base\/old\.evalset_result\.json\n[^]* {3}at now\/new\.evalset_result\.json\n/,
  );
  const json = await run(["compare", "base", "now", "--format", "json"], { cwd });
  assert.equal(JSON.parse(json.stdout).length, 2);
});

test("writes several formats, each where it is told to", async (t) => {
  const cwd = folderOf(t, files);
  const formats = { md: "out.md", csv: "made/", json: "-" };
  const args = Object.entries(formats).flatMap(([format, output]) => ["--format", format, "--output", output]);
  const { stdout, stderr, status } = await run(["compare", "base.json", "worse.json", ...args], { cwd });
  assert.equal(status, 1);
  assert.equal(JSON.parse(stdout).counts.regressed, 1);
  assert.equal(stderr, "wrote out.md\nwrote made/comparison.csv\n");
  assert.match(
    readFileSync(join(cwd, "out.md"), "utf8"),
    /^## ❌ Comparison with the baseline: 1 regression in 2 cases\n/,
  );
  assert.match(readFileSync(join(cwd, "made/comparison.csv"), "utf8"), /\r\nclock,late,,,regressed,/);
  const quiet = await run(["compare", "base.json", "worse.json", "--output", "table.txt"], { cwd });
  assert.deepEqual([quiet.stdout, quiet.stderr], ["", "wrote table.txt\n1 regression in 2 cases\n"]);
});

test("takes the format from the ending of the output, and overwrites older comparisons only", async (t) => {
  const cwd = folderOf(t, {
    ...files,
    "notes.md": "## My Comparison with the baseline: a diary\n",
    "report.csv": "evalSetId,evalId,turn,metricName,change,own\r\n",
    "own.json": '{"baseline": {"mine": 1}}',
    "own.txt": "notes\n  baseline: mine\n",
  });
  const compare = (...args) => run(["compare", "base.json", "same.json", ...args], { cwd });
  const beginnings = {
    txt: /^clock {2}2 cases: /,
    json: /^\{\n {2}"baseline"/,
    md: /^## ✅ Comparison/,
    csv: /^evalSetId,/,
    html: /^<!doctype html>/,
  };
  for (const [ending, beginning] of Object.entries(beginnings)) {
    for (const time of ["first", "second"]) {
      const { status, stderr } = await compare("--output", `out.${ending}`);
      assert.deepEqual([status, stderr], [0, `wrote out.${ending}\nno regression in 2 cases\n`], time);
    }
    assert.match(readFileSync(join(cwd, `out.${ending}`), "utf8"), beginning);
  }
  for (const other of ["notes.md", "report.csv", "own.json", "own.txt"]) {
    const before = readFileSync(join(cwd, other), "utf8");
    const { status, stdout, stderr } = await compare("--output", other);
    assert.match(stderr, /^error: the output already exists, and is not a comparison in the format \w+\n {3}at /);
    assert.match(stderr, /help: .*--force/);
    assert.deepEqual([status, stdout, readFileSync(join(cwd, other), "utf8")], [2, "", before]);
    assert.equal((await compare("--output", other, "--force")).status, 0);
    assert.notEqual(readFileSync(join(cwd, other), "utf8"), before);
  }
  const several = await compare("--output", "a.md", "--output", "-");
  assert.match(
    several.stderr,
    /the format of - is unknown: its extension does not tell, and there is no --format for it/,
  );
  const bare = await compare("--output", "bare");
  assert.match(
    bare.stderr,
    /^bare: written as a table, because its extension is none of \.txt \.json \.md \.csv \.html\n/,
  );
  const long = { "a.json": results({ noon: 1 }, { id: "evalset".repeat(20) }) };
  const wide = folderOf(t, { ...long, "b.json": long["a.json"] });
  for (const time of ["first", "second"]) {
    const { status } = await run(["compare", "a.json", "b.json", "--output", "wide.txt"], { cwd: wide });
    assert.equal(status, 0, time);
  }
});

test("says on stderr what the written format has no place for", async (t) => {
  const cwd = folderOf(t, { "a.json": BASE, "b.json": results({ noon: 1 }, { threshold: 0.9 }) });
  const { stderr } = await run(["compare", "a.json", "b.json", "--format", "csv"], { cwd });
  assert.match(stderr, /warning: the threshold of response_match_score differs in 1 case: 0\.5 → 0\.9\n/);
  assert.match(stderr, /warning: cases in the baseline only: late\n/);
});

test("text of results does not act on the terminal", async (t) => {
  const evil = "\u001b]0;owned\u0007\u009b31m\u202eeval\r\n";
  const cwd = folderOf(t, { "a.json": results({ [evil]: 1 }), "b.json": results({ [evil]: 0 }, { id: evil }) });
  for (const format of ["table", "json", "md", "csv"]) {
    const { stdout, stderr, status } = await run(["compare", "a.json", "b.json", "--format", format], { cwd });
    assert.equal(status, 1);
    assert.doesNotMatch(
      stdout.replaceAll("\r\n", "\n") + stderr,
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/,
    );
  }
});

for (const [name, args, words] of [
  ["no results", [], /error: no results specified\n {3}help: adk-metrics compare /],
  ["one file", ["base.json"], /nothing to compare with the baseline/],
  ["three files", ["base.json", "worse.json", "same.json"], /help: Left over: same\.json/],
  ["a missing baseline", ["no.json", "base.json"], /error: the baseline does not exist\n {3}at no\.json/],
  ["missing results", ["base.json", "no.json"], /error: the file of results does not exist\n {3}at no\.json/],
  ["a file and a folder", ["base.json", "."], /cannot be compared with a folder/],
  ["folders without results", [".", "."], /no results in common\n {3}at \., \.\n {3}help: .*\.evalset_result\.json/],
  ["a broken baseline", ["broken.json", "base.json"], /error: .*\n {3}at broken\.json:2\n/],
  ["broken results", ["base.json", "broken.json"], /error: .*\n {3}at broken\.json:2\n/],
  [
    "a file of something else",
    ["base.json", "clock.evalset.json"],
    /at clock\.evalset\.json:1\n {3}help: This looks like an evalset, .* Pass the results/,
  ],
  ["a wrong status", ["base.json", "status.json"], /at status\.json:\d+, eval_case_results\[0\]\.final_eval_status/],
  [
    "no case in common",
    ["base.json", "other.json"],
    /no case in common\n {3}at other\.json\n {3}help: .*`noon`, `late`/,
  ],
  ["a format of eval", ["base.json", "same.json", "--format", "junit"], /Expected one of table, json, md, csv, html/],
  [
    "an ending of a format of eval",
    ["base.json", "same.json", "--output", "out.xml"],
    /this is the extension of the format junit, .*\n {3}at out\.xml\n {3}help: .*\.txt \.json \.md \.csv \.html/,
  ],
  ["a misspelt option", ["base.json", "same.json", "--fail-on-drops"], /Did you mean --fail-on-drop\?/],
  ["formats without outputs", ["base.json", "same.json", "--format", "md", "--format", "csv"], /one --output for each/],
  [
    "two texts for one place",
    ["base.json", "same.json", ..."--format md --output x --format csv --output ./x".split(" ")],
    /two reports would be written to/,
  ],
  [
    "an output over an input",
    ["base.json", "same.json", "--output", "./base.json"],
    /the output would overwrite one of the compared results/,
  ],
  [
    "details without a table",
    ["base.json", "same.json", "--format", "md", "--print-detailed-results"],
    /--print-detailed-results affects only the table, and no table is written/,
  ],
]) {
  test(`exits with 2 and says why: ${name}`, async (t) => {
    const cwd = folderOf(t, {
      ...files,
      ...CLOCK,
      "broken.json": "{\n  oops",
      "other.json": results({ dawn: 1 }),
      "status.json": { ...BASE, eval_case_results: [{ ...BASE.eval_case_results[0], final_eval_status: 9 }] },
    });
    const { stdout, stderr, status } = await run(["compare", ...args], { cwd });
    assert.match(stderr, words);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.equal(readFileSync(join(cwd, "base.json"), "utf8"), JSON.stringify(BASE, null, 2));
  });
}

test("--fail-on-drop fails where a metric no longer passes although its case ends as before", async (t) => {
  const before = structuredClone(results({ noon: 0.2 }));
  const after = structuredClone(before);
  const [one] = before.eval_case_results[0].overall_eval_metric_results;
  const other = { ...one, metric_name: "tool_trajectory_avg_score" };
  before.eval_case_results[0].overall_eval_metric_results.push({ ...other, score: 1, eval_status: 1 });
  after.eval_case_results[0].overall_eval_metric_results.push({ ...other, score: 0, eval_status: 2 });
  const cwd = folderOf(t, { "before.json": before, "after.json": after });
  const plain = await run(["compare", "before.json", "after.json"], { cwd });
  assert.equal(plain.status, 0);
  assert.match(plain.stdout, /1 case: 1 worse\n/);
  assert.match(plain.stdout, /warning: in 1 case with an unchanged verdict, a metric no longer passes/);
  const dropped = await run(["compare", "before.json", "after.json", "--fail-on-drop"], { cwd });
  assert.equal(dropped.status, 1);
  assert.match(
    dropped.stderr,
    /not reached: --fail-on-drop: these metrics got worse, or no longer pass in some\s+case: \w+\n/,
  );
});

test("says which cases have a status that their metrics contradict", async (t) => {
  const edited = structuredClone(BASE);
  edited.eval_case_results[0].final_eval_status = 2;
  const cwd = folderOf(t, { "base.json": BASE, "edited.json": edited });
  const contradiction =
    "the status of 1 case in the current run contradicts its metrics: noon is failed, its metrics say passed";
  const table = await run(["compare", "base.json", "edited.json"], { cwd });
  assert.equal(table.status, 1);
  assert.ok(table.stdout.replaceAll(/\n +/g, " ").includes(`warning: ${contradiction}\n`), table.stdout);
  const csv = await run(["compare", "base.json", "edited.json", "--format", "csv"], { cwd });
  assert.ok(csv.stderr.includes(`warning: ${contradiction}\n`), csv.stderr);
});

test("explains itself", async () => {
  const { stdout, status } = await run(["compare", "--help"]);
  assert.equal(status, 0);
  assert.match(stdout, /Exit status\n {4}0 {2}no case regressed\n/);
  assert.ok(stdout.split("\n").every((line) => line.length <= 100));
  assert.equal((await run(["help", "compare"])).stdout, stdout);
  assert.match((await run(["--help"])).stdout, /adk-metrics compare <baseline results> <results>/);
  assert.match((await run(["compar"])).stderr, /Did you mean `compare`\?/);
});

test("a recording of a judge is no results, and says so", async (t) => {
  const cwd = folderOf(t, { "base.json": BASE, "judge.jsonl": '{"format":"adk-metrics recording","version":1}\n{}\n' });
  const { stderr, status } = await run(["compare", "base.json", "judge.jsonl"], { cwd });
  assert.equal(status, 2);
  assert.match(stderr, /error: this is a recording of a judge, not results\n {3}at judge\.jsonl\n {3}help: /);
});

test("what is missing beside a folder is said to be missing", async (t) => {
  const cwd = folderOf(t, files);
  mkdirSync(join(cwd, "day"));
  for (const args of [
    ["day", "dya"],
    ["dya", "day"],
  ]) {
    const { status, stderr } = await run(["compare", ...args], { cwd });
    assert.equal(status, 2);
    assert.match(stderr, /^error: the file or folder does not exist\n {3}at dya\n/);
  }
  const { stderr } = await run(["compare", "day", "base.json"], { cwd });
  assert.match(stderr, /^error: a file cannot be compared with a folder\n/);
});

test("other files than results are recognised, in every command that takes results", async (t) => {
  const cwd = folderOf(t, { ...files, ...CLOCK, "config.json": { criteria: { response_match_score: 1 } } });
  for (const [file, what] of [
    ["clock.evalset.json", "an evalset, or conversations in its form"],
    ["config.json", "a config"],
  ]) {
    for (const args of [
      ["compare", "base.json", file],
      ["compare", file, "base.json"],
      ["labels", "export", file],
    ]) {
      const { status, stderr } = await run(args, { cwd });
      assert.equal(status, 2);
      assert.match(
        stderr,
        new RegExp(`^error: .*\\n {3}at ${file}.*\\n {3}help: This looks like ${what}\\. Pass the `),
      );
    }
  }
});
