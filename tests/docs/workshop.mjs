// Where samples run: a folder for each page, with the files of an example beside them, packages as if installed, and
// `npx` and `npm` that install nothing.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { manifest, packageFolder, root } from "../package/support/package.mjs";
import { startBatchServer } from "../providers/batches.mjs";
import { reply } from "./models.mjs";
import { assertPrinted, assertShown, instrument } from "./shown.mjs";

/** Where packages that samples import are installed: the folders of tests with packages of their own, and the root. */
const INSTALLED = readdirSync(join(root, "tests"))
  .filter((folder) => existsSync(join(root, "tests", folder, "package.json")))
  .map((folder) => join("tests", folder))
  .sort((a, b) => Number(b === "tests/agents") - Number(a === "tests/agents"))
  .concat(".");

/** Files of other examples that pages speak of, by the names that they have there. */
const BORROWED = {
  "old.test.json": "examples/home-automation/heating.test.json",
  "spans.jsonl": "tests/interop/traces/adk-python-spans.jsonl",
};

/** The keys that a sample finds in its environment. Google's libraries warn of a second one. */
const KEYS = ["ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY", "OPENAI_API_KEY"];

const PRELOAD = fileURLToPath(new URL("preload.mjs", import.meta.url));
const CLI = join(packageFolder, Object.values(manifest.bin)[0]);
const here = fileURLToPath(new URL(".", import.meta.url));

/** A workshop with the models it asks. `close()` leaves nothing behind. */
export async function openWorkshop() {
  const top = mkdtempSync(join(tmpdir(), "adk-metrics-docs-"));
  const models = await startBatchServer({ reply, plan: () => ({ looks: 0 }) });
  mkdirSync(join(top, "node_modules/@types"), { recursive: true });
  mkdirSync(join(top, "bin"));
  writeFileSync(join(top, "package.json"), '{ "private": true, "type": "module" }');
  symlinkSync(packageFolder, join(top, "node_modules/adk-metrics"));
  symlinkSync(join(root, "node_modules/@types/node"), join(top, "node_modules/@types/node"));
  for (const name of ["npm", "npx"]) {
    const script = `#!/bin/sh\nexec "${process.execPath}" "${join(here, "commands.mjs")}" ${name} "$@"\n`;
    writeFileSync(join(top, "bin", name), script, { mode: 0o755 });
  }
  return {
    top,
    models,
    page: (name, files) => preparePage(top, models.url, name, files),
    async close() {
      await models.close();
      rmSync(top, { recursive: true, force: true });
    },
  };
}

/** @typedef {ReturnType<typeof preparePage>} Page */

function preparePage(top, modelsUrl, name, files) {
  const folder = join(top, name.replaceAll(/\W+/g, "-"));
  cpSync(join(root, files), folder, { recursive: true });
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  for (const [file, source] of Object.entries(BORROWED)) cpSync(join(root, source), join(folder, file));

  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, NODE_TEST_CONTEXT: ____, ...inherited } = process.env;
  const env = {
    ...inherited,
    PATH: `${join(top, "bin")}:${process.env.PATH}`,
    NODE_OPTIONS: `--import=${PRELOAD}`,
    GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
    SAMPLE_CLI: CLI,
    SAMPLE_MODELS: modelsUrl,
    SAMPLE_STATUS: join(folder, ".status"),
    ...Object.fromEntries(KEYS.map((name) => [name, "a-key-of-a-sample"])),
  };

  /** Runs a program to its end. */
  const run = (program, args, more = {}) =>
    new Promise((resolve) => {
      execFile(program, args, { cwd: folder, env: { ...env, ...more }, timeout: 60_000 }, (error, stdout, stderr) => {
        const clean = (text) => text.replaceAll(`file://${folder}/`, "").replaceAll(`${folder}/`, "");
        resolve({
          status: error === null ? 0 : (error.code ?? error.signal),
          stdout: clean(stdout),
          stderr: clean(stderr),
        });
      });
    });
  const write = (file, text) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  return { top, folder, run, write };
}

/** Puts the packages that some code imports where it finds them. Gives the names of those that are not installed. */
export function linkImports(top, code) {
  const missing = [];
  for (const name of importsOf(code)) {
    const link = join(top, "node_modules", name);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    const source = INSTALLED.map((folder) => join(root, folder, "node_modules", name)).find((path) => existsSync(path));
    if (source === undefined) {
      missing.push(name);
      continue;
    }
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(source, link);
  }
  return missing;
}

/** The packages that some code imports. */
function importsOf(code) {
  const found = code.matchAll(/\b(?:from|import|require)[\s(]*"([^"./][^"]*)"/g);
  const names = [...found].map(([, path]) => /^(@[^/]+\/)?[^/]+/.exec(path)[0]);
  return new Set(names.filter((name) => !name.startsWith("node:") && name !== "adk-metrics"));
}

/** The code that a sample goes on from, and its own. */
export const earlierCode = ({ before }) => (before ? earlierCode(before) + before.code : "");

/** The name of the file in which a sample is checked and run, without what comes after the last dot. */
export const stemOf = ({ file, line }) => file?.replace(/\.\w+$/, "") ?? `sample-${line}`;

const BEGIN = "– the sample begins –";

/** Runs JavaScript or TypeScript in Node. */
export async function runModule(page, sample) {
  const { code, shown } = instrument(sample.code, sample.name);
  const all = `${earlierCode(sample)}\nconsole.log("${BEGIN}");\n${code}`;
  const isTypeScript = sample.language === "ts";
  const javaScript = isTypeScript ? (await transform(all, { loader: "ts", target: "es2022" })).code : all;
  if (sample.file && !isTypeScript) page.write(sample.file, sample.code);
  const file = `${stemOf(sample)}.run.mjs`;
  page.write(file, javaScript);
  const shownFile = join(page.folder, ".shown");
  writeFileSync(shownFile, "");

  const { status, stdout, stderr } = await page.run(process.execPath, [file], { SAMPLE_SHOWN: shownFile });
  assert.equal(status, sample.exit ?? 0, `${sample.name}: exit status ${status}\n${stderr}`);
  if (sample.exit === undefined) assert.equal(stderr, "", sample.name);
  const values = readFileSync(shownFile, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  for (const { line, text } of shown) {
    const printed = values.filter(([at]) => at === line).map(([, value]) => value);
    assert.notEqual(printed.length, 0, `${sample.name}: the line with "→ ${text}" was not reached`);
    assertShown(printed.join("\n"), text, `${sample.name}: "→ ${text}"`);
  }
  checkOutput(sample, stdout.slice(stdout.indexOf(BEGIN) + BEGIN.length));
}

/** What scripts are run with: every command that fails is noted, with its status. */
const NOTE_FAILURES = `trap 'echo "$? "$BASH_COMMAND >> "$SAMPLE_STATUS"' ERR\n`;

/**
 * Runs a shell script. Every command has to succeed, but that `adk-metrics` may end with 1, which says that something
 * failed that was scored, and that the last may end with the status which the fence names.
 */
export async function runScript(page, sample, script = sample.code) {
  const notes = join(page.folder, ".status");
  writeFileSync(notes, "");
  page.write(".script.sh", NOTE_FAILURES + script);
  const { status, stdout, stderr } = await page.run("bash", [".script.sh"]);
  const said = `${sample.name}\n${stdout}${stderr}`;
  const failed = readFileSync(notes, "utf8").split("\n").filter(Boolean);
  for (const line of failed) {
    const [, code, command] = /^(\d+) (.*)$/.exec(line) ?? [undefined, "", line];
    const isResult = code === "1" && command.startsWith("npx adk-metrics");
    assert.ok(isResult || Number(code) === sample.exit, `${command} ends with ${code}\n${said}`);
  }
  if (sample.exit !== undefined) assert.equal(status, sample.exit, said);
  checkOutput(sample, stdout);
}

/** Compares what was printed with what the page shows; with UPDATE_SAMPLES set, what differs is noted for the page. */
export function checkOutput({ output }, printed) {
  if (output === undefined) return;
  try {
    assertPrinted(printed, output.code, output.name);
  } catch (error) {
    if (process.env.UPDATE_SAMPLES === undefined) throw error;
    const stable = printed.replaceAll(/^adk-metrics \d.*$/gm, "…");
    output.printed = `${stable.replaceAll(/[ \t]+$/gm, "").replaceAll(/^\n+|\s+$/g, "")}\n`;
  }
}

/** The text of a page with the outputs that were noted. */
export function withOutputs(text, samples) {
  const lines = text.split("\n");
  const noted = samples.map(({ output }) => output).filter((output) => output?.printed !== undefined);
  for (const { line, code, printed } of noted.toReversed()) {
    lines.splice(line, code.split("\n").length - 1, ...printed.split("\n").slice(0, -1));
  }
  return lines.join("\n");
}
