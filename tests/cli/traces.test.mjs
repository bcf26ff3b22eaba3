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
    // Nothing in these traces says that a callback changed an answer.
    assert.doesNotMatch(stderr, /callback/);
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
    /error: the traces hold no messages[^\n]*\n {3}at \S*weather\.traces\.jsonl:1, resourceSpans\[0\][^\n]*\n {3}help: Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT/,
  );
});
