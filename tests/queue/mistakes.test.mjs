// What cannot be done with a queue.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf } from "../cli/command.mjs";
import { posix } from "../cli/judging.mjs";
import { manyCases } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";
import { databases } from "./databases.mjs";
import { projectOf } from "./project.mjs";

test("what cannot be is said at once", databases, async (t) => {
  const project = projectOf(t, { "many.evalset.json": manyCases(2) });
  const said = async (args, pattern) => {
    const { status, stderr } = await project.run(["queue", ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, pattern);
  };
  await said(
    [],
    /queue needs a subcommand\n +help: The commands are queue add, queue work, queue status, queue collect/,
  );
  await said(["wrok"], /unknown command `queue wrok`\n +help: Did you mean `queue work`\?/);
  await said(["status"], /no queue specified\n +help: Add --queue redis:/);
  await said(["status", "--queue", "http://localhost"], /expected an address: redis:/);
  await said(["status", "--queue", "redis://127.0.0.1:1"], /there is no queue at 127\.0\.0\.1:1: .*ECONNREFUSED/);
  await said(
    ["status", "--queue", "postgres://a:secret@127.0.0.1:1/x"],
    /there is no queue at 127\.0\.0\.1:1: (?!.*secret)/,
  );
  await said(
    ["work", "--max-calls", "3"],
    /--max-calls has no effect on queue work\n +help: It is an option of queue add/,
  );
  await said(["work", "x.json"], /queue work takes no evalset/);
  await said(
    ["add", "many.evalset.json", "--priority", "1", "--priority", "2", "--queue", "redis://127.0.0.1:1"],
    /1 evalset but 2 --priority\n +help: Specify one for each evalset, in the same order/,
  );
  await said(
    ["add", "many.evalset.json", "--early-stop", "0.01", "--queue", "redis://127.0.0.1:1"],
    /--early-stop with a risk cannot be used with queue add.*\n +help: Leave out --early-stop, or call `enqueue` with the prior/,
  );
  await said(
    ["add", "many.evalset.json", "--limit", "much", "--queue", "redis://127.0.0.1:1"],
    /--limit cannot be `much`/,
  );
});

test("files that are no regular ones are not waited for, and not read", { ...posix, timeout: 20_000 }, async (t) => {
  const { enqueue } = await importEntry("./queue");
  const folder = folderOf(t, { "empty.json": "" });
  execFileSync("mkfifo", [join(folder, "pipe.json")]);
  symlinkSync("/dev/zero", join(folder, "endless.json"));
  for (const name of ["pipe.json", "endless.json", "empty.json"]) {
    const evalSet = join(folder, name);
    await assert.rejects(enqueue({ evalSets: [{ evalSet }] }, "redis://127.0.0.1:1"), {
      code: "queue_failed",
      message: `${evalSet} cannot be read: it is empty or not a regular file`,
    });
  }
});
