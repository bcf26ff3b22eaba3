// The playground's server has the files of the site and nothing else, whoever asks and however: there is nothing in it that a
// page of another origin, or of a name that was made to mean this machine, could be after.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { mustRun, packageFolder } from "../package/support/package.mjs";
import { start } from "./command.mjs";

const skip = !mustRun && !existsSync(join(packageFolder, "playground")) && "the playground is not built: npm run build";

let server;
let port;
before(async () => {
  if (skip) return;
  server = start(["playground", "--port", "0"]);
  const [address] = await once(createInterface(server.stdout), "line");
  port = Number(new URL(address).port);
});
after(() => server?.kill());

/** What the server answers to a request as it is written. */
async function answered(...lines) {
  const socket = connect(port, "127.0.0.1");
  socket.end([...lines, "Connection: close", "", ""].join("\r\n"));
  let text = "";
  for await (const chunk of socket) text += chunk.toString("latin1");
  const [head, body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

const PATHS = [
  "/../package.json",
  "/../../../../../../etc/passwd",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/..%2f..%2fetc%2fpasswd",
  "/assets/../../package.json",
  "//etc/passwd",
  "/\\..\\package.json",
  "/index.html/",
  "/index.html%00",
  "/__proto__",
  "/constructor",
  "/.env",
  "/adk-metrics/../cli.js",
  "http://elsewhere.invalid/index.html",
  "*",
];

test("leads nowhere but to the files of the site", { skip }, async () => {
  for (const path of PATHS) {
    const { status, body } = await answered(`GET ${path} HTTP/1.1`, "Host: localhost");
    assert.ok(status === 404 || status === 400, `${path}: ${status}`);
    assert.doesNotMatch(body, /root:|"name"|import /);
  }
});

test("has the same for a page of any origin, and lets none read it", { skip }, async () => {
  const own = await answered("GET / HTTP/1.1", `Host: localhost:${port}`);
  assert.equal(own.status, 200);
  for (const lines of [
    ["Host: elsewhere.invalid"],
    [`Host: elsewhere.invalid:${port}`, "Origin: http://elsewhere.invalid", "Cookie: a=b"],
    ["Host: localhost", "Origin: null", "X-Forwarded-Host: elsewhere.invalid"],
  ]) {
    const { status, head, body } = await answered("GET / HTTP/1.1", ...lines);
    assert.equal(status, 200);
    assert.equal(body, own.body);
    assert.doesNotMatch(head, /access-control|set-cookie|elsewhere/i);
    assert.match(head, /frame-ancestors 'none'/);
  }
});

test("takes nothing", { skip }, async () => {
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]) {
    const { status } = await answered(`${method} / HTTP/1.1`, "Host: localhost", "Content-Length: 0");
    assert.equal(status, 405, method);
  }
});

test("is heard on this machine only", { skip }, async () => {
  const others = Object.values(networkInterfaces()).flatMap((all) => all.filter(({ internal }) => !internal));
  for (const { address } of others) {
    const socket = connect({ port, host: address });
    const outcome = await Promise.race([
      once(socket, "connect").then(() => "connected"),
      once(socket, "error").then(([error]) => error.code),
    ]).catch((error) => error.code);
    socket.destroy();
    assert.notEqual(outcome, "connected", address);
  }
});
