// The command opens connections to its judge and to nobody else. They are noted where Node opens them.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { CLOCK, folderOf, run } from "./command.mjs";
import { ask, at, FILES, server } from "./judging.mjs";

/** Notes every connection and every name that is looked up, before anything else is loaded. */
const NOTING = `
  import { appendFileSync } from "node:fs";
  import dns from "node:dns";
  import net from "node:net";
  import dgram from "node:dgram";
  const note = (what) => appendFileSync(process.env.CONNECTIONS, what + "\\n");
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...args) {
    const { host, port, path } = (Array.isArray(args[0]) ? args[0][0] : args[0]) ?? {};
    note(path ?? (host ?? "localhost") + ":" + port);
    return connect.apply(this, args);
  };
  const { lookup } = dns;
  dns.lookup = (name, ...more) => (note("lookup " + name), lookup(name, ...more));
  const { createSocket } = dgram;
  dgram.createSocket = (...args) => (note("datagrams"), createSocket(...args));
`;

/** The connections of a command. */
async function connectionsOf(t, args, files, env = {}) {
  const cwd = folderOf(t, { ...files, "noting.mjs": NOTING });
  const noted = join(cwd, "connections.txt");
  const preload = pathToFileURL(join(cwd, "noting.mjs")).href;
  const all = { ...env, NODE_OPTIONS: `--import ${preload}`, CONNECTIONS: noted };
  const { status, stderr } = await run(args, { cwd, env: all });
  return { status, stderr, connections: existsSync(noted) ? readFileSync(noted, "utf8").trim().split("\n") : [] };
}

const plain = { ...CLOCK, "test_config.json": { criteria: { response_match_score: 0, tool_trajectory_avg_score: 0 } } };

for (const args of [
  ask,
  [...ask, "--format", "html", "--output", "report.html"],
  ["migrate", "clock.evalset.json", "--output", "new.json"],
  ["--version"],
]) {
  test(`without a judge there is no connection: ${args.join(" ")}`, async (t) => {
    // Keys and addresses that nobody needs are there.
    const env = { GOOGLE_API_KEY: "key-of-somebody", OPENAI_API_KEY: "key-of-somebody" };
    const { status, stderr, connections } = await connectionsOf(t, args, plain, env);
    assert.equal(status, 0, stderr);
    assert.deepEqual(connections, []);
  });
}

test("with a judge there are connections to its server alone", async (t) => {
  const judge = await server(t);
  const { stderr, connections } = await connectionsOf(t, ask, FILES, at.gemini(judge));
  assert.ok(judge.requests.length > 0, stderr);
  assert.deepEqual([...new Set(connections)], [new URL(judge.url).host]);
});
