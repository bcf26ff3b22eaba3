// Node only: no bundle for browsers may reach this file.
import { constants, promises as files } from "node:fs";
import { dirname, join } from "node:path";
import { signalOf } from "../abort.js";
import { messageOf, unexpected } from "../engine/values.js";
import { parseJson } from "../engine/json.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import type { JudgeCache, JudgeReply } from "../types.js";
import { type NoOptions, refuseOptions } from "../known-options.js";
import { checkFolder } from "./cache.js";
import { FileClaims } from "./cache-claims.js";
import { readAtMost } from "./read-at-most.js";
import { replyOf } from "./reply.js";

/** The longest file that is read, in bytes: the longest reply in JSON, where a character takes six bytes at most. */
const LONGEST_FILE = 32 * 1024 * 1024;

/**
 * A cache in a folder, one small JSON file a reply; several processes may share it, and each question is asked by one of
 * them. Deleting the folder empties it.
 * Anything but a reply in a regular file counts as absent. Replies are stored, prompts and keys are not. For Node, Deno and Bun; a bundle
 * for browsers has none.
 *
 * @param folder Its path; made when the first reply is kept.
 */
export function fileCache(folder: string, options: NoOptions = {}): JudgeCache {
  checkFolder(folder);
  refuseOptions(options);
  const fileOf = (key: string): string => {
    if (typeof key !== "string" || !/^[\w-]{8,200}$/.test(key))
      throw unexpected("a key of letters and digits", key, "key");
    // Few file systems like many thousands of files in one folder.
    return join(folder, key.slice(0, 2), `${key}.json`);
  };
  const claims = new FileClaims(folder);
  return {
    async get(key) {
      const text = await readIfThere(fileOf(key));
      return text === undefined ? undefined : parse(text);
    },
    async set(key, reply) {
      await writeWhole(fileOf(key), `${JSON.stringify(replyOf(reply))}\n`);
    },
    async claim(key, given) {
      const file = fileOf(key);
      const signal = signalOf(given);
      try {
        await makeFolder(dirname(file));
        return await claims.claim(`${file}.claim`, signal);
      } catch (error) {
        if (isAdkMetricsError(error) || signal.aborted) throw error;
        throw failed("written", file, error);
      }
    },
  };
}

async function readIfThere(file: string): Promise<string | undefined> {
  let opened: files.FileHandle | undefined;
  try {
    // Without waiting for a program that writes to a pipe.
    opened = await files.open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    // What was opened is what is looked at.
    const found = await opened.stat();
    if (!found.isFile() || found.size > LONGEST_FILE) return undefined;
    return (await readAtMost(opened, found.size, LONGEST_FILE))?.toString("utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR") return undefined;
    throw failed("read", file, error);
  } finally {
    await opened?.close();
  }
}

function parse(text: string): JudgeReply | undefined {
  try {
    return replyOf(parseJson(text));
  } catch {
    return undefined;
  }
}

/** Writes beside the file first: who reads at the same time sees all of it or nothing. */
async function writeWhole(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  const beside = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    await makeFolder(folder);
    await files.writeFile(beside, text, { flag: "wx" });
    await files.rename(beside, file);
  } catch (error) {
    // What may be left of it must not hide why writing failed.
    await files.rm(beside, { force: true }).catch(() => {});
    throw failed("written", file, error);
  }
}

async function makeFolder(folder: string): Promise<void> {
  await files.mkdir(folder, { recursive: true });
  if (!(await files.lstat(folder)).isDirectory()) throw new Error(`${folder} is a link, not a folder`);
}

function failed(what: string, file: string, cause: unknown): AdkMetricsError {
  return new AdkMetricsError("cache_failed", `the cache cannot be ${what}: ${messageOf(cause)}`, { path: file, cause });
}
