// `calibrate` and `labels`, from results that `eval` writes to what people read.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pairsOf, resultsOf, RUBRICS } from "../calibration/results.mjs";
import { folderOf, GOOD, root, run } from "./command.mjs";

const { cases, labels } = pairsOf({ PP: 6, PF: 2, FP: 1, FF: 3 });
const FILES = { "shop.json": resultsOf(cases), "labels.csv": labels };

test("a journal is calibrated and labelled as the results of its run are", async (t) => {
  const cwd = folderOf(t);
  for (const name of ["museum-guide.evalset.json", "museum-guide.actual.json", "judge.jsonl", "test_config.json"]) {
    copyFileSync(join(root, "examples/museum-guide", name), join(cwd, name));
  }
  const evaluate = ["eval", "museum-guide.evalset.json", "--judge", "replay:judge.jsonl", "--journal", "run.jsonl"];
  await run([...evaluate, "--explain", "all", "--format", "json", "--output", "museum.json"], { cwd });
  const sheets = ["museum.json", "run.jsonl"].map((file) =>
    run(["labels", "export", file, "--metric", "final_response_match_v2"], { cwd }),
  );
  const [ofResults, ofJournal] = (await Promise.all(sheets)).map(({ stdout }) => stdout);
  assert.match(ofResults, /^evalset,case,/);
  assert.equal(ofJournal, ofResults);
  const filled = ofResults.replaceAll("final_response_match_v2,,,", "final_response_match_v2,,pass,");
  writeFileSync(join(cwd, "labels.csv"), filled);
  const found = ["museum.json", "run.jsonl"].map((file) => run(["calibrate", file, "--labels", "labels.csv"], { cwd }));
  const [one, other] = await Promise.all(found);
  assert.match(one.stdout, /6 of 6 labels used.*Correct verdicts, by samples asked/s);
  assert.deepEqual([other.stdout, other.status], [one.stdout, 0]);

  const entries = readFileSync(join(cwd, "run.jsonl"), "utf8").trimEnd().split("\n");
  const unfinished = entries.filter((line) => !/"type":"end","section":""/.test(line)).join("\n");
  assert.ok(unfinished.length < entries.join("\n").length);
  writeFileSync(join(cwd, "half.jsonl"), `${unfinished}\n`);
  const half = await run(["calibrate", "half.jsonl", "--labels", "labels.csv"], { cwd });
  assert.equal(half.status, 2);
  assert.match(
    half.stderr,
    /^error: the journal has no results: the command that wrote it has not finished\n {3}at half\.jsonl\n {3}help: Run it again with --resume\n/,
  );
});

test("JSON lines are calibrated and labelled as other results are, also several files", async (t) => {
  const cwd = folderOf(t);
  for (const name of ["museum-guide.evalset.json", "museum-guide.actual.json", "judge.jsonl", "test_config.json"]) {
    copyFileSync(join(root, "examples/museum-guide", name), join(cwd, name));
  }
  const evaluate = ["eval", "museum-guide.evalset.json", "--judge", "replay:judge.jsonl", "--explain", "all"];
  for (const format of ["json", "jsonl"]) {
    await run([...evaluate, "--format", format, "--output", `museum.${format}`], { cwd });
  }
  const [header, ...cases] = readFileSync(join(cwd, "museum.jsonl"), "utf8").trimEnd().split("\n");
  writeFileSync(join(cwd, "first.jsonl"), [header, ...cases.slice(0, 2)].join("\n"));
  writeFileSync(join(cwd, "second.jsonl"), [header, ...cases.slice(2)].join("\r\n"));
  const both = ["first.jsonl", "second.jsonl"];

  const sheets = [["museum.json"], ["museum.jsonl"], both].map((files) =>
    run(["labels", "export", ...files, "--metric", "final_response_match_v2"], { cwd }),
  );
  const [ofJson, ...others] = (await Promise.all(sheets)).map(({ stdout }) => stdout);
  assert.match(ofJson, /^evalset,case,/);
  assert.deepEqual(others, [ofJson, ofJson]);
  writeFileSync(join(cwd, "labels.csv"), ofJson.replaceAll("_match_v2,,,", "_match_v2,,pass,"));
  const calibrated = [["museum.json"], ["museum.jsonl"], both, ["--compare", "museum.json", "museum.jsonl"]].map(
    (files) => run(["calibrate", ...files, "--labels", "labels.csv"], { cwd }),
  );
  const [one, two, three, compared] = await Promise.all(calibrated);
  assert.match(one.stdout, /6 of 6 labels used.*Correct verdicts, by samples asked/s);
  assert.deepEqual([two.stdout, two.stderr, three.stdout], [one.stdout, one.stderr, one.stdout]);
  assert.equal(compared.status, 0, compared.stderr);

  // Files larger than what is read at once are read in pieces: here one with 65 MiB of white space.
  writeFileSync(join(cwd, "large.jsonl"), [header, " ".repeat(65 << 20), ...cases].join("\n"));
  mkdirSync(join(cwd, "folder"));
  mkdirSync(join(cwd, "lines"));
  copyFileSync(join(cwd, "museum.jsonl"), join(cwd, "lines/report.results.jsonl"));
  // Of the same results in two formats, one counts, as they would be two runs of the cases.
  for (const name of ["museum.results.jsonl", "museum.evalset_result.json"]) {
    copyFileSync(join(cwd, `museum.${name.split(".").at(-1)}`), join(cwd, "folder", name));
  }
  const more = [["large.jsonl"], ["lines"], ["folder"]].map((files) =>
    run(["calibrate", ...files, "--labels", "labels.csv"], { cwd }),
  );
  for (const { stdout, stderr } of await Promise.all(more)) assert.equal(stdout, one.stdout, stderr);
  const ofLarge = await run(["labels", "export", "large.jsonl", "--metric", "final_response_match_v2"], { cwd });
  assert.deepEqual([ofLarge.stdout, ofLarge.stderr], [ofJson, ""]);
  const same = await run(["compare", "large.jsonl", "museum.jsonl"], { cwd });
  assert.equal(same.status, 0, same.stderr);

  writeFileSync(join(cwd, "headless.jsonl"), cases.join("\n"));
  writeFileSync(join(cwd, "case.jsonl"), `${cases[0]}\n`);
  writeFileSync(join(cwd, "beheaded.jsonl"), [...cases, " ".repeat(65 << 20)].join("\n"));
  for (const file of ["headless.jsonl", "case.jsonl", "beheaded.jsonl"]) {
    for (const args of [
      ["calibrate", file, "--labels", "labels.csv"],
      ["labels", "export", file],
      ["compare", file, "museum.jsonl"],
    ]) {
      const { stderr } = await run(args, { cwd });
      assert.match(
        stderr,
        /^error: the first line is missing, which says whose results the lines below are\n {3}at \w+\.jsonl:1\n {3}help: .*begin the file with \{"format":"adk-metrics results","version":1,"evalSetId":"museum-guide"\}\n/,
      );
    }
  }
  writeFileSync(
    join(cwd, "first.jsonl"),
    [JSON.stringify({ format: "adk-metrics results", version: 1, evalSetId: "museum-guide" }), ...cases].join("\n"),
  );
  const begun = await run(["calibrate", "first.jsonl", "--labels", "labels.csv"], { cwd });
  assert.equal(begun.status, 0, begun.stderr);

  writeFileSync(join(cwd, "first.jsonl"), [header, ...cases.slice(0, 2)].join("\n"));
  writeFileSync(join(cwd, "second.jsonl"), [header, "{}"].join("\n"));
  const broken = await run(["calibrate", ...both, "--labels", "labels.csv"], { cwd });
  assert.match(broken.stderr, /^error: expected the results of a case\n {3}at second\.jsonl:2\n/);
});

test("a calibration of another judge is told of where cases are scored as they are read, too", async (t) => {
  const read = (name) => JSON.parse(readFileSync(join(root, "examples/museum-guide", name), "utf8"));
  const lines = (name) => read(name).eval_cases.map((one) => `${JSON.stringify(one)}\n`);
  const judge = { metricName: "final_response_match_v2", scoredBy: "judge", model: "another", prompts: {} };
  const judgedRight = { ofPasses: { share: 0.95, count: 20 }, ofFails: { share: 0.9, count: 20 } };
  const passRate = { judge: 0.5, corrected: { value: 0.5 }, judgedRight };
  const agreement = { value: 0.9, low: 0.8, high: 0.95 };
  const subject = { metricName: judge.metricName, labelled: 40, agreement, passRate };
  const cwd = folderOf(t, {
    "museum.jsonl": lines("museum-guide.evalset.json").join(""),
    "actual.jsonl": lines("museum-guide.actual.json").join(""),
    "test_config.json": JSON.stringify(read("test_config.json")),
    "judge.calibration.json": JSON.stringify({ confidence: 0.95, subjects: [subject], judges: [judge], criteria: {} }),
  });
  copyFileSync(join(root, "examples/museum-guide/judge.jsonl"), join(cwd, "judge.jsonl"));
  const evaluate = ["eval", "museum.jsonl", "--actual", "actual.jsonl", "--judge", "replay:judge.jsonl"];
  const write = ["--format", "jsonl", "--output", "results.jsonl"];
  const told =
    /^warning: the calibration of `final_response_match_v2` may no longer hold.*another before.*\n {3}at judge\.calibration\.json\n/m;
  const { stderr, status } = await run([...evaluate, ...write], { cwd });
  assert.match(stderr, told);
  assert.equal(status, 1);
  // The pass rate is that of these results, as where they are scored as a whole.
  writeFileSync(join(cwd, "museum.evalset.json"), JSON.stringify(read("museum-guide.evalset.json")));
  writeFileSync(join(cwd, "actual.json"), JSON.stringify(read("museum-guide.actual.json")));
  const whole = ["eval", "museum.evalset.json", "--actual", "actual.json", ...evaluate.slice(4), "--format", "jsonl"];
  await run([...whole, "--output", "whole.jsonl"], { cwd });
  const [ofLines, ofWhole] = ["results.jsonl", "whole.jsonl"].map((file) => {
    const [head] = readFileSync(join(cwd, file), "utf8").split("\n", 1);
    return JSON.parse(head).judgeCalibrations[0].passRate;
  });
  assert.equal(ofLines.isEarlier, undefined);
  assert.deepEqual(ofLines, ofWhole);
  const strict = await run([...evaluate, ...write, "--force", "--strict"], { cwd });
  assert.match(strict.stderr, told);
  assert.equal(strict.status, 2);
});

test("verdicts of two judges for the same cases are not called runs", async (t) => {
  const { judges, ...unnamed } = FILES["shop.json"];
  const by = (model) => ({ ...unnamed, judges: judges.map((stamp) => ({ ...stamp, model })) });
  const cwd = folderOf(t, { ...FILES, "one.json": by("gpt-5"), "two.json": by("gpt-6") });
  const { status, stderr } = await run(["calibrate", "one.json", "two.json", "--labels", "labels.csv"], { cwd });
  assert.equal(status, 2);
  assert.match(stderr, /the case has verdicts of gpt-5 and of gpt-6, and the label does not say which one it is for\n/);
  assert.match(stderr, /^ {3}help: Calibrate the results of one judge at a time, or compare two with --compare$/m);
  const same = await run(["calibrate", "one.json", "one.json", "--labels", "labels.csv"], { cwd });
  assert.match(same.stderr, /the case has 2 runs, and the label does not say which one it is for\n/);
});

test("a calibration is kept only where it says which judge it is about", async (t) => {
  const { judges, ...unnamed } = FILES["shop.json"];
  const one = (model, evalSetId) => ({
    ...resultsOf(cases, { evalSetId }),
    judges: judges.map((stamp) => ({ ...stamp, model })),
  });
  const cwd = folderOf(t, {
    "adk.json": unnamed,
    "one.json": one("gpt-5", "shop"),
    "two.json": one("gpt-6", "other"),
    "labels.csv": labels.replace("case,", "evalset,case,").replaceAll(/\n/g, "\nshop,"),
    "more.csv": `${labels.replace("case,", "evalset,case,").replaceAll(/\n/g, "\nshop,")}\nother,PP1,1,${RUBRICS},polite,pass`,
  });
  const calibrated = (...args) => run(["calibrate", ...args], { cwd });
  const [kept, said, named, mixed, onScreen, known] = await Promise.all([
    calibrated("adk.json", "--labels", "labels.csv", "--output", "kept.json"),
    calibrated("adk.json", "--labels", "labels.csv"),
    calibrated("adk.json", "--labels", "labels.csv", "--format", "json", "--judge-model", "gpt-5"),
    calibrated("one.json", "two.json", "--labels", "more.csv", "--format", "json"),
    calibrated("one.json", "two.json", "--labels", "more.csv"),
    calibrated("one.json", "--labels", "labels.csv", "--judge-model", "gpt-5"),
  ]);
  assert.equal(kept.status, 2);
  assert.match(
    kept.stderr,
    /^error: the calibration of `rubric_\w+` does not name its judge, so it cannot be kept\n {3}at adk\.json\n {3}help: .*--judge-model\n/,
  );
  assert.ok(!existsSync(join(cwd, "kept.json")));
  assert.deepEqual([said.status, said.stderr], [0, ""]);
  assert.deepEqual(JSON.parse(named.stdout).judges, [{ metricName: RUBRICS, scoredBy: "judge", model: "gpt-5" }]);
  assert.match(mixed.stderr, /^error: .* is about several judges: gpt-5 and gpt-6, so it cannot be kept\n/);
  assert.match(onScreen.stderr, /^warning: the calibration of `rubric_\w+` is about several judges: gpt-5 and gpt-6\n/);
  assert.match(known.stderr, /^error: the judge is named already: gpt-5\n/);
});

test("settings of a metric that changed since its calibration are told of in lines, too", async (t) => {
  const read = (name) => JSON.parse(readFileSync(join(root, "examples/museum-guide", name), "utf8"));
  const lines = (name) => read(name).eval_cases.map((one) => `${JSON.stringify(one)}\n`);
  const config = read("test_config.json");
  const cwd = folderOf(t, {
    "museum.jsonl": lines("museum-guide.evalset.json").join(""),
    "actual.jsonl": lines("museum-guide.actual.json").join(""),
    "test_config.json": config,
  });
  copyFileSync(join(root, "examples/museum-guide/judge.jsonl"), join(cwd, "judge.jsonl"));
  const evaluate = ["eval", "museum.jsonl", "--actual", "actual.jsonl", "--judge", "replay:judge.jsonl"];
  const write = (format, file) => ["--format", format, "--output", file, "--force"];
  const name = "final_response_match_v2";
  await run([...evaluate, ...write("json", "results.json"), "--explain", "all"], { cwd });
  await run(["labels", "export", "results.json", "--metric", name, "--random", "--output", "labels.csv"], { cwd });
  const sheet = join(cwd, "labels.csv");
  writeFileSync(sheet, readFileSync(sheet, "utf8").replaceAll(`${name},,,`, `${name},,pass,`));
  const kept = ["--format", "json", "--output", "judge.calibration.json"];
  const calibrated = await run(["calibrate", "results.json", "--labels", "labels.csv", ...kept], { cwd });
  assert.equal(calibrated.status, 0, calibrated.stderr);

  const told = /^warning: the calibration of `final_response_match_v2` may no longer hold\. Changed since then: (.*)$/m;
  const toldWith = async (change) => {
    const changed = structuredClone(config);
    change(changed.criteria[name]);
    writeFileSync(join(cwd, "test_config.json"), JSON.stringify(changed));
    const { stderr } = await run([...evaluate, ...write("jsonl", "results.jsonl")], { cwd });
    const [head] = readFileSync(join(cwd, "results.jsonl"), "utf8").split("\n", 1);
    const [, what] = told.exec(stderr) ?? [];
    assert.equal(JSON.parse(head).judgeCalibrations?.[0].stale, what);
    return what;
  };
  assert.equal(await toldWith(() => {}), undefined);
  assert.equal(await toldWith((criterion) => (criterion.threshold = 0.9)), "the metric's settings");
  assert.equal(
    await toldWith(({ judge_model_options: options }) => (options.num_samples = 2)),
    "the metric's settings",
  );
});

test("results of eval keep the votes, are labelled and calibrated", async (t) => {
  const cwd = folderOf(t);
  const example = (name) => join(root, "examples/museum-guide", name);
  const judge = ["--judge", `replay:${example("judge.jsonl")}`, "--explain", "all"];
  const scored = await run(
    ["eval", example("museum-guide.evalset.json"), ...judge, "--format", "json", "--output", "museum.json"],
    { cwd },
  );
  assert.equal(scored.status, 1, scored.stderr);
  const [{ judgeVotes }] = JSON.parse(readFileSync(join(cwd, "museum.json"), "utf8")).eval_case_results;
  assert.deepEqual(judgeVotes.find(({ metricName }) => metricName === "final_response_match_v2").votes, [1, 1, 1]);
  const sheet = ["labels", "export", "museum.json", "--metric", "final_response_match_v2", "--random"];
  const exported = await run([...sheet, "--blind", "--output", "labels.csv"], { cwd });
  assert.deepEqual([exported.status, exported.stdout], [0, ""]);
  assert.match(exported.stderr, /^wrote labels\.csv: write pass or fail/);
  const file = join(cwd, "labels.csv");
  const empty = await run(["calibrate", "museum.json", "--labels", "labels.csv"], { cwd });
  assert.equal(empty.status, 2);
  assert.match(empty.stderr, /error: no labels are filled in\n   at labels\.csv\n   help: Write pass or fail/);
  writeFileSync(
    file,
    readFileSync(file, "utf8").replaceAll("final_response_match_v2,,,", "final_response_match_v2,,pass,"),
  );
  const { stdout, stderr, status } = await run(["calibrate", "museum.json", "--labels", "labels.csv"], { cwd });
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /^Calibration of written-by-hand: 6 of 6 labels used\n\nfinal_response_match_v2\n/);
  assert.match(stdout, /Two samples of the same question agree\s+\d+%\s+of the time/);
  assert.match(stdout, /people pass\. The judge's\s+reason:\s+The\s+reference\s+names\s+four languages/);

  // Beside the config it is shown in every report, until something changes.
  for (const name of ["museum-guide.evalset.json", "museum-guide.actual.json", "judge.jsonl", "test_config.json"]) {
    copyFileSync(example(name), join(cwd, name));
  }
  const beside = ["--format", "json", "--output", "judge.calibration.json"];
  assert.equal((await run(["calibrate", "museum.json", "--labels", "labels.csv", ...beside], { cwd })).status, 0);
  const evaluate = ["eval", "museum-guide.evalset.json", "--judge", "replay:judge.jsonl"];
  const shown = await run(evaluate, { cwd });
  assert.match(shown.stdout, /human labels agree with the judge: final_response_match_v2 in \d+% of 6/);
  assert.doesNotMatch(shown.stdout + shown.stderr, /no longer hold/);
  const config = join(cwd, "test_config.json");
  const text = readFileSync(config, "utf8");
  writeFileSync(config, text.replace(/("final_response_match_v2"[^}]*?"threshold": )0\.8/, "$10.9"));
  assert.notEqual(readFileSync(config, "utf8"), text);
  const later = await run(evaluate, { cwd });
  assert.match(
    later.stdout,
    /warning: the calibration of `final_response_match_v2` may no longer hold\. Changed since then:\s+the/,
  );
  writeFileSync(join(cwd, "judge.calibration.json"), "[]");
  assert.match(
    (await run(evaluate, { cwd })).stderr,
    /warning: expected a calibration, .*\n {3}at judge\.calibration\.json/,
  );
});

test("calibrate says what is wrong with labels, by line, and counts the rest", async (t) => {
  const bad = `${labels}\nnobody,1,${RUBRICS},polite,pass\nPP1,1,${RUBRICS},polite,9`;
  const cwd = folderOf(t, { ...FILES, "labels.csv": bad });
  const args = ["calibrate", "shop.json", "--labels", "labels.csv"];
  const { status, stdout, stderr } = await run(args, { cwd });
  assert.equal(status, 0);
  assert.match(stdout, /^Calibration of gpt-5: 12 of 14 labels used, 2 problems\n/);
  assert.match(stderr, /^warning: there is no case `nobody` in the results\n   at labels\.csv:14\n/);
  assert.match(
    stderr,
    /warning: the label `9` is not on the scale of a rubric \(1 or 0, pass or fail\)\n   at labels\.csv:15\n/,
  );
  assert.equal((await run([...args, "--strict"], { cwd })).status, 2);
});

test("calibrate writes JSON and Markdown, and overwrites nothing unasked", async (t) => {
  const cwd = folderOf(t, FILES);
  const args = ["calibrate", "shop.json", "--labels", "labels.csv"];
  const json = JSON.parse((await run([...args, "--format", "json"], { cwd })).stdout);
  assert.deepEqual(json.subjects[0].confusion, { bothPass: 6, onlyJudge: 2, onlyPeople: 1, bothFail: 3 });
  const markdown = await run([...args, "--format", "md", "--output", "report.md"], { cwd });
  assert.deepEqual([markdown.status, markdown.stderr], [0, "wrote report.md\n"]);
  assert.match(readFileSync(join(cwd, "report.md"), "utf8"), /^## Calibration of gpt-5&#58; 12 of 12 labels used\n/);
  const again = await run([...args, "--format", "md", "--output", "report.md"], { cwd });
  assert.equal(again.status, 2);
  assert.match(again.stderr, /the output already exists\n   at report\.md\n   help: To overwrite it, add --force/);
  const over = await run([...args, "--output", "labels.csv", "--force"], { cwd });
  assert.match(over.stderr, /the output would overwrite an input/);
});

test("the ending of the output decides calibrate's format, and labels are CSV", async (t) => {
  const cwd = folderOf(t, FILES);
  const args = ["calibrate", "shop.json", "--labels", "labels.csv", "--output"];
  for (const [output, beginning] of Object.entries({
    "agreement.json": /^\{\n/,
    "agreement.md": /^## Calibration of /,
    "agreement.html": /^<!doctype html>[^]*<h1>Calibration of /,
    "agreement.txt": /^[^#{]/,
  })) {
    const { status, stderr } = await run([...args, output], { cwd });
    assert.deepEqual([status, stderr], [0, `wrote ${output}\n`]);
    assert.match(readFileSync(join(cwd, output), "utf8"), beginning);
  }
  for (const [command, output, message] of [
    [
      args,
      "agreement.xml",
      /this is the extension of the format junit, which this command cannot write\n {3}at agreement\.xml/,
    ],
    [["labels", "export", "shop.json", "--seed"], "5", /--seed has no effect without --random/],
    [
      ["labels", "export", "shop.json", "--output"],
      "sheet.json",
      /labels are always written as CSV\n {3}at sheet\.json/,
    ],
  ]) {
    const { status, stderr } = await run([...command, output], { cwd });
    assert.equal(status, 2);
    assert.match(stderr, message);
    assert.equal(existsSync(join(cwd, output)), false);
  }
});

test("calibrate --compare says which judge is better, and what each takes", async (t) => {
  const other = Object.fromEntries(Object.keys(cases).map((id) => [id, { polite: [1] }]));
  const judges = [{ metricName: RUBRICS, scoredBy: "judge", model: "small" }];
  const judgeUsage = { calls: 12, inputTokens: 2400, outputTokens: 0, cost: 0.006 };
  const cwd = folderOf(t, { ...FILES, "small.json": resultsOf(other, { judges, judgeUsage }) });
  const args = ["calibrate", "--compare", "shop.json", "small.json", "--labels", "labels.csv"];
  const { status, stdout, stderr } = await run(args, { cwd });
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(
    stdout,
    /A: gpt-5: its results do not say how many calls and tokens it took\n {2}B: small: 1 call, 200 tokens, cost 0\.0005 per verdict\n/,
  );
  assert.match(stdout, /It is unclear which is better: the difference may be chance\./);
  const one = await run(["calibrate", "--compare", "shop.json", "--labels", "labels.csv"], { cwd });
  assert.equal(one.status, 2);
  assert.match(one.stderr, /--compare takes two files of results, not 1/);
});

for (const [what, args, message] of [
  ["no labels", ["calibrate", "shop.json"], /no labels specified\n   help: Specify a file with --labels:/],
  ["no results", ["calibrate", "--labels", "labels.csv"], /no results specified/],
  [
    "labels that are not there",
    ["calibrate", "shop.json", "--labels", "no.csv"],
    /the file of labels does not exist\n   at no\.csv/,
  ],
  [
    "results that are none",
    ["calibrate", "labels.csv", "--labels", "labels.csv"],
    /the results are not JSON:.*\n   at labels\.csv/,
  ],
  [
    "labels without a column",
    ["calibrate", "shop.json", "--labels", "wrong.csv"],
    /the labels have no column `label`\n   at wrong\.csv:1\n   help: Did you mean `label` instead of `lable`\?/,
  ],
  ["no command of labels", ["labels"], /labels needs a subcommand/],
  [
    "another command of labels",
    ["labels", "exprt", "shop.json"],
    /unknown command `labels exprt`\n   help: Did you mean `export`\?/,
  ],
  [
    "a metric without verdicts",
    ["labels", "export", "shop.json", "--metric", "safety_v1"],
    /there are no verdicts to label\n   at shop\.json\n   help: There are verdicts of rubric_based/,
  ],
  [
    "an unknown format",
    ["calibrate", "shop.json", "--labels", "labels.csv", "--format", "junit"],
    /--format cannot be `junit`/,
  ],
]) {
  test(`${what} is a mistake that says what to do`, async (t) => {
    const cwd = folderOf(t, { ...FILES, "wrong.csv": "case,metric,lable\nPP1,x,1\n" });
    const { status, stdout, stderr } = await run(args, { cwd });
    assert.deepEqual([status, stdout], [2, ""]);
    assert.match(stderr, message);
  });
}

test("results in the place of labels, or twice, are said to be that", async (t) => {
  const pretty = JSON.stringify(resultsOf(cases), null, 2);
  const cwd = folderOf(t, FILES);
  writeFileSync(join(cwd, "pretty.json"), pretty);
  const wrong = await run(["calibrate", "shop.json", "--labels", "pretty.json"], { cwd });
  assert.match(
    wrong.stderr,
    /^error: the file contains no labels\n {3}at pretty\.json:1\n {3}help: This looks like results\. Labels are rows of CSV/,
  );
  const same = await run(["calibrate", "--compare", "shop.json", "./shop.json", "--labels", "labels.csv"], { cwd });
  assert.match(
    same.stderr,
    /^warning: the results are compared with themselves: nothing can differ\n {3}at shop\.json/m,
  );
});

test("a label without a name is not counted as another person's", async (t) => {
  const [header, ...rows] = labels.trim().split(/\r?\n/);
  const names = ["ann", "bob", ""];
  const named = [`${header},annotator`, ...rows.map((row, at) => `${row},${names[at % 3]}`)];
  const cwd = folderOf(t, FILES);
  writeFileSync(join(cwd, "named.csv"), `${named.join("\n")}\n`);
  const { stdout, stderr } = await run(["calibrate", "shop.json", "--labels", "named.csv"], { cwd });
  assert.match(stdout, /by 2 people/, stderr);
});

test("results without a judged metric are labelled whole, and say so", async (t) => {
  const cwd = folderOf(t, { ...GOOD, "test_config.json": { criteria: { response_match_score: 0.5 } } });
  await run(["eval", "good.evalset.json", "--format", "json", "--output", "plain.json"], { cwd });
  const all = await run(["labels", "export", "plain.json"], { cwd });
  assert.match(all.stderr, /^the results name no metric that asks a judge, so verdicts of all metrics are included$/m);
  const chosen = await run(["labels", "export", "plain.json", "--metric", "response_match_score"], { cwd });
  assert.equal(chosen.stderr, "");
});
