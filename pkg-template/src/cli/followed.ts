/** The files that `playground` was given, for its page: which there are now, and what is in each. Nothing else can be read. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { realpathSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { kindOf, missing, readBytes } from "./files.js";
import { filesMatching } from "./find.js";
import { warn } from "./process.js";

/** The path at which the page asks for the files. */
export const FOLLOWED = "/followed";

/** The header with the token. Pages of other origins cannot send it: browsers ask first whether they may. */
const TOKEN_HEADER = "x-adk-metrics-token";

const READABLE = /\.(?:json|jsonl|ndjson|jsonc)$/i;

/** Folders whose files are not the project's own; ADK keeps its results in `.adk`. */
const IGNORED = /^(?:node_modules|\.(?!adk$).*|__pycache__|venv|target)$/;

/** The most files that are followed. */
const MOST_FILES = 1000;

/** A file as the page gets to know it. */
interface FollowedFile {
  /** What it is asked for by. */
  key: number;
  folder: string;
  name: string;
  /** Changes with the content. */
  stamp: string;
}

/** A file or a folder that was named, and the folder that the page shows for it. */
interface Named {
  path: string;
  shown: string;
}

export class Followed {
  readonly token = randomBytes(24).toString("base64url");
  readonly #named: readonly Named[];
  /** The keys of all files that were ever listed, by their paths: each file has one key. */
  readonly #keys = new Map<string, number>();
  readonly #paths: string[] = [];
  #hasWarned = false;

  /** @throws {Mistake} for what is not there, and for a pattern that matches nothing. */
  constructor(paths: readonly string[]) {
    const all = paths.flatMap((path) => filesMatching(path) ?? [path]);
    const names = all.map((path) => basename(resolve(path)));
    this.#named = all.map((path, at) => {
      const kind = kindOf(path);
      if (kind === undefined) throw missing(path, "file or folder");
      const isRepeated = names.some((name, other) => other !== at && name === names[at]);
      const own = kind === "folder" ? path : dirname(path);
      return { path, shown: isRepeated ? own : kind === "folder" ? (names[at] ?? "") : "" };
    });
  }

  /** Answers a request of the page. Without the token there is nothing. */
  async answer(path: string, { headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("cache-control", "no-store");
    if (!isSame(String(headers[TOKEN_HEADER] ?? ""), this.token)) {
      response.writeHead(403, { "content-type": "text/plain" }).end("The token of the printed address is missing.\n");
      return;
    }
    const body = path === FOLLOWED ? Buffer.from(JSON.stringify(await this.#list())) : this.#read(path);
    if (body === undefined) {
      response.writeHead(404, { "content-type": "text/plain" }).end("There is no such file.\n");
      return;
    }
    const type = path === FOLLOWED ? "application/json" : "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);
  }

  /** The files that are there now. */
  async #list(): Promise<FollowedFile[]> {
    const files: FollowedFile[] = [];
    for (const { path, shown } of this.#named) {
      if (kindOf(path) === "folder") await this.#listFolder(path, shown, files);
      else await this.#listFile(path, shown, files);
    }
    return files;
  }

  async #listFolder(folder: string, shown: string, files: FollowedFile[]): Promise<void> {
    // What cannot be read, or is gone, may be there at the next look.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !IGNORED.test(entry.name)) {
        await this.#listFolder(path, `${shown}/${entry.name}`, files);
      }
      // Links may lead out of the folder, so they are not followed.
      if (entry.isFile() && READABLE.test(entry.name)) await this.#listFile(path, shown, files);
    }
  }

  async #listFile(path: string, folder: string, files: FollowedFile[]): Promise<void> {
    if (files.length >= MOST_FILES) {
      if (!this.#hasWarned) {
        warn(
          `there are more than ${MOST_FILES} files; the page opens the first ${MOST_FILES}`,
          undefined,
          "Choose a folder with fewer files",
        );
      }
      this.#hasWarned = true;
      return;
    }
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() !== true) return;
    const key = this.#keys.get(path) ?? this.#paths.push(path) - 1;
    this.#keys.set(path, key);
    files.push({ key, folder, name: basename(path), stamp: `${found.ino} ${found.size} ${found.mtimeMs}` });
  }

  /** Whether a file that was listed has become a link since then, or a folder on the way to it has. */
  #isLink(file: string): boolean {
    const isOnTheWay = ({ path }: Named) =>
      file === path || realpathSync(file) === join(realpathSync(path), relative(path, file));
    return !this.#named.some(isOnTheWay);
  }

  #read(path: string): Buffer | undefined {
    const key = /^\/followed\/(\d+)$/.exec(path)?.[1];
    const file = key === undefined ? undefined : this.#paths[Number(key)];
    try {
      if (file === undefined || this.#isLink(file)) return undefined;
      const bytes = readBytes(file, "file");
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } catch {
      return undefined;
    }
  }
}

/** Compares without telling by the time it takes how much is right. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
