import assert from "node:assert/strict";
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { folderOf, root, run } from "./command.mjs";

const HEATING = "examples/home-automation/heating.test.json";

test("writes an old evalset in today's schema to stdout", async () => {
  const { stdout, status } = await run(["migrate", HEATING]);
  assert.equal(status, 0);
  const { eval_set_id, name, eval_cases } = JSON.parse(stdout);
  assert.deepEqual([eval_set_id, name, eval_cases.length], ["heating", "heating", 1]);
  const [first, second] = eval_cases[0].conversation;
  assert.equal(first.user_content.parts[0].text, "It is cold in the bedroom.");
  assert.deepEqual(second.intermediate_data.tool_uses, [{ name: "get_temperature", args: { room: "bath" } }]);
});

test("writes into a file, and over one only with --force", async (t) => {
  const cwd = folderOf(t, { "new.evalset.json": "mine" });
  const file = join(cwd, "new.evalset.json");
  const args = ["migrate", join(root, HEATING), "--output", "new.evalset.json"];
  const refused = await run(args, { cwd });
  assert.equal(refused.status, 2);
  assert.match(
    refused.stderr,
    /the output already exists\n {3}at new\.evalset\.json\n {3}help: To overwrite it, add --force/,
  );
  assert.equal(readFileSync(file, "utf8"), "mine");
  const written = await run([...args, "--force"], { cwd });
  assert.deepEqual([written.status, written.stdout], [0, ""]);
  assert.match(written.stderr, /wrote new\.evalset\.json/);
  assert.equal(readFileSync(file, "utf8"), (await run(["migrate", HEATING])).stdout);
});

test("leaves today's evalsets as they are", async (t) => {
  const once = await run(["migrate", "examples/travel-concierge/travel-concierge.evalset.json"]);
  const cwd = folderOf(t, { "again.evalset.json": once.stdout });
  assert.equal((await run(["migrate", "again.evalset.json"], { cwd })).stdout, once.stdout);
});

test("says what is wrong", async (t) => {
  const cwd = folderOf(t, { "config.json": '{"criteria": {}}', "list.json": '[{"query": 3}]' });
  for (const [args, words] of [
    [[], /no evalset specified/],
    [["a.json", "b.json"], /one file at a time\n {3}help: Left over: b\.json/],
    [["a.json"], /the evalset does not exist\n {3}at a\.json/],
    [["config.json"], /error: .*\n {3}at config\.json:1/],
    [["list.json"], /at list\.json:1, \[0\]\.query/],
    [["list.json", "--forse"], /Did you mean --force\?/],
    [["list.json", "--output", "config.json/x"], /the output cannot be written/],
  ]) {
    const { status, stderr, stdout } = await run(["migrate", ...args], { cwd });
    assert.match(stderr, words);
    assert.deepEqual([status, stdout], [2, ""]);
  }
});

test("names a file that is too large, and nothing else", async (t) => {
  const cwd = folderOf(t);
  writeFileSync(join(cwd, "big.json"), "");
  truncateSync(join(cwd, "big.json"), 256 * 1024 * 1024 + 1);
  const { stderr, status } = await run(["migrate", "big.json"], { cwd });
  assert.match(stderr, /^error: the input has 268435457 bytes.*\n {3}at big\.json\n {3}help: /);
  assert.equal(status, 2);
});

for (const [old, actual] of [
  [HEATING, "examples/home-automation/heating.evalset_result.json"],
  ["examples/home-automation/evening.test.json", "examples/home-automation/evening.evalset_result.json"],
  ["examples/shop-assistant/shop.evalset.json", "examples/shop-assistant/shop.inferences.json"],
]) {
  test(`${basename(old)} scores the same when migrated`, async (t) => {
    const cwd = folderOf(t);
    const config = join(old, "../test_config.json");
    const migrated = join(cwd, basename(old).replace(".test.", ".evalset."));
    copyFileSync(join(root, config), join(cwd, "test_config.json"));
    assert.equal((await run(["migrate", old, "--output", migrated])).status, 0);
    const [before, after] = await Promise.all(
      [old, migrated].map((file) => run(["eval", file, "--actual", actual, "--format", "csv"])),
    );
    assert.equal(after.stdout, before.stdout);
    assert.equal(after.status, before.status);
  });
}
