/** Writes a recording: each reply is in the file when the call that got it ends, so that Ctrl-C loses none. */

import { appendFileSync, mkdtempSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { kindOf, sizeOf } from "./files.js";
import { Mistake } from "./mistakes.js";
import { plainFile, prepareFile, refuseLinkToNothing, unwritable } from "./write.js";

/** The file of a recording. It is made with its first line. */
export class Recorder {
  readonly file: string;
  #isWritten = false;
  readonly #stop: () => void;
  #failure: Mistake | undefined;
  #elsewhere: string | undefined;
  #isLost = false;

  /**
   * @param stop Called when a line can be written nowhere.
   * @throws {Mistake} for a file that is there already, since replies cost money, or that cannot be written.
   */
  constructor(file: string, stop: () => void) {
    this.file = file;
    this.#stop = stop;
    if (plainFile(file) !== undefined && statSync(file).size > 0) {
      throw new Mistake("the recording already exists", {
        location: file,
        help: "Choose another file with --record, or delete this one. To use its replies: --judge replay:<file>",
      });
    }
    refuseLinkToNothing(file, "record");
    prepareFile(file);
  }

  /** Whether anything was written. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  /**
   * Writes a line at once. If the file cannot take it, this line and those that follow go to a file for temporary files:
   * replies cost money.
   */
  write(line: string): void {
    if (this.#elsewhere === undefined) {
      const before = sizeOf(this.file);
      try {
        // A file that is not there yet is made here, and not where a link leads that was put there meanwhile.
        const flag = !this.#isWritten && kindOf(this.file) === undefined ? "ax" : "a";
        appendFileSync(this.file, line, { flag });
        this.#isWritten = true;
        return;
      } catch (error) {
        this.#failure = unwritable(error, this.file);
        // A part of the line may be there, and would make the file unreadable.
        if (sizeOf(this.file) > before) truncateSync(this.file, before);
      }
    }
    try {
      this.#elsewhere ??= join(mkdtempSync(join(tmpdir(), "adk-metrics-")), basename(this.file));
      appendFileSync(this.#elsewhere, line);
    } catch (error) {
      this.#isLost = true;
      this.#stop();
      throw error;
    }
  }

  /** What could not be recorded where it should be, and where it is. */
  get failure(): Mistake | undefined {
    if (this.#failure === undefined) return undefined;
    const { message, location: place, cause } = this.#failure;
    const rest = this.#isWritten ? "The replies since then" : "The replies";
    const help = this.#isLost ? "The replies could not be written to a folder for temporary files either" : undefined;
    return new Mistake(message, { location: place, cause, help: help ?? `${rest} are in ${this.#elsewhere ?? ""}` });
  }
}
