// A loopback server for pages that use the package: `/pkg/` is the package's folder, everything else comes from a
// table of pages.

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { packageFolder } from "../package/support/package.mjs";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/**
 * Serves pages: `{path: {body, type, headers?}}`.
 *
 * @returns {Promise<{ origin: string, requested: string[], close(): Promise<void> }>}
 */
export async function serve(pages) {
  const requested = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    requested.push(pathname);
    if (pathname === "/favicon.ico") {
      response.writeHead(204).end();
      return;
    }
    const page = pages[pathname];
    if (page !== undefined) {
      response.writeHead(200, { "content-type": TYPES[page.type], ...page.headers }).end(page.body);
      return;
    }
    const file = join(packageFolder, normalize(pathname.replace(/^\/pkg\//, "")));
    const isThere = pathname.startsWith("/pkg/") && existsSync(file) && statSync(file).isFile();
    if (!isThere) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    requested,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}
