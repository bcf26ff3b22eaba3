// Without --force, only older reports of the command are overwritten.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CLOCK, folderOf, run } from "./command.mjs";

const clock = ["eval", "clock.evalset.json", "--actual", "clock.actual.json"];

/** What resembles a report, and is somebody's own; google-adk's results have the agent's name in their ids. */
const RESEMBLING = {
  txt: (report) => report.replace(/ \d passed.*/, " to be discussed"),
  json: (report) => report.replaceAll('"clock_', '"watchmaker_clock_'),
  jsonl: (report) => report.replace("adk-metrics results", "adk-metrics"),
  xml: (report) => `<!-- mine -->${report}`,
  md: (report) => report.replace(/^## .*/, "## Evaluation of my life"),
  csv: (report) => report.replaceAll("\r\n", ",my column\r\n"),
  html: (report) => report.replace(/<meta name="generator".*/, ""),
};

test("overwrites its table of an evalset whose id begins with a space or is empty", async (t) => {
  for (const id of ["", " spaced"]) {
    const [set, actual] = Object.values(CLOCK).map((one) => ({ ...one, eval_set_id: id }));
    const cwd = folderOf(t, { "clock.evalset.json": set, "clock.actual.json": actual });
    for (const at of ["first", "second"]) {
      const { status, stderr } = await run([...clock, "--output", "out.txt"], { cwd });
      assert.equal(status, 1, `${at}: ${stderr}`);
    }
  }
});

test("overwrites older reports unasked, and nothing that resembles one", async (t) => {
  const cwd = folderOf(t, CLOCK);
  for (const [ending, change] of Object.entries(RESEMBLING)) {
    const file = join(cwd, `out.${ending}`);
    const once = () => run([...clock, "--output", file], { cwd });
    assert.deepEqual([(await once()).status, (await once()).status], [1, 1], ending);
    const report = readFileSync(file, "utf8");
    const own = change(report);
    assert.notEqual(own, report);
    writeFileSync(file, own);
    const { status, stderr } = await once();
    assert.equal(status, 2, ending);
    assert.match(stderr, /the output already exists, and is not a report in the format/);
    assert.equal(readFileSync(file, "utf8"), own);
  }
});
