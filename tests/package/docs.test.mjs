// The code samples and the tables of scores in the documentation: every sample is a module of its own that compiles
// strictly and runs beside the files it reads, and every score is what the package gives.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { importEntry, packageFolder, root } from "./support/package.mjs";

const { RougeEvaluator, TrajectoryEvaluator } = await importEntry();
const run = promisify(execFile);

const PAGES = ["README.md", "docs/metrics.md", "pkg-template/README.md"];
const page = (name) => readFileSync(join(root, name), "utf8");

/** The TypeScript samples of all pages, named by page and line. */
const samples = PAGES.flatMap((name) => {
  const text = page(name);
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((block) => ({
    name: `${name}:${text.slice(0, block.index).split("\n").length}`,
    code: block[1],
  }));
});

describe("a sample", () => {
  let folder;
  const fileOf = (index, extension) => join(folder, `sample-${index}.${extension}`);

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "adk-metrics-docs-"));
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(packageFolder, join(folder, "node_modules/adk-metrics"));
    symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
    for (const file of ["weather.evalset.json", "weather.actual.json", "test_config.json"]) {
      copyFileSync(join(root, "examples/weather", file), join(folder, file));
    }
    for (const [index, { code }] of samples.entries()) writeFileSync(fileOf(index, "mts"), code);
  });
  after(() => rmSync(folder, { recursive: true }));

  test("is there in every page", () => {
    for (const name of PAGES)
      assert.ok(
        samples.some((sample) => sample.name.startsWith(`${name}:`)),
        name,
      );
  });

  test("compiles strictly, and uses what it imports", async () => {
    const compilerOptions = {
      target: "es2022",
      module: "nodenext",
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
      types: ["node"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.mts"] }));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const said = await run(process.execPath, [tsc, "--project", folder]).then(
      () => "",
      ({ stdout, stderr }) => `${stdout}${stderr}`,
    );
    assert.equal(
      said.replaceAll(/^.*sample-(\d+)\.mts/gm, (_, index) => samples[index].name),
      "",
    );
  });

  for (const [index, { name, code }] of samples.entries()) {
    test(`of ${name} runs`, async () => {
      const { code: javaScript } = await transform(code, { loader: "ts", target: "es2022" });
      writeFileSync(fileOf(index, "mjs"), javaScript);
      const { stderr } = await run(process.execPath, [fileOf(index, "mjs")], { cwd: folder });
      assert.equal(stderr, "");
    });
  }
});

/** The rows of the table with these columns, as texts without code marks. */
function tableRows(text, columns) {
  const cells = (line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", ""));
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith("|") && cells(line).join() === columns.join());
  assert.notEqual(start, -1, `a table of ${columns}`);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map(cells);
}

const metrics = page("docs/metrics.md");

async function responseMatch(expected, actual, dialect) {
  const says = (text) => [{ userContent: { parts: [{ text: "Go" }] }, finalResponse: { parts: [{ text }] } }];
  const evaluator = new RougeEvaluator({ metricName: "response_match_score", threshold: 0.5 }, { dialect });
  const { overallScore } = await evaluator.evaluateInvocations(says(actual), says(expected));
  return overallScore;
}

/** A score as a table shows it: with as many decimals. */
const assertShown = (score, shown) => assert.equal(score.toFixed(shown.split(".")[1].length), shown);

describe("docs/metrics.md", () => {
  test("shows the scores of responses in both dialects", async () => {
    const rows = tableRows(metrics, ["expected", "actual", "score"]);
    assert.equal(rows.length, 4);
    for (const [expected, actual, score] of rows) {
      for (const dialect of ["adk-python", "adk-ts"]) {
        assert.equal(await responseMatch(expected, actual, dialect), Number(score), `${expected}, ${dialect}`);
      }
    }
  });

  test("shows where the dialects differ", async () => {
    const rows = tableRows(metrics, ["expected", "actual", "adk-python", "adk-ts"]);
    assert.ok(rows.length > 0);
    for (const [expected, actual, python, typeScript] of rows) {
      assertShown(await responseMatch(expected, actual, "adk-python"), python);
      assertShown(await responseMatch(expected, actual, "adk-ts"), typeScript);
    }
  });

  test("shows the scores of the match types", async () => {
    const search = { name: "search_web", args: { query: "TypeScript generics" } };
    const summarize = { name: "summarize", args: { maxLength: 200 } };
    const other = { name: "open_page", args: {} };
    /** What each row of the table may mean. */
    const called = {
      "exactly that": [[search, summarize]],
      "one of the two only": [[search], [summarize]],
      "another tool instead of one of them": [
        [other, summarize],
        [search, other],
      ],
      "one of them with another key or value": [
        [{ ...search, args: { q: "TypeScript generics" } }, summarize],
        [search, { ...summarize, args: { maxLength: 100 } }],
      ],
      "both, with another call in between": [[search, other, summarize]],
      "both, swapped": [[summarize, search]],
    };
    const makes = (toolUses) => [
      { userContent: { parts: [{ text: "Go" }] }, intermediateData: { toolUses, intermediateResponses: [] } },
    ];
    const score = async (calls, matchType, dialect) => {
      const metric = { metricName: "tool_trajectory_avg_score", criterion: { threshold: 1, matchType } };
      const evaluator = new TrajectoryEvaluator(metric, { dialect });
      return (await evaluator.evaluateInvocations(makes(calls), makes([search, summarize]))).overallScore;
    };

    const types = ["EXACT", "IN_ORDER", "ANY_ORDER"];
    const rows = tableRows(metrics, ["the agent called", ...types]);
    assert.deepEqual(
      rows.map(([row]) => row),
      Object.keys(called),
    );
    for (const [row, ...shown] of rows) {
      for (const calls of called[row]) {
        for (const [index, type] of types.entries()) {
          assert.equal(await score(calls, type, "adk-python"), Number(shown[index]), `${row}, ${type}`);
        }
        assert.equal(await score(calls, "EXACT", "adk-ts"), Number(shown[0]), `${row}, adk-ts`);
      }
    }
  });
});
