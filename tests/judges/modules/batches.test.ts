// Batches are no larger than their provider takes, by rows and by bytes.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { batchProtocolOf } from "../../../pkg-template/src/batches/protocols.js";
import { BatchStore } from "../../../pkg-template/src/batches/store.js";
import { type Endpoint, endpointOf } from "../../../pkg-template/src/judges/endpoint.js";
import { anthropicJudge, geminiJudge, openaiJudge } from "../../../pkg-template/src/judges/providers.js";
import "./engine.js";
import { NEVER, PLAIN } from "./support.js";

const MEGABYTE = 1_000_000;
/** The most rows and bytes of a batch, as the providers say. */
const LIMITS = { openai: [50_000, 200], anthropic: [100_000, 256], gemini: [Infinity, 2000] } as const;

test("batches stay below the limits of their providers", () => {
  for (const provider of ["openai", "anthropic", "gemini"] as const) {
    const protocol = batchProtocolOf(provider);
    assert.ok(protocol !== undefined);
    const [rows, megabytes] = LIMITS[provider];
    assert.ok(protocol.maxRows <= rows && protocol.maxBytes < megabytes * MEGABYTE, provider);
    // What each row and the file have beside the bodies is within what is counted for a row.
    const name = `adk-metrics-${"0".repeat(32)}`;
    for (const bytes of [10, 30 * MEGABYTE]) {
      const { head, row, separator, tail } = protocol.upload(name, bytes);
      assert.ok(`${separator}${row("x".repeat(48), "")}`.length <= 200, provider);
      assert.ok(`${head}${tail}`.length <= 200, provider);
    }
  }
  const gemini = batchProtocolOf("gemini");
  assert.match(gemini?.upload("name", 18 * MEGABYTE).head ?? "", /^\{"batch"/, "inline");
  assert.equal(gemini?.upload("name", 20 * MEGABYTE).head, "", "as a file");
});

async function recordsOf(t: TestContext, endpoint: Endpoint, maxRows?: number) {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-batches-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = await BatchStore.open(folder, {
    ...{ cache: { set: async () => {} }, endpointOf: () => endpoint, say() {}, signal: NEVER(), pollMs: 1 },
    ...(maxRows === undefined ? {} : { maxRows }),
  });
  try {
    for (let at = 0; at < 20; at += 1) {
      const key = `${String(at).padStart(4, "0")}-${"k".repeat(60)}`;
      await store.note(endpoint, { ...PLAIN, prompt: `${at}: ${"word ".repeat(200)}` }, key);
    }
    store.finish();
    return store.records();
  } finally {
    store.close();
  }
}

test("what is more than a batch may have goes into several", async (t) => {
  const judges = [openaiJudge, anthropicJudge, geminiJudge].map((make) => make({ apiKey: "k", model: "m" }));
  for (const judge of judges) {
    const endpoint = endpointOf(judge);
    assert.ok(endpoint !== undefined);
    const rows = await recordsOf(t, endpoint, 6);
    assert.deepEqual(rows.map((record) => record.rows).toSorted(), [2, 6, 6, 6]);
    const protocol = batchProtocolOf(endpoint.provider);
    assert.ok(protocol !== undefined);
    // OpenAI's is made anew for each endpoint.
    if (endpoint.provider === "openai") continue;
    const { maxBytes } = protocol;
    Object.assign(protocol, { maxBytes: 5 * 1600 });
    t.after(() => Object.assign(protocol, { maxBytes }));
    const small = await recordsOf(t, endpoint);
    assert.ok(small.length >= 3, `${small.length} batches`);
    assert.ok(
      small.every(({ bytes }) => bytes <= 5 * 1600),
      JSON.stringify(small),
    );
    assert.equal(
      small.reduce((sum, record) => sum + record.rows, 0),
      20,
    );
  }
});
