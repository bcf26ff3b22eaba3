// The command line asks judges: every provider on a loopback server, recordings, and everything that goes wrong.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { baseUrl, startServer } from "../providers/server.mjs";
import { BARE, CLOCK, cli, ended, evalSet, folderOf, GOOD, readBack, run, start, text, until } from "./command.mjs";

const posix = { skip: process.platform === "win32" };

/** No program but Node is on this path: no `gcloud`. */
const NO_PATH = { PATH: "/nowhere" };
const KEY = "key-that-nobody-may-see-4711";

/** The criteria of a config, with the options of the judge. */
const judged = (options = {}, more = {}) => ({
  criteria: {
    final_response_match_v2: { threshold: 1, judge_model_options: { num_samples: 1, ...options } },
    ...more,
  },
});
const FILES = { ...CLOCK, "test_config.json": judged() };
const ask = ["eval", "clock.evalset.json"];

const verdict = (isValid) =>
  JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: isValid ? "valid" : "invalid" });
/** Finds the answer of `late` wrong. */
const fair = ({ prompt }) => verdict(!prompt.includes("I do not know."));

async function server(t, options = {}) {
  const started = await startServer({ reply: fair, ...options });
  t.after(() => started.close());
  return started;
}

/** `evalId: status` of every case in results in ADK's schema. */
const statuses = (json) =>
  Object.fromEntries(JSON.parse(json).eval_case_results.map((one) => [one.eval_id, one.final_eval_status]));
/** What a fair judge finds. */
const FAIR = { noon: 1, late: 2 };

/** The environment in which a provider is the server. */
const at = {
  gemini: ({ url }) => ({ GOOGLE_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url }),
  vertex: ({ url }) => ({
    GOOGLE_CLOUD_PROJECT: "clocks",
    GOOGLE_CLOUD_LOCATION: "europe-west1",
    GOOGLE_OAUTH_ACCESS_TOKEN: KEY,
    GOOGLE_VERTEX_BASE_URL: url,
  }),
  openai: ({ url }) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: baseUrl(url, "openai") }),
  anthropic: ({ url }) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
  ollama: ({ url }) => ({ OLLAMA_HOST: url }),
};

const MODELS = {
  gemini: "gemini-2.5-pro",
  vertex: "gemini-2.5-pro",
  openai: "gpt-4.1-mini",
  anthropic: "claude-haiku-4-5",
  ollama: "llama3.2",
};

/** Runs with a judge; the results are those in ADK's schema on stdout. */
const judge = (cwd, args, env) => run([...ask, ...args, "--format", "json"], { cwd, env: { ...BARE, ...env } });

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

test("exits with 3 if Vertex AI's service gives no score", async (t) => {
  const answering = await server(t, { reply: () => ({ fault: "forbidden" }) });
  const cwd = folderOf(t, { ...CLOCK, "test_config.json": { criteria: { safety_v1: 0.8 } } });
  const { status, stderr } = await judge(cwd, ["--judge", "vertex"], at.vertex(answering));
  assert.match(stderr, /^error: no call of the judge got a reply: Vertex AI answered 403/m);
  assert.equal(status, 3);
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
  assert.match(named.stderr, /no metric asked a judge/);
});

test("replays what it recorded with the same results, asking nobody", async (t) => {
  const answering = await startServer({ reply: fair });
  const cwd = folderOf(t, { ...FILES, "test_config.json": judged({ num_samples: 5 }) });
  const csv = [...ask, "--format", "csv"];
  const env = { ...BARE, ...at.gemini(answering) };
  const recorded = await run([...csv, "--record", "judge.jsonl"], { cwd, env });
  await answering.close();
  assert.match(recorded.stderr, /^recorded judge\.jsonl$/m);
  assert.doesNotMatch(readFileSync(join(cwd, "judge.jsonl"), "utf8"), new RegExp(KEY));
  const replayed = await run([...csv, "--judge", "replay:judge.jsonl"], { cwd, env: BARE });
  assert.equal(replayed.stdout, recorded.stdout);
  assert.equal(replayed.status, 1);
  assert.equal(
    answering.requests.length,
    readFileSync(join(cwd, "judge.jsonl"), "utf8").trimEnd().split("\n").length - 1,
  );
});

test("replays models of several providers", async (t) => {
  const rubrics = [{ rubric_id: "short", rubric_content: { text_property: "It is short." } }];
  const reply = (asked) =>
    asked.provider === "openai" ? fair(asked) : "Property: It is short.\nRationale: It is.\nVerdict: yes\n";
  const answering = await startServer({ reply });
  const config = judged(
    { judge_model: "openai/gpt-4.1-mini" },
    {
      rubric_based_final_response_quality_v1: {
        threshold: 1,
        rubrics,
        judge_model_options: { num_samples: 1, judge_model: "anthropic/claude-haiku-4-5" },
      },
    },
  );
  const cwd = folderOf(t, { ...FILES, "test_config.json": config });
  const recorded = await judge(cwd, ["--record", "both.jsonl"], {
    ...at.openai(answering),
    ...at.anthropic(answering),
  });
  await answering.close();
  assert.equal(answering.requests.length, 4);
  const replayed = await judge(cwd, ["--judge", "replay:both.jsonl"], {});
  assert.match(
    replayed.stderr,
    /^judged by openai\/gpt-4\.1-mini \(gpt-4\.1-mini-2026-08-01\), anthropic\/claude-haiku-4-5 \(claude-haiku-4-5-20260901\): 4 calls/m,
  );
  assert.deepEqual(statuses(replayed.stdout), statuses(recorded.stdout));
});

test("says which reply a recording lacks, and exits with 3 if it lacks all", async (t) => {
  const answering = await server(t);
  const cwd = folderOf(t, FILES);
  await judge(cwd, ["--record", "judge.jsonl"], at.gemini(answering));
  const replay = ["--judge", "replay:judge.jsonl"];

  const [header, noon] = readFileSync(join(cwd, "judge.jsonl"), "utf8").split("\n");
  writeFileSync(join(cwd, "judge.jsonl"), `${header}\n${noon}\n`);
  const half = await run([...ask, ...replay], { cwd, env: BARE });
  assert.equal(half.status, 1);
  assert.match(half.stdout, /nothing is recorded for this case/);
  assert.match(half.stderr, /^warning: 1 result of judged metrics could not be evaluated, since calls failed$/m);

  writeFileSync(join(cwd, "clock.actual.json"), JSON.stringify(evalSet({ noon: "Noon it is.", late: "Late it is." })));
  const none = await run([...ask, ...replay], { cwd, env: BARE });
  assert.equal(none.status, 3);
  assert.match(none.stdout, /2 cases: 2 not evaluated/);
  assert.match(none.stderr, /^error: no call of the judge got a reply: .*recording/m);
});

/** Ways in which a judge cannot be reached, and what is said of it. */
const UNREACHED = {
  "the key is wrong": ["auth", /no call of the judge got a reply: .*401/],
  "the key has no permission": ["forbidden", /no call of the judge got a reply: .*403/],
  "there is no such model": ["not_found", /no call of the judge got a reply: .*404/],
};

for (const [what, [fault, words]] of Object.entries(UNREACHED)) {
  test(`exits with 3 if ${what}, and never prints the key`, async (t) => {
    const answering = await server(t, { reply: () => ({ fault, message: `The key ${KEY} is not welcome` }) });
    for (const provider of Object.keys(at)) {
      const args = ["--judge", provider, "--model", MODELS[provider], "--explain", "all"];
      const { status, stdout, stderr } = await judge(folderOf(t, FILES), args, at[provider](answering));
      assert.match(stderr, words, provider);
      assert.equal(status, 3, provider);
      assert.deepEqual(statuses(stdout), { noon: 3, late: 3 });
      if (provider !== "ollama") assert.doesNotMatch(stdout + stderr, new RegExp(KEY), provider);
    }
  });
}

test("exits with 3 if nobody is there, without trying for minutes", async (t) => {
  const gone = await startServer();
  await gone.close();
  const config = judged({ num_samples: 1 }, { response_match_score: 0.5 });
  const cwd = folderOf(t, { ...FILES, "test_config.json": config });
  const { status, stdout, stderr } = await judge(cwd, [], at.gemini(gone));
  assert.equal(status, 3);
  assert.match(stderr, /no call of the judge got a reply: .*ECONNREFUSED/);
  // As in google-adk, a metric without a result leaves the status of a case to the others.
  assert.deepEqual(statuses(stdout), { noon: 1, late: 2 });
});

test("waits for a server that is starting up", async (t) => {
  const gone = await startServer();
  await gone.close();
  const { port } = new URL(gone.url);
  const running = judge(folderOf(t, FILES), [], at.gemini(gone));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const answering = await server(t);
  const door = createServer((socket) => socket.pipe(connect(new URL(answering.url).port)).pipe(socket)).listen(port);
  t.after(() => door.close());
  const { stdout, stderr } = await running;
  assert.deepEqual(statuses(stdout), FAIR, stderr);
});

test("exits with 1 if some calls get a reply", async (t) => {
  const reply = (asked) => (asked.prompt.includes("I do not know.") ? { fault: "bad_request" } : fair(asked));
  const answering = await server(t, { reply });
  const { status, stdout } = await judge(folderOf(t, FILES), [], at.gemini(answering));
  assert.equal(status, 1);
  assert.deepEqual(statuses(stdout), { noon: 1, late: 3 });
});

test("exits with 1 if only results of the judge are missing", async (t) => {
  const reply = (asked) => (asked.index === 0 ? fair(asked) : { fault: "bad_request" });
  const answering = await server(t, { reply });
  const config = judged({}, { response_match_score: 0 });
  const cwd = folderOf(t, { ...FILES, "test_config.json": config });
  const { status, stdout, stderr } = await judge(cwd, ["--concurrency", "1"], at.gemini(answering));
  assert.deepEqual(statuses(stdout), { noon: 1, late: 1 });
  assert.match(stderr, /^warning: 1 result of judged metrics could not be evaluated, since calls failed$/m);
  assert.equal(status, 1);
});

test("recovers from a storm of rate limits", async (t) => {
  const reply = (asked) => (asked.index < 6 ? { fault: "rate_limit", retryInfo: "0.05s" } : fair(asked));
  const answering = await server(t, { reply });
  const { stdout, stderr } = await judge(folderOf(t, FILES), [], at.gemini(answering));
  assert.deepEqual(statuses(stdout), FAIR);
  assert.match(
    stderr,
    /^judged by gemini-2\.5-flash \(gemini-2\.5-flash-001\): \d+ calls \(\d+ repeated\), \d+ tokens in, \d+ out$/m,
  );
});

test("makes as many calls at a time as it is told", async (t) => {
  let [open, most, told] = [0, 0, 0];
  const reply = async (asked) => {
    most = Math.max(most, (open += 1));
    // The first ones are held until as many are under way; one too many would come while this one is answered.
    await until(() => most >= told, `${told} calls at a time`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    open -= 1;
    return fair(asked);
  };
  const answering = await server(t, { reply });
  const cwd = folderOf(t, { ...FILES, "test_config.json": judged({ num_samples: 9 }) });
  for (const concurrency of [1, 3]) {
    [most, told] = [0, concurrency];
    await judge(cwd, ["--concurrency", String(concurrency)], at.gemini(answering));
    assert.equal(most, concurrency);
  }
});

test("cancels calls on Ctrl-C, and keeps results and replies that are there", posix, async (t) => {
  const answering = await server(t, {
    reply: (asked) => (asked.prompt.includes("I do not know.") ? { fault: "hang" } : fair(asked)),
  });
  const cwd = folderOf(t, FILES);
  const args = [...ask, "--format", "json", "--record", "judge.jsonl"];
  const child = start(args, { cwd, env: { ...BARE, ...at.gemini(answering) } });
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  const end = ended(child);
  await until(() => answering.requests.length >= 2, "two questions to the judge");
  await new Promise((resolve) => setTimeout(resolve, 200));
  child.kill("SIGINT");
  assert.deepEqual(await end, [130, null]);
  assert.deepEqual(statuses(await stdout), { noon: 1 });
  assert.match(await stderr, /interrupted: the results are those of the cases that were done/);
  assert.equal(readFileSync(join(cwd, "judge.jsonl"), "utf8").trimEnd().split("\n").length, 2);
});

/** `script` gives its command a terminal. */
const hasScript = (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, "script")));
const terminal = { skip: process.platform !== "linux" || !hasScript };

/** What a terminal of 120 columns shows of a command, which writes its results to a file. */
async function onTerminal(cwd, args, env) {
  const command = `stty cols 120; '${process.execPath}' '${cli}' ${args} --output out.txt`;
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd,
    env: { ...process.env, ...BARE, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [shown] = await Promise.all([text(child.stdout), ended(child)]);
  const lines = shown.replace(/\u001b\[[\d;]*[mK]/g, "").split(/[\r\n]+/);
  for (const line of lines) assert.ok(line.length <= 120, line);
  return lines;
}

test("shows on a terminal what judges do", terminal, async (t) => {
  const cases = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`case-${at}`, `It is ${at}.`]));
  const answering = await server(t, { latencyMs: 120 });
  const cwd = folderOf(t, {
    "many.evalset.json": evalSet(cases, "many"),
    "many.actual.json": evalSet(cases, "many"),
    "test_config.json": judged({ num_samples: 5 }),
  });
  const lines = await onTerminal(cwd, "eval many.evalset.json --concurrency 4", at.gemini(answering));
  const bar = /^█+░+ \d+\/12 · \d+ calls, \d+ saved, [\d,]+ tokens, \d+ s left · many\.evalset\.json$/;
  assert.ok(
    lines.some((line) => bar.test(line)),
    lines.join("\n"),
  );
});

test("shows on a terminal that it waits for a slow judge", terminal, async (t) => {
  const answering = await server(t, { latencyMs: 1500 });
  const lines = await onTerminal(folderOf(t, FILES), ask.join(" "), at.gemini(answering));
  assert.ok(
    lines.includes(`${"░".repeat(24)} 2 calls · waiting for the first reply · clock.evalset.json`),
    lines.join("\n"),
  );
});

/** What is missing or wrong, by arguments and environment; and the words on stderr. */
const MISTAKES = {
  "no key for the criteria's model": [
    [],
    {},
    /error: there is no judge to ask gemini-2\.5-flash\n {3}at test_config\.json, criteria\.final_response_match_v2\n {3}help: Set GOOGLE_API_KEY or GEMINI_API_KEY, in the environment or in a file \.env; or choose/,
  ],
  "no key for the model": [
    ["--model", "gpt-4.1"],
    {},
    /no judge to ask gpt-4\.1\n.*\n {3}help: Set OPENAI_API_KEY, or/,
  ],
  "no key for gemini": [["--judge", "gemini"], {}, /--judge gemini lacks its key\n.*\n {3}help: Set GOOGLE_API_KEY or/],
  "no key for openai": [
    ["--judge", "openai", "--model", "x"],
    {},
    /--judge openai lacks its key\n.*\n.*OPENAI_API_KEY/,
  ],
  "no key for anthropic": [["--judge", "anthropic", "--model", "x"], {}, /help: Set ANTHROPIC_API_KEY, in/],
  "no project for vertex": [
    ["--judge", "vertex"],
    {},
    /Vertex AI needs GOOGLE_CLOUD_PROJECT, or GOOGLE_API_KEY in express/,
  ],
  "no token for vertex": [
    ["--judge", "vertex"],
    { GOOGLE_CLOUD_PROJECT: "p", ...NO_PATH },
    /Vertex AI needs a token: GOOGLE_OAUTH_ACCESS_TOKEN or .* is not set, and `gcloud` gave none\n {3}help: Log in/,
  ],
  "a model of another provider": [
    ["--judge", "anthropic"],
    { ANTHROPIC_API_KEY: KEY },
    /--judge anthropic cannot ask gemini-2\.5-flash, .*\n {3}help: Say which model to ask with --model/,
  ],
  "an address that is none": [
    ["--judge", "openai", "--model", "x"],
    { OPENAI_BASE_URL: "localhost:1234" },
    /error: the address .*\n {3}at OPENAI_BASE_URL\n/,
  ],
  "a key that is none": [
    ["--judge", "gemini"],
    { GOOGLE_API_KEY: "zwei Wörter" },
    /error: expected a key, .*\n {3}at GOOGLE_API_KEY or GEMINI_API_KEY\n/,
  ],
  "an unknown judge": [["--judge", "opena1"], {}, /--judge cannot be `opena1`\n {3}help: Did you mean `openai`\?/],
  "a judge that resembles none": [["--judge", "x"], {}, /help: It is one of gemini, .*, replay:<file>/],
  "a recording without a name": [["--judge", "replay:"], {}, /names no recording\n {3}help: --judge replay:<file>/],
  "a recording that does not exist": [
    ["--judge", "replay:no.jsonl"],
    {},
    /the recording does not exist\n {3}at no\.jsonl/,
  ],
  "a recording that is none": [["--judge", "replay:clock.evalset.json"], {}, /at clock\.evalset\.json:1\n/],
  "a model for a recording": [["--judge", "replay:r", "--model", "m"], {}, /--model has no meaning for a recording/],
  "a recording of a recording": [["--judge", "replay:r", "--record", "s"], {}, /would record what is recorded already/],
  "a recording that is there": [
    ["--record", "clock.evalset.json"],
    {},
    /overwrite the evalset\n {3}at clock\.evalset\.json/,
  ],
  "an old recording": [["--record", "old.jsonl"], {}, /the recording already exists\n {3}at old\.jsonl\n/],
  "a recording among the results": [
    ["--record", "./out.json", "--output", "out.json"],
    {},
    /the results and the recording would go to one file/,
  ],
  "a recording in place of a folder": [["--record", "."], {}, /error: the output is a folder/],
  "no concurrency": [
    ["--concurrency", "0"],
    {},
    /--concurrency cannot be `0`\n {3}help: It is a whole number from 1 up/,
  ],
};

for (const [what, [args, env, words]] of Object.entries(MISTAKES)) {
  test(`refuses ${what} before anything is asked`, async (t) => {
    const cwd = folderOf(t, { ...FILES, "old.jsonl": "{}\n" });
    const { status, stdout, stderr } = await judge(cwd, args, env);
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /Wörter/);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.equal(readFileSync(join(cwd, "old.jsonl"), "utf8"), "{}\n");
  });
}

test("says once what is missing for the evalsets of a config, and which config it is", async (t) => {
  const cwd = folderOf(t, { ...FILES, ...GOOD });
  for (const folder of ["other", "unjudged"]) mkdirSync(join(cwd, folder));
  for (const [name, config] of Object.entries({
    other: judged(),
    unjudged: { criteria: { response_match_score: 1 } },
  })) {
    const set = JSON.stringify(evalSet({ noon: "It is noon." }, name));
    for (const kind of ["evalset", "actual"]) writeFileSync(join(cwd, name, `${name}.${kind}.json`), set);
    writeFileSync(join(cwd, name, "test_config.json"), JSON.stringify(config));
  }
  const { stderr } = await run(["eval", "."], { cwd, env: BARE });
  const places = [...stderr.matchAll(/error: there is no judge to ask gemini-2\.5-flash\n {3}at (.*)\n/g)];
  assert.deepEqual(
    places.map(([, place]) => place),
    ["test_config.json, criteria.final_response_match_v2", "other/test_config.json, criteria.final_response_match_v2"],
  );
});

test(
  "records elsewhere when a reply cannot be recorded, and keeps results",
  { skip: process.platform !== "linux" },
  async (t) => {
    const answering = await server(t);
    const cwd = folderOf(t, FILES);
    const env = { ...at.gemini(answering), TMPDIR: cwd };
    const { status, stdout, stderr } = await judge(cwd, ["--record", "/dev/full"], env);
    const [, file] =
      /error: the output cannot be written: the disk is full\n {3}at \/dev\/full\n {3}help: The replies are in (.*)\n/.exec(
        stderr,
      ) ?? [];
    assert.ok(file?.startsWith(cwd), stderr);
    assert.equal(status, 2);
    assert.match(stdout, /noon/);
    const replayed = await run([...ask, "--format", "json", "--judge", `replay:${file}`], { cwd, env: BARE });
    assert.deepEqual(statuses(replayed.stdout), FAIR);
  },
);

const python = process.env.ADK_PYTHON;
test("google-adk reads judged results", { skip: python ? false : "set ADK_PYTHON" }, async (t) => {
  const answering = await server(t);
  const cwd = folderOf(t, FILES);
  const args = [...ask, "--explain", "all", "--format", "json", "--output", "out.json"];
  await run(args, { cwd, env: { ...BARE, ...at.gemini(answering) } });
  const { read, said } = readBack(python, [join(cwd, "out.json")]);
  assert.ok(read, said);
});

/** A judge of the user's own: a module, whose function finds the answer of `late` wrong. */
const OWN = `
const verdict = (is) => ({ text: JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: is }) });
export const fair = async ({ prompt }) => verdict(prompt.includes("I do not know.") ? "invalid" : "valid");
export const lenient = async () => verdict("valid");
export const limit = 3;
export { fair as judge };
console.log("loaded");
`;

test("asks a judge of your own by its module", async (t) => {
  const cwd = folderOf(t, {
    ...FILES,
    "judge.mjs": OWN,
    "default.mjs": `export { fair as default } from "./judge.mjs";`,
  });
  for (const module of ["./judge.mjs", "judge.mjs", "./default.mjs", "judge.mjs#fair", "judge.mjs:fair"]) {
    const { status, stdout, stderr } = await judge(cwd, ["--judge", module], {});
    assert.equal(status, 1, stderr);
    assert.deepEqual(statuses(stdout), FAIR, module);
    assert.match(stderr, /^loaded$/m);
  }
  const picked = await judge(cwd, ["--judge", "./judge.mjs#lenient"], {});
  assert.deepEqual([picked.status, statuses(picked.stdout)], [0, { noon: 1, late: 1 }]);
});

test("names a judge of your own in reports by its module, or by the model that it asks", async (t) => {
  const { url } = await server(t);
  const openai = `import { openaiJudge } from ${JSON.stringify(new URL("../../pkg/dist/esm/node.js", import.meta.url).href)};
export default openaiJudge({ model: "gpt-own", apiKey: "k", baseUrl: ${JSON.stringify(baseUrl(url, "openai"))} });`;
  const cwd = folderOf(t, { ...FILES, "judge.mjs": OWN, "openai.mjs": openai });
  const own = await run([...ask, "--judge", "./judge.mjs"], { cwd, env: BARE });
  assert.match(own.stdout, /judged by .*judge\.mjs/);
  const picked = await run([...ask, "--judge", "./judge.mjs#lenient"], { cwd, env: BARE });
  assert.match(picked.stdout, /judged by .*judge\.mjs#lenient/);
  const known = await run([...ask, "--judge", "./openai.mjs"], { cwd, env: BARE });
  assert.match(known.stdout, /judged by .*gpt-own/);
});

test("records the replies of a judge of your own", async (t) => {
  const cwd = folderOf(t, { ...FILES, "judge.mjs": OWN });
  const recorded = await judge(cwd, ["--judge", "./judge.mjs", "--record", "judge.jsonl"], {});
  assert.match(recorded.stderr, /^recorded judge\.jsonl$/m);
  const replayed = await judge(cwd, ["--judge", "replay:judge.jsonl"], {});
  assert.deepEqual(statuses(replayed.stdout), FAIR);
});

for (const [what, args, words] of [
  ["there is no such module", ["./none.mjs"], /the module of the judge does not exist\n.*none\.mjs/],
  ["the module holds no judge", ["./empty.mjs"], /the module exports no judge\n.*empty\.mjs\n.*openaiJudge\(\).*limit/],
  [
    "it does not export the one that is named",
    ["./judge.mjs#strict"],
    /exports no `strict`\n.*\n.*fair, judge, lenient, limit/,
  ],
  ["what is named is no judge", ["./judge.mjs#limit"], /the export `limit` is not a judge/],
  [
    "a model is named too",
    ["./judge.mjs", "--model", "gemini-2.5-pro"],
    /--model has no effect on a judge of your own/,
  ],
  ["its code fails", ["./broken.mjs"], /the module of the judge cannot be loaded: Error: oh no/],
]) {
  test(`says what to do about a judge of your own if ${what}`, async (t) => {
    const files = {
      "judge.mjs": OWN,
      "empty.mjs": "export const limit = 1;",
      "broken.mjs": "throw new Error('oh no');",
    };
    const { status, stderr } = await judge(folderOf(t, { ...FILES, ...files }), ["--judge", ...args], {});
    assert.equal(status, 2);
    assert.match(stderr, words);
  });
}

test("loads no judge's module that a config or a .env names", async (t) => {
  const code =
    "import { writeFileSync } from 'node:fs'; writeFileSync('loaded', ''); export default () => ({ text: '' });";
  const config = { ...judged({ judge_model: "./judge.mjs" }), judge: "./judge.mjs" };
  const env = { "judge.mjs": code, ".env": "ADK_METRICS_JUDGE=./judge.mjs\n" };
  const cwd = folderOf(t, { ...FILES, ...env, "test_config.json": config });
  const { status } = await judge(cwd, [], {});
  assert.equal(status, 2);
  assert.equal(existsSync(join(cwd, "loaded")), false);
});

test("keeps the module of the judge from being overwritten", async (t) => {
  const cwd = folderOf(t, { ...FILES, "judge.mjs": OWN });
  const { status, stderr } = await judge(cwd, ["--judge", "./judge.mjs", "--output", "judge.mjs", "--force"], {});
  assert.equal(status, 2);
  assert.match(stderr, /the output would overwrite the module of the judge/);
});
