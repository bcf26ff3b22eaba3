// Whom the command line asks: every provider on a loopback server, chosen by options, the environment, a config or a .env.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { baseUrl } from "../providers/server.mjs";
import { BARE, CLOCK, folderOf, readBack, run } from "./command.mjs";
import { ask, at, FAIR, fair, FILES, judge, judged, KEY, MODELS, posix, server, statuses } from "./judging.mjs";

for (const [provider, model] of Object.entries(MODELS)) {
  test(`asks ${provider} as the environment says`, async (t) => {
    const { requests, ...answering } = await server(t);
    const args = ["--judge", provider, "--model", model];
    const { status, stdout, stderr } = await judge(folderOf(t, FILES), args, at[provider](answering));
    assert.deepEqual(statuses(stdout), FAIR, stderr);
    assert.equal(status, 1);
    assert.deepEqual(
      new Set(requests.map((asked) => `${asked.provider} ${asked.model}`)),
      new Set([`${provider} ${model}`]),
    );
    assert.match(stderr, /^judged by .*: 2 calls, \d+ tokens in, \d+ out$/m);
    assert.doesNotMatch(stdout + stderr, new RegExp(KEY));
  });
}

for (const [model, provider] of [
  ["gemini-2.5-pro", "gemini"],
  ["gpt-4.1-mini", "openai"],
  ["claude-haiku-4-5", "anthropic"],
  ["ollama/llama3.2", "ollama"],
]) {
  test(`chooses the provider by the name ${model}`, async (t) => {
    const { requests, ...answering } = await server(t);
    await judge(folderOf(t, FILES), ["--model", model], at[provider](answering));
    await judge(
      folderOf(t, { ...FILES, "test_config.json": judged({ judge_model: model }) }),
      [],
      at[provider](answering),
    );
    const asked = requests.map((request) => `${request.provider} ${request.model}`);
    assert.deepEqual(asked, Array(4).fill(`${provider} ${model.replace("ollama/", "")}`));
  });
}

test("asks for the criterion's model, ADK's default unless it names one", async (t) => {
  const answering = await server(t);
  const { stdout } = await judge(folderOf(t, FILES), [], at.gemini(answering));
  assert.deepEqual(statuses(stdout), FAIR);
  assert.deepEqual(new Set(answering.requests.map(({ model }) => model)), new Set(["gemini-2.5-flash"]));
});

test("says before it asks which model --judge takes without --model", async (t) => {
  const answering = await server(t);
  const said = async (config, args) => {
    const { stderr } = await judge(folderOf(t, { ...FILES, ...config }), args, at.gemini(answering));
    return stderr.split("\n").filter((line) => line.startsWith("asking gemini for"));
  };
  const named = { "test_config.json": judged({ judge_model: "gemini-3.5-flash-lite" }) };
  const model = ["--model", "gemini-3.5-flash-lite"];
  assert.deepEqual(await said({}, ["--judge", "gemini"]), [
    "asking gemini for gemini-2.5-flash, ADK's default model; --model names another",
  ]);
  assert.deepEqual(await said(named, ["--judge", "gemini"]), [
    "asking gemini for gemini-3.5-flash-lite, the model in the config; --model names another",
  ]);
  assert.deepEqual(await said({}, ["--judge", "gemini", ...model]), []);
});

test("asks a server of one's own for any model", async (t) => {
  const answering = await server(t);
  const env = { OPENAI_BASE_URL: baseUrl(answering.url, "openai"), OPENAI_API_KEY: "any" };
  await judge(folderOf(t, FILES), ["--judge", "openai"], env);
  await judge(folderOf(t, FILES), ["--judge", "openai", "--model", "openai/gpt-oss"], env);
  assert.deepEqual(
    answering.requests.map(({ model }) => model),
    ["gemini-2.5-flash", "gemini-2.5-flash", "openai/gpt-oss", "openai/gpt-oss"],
  );
});

test("asks gemini at Vertex AI where ADK would", async (t) => {
  const answering = await server(t);
  await judge(folderOf(t, FILES), [], {
    ...at.vertex(answering),
    GOOGLE_GENAI_USE_VERTEXAI: "TRUE",
    GOOGLE_API_KEY: "no",
  });
  assert.deepEqual(new Set(answering.requests.map(({ provider }) => provider)), new Set(["vertex"]));
  assert.match(answering.requests[0].path, /projects\/clocks\/locations\/europe-west1\//);
});

test("asks Vertex AI with a key in express mode", async (t) => {
  const answering = await server(t);
  const env = { GOOGLE_API_KEY: KEY, GOOGLE_VERTEX_BASE_URL: answering.url };
  const { stdout } = await judge(folderOf(t, FILES), ["--judge", "vertex"], env);
  assert.deepEqual(statuses(stdout), FAIR);
  assert.equal(answering.requests[0].headers["x-goog-api-key"], KEY);
});

for (const [variable, value, words] of [
  ["GOOGLE_CLOUD_LOCATION", "evil.example/x", /`evil\.example\/x` cannot be a location of Google Cloud/],
  ["GOOGLE_CLOUD_PROJECT", "../../x", /`\.\.\/\.\.\/x` cannot be a project of Google Cloud/],
]) {
  test(`refuses a ${variable} that would lead to another address`, async (t) => {
    const answering = await server(t);
    const env = { ...at.vertex(answering), [variable]: value };
    for (const args of [
      ["--judge", "vertex"],
      ["--judge", "vertex", "--model", "gemini-2.5-pro"],
    ]) {
      const { status, stderr } = await judge(folderOf(t, FILES), args, env);
      assert.match(stderr, words);
      assert.match(stderr, new RegExp(` {3}at ${variable}\n {3}help: .*lower-case letters, digits and -`));
      assert.equal(status, 2);
    }
    assert.equal(answering.requests.length, 0);
  });
}

test("refuses a model of a config that would lead to another address", async (t) => {
  const answering = await server(t);
  const config = judged({ judge_model: "gemini-../../../../upload/v1beta/files" });
  for (const provider of ["gemini", "vertex"]) {
    const cwd = folderOf(t, { ...CLOCK, "test_config.json": config });
    const { stderr, status } = await judge(cwd, ["--judge", provider], at[provider](answering));
    assert.match(stderr, /cannot be asked: the model is `gemini-\.\.\//);
    assert.match(stderr, /help: A model is called name/);
    assert.equal(status, 3);
  }
  assert.equal(answering.requests.length, 0);
});

test("asks gcloud for a token, application-default credentials first", posix, async (t) => {
  const cwd = folderOf(t, FILES);
  const answering = await server(t);
  const bin = join(cwd, "bin");
  mkdirSync(bin);
  const script = (adc) => `#!/bin/sh\n[ "$2" = application-default ] && { ${adc}; }\necho user-token\n`;
  const env = { ...at.vertex(answering), GOOGLE_OAUTH_ACCESS_TOKEN: "", PATH: bin };
  const tokenWith = async (adc) => {
    writeFileSync(join(bin, "gcloud"), script(adc), { mode: 0o755 });
    await judge(cwd, ["--judge", "vertex"], env);
    return answering.requests.at(-1).headers.authorization;
  };
  assert.equal(await tokenWith("echo adc-token; exit 0"), "Bearer adc-token");
  assert.equal(await tokenWith("exit 1"), "Bearer user-token");
});

test("has Vertex AI's service score what google-adk leaves to it", async (t) => {
  const answering = await server(t, {
    reply: (asked) => (asked.provider === "vertex-evaluate" ? { score: 1 } : fair(asked)),
  });
  const config = judged({}, { safety_v1: 0.8 });
  const cwd = folderOf(t, { ...FILES, "test_config.json": config });
  await judge(cwd, ["--judge", "vertex"], at.vertex(answering));
  const providers = answering.requests.map(({ provider }) => provider).sort();
  assert.deepEqual(providers, ["vertex", "vertex", "vertex-evaluate", "vertex-evaluate"]);
});

test("reads a file .env, which the environment wins over", async (t) => {
  const answering = await server(t);
  const dotenv = `GOOGLE_API_KEY="${KEY}"\nGOOGLE_GEMINI_BASE_URL=${answering.url}\n`;
  const cwd = folderOf(t, { ...FILES, ".env": dotenv });
  const { stdout, stderr } = await judge(cwd, [], {});
  assert.deepEqual(statuses(stdout), FAIR);
  assert.doesNotMatch(stdout + stderr, new RegExp(KEY));
  await judge(cwd, [], { GOOGLE_API_KEY: "other", GOOGLE_GEMINI_BASE_URL: answering.url });
  assert.deepEqual(
    answering.requests.map(({ headers }) => headers["x-goog-api-key"]),
    [KEY, KEY, "other", "other"],
  );
});

test("needs no judge where no metric asks one, and says so if one is named", async (t) => {
  const cwd = folderOf(t, CLOCK);
  const plain = await run(ask, { cwd, env: BARE });
  assert.doesNotMatch(plain.stderr, /judge/);
  const named = await run([...ask, "--judge", "gemini"], { cwd, env: BARE });
  assert.equal(named.stdout, plain.stdout);
  assert.match(named.stderr, /no metric asks a judge/);
});

const python = process.env.ADK_PYTHON;
test("google-adk reads judged results", { skip: python ? false : "set ADK_PYTHON" }, async (t) => {
  const answering = await server(t);
  const cwd = folderOf(t, FILES);
  const args = [...ask, "--explain", "all", "--format", "json", "--output", "out.json"];
  await run(args, { cwd, env: { ...BARE, ...at.gemini(answering) } });
  const { read, said } = readBack(python, [join(cwd, "out.json")]);
  assert.ok(read, said);
});
