// Runs the command line as a user does: as a process of its own.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const cli = join(root, "pkg/dist/esm/cli.js");

/** Starts the command line; colours are off unless `env` says otherwise. */
export function start(args, { cwd = root, env = {}, stdio = "pipe" } = {}) {
  const { NO_COLOR: _, FORCE_COLOR: __, ...inherited } = process.env;
  return spawn(process.execPath, [cli, ...args], { cwd, stdio, env: { ...inherited, ...env } });
}

/** Runs the command line to its end. */
export async function run(args, options = {}) {
  const child = start(args, options);
  const [[status, signal], stdout, stderr] = await Promise.all([
    ended(child, `the end of ${args.join(" ")}`, options.limitMs),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { stdout, stderr, status, signal };
}

/** Many times what any wait takes on a slow machine: a test whose subject is broken fails then, and does not hang. */
const LIMIT_MS = 120_000;

/** What has been read of a stream. */
const printed = new WeakMap();

/** Waits for something of a process, which is ended if it does not come: the error says what it had printed. */
export async function within(child, promise, what, limitMs = LIMIT_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
      reject(new Error(tooLate(what, limitMs, [child.stdout, child.stderr].map(said))));
      child.kill("SIGKILL");
      // A process that this one started may still hold them open.
      for (const stream of streams) stream.destroy();
    }, limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What is printed on both streams of a process; `seen` waits until that since the last time matches a pattern. */
export function watched(child) {
  let unseen = "";
  let check = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    void text(stream);
    stream.on("data", (chunk) => {
      unseen += chunk;
      check();
    });
  }
  const seen = (pattern, limitMs) => {
    const found = new Promise((resolve) => {
      check = () => {
        if (!pattern.test(unseen)) return;
        const all = unseen;
        unseen = "";
        check = () => {};
        resolve(all);
      };
      check();
    });
    return within(child, found, `output that matches ${pattern}`, limitMs);
  };
  return { seen };
}

/** Runs another program to its end, as {@link within} waits. */
export function runProgram(program, args, { limitMs = LIMIT_MS, ...options } = {}) {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    ...options,
    encoding: "utf8",
    timeout: limitMs,
    killSignal: "SIGKILL",
  });
  if (error?.code === "ETIMEDOUT") throw new Error(tooLate(`the end of ${program}`, limitMs, [stdout, stderr]));
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

function tooLate(what, limitMs, [stdout, stderr]) {
  return `waited ${limitMs / 1000} s for ${what}\nstdout: ${stdout}\nstderr: ${stderr}`;
}

/** The exit status and the signal of a process, which is ended if it does not end by itself. */
export function ended(child, what = "the end of the process", limitMs = LIMIT_MS) {
  const end = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (...end) => resolve(end));
  });
  return within(child, end, what, limitMs);
}

/** Waits until something is so that only looking can tell. */
export async function until(isSo, what, limitMs = LIMIT_MS) {
  const begun = Date.now();
  while (!isSo()) {
    if (Date.now() - begun > limitMs) throw new Error(`waited ${limitMs / 1000} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** All that a stream of a process gives until it is closed. */
export function text(stream) {
  stream.setEncoding("utf8").on("data", (chunk) => printed.set(stream, said(stream) + chunk));
  return new Promise((resolve) => stream.on("close", () => resolve(said(stream))));
}

/** What has been read of a stream so far. */
export const said = (stream) => printed.get(stream) ?? "";

/** A folder with the given files, gone after the test. Objects are written as JSON. */
export function folderOf(t, files = {}) {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-cli-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
  return folder;
}

/** A turn in which the agent says something and calls some tools. */
export function turn(final, calls = []) {
  return {
    user_content: { parts: [{ text: "What is the time?" }] },
    final_response: { parts: [{ text: final }] },
    intermediate_data: { tool_uses: calls },
  };
}

/** An evalset of one-turn cases: eval id to final response. */
export function evalSet(responses, id = "clock") {
  const cases = Object.entries(responses).map(([evalId, final]) => ({ eval_id: evalId, conversation: [turn(final)] }));
  return { eval_set_id: id, eval_cases: cases };
}

/** Two cases, of which `late` fails. */
export const CLOCK = {
  "clock.evalset.json": evalSet({ noon: "It is noon.", late: "It is late." }),
  "clock.actual.json": evalSet({ noon: "It is noon.", late: "I do not know." }),
};

/** Whatever the machine has set, tests set themselves; an empty variable counts as none. */
export const BARE = Object.fromEntries(
  [
    ...["GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI"],
    ...["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_VERTEX_BASE_URL"],
    ...["GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"],
    ...["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"],
  ].map((name) => [name, ""]),
);

/** A case that passes. The two files differ in a line break: an evalset that is scored by itself is warned of. */
export const GOOD = {
  "good.evalset.json": evalSet({ noon: "It is noon." }, "good"),
  "good.actual.json": `${JSON.stringify(evalSet({ noon: "It is noon." }, "good"))}\n`,
};

/** Lets google-adk read files; its verdict, and what it said. */
export function readBack(python, args) {
  try {
    return {
      read: true,
      said: execFileSync(python, [join(root, "tests/parity/readback.py"), ...args], { encoding: "utf8" }),
    };
  } catch (error) {
    return { read: false, said: `${error.stdout}${error.stderr}` };
  }
}
