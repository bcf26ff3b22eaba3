/** Writes a recording: each reply is in the file when the call that got it ends, so that Ctrl-C loses none. */

import { appendFileSync, statSync } from "node:fs";
import { plainFile, prepareFile, unwritable } from "./write.js";
import { Mistake } from "./mistakes.js";

/** The file of a recording. It is made with its first line. */
export class Recorder {
  readonly file: string;
  #isWritten = false;
  readonly #stop: () => void;
  #failure: Mistake | undefined;

  /**
   * @param stop Called when a line cannot be written.
   * @throws {Mistake} for a file that is there already, since replies cost money, or that cannot be written.
   */
  constructor(file: string, stop: () => void) {
    this.file = file;
    this.#stop = stop;
    if (plainFile(file) !== undefined && statSync(file).size > 0) {
      throw new Mistake("the recording is there already", {
        place: file,
        help: "Name another file with --record, or remove this one; --judge replay:<file> gives its replies",
      });
    }
    prepareFile(file);
  }

  /** Whether anything was written. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  /** Writes a line at once. */
  write(line: string): void {
    try {
      appendFileSync(this.file, line);
      this.#isWritten = true;
    } catch (error) {
      this.#failure ??= unwritable(error, this.file);
      this.#stop();
      throw error;
    }
  }

  /** @throws {Mistake} if a line could not be written. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
