// Runs that are divided among processes, and put together again: merged is what the whole would have been, byte for byte.

import assert from "node:assert/strict";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { BARE, folderOf, run } from "../cli/command.mjs";
import { at, fair, judged, server } from "../cli/judging.mjs";
import { assertSame, timeless } from "../queue/project.mjs";
import { cutAtRandom, random } from "./journal.mjs";

/** How many runs at random are divided and merged. */
const PLANS = Number(process.env.JOURNAL_MERGES ?? 2);

const AGENT = `
import { createHash } from "node:crypto";
export default async function agent(message) {
  const luck = createHash("sha256").update(message + process.env.SEED).digest()[0];
  if (luck < 20) throw new Error("the agent broke down at " + message);
  return luck < 80 ? "I do not know." : "The answer to " + message;
}
`;
const METRICS = `export const polite = (metric, [{ userContent }]) => {
  const [{ text }] = userContent.parts;
  return text.endsWith("1") ? Number.NaN : text.length / 20;
};`;

/** Two evalsets, a config, an agent and a metric, as files. */
function files(seed) {
  const next = random(seed);
  const setOf = (id, count) => {
    const names = Array.from({ length: count }, (_, index) => `${id}-${index}`);
    return evalSetOf(
      Object.fromEntries(
        names.map((name) => {
          // Some ask the same as others do.
          const question = next() < 0.2 ? "the same" : name;
          return [name, [turn(question, `The answer to ${question}`)]];
        }),
      ),
      id,
    );
  };
  const [one, two] = [setOf("one", 3 + Math.floor(next() * 5)), setOf("two", 2 + Math.floor(next() * 3))];
  const config = judged({ num_samples: seed % 2 === 1 ? 1 : 3 }, { response_match_score: 0.3, polite: 0.2 });
  const all = {
    ...{ "one.evalset.json": one, "one.actual.json": one, "two.evalset.json": two, "two.actual.json": two },
    ...{ "test_config.json": config, "agent.mjs": AGENT, "metrics.mjs": METRICS },
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

const FORMATS = ["jsonl", "html", "junit", "csv", "md"];
const OUTPUTS = FORMATS.map((format) => `out.${format}`);
const output = [
  ...FORMATS.flatMap((format) => ["--format", format, "--output", `out.${format}`]),
  ...["--format", "json", "--output", "results/"],
];
const RESULTS = ["results/one.evalset_result.json", "results/two.evalset_result.json"];

const read = (cwd, names) => names.map((name) => readFileSync(join(cwd, name), "utf8"));
const lines = (cwd, file) => readFileSync(join(cwd, file), "utf8").split("\n");

/** The first lines that differ: whole reports would fill the screen. */
function differences(one, other) {
  if (one === other) return [];
  const [mine, others] = [one, other].map((text) => text.split("\n"));
  const at = mine.findIndex((line, index) => line !== others[index]);
  return [mine[at]?.slice(0, 2000), others[at]?.slice(0, 2000)];
}

/** Gives a journal the times of another: those of a whole run and of its parts differ. */
function withTimesOf(cwd, file, times) {
  const changed = lines(cwd, file).map((line) => {
    if (!line.includes('"type":"begin"')) return line;
    const entry = JSON.parse(line);
    const at = times.get(`${entry.section} ${entry.part}`);
    return JSON.stringify({ ...entry, at: at ?? entry.at });
  });
  writeFileSync(join(cwd, file), changed.join("\n"));
}

for (const command of ["eval", "run"]) {
  test(`${command}: merged is what is not divided, byte for byte`, async (t) => {
    for (let seed = 1; seed <= PLANS; seed += 1) {
      const next = random(seed * 13);
      // Some questions have no answer. How many samples such a question is asked depends on when its failures come.
      const isFaulty = seed % 2 === 1;
      const reply = (asked) => (isFaulty && asked.prompt.includes("-0") ? { fault: "bad_request" } : fair(asked));
      const answering = await server(t, { reply });
      const env = { ...BARE, ...at.gemini(answering), SEED: String(seed) };
      const cwd = folderOf(t, files(seed));
      const args = [
        ...[command, "one.evalset.json", "two.evalset.json", "--metrics", "./metrics.mjs", "--explain", "all"],
        ...["--price", "gemini-2.5-flash=1,2"],
        ...(command === "run" ? ["--agent", "./agent.mjs", "--num-runs", "2"] : []),
      ];
      const whole = await run([...args, "--journal", "whole.jsonl", ...output], { cwd, env });
      assert.ok([0, 1].includes(whole.status), whole.stderr);
      const expected = read(cwd, [...OUTPUTS, ...RESULTS]);
      const begun = lines(cwd, "whole.jsonl").filter((line) => line.includes('"type":"begin"'));
      const times = new Map(begun.map((line) => JSON.parse(line)).map((one) => [`${one.section} ${one.part}`, one.at]));
      const balanced = seed % 2 === 0;
      const parts = 2 + Math.floor(next() * 3);
      const names = Array.from({ length: parts }, (_, index) => `part-${index + 1}.jsonl`);
      for (const [index, name] of names.entries()) {
        const balance = balanced ? ["--balance", "whole.jsonl"] : [];
        const shard = [...args, "--shard", `${index + 1}/${parts}`, "--journal", name, ...balance];
        writeFileSync(join(cwd, name), "");
        const { status, stderr } = await run(shard, { cwd, env });
        // 3 where none of the shard's own questions has an answer.
        assert.ok([0, 1, ...(isFaulty ? [3] : [])].includes(status), stderr);
        if (index > 0) continue;
        cutAtRandom(join(cwd, name), next);
        const again = await run(shard, { cwd, env });
        assert.equal(again.status, status, again.stderr);
      }
      const ran = names.flatMap((name) => lines(cwd, name).filter((line) => line.includes('"type":"run"')));
      if (command === "run") {
        const keys = ran
          .map((line) => JSON.parse(line))
          .map(({ section, evalId, run }) => `${section} ${evalId} ${run}`);
        assert.equal(new Set(keys).size, keys.length, "each run once");
      }
      const asked = answering.requests.length;
      if (command === "run" && !isFaulty) {
        const own = ["--format", "json", "--output", "own/"];
        const merged = await run(["merge", ...names, "--metrics", "./metrics.mjs", ...own], { cwd, env: BARE });
        assert.equal(merged.status, whole.status, merged.stderr);
        const places = RESULTS.map((name) => name.replace("results", "own"));
        const results = read(cwd, places);
        for (const [at, text] of results.entries()) assertSame(timeless(text), timeless(expected[OUTPUTS.length + at]));
      }
      if (command === "eval") {
        for (const name of names) withTimesOf(cwd, name, times);
      } else {
        // What took seconds, and when, is each run's own: the parts of the whole are its journal, divided.
        const all = lines(cwd, "whole.jsonl");
        for (const [index, name] of names.entries()) {
          const own = lines(cwd, name);
          const runs = new Set(
            own
              .filter((line) => line.includes('"type":"run"'))
              .map((line) => {
                const { section, evalId, run } = JSON.parse(line);
                return JSON.stringify([section, evalId, run]);
              }),
          );
          const kept = all.filter((line) => {
            if (!line.includes('"type":"run"'))
              return (
                !line.includes('"part":"shard"') && (index === 0 || !/"type":"(?:reply|metric|failure)"/.test(line))
              );
            const { section, evalId, run } = JSON.parse(line);
            return runs.has(JSON.stringify([section, evalId, run]));
          });
          const shard = own.find((line) => line.includes('"part":"shard"'));
          writeFileSync(join(cwd, name), [kept[0], shard, ...kept.slice(1)].join("\n"));
        }
      }
      for (const name of [...OUTPUTS, ...RESULTS]) rmSync(join(cwd, name));
      // Nothing of the providers is in the environment.
      const merged = await run(["merge", ...names, "--metrics", "./metrics.mjs", ...output], { cwd, env: BARE });
      assert.equal(merged.status, whole.status, merged.stderr);
      for (const [place, text] of read(cwd, [...OUTPUTS, ...RESULTS]).entries()) {
        const at = `plan ${seed}, ${parts} parts: ${[...OUTPUTS, ...RESULTS][place]}`;
        assert.deepEqual(differences(text, expected[place]), [], at);
      }
      assert.equal(answering.requests.length, asked);
    }
  });
}

test("what one part was refused takes no verdict from the others, and calls that were not made are none", async (t) => {
  let fault;
  const answering = await server(t, { reply: (asked) => (fault === undefined ? fair(asked) : { fault }) });
  const env = { ...BARE, ...at.gemini(answering) };
  const names = Array.from({ length: 12 }, (_, index) => `c-${index}`);
  const set = JSON.stringify(evalSetOf(Object.fromEntries(names.map((name) => [name, [turn(name, `Its ${name}`)]]))));
  const config = JSON.stringify(judged({ num_samples: 3 }));
  const cwd = folderOf(t, { "one.evalset.json": set, "one.actual.json": set, "test_config.json": config });
  const command = async (...args) => {
    const { status, stderr } = await run([...args, "--format", "jsonl", "--output", "out.jsonl"], { cwd, env });
    assert.ok(status !== 2, stderr);
    const [calls = ""] = /\d+ calls?/.exec(stderr) ?? [];
    const [verdicts = ""] = /12 cases: .*/.exec(stderr) ?? [];
    return { calls: Number.parseInt(calls, 10), verdicts, stderr };
  };
  const part = (number, file, ...more) =>
    command("eval", "one.evalset.json", "--shard", number, "--journal", file, ...more);
  for (const refused of ["auth", "bad_request"]) {
    fault = refused;
    const { calls } = await part("1/2", `${refused}-1.jsonl`, "--concurrency", "1");
    fault = undefined;
    const other = await part("2/2", `${refused}-2.jsonl`);
    const merged = await command("merge", `${refused}-1.jsonl`, `${refused}-2.jsonl`);
    assert.equal(merged.calls, calls + other.calls, merged.stderr);
    assert.match(merged.verdicts, new RegExp(`: ${/: (\d+) passed/.exec(other.stderr)[1]} passed,`), merged.stderr);
    assert.doesNotMatch(merged.stderr, /count once|do not count/);
  }
  const limited = await command("eval", "one.evalset.json", "--journal", "limited.jsonl", "--max-calls", "7");
  const merged = await command("merge", "limited.jsonl");
  assert.equal(merged.calls, 7);
  assert.equal(merged.verdicts, limited.verdicts);
});

test("calls that one part made in vain count where another got the reply, and merged ends as the parts did", async (t) => {
  let fault;
  const answering = await server(t, { reply: (asked) => (fault === undefined ? fair(asked) : { fault }) });
  const env = { ...BARE, ...at.gemini(answering) };
  const same = [turn("the same", "The answer to the same")];
  const set = JSON.stringify(evalSetOf(Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`c-${at}`, same]))));
  const config = JSON.stringify(judged({ num_samples: 1 }));
  const cwd = folderOf(t, { "one.evalset.json": set, "one.actual.json": set, "test_config.json": config });
  const command = async (...args) => {
    const { status, stderr } = await run([...args, "--format", "jsonl", "--output", "out.jsonl", "--force"], {
      cwd,
      env,
    });
    return [status, Number.parseInt(/\d+ calls?/.exec(stderr)?.[0] ?? "0", 10), stderr];
  };
  const part = (number, file) =>
    command("eval", "one.evalset.json", "--shard", number, "--journal", file, "--concurrency", "1");
  fault = "bad_request";
  const [vain, vainCalls] = await part("1/2", "1.jsonl");
  const [alsoVain, otherVainCalls] = await part("2/2", "none.jsonl");
  fault = undefined;
  const [, calls] = await part("2/2", "2.jsonl");
  assert.deepEqual([vain, alsoVain, calls], [3, 3, 1]);
  const [, merged, said] = await command("merge", "1.jsonl", "2.jsonl");
  assert.equal(merged, vainCalls + calls, said);
  const [status, none, why] = await command("merge", "1.jsonl", "none.jsonl");
  assert.equal(status, 3, why);
  assert.equal(none, vainCalls + otherVainCalls, why);
  assert.match(why, /^error: no call of the judge got a reply/m);
});

test("a call counts once, whichever of the shards that share a cache made it", async (t) => {
  const answering = await server(t);
  const env = { ...BARE, ...at.gemini(answering) };
  const same = turn("the same", "The answer to the same");
  const set = evalSetOf(Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`case-${index}`, [same]])), "set");
  const cwd = folderOf(t, {
    "set.evalset.json": JSON.stringify(set),
    "set.actual.json": JSON.stringify(set),
    "test_config.json": JSON.stringify(judged({ num_samples: 1 })),
  });
  const args = ["eval", "set.evalset.json", "--format", "json"];
  const whole = await run([...args, "--cache", "whole"], { cwd, env });
  // The last shard is the first that asks.
  for (const shard of [2, 1]) {
    const given = [
      "--shard",
      `${shard}/2`,
      "--journal",
      `part-${shard}.jsonl`,
      "--cache",
      "shared",
      "--output",
      `${shard}.json`,
    ];
    await run([...args, ...given], { cwd, env });
  }
  assert.equal(answering.requests.length, 2);
  const merged = await run(["merge", "part-1.jsonl", "part-2.jsonl", "--format", "json"], { cwd, env: BARE });
  const usage = ({ stdout }) => /"judgeUsage": (\{[^}]*\})/.exec(stdout)[1];
  assert.equal(usage(merged), usage(whole), merged.stderr);
  assert.match(usage(merged), /"calls": 1,/);
});

test("a shard without cases says so, and writes every output", async (t) => {
  const cwd = folderOf(t, files(3));
  const args = ["eval", "one.evalset.json", "two.evalset.json", "--metrics", "./metrics.mjs"];
  const given = ["--config", "plain.json", "--shard", "7/10000", "--journal", "j.jsonl", "--max-calls", "3"];
  writeFileSync(join(cwd, "plain.json"), '{ "criteria": { "response_match_score": 0.3 } }');
  const { status, stderr } = await run([...args, ...given, ...output], { cwd, env: BARE });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^shard 7\/10000 has none of the cases$/m);
  assert.match(stderr, /^0 cases: none scored$/m);
  assert.doesNotMatch(stderr, /no metric asks a judge/);
  read(cwd, OUTPUTS);
  for (const [at, text] of read(cwd, RESULTS).entries()) {
    const { eval_set_id: id, eval_case_results: results } = JSON.parse(text);
    assert.deepEqual([id, results], [["one", "two"][at], []]);
  }
  const nowhere = ["--balance", "nowhere.jsonl", "--journal", "k.jsonl", "--shard", "1/2"];
  const unbalanced = await run([...args, ...nowhere], { cwd, env: BARE });
  assert.match(unbalanced.stderr, /the file of --balance does not exist\n +at nowhere\.jsonl/);
  const config = ["--balance", "plain.json", "--journal", "l.jsonl", "--shard", "1/2"];
  const wrong = await run([...args, ...config], { cwd, env: BARE });
  assert.match(wrong.stderr, /the file of --balance contains neither results nor a journal: [^]*\n +at plain\.json/);
  assert.match(wrong.stderr, /help: Pass results of eval or run, or their journals/);
});

test("answers that another --early-stop asked for are not said to have failed", async (t) => {
  const answering = await server(t, { reply: fair });
  const env = { ...BARE, ...at.gemini(answering) };
  const cwd = folderOf(t, files(2));
  writeFileSync(join(cwd, "test_config.json"), JSON.stringify(judged({ num_samples: 3 })));
  const args = ["eval", "one.evalset.json", "--journal", "j.jsonl", "--format", "jsonl", "--output", "out.jsonl"];
  await run([...args, "--concurrency", "1"], { cwd, env });
  await run([...args, "--early-stop", "none"], { cwd, env });
  const { stderr } = await run(["merge", "j.jsonl", "--output", "merged.json"], { cwd, env: BARE });
  assert.match(stderr, /stored answers? (?:was|were) not needed: another call of the vote failed for good/);
});

test("record: parts are put together", async (t) => {
  const cwd = folderOf(t, files(9));
  const args = ["record", "--agent", "./agent.mjs", "one.evalset.json", "--num-runs", "3"];
  const env = { ...BARE, SEED: "4" };
  const texts = (file) =>
    JSON.parse(readFileSync(join(cwd, file), "utf8")).map(({ eval_case_id: id, inferences, error_message: why }) => [
      id,
      inferences.map(({ final_response: said }) => said?.parts),
      why?.split("\n")[0],
    ]);
  await run([...args, "--output", "whole.json"], { cwd, env });
  for (const part of [1, 2]) {
    const shard = ["--shard", `${part}/2`, "--journal", `${part}.jsonl`, "--output", `${part}.json`];
    const { status, stderr } = await run([...args, ...shard], { cwd, env });
    assert.ok(status < 2);
    const ran = readFileSync(join(cwd, `${part}.jsonl`), "utf8")
      .split("\n")
      .filter((line) => /"type":"run"/.test(line));
    const cases = new Set(ran.map((line) => JSON.parse(line).evalId)).size;
    assert.match(stderr, new RegExp(`^running .*, ${cases} cases?, 3 runs each$`, "m"));
  }
  const again = ["--shard", "1/2", "--journal", "1.jsonl", "--resume", "--output", "again.json"];
  assert.doesNotMatch((await run([...args, ...again], { cwd, env })).stderr, /^running/m);
  const merged = await run(["merge", "1.jsonl", "2.jsonl", "--output", "merged.json"], { cwd, env: BARE });
  assert.ok(merged.status < 2, merged.stderr);
  assert.doesNotMatch(merged.stderr, /^running/m);
  assert.deepEqual(texts("merged.json"), texts("whole.json"));
  for (const useless of [["--format", "csv"], ["--strict"], ["--allow-flaky"], ["--metrics", "./metrics.mjs"]]) {
    const { status, stderr } = await run(["merge", "1.jsonl", "2.jsonl", ...useless], { cwd, env: BARE });
    assert.equal(status, 2, stderr);
    assert.match(stderr, new RegExp(`the shards are of record, .*\n.*Leave out ${useless[0]}`));
  }
});

test("parts that are missing, twice there, unfinished or of other inputs are named", async (t) => {
  const answering = await server(t, { reply: fair });
  const env = { ...BARE, ...at.gemini(answering) };
  const cwd = folderOf(t, files(2));
  const args = ["eval", "one.evalset.json", "--metrics", "./metrics.mjs"];
  const part = async (index, count, file, more = []) => {
    const shard = ["--shard", `${index}/${count}`, "--journal", file];
    const { status, stderr } = await run([...args, ...shard, ...more], { cwd, env });
    assert.ok(status < 2, stderr);
  };
  for (const index of [1, 2, 3]) await part(index, 3, `${index}.jsonl`);
  await part(2, 4, "other.jsonl");
  await part(3, 3, "model.jsonl", ["--model", "gemini-2.5-pro"]);
  copyFileSync(join(cwd, "2.jsonl"), join(cwd, "copy.jsonl"));
  const unfinished = lines(cwd, "3.jsonl").filter((line) => !line.includes('"type":"end"'));
  writeFileSync(join(cwd, "cut.jsonl"), `${unfinished.join("\n")}`);
  writeFileSync(join(cwd, "none.json"), "{}\n");
  for (const [names, said] of [
    [[], /no journals specified/],
    [["1.jsonl"], /shards 2, 3 of 3 are missing\n +help: Run them: --shard 2\/3/],
    [["1.jsonl", "3.jsonl"], /shard 2 of 3 is missing/],
    [["1.jsonl", "2.jsonl", "3.jsonl", "copy.jsonl"], /shard 2 of 3 occurs more than once\n +at 2\.jsonl, copy\.jsonl/],
    [["1.jsonl", "other.jsonl", "3.jsonl"], /other\.jsonl is shard 2\/4 of eval, and 1\.jsonl is shard 1\/3 of eval/],
    [["1.jsonl", "2.jsonl", "cut.jsonl"], /a shard has not finished\n +at cut\.jsonl \(3\/3\)/],
    [["1.jsonl", "2.jsonl", "model.jsonl"], /the shards have different inputs: judge/],
    [["none.json"], /it is not a journal of this package/],
    [["nowhere.jsonl"], /the journal does not exist/],
  ]) {
    const { status, stderr } = await run(["merge", ...names, "--metrics", "./metrics.mjs"], { cwd, env: BARE });
    assert.equal(status, 2, stderr);
    assert.match(stderr, said);
  }
  writeFileSync(join(cwd, "test_config.json"), JSON.stringify(judged({ num_samples: 5 }, { polite: 0.2 })));
  const changed = await run(["merge", "1.jsonl", "2.jsonl", "3.jsonl", "--metrics", "./metrics.mjs"], {
    cwd,
    env: BARE,
  });
  assert.equal(changed.status, 2);
  assert.match(changed.stderr, /the journal was started with different inputs: the config/);
});

test("--shard is read from the environment of Cloud Run and Kubernetes, and refused where it is wrong", async (t) => {
  const cwd = folderOf(t, files(3));
  const config = JSON.stringify({ criteria: { response_match_score: 0.1 } });
  writeFileSync(join(cwd, "test_config.json"), config);
  const parted = (shard, env = {}, more = []) =>
    run(["eval", "one.evalset.json", "--shard", shard, ...more], { cwd, env: { ...BARE, ...env } });
  const journal = (name) => ["--journal", name];
  const shardIn = (name) => JSON.parse(lines(cwd, name).find((line) => line.includes('"part":"shard"'))).inputs.shard;
  const run0 = await parted("auto", { CLOUD_RUN_TASK_INDEX: "0", CLOUD_RUN_TASK_COUNT: "4" }, journal("run.jsonl"));
  assert.ok(run0.status < 2, run0.stderr);
  assert.equal(shardIn("run.jsonl"), "1/4");
  const job = await parted("auto/16", { JOB_COMPLETION_INDEX: "15" }, journal("job.jsonl"));
  assert.ok(job.status < 2, job.stderr);
  assert.equal(shardIn("job.jsonl"), "16/16");
  for (const [shard, env, more, said] of [
    ["0/4", {}, journal("a"), /--shard cannot be `0\/4`/],
    ["5/4", {}, journal("a"), /--shard cannot be `5\/4`/],
    ["x", {}, journal("a"), /--shard cannot be `x`/],
    ["1/4", {}, [], /--shard needs a journal/],
    ["1/4", {}, [...journal("a"), "--bail"], /--shard and --bail cannot be used together/],
    [
      "1/4",
      {},
      [...journal("a"), "--early-stop", "0.01"],
      /--shard and --early-stop with a risk cannot be used together: each shard would estimate it from its own cases/,
    ],
    ["auto", {}, journal("a"), /--shard auto: the environment does not contain the number of a task/],
    [
      "auto",
      { JOB_COMPLETION_INDEX: "1" },
      journal("a"),
      /--shard auto: the environment does not contain the number of shards/,
    ],
    [
      "auto",
      { CLOUD_RUN_TASK_INDEX: "", CLOUD_RUN_TASK_COUNT: "4" },
      journal("a"),
      /--shard auto: the environment does not contain the number of a task/,
    ],
    [
      "auto",
      { CLOUD_RUN_TASK_INDEX: "0", CLOUD_RUN_TASK_COUNT: "" },
      journal("a"),
      /--shard auto: the environment does not contain the number of shards/,
    ],
    [
      "auto",
      { CLOUD_RUN_TASK_INDEX: "0x1", CLOUD_RUN_TASK_COUNT: "4" },
      journal("a"),
      /INDEX is not a whole number: `0x1`/,
    ],
    ["auto/2", { CLOUD_RUN_TASK_INDEX: "5", CLOUD_RUN_TASK_COUNT: "8" }, journal("a"), /there is no shard 6 of 2/],
    ["auto/", { CLOUD_RUN_TASK_INDEX: "0" }, journal("a"), /--shard cannot be `auto\/`/],
    ["1/1000000000", {}, journal("a"), /--shard cannot be `1\/1000000000`.*\n.*at most 10000/],
    [
      "2/4",
      { CLOUD_RUN_TASK_INDEX: "0" },
      journal("run.jsonl"),
      /the journal was started with different inputs: the shard \(1\/4 then, 2\/4 now\)\n {3}at \S+\.jsonl\n/,
    ],
  ]) {
    const { status, stderr } = await parted(shard, env, more);
    assert.equal(status, 2, stderr);
    assert.match(stderr, said);
  }
});

test("merge counts the calls that were made, and what nobody was asked", async (t) => {
  let fault = "auth";
  const answering = await server(t, { reply: (asked) => (fault === undefined ? fair(asked) : { fault }) });
  const env = { ...BARE, ...at.gemini(answering) };
  const names = Array.from({ length: 6 }, (_, index) => `c-${index}`);
  const set = evalSetOf(Object.fromEntries(names.map((name) => [name, [turn(name, `Its ${name}`)]])));
  // Three runs of each case, which ask the same.
  const runs = { ...set, evalCases: set.evalCases.flatMap((one) => [one, one, one]) };
  const config = JSON.stringify(judged({ num_samples: 5 }));
  const files = { "one.evalset.json": set, "one.actual.json": runs };
  const texts = Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)]);
  const cwd = folderOf(t, { ...Object.fromEntries(texts), "test_config.json": config });
  const command = async (...args) => {
    const { stderr } = await run([...args, "--format", "jsonl", "--output", "out.jsonl", "--force"], { cwd, env });
    const { judgeUsage } = JSON.parse(readFileSync(join(cwd, "out.jsonl"), "utf8").split("\n", 1)[0]);
    const { calls, asked, answered, cached, saved, lost, unsent, failed } = judgeUsage;
    assert.equal(asked, answered + cached + lost, stderr);
    assert.equal(asked + saved, 90, stderr);
    assert.equal(calls, answered + failed, stderr);
    return { usage: judgeUsage, stderr, failedSamples: lost - unsent };
  };
  const part = (file, ...more) =>
    run(["eval", "one.evalset.json", "--journal", file, "--concurrency", "2", ...more], { cwd, env });
  const requests = () => answering.requests.length;

  // A key that is rejected ends the questions of every shard.
  for (const shard of [1, 2, 3]) await part(`auth-${shard}.jsonl`, "--shard", `${shard}/3`);
  const refused = await command("merge", ...[1, 2, 3].map((shard) => `auth-${shard}.jsonl`));
  assert.equal(refused.usage.calls, requests());
  assert.equal(refused.failedSamples, requests());
  assert.match(refused.stderr, /no verdict in 18 of 18 case results: The server [^]*?API_KEY/);
  assert.doesNotMatch(refused.stderr, /budget/);

  // A budget is spent in every shard.
  fault = undefined;
  for (const shard of [1, 2, 3]) await part(`few-${shard}.jsonl`, "--shard", `${shard}/3`, "--max-calls", "2");
  const limited = await command("merge", ...[1, 2, 3].map((shard) => `few-${shard}.jsonl`));
  assert.equal(limited.failedSamples, 0, limited.stderr);
  assert.match(limited.stderr, /a budget was spent/);

  // The judge is down, and asked again when it is up.
  fault = "bad_request";
  await part("again.jsonl");
  fault = undefined;
  const again = await command("eval", "one.evalset.json", "--journal", "again.jsonl", "--concurrency", "2");
  const merged = await command("merge", "again.jsonl");
  assert.deepEqual(merged.usage, again.usage, merged.stderr);
});
