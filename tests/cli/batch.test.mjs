// Judges that are asked through the batch interfaces of their providers: one server on loopback plays all three, with what
// goes wrong with them.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { estimateCalls, evaluate, evaluateStream, openaiJudge, panelJudge } from "../../pkg/dist/esm/node.js";
import { BARE, ended, folderOf, run, start, watched } from "./command.mjs";
import { at, KEY, MODELS, posix, server as liveServer } from "./judging.mjs";
import {
  ask,
  assertNoKeys,
  BATCH,
  batchServer,
  EVAL,
  filesIn,
  filesOf,
  live,
  RIGHT,
  scoresIn,
  statusesIn,
  verdict,
} from "./batching.mjs";

for (const provider of ["openai", "anthropic", "gemini"]) {
  test(`${provider}: a wave of every vote is a batch, and the scores are those of live calls`, async (t) => {
    const { scores, calls } = await live(t, provider, 30);
    const answering = await batchServer(t);
    const cwd = folderOf(t, filesOf(30));
    const { stdout, stderr, status } = await ask(cwd, answering, provider);
    assert.equal(status, 1, stderr);
    assert.deepEqual(scoresIn(stdout), scores);
    const [{ model, modelVersions }] = JSON.parse(stdout).judges;
    assert.deepEqual([model, modelVersions?.length], [MODELS[provider], 1]);
    assert.match(modelVersions[0], new RegExp(`^${MODELS[provider]}-\\d`));
    // Three of five samples of all questions, then one more of those on which these disagree.
    assert.deepEqual(
      answering.batches.map(({ requests }) => requests.length),
      [90, 6],
      stderr,
    );
    assert.equal(calls, 96);
    assert.equal(answering.requests.length, 0, "nothing is asked live");
    assertNoKeys(cwd);
    assert.match(stderr, /^batches: 96 questions sent in 2 batches, 96 answered, [\d,]+ tokens in, [\d,]+ out$/m);
    assert.deepEqual(filesIn(join(cwd, "replies", "batches")), [], "nothing is left behind");
    const again = await ask(cwd, answering, provider);
    assert.deepEqual(scoresIn(again.stdout), scores);
    assert.equal(answering.batches.length, 2, "nothing is asked twice");
  });
}

/** How many questions there are in the tests of faults: 1,667 cases take 5,000 and more. */
const CASES = Number(process.env.BATCH_CASES ?? 100);

/** Every fault of a row in turn, on every seventh row, in the first batches; fewer later. */
const KINDS = ["error", "expired", "cancelled", "missing", "twice", "unknown", "garbage"];
const rowFaults = ({ number, requests }) =>
  Object.fromEntries(
    requests.flatMap((_, row) =>
      row % 7 === number && number < 2 ? [[row, KINDS[((row / 7) | 0) % KINDS.length]]] : [],
    ),
  );

/** Faults of whole batches, one after the other. */
const FAULTS = {
  openai: [
    { cut: true },
    { create: "lost" },
    { onlyErrors: true },
    { state: "expired" },
    { create: "busy", noErrorFile: true },
  ],
  anthropic: [{ cut: true }, { create: "lost" }, { create: "busy" }],
  gemini: [{ create: "lost" }, { create: "busy" }, { state: "BATCH_STATE_PARTIALLY_SUCCEEDED" }],
};

for (const provider of ["openai", "anthropic", "gemini"]) {
  test(`${provider}: no verdict is lost and none is paid for twice, whatever goes wrong`, async (t) => {
    const faults = FAULTS[provider];
    const plan = (batch) => ({
      ...faults[batch.number],
      create: "large",
      most: 40 + CASES,
      rows: rowFaults(batch),
      ...faults[batch.number],
    });
    const answering = await batchServer(t, { plan });
    const cwd = folderOf(t, filesOf(CASES));
    const { stdout, stderr } = await ask(
      cwd,
      answering,
      provider,
      [...BATCH, "--batch-size", String(2 * CASES)],
      120_000 + 500 * CASES,
    );
    assert.deepEqual(statusesIn(stdout), RIGHT(CASES), stderr);
    assert.equal(answering.requests.length, 0, "nothing is asked live");
    // Only the answers of a batch without a file of results were lost.
    const lost = answering.batches
      .filter(({ faults: { onlyErrors } }) => onlyErrors)
      .flatMap(({ requests }) => requests.map(({ id }) => id));
    const twice = [...answering.asked].filter(([id, times]) => times > (lost.includes(id) ? 2 : 1));
    assert.deepEqual(twice, [], "what was answered is not asked again");
    assert.deepEqual(filesIn(join(cwd, "replies", "batches")), []);
    assert.equal(answering.batches.filter(({ faults: { create } }) => create === "lost").length, 1);
    assert.doesNotMatch(stderr, /without a reply|no call/, "what may pass is asked again");
    if (process.env.BATCH_CASES !== undefined) {
      const questions = answering.batches.map(({ requests }) => requests.length);
      t.diagnostic(
        `${questions.length} batches of ${questions.join(", ")} questions, ${answering.asked.size} answered`,
      );
    }
  });
}

test("a rejected file, one that is too large and a server that is not sure", async (t) => {
  // The first file is refused for two of its lines, whose questions fail; then at most 30 questions are taken at a time.
  const plan = ({ number }) => (number === 0 ? { create: "refused", lines: [0, 7] } : { create: "large", most: 30 });
  const answering = await batchServer(t, { plan });
  const cwd = folderOf(t, filesOf(40));
  const { stdout, stderr } = await ask(cwd, answering, "openai", [...BATCH, "--batch-size", "35"]);
  assert.deepEqual(statusesIn(stdout), RIGHT(40), stderr);
  assert.ok(answering.batches.slice(1).every(({ requests }) => requests.length <= 30));
  assert.ok([...answering.asked.values()].every((times) => times === 1));
});

test("questions that a batch cannot answer fail as live ones do, or are asked live", async (t) => {
  // Every first row expires in every batch, and every second one is one that the provider refuses.
  const plan = ({ requests }) => ({
    rows: Object.fromEntries(requests.map((_, row) => [row, row % 2 ? "invalid" : "expired"])),
  });
  const answering = await batchServer(t, { plan });
  const cwd = folderOf(t, filesOf(3, { num_samples: 1 }));
  const { stdout, stderr, status } = await ask(cwd, answering, "openai");
  assert.deepEqual(Object.values(statusesIn(stdout)), [3, 3, 3]);
  assert.equal(status, 3, stderr);
  assert.match(stderr, /no call of the judge got a reply: .*(batch_expired|The server plays bad_request)/);
  // What expired was asked three times, what was refused once.
  assert.deepEqual(
    answering.batches.map(({ requests }) => requests.length),
    [3, 2, 1],
  );
  const again = await ask(cwd, answering, "openai", [...BATCH, "--batch-fallback", "live"]);
  assert.equal(answering.requests.length > 0, true);
  assert.ok(
    Object.values(statusesIn(again.stdout)).some((one) => one !== 3),
    again.stderr,
  );
});

test("questions that are refused among answers end no metric, and are no calls", async (t) => {
  const plan = ({ number, requests }) => ({
    rows: Object.fromEntries(requests.flatMap((_, row) => (number === 0 && row % 4 === 0 ? [[row, "invalid"]] : []))),
  });
  const answering = await batchServer(t, { plan });
  const cwd = folderOf(t, filesOf(20));
  const { stdout, stderr } = await ask(cwd, answering, "openai");
  assert.deepEqual(statusesIn(stdout), RIGHT(20), stderr);
  assert.equal(answering.requests.length, 0);
  const { calls, lost, unsent } = JSON.parse(stdout).judgeUsage;
  assert.deepEqual([calls, lost, unsent ?? 0], [0, 15, 0]);
});

test("what replies took that cannot be used is in the totals of batches", async (t) => {
  const answering = await batchServer(t, { reply: () => ({ fault: "truncated" }) });
  const cwd = folderOf(t, filesOf(3, { num_samples: 1 }));
  const { stderr, status } = await ask(cwd, answering, "openai");
  assert.equal(status, 3, stderr);
  assert.match(
    stderr,
    /^batches: \d questions sent in \d batch(?:es)?, 0 answered, [1-9][\d,]* tokens in, [1-9][\d,]* out$/m,
  );
});

test("what was sent is collected after the process was killed, and by batch", posix, async (t) => {
  const looks = { looks: 1_000_000 };
  const answering = await batchServer(t, { plan: () => looks });
  const cwd = folderOf(t, filesOf(6));
  const env = { ...BARE, ...at.openai(answering) };
  const child = start([...BATCH, "--model", MODELS.openai], { cwd, env });
  await watched(child).seen(/18 questions to gpt-4.1-mini/);
  child.kill("SIGKILL");
  await ended(child, "the end of a killed process");
  const batch = (what, ...args) => {
    const more = what === "submit" ? ["--model", MODELS.openai] : ["--judge", "openai"];
    return run(["batch", what, ...args, "--cache", "replies", ...more], { cwd, env });
  };
  const status = await batch("status");
  assert.match(
    status.stdout,
    /^batch_\d+ {2}openai http:\S+ {2}gpt-4.1-mini {2}in_progress, 0 of 18 done\n$/,
    status.stderr,
  );
  assert.match(status.stderr, /^asking openai at \S+ \(OPENAI_BASE_URL\)\n1 batch in progress\n$/);
  const elsewhere = await batchServer(t);
  const other = await run(["batch", "status", "--cache", "replies"], {
    cwd,
    env: { ...BARE, ...at.openai(elsewhere) },
  });
  assert.match(other.stdout, /^batch_\d+ {2}openai http:\S+ {2}gpt-4.1-mini {2}unknown\n$/);
  assert.match(other.stderr, /^error: the batch was sent to openai http:\S+, but the judge is now openai http:/m);
  const submitted = await batch("submit", "many.evalset.json");
  assert.equal(submitted.status, 0, submitted.stderr);
  assert.equal(answering.batches.length, 1, "what is under way is not sent again");
  assert.doesNotMatch(submitted.stderr, /no effect/);
  looks.looks = 0;
  const collected = await batch("collect");
  assert.match(collected.stderr, /completed, 18 of 18 answered/);
  const next = await batch("submit", "many.evalset.json");
  assert.equal(answering.batches.length, 2, next.stderr);
  const { stdout, stderr } = await ask(cwd, answering, "openai");
  assert.deepEqual(statusesIn(stdout), RIGHT(6), stderr);
  assert.equal(answering.batches.length, 2);
  assert.equal(answering.asked.size, 20);
  assertNoKeys(cwd);
});

test("Ctrl-C leaves the batches to the same command", posix, async (t) => {
  const looks = { looks: 1_000_000 };
  const answering = await batchServer(t, { plan: () => looks });
  const cwd = folderOf(t, filesOf(4));
  const child = start([...BATCH, "--model", MODELS.anthropic], { cwd, env: { ...BARE, ...at.anthropic(answering) } });
  const { seen } = watched(child);
  await seen(/in_progress, 0 of 12 done/);
  child.kill("SIGINT");
  assert.deepEqual(await ended(child, "the end of an interrupted command"), [130, null]);
  const live = await ask(cwd, answering, "anthropic", [...EVAL, "--cache", "replies", "--dry-run"]);
  assert.doesNotMatch(live.stderr, /paid for twice/, "nothing is asked");
  const twice = [...EVAL, "--cache", "replies", "--model", MODELS.anthropic, "--max-calls", "1"];
  const asked = await run(twice, { cwd, env: { ...BARE, ...at.anthropic(answering) } });
  assert.match(
    asked.stderr,
    /warning: 1 batch with 12 questions is in progress: any of them that this command asks too are asked twice, and paid for twice[^]*help: Add --batch/,
  );
  looks.looks = 0;
  const { stdout, stderr } = await ask(cwd, answering, "anthropic");
  assert.doesNotMatch(stderr, /paid for twice/);
  assert.deepEqual(statusesIn(stdout), RIGHT(4), stderr);
  assert.ok([...answering.asked.values()].every((times) => times === 1));
});

test("what is wrong is said, and no key with it", async (t) => {
  const answering = await batchServer(t);
  const cwd = folderOf(t, filesOf(2));
  const refused = [
    [["--max-cost", "1", "--price", "gpt-4.1-mini=1,1"], /--max-cost cannot be used with batches/],
    [["--judge", "ollama"], /ollama does not support batches/],
    [["--record", "judge.jsonl"], /--record cannot be used with batches/],
    [["--batch-fallback", "never"], /--batch-fallback cannot be `never`/],
  ];
  for (const [args, message] of refused) {
    const { stderr, status } = await run([...BATCH, ...args], { cwd, env: { ...BARE, ...at.openai(answering) } });
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  }
  const useless = [
    [[...EVAL, "--batch-size", "5"], /--batch-size has no effect without --batch/],
    [["batch", "status", "many.evalset.json"], /many\.evalset\.json has no effect on batch status/],
    [["batch", "collect", "--config", "test_config.json"], /--config has no effect on batch collect/],
    [["batch", "status", "--model", "gpt-4.1-mini"], /--model has no effect on batch status/],
    [["batch", "collect", "--batch-fallback", "live"], /--batch-fallback has no effect on batch collect/],
    [["batch", "submit", "many.evalset.json", "--batch-poll", "1"], /this command has no option --batch-poll/],
  ];
  for (const [args, message] of useless) {
    const { stderr, status } = await run(args, { cwd, env: { ...BARE, ...at.openai(answering) } });
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  }
  const named = folderOf(t, filesOf(2, { judge_model: "openai/gpt-4.1-mini" }));
  const priced = await run([...BATCH, "--price", "openai/gpt-4.1-mini=1000,2000"], {
    cwd: named,
    env: { ...BARE, ...at.openai(answering) },
  });
  assert.match(priced.stderr, /^batches: .*, cost [\d.]+ at the half price that providers charge for batches/m);
  assert.match(priced.stderr, /^judged by .* replies reused$/m);
  assert.match(priced.stdout, /"judgeUsage": \{[^}]*"cached"/);
  assert.doesNotMatch(priced.stdout, /"cost"/);
  const unjudged = folderOf(t, {
    ...filesOf(2),
    "test_config.json": { criteria: { response_match_score: 0.1 } },
    "metrics.mjs": "export const mine = () => 1;",
  });
  const submit = ["batch", "submit", "many.evalset.json", "--cache", "replies", "--metrics", "metrics.mjs"];
  const unasked = await run([...submit, "--judge", "openai", "--model", "gpt-4.1-mini", "--batch-size", "5"], {
    cwd: unjudged,
    env: BARE,
  });
  assert.match(
    unasked.stderr,
    /no metric asks a judge, so --judge, --model, --cache, and --batch-size have no effect/,
    unasked.stderr,
  );
  assert.match(unasked.stderr, /--metrics has no effect: no criterion names one of its metrics/);
  const env = { ...BARE, ...at.openai(answering), OPENAI_API_KEY: "a-wrong-key-4711" };
  const { stderr, status } = await run([...BATCH, "--model", MODELS.openai], { cwd, env });
  assert.equal(status, 2);
  assert.match(stderr, /no such key/);
  assert.ok(!stderr.includes("a-wrong-key-4711"), stderr);
  // What was noted is sent with the right one.
  const { stdout } = await ask(cwd, answering, "openai", [...BATCH, "--max-calls", "100"]);
  assert.deepEqual(statusesIn(stdout), RIGHT(2));
});

test("gemini: what is too large for a request goes as a file", async (t) => {
  const answering = await batchServer(t, { reply: () => verdict(true) });
  const cwd = folderOf(t, filesOf(8));
  for (const name of ["many.evalset.json", "many.actual.json"]) {
    const path = join(cwd, name);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("answer of", `${"word ".repeat(100_000)}answer of`));
  }
  const { stdout, stderr } = await ask(cwd, answering, "gemini");
  assert.deepEqual(
    Object.values(statusesIn(stdout)),
    Array.from({ length: 8 }, () => 1),
    stderr,
  );
  assert.deepEqual(
    answering.batches.map(({ isFile, requests }) => [isFile, requests.length]),
    [[true, 24]],
  );
});

test("in code, with the same results, and with one at a time in a folder", async (t) => {
  const answering = await batchServer(t);
  const files = Object.fromEntries(
    Object.entries(filesOf(6, { parallelism_limit: 1 })).map(([name, text]) => [name, JSON.parse(text)]),
  );
  const judge = openaiJudge({ apiKey: KEY, model: MODELS.openai, baseUrl: `${answering.url}/v1` });
  const folder = join(folderOf(t, {}), "replies");
  const request = {
    evalSet: files["many.evalset.json"],
    actual: files["many.actual.json"],
    config: files["test_config.json"],
    judge,
  };
  const batch = { folder, pollMs: 1, size: 10 };
  const both = await Promise.allSettled([evaluate({ ...request, batch }), evaluate({ ...request, batch })]);
  // Either may be the first to open the folder.
  const [one, other] = both.toSorted((a, b) => a.status.localeCompare(b.status));
  assert.deepEqual([one.status, other.status], ["fulfilled", "rejected"]);
  assert.match(other.reason.message, /is writing the batches/);
  const found = one.value.evalCaseResults.map(({ evalId, finalEvalStatus }) => [evalId, finalEvalStatus]);
  assert.deepEqual(Object.fromEntries(found), RIGHT(6));
  assert.deepEqual(answering.batches.map(({ requests }) => requests.length).sort(), [10, 2, 8]);
  for (const [more, message] of [
    [{ budget: { calls: 1 } }, /`budget` cannot be used with `batch`/],
    [{ judge: () => "Yes" }, /this judge does not support batches/],
    [{ signal: AbortSignal.abort(new Error("enough")) }, /enough/],
    [{ batch: { folder, pollMS: 1 } }, /there is no option `pollMS`/],
    [{ batch: "yes" }, /expected true or an object of options, found "yes"/],
  ]) {
    await assert.rejects(evaluate({ ...request, batch, ...more }), message);
  }
  // What is foreseen is not sent.
  const before = answering.batches.length;
  await estimateCalls({ ...request, batch });
  await assert.rejects(evaluateStream({ ...request, batch }).next(), /`batch` cannot be used with `evaluateStream`/);
  assert.equal(answering.batches.length, before);
  // Without a question there is no folder to make.
  const unasked = join(folder, "..", "unasked");
  const { warnings } = await evaluate({
    ...request,
    config: { criteria: { response_match_score: 0.1 } },
    batch: { folder: unasked },
  });
  assert.match(JSON.stringify(warnings), /no metric asks a judge, so `judge`, `batch` have no effect/);
  assert.deepEqual(filesIn(unasked), []);
});

test("a panel is asked by batches, each judge in one of its own", async (t) => {
  const models = ["gpt-4.1-mini", "gpt-4.1"];
  const answering = await batchServer(t, { reply: () => verdict(true) });
  const cwd = folderOf(t, filesOf(3, { judge_models: models, num_samples: 2 }));
  const env = { ...BARE, ...at.openai(answering) };
  const { stdout, stderr, status } = await run([...BATCH, "--max-calls", "40"], { cwd, env, limitMs: 30_000 });
  assert.equal(status, 0, stderr);
  assert.deepEqual(Object.values(statusesIn(stdout)), [1, 1, 1]);
  assert.ok(
    [...answering.asked.values()].every((times) => times === 1),
    "nothing is paid for twice",
  );
  const sent = answering.batches.flatMap(({ requests }) => requests.map(({ body }) => body.model));
  assert.deepEqual([...new Set(sent)].sort(), ["gpt-4.1", "gpt-4.1-mini"]);
  assert.equal(answering.requests.length, 0, "nothing is asked live");
  // What a batch brought is found by commands without batches, too.
  const kept = await run([...EVAL, "--cache", "replies"], { cwd, env });
  assert.deepEqual(scoresIn(kept.stdout), scoresIn(stdout));
  assert.equal(answering.requests.length, 0, "nothing is paid for once more");
  // Questions and votes are those of live calls.
  const answeringLive = await liveServer(t, { reply: () => verdict(true) });
  const live = await run(EVAL, { cwd, env: { ...BARE, ...at.openai(answeringLive) } });
  assert.deepEqual(scoresIn(stdout), scoresIn(live.stdout));
  assert.equal(sent.length, answeringLive.requests.length);
  // A panel that was made in code has no names to ask by.
  const files = filesOf(3);
  const judge = panelJudge(models.map((model) => openaiJudge({ apiKey: KEY, model, baseUrl: `${answering.url}/v1` })));
  const before = answering.batches.length;
  await assert.rejects(
    evaluate({
      evalSet: JSON.parse(files["many.evalset.json"]),
      actual: JSON.parse(files["many.actual.json"]),
      config: JSON.parse(files["test_config.json"]),
      judge,
      batch: { folder: join(cwd, "code"), pollMs: 1 },
    }),
    ({ message, help }) => /panel/.test(message) && /judge_models/.test(help),
  );
  assert.equal(answering.batches.length, before);
});

test("what is asked live besides batches is counted, limited and as many at a time as was said", async (t) => {
  // Every question expires.
  const plan = ({ requests }) => ({ rows: Object.fromEntries(requests.map((_, row) => [row, "expired"])) });
  let [open, most] = [0, 0];
  const reply = async () => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setTimeout(resolve, 20));
    open -= 1;
    return verdict(true);
  };
  for (const [limit, calls] of [
    ["100", 12],
    ["17", 5],
  ]) {
    const answering = await batchServer(t, { plan, reply });
    const cwd = folderOf(t, filesOf(12, { num_samples: 1 }));
    const more = ["--batch-fallback", "live", "--concurrency", "2", "--max-calls", limit];
    const { stderr } = await ask(cwd, answering, "openai", [...BATCH, ...more]);
    assert.equal(answering.requests.length, calls, stderr);
    assert.match(
      stderr,
      new RegExp(`^judged by gpt-4.1-mini \\S+: ${calls} calls\\b`, "m"),
      "what is asked live counts as that",
    );
    assert.ok(most <= 2, `${most} at a time`);
    assert.equal(answering.batches.length, 1);
  }
});
