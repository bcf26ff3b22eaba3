// Agents of both libraries on the command line: run, recorded, and scored alike.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folderOf, readBack, run as runCommand } from "../cli/command.mjs";
import { evalSetOf, turn } from "./evalsets.mjs";
import * as agents from "./command-agents.mjs";

const module = fileURLToPath(new URL("command-agents.mjs", import.meta.url));
const call = (city) => [["get_weather", { city }]];
const FILES = {
  "weather.evalset.json": evalSetOf({
    both: [
      turn("Weather in Paris?", "It is sunny in Paris.", call("Paris")),
      turn("Weather in London?", "It is grey in London.", call("London")),
    ],
    wrong: [turn("Weather in London?", "It is sunny in Paris.", call("Paris"))],
  }),
};

/** The scores of whole conversations that do not depend on time. */
const scores = ({ stdout }) =>
  stdout.split("\r\n").filter((line) => line.includes(",,") && !line.includes("invocation_duration_v1"));

const run = (command, name, cwd, ...args) => {
  const agent = name === "default" ? module : `${module}#${name}`;
  const often = args.includes("--num-runs") ? [] : ["--num-runs", "1"];
  return runCommand([command, "--agent", agent, "weather.evalset.json", ...often, ...args], { cwd });
};

for (const name of Object.keys(agents)) {
  test(`runs an agent exported as ${name}`, async (t) => {
    const { status, stdout, stderr } = await run("run", name, folderOf(t, FILES), "--format", "csv");
    assert.equal(status, 1, stderr);
    assert.match(stderr, /^running weather_agent: weather\.evalset\.json, 2 cases, 1 run each$/m);
    assert.match(stdout, /^evalset,both,1,,tool_trajectory_avg_score,1,1,passed,$/m);
    assert.match(stdout, /^evalset,both,1,,response_match_score,1,0\.8,passed,$/m);
    assert.match(stdout, /^evalset,both,1,,token_usage_v1,30,,informational,$/m);
    assert.match(stdout, /^evalset,wrong,1,,tool_trajectory_avg_score,0,1,failed,$/m);
  });
}

for (const name of ["iqaiAgent", "googleAgent"]) {
  test(`what is recorded of ${name} scores as what is run, and google-adk reads it`, async (t) => {
    const cwd = folderOf(t, FILES);
    const [ran, recorded] = await Promise.all([
      run("run", name, cwd, "--format", "csv", "--num-runs", "2"),
      run("record", name, cwd, "--output", "./", "--num-runs", "2"),
    ]);
    assert.equal(recorded.status, 0, recorded.stderr);
    const evaluated = await runCommand(["eval", "weather.evalset.json", "--format", "csv"], { cwd });
    assert.deepEqual(scores(evaluated), scores(ran));
    if (process.env.ADK_PYTHON === undefined) return;
    const { read, said } = readBack(process.env.ADK_PYTHON, ["--inferences", join(cwd, "weather.inferences.json")]);
    assert.ok(read, said);
    assert.match(said, /4 inference results of 2 cases/);
  });
}

test("a run that failed is recorded up to its failure; eval shows it as failed, and google-adk reads it", async (t) => {
  const conversation = ["one", "two", "three"].map((text) => ({
    user_content: { parts: [{ text }] },
    final_response: {},
  }));
  const cwd = folderOf(t, {
    "trip.evalset.json": { eval_set_id: "trip", eval_cases: [{ eval_id: "book", conversation }] },
    "agent.mjs": `export default async function* (message) {
      if (message === "one") return yield { content: { parts: [{ text: "Hello!" }] } };
      yield { author: "a", content: { parts: [{ functionCall: { name: "book", args: { seat: 7 } } }] } };
      yield { author: "a", content: { parts: [{ functionResponse: { name: "book", response: { error: "taken" } } }] } };
      throw new TypeError("no such seat");
    }`,
  });
  const recorded = await runCommand(
    ["record", "--agent", "agent.mjs", "trip.evalset.json", "--num-runs", "1", "--output", "./"],
    { cwd },
  );
  assert.equal(recorded.status, 1);
  assert.match(recorded.stderr, /^failed: book: turn 2: TypeError: no such seat$/m);
  const file = join(cwd, "trip.inferences.json");
  const [{ status, inferences, error_message }] = JSON.parse(readFileSync(file, "utf8"));
  assert.deepEqual([status, inferences.length], [2, 2]);
  assert.match(error_message, /^turn 2: TypeError: no such seat\n {4}at .*agent\.mjs/);
  const evaluated = await runCommand(["eval", "trip.evalset.json"], { cwd });
  assert.equal(evaluated.status, 1);
  for (const words of [/1 case: 1 failed/, /turn 2: TypeError: no such seat/, /book\(seat: 7\)/, /failed: taken/])
    assert.match(evaluated.stdout, words);
  await runCommand(["eval", "trip.evalset.json", "--format", "json", "--output", "results.json"], { cwd });
  const again = await runCommand(["eval", "trip.evalset.json", "--actual", "results.json"], { cwd });
  assert.match(again.stdout, /1 case: 1 failed/);
  assert.match(again.stdout, /book\(seat: 7\)/);
  if (process.env.ADK_PYTHON === undefined) return;
  for (const args of [["--inferences", file], [join(cwd, "results.json")]]) {
    const { read, said } = readBack(process.env.ADK_PYTHON, args);
    assert.ok(read, said);
  }
});
