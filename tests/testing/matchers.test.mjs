// The matchers in the test runners, as their users meet them: what passes, what fails, and what failures say.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { mustRun, root } from "../package/support/package.mjs";
import { packed } from "./project.mjs";
import { evalSet } from "./suites/matchers.cjs";

const isInstalled = existsSync(fileURLToPath(new URL("node_modules", import.meta.url)));
const skip = isInstalled || mustRun ? false : "run `npm ci` in tests/testing";
const [major] = process.versions.node.split(".").map(Number);
const tsc = join(root, "node_modules/typescript/bin/tsc");

/** Jest runs what is JavaScript already as it is. */
const JEST = { testMatch: ["**/*.test.?js"], transform: {} };

/** The runners. Vitest 5 needs a newer Node than this package. */
const RUNNERS = {
  "Vitest 3": { runner: "vitest-3", program: "vitest", file: "vitest.test.ts" },
  "Vitest 4": { runner: "vitest-4", program: "vitest", file: "vitest.test.ts" },
  ...(major >= 22 ? { "Vitest 5": { runner: "vitest-5", program: "vitest", file: "vitest.test.ts" } } : {}),
  "Jest with CommonJS": { runner: "jest", program: "jest", file: "commonjs.test.cjs" },
  "Jest 29": { runner: "jest-29", program: "jest", file: "commonjs.test.cjs" },
  "Jest with jsdom": { runner: "jest", program: "jest", file: "commonjs.test.cjs", testEnvironment: "jsdom" },
  "Jest 29 with jsdom": { runner: "jest-29", program: "jest", file: "commonjs.test.cjs", testEnvironment: "jsdom" },
  "Jest with ES modules": {
    runner: "jest",
    program: "jest",
    file: "modules.test.mjs",
    env: { NODE_OPTIONS: "--experimental-vm-modules --no-warnings" },
  },
};

/** What the tests that are to fail say, after their first line. */
const MESSAGES = {
  "fails with the calls that differ": `expect(agent).toPassEvalSet(evalSet)

2 of 2 cases did not pass.

✗ one_city
  tool_trajectory_avg_score: failed, score 0.0000, threshold 1
    turn 1, 0.0000  Oslo?
      ~ get_weather(city: "Oslo", unit: "F")
      ~   unit: "C" → "F"

✗ two_turns
  tool_trajectory_avg_score: failed, score 0.5000, threshold 1
    turn 2, 0.0000  And Porto?
      = get_weather(city: "Porto", unit: "C")
      - get_tide({})
      + get_news(n: 3)
`,
  "fails with the runs that differ": `expect(agent).toPassEvalSet(evalSet)

1 of 2 cases did not pass, each run 3 times.
  one_city: tool_trajectory_avg_score is 0.6667 on average, threshold 1

✗ one_city (run 1)
  tool_trajectory_avg_score: failed, score 0.0000, threshold 1
    turn 1, 0.0000  Oslo?
      - get_weather(city: "Oslo", unit: "C")
`,
  "fails without what passes on average": `
1 of 2 cases did not pass, each run 3 times.
  one_city: tool_trajectory_avg_score is 0.0000 on average, threshold 1

✗ one_city (3 of 3 runs)
  tool_trajectory_avg_score: failed, score 0.0000, threshold 1
    turn 1, 0.0000  Oslo?
      - get_weather(city: "Oslo", unit: "C")
`,
  "fails with runs that tell the same": `
✗ one_city (2 of 2 runs)
  tool_trajectory_avg_score: failed, score 0.0000, threshold 1
    turn 1, 0.0000  Oslo?
      ~ get_weather(city: "Oslo", unit: "F")
      ~   unit: "C" → "F"

✗ two_turns (2 of 2 runs)
`,
  "fails with the texts that differ": `
✗ one_city (2 of 2 runs)
  response_match_score: failed, score 0.0000, threshold 0.8
    turn 1, 0.0000  Oslo?
      - It is sunny in Oslo.
      + No idea, sorry.
        precision 0.0000, recall 0.0000
`,
  "fails with the votes of a judge": `
  final_response_match_v2: failed, score 0.0000, threshold 1
    turn 1, 0.0000  Oslo?
      - It is sunny in Oslo.
      + It is sunny in Oslo.
        4 of 5 samples asked: 1 valid, 3 invalid; early stopping saved 1
          sample 2, invalid: it leaves out the wind
`,
  "fails with the scores where it should not pass": `expect(agent).not.toPassEvalSet(evalSet)

weather  4 runs of 2 cases: 4 passed

  Case               Metric                      Score  Threshold  Status
  ─────────────────  ─────────────────────────  ──────  ─────────  ────────
  one_city (run 1)   tool_trajectory_avg_score  1.0000          1  ✓ passed
                     response_match_score       1.0000        0.8  ✓ passed
`,
  "fails where an agent that threw should not pass": `expect(agent).not.toPassEvalSet(evalSet)

no score was below its threshold, but case one_city failed: the run failed: turn 1: Error: the model is on strike. A run that failed does not show that the case does not pass: fix the agent
`,
  "fails where results of a failed agent should not pass":
    "no score was below its threshold, but case one_city failed: the run failed",
  "fails with what the agent threw": `
2 of 2 cases did not pass.

✗ one_city
  the run failed: turn 1: Error: the model is on strike
`,
  "fails with warnings before what differs": `expect(agent).toPassEvalSet(evalSet)

2 of 2 cases did not pass, each run 2 times.
  one_city: tool_trajectory_avg_score is 0.0000 on average, threshold 1
  two_turns: tool_trajectory_avg_score is 0.5000 on average, threshold 1
warning: \`owner\` is not a key of an evalset and is left out (evalSet: owner)

✗ one_city (2 of 2 runs)
`,
  "fails with the warnings of results": `expect(result).toPass()

2 of 2 cases did not pass.
warning: \`owner\` is not a key of an evalset and is left out (actual: owner)

✗ one_city
`,
  "fails for warnings where they are errors":
    "`owner` is not a key of an evalset and is left out (at evalSet: owner)\n",
  "fails with the cases of results": `expect(result).toPass()

2 of 2 cases did not pass.

✗ one_city
  tool_trajectory_avg_score: failed, score 0.0000, threshold 1
    turn 1, 0.0000  Oslo?
      - get_weather(city: "Oslo", unit: "C")
`,
  "fails with the scores of results where they should not pass": `expect(result).not.toPass()

weather  2 cases: 2 passed
`,
  "fails with a case": `
The only case did not pass.

✗ two_turns
`,
  "fails with the metric of an evaluator": `
✗ conversation
  metric: failed, score 0.0000
    turn 1, 0.0000  Lisbon?
      - get_weather(city: "Lisbon", unit: "C")
`,
  "fails where there is no case": `expect(result).toPass()

There are no cases.
`,
  "fails where the run was cancelled": `
The run was cancelled; some results are missing.
`,
  "fails for what is no result": `expect(result).toPass()

expected an EvalSetResult or a list of them, found 42 (at results). Pass the result of evaluate() or of readResults()
`,
  "fails for a promise": "found a promise (at results). Await it first\n",
  "fails for no result with .not": "expect(result).not.toPass()\n\nexpected an EvalSetResult or a list of them",
  "fails for what is no agent": "expected an agent, found an object (at agent). Pass an agent, a runner,",
  "fails for no agent with .not": "expect(agent).not.toPassEvalSet(evalSet)\n\nexpected an agent, found nothing",
  "fails for a missing file": "there is no file or folder missing.evalset.json. Paths are relative to /",
  "fails for no evalset": "Pass a path, a file: URL, an object or bytes\n",
  "fails for an unusable evalset": "expected an array, found the number 3 (at evalSet: evalCases)\n",
  "fails for an unknown metric":
    "there is no metric `response_mach_score` (at config: criteria.response_mach_score). Did you mean `response_match_score`?\n",
  "fails for a misspelt option":
    "there is no option `paralelism` (at options: paralelism). Did you mean `parallelism`?\n",
  "fails for an unknown option": "advisory, gates, journal, batch, numRuns, initialSessionFile\n",
  "fails for criteria among options":
    "`criteria` does not apply here (at options: criteria). Pass criteria as the second argument: toPassEvalSet(",
  "fails for impossible runs": "expected a whole number from 1 up, found 0 (at numRuns)\n",
};

/** A module of metrics: whether every turn has an answer. */
const METRICS = `exports.answered = (metric, actual) => ({
  perInvocationResults: actual.map(({ finalResponse }) => ({ score: Number(finalResponse !== undefined), evalStatus: 1 })),
});
`;

let given;
before(async () => {
  if (!skip) given = await packed();
});
after(() => given?.remove());

/** A project with the suite and the files that it reads. */
function suite(name, { runner, program, file, testEnvironment = "node" }) {
  const project = given.projectWith(name, runner);
  project.add("suites/matchers.cjs", "matchers.cjs");
  project.add(`suites/${file}`, file);
  const config = (least) => ({ criteria: { tool_trajectory_avg_score: 1, response_match_score: least } });
  for (const [folder, least] of Object.entries({ files: 0.8, "files/lenient": 0 })) {
    project.write(`${folder}/weather.test.json`, evalSet);
    project.write(`${folder}/test_config.json`, config(least));
  }
  project.write("files/metrics.cjs", METRICS);
  const text = JSON.stringify(evalSet);
  project.write("files/warned/weather.test.json", `{\n"group": "me",\n${text.slice(1)}`);
  project.write("files/warned/test_config.json", config(0));
  if (program === "jest") project.write("jest.config.json", { ...JEST, testEnvironment });
  return project;
}

describe("the matchers", { skip, concurrency: 2 }, () => {
  for (const [name, settings] of Object.entries(RUNNERS)) {
    describe(`in ${name}`, () => {
      let found;
      before(async () => {
        const project = suite(name.replaceAll(" ", "-"), settings);
        found = await project.test(settings.program, settings.env);
      });

      test("pass what passes", () => {
        const passing = [...found.messages].filter(([title]) => title.startsWith("passes"));
        assert.equal(passing.length, 10);
        for (const [title, message] of passing) assert.equal(message, "", title);
      });

      test("fail what does not, and the run with it", () => {
        assert.equal(found.status, 1);
        const failed = [...found.messages].filter(([, message]) => message !== "").map(([title]) => title);
        assert.deepEqual(failed, Object.keys(MESSAGES));
      });

      for (const [title, text] of Object.entries(MESSAGES)) {
        test(`say what differs: ${title}`, () => {
          const message = found.messages.get(title);
          assert.ok(message.includes(text), message);
        });
      }
    });
  }

  for (const runner of ["jest", "jest-29"]) {
    test(`pass what needs no files with ES modules and jsdom, by ${runner}`, async () => {
      const settings = { ...RUNNERS["Jest with ES modules"], runner, testEnvironment: "jsdom" };
      const { messages } = await suite(`${runner}-modules-jsdom`, settings).test("jest", settings.env);
      const failed = [...messages].filter(([title, message]) => title.startsWith("passes") && message !== "");
      assert.deepEqual(failed.map(([title]) => title).sort(), [
        "passes agents by files, folders and URLs, with the criteria beside",
        "passes by the metrics of a module",
        "passes with warnings, each printed once",
      ]);
    });
  }

  test("use the runner's colours", async () => {
    const project = suite("colours", RUNNERS["Vitest 4"]);
    const { messages } = await project.test("vitest", { NO_COLOR: undefined, FORCE_COLOR: "1" });
    const message = messages.get("fails with the calls that differ");
    assert.ok(message.includes("\u001b[32m- get_tide({})\u001b[39m"), JSON.stringify(message));
    assert.ok(message.includes("\u001b[31m+ get_news(n: 3)\u001b[39m"), JSON.stringify(message));
  });

  test("run in the example", async () => {
    const project = given.projectWith("example", "vitest-4");
    for (const name of ["testing", "weather"]) project.add(`../../examples/${name}`, `examples/${name}`);
    const { status, printed, messages } = await project.test("vitest");
    assert.equal(status, 0, printed);
    assert.equal(messages.size, 3);
  });
});

describe("the types of the matchers", { skip, concurrency: 2 }, () => {
  const compilerOptions = {
    target: "es2022",
    module: "nodenext",
    lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"],
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  };
  const PROJECTS = {
    "Vitest 3": { runner: "vitest-3", file: "vitest", types: ["node"] },
    "Vitest 4": { runner: "vitest-4", file: "vitest", types: ["node"] },
    "Vitest 5": { runner: "vitest-5", file: "vitest", types: ["node"] },
    "Jest's globals": { runner: "jest", file: "jest", types: ["node", "jest"] },
    "`@jest/globals`": { runner: "jest", file: "jest-globals", types: ["node"] },
  };

  for (const [name, { runner, file, types }] of Object.entries(PROJECTS)) {
    test(`are known to ${name}`, async () => {
      const project = given.projectWith(`types-${name.replaceAll(/\W/g, "")}`, runner);
      project.add(`types/${file}.ts`, "tests.ts");
      project.write("tsconfig.json", { compilerOptions: { ...compilerOptions, types }, files: ["tests.ts"] });
      const { printed } = await project.run([tsc, "--project", "."]);
      // Declarations of other packages are checked too, and what is wrong with them is not ours.
      const ours = printed.split("\n").filter((line) => /^(?:tests\.ts|node_modules\/adk-metrics)/.test(line));
      assert.deepEqual(ours, []);
    });
  }
});
