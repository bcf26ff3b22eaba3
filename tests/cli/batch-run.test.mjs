// `run --batch`: the agent is run first and once, and kept in the journal while batches are waited for.

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BARE, ended, folderOf, run, start, watched } from "./command.mjs";
import { assertNoKeys, batchServer, filesOf, scoresIn, verdict } from "./batching.mjs";
import { at, MODELS, posix, server as liveServer } from "./judging.mjs";

/** An agent whose every answer is another, so that a run that is repeated would ask other questions. */
const AGENT = `
import { appendFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
export default async function agent(message) {
  appendFileSync("turns.txt", message + "\\n");
  if (message.includes("case-3.")) throw new Error("the agent broke down");
  return "answer " + randomUUID() + " to " + message;
}
`;

const RUN = ["run", "--agent", "./agent.mjs", "many.evalset.json", "--format", "json", "--num-runs", "2"];
const BATCH = [...RUN, "--batch", "--batch-poll", "0.01", "--cache", "replies", "--journal", "run.jsonl"];

/** A judge whose every third question is answered otherwise, by the case. */
const reply = ({ prompt }) => verdict(Number(/question case-(\d+)\./.exec(prompt)[1]) % 3 !== 0);

/** Scores but those that only inform, such as durations. */
const decided = (stdout) =>
  scoresIn(stdout).map(([id, status, metrics]) => [id, status, metrics.filter(([, verdict]) => verdict !== 4)]);

const project = (t, count = 6) => folderOf(t, { ...filesOf(count, { num_samples: 3 }), "agent.mjs": AGENT });
const turns = (cwd) => readFileSync(join(cwd, "turns.txt"), "utf8").split("\n").length - 1;

for (const provider of ["openai", "anthropic", "gemini"]) {
  test(`${provider}: what the agent did is judged by batches, with the scores of live calls`, async (t) => {
    const liveAnswering = await liveServer(t, { reply });
    const liveEnv = { ...BARE, ...at[provider](liveAnswering) };
    const live = await run([...RUN, "--model", MODELS[provider]], { cwd: project(t), env: liveEnv });
    const answering = await batchServer(t, { reply });
    const cwd = project(t);
    const env = { ...BARE, ...at[provider](answering) };
    const { stdout, stderr, status } = await run([...BATCH, "--model", MODELS[provider]], { cwd, env });
    assert.equal(status, live.status, stderr);
    assert.deepEqual(decided(stdout), decided(live.stdout));
    assert.equal(turns(cwd), 12);
    // Two of three samples of what was answered, which agree.
    assert.deepEqual(
      answering.batches.map(({ requests }) => requests.length),
      [20],
      stderr,
    );
    assert.equal(answering.requests.length, 0, "nothing is asked live");
    assertNoKeys(cwd);
    // The journal has all of it.
    const again = await run([...BATCH, "--model", MODELS[provider], "--resume"], { cwd, env });
    assert.equal(again.stdout, stdout, again.stderr);
    assert.deepEqual([turns(cwd), answering.batches.length], [12, 1]);
    const { stdout: merged } = await run(["merge", "run.jsonl", "--format", "json"], { cwd, env: BARE });
    assert.deepEqual(scoresIn(merged), scoresIn(stdout));
  });
}

test("Ctrl-C and kill -9 while batches are waited for lose nothing", posix, async (t) => {
  for (const [signal, ending] of [
    ["SIGINT", [130, null]],
    ["SIGKILL", [null, "SIGKILL"]],
  ]) {
    const looks = { looks: 1_000_000 };
    const answering = await batchServer(t, { reply, plan: () => looks });
    const cwd = project(t);
    const env = { ...BARE, ...at.openai(answering) };
    const args = [...BATCH, "--model", MODELS.openai];
    const child = start(args, { cwd, env });
    const { seen } = watched(child);
    await seen(/in_progress, 0 of 20 done/);
    assert.equal(turns(cwd), 12);
    child.kill(signal);
    if (signal === "SIGINT") await seen(/^to continue: adk-metrics run .*--batch .*--journal run\.jsonl .*--resume$/m);
    assert.deepEqual(await ended(child, signal), ending);
    looks.looks = 0;
    const { stdout, stderr } = await run([...args, "--resume"], { cwd, env });
    assert.deepEqual(
      scoresIn(stdout).map(([, status]) => status),
      [0, 1, 2, 3, 4, 5].flatMap((number) => (number % 3 === 0 ? [2, 2] : [1, 1])),
      stderr,
    );
    assert.equal(turns(cwd), 12, "no run is repeated");
    assert.ok([...answering.asked.values()].every((times) => times === 1));
    assert.equal(answering.asked.size, 20);
  }
});

test("shards of a run are judged by batches, and merged", async (t) => {
  const answering = await batchServer(t, { reply });
  const cwd = project(t);
  const env = { ...BARE, ...at.openai(answering) };
  const journals = ["part-1.jsonl", "part-2.jsonl"];
  for (const [index, journal] of journals.entries()) {
    const args = BATCH.map((arg) => (arg === "run.jsonl" ? journal : arg));
    const shard = ["--model", MODELS.openai, "--shard", `${index + 1}/2`, "--output", `part-${index}.json`];
    const { stderr, status } = await run([...args, ...shard], { cwd, env });
    assert.ok([0, 1].includes(status), stderr);
  }
  const merged = await run(["merge", ...journals, "--format", "json"], { cwd, env: BARE });
  assert.deepEqual(
    scoresIn(merged.stdout).map(([, status]) => status),
    [0, 1, 2, 3, 4, 5].flatMap((number) => (number % 3 === 0 ? [2, 2] : [1, 1])),
    merged.stderr,
  );
  assert.deepEqual([turns(cwd), answering.asked.size], [12, 20]);
});

test("batch submit asks about the runs in a journal", posix, async (t) => {
  const answering = await batchServer(t, { reply });
  const cwd = project(t);
  const env = { ...BARE, ...at.openai(answering) };
  const model = ["--model", MODELS.openai];
  // The agent is run, and some calls are made.
  const ran = await run([...RUN, ...model, "--journal", "run.jsonl", "--max-calls", "5"], { cwd, env });
  assert.deepEqual([turns(cwd), answering.requests.length], [12, 5], ran.stderr);
  const batch = (...args) => run(["batch", ...args, "--cache", "replies"], { cwd, env });
  const submit = ["submit", "--journal", "run.jsonl"];
  const forgotten = await batch(...submit);
  assert.equal(forgotten.status, 2);
  assert.match(forgotten.stderr, /error: the run was started with --model gpt-4.1-mini\n +help: Add it here/);
  const submitted = await batch(...submit, ...model);
  assert.equal(submitted.status, 0, submitted.stderr);
  assert.match(submitted.stderr, /^batch \S+: 15 questions to gpt-4.1-mini$/m);
  assert.match(submitted.stderr, /to score, run the run's command again with --batch --cache replies/);
  await batch("collect");
  assert.match((await batch(...submit, ...model)).stderr, /^no batches in progress/m);
  const { stdout, stderr } = await run([...BATCH, ...model, "--resume"], { cwd, env });
  assert.deepEqual(
    scoresIn(stdout).map(([, status]) => status),
    [0, 1, 2, 3, 4, 5].flatMap((number) => (number % 3 === 0 ? [2, 2] : [1, 1])),
    stderr,
  );
  assert.deepEqual([turns(cwd), answering.requests.length], [12, 5], "no run is repeated, and nobody is asked live");
  assert.deepEqual([answering.batches.length, answering.asked.size], [1, 15]);
});

test("batch submit asks about the runs that are done, and says what it cannot ask about", posix, async (t) => {
  const answering = await batchServer(t, { reply });
  const cwd = project(t);
  const env = { ...BARE, ...at.openai(answering) };
  const model = ["--model", MODELS.openai];
  await run([...RUN, ...model, "--journal", "run.jsonl", "--max-calls", "1"], { cwd, env });
  const submit = (...args) =>
    run(["batch", "submit", "--journal", "run.jsonl", "--cache", "replies", ...args], { cwd, env });
  const lines = readFileSync(join(cwd, "run.jsonl"), "utf8").trimEnd().split("\n");
  // What a process that was killed leaves: some runs, and half a line.
  const cut = [
    ...lines.filter((line) => !/"type":"(run|case|failure|end)"/.test(line)),
    ...lines.filter((line) => /"type":"run","evalId":"case-[124]"/.test(line)),
  ];
  writeFileSync(join(cwd, "run.jsonl"), `${cut.join("\n")}\n${lines.at(-1).slice(0, 9)}`);
  const { stderr } = await submit(...model);
  assert.match(stderr, /warning: 6 of 12 runs are not in the journal\n +at run\.jsonl\n +help: Run its command again/);
  assert.match(stderr, /^batch \S+: 12 questions to gpt-4.1-mini$/m);
  const set = readFileSync(join(cwd, "many.evalset.json"), "utf8");
  for (const [args, message, before = () => {}] of [
    [["many.evalset.json"], /the journal names the evalsets/],
    [["--actual", "many.actual.json"], /--actual cannot be used with --journal/],
    [
      model,
      /the journal was started with different inputs: the evalset/,
      () => writeFileSync(join(cwd, "many.evalset.json"), set.replace("question case-1", "question case-9")),
    ],
    [model, /the journal does not exist/, () => rmSync(join(cwd, "run.jsonl"))],
  ]) {
    before();
    const { status, stderr } = await submit(...args);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  }
  writeFileSync(join(cwd, "many.evalset.json"), set);
  await run(["eval", "many.evalset.json", "--journal", "run.jsonl", ...model, "--max-calls", "1"], { cwd, env });
  const ofEval = await submit(...model);
  assert.equal(ofEval.status, 2);
  assert.match(
    ofEval.stderr,
    /the journal is of eval, not of run\n[^]*help: adk-metrics batch submit many\.evalset\.json/,
  );
  const status = await run(["batch", "status", "--cache", "replies", "--journal", "run.jsonl"], { cwd, env });
  assert.match(status.stderr, /--journal has no effect on batch status/);
});

test("what was recorded of an agent is judged by batches of other commands, and nobody waits", async (t) => {
  const answering = await batchServer(t, { reply });
  const cwd = project(t);
  const env = { ...BARE, ...at.openai(answering) };
  const model = ["--model", MODELS.openai];
  const command = async (...args) => {
    const ended = await run(args, { cwd, env });
    assert.equal(ended.status, 0, ended.stderr);
    return ended;
  };
  const record = ["record", "--agent", "./agent.mjs", "many.evalset.json", "--output", "many.inferences.json"];
  const recorded = await run(record, { cwd, env });
  assert.match(recorded.stderr, /^wrote many\.inferences\.json: 12 runs of agent, 2 failed$/m);
  const about = ["many.evalset.json", "--actual", "many.inferences.json", ...model, "--cache", "replies"];
  const { stderr } = await command("batch", "submit", ...about);
  assert.match(stderr, /^batch \S+: 20 questions to gpt-4.1-mini$/m);
  const { stdout: progress } = await command("batch", "status", "--cache", "replies");
  assert.match(progress, /in_progress, \d+ of 20 done/);
  await command("batch", "collect", "--cache", "replies");
  const { stdout } = await run(["eval", ...about, "--batch", "--batch-poll", "0.01", "--format", "json"], { cwd, env });
  assert.deepEqual(
    scoresIn(stdout).map(([, status]) => status),
    [0, 1, 2, 3, 4, 5].flatMap((number) => (number % 3 === 0 ? [2, 2] : [1, 1])),
  );
  assert.deepEqual([turns(cwd), answering.requests.length, answering.batches.length], [12, 0, 1]);
});

test("what does not go with it is said before the agent is run", async (t) => {
  const answering = await batchServer(t, { reply });
  const cwd = project(t);
  for (const [args, message] of [
    [[...RUN, "--batch"], /run --batch needs a journal, which keeps what the agent did/],
    [[...BATCH, "--bail"], /--bail cannot be used with batches/],
    [[...BATCH, "--max-cost", "1", "--price", "gpt-4.1-mini=1,1"], /--max-cost cannot be used with batches/],
    [[...RUN, "--batch-size", "5"], /--batch-size has no effect without --batch/],
  ]) {
    const { status, stderr } = await run([...args, "--model", MODELS.openai], {
      cwd,
      env: { ...BARE, ...at.openai(answering) },
    });
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  }
  assert.throws(() => turns(cwd), /ENOENT/);
});
