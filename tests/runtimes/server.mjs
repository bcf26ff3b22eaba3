// A loopback server for a folder, with the headers a page is to have.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/**
 * Serves what is in a folder; folders by their `index.html`.
 *
 * @param {string} folder
 * @param {Record<string, string>} headers Sent with every answer.
 * @returns {Promise<{ origin: string, requested: string[], close(): Promise<void> }>}
 */
export async function serveFolder(folder, headers) {
  const requested = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    requested.push(pathname);
    const file = join(folder, normalize(pathname.endsWith("/") ? `${pathname}index.html` : pathname));
    try {
      const body = await readFile(file);
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", ...headers });
      response.end(body);
    } catch {
      response.writeHead(pathname === "/favicon.ico" ? 204 : 404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    requested,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}
