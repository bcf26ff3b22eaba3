// TypeScript's language server, as an editor talks to it: JSON-RPC over stdin and stdout.

import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";

/**
 * Starts the language server for a folder.
 *
 * @param {string} tsc TypeScript's compiler
 */
export async function openEditor(tsc, folder) {
  const server = spawn(process.execPath, [tsc, "--lsp", "--stdio"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map();
  let received = Buffer.alloc(0);
  let calls = 0;
  const closed = new Promise((resolve) => server.on("close", resolve));

  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      calls += 1;
      waiting.set(calls, { resolve, reject });
      send({ id: calls, method, params });
    });
  const onMessage = ({ id, method, params, result, error }) => {
    if (method === undefined) {
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error.message));
      return;
    }
    // What the server asks of the editor: its settings, of which there are none.
    if (id !== undefined)
      send({ id, result: method === "workspace/configuration" ? params.items.map(() => ({})) : null });
  };
  server.stdout.on("data", (bytes) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(received.subarray(0, end).toString())[1]);
      if (received.length < end + 4 + length) return;
      const body = received.subarray(end + 4, end + 4 + length).toString();
      received = received.subarray(end + 4 + length);
      onMessage(JSON.parse(body));
    }
  });
  closed.then(() => {
    for (const { reject } of waiting.values()) reject(new Error("the language server has ended"));
  });

  await request("initialize", { processId: process.pid, rootUri: pathToFileURL(folder).href, capabilities: {} });
  send({ method: "initialized", params: {} });

  return {
    /** What it completes at the `|` of a program, which would be this file. */
    async completed(file, program) {
      const uri = pathToFileURL(file).href;
      const before = program.slice(0, program.indexOf("|")).split("\n");
      const text = program.replace("|", "");
      send({
        method: "textDocument/didOpen",
        params: { textDocument: { uri, languageId: "typescript", version: 1, text } },
      });
      const position = { line: before.length - 1, character: before.at(-1).length };
      const found = await request("textDocument/completion", { textDocument: { uri }, position });
      send({ method: "textDocument/didClose", params: { textDocument: { uri } } });
      return (found.items ?? found).map(({ label }) => label.replace(/\?$/, ""));
    },
    async close() {
      await request("shutdown");
      send({ method: "exit" });
      await closed;
    },
  };
}
