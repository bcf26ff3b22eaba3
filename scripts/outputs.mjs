// Compares what the command writes with what another build of it writes, byte for byte: every example in every format,
// and comparisons of results. For changes that are to leave outputs as they are:
//
//   git worktree add ../before main && (cd ../before && npm run build)
//   npm run build && npm run outputs -- ../before/pkg
//
// It ends with 1 where something differs, and shows how. With --scores it compares the scores and statuses in the results
// alone, for changes that are meant to say the same in other words, such as a build of long ago. Each package replays the
// recordings beside it, if there are any: a recording is of the prompts of its time.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fail, root, step } from "./setup.mjs";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { scores: { type: "boolean" } } });
const [other] = positionals;
if (other === undefined || positionals.length > 1) {
  fail("which package is to be compared with?", "npm run outputs -- [--scores] <folder of the other package>");
}
const packages = { before: resolve(other), after: join(root, "pkg") };
for (const folder of Object.values(packages)) {
  if (!existsSync(join(folder, "package.json"))) fail(`there is no package in ${folder}`, "Build it: npm run build");
}

/** When everything happens: what is written has the time in it. */
const CLOCK = `data:text/javascript,${encodeURIComponent(`
  const now = Date.UTC(2026, 0, 1);
  globalThis.Date = class extends Date {
    constructor(...parts) { super(...(parts.length === 0 ? [now] : parts)); }
    static now() { return now; }
  };
`)}`;
const FORMATS = ["table", "json", "junit", "md", "csv", "html"];
const COMPARISONS = ["table", "json", "md", "csv"];
const DIALECTS = ["adk-python", "adk-ts"];

const outputs = mkdtempSync(join(tmpdir(), "adk-metrics-outputs-"));
for (const [name, folder] of Object.entries(packages)) {
  step(`writing every report with ${folder}`);
  write(folder, join(outputs, name));
}
if (values.scores) for (const name of Object.keys(packages)) keepScores(join(outputs, name));
const { status } = spawnSync("diff", ["-ru", "before", "after"], { cwd: outputs, stdio: "inherit" });
const count = readdirSync(join(outputs, "after")).length;
rmSync(outputs, { recursive: true });
if (status !== 0) fail("outputs differ", "Lines with - are those of the other package.");
step(`${count} outputs are the same`);

/** Writes every report into a folder: what the command prints, what it says beside that, and how it ends. */
function write(folder, into) {
  const run = (cwd, ...args) => {
    const options = { cwd, encoding: "utf8", maxBuffer: 1 << 28, env: { PATH: process.env.PATH } };
    return spawnSync(process.execPath, ["--import", CLOCK, join(folder, "dist/esm/cli.js"), ...args], options);
  };
  const command = (cwd, name, ...args) => {
    const { status, stdout, stderr } = run(cwd, ...args);
    writeFileSync(join(into, name), stdout);
    writeFileSync(join(into, `${name}.stderr`), `${stderr}exit status ${status}\n`);
  };
  mkdirSync(into, { recursive: true });
  for (const example of readdirSync(join(root, "examples"))) {
    const path = join("examples", example);
    // Other examples are programs, or are run with an agent.
    if (!existsSync(join(root, path, "test_config.json"))) continue;
    const files = readdirSync(join(root, path)).map((file) => join(path, file));
    const judge = [dirname(folder), root].map((tree) => join(tree, path, "judge.jsonl")).find(existsSync);
    const judged = judge === undefined ? [] : ["--judge", `replay:${judge}`];
    // Every file by its name: not every build finds those of a folder.
    const evalSets = files.filter((file) => /\.(?:evalset|test)\.json$/.test(file));
    const actual = files.filter((file) => /\.(?:actual|session|inferences|evalset_result)\.json$/.test(file));
    const inputs = [...evalSets, ...actual.flatMap((file) => ["--actual", file])];
    inputs.push("--config", join(path, "test_config.json"));
    const results = DIALECTS.map((dialect) => `${example}.${dialect}/`);
    for (const [at, dialect] of DIALECTS.entries()) {
      const scored = ["eval", ...inputs, ...judged, "--dialect", dialect];
      for (const format of values.scores ? [] : FORMATS) {
        command(root, `${example}.${dialect}.${format}`, ...scored, "--format", format, "--output", "-");
      }
      if (!values.scores) command(root, `${example}.${dialect}.detailed`, ...scored, "--print-detailed-results");
      // What it says of them names the folder.
      run(root, ...scored, "--format", "json", "--output", join(into, results[at]));
    }
    for (const format of values.scores ? [] : COMPARISONS) {
      command(into, `${example}.compared.${format}`, "compare", ...results, "--format", format, "--output", "-");
    }
  }
}

/** Replaces what was written into a folder by the scores and statuses in its results. */
function keepScores(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const found = entry.isDirectory()
      ? readdirSync(path).map((file) => JSON.parse(readFileSync(join(path, file))))
      : [];
    rmSync(path, { recursive: true });
    if (found.length > 0) writeFileSync(path, found.map(scoresOf).join(""));
  }
}

function scoresOf({ eval_set_id, eval_case_results }) {
  const line = (names, { metric_name, score, eval_status }) =>
    `${[...names, metric_name, score, eval_status].map((value) => value ?? "–").join(" ")}\n`;
  return eval_case_results
    .flatMap(({ eval_id, final_eval_status, overall_eval_metric_results: overall, ...rest }) => [
      `${eval_set_id} ${eval_id} ${final_eval_status}\n`,
      ...overall.map((metric) => line([eval_id], metric)),
      ...rest.eval_metric_result_per_invocation.flatMap(({ eval_metric_results }, turn) =>
        eval_metric_results.map((metric) => line([eval_id, turn], metric)),
      ),
    ])
    .join("");
}
