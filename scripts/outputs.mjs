// Compares what the command writes with what another build of it writes, byte for byte: every example in every format,
// and comparisons of results. For changes that are to leave outputs as they are:
//
//   git worktree add ../before main && (cd ../before && npm run build)
//   npm run build && npm run outputs -- ../before/pkg
//
// It ends with 1 where something differs, and shows how.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fail, root, step } from "./setup.mjs";

const { positionals } = parseArgs({ allowPositionals: true });
const [other] = positionals;
if (other === undefined || positionals.length > 1) {
  fail("which package is to be compared with?", "npm run outputs -- <folder of the other package>");
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
const { status } = spawnSync("diff", ["-ru", "before", "after"], { cwd: outputs, stdio: "inherit" });
rmSync(outputs, { recursive: true });
if (status !== 0) fail("outputs differ", "Lines with - are those of the other package.");
step("the outputs are the same");

/** Writes every report into a folder: what the command prints, what it says beside that, and how it ends. */
function write(folder, into) {
  const command = (cwd, name, ...args) => {
    const options = { cwd, encoding: "utf8", maxBuffer: 1 << 28, env: { PATH: process.env.PATH } };
    const cli = join(folder, "dist/esm/cli.js");
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", CLOCK, cli, ...args], options);
    writeFileSync(join(into, name), stdout);
    writeFileSync(join(into, `${name}.stderr`), `${stderr}exit status ${status}\n`);
  };
  mkdirSync(into, { recursive: true });
  for (const example of readdirSync(join(root, "examples"))) {
    const path = join("examples", example);
    // Other examples are programs, or are run with an agent.
    if (!existsSync(join(root, path, "test_config.json"))) continue;
    const judge = join(path, "judge.jsonl");
    const judged = existsSync(join(root, judge)) ? ["--judge", `replay:${judge}`] : [];
    const results = DIALECTS.map((dialect) => `${example}.${dialect}/`);
    for (const [at, dialect] of DIALECTS.entries()) {
      const scored = ["eval", path, ...judged, "--dialect", dialect];
      for (const format of FORMATS) {
        command(root, `${example}.${dialect}.${format}`, ...scored, "--format", format, "--output", "-");
      }
      command(root, `${example}.${dialect}.detailed`, ...scored, "--print-detailed-results");
      const folder = join(into, results[at]);
      command(
        root,
        `${example}.${dialect}.results`,
        ...scored,
        "--format",
        "json",
        "--output",
        folder,
        "--log-level",
        "error",
      );
    }
    for (const format of COMPARISONS) {
      command(into, `${example}.compared.${format}`, "compare", ...results, "--format", format, "--output", "-");
    }
  }
}
