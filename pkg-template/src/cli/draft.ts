/** A file that is written as results come, and appears under its name when all of it is there. */

import { createReadStream, realpathSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { kindOf } from "./files.js";
import { drafts, openedDraft, unwritable } from "./write.js";

/** What is written of a file so far. */
export class Draft {
  readonly #file: string;
  readonly #target: string;
  #path: string;
  #handle: FileHandle;
  /** The first line, which may be another in the end. */
  readonly #head: string;

  private constructor(file: string, target: string, path: string, handle: FileHandle, head: string) {
    this.#file = file;
    this.#target = target;
    this.#path = path;
    this.#handle = handle;
    this.#head = head;
  }

  /** Begins a plain file with its first line. @throws {Mistake} if it cannot be written. */
  static async begin(file: string, head: string): Promise<Draft> {
    const target = kindOf(file) === undefined ? file : realpathSync(file);
    const { path, handle } = await openedDraft(file, target);
    const draft = new Draft(file, target, path, handle, head);
    await draft.append(Buffer.from(head));
    return draft;
  }

  /** @throws {Mistake} if it cannot be written; the draft is gone then. */
  async append(bytes: Uint8Array): Promise<void> {
    try {
      // At once: with another thread in between, it takes longer.
      for (let done = 0; done < bytes.length;) done += writeSync(this.#handle.fd, bytes, done);
    } catch (error) {
      await this.drop();
      throw unwritable(error, this.#file);
    }
  }

  /** Gives the file its name. With another first line what follows is copied. */
  async finish(head: string): Promise<void> {
    try {
      if (head !== this.#head) await this.#copyBehind(head);
      if (kindOf(this.#target) !== undefined) await this.#handle.chmod(statSync(this.#target).mode);
      await this.#handle.close();
      renameSync(this.#path, this.#target);
      drafts.delete(this.#path);
    } catch (error) {
      await this.drop();
      throw unwritable(error, this.#file);
    }
  }

  async drop(): Promise<void> {
    await this.#handle.close().catch(() => {});
    rmSync(this.#path, { force: true });
    drafts.delete(this.#path);
  }

  async #copyBehind(head: string): Promise<void> {
    const { path, handle } = await openedDraft(this.#file, this.#target);
    const before = this.#path;
    await this.#handle.close();
    [this.#path, this.#handle] = [path, handle];
    try {
      await handle.writeFile(head);
      const start = Buffer.byteLength(this.#head);
      for await (const piece of createReadStream(before, { start, highWaterMark: 2 ** 20 }))
        await handle.writeFile(piece);
    } finally {
      rmSync(before, { force: true });
      drafts.delete(before);
    }
  }
}
