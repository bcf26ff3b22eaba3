// A file .env may come with somebody else's folder: what it can set and what it cannot.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { baseUrl, startServer } from "../providers/server.mjs";
import { BARE, CLOCK, folderOf, run } from "./command.mjs";

const posix = { skip: process.platform === "win32" };

const OWN = "the-users-own-key-4711";
const THEIRS = "the-key-of-the-folder-0815";

const FILES = {
  ...CLOCK,
  "test_config.json": {
    criteria: { final_response_match_v2: { threshold: 0, judge_model_options: { num_samples: 1 } } },
  },
};

const verdict = JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: "valid" });

async function server(t) {
  const started = await startServer({ reply: () => verdict });
  t.after(() => started.close());
  return started;
}

const lines = (variables) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");

/** Evaluates in a folder with a `.env`. */
const evaluate = (t, dotenv, { env = {}, args = [], files = {} } = {}) =>
  run(["eval", "clock.evalset.json", ...args], {
    cwd: folderOf(t, { ...FILES, ".env": lines(dotenv), ...files }),
    env: { ...BARE, ...env },
  });

/** A stand-in for gcloud that says which variables it was given, and gives a token. */
function gcloud(t) {
  const bin = folderOf(t);
  const seen = join(bin, "seen");
  writeFileSync(join(bin, "gcloud"), `#!/bin/sh\n/usr/bin/env > ${seen}\necho gclouds-token-12345\n`, { mode: 0o755 });
  return { bin, seen };
}

const VERTEX = { GOOGLE_GENAI_USE_VERTEXAI: "1", GOOGLE_CLOUD_PROJECT: "clocks" };

test("gives gcloud nothing of a .env", posix, async (t) => {
  const { bin, seen } = gcloud(t);
  const answering = await server(t);
  const evil = { CLOUDSDK_PYTHON: "./evil.sh", LD_PRELOAD: "./evil.so", PYTHONPATH: ".", BASH_ENV: "./evil.sh" };
  const { stderr } = await evaluate(
    t,
    { ...VERTEX, ...evil },
    { env: { PATH: bin, GOOGLE_VERTEX_BASE_URL: answering.url } },
  );
  const given = readFileSync(seen, "utf8");
  for (const name of [...Object.keys(evil), ...Object.keys(VERTEX)]) {
    assert.doesNotMatch(given, new RegExp(`^${name}=.`, "m"));
  }
  assert.match(stderr, /^\.env: CLOUDSDK_PYTHON, LD_PRELOAD, PYTHONPATH, BASH_ENV are ignored/m);
  assert.equal(answering.requests[0].headers.authorization, "Bearer gclouds-token-12345");
});

test("takes gcloud from no folder that is relative to the working directory", posix, async (t) => {
  const script = "#!/bin/sh\ntouch ran\necho token-of-the-folder\n";
  const cwd = folderOf(t, { ...FILES, ".env": lines(VERTEX) });
  writeFileSync(join(cwd, "gcloud"), script, { mode: 0o755 });
  for (const PATH of [".", ":", "./"]) {
    const { status, stderr } = await run(["eval", "clock.evalset.json"], { cwd, env: { ...BARE, PATH } });
    assert.match(stderr, /`gcloud` gave none/);
    assert.deepEqual([status, existsSync(join(cwd, "ran"))], [2, false]);
  }
});

/** Provider: the model, the user's own key, and the address that a folder names. */
const STOLEN = {
  openai: ["gpt-4.1-mini", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  anthropic: ["claude-haiku-4-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
  gemini: ["gemini-2.5-flash", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
  "gemini by its other name": ["gemini-2.5-flash", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
  "a server that speaks OpenAI's protocol": ["qwen3", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  vertex: ["gemini-2.5-flash", "GOOGLE_API_KEY", "GOOGLE_VERTEX_BASE_URL", { GOOGLE_GENAI_USE_VERTEXAI: "1" }],
  "vertex with a token": [
    "gemini-2.5-flash",
    "GOOGLE_OAUTH_ACCESS_TOKEN",
    "GOOGLE_VERTEX_BASE_URL",
    { ...VERTEX, GOOGLE_API_KEY: THEIRS },
  ],
};

for (const [provider, [model, key, address, more = {}]] of Object.entries(STOLEN)) {
  test(`sends the user's own key of ${provider} to no address of a .env`, async (t) => {
    const answering = await server(t);
    const theirs = { [address]: baseUrl(answering.url, key === "OPENAI_API_KEY" ? "openai" : "gemini"), ...more };
    const { status, stderr, stdout } = await evaluate(t, theirs, { env: { [key]: OWN }, args: ["--model", model] });
    assert.equal(answering.requests.length, 0);
    assert.match(stderr, new RegExp(`error: ${address} comes from \\.env, but ${key} comes from the environment`));
    assert.match(
      stderr,
      /help: Set both in the environment, or both in the same \.env file: other keys are never sent to an address from a \.env file/,
    );
    assert.equal(status, 2);
    assert.doesNotMatch(stdout + stderr, new RegExp(OWN));
  });

  test(`asks ${provider} at an address of a .env with a key of the same .env`, async (t) => {
    const answering = await server(t);
    const theirs = { [address]: baseUrl(answering.url, key === "OPENAI_API_KEY" ? "openai" : "gemini"), ...more };
    const { stderr } = await evaluate(t, { ...theirs, [key]: THEIRS }, { args: ["--model", model] });
    assert.match(JSON.stringify(answering.requests[0].headers), new RegExp(THEIRS));
    assert.match(stderr, new RegExp(`asking \\S+ at ${answering.url} \\(${address} in \\.env\\)`));
  });
}

test("sends gcloud's token to no address of a .env, whatever key the .env has", posix, async (t) => {
  const { bin } = gcloud(t);
  const answering = await server(t);
  for (const more of [{}, { GOOGLE_API_KEY: THEIRS }]) {
    const theirs = { ...VERTEX, GOOGLE_VERTEX_BASE_URL: answering.url, ...more };
    const { status, stderr } = await evaluate(t, theirs, { env: { PATH: bin }, args: ["--judge", "vertex"] });
    assert.match(stderr, /error: GOOGLE_VERTEX_BASE_URL comes from \.env, but the token comes from gcloud/);
    assert.equal(status, 2);
  }
  assert.equal(answering.requests.length, 0);
});

test("says which server is asked where it is not the provider's own, whoever named it", async (t) => {
  const answering = await server(t);
  const env = { OPENAI_API_KEY: OWN, OPENAI_BASE_URL: baseUrl(answering.url, "openai") };
  const { stderr } = await evaluate(t, {}, { env, args: ["--model", "gpt-4.1-mini"] });
  assert.equal(stderr.match(new RegExp(`^asking openai at ${answering.url} \\(OPENAI_BASE_URL\\)$`, "gm"))?.length, 1);
  assert.doesNotMatch(stderr, new RegExp(OWN));
});

test("says nothing of the variables of others in a .env", async (t) => {
  const answering = await server(t);
  const env = { GOOGLE_API_KEY: OWN, GOOGLE_GEMINI_BASE_URL: answering.url };
  const { stderr } = await evaluate(t, { DATABASE_URL: "x", PORT: "1" }, { env });
  assert.doesNotMatch(stderr, /\.env/);
});

test("says which variables of a .env look like those of judges and are none", async (t) => {
  const answering = await server(t);
  const env = { GOOGLE_API_KEY: OWN, GOOGLE_GEMINI_BASE_URL: answering.url };
  const { stderr } = await evaluate(t, { OPENAI_API_KYE: "x", GOOGLE_APPLICATION_CREDENTIALS: "y" }, { env });
  assert.match(stderr, /^\.env: OPENAI_API_KYE, GOOGLE_APPLICATION_CREDENTIALS are ignored/m);
});

test("refuses a .env that is no regular file", posix, async (t) => {
  const cwd = folderOf(t, FILES);
  symlinkSync("/dev/zero", join(cwd, ".env"));
  const { status, stderr } = await run(["eval", "clock.evalset.json"], { cwd, env: BARE });
  assert.match(stderr, /the file \.env is not a regular file\n {3}at .*\.env/);
  assert.equal(status, 2);
});

/** An agent in a folder of its own, that says which keys it was given. */
const AGENT = `
const key = process.env.GOOGLE_API_KEY || "no key";
const others = [process.env.DATABASE_URL, process.env.LD_PRELOAD].filter(Boolean).join() || "nothing else";
console.error("the agent has " + key + " and " + others);
export default () => "It is noon.";
`;

/** A project whose agent is in a folder. */
function project(t, dotenvs) {
  const cwd = folderOf(t, FILES);
  mkdirSync(join(cwd, "agents", "clock"), { recursive: true });
  writeFileSync(join(cwd, "agents", "clock", "agent.mjs"), AGENT);
  for (const [folder, variables] of Object.entries(dotenvs)) {
    writeFileSync(join(cwd, folder, ".env"), lines(variables));
  }
  return cwd;
}

test("reads the .env beside an agent, for the agent and its judges, before that of the working directory", async (t) => {
  const answering = await server(t);
  const cwd = project(t, {
    "agents/clock": {
      GOOGLE_API_KEY: THEIRS,
      GOOGLE_GEMINI_BASE_URL: answering.url,
      DATABASE_URL: "db",
      LD_PRELOAD: "",
    },
    ".": { GOOGLE_API_KEY: "the-key-of-the-working-directory" },
  });
  const { stderr } = await run(["run", "--agent", "agents/clock", "clock.evalset.json"], { cwd, env: BARE });
  assert.match(stderr, new RegExp(`the agent has ${THEIRS} and nothing else`));
  assert.match(stderr, /^agents\/clock\/\.env: DATABASE_URL is not passed to the agent$/m);
  assert.equal(answering.requests[0].headers["x-goog-api-key"], THEIRS);
  assert.match(stderr, /\(GOOGLE_GEMINI_BASE_URL in agents\/clock\/\.env\)/);
});

/** An address in a `.env`, with a key for it there, and a variable of the user's that clients send to it as well. */
const SENT_TOO = {
  OPENAI_ADMIN_KEY: ["OPENAI_BASE_URL", "OPENAI_API_KEY"],
  AZURE_OPENAI_API_KEY: ["OPENAI_BASE_URL", "OPENAI_API_KEY"],
  ANTHROPIC_AUTH_TOKEN: ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"],
  OLLAMA_API_KEY: ["OLLAMA_HOST"],
  GEMINI_API_KEY: ["GOOGLE_GEMINI_BASE_URL", "GOOGLE_API_KEY"],
};

for (const [own, [address, ...keys]] of Object.entries(SENT_TOO)) {
  test(`gives an agent no address of a .env where ${own} is the user's own`, async (t) => {
    const cwd = folderOf(t, {
      "clock.evalset.json": FILES["clock.evalset.json"],
      "agent.mjs": `console.error("the address is " + (process.env.${address} || "none")); export default () => "";`,
    });
    const theirs = { [address]: "http://127.0.0.1:9", ...Object.fromEntries(keys.map((key) => [key, THEIRS])) };
    writeFileSync(join(cwd, ".env"), lines(theirs));
    const args = ["run", "--agent", "./agent.mjs", "clock.evalset.json"];
    const { stderr } = await run(args, { cwd, env: { ...BARE, [own]: OWN } });
    assert.match(stderr, /^the address is none$/m);
    const why = `because ${own}, which comes from elsewhere, could be sent there`;
    assert.match(stderr, new RegExp(`^\\.env: ${address} is not passed to the agent, ${why}$`, "m"));
    assert.match((await run(args, { cwd, env: BARE })).stderr, /^the address is http:/m);
  });
}

test("sends a key of one .env to no address of another", async (t) => {
  const answering = await server(t);
  const cwd = project(t, {
    "agents/clock": { GOOGLE_GEMINI_BASE_URL: answering.url },
    ".": { GOOGLE_API_KEY: OWN },
  });
  const { status, stderr } = await run(["run", "--agent", "agents/clock", "clock.evalset.json"], { cwd, env: BARE });
  assert.equal(answering.requests.length, 0);
  assert.match(stderr, /GOOGLE_GEMINI_BASE_URL comes from agents\/clock\/\.env, but GOOGLE_API_KEY comes from \.env/);
  assert.equal(status, 2);
});

test("an address of a .env file that is none is said with that file", async (t) => {
  const { stderr, status } = await evaluate(t, { OPENAI_BASE_URL: "127.0.0.1:9/v1" }, { args: ["--model", "gpt-x"] });
  assert.equal(status, 2, stderr);
  assert.match(
    stderr,
    /error: the address has to begin with https:\/\/ or http:\/\/\n {3}at OPENAI_BASE_URL in \.env\n/,
  );
});
