// OpenTelemetry traces as actual runs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, root, run } from "./command.mjs";

const traces = (name) => readFileSync(join(root, "tests/interop/traces", name), "utf8");
const WEATHER = {
  eval_set_id: "weather",
  eval_cases: [
    {
      eval_id: "bill",
      conversation: [
        {
          user_content: { parts: [{ text: "I want to pay my bill." }] },
          final_response: { parts: [{ text: "You owe 12 euros." }] },
          intermediate_data: { tool_uses: [{ name: "transfer_to_agent", args: { agent_name: "billing" } }] },
        },
      ],
    },
  ],
};

test("traces are scored, named or found in a folder by the evalset's name", async (t) => {
  const folder = folderOf(t, {
    "weather.evalset.json": WEATHER,
    "weather.traces.jsonl": traces("adk-python-events.jsonl"),
    "ts.json": traces("adk-ts.json"),
  });
  for (const actual of [[], ["--actual", "ts.json"], ["--actual", "weather.traces.jsonl"]]) {
    const args = ["eval", "weather.evalset.json", ...actual, "--format", "csv"];
    const { stdout, stderr, status } = await run(args, { cwd: folder });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /bill/);
    // Nothing in these traces suggests that a callback changed an answer.
    assert.doesNotMatch(stderr, /warning: (?!the actual conversation "paris" belongs to no eval case)/);
  }
});

test("a note says that traces of google-adk do not show what a callback made of the last answer", async (t) => {
  const folder = folderOf(t, {
    "weather.evalset.json": traces("weather.evalset.json"),
    "test_config.json": { criteria: { response_match_score: 0 } },
    "python.jsonl": traces("adk-python-events.jsonl"),
    "ts.json": traces("adk-ts.json"),
  });
  for (const [file, times] of [
    ["python.jsonl", 1],
    ["ts.json", 0],
  ]) {
    const args = ["eval", "weather.evalset.json", "--actual", file, "--strict", "--format", "csv"];
    const { stderr, status } = await run(args, { cwd: folder });
    // It is no warning: every trace of google-adk 2 would fail with --strict.
    assert.equal(status, 0, stderr);
    assert.equal(stderr.match(/if an after_model_callback changed the last answer/g)?.length ?? 0, times);
  }
});

test("traces without messages end with the file, the line and the setting that captures them", async (t) => {
  const folder = folderOf(t, {
    "weather.evalset.json": WEATHER,
    "weather.traces.jsonl": traces("adk-python-no-content.jsonl"),
  });
  const { stderr, status } = await run(["eval", "weather.evalset.json"], { cwd: folder });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /error: the traces contain no messages: capturing them is off[^\n]*\n {3}at \S*weather\.traces\.jsonl:1, resourceSpans\[0\][^\n]*\n {3}help: Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT/,
  );
});
