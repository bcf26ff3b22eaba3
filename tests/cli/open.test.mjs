// `eval --open` and `run --open`: the results in the playground, until the command is interrupted.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, writeFileSync, chmodSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, test } from "node:test";
import { mustRun, packageFolder } from "../package/support/package.mjs";
import { evalSet, folderOf, run, said, start, text, until } from "./command.mjs";

const skip = !mustRun && !existsSync(join(packageFolder, "playground")) && "the playground is not built: npm run build";

const EXPECTED = evalSet({ early: "It is seven.", late: "It is nine." });
const ACTUAL = evalSet({ early: "It is seven.", late: "No idea at all." });
const CONFIG = { criteria: { response_match_score: 0.8 } };

/** A folder with an evalset, and a program that takes the browser's place and notes what it is given. */
function prepared(t) {
  const folder = folderOf(t, {
    "clock.evalset.json": EXPECTED,
    "clock.actual.json": ACTUAL,
    "test_config.json": CONFIG,
    "agent.mjs": 'export default () => "It is seven.";',
  });
  for (const name of ["xdg-open", "open"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\nprintf %s "$1" > ${join(folder, "opened.txt")}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { folder, env: { PATH: `${folder}${delimiter}${process.env.PATH}`, TMPDIR: folder } };
}

/** Starts a command, and gives what its page gets once the browser was opened. */
async function opened(t, args) {
  const { folder, env } = prepared(t);
  const child = start(args, { cwd: folder, env });
  t.after(() => child.kill("SIGKILL"));
  for (const stream of [child.stdout, child.stderr]) void text(stream);
  const note = join(folder, "opened.txt");
  await until(() => existsSync(note) && readFileSync(note, "utf8") !== "", "the browser");
  const address = new URL(readFileSync(note, "utf8"));
  const headers = { "x-adk-metrics-token": address.hash.replace("#follow=", "") };
  const get = async (path) => await fetch(new URL(path, address), { headers });
  const files = new Map();
  for (const { key, name } of await (await get("/followed")).json()) {
    files.set(name, await (await get(`/followed/${key}`)).text());
  }
  const ended = once(child, "exit");
  const end = async () => {
    child.kill("SIGINT");
    const [status] = await ended;
    return status;
  };
  return { folder, child, address, files, end };
}

describe("--open", { skip }, () => {
  test("shows what eval scored, with its files and every explanation, and then gives its exit status", async (t) => {
    const { folder, child, address, files, end } = await opened(t, ["eval", "clock.evalset.json", "--open"]);
    assert.equal(address.hostname, "localhost");
    assert.deepEqual([...files.keys()].sort(), [
      "clock.actual.json",
      "clock.evalset.json",
      "clock.results.jsonl",
      "test_config.json",
    ]);
    const [header, ...cases] = files.get("clock.results.jsonl").trim().split("\n").map(JSON.parse);
    assert.equal(header.evalSetId ?? header.eval_set_id, "clock");
    assert.equal(cases.length, 2);
    assert.match(files.get("clock.results.jsonl"), /"explanation"/);
    assert.match(said(child.stdout), /late/);
    assert.match(said(child.stderr), /http:\/\/localhost:\d+\/#follow=/);
    assert.doesNotMatch(said(child.stderr), /wrote/);
    assert.equal(await end(), 1);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith("adk-metrics-")),
      [],
      "the temporary files are gone",
    );
  });

  test("shows the JSON lines that are written anyway", async (t) => {
    const args = ["eval", "clock.evalset.json:early", "--output", "kept.jsonl", "--open"];
    const { folder, files, end } = await opened(t, args);
    assert.ok(files.has("kept.jsonl"));
    assert.equal(await end(), 0);
    assert.ok(existsSync(join(folder, "kept.jsonl")));
  });

  test("shows what an agent that was run did", async (t) => {
    const args = ["run", "--agent", "agent.mjs", "clock.evalset.json", "--num-runs", "1", "--open"];
    const { files, end } = await opened(t, args);
    const lines = files.get("clock.results.jsonl").trim().split("\n");
    assert.equal(lines.length, 3);
    assert.equal(await end(), 1);
  });

  test("gives the browser the process's own environment, nothing of a .env", async (t) => {
    const { folder, env } = prepared(t);
    writeFileSync(join(folder, ".env"), "OPENAI_API_KEY=the-key-of-the-folder\n");
    const environment = join(folder, "environment.txt");
    for (const name of ["xdg-open", "open"]) {
      writeFileSync(
        join(folder, name),
        `#!/bin/sh\n/usr/bin/env > ${environment}.part\nmv ${environment}.part ${environment}\n`,
      );
    }
    const args = ["run", "--agent", "agent.mjs", "clock.evalset.json", "--num-runs", "1", "--open"];
    const child = start(args, { cwd: folder, env: { ...env, OPENAI_API_KEY: "" } });
    t.after(() => child.kill("SIGKILL"));
    await until(() => existsSync(environment), "the browser");
    const given = readFileSync(environment, "utf8");
    assert.match(given, /^TMPDIR=/m);
    assert.doesNotMatch(given, /the-key-of-the-folder/);
  });

  test("takes no browser from the working directory", async (t) => {
    const { folder } = prepared(t);
    const child = start(["eval", "clock.evalset.json", "--open"], { cwd: folder, env: { PATH: "." } });
    t.after(() => child.kill("SIGKILL"));
    for (const stream of [child.stdout, child.stderr]) void text(stream);
    await until(() => /Could not open a browser/.test(said(child.stderr)), "the note");
    assert.ok(!existsSync(join(folder, "opened.txt")));
  });

  test("goes with no option that leaves nothing to show", async (t) => {
    const { folder } = prepared(t);
    for (const [option, help] of [
      ["--watch", /adk-metrics playground results\/ --open/],
      ["--dry-run", /Leave out --open or --dry-run/],
    ]) {
      const { status, stderr } = await run(["eval", "clock.evalset.json", "--open", option], { cwd: folder });
      assert.equal(status, 2);
      assert.match(stderr, new RegExp(`--open and ${option} cannot be used together`));
      assert.match(stderr, help);
    }
  });
});
