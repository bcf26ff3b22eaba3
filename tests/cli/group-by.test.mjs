// `--group-by`: intervals that respect cases which depend on each other.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { folderOf, run } from "./command.mjs";

const { readResults, reliabilityOf } = await importEntry();

const said = (text) => [{ user_content: { parts: [{ text: "When?" }] }, final_response: { parts: [{ text }] } }];
/** Cases with their topics, each run twice: `p` is a run that passes, `f` one that fails. */
const CASES = [
  ["rome", { topic: "trains" }, "pp"],
  ["oslo", { topic: ["trains"] }, "pp"],
  ["bern", { session_input: { app_name: "a", user_id: "u", state: { topic: "trains" } } }, "pp"],
  ["kyiv", { topic: "ferries" }, "ff"],
  ["riga", { topic: "ferries" }, "fp"],
  ["bonn", { topic: ["ferries", "trains"] }, "pf"],
];
const evalSet = (id) => ({
  eval_set_id: id,
  eval_cases: CASES.map(([evalId, more]) => ({ eval_id: evalId, ...more, conversation: said("At nine.") })),
});
const actual = (id, runs = 2) => ({
  eval_set_id: id,
  eval_cases: CASES.flatMap(([evalId, , ends]) =>
    [...ends.slice(0, runs)].map((end) => ({
      eval_id: evalId,
      conversation: said(end === "p" ? "At nine." : "No idea."),
    })),
  ),
});
const files = {
  "one.evalset.json": evalSet("one"),
  "two.evalset.json": evalSet("two"),
  "one.actual.json": actual("one"),
  "two.actual.json": actual("two"),
  "once.actual.json": actual("one", 1),
  "test_config.json": { criteria: { response_match_score: 0.8 } },
};
const ONE = ["eval", "one.evalset.json", "--actual", "one.actual.json"];
const BOTH = [
  "eval",
  "one.evalset.json",
  "two.evalset.json",
  "--actual",
  "one.actual.json",
  "--actual",
  "two.actual.json",
];
const BY_TOPIC = ["--group-by", "tag:topic"];

describe("--group-by", () => {
  test("has intervals respect the cases of a tag, in every report and in what others read of them", async (t) => {
    const cwd = folderOf(t, files);
    const names = ["r.json", "r.xml", "r.csv", "r.md", "r.html", "r.txt", "r.jsonl"];
    const outputs = names.flatMap((name) => ["--output", name]);
    const { status, stderr } = await run([...ONE, ...BY_TOPIC, ...outputs], { cwd });
    assert.equal(status, 1, stderr);
    const read = (name) => readFileSync(join(cwd, name), "utf8");
    const stored = JSON.parse(read("r.json"));
    const groups = ["trains", "trains", "trains", "ferries", "ferries", '["ferries","trains"]'];
    assert.deepEqual(
      stored.eval_case_results.map(({ group }) => group),
      groups.flatMap((group) => [group, group]),
    );

    // As where code names the groups.
    const plain = await run([...ONE, "--format", "json", "--output", "-"], { cwd });
    const groupOf = ({ evalId }) => groups[CASES.findIndex(([id]) => id === evalId)];
    const [results] = [readResults(plain.stdout)].flat();
    const { passRate, metrics, groups: count } = reliabilityOf(results, { groupOf });
    assert.equal(count, 3);
    assert.notDeepEqual(passRate, reliabilityOf(results).passRate);
    assert.deepEqual(stored.reliability.passRate, passRate);
    assert.deepEqual(stored.reliability.metrics[0].score, metrics[0].score);
    for (const name of ["r.json", "r.jsonl"]) {
      assert.deepEqual(reliabilityOf([readResults(read(name))].flat()).passRate, passRate, name);
    }

    const property = (name) => Number(new RegExp(`<property name="${name}" value="([^"]+)"`).exec(read("r.xml"))[1]);
    const near = (value) => Number(value.toFixed(6));
    assert.deepEqual(
      ["caseGroups", "passRateLow", "passRateHigh", "meanScore.response_match_score.low"].map(property),
      [3, near(passRate.low), near(passRate.high), near(metrics[0].score.low)],
    );
    const [, cell] = /"(\{""passRate"".*?\})"/.exec(read("r.csv"));
    const { caseGroups, passRateLow } = JSON.parse(cell.replaceAll('""', '"'));
    assert.deepEqual([caseGroups, passRateLow], [3, near(passRate.low)]);
    const interval = `${Math.round(100 * passRate.low)} to ${Math.round(100 * passRate.high)}%`;
    for (const name of ["r.md", "r.html", "r.txt"]) {
      const text = read(name).replace(/\s+/g, " ").replaceAll("&#37;", "%");
      assert.ok(text.includes(`interval ${interval}`), name);
      assert.match(text, /intervals respect the 3 groups of cases/, name);
    }
  });

  test("takes an evalset for a group, where there are several", async (t) => {
    const cwd = folderOf(t, files);
    const { stdout } = await run([...BOTH, "--group-by", "evalset"], { cwd });
    assert.match(stdout, /intervals respect the 2 groups of cases/);
    const alone = await run([...ONE, "--group-by", "evalset"], { cwd });
    assert.match(alone.stderr, /^--group-by evalset has no effect on a single evalset$/m);
    const plain = await run(ONE, { cwd });
    const summary = ({ stdout }) => /^pass rate.*/m.exec(stdout)[0];
    assert.equal(summary(alone), summary(plain));
  });

  test("shows intervals of cases that were run once", async (t) => {
    const cwd = folderOf(t, files);
    const once = ["eval", "one.evalset.json", "--actual", "once.actual.json"];
    const { stdout } = await run([...once, ...BY_TOPIC], { cwd });
    assert.match(stdout, /^pass rate 67% \(95% interval .*\); intervals respect the 3 groups of cases$/m);
    assert.match(stdout, /Mean score, 95% interval/);
    assert.doesNotMatch(stdout, /flaky|pass\^/);
    assert.doesNotMatch((await run(once, { cwd })).stdout, /pass rate/);
  });

  test("says what groups nothing", async (t) => {
    const cwd = folderOf(t, files);
    for (const [by, message] of [
      ["topic", /^error: --group-by cannot be `topic`\n {3}help: Expected evalset, or tag:<key>/],
      ["tag:", /^error: --group-by cannot be `tag:`/],
      [
        "tag:colour",
        /^error: --group-by tag:colour: no case has the key `colour`\n {3}at one\.evalset\.json\n {3}help: Add it/,
      ],
    ]) {
      const { status, stderr } = await run([...ONE, "--group-by", by], { cwd });
      assert.equal(status, 2);
      assert.match(stderr, message);
    }
    const [first, ...others] = evalSet("one").eval_cases;
    const { topic: _, ...bare } = first;
    const cases = { "one.evalset.json": { eval_set_id: "one", eval_cases: [bare, ...others] } };
    const some = await run([...ONE, ...BY_TOPIC], { cwd: folderOf(t, { ...files, ...cases }) });
    assert.match(some.stderr, /^--group-by tag:topic: 1 of 6 cases lacks it and is not grouped$/m);
    const same = {
      "one.evalset.json": { eval_set_id: "one", eval_cases: others.map((one) => ({ ...one, topic: 1 })) },
    };
    const all = await run([...ONE, ...BY_TOPIC], { cwd: folderOf(t, { ...files, ...same }) });
    assert.match(all.stderr, /^--group-by tag:topic has no effect: all cases are in one group$/m);
  });
});

test("--precision says in reports how many cases and runs it takes, also of cases that ran once", async (t) => {
  const cwd = folderOf(t, files);
  const once = ["eval", "one.evalset.json", "--actual", "once.actual.json", "--output", "r.html", "--output", "-"];
  const wanted = await run([...once, "--format", "html", "--format", "table", "--precision", "0.1"], { cwd });
  assert.match(wanted.stdout, /\nestimating the pass rate to within 10 points takes about \d+ cases run once\n/);
  assert.match(readFileSync(join(cwd, "r.html"), "utf8"), /Estimating the pass rate to within 10 points takes/);
  const silent = await run([...ONE.slice(0, 3), "once.actual.json"], { cwd });
  assert.doesNotMatch(silent.stdout, /estimating/);
  const repeated = await run(ONE, { cwd });
  assert.match(repeated.stdout, /\nestimating the pass rate to within 5 points takes about \d+ cases run 2 times/);
  const json = await run([...ONE, "--precision", "0.2", "--format", "json"], { cwd });
  assert.equal(JSON.parse(json.stdout).reliability.precision, 0.2);
  for (const [text, help] of [
    ["0", "Expected a number above 0 and up to 0.5"],
    ["5%", "Expected a number from 0 to 1; 5% is 0.05"],
    ["0.7", "Expected a number above 0 and up to 0.5"],
  ]) {
    const { status, stderr } = await run([...ONE, "--precision", text], { cwd });
    assert.equal(status, 2);
    assert.equal(stderr, `error: --precision cannot be \`${text}\`\n   help: ${help}\n`);
  }
});
