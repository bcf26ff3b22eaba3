// The playground's server has the files of the site and nothing else, whoever asks and however: there is nothing in it that a
// page of another origin, or of a name that was made to mean this machine, could be after. Files that the command is given are
// there for its own page only.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { mustRun, packageFolder } from "../package/support/package.mjs";
import { run, start } from "./command.mjs";

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

describe("with files", { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "followed-"));
  const outside = mkdtempSync(join(tmpdir(), "outside-"));
  let own;
  let address;

  before(async () => {
    writeFileSync(join(outside, "secret.json"), '{"secret":true}');
    writeFileSync(join(folder, "run.evalset_result.json"), '{"a":1}');
    writeFileSync(join(folder, "notes.txt"), "none of its business");
    mkdirSync(join(folder, ".hidden"));
    writeFileSync(join(folder, ".hidden", "key.json"), "{}");
    mkdirSync(join(folder, ".adk"));
    writeFileSync(join(folder, ".adk", "kept.json"), '{"b":2}');
    symlinkSync(join(outside, "secret.json"), join(folder, "linked.json"));
    symlinkSync(outside, join(folder, "linked"));
    own = start(["playground", folder, "--port", "0"]);
    const [line] = await once(createInterface(own.stdout), "line");
    address = new URL(line);
  });
  after(() => {
    own?.kill();
    for (const one of [folder, outside]) rmSync(one, { recursive: true });
  });

  const token = () => address.hash.replace("#follow=", "");
  const get = (path, headers = {}) => fetch(new URL(path, address), { headers });
  const asPage = (path) => get(path, { "x-adk-metrics-token": token() });

  test("has a token in its address, without which no file is there", async () => {
    assert.ok(token().length >= 32);
    for (const path of ["/followed", "/followed/0"]) {
      for (const headers of [{}, { "x-adk-metrics-token": "" }, { "x-adk-metrics-token": `${token()}a` }]) {
        const response = await get(path, headers);
        assert.equal(response.status, 403);
        assert.equal(response.headers.get("access-control-allow-origin"), null);
        assert.doesNotMatch(await response.text(), /evalset_result/);
      }
    }
    assert.equal((await get(`/followed?token=${token()}`)).status, 403);
    const asked = await fetch(new URL("/followed", address), {
      method: "OPTIONS",
      headers: { "access-control-request-headers": "x-adk-metrics-token" },
    });
    assert.equal(asked.status, 405);
  });

  test("has the JSON below the folder, and nothing that links lead to", async () => {
    const listed = await (await asPage("/followed")).json();
    const name = basename(folder);
    assert.deepEqual(
      listed.map(({ folder, name }) => [folder, name]),
      [
        [`${name}/.adk`, "kept.json"],
        [name, "run.evalset_result.json"],
      ],
    );
    for (const { key, name } of listed) {
      assert.equal(await (await asPage(`/followed/${key}`)).text(), name === "kept.json" ? '{"b":2}' : '{"a":1}');
    }
    for (const path of ["2", "-1", "0x0", "00/..", "../../etc/passwd", "0%00", "run.evalset_result.json"]) {
      assert.equal((await asPage(`/followed/${path}`)).status, 404, path);
    }
  });

  test("does not read a file that became a link", async () => {
    writeFileSync(join(folder, "later.json"), "{}");
    const listed = await (await asPage("/followed")).json();
    const { key } = listed.find(({ name }) => name === "later.json");
    rmSync(join(folder, "later.json"));
    symlinkSync(join(outside, "secret.json"), join(folder, "later.json"));
    assert.equal((await asPage(`/followed/${key}`)).status, 404);
  });

  test("does not read a file in a folder that became a link", async () => {
    mkdirSync(join(folder, "sub"));
    writeFileSync(join(folder, "sub", "secret.json"), "{}");
    const listed = await (await asPage("/followed")).json();
    const { key } = listed.find(({ name }) => name === "secret.json");
    assert.equal(await (await asPage(`/followed/${key}`)).text(), "{}");
    renameSync(join(folder, "sub"), join(folder, ".was"));
    symlinkSync(outside, join(folder, "sub"));
    assert.equal((await asPage(`/followed/${key}`)).status, 404);
  });

  test("says which of them is not there", async () => {
    const { status, stderr } = await run(["playground", join(folder, "none.json")]);
    assert.equal(status, 2);
    assert.match(stderr, /the file or folder does not exist/);
  });
});
