// Node only: no bundle for browsers may reach this file.
import { promises as files } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, unexpected } from "../engine/input.js";
import { AdkMetricsError } from "../errors.js";
import type { JudgeCache, JudgeReply } from "../types.js";
import { checkFolder } from "./cache.js";
import { replyOf } from "./reply.js";

/**
 * A cache in a folder, one small JSON file a reply; several processes may share it. Deleting the folder empties it.
 * A file that cannot be read counts as absent. Replies are stored, prompts and keys are not. For Node, Deno and Bun; a bundle
 * for browsers has none.
 *
 * @param folder Its path; made when the first reply is kept.
 */
export function fileCache(folder: string): JudgeCache {
  checkFolder(folder);
  const fileOf = (key: string): string => {
    if (!/^[\w-]{8,200}$/.test(key)) throw unexpected("a key of letters and digits", key, "key");
    // Few file systems like many thousands of files in one folder.
    return join(folder, key.slice(0, 2), `${key}.json`);
  };
  return {
    async get(key) {
      const text = await readIfThere(fileOf(key));
      return text === undefined ? undefined : parse(text);
    },
    async set(key, reply) {
      await writeWhole(fileOf(key), `${JSON.stringify(replyOf(reply))}\n`);
    },
  };
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await files.readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw failed("read", file, error);
  }
}

function parse(text: string): JudgeReply | undefined {
  try {
    return replyOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Writes beside the file first: who reads at the same time sees all of it or nothing. */
async function writeWhole(file: string, text: string): Promise<void> {
  const beside = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    await files.mkdir(dirname(file), { recursive: true });
    await files.writeFile(beside, text, { flag: "wx" });
    await files.rename(beside, file);
  } catch (error) {
    // What may be left of it must not hide why writing failed.
    await files.rm(beside, { force: true }).catch(() => {});
    throw failed("written", file, error);
  }
}

function failed(what: string, file: string, cause: unknown): AdkMetricsError {
  return new AdkMetricsError("cache_failed", `the cache cannot be ${what}: ${messageOf(cause)}`, { path: file, cause });
}
