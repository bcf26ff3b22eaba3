// Every sample of the documentation does what the page says: it is executed, or read by what it is written for.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { load } from "js-yaml";
import { importEntry, mustRun, root } from "../package/support/package.mjs";
import { openBrowser, runInBrowser } from "./browser.mjs";
import { readComments } from "./comments.mjs";
import { readPage } from "./markdown.mjs";
import { missingPrograms } from "./programs.mjs";
import { earlierCode, linkImports, openWorkshop, runModule, runScript, stemOf, withOutputs } from "./workshop.mjs";

const adkMetrics = await importEntry();
const { checkInputs, compareRuns, MetricEvaluatorRegistry, readEvalSet } = adkMetrics;

const PYTHON = process.env.ADK_PYTHON ?? "python3";
const docs = readdirSync(join(root, "docs"), { recursive: true }).filter((file) => file.endsWith(".md"));
const PAGES = [
  "README.md",
  "pkg-template/README.md",
  "examples/README.md",
  ...docs.map((file) => `docs/${file}`).sort(),
];

const pages = PAGES.map((name) => ({ name, ...readPage(name, readFileSync(join(root, name), "utf8")) }));
pages.push(...readComments(Object.keys(adkMetrics)));
const workshop = await openWorkshop();
const browser = await openBrowser(workshop);
after(async () => {
  for (const { name, samples } of process.env.UPDATE_SAMPLES === undefined ? [] : pages) {
    writeFileSync(join(root, name), withOutputs(readFileSync(join(root, name), "utf8"), samples));
  }
  await browser.close?.();
  await workshop.close();
});
for (const page of pages) {
  page.place = workshop.page(page.name, page.folder);
  for (const [file, text] of Object.entries(page.files ?? {})) page.place.write(file, text);
}

/** What is done with a sample of each language. A text that is not an output is an illustration. */
const TRIES = {
  diff: tryDiff,
  html: tryPage,
  js: tryModule,
  json: tryJson,
  jsonl: (sample, place) => {
    keep(sample, place);
    for (const line of sample.code.trim().split("\n")) JSON.parse(line);
  },
  python: tryPython,
  sh: (sample, place) => runScript(place, sample),
  text: () => {},
  ts: tryModule,
  yaml: tryYaml,
};

for (const { samples, place } of pages) {
  for (const sample of samples) {
    sample.missing = missingOf(sample);
    if (sample.language === "ts") place.write(`${stemOf(sample)}.ts`, earlierCode(sample) + sample.code);
  }
}

test("every sample in TypeScript compiles strictly, and uses what it imports", async () => {
  const compilerOptions = {
    target: "es2022",
    module: "nodenext",
    moduleDetection: "force",
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    skipLibCheck: true,
    types: ["node"],
  };
  const files = pages.flatMap(({ samples, place }) =>
    samples
      .filter(({ language, missing }) => language === "ts" && missing.length === 0)
      .map((sample) => [join(place.folder, `${stemOf(sample)}.ts`), sample]),
  );
  const config = join(workshop.top, "tsconfig.json");
  writeFileSync(config, JSON.stringify({ compilerOptions, files: files.map(([file]) => file) }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  let said = await new Promise((resolve) =>
    execFile(process.execPath, [tsc, "--project", config], (_, stdout, stderr) => resolve(stdout + stderr)),
  );
  for (const [file, { name }] of files) said = said.replaceAll(file.slice(workshop.top.length + 1), name);
  assert.equal(said, "");
});

describe("a sample", { concurrency: 3 }, () => {
  for (const { name, samples, place } of pages.filter(({ samples }) => samples.length > 0)) {
    describe(name, { concurrency: 1 }, () => {
      for (const sample of samples) {
        const { language, line, missing, flags } = sample;
        test(`in ${language}, line ${line}`, async (t) => {
          const needs = missing.length > 0 ? `${[...new Set(missing)].join(", ")} is not installed` : undefined;
          const lacks = needs ?? (flags.has("browser") || language === "html" ? browser.missing : undefined);
          if (lacks === undefined) return TRIES[language](sample, place);
          assert.ok(!mustRun, lacks);
          t.skip(lacks);
        });
      }
    });
  }
});

test("there is a way to try every sample, and every page has its samples read", (t) => {
  const all = pages.flatMap(({ samples }) => samples);
  for (const { language, name } of all) assert.ok(TRIES[language], name);
  const kinds = Object.keys(TRIES).map(
    (language) => `${all.filter((sample) => sample.language === language).length} ${language}`,
  );
  const outputs = all.filter(({ output }) => output).length;
  t.diagnostic(`${all.length} samples in ${pages.length} pages: ${kinds.join(", ")}; ${outputs} with their output`);
});

/** How the files of tests are run. */
const RUNNERS = { vitest: "vitest run --root .", jest: "jest --rootDir ." };

/** The runner of a sample that is a file of tests. */
function runnerOf({ file, code }) {
  if (!/\.test\.\w+$/.test(file ?? "")) return undefined;
  return /"(?:adk-metrics\/)?(vitest|jest)"/.exec(code)?.[1];
}

/** The packages and programs that a sample needs and that are not installed. */
function missingOf(sample) {
  const { language, code } = sample;
  switch (language) {
    case "js":
    case "ts": {
      const runner = runnerOf(sample);
      const packages = linkImports(workshop.top, earlierCode(sample) + code);
      return runner === undefined ? packages : [...packages, ...missingPrograms(`npx ${runner}`)];
    }
    case "diff":
      return linkImports(workshop.top, sidesOf(code).join("\n"));
    case "sh":
    case "yaml":
      return missingPrograms(code);
    case "python":
      return spawnSync(PYTHON, ["--version"]).status === 0 ? [] : [PYTHON];
    default:
      return [];
  }
}

async function tryModule(sample, place) {
  if (sample.flags.has("browser")) return runInBrowser(browser, place, sample);
  const runner = runnerOf(sample);
  if (runner !== undefined) {
    if (sample.language === "js") keep(sample, place);
    return runScript(place, sample, `npx ${RUNNERS[runner]} ${sample.file}\n`);
  }
  return runModule(place, sample);
}

/** Both sides of a change are programs; what it becomes is run. */
async function tryDiff(sample, place) {
  for (const code of sidesOf(sample.code)) await runModule(place, { ...sample, language: "ts", code });
}

/** The code before a change, and after it. */
function sidesOf(diff) {
  const side = (other) =>
    diff
      .split("\n")
      .filter((line) => !line.startsWith(other))
      .map((line) => line.replace(/^[-+ ]/, ""))
      .join("\n");
  return [side("+"), side("-")];
}

/** JSON is read by what reads it in earnest; what nothing recognises has to be a file that another sample reads. */
async function tryJson(sample, place) {
  keep(sample, place);
  const value = JSON.parse(sample.code);
  const has = (...keys) => keys.some((key) => key in value);
  if (has("criteria")) {
    const registry = new MetricEvaluatorRegistry();
    for (const metricName of Object.keys(value.custom_metrics ?? {})) {
      registry.registerEvaluator({ metricName }, () => 1);
    }
    const { warnings } = await checkInputs({ config: value, registry });
    assert.deepEqual(warnings, [], sample.name);
  } else if (has("eval_cases", "evalCases")) readEvalSet(value);
  else if (has("eval_case_results", "evalCaseResults")) compareRuns(value, value);
  else if (Array.isArray(value) && "query" in value[0]) readEvalSet(value);
  else assert.ok(sample.file, `${sample.name}: nothing reads such JSON; if a sample does, name the file`);
}

/** The steps of a workflow run as scripts; other YAML is read. */
async function tryYaml(sample, place) {
  keep(sample, place);
  const { jobs = {}, kind, spec } = load(sample.code);
  if (kind === "Job") await tryJob(sample, place, spec);
  for (const { steps, strategy } of Object.values(jobs)) {
    const [[name, values]] = Object.entries(strategy?.matrix ?? { none: [""] });
    for (const value of values) {
      for (const { run, uses } of steps) {
        if (uses) assert.match(uses, /^[\w-]+\/[\w-]+@v?[\w.]+$/, sample.name);
        const script = run?.replaceAll(`\${{ matrix.${name} }}`, value);
        if (script) await runScript(place, { ...sample, output: undefined }, script);
      }
    }
  }
}

/** Runs the first and the last task of a Job of Kubernetes or Cloud Run; volumes are folders. */
async function tryJob(sample, place, { completions, template }) {
  const { taskCount, template: tasks } = template.spec;
  const [{ command, args = [] }] = (tasks ?? template).spec.containers;
  const script = [...command, ...args].at(-1).replaceAll(/(?<=[ =])\/(?=(?:tmp|journals)\/)/g, "./");
  for (const index of new Set([0, (completions ?? taskCount) - 1])) {
    const numbers =
      completions === undefined
        ? { CLOUD_RUN_TASK_INDEX: index, CLOUD_RUN_TASK_COUNT: taskCount }
        : { JOB_COMPLETION_INDEX: index };
    const set = Object.entries(numbers).map(([name, value]) => `export ${name}=${value}`);
    const lines = ["rm -rf tmp; mkdir -p tmp journals", ...set, script];
    await runScript(place, { ...sample, output: undefined }, lines.join("\n"));
  }
}

/** Python compiles; with google-adk at hand its imports exist. */
async function tryPython({ name, code }, place) {
  place.write(".sample.py", code);
  const { status, stderr } = await place.run(PYTHON, [
    "-c",
    COMPILE,
    ".sample.py",
    process.env.ADK_PYTHON ? "import" : "",
  ]);
  assert.equal(status, 0, `${name}\n${stderr}`);
}

const COMPILE = `
import ast, sys
tree = ast.parse(open(sys.argv[1]).read())
imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
if sys.argv[2]: exec(compile(ast.Module(imports, []), sys.argv[1], "exec"))
`;

function tryPage(sample, place) {
  return runInBrowser(browser, place, sample);
}

function keep({ file, code }, place) {
  if (file) place.write(file, code);
}
