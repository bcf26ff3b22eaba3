// What google-adk makes of an agent's events: recorded by make_vectors.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { TurnRecorder } from "../../../pkg-template/src/agents/record.js";

const casesOf = <T>(name: string): T[] =>
  readFileSync(new URL(`../${name}`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);

test("a turn is recorded as google-adk records it", () => {
  for (const { events, invocation } of casesOf<{ events: object[]; invocation: object }>("recordings.jsonl")) {
    const recorder = new TurnRecorder({ parts: [{ text: "hi" }] }, 0);
    for (const event of events) recorder.add(event, 0);
    const { finalResponse, intermediateData } = recorder.finish(0);
    const found = JSON.parse(JSON.stringify({ finalResponse, intermediateData })) as object;
    assert.deepEqual(found, invocation, JSON.stringify(events));
  }
});
