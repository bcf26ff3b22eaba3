/** `playground`: serves the site that comes with the package, and files to open in it, on this machine only. */

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { parseArguments } from "./arguments.js";
import { OWN_ENVIRONMENT } from "./environment.js";
import { Followed, FOLLOWED } from "./followed.js";
import { optionsOf } from "./options.js";
import { Mistake } from "./mistakes.js";
import { ExitStatus, note } from "./process.js";
import { programOnPath } from "./vertex.js";
import { writeOut } from "./write.js";

/** Where the site is served unless a port is named. */
const PORT = 4747;
const HOST = "127.0.0.1";

/** What scripts of the site may do; its page says the same of itself, workers have only this. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; " +
  "worker-src 'self'; manifest-src 'self'; connect-src 'self' https: http:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".jsonl": "application/jsonl",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

/** Runs `playground`; it ends when it is interrupted. */
export async function playgroundCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("playground"));
  const followed = given.positionals.length > 0 ? new Followed(given.positionals) : undefined;
  const site = new Site(followed);
  const address = await site.listen(portOf(given.one("port")));
  await writeOut(`${address}\n`);
  note(
    followed === undefined
      ? "The playground runs on this machine; files that you open stay in your browser. Press Ctrl-C to stop."
      : "The page opens these files and follows their changes. They are only read, and stay on this machine. Press Ctrl-C to stop.",
  );
  if (given.has("open")) openBrowser(address);
  await site.end();
  return ExitStatus.Passed;
}

/** Shows files in the browser, for a command that has written them, until it is interrupted. */
export async function showInPlayground(files: readonly string[]): Promise<void> {
  const site = new Site(new Followed(files));
  // Browsers keep runs by address: at the same one, those of earlier commands are still there.
  const address = await site.listen(PORT).catch(() => site.listen(0));
  process.stderr.write(`${address}\n`);
  note("The page shows the results. The files are only read, and stay on this machine. Press Ctrl-C to stop.");
  openBrowser(address);
  await site.end();
}

function portOf(text: string | undefined): number {
  if (text === undefined) return PORT;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new Mistake(`--port cannot be \`${text}\``, {
      help: "Expected a number from 0 to 65535; 0 chooses a free port",
    });
  }
  return port;
}

/**
 * What requests are for that have no use for policies, which hold for pages and workers. A service worker keeps answers for
 * those too, and what it fetches is for nothing that it would say ("empty").
 */
const PARTS = new Set(["font", "image", "manifest", "script", "style"]);

/** Brotli's quality for what is wanted now, and for what there is time for. */
const QUICK = 9;
const BEST = constants.BROTLI_MAX_QUALITY;

/** The files of the site, by their paths. What is sent compressed is compressed once. */
class Site {
  readonly #files = new Map<string, Buffer>();
  readonly #compressed = new Map<string, Buffer>();
  readonly #followed: Followed | undefined;
  readonly #server = createServer((request, response) => answer(this, this.#followed, request, response));

  /**
   * Reads the site that comes with this package: a line of JSON, from each path to its length, and then the files. What
   * the package has anyway has no length.
   */
  constructor(followed: Followed | undefined) {
    this.#followed = followed;
    const file = fileURLToPath(new URL("../../playground/site.br", import.meta.url));
    if (!existsSync(file)) {
      throw new Mistake("this build of the package does not contain the playground", {
        location: file,
        help: "Run: npm run build",
      });
    }
    const bytes = brotliDecompressSync(readFileSync(file));
    let from = bytes.indexOf("\n") + 1;
    const lengths = JSON.parse(bytes.toString("utf8", 0, from)) as Record<string, number | null>;
    for (const [path, length] of Object.entries(lengths)) {
      this.#files.set(`/${path}`, length === null ? ofPackage(path) : bytes.subarray(from, from + length));
      from += length ?? 0;
    }
  }

  /** Listens. @returns The address of the page. */
  async listen(port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error: NodeJS.ErrnoException) => {
        const taken = error.code === "EADDRINUSE";
        reject(
          new Mistake(taken ? `port ${port} is in use` : `cannot listen on port ${port}: ${error.message}`, {
            help: "--port 0 chooses a free one",
          }),
        );
      });
      this.#server.listen(port, HOST, resolve);
    });
    const address = this.#server.address();
    // What follows # is not sent to the server, and stays out of its logs and of referrers.
    const part = this.#followed === undefined ? "" : `#follow=${this.#followed.token}`;
    return `http://localhost:${typeof address === "object" && address !== null ? address.port : port}/${part}`;
  }

  /** Serves until a signal comes. */
  async end(): Promise<void> {
    void this.#compressAll();
    await new Promise<void>((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
    });
    this.#server.closeAllConnections();
    this.#server.close();
  }

  file(path: string): Buffer | undefined {
    return this.#files.get(path);
  }

  compressed(path: string, file: Buffer): Buffer {
    const known = this.#compressed.get(path) ?? brotliCompressSync(file, brotli(QUICK, file));
    this.#compressed.set(path, known);
    return known;
  }

  /** Compresses as well as can be, beside what else is done; the engine takes a second. */
  async #compressAll(): Promise<void> {
    for (const [path, file] of this.#files) {
      if (!isText(path)) continue;
      this.#compressed.set(path, await promisify(brotliCompress)(file, brotli(BEST, file)));
    }
  }
}

function brotli(quality: number, file: Buffer) {
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: file.length } };
}

/** Whether a file is worth compressing. */
function isText(path: string): boolean {
  return extname(path) !== ".png";
}

/** A file in `adk-metrics/` of the site, where this package has it. */
function ofPackage(path: string): Buffer {
  const name = path.replace(/^adk-metrics\//, "");
  return readFileSync(new URL(`../../${name.startsWith("schema/") ? "" : "dist/"}${name}`, import.meta.url));
}

function answer(site: Site, followed: Followed | undefined, request: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = request;
  if (!PARTS.has(String(headers["sec-fetch-dest"]))) {
    response.setHeader("content-security-policy", POLICY);
    response.setHeader("referrer-policy", "no-referrer");
  }
  response.setHeader("x-content-type-options", "nosniff");
  // HTTP/1.1 keeps connections without being told.
  response.removeHeader("connection");
  if (method !== "GET" && method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  const [path = "/"] = (url ?? "/").split(/[?#]/);
  if (followed !== undefined && (path === FOLLOWED || path.startsWith(`${FOLLOWED}/`))) {
    void followed.answer(path, request, response);
    return;
  }
  const name = path === "/" ? "/index.html" : path;
  const file = site.file(name);
  if (file === undefined) {
    response.writeHead(404, { "content-type": "text/plain" }).end("There is no such file.\n");
    return;
  }
  response.setHeader("content-type", TYPES[extname(name)] ?? "application/octet-stream");
  // The names of assets hold a hash of what is in them.
  response.setHeader("cache-control", name.startsWith("/assets/") ? "max-age=31536000, immutable" : "no-cache");
  response.setHeader("vary", "accept-encoding");
  const isCompressed = /\bbr\b/.test(headers["accept-encoding"] ?? "") && isText(name);
  if (isCompressed) response.setHeader("content-encoding", "br");
  const body = isCompressed ? site.compressed(name, file) : file;
  response.writeHead(200, { "content-length": body.length }).end(method === "HEAD" ? undefined : body);
}

/** Opens the page in the system's browser; without one, the printed address remains. */
function openBrowser(address: string): void {
  const [command = "xdg-open", ...args] =
    process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["cmd", "/c", "start", ""] : [];
  const failed = () => note("Could not open a browser: open the address above yourself.");
  const program = programOnPath(command);
  if (program === undefined) return failed();
  // An agent may have been given variables of a .env file.
  const options = { stdio: "ignore", detached: true, env: OWN_ENVIRONMENT } as const;
  spawn(program, [...args, address], options)
    .on("error", failed)
    .unref();
}
