// Evalset files, the config beside them, and files in old forms.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { AdkMetricsError, AgentEvaluator, evaluate, readEvalSet } from "../../pkg/dist/esm/node.js";
import { countingTurns, errorOf, evalSetOf, scoreOf, turn } from "./evalsets.mjs";

/** A folder with these files, which is gone after the test. */
function folderWith(context, files) {
  const folder = mkdtempSync(join(tmpdir(), "agents-"));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

const ENDLESS = "/proc/self/pagemap";
const echo = (message) => message;
const HI = evalSetOf({ hi: [turn("hi", "hi")] });
const MATCH = { criteria: { response_match_score: 1 } };

test("a file is evaluated twice by the config beside it", async (context) => {
  const folder = folderWith(context, { "hi.test.json": HI, "test_config.json": MATCH });
  const results = await AgentEvaluator.evaluate(echo, join(folder, "hi.test.json"));
  assert.equal(results.length, 1);
  assert.equal(results[0].evalCaseResults.length, 2);
  assert.equal(scoreOf(results[0].evalCaseResults[0], "response_match_score"), 1);
  assert.equal(scoreOf(results[0].evalCaseResults[0], "tool_trajectory_avg_score"), undefined);
});

test("a file: URL is as good as a path", async (context) => {
  const folder = folderWith(context, { "a b.test.json": HI });
  const url = pathToFileURL(join(folder, "a b.test.json"));
  const [{ evalCaseResults }] = await AgentEvaluator.evaluate(echo, url, 1);
  assert.equal(evalCaseResults.length, 1);
  const error = await errorOf(() => AgentEvaluator.evaluate(echo, new URL("https://example.com/a.test.json")));
  assert.equal(error.message, 'expected a path or a `file:` URL, found "https://example.com/a.test.json"');
});

test("a file can ask for 100 turns of a simulated user, code for any number", async (context) => {
  const scenario = { evalId: "hi", conversationScenario: { startingPrompt: "hi", conversationPlan: "Say it." } };
  const userSimulator = { judge: async () => "And again?" };
  const turnsAndWarnings = async (asked, { strict = false, ...more } = {}) => {
    const folder = folderWith(context, {
      "hi.test.json": { evalSetId: "hi", evalCases: [scenario] },
      "test_config.json": {
        criteria: { turns: 0 },
        user_simulator_config: { max_allowed_invocations: asked },
      },
    });
    const options = { userSimulator: { ...userSimulator, ...more }, registry: countingTurns(), strict };
    const results = await AgentEvaluator.evaluate(echo, folder, 1, undefined, options);
    const [{ evalCaseResults, warnings = [] }] = results;
    return [evalCaseResults[0].evalMetricResultPerInvocation.length, warnings.map(({ message }) => message)];
  };
  // This user never ends a conversation.
  for (const asked of [-1, 101, 1e9, 100]) {
    const [turns, [cutOff, ...others]] = await turnsAndWarnings(asked);
    assert.equal(turns, 100);
    assert.match(cutOff, /limit of 100 turns .* were cut off$/);
    assert.deepEqual([others.length, /end after 100 turns/.test(others[0])], asked === 100 ? [0, false] : [1, true]);
  }
  const [turns, warnings] = await turnsAndWarnings(-1, { maxAllowedInvocations: 120 });
  assert.deepEqual([turns, warnings.length, /limit of 120 turns/.test(warnings[0])], [120, 1, true]);
  await assert.rejects(turnsAndWarnings(101, { strict: true }), /asks for 101 turns/);
});

test("criteria that are given stand in for those beside a file, and nothing else of the config", async (context) => {
  const others = { user_simulator_config: { max_allowed_invocations: 1 } };
  const scenario = { evalId: "hi", conversationScenario: { startingPrompt: "hi", conversationPlan: "Say it." } };
  const folder = folderWith(context, {
    "hi.test.json": { evalSetId: "hi", evalCases: [scenario] },
    "test_config.json": { criteria: { response_match_score: 1 }, ...others },
  });
  const asked = [];
  const userSimulator = { judge: async (request) => (asked.push(request), "And again?") };
  const options = { criteria: { turns: 2 }, userSimulator, registry: countingTurns() };
  const { failures, results } = await errorOf(() => AgentEvaluator.evaluate(echo, folder, 1, undefined, options));
  assert.deepEqual(
    failures.map(({ evalSetId, metricName }) => [evalSetId, metricName]),
    [["hi", "turns"]],
  );
  assert.equal(results[0].evalCaseResults[0].evalMetricResultPerInvocation.length, 1);
  assert.deepEqual(asked, []);

  for (const wrong of ["response_match_score", null, 3]) {
    const error = await errorOf(() => AgentEvaluator.evaluate(echo, folder, 1, undefined, { criteria: wrong }));
    assert.match(error.message, /^expected an object of criteria, found /);
  }
});

test("a missing judge is told with the file that asks for one", async (context) => {
  const scenario = { evalId: "hi", conversationScenario: { startingPrompt: "hi", conversationPlan: "Say it." } };
  const folder = folderWith(context, {
    "a/a.test.json": { ...HI, evalSetId: "a" },
    "b/b.test.json": { ...HI, evalSetId: "b" },
    "b/test_config.json": { criteria: { safety_v1: 1 } },
  });
  const judged = await errorOf(() => AgentEvaluator.evaluate(echo, folder));
  assert.equal(judged.code, "judge_required");
  assert.equal(judged.path, `${join(folder, "b/test_config.json")}: criteria.safety_v1`);
  writeFileSync(join(folder, "b/b.test.json"), JSON.stringify({ evalSetId: "b", evalCases: [scenario] }));
  writeFileSync(join(folder, "b/test_config.json"), JSON.stringify({ criteria: { turns: 1, ...MATCH.criteria } }));
  const options = { registry: countingTurns() };
  const simulated = await errorOf(() => AgentEvaluator.evaluate(echo, folder, 1, undefined, options));
  assert.deepEqual([simulated.code, simulated.path], ["judge_required", join(folder, "b/b.test.json")]);
});

test("all *.test.json under a folder are evaluated, each by the config in its own folder", async (context) => {
  const folder = folderWith(context, {
    "a.test.json": { ...HI, evalSetId: "a" },
    "deep/er/b.test.json": { ...HI, evalSetId: "b" },
    "deep/er/test_config.json": MATCH,
    "not.evalset.json": HI,
    "deep/notes.json": {},
  });
  const results = await AgentEvaluator.evaluate(echo, folder, 1);
  assert.deepEqual(
    results.map(({ evalSetId }) => evalSetId),
    ["a", "b"],
  );
  const names = results.map(({ evalCaseResults: [result] }) =>
    result.overallEvalMetricResults
      .filter(({ threshold }) => threshold !== undefined)
      .map(({ metricName }) => metricName),
  );
  assert.deepEqual(names, [["tool_trajectory_avg_score", "response_match_score"], ["response_match_score"]]);
});

test("all files are run even if the agent fails in one, and one error tells of all", async (context) => {
  const folder = folderWith(context, {
    "a.test.json": evalSetOf({ a: [turn("a", "x")] }),
    "b.test.json": evalSetOf({ b: [turn("b", "b")] }),
    "c.test.json": evalSetOf({ c: [turn("c", "x")] }),
    "test_config.json": MATCH,
  });
  const error = await errorOf(() => AgentEvaluator.evaluate(echo, folder, 1));
  assert.deepEqual(
    error.failures.map(({ evalId, score }) => [evalId, score]),
    [
      ["a", 0],
      ["c", 0],
    ],
  );
  assert.equal(error.results.length, 3);
});

test("the criteria beside a file are found; without a config they are ADK's", async (context) => {
  const folder = folderWith(context, {
    "set/x.test.json": HI,
    "set/test_config.json": { criteria: { response_match_score: { threshold: 0.5 } } },
    "none/x.test.json": HI,
  });
  const found = (name) => AgentEvaluator.findConfigForTestFile(join(folder, name, "x.test.json"));
  assert.deepEqual(await found("set"), { response_match_score: { threshold: 0.5 } });
  assert.deepEqual(await found("none"), { tool_trajectory_avg_score: 1, response_match_score: 0.8 });
  const url = pathToFileURL(join(folder, "set/x.test.json"));
  assert.deepEqual(await AgentEvaluator.findConfigForTestFile(url), await found("set"));
  for (const odd of [undefined, null, 7, new URL("https://example.com/x.test.json")]) {
    const error = await errorOf(() => AgentEvaluator.findConfigForTestFile(odd));
    assert.ok(error instanceof AdkMetricsError, error.stack);
    assert.equal(error.path, "testFile");
  }
});

test("a config that cannot be used is refused with the path, the line and what to do, as by `evaluate`", async (context) => {
  const configs = {
    comma: '{\n"criteria": {"response_match_score": 1,}\n}',
    cut: "{",
    odd: { metrics: {} },
    none: { criteria: {} },
    list: [],
    misspelt: { criterias: { response_match_score: 1 } },
  };
  const files = Object.entries(configs).flatMap(([name, config]) => [
    [`${name}/test_config.json`, config],
    [`${name}/x.test.json`, HI],
  ]);
  const folder = folderWith(context, Object.fromEntries(files));
  for (const [name, config] of Object.entries(configs)) {
    const testFile = join(folder, name, "x.test.json");
    const text = typeof config === "string" ? config : JSON.stringify(config);
    const expected = await errorOf(() => evaluate({ evalSet: HI, actual: HI, config: text }));
    assert.ok(expected.line > 0, expected.message);
    for (const work of [AgentEvaluator.findConfigForTestFile, (file) => AgentEvaluator.evaluate(echo, file)]) {
      const error = await errorOf(() => work(testFile));
      const path = expected.path.replace(/^config/, join(folder, name, "test_config.json"));
      assert.deepEqual(
        [error.code, error.message, error.path, error.line, error.help],
        [expected.code, expected.message, path, expected.line, expected.help],
      );
    }
  }
});

test("a session file that is no JSON is refused with its line", async (context) => {
  const folder = folderWith(context, { "old.test.json": OLD, "session.json": '{\n"state": {},\n}' });
  const session = join(folder, "session.json");
  const error = await errorOf(() => AgentEvaluator.evaluate(echo, join(folder, "old.test.json"), 1, session));
  assert.deepEqual([error.code, error.path, error.line], ["invalid_json", session, 3]);
});

const OLD = [
  { query: "hi", reference: "hi", expected_tool_use: [] },
  { query: "you", reference: "you", expected_tool_use: [] },
];

test("a file in the old form is one conversation, which begins with the session that is given", async (context) => {
  const folder = folderWith(context, {
    "old.test.json": OLD,
    "session.json": { count: 7 },
    "whole.json": { state: { count: 8 }, app_name: "app", user_id: "ada" },
  });
  const seen = [];
  const agent = (message, { state, userId }) => {
    seen.push([state.count, userId]);
    return message;
  };
  const file = join(folder, "old.test.json");
  const [result] = await AgentEvaluator.evaluate(agent, file, 1);
  assert.equal(result.evalSetId, "old");
  assert.equal(result.evalCaseResults[0].evalMetricResultPerInvocation.length, 2);
  await AgentEvaluator.evaluate(agent, file, 1, join(folder, "session.json"));
  await AgentEvaluator.evaluate(agent, file, 1, join(folder, "whole.json"));
  assert.deepEqual(
    seen.map(([count]) => count),
    [undefined, undefined, 7, 7, 8, 8],
  );
  assert.equal(seen[5][1], "ada");
});

test("a single row of the old form is taken for a list of one, as ADK-TS does; `evaluate` says what to do", async (context) => {
  const folder = folderWith(context, { "one.test.json": OLD[0] });
  const file = join(folder, "one.test.json");
  const [result] = await AgentEvaluator.evaluate(echo, file, 1);
  assert.equal(result.evalCaseResults[0].finalEvalStatus, 1);
  await AgentEvaluator.migrateEvalDataToNewSchema(file, join(folder, "new.evalset.json"));
  assert.throws(() => readEvalSet(OLD[0]), { code: "invalid_input", help: "An old form is a list: put this into [ ]" });
});

test("metrics at the top of a config are criteria, as ADK-TS documents them", async (context) => {
  const folder = folderWith(context, {
    "hi.test.json": HI,
    "test_config.json": { response_match_score: 0.5, user_simulator_config: {} },
  });
  const found = await AgentEvaluator.findConfigForTestFile(join(folder, "hi.test.json"));
  assert.deepEqual(found, { response_match_score: 0.5 });
  const [set] = await AgentEvaluator.evaluate(echo, folder);
  const judged = set.evalCaseResults[0].overallEvalMetricResults.filter(({ threshold }) => threshold !== undefined);
  assert.deepEqual(
    judged.map(({ metricName, threshold }) => [metricName, threshold]),
    [["response_match_score", 0.5]],
  );
});

test("no agent runs where a setting of the user simulator is misspelt or of another type", async (context) => {
  const folder = folderWith(context, {
    "hi.test.json": HI,
    "test_config.json": {
      criteria: { response_match_score: 0.5 },
      user_simulator_config: { max_allowed_invocation: 3 },
    },
  });
  let runs = 0;
  const agent = () => {
    runs += 1;
    return "hi";
  };
  const ofFile = await errorOf(() => AgentEvaluator.evaluate(agent, folder));
  assert.equal(ofFile.help, "Did you mean `max_allowed_invocations`?");
  const evalSet = { evalSetId: "s", evalCases: [] };
  const criteria = { response_match_score: 0.5 };
  for (const [userSimulator, message, help] of [
    [
      { maxAllowedInvocation: 3 },
      "the user simulator has no setting `maxAllowedInvocation`",
      "Did you mean `maxAllowedInvocations`?",
    ],
    [
      { max_allowed_invocations: 3 },
      "the user simulator has no setting `max_allowed_invocations`",
      "Did you mean `maxAllowedInvocations`?",
    ],
    [{ includeFunctionCalls: "yes" }, 'expected true or false, found "yes"', undefined],
  ]) {
    const error = await errorOf(() =>
      AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, 1, false, { userSimulator }),
    );
    assert.ok(error.message.startsWith(message.slice(0, 40)), error.message);
    assert.equal(error.help, help);
  }
  assert.equal(runs, 0);
});

test("warnings are in results and in the error, and `strict` refuses them before an agent runs", async (context) => {
  const known = JSON.parse(typeof HI === "string" ? HI : JSON.stringify(HI));
  const folder = folderWith(context, {
    "hi.test.json": known.eval_cases || known.evalCases ? { ...known, owner: "me" } : known,
    "test_config.json": { criteria: { response_match_score: 0.5 }, team: "x" },
  });
  let runs = 0;
  const agent = (words) => {
    runs += 1;
    return `${words}`;
  };
  const [set] = await AgentEvaluator.evaluate(echo, folder);
  assert.ok(set.warnings.some(({ message }) => message === "`team` is not a key of an eval config and is left out"));
  const error = await errorOf(() => AgentEvaluator.evaluate(() => "", folder));
  assert.match(error.message, /warning: `team` is not a key of an eval config and is left out/);
  const refused = await errorOf(() => AgentEvaluator.evaluate(agent, folder, 1, undefined, { strict: true }));
  assert.ok(refused instanceof AdkMetricsError, refused.stack);
  assert.match(refused.toString(), /`team` is not a key of an eval config and is left out/);
  assert.equal(runs, 0);
});

test("a config without a criterion is refused, since any agent would pass", async (context) => {
  const folder = folderWith(context, { "hi.test.json": HI, "test_config.json": { criteria: {} } });
  const error = await errorOf(() => AgentEvaluator.evaluate(echo, folder));
  assert.equal(error.code, "invalid_input");
  assert.equal(error.path, join(folder, "test_config.json"));
});

test("a session beside an evalset in today's form is refused", async (context) => {
  const folder = folderWith(context, { "hi.test.json": HI, "session.json": { a: 1 }, "empty.json": {} });
  const file = join(folder, "hi.test.json");
  const error = await errorOf(() => AgentEvaluator.evaluate(echo, file, 1, join(folder, "session.json")));
  assert.match(error.message, /^a session file is only for the old format, and this evalset is in the current format/);
  assert.match(error.help, /`session_input`/);
  await AgentEvaluator.evaluate(echo, file, 1, join(folder, "empty.json"));
});

test("files that are not there or hold something else are named", async (context) => {
  const folder = folderWith(context, { "bad.test.json": "{", "session.json": "[]", "empty/x.json": {} });
  const missing = join(folder, "nowhere.json");
  const cases = [
    [[missing], `there is no file or folder ${missing}`],
    [[undefined], "expected a path or a `file:` URL, found nothing"],
    [[join(folder, "empty")], `there is no *.test.json in ${join(folder, "empty")} or a folder below it`],
    [
      [join(folder, "bad.test.json"), 1, join(folder, "none.json")],
      /^the session file .*none\.json cannot be used: there is no such file/,
    ],
    [
      [join(folder, "bad.test.json"), 1, join(folder, "session.json")],
      /^the session file .*session\.json cannot be used: it is not an object/,
    ],
    [[join(folder, "bad.test.json"), 1, folder], /^the session file .* cannot be used: .*not a regular file/],
    // A regular file of which the system says that it is empty, and that never ends.
    ...(existsSync(ENDLESS)
      ? [[[join(folder, "bad.test.json"), 1, ENDLESS], /^the session file .* cannot be used: .*larger than 64 MiB/]]
      : []),
  ];
  for (const [args, message] of cases) {
    const error = await errorOf(() => AgentEvaluator.evaluate(echo, ...args));
    assert.ok(error instanceof AdkMetricsError, error.stack);
    if (typeof message === "string") assert.equal(error.message, message);
    else assert.match(error.message, message);
  }
  const broken = await errorOf(() => AgentEvaluator.evaluate(echo, join(folder, "bad.test.json"), 1));
  assert.ok(broken.path.includes("bad.test.json"), broken.toString());
  assert.equal(broken.line, 1);
});

test("old files are migrated to what google-adk reads today", async (context) => {
  const folder = folderWith(context, {
    "old.test.json": OLD,
    "session.json": { state: { a: 1 }, app_name: "app", user_id: "u" },
  });
  const written = join(folder, "new.evalset.json");
  await AgentEvaluator.migrateEvalDataToNewSchema(join(folder, "old.test.json"), written, join(folder, "session.json"));
  const set = JSON.parse(readFileSync(written, "utf8"));
  assert.equal(set.eval_set_id, "old");
  assert.deepEqual(
    set.eval_cases[0].conversation.map(({ user_content }) => user_content.parts[0].text),
    ["hi", "you"],
  );
  assert.deepEqual(set.eval_cases[0].session_input, { app_name: "app", user_id: "u", state: { a: 1 } });
  const [result] = await AgentEvaluator.evaluate(echo, written, 1);
  assert.equal(result.evalCaseResults[0].finalEvalStatus, 1);
  const error = await errorOf(() => AgentEvaluator.migrateEvalDataToNewSchema("", written));
  assert.equal(error.message, "`oldEvalDataFile` does not contain a file name");
  const old = join(folder, "old.test.json");
  for (const [from, to, words] of [
    [
      old,
      join(folder, "no/such/new.json"),
      /cannot be written: .*ENOENT.* \(at newEvalDataFile\)\. Choose a file in a folder/,
    ],
    [old, folder, /cannot be written: .*EISDIR/],
    [folder, written, /cannot be read: .*not a regular file/],
    [old, 7, /expected a path or a `file:` URL, found 7 \(at newEvalDataFile\)/],
  ]) {
    const error = await errorOf(() => AgentEvaluator.migrateEvalDataToNewSchema(from, to));
    assert.ok(error instanceof AdkMetricsError, error.stack);
    assert.match(String(error), words);
  }
});

test("the settings of the simulated user are those of the config", async (context) => {
  const scenario = { startingPrompt: "hi", conversationPlan: "Greet, then leave." };
  const folder = folderWith(context, {
    "play.test.json": evalSetOf({ play: { conversationScenario: scenario } }),
    "test_config.json": {
      criteria: { safety_v1: 0 },
      user_simulator_config: {
        model: "own-model",
        max_allowed_invocations: 2,
        model_configuration: { temperature: 0 },
      },
    },
  });
  const asked = [];
  const judge = async (request) => {
    asked.push(request);
    return request.metricName === "user_simulator" ? "and then?" : '{"score": 1, "explanation": "fine"}';
  };
  const [result] = await AgentEvaluator.evaluate(echo, join(folder, "play.test.json"), 1, undefined, { judge });
  assert.equal(result.evalCaseResults[0].evalMetricResultPerInvocation.length, 2);
  const [simulated] = asked;
  assert.deepEqual([simulated.model, simulated.generationConfig], ["own-model", { temperature: 0 }]);
});

test("rows that lack what a default criterion needs are scored as `evaluate` does, with a warning", async (context) => {
  const rows = [{ query: "hi", reference: "hi" }];
  const folder = folderWith(context, { "bare.test.json": rows });
  const file = join(folder, "bare.test.json");
  const [result] = await AgentEvaluator.evaluate(echo, file, 1);
  const scores = ({ evalCaseResults }) =>
    evalCaseResults[0].overallEvalMetricResults
      .filter(({ threshold }) => threshold !== undefined)
      .map(({ metricName, score }) => [metricName, score]);
  assert.deepEqual(scores(result), scores(await evaluate({ evalSet: rows, actual: rows })));
  const [{ message, path }] = result.warnings;
  assert.match(message, /^the first row has no `expected_tool_use`, which `tool_trajectory_avg_score` needs; /);
  assert.match(message, /ADK's default criteria, which apply because there is no test_config\.json/);
  assert.equal(path, `${file}: [0]`);
});

test("rows of the old form that lack what a chosen metric needs are refused", async (context) => {
  const bare = [{ query: "hi" }];
  const folder = folderWith(context, {
    "bare.test.json": bare,
    "empty.test.json": [],
    "match/bare.test.json": bare,
    "match/test_config.json": MATCH,
    "safe/bare.test.json": bare,
    "safe/test_config.json": { criteria: { response_evaluation_score: 1 } },
  });
  const judge = async () => '{"score": 5, "explanation": "fine"}';
  const run = (file) => AgentEvaluator.evaluate(echo, join(folder, file), 1, undefined, { judge });
  const error = await errorOf(() => run("match/bare.test.json"));
  assert.equal(error.message, "the first row has no `reference`, which `response_match_score` needs");
  assert.equal(error.path, `${join(folder, "match/bare.test.json")}: [0]`);
  assert.equal((await errorOf(() => run("empty.test.json"))).message, `${join(folder, "empty.test.json")} has no rows`);
  assert.equal((await run("safe/bare.test.json")).length, 1);
});

test("files of one evalset id, as with other criteria beside each, are counted and named apart", async (context) => {
  const some = evalSetOf({ hi: [turn("hi", "hi")], ho: [turn("ho", "no")] });
  const folder = folderWith(context, {
    "lenient/set.test.json": some,
    "lenient/test_config.json": { criteria: { response_match_score: 0 } },
    "strict/set.test.json": some,
    "strict/test_config.json": MATCH,
  });
  const { message, failures } = await errorOf(() => AgentEvaluator.evaluate(echo, folder, 2));
  assert.match(message, /^1 of 4 cases did not pass, each run 2 times\.$/m);
  assert.match(message, /^ {2}strict\/set: ho: response_match_score is 0\.0000 on average, threshold 1$/m);
  assert.deepEqual(message.match(/^✗ .*$/gm), ["✗ strict/set: ho (2 of 2 runs)"]);
  assert.deepEqual(
    failures.map(({ resultIndex, evalId }) => [resultIndex, evalId]),
    [[1, "ho"]],
  );
});

test("cases of several files that did not pass are told apart, also by the folders of files in the old form", async (context) => {
  const rows = [{ query: "hi", reference: "ho", expected_tool_use: [] }];
  const folder = folderWith(context, {
    "x/hi.test.json": rows,
    "y/hi.test.json": rows,
    "other.test.json": { ...evalSetOf({ hi: [turn("hi", "ho")] }), evalSetId: "other" },
  });
  const { message, results } = await errorOf(() => AgentEvaluator.evaluate(echo, folder, 2));
  assert.deepEqual(
    results.map(({ evalSetId }) => evalSetId),
    ["other", "x/hi", "y/hi"],
  );
  assert.match(message, /^3 of 3 cases did not pass, each run 2 times\.$/m);
  for (const name of ["other: hi", "x/hi: x/hi", "y/hi: y/hi"]) {
    assert.match(message, new RegExp(`^  ${name}: response_match_score is 0\\.0000 on average`, "m"));
    assert.match(message, new RegExp(`^✗ ${name} \\(2 of 2 runs\\)$`, "m"));
  }
});
