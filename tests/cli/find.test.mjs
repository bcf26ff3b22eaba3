// Which evalsets arguments select: folders, patterns, ids beside an agent; and options by the names of `adk eval`.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { evalSet, folderOf, run } from "./command.mjs";

const NOON = { noon: "It is noon." };

/** A folder with evalsets and runs at the given paths. */
function tree(t, paths, more = {}) {
  const cwd = folderOf(t);
  const write = (path, content) => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  for (const path of paths) {
    write(path, evalSet(NOON, path));
    write(path.replace(/\.(?:evalset|test)\.json$/, ".actual.json"), evalSet(NOON, path));
  }
  for (const [path, content] of Object.entries(more)) write(path, content);
  return cwd;
}

/** The evalsets that were scored, by what they are called after their files. */
async function scored(cwd, args) {
  const { stdout, stderr, status } = await run(["eval", ...args, "--format", "csv"], { cwd });
  assert.equal(status, 0, stderr);
  return begins(stdout, 1);
}

/** What the rows of a CSV begin with, so many cells, each once. */
function begins(csv, cells) {
  const rows = csv.split("\n").slice(1).filter(Boolean);
  return [...new Set(rows.map((row) => row.split(",").slice(0, cells).join(" ")))];
}

const TREE = [
  "a.evalset.json",
  "evals/b.evalset.json",
  "evals/deep/c.test.json",
  "node_modules/x/d.evalset.json",
  ".hidden/e.evalset.json",
];

test("takes all evalsets of a folder, at any depth, but not those of packages", async (t) => {
  const cwd = tree(t, TREE, { "evals/test_config.json": { criteria: { response_match_score: 0.5 } } });
  assert.deepEqual(await scored(cwd, ["."]), ["a.evalset.json", "evals/b.evalset.json", "evals/deep/c.test.json"]);
  assert.deepEqual(await scored(cwd, ["evals"]), ["evals/b.evalset.json", "evals/deep/c.test.json"]);
  assert.deepEqual(await scored(cwd, ["node_modules/x"]), ["node_modules/x/d.evalset.json"]);
});

test("takes no evalset from the folder of the runs", async (t) => {
  const cwd = tree(t, ["a.evalset.json"], { "runs/a.evalset.json": evalSet(NOON, "run") });
  assert.deepEqual(await scored(cwd, [".", "--actual", "runs"]), ["a.evalset.json"]);
});

test("does not take its own outputs for what an agent did, and says which results it scores again", async (t) => {
  const cwd = tree(t, ["a.evalset.json"]);
  const formats = ["table", "json", "jsonl", "html", "md", "junit", "csv"].flatMap((format) => ["--format", format]);
  for (const output of ["a", "report"]) {
    const { status, stderr } = await run(["eval", "a.evalset.json", ...formats, "--output", output], { cwd });
    assert.equal(status, 0, stderr);
    const again = await run(["eval", "."], { cwd });
    assert.equal(again.status, 0, again.stderr);
    assert.match(again.stderr, /^what the agent did: a\.actual\.json$/m);
    assert.match(
      again.stderr,
      /^a\.evalset_result\.json: ignored, because there is another file of what the agent did$/m,
    );
    assert.deepEqual(await scored(cwd, ["."]), ["a.evalset.json"]);
  }
  rmSync(join(cwd, "a.actual.json"));
  const { status, stderr } = await run(["eval", "."], { cwd });
  assert.equal(status, 0, stderr);
  assert.match(
    stderr,
    /^what the agent did: a\.evalset_result\.json \(results: the agent's runs in them are scored again\)$/m,
  );
});

for (const [pattern, expected] of [
  ["evals/*.evalset.json", ["evals/b.evalset.json"]],
  ["**/*.evalset.json", ["a.evalset.json", "evals/b.evalset.json"]],
  ["./evals/**/*.{test,evalset}.json", ["evals/b.evalset.json", "evals/deep/c.test.json"]],
  ["[ab].evalset.jso?", ["a.evalset.json"]],
  ["evals/*.evalset.json:noon", ["evals/b.evalset.json"]],
]) {
  test(`expands ${pattern}, which no shell did`, async (t) => {
    assert.deepEqual(await scored(tree(t, TREE), [pattern]), expected);
  });
}

test("finds an evalset by its id in the folder of its agent, as adk eval does", async (t) => {
  const cwd = tree(t, ["agent/evalset604380.evalset.json"], {
    "agent/agent.mjs": 'export default () => "It is noon.";',
  });
  const found = ["agent/evalset604380.evalset.json"];
  assert.deepEqual(await scored(cwd, ["agent/evalset604380"]), found);
  assert.deepEqual(await scored(cwd, ["agent", "evalset604380"]), found);
  assert.deepEqual(await scored(cwd, ["agent", "evalset604380:noon"]), found);
  assert.deepEqual(await scored(cwd, ["agent", "agent/evalset604380.evalset.json"]), found);
  const ran = await run(["run", "agent", "evalset604380"], { cwd });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /^running agent\.mjs: agent.evalset604380\.evalset\.json, 1 case/m);
  const missing = await run(["eval", "agent", "evalset9"], { cwd });
  assert.match(missing.stderr, /the evalset does not exist\n {3}at agent.evalset9\.evalset\.json/);
});

test("finds an evalset by its id in the folder of an agent in Python, and in any other folder", async (t) => {
  const python = { "py/agent.py": "root_agent = None", "py/__init__.py": "from . import agent" };
  const paths = ["py/one.evalset.json", "py/two.evalset.json", "evals/one.evalset.json", "other.evalset.json"];
  const cwd = tree(t, paths, python);
  assert.deepEqual(await scored(cwd, ["py", "one"]), ["py/one.evalset.json"]);
  assert.deepEqual(await scored(cwd, ["py", "one:noon", "two"]), ["py/one.evalset.json", "py/two.evalset.json"]);
  assert.deepEqual(await scored(cwd, ["py", "py/two.evalset.json"]), ["py/two.evalset.json"]);
  assert.deepEqual(await scored(cwd, ["evals", "one"]), ["evals/one.evalset.json"]);
  // What stands for itself is scored beside the folder, and so are folders.
  assert.deepEqual(await scored(cwd, ["evals", "other"]), ["evals/one.evalset.json", "other.evalset.json"]);
  assert.equal((await scored(cwd, ["py", "evals"])).length, 3);
  const missing = await run(["eval", "py", "three"], { cwd });
  assert.match(missing.stderr, /^error: the evalset does not exist\n {3}at py.three\.evalset\.json\n/);
  const ran = await run(["run", "py", "one"], { cwd });
  assert.deepEqual([ran.status, ran.stdout], [2, ""]);
  assert.match(ran.stderr, /adk-metrics eval py one --actual <file>/);
});

test("runs the agent of the one folder that is named, and none that lies beside a file", async (t) => {
  const cwd = tree(t, ["agent/evalset604380.evalset.json", "b/evalset1.evalset.json"], {
    "agent/agent.mjs": 'export default (message) => "It is noon.";',
    "b/index.js": "process.exit(7);",
  });
  for (const named of ["agent", "agent/", "agent/evalset604380", "agent/evalset604380:noon"]) {
    const { status, stderr } = await run(["run", named, "--num-runs", "1"], { cwd });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^running agent\.mjs: agent.evalset604380\.evalset\.json, 1 case/m);
  }
  for (const named of [
    ["agent/evalset604380.evalset.json"],
    ["agent/*.json"],
    ["b"],
    ["agent/evalset604380", "b/evalset1"],
  ]) {
    const { status, stderr } = await run(["run", ...named], { cwd });
    assert.equal(status, 2);
    assert.match(stderr, /^error: no agent specified$/m);
  }
});

test("names the agent's folder where there is nothing to score yet", async (t) => {
  const cwd = tree(t, [], { "agent/e.evalset.json": evalSet(NOON), "agent/agent.mjs": "" });
  for (const named of [["agent", "e"], ["agent/e"], ["agent"], ["agent/e.evalset.json"]]) {
    const { stderr, status } = await run(["eval", ...named], { cwd });
    assert.match(stderr, /help: To run the agent .*: adk-metrics run --agent agent agent.e\.evalset\.json\. Or/);
    assert.equal(status, 2);
  }
  const inside = await run(["eval", "e.evalset.json"], { cwd: join(cwd, "agent") });
  assert.match(inside.stderr, /adk-metrics run --agent \.\/agent\.mjs e\.evalset\.json\. Or/);
});

test("says of an agent in Python what to do instead of running it", async (t) => {
  const files = { "py/clock.evalset.json": evalSet(NOON), "py/agent.py": "", "py/__init__.py": "", "js/agent.mjs": "" };
  const cwd = tree(t, [], { ...files, "js/e.evalset.json": evalSet(NOON) });
  for (const module of ["py/__init__.py", "py/agent.py"]) {
    for (const command of ["eval", "run"]) {
      const { stderr, status } = await run([command, module, "clock:noon"], { cwd });
      assert.match(
        stderr,
        /^error: this agent is written in Python, which cannot be run here\n {3}at py\/\w+\.py\n {3}help: Run it with google-adk/,
      );
      assert.match(stderr, /: adk-metrics eval py.clock\.evalset\.json:noon --actual <file>\n$/);
      assert.equal(status, 2);
    }
  }
  for (const agent of ["py", "py/agent.py"]) {
    const { stderr } = await run(["run", "--agent", agent, "py/clock"], { cwd });
    assert.match(stderr, /^error: this agent is written in Python, which cannot be run here\n/, agent);
  }
  const { stderr } = await run(["eval", "py"], { cwd });
  assert.match(
    stderr,
    /help: This program cannot run agents written in Python: run it with google-adk, .* --actual <file>\. Looked/,
  );
  assert.doesNotMatch(stderr, /--agent/);
  const module = await run(["eval", "js/agent.mjs", "e"], { cwd });
  assert.match(
    module.stderr,
    /this is a module, not an evalset\n.*\n.*adk-metrics run --agent js\/agent\.mjs js.e\.evalset\.json/,
  );
});

test("takes options by their names at adk eval", async (t) => {
  const cwd = tree(t, ["a.evalset.json"], { "c.json": { criteria: { response_match_score: 0.5 } } });
  const args = ["eval", "a.evalset.json", "--config_file_path", "c.json", "--print_detailed_results"];
  const { stdout, stderr, status } = await run([...args, "--log_level", "INFO"], { cwd });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^criteria: c\.json: response_match_score 0\.5$/m);
  assert.match(stdout, /What is the time\?/);
  assert.equal(
    (await run([...args.slice(0, 2), "--config-file-path=c.json", "--log-level=ERROR"], { cwd })).stderr,
    "",
  );
});

test("says which criteria and which settings of the simulated user apply", async (t) => {
  const criteria = {
    response_match_score: { threshold: 0.5 },
    tool_trajectory_avg_score: { threshold: 1, match_type: "IN_ORDER" },
  };
  const config = { criteria, user_simulator_config: { model: "gemini-2.5-pro", max_allowed_invocations: 5 } };
  const { stderr } = await run(["eval", "a.evalset.json"], {
    cwd: tree(t, ["a.evalset.json"], { "test_config.json": config }),
  });
  assert.match(
    stderr,
    /^criteria: test_config\.json: response_match_score 0\.5, tool_trajectory_avg_score 1 \{"match_type":"IN_ORDER"\}; user simulator: \{"model":"gemini-2\.5-pro","max_allowed_invocations":5\}$/m,
  );
});

test("says which criteria apply where they stand at the top of a config", async (t) => {
  const { stderr, stdout } = await run(["eval", "a.evalset.json"], {
    cwd: tree(t, ["a.evalset.json"], { "test_config.json": { response_match_score: 0.5, foo: 2 } }),
  });
  assert.match(stdout, /`foo` is not a key of an eval config and is left out/);
  assert.match(stderr, /^criteria: test_config\.json: response_match_score 0\.5$/m);
});

test("says that an ending names no format", async (t) => {
  const cwd = tree(t, ["a.evalset.json"], {});
  const { stderr } = await run(["eval", "a.evalset.json", "--output", "report.pdf"], { cwd });
  assert.match(stderr, /report\.pdf: written as a table, because its extension is none of/);
  const known = await run(["eval", "a.evalset.json", "--output", "report.htm"], { cwd });
  assert.doesNotMatch(known.stderr, /written as a table/);
  assert.match(readFileSync(join(cwd, "report.htm"), "utf8"), /^<!doctype html>/);
});

for (const [ending, beginning] of Object.entries({
  html: /^<!doctype html>/,
  xml: /^<\?xml/,
  md: /^## /,
  csv: /^evalSetId,/,
  json: /^\{\s+"eval_set_result_id"/,
  txt: /^a\.evalset\.json {2}1 case/,
})) {
  test(`writes the format of the ending .${ending}, over an older report of its own, and over nothing else`, async (t) => {
    const cwd = tree(t, ["a.evalset.json"], { [`notes.${ending}`]: "my own words" });
    const to = (name, ...more) => run(["eval", "a.evalset.json", "--output", `${name}.${ending}`, ...more], { cwd });
    for (let time = 0; time < 2; time++) assert.equal((await to("report")).status, 0);
    assert.match(readFileSync(join(cwd, `report.${ending}`), "utf8"), beginning);
    const { status, stderr } = await to("notes");
    assert.match(stderr, /the output already exists, and is not a report[^]*at notes\.[^]*help: .*--force/);
    assert.equal(status, 2);
    assert.equal(readFileSync(join(cwd, `notes.${ending}`), "utf8"), "my own words");
    assert.equal((await to("notes", "--force")).status, 0);
    assert.match(readFileSync(join(cwd, `notes.${ending}`), "utf8"), beginning);
  });
}

test("prints the version for -v", async () => {
  assert.match((await run(["-v"])).stdout, /^adk-metrics \d/);
});

for (const [what, args, expected] of [
  ["a folder and a file in it", ["evals", "evals/b.evalset.json"], 2],
  ["a file and the folder that it is in", ["evals/b.evalset.json", "evals"], 2],
  ["patterns that overlap", ["evals/*.evalset.json", "**/b.evalset.json", "evals/deep"], 2],
  ["one file twice", ["evals/b.evalset.json", "./evals/b.evalset.json"], 1],
  ["a file and a link to it", ["evals/b.evalset.json", "link.evalset.json"], 1],
]) {
  test(`reads an evalset once that ${what} stand for`, { skip: process.platform === "win32" }, async (t) => {
    const cwd = tree(t, ["evals/b.evalset.json", "evals/deep/c.test.json"]);
    symlinkSync(join(cwd, "evals/b.evalset.json"), join(cwd, "link.evalset.json"));
    const { stdout, stderr, status } = await run(["eval", ...args], { cwd });
    assert.equal(status, 0, stderr);
    assert.equal(stdout.match(/^\S+\.json {2}1 case: /gm)?.length, expected, stdout);
  });
}

test("joins the cases that are selected of an evalset in several arguments", async (t) => {
  const set = evalSet({ dawn: "Six.", noon: "Twelve.", dusk: "Nine." }, "day");
  const cwd = tree(t, [], {
    "day.evalset.json": set,
    "day.actual.json": set,
    "other.evalset.json": evalSet(NOON, "o"),
    "other.actual.json": evalSet(NOON, "o"),
  });
  const scoredCases = async (...args) => {
    const { stdout, stderr } = await run(["eval", ...args, "--format", "csv"], { cwd });
    assert.match(stderr, /^what the agent did: .*\.actual\.json\ncriteria/, stderr);
    return begins(stdout, 2);
  };
  assert.deepEqual(await scoredCases("day.evalset.json:dusk", "other.evalset.json", "day.evalset.json:dawn,dusk"), [
    "day dawn",
    "day dusk",
    "o noon",
  ]);
  assert.deepEqual(await scoredCases("day.evalset.json:dusk", "day.evalset.json"), [
    "day dawn",
    "day noon",
    "day dusk",
  ]);
});

for (const [command, ...more] of [
  ["eval"],
  ["run", "--agent", "agent.mjs"],
  ["record", "--agent", "agent.mjs", "--output", "runs/"],
]) {
  test(`${command} refuses two evalsets of one id, and names both`, async (t) => {
    const cwd = tree(t, ["a.evalset.json"], {
      "agent.mjs": "throw new Error('the agent is loaded');",
      "copies/b.evalset.json": evalSet(NOON, "a.evalset.json"),
      "copies/b.actual.json": evalSet(NOON, "a.evalset.json"),
    });
    const { stderr, status } = await run([command, ".", ...more], { cwd });
    assert.equal(status, 2, stderr);
    assert.match(
      stderr,
      /^error: two evalsets have the id `a\.evalset\.json`\n {3}at a\.evalset\.json, copies.b\.evalset\.json\n {3}help: .*`eval_set_id`/,
    );
    assert.doesNotMatch(stderr, /the agent is loaded/);
  });
}

test("takes evalsets in the old form of one name, which have no ids", async (t) => {
  const old = [{ query: "What is the time?", reference: "It is noon.", expected_tool_use: [] }];
  const cwd = tree(t, [], {
    "a/home.test.json": old,
    "b/home.test.json": old,
    "agent.mjs": 'export default () => "It is noon.";',
  });
  const { stderr, status } = await run(["run", ".", "--agent", "agent.mjs", "--num-runs", "1"], { cwd });
  assert.equal(status, 0, stderr);
});

test("says that a file named twice counts once where runs are counted", async (t) => {
  const cwd = tree(t, ["a.evalset.json"]);
  const args = ["a.evalset.json", "a.evalset.json", "--actual", "a.actual.json", "--actual", "a.actual.json"];
  const { stderr, status } = await run(["eval", ...args], { cwd });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /there is 1 evalset but 2 --actual\n {3}help: .*Specify one --actual for each evalset, in the same order \(an evalset that is repeated counts once\), or one folder that contains them all/,
  );
});
