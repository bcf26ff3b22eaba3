// The worker's way out.

import assert from "node:assert/strict";
import { test } from "node:test";

test("the worker connects to the judge that was named and to its own site, and counts what leaves", async () => {
  const sent: string[] = [];
  const site = "https://site.example/playground/";
  Object.assign(globalThis, { self: { location: new URL(site) } });
  globalThis.fetch = (input) => {
    sent.push(String(input instanceof Request ? input.url : input));
    return Promise.resolve(new Response("ok"));
  };
  const { connectOnlyTo, connections } = await import("../../../www/src/worker/connections.js");

  await assert.rejects(fetch("https://judge.example/v1"), /no server, and refuses https:\/\/judge\.example/);
  connectOnlyTo(["https://judge.example"]);
  await fetch("https://judge.example/v1");
  await fetch(new Request("https://judge.example/v2", { method: "POST" }));
  await fetch("engine.wasm");
  await assert.rejects(fetch("https://elsewhere.example/"), /only, and refuses https:\/\/elsewhere\.example/);
  await assert.rejects(fetch("https://judge.example.evil.example/"), TypeError);
  await assert.rejects(fetch("http://judge.example/"), TypeError);
  assert.deepEqual(sent, ["https://judge.example/v1", "https://judge.example/v2", "engine.wasm"]);
  assert.deepEqual(connections(), { "https://judge.example": 2 });
  connectOnlyTo(["https://other.example", "https://judge.example"]);
  await fetch("https://other.example/v1");
  await assert.rejects(fetch("https://x.example/"), /https:\/\/other\.example and https:\/\/judge\.example only/);
  connectOnlyTo([]);
  await assert.rejects(fetch("https://judge.example/v1"), TypeError);
});
