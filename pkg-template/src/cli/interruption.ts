/** Ctrl-C: ends what is under way, so that what is done can be written. */

import { endProcess, ExitStatus } from "./process.js";

/** A command in phases. Ctrl-C ends the phase that is under way; where none is left to end, the process. */
export class Interruption {
  #phase = new AbortController();
  #isEnded = false;
  #isInterrupted = false;
  readonly #onSignal = () => {
    if (this.#phase.signal.aborted) endProcess(ExitStatus.Interrupted);
    this.#isInterrupted = true;
    this.#phase.abort();
  };

  /** Whether Ctrl-C was heard. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Whether nothing more is to be begun. */
  get isOver(): boolean {
    return this.#isInterrupted || this.#isEnded;
  }

  /** Begins a phase, which ends when the signal aborts. */
  phase(): AbortSignal {
    if (!this.#isEnded) this.#phase = new AbortController();
    return this.#phase.signal;
  }

  /** Ends this phase and all that follow. */
  end(): void {
    this.#isEnded = true;
    this.#phase.abort();
  }

  listen(): void {
    process.on("SIGINT", this.#onSignal);
  }

  ignore(): void {
    process.off("SIGINT", this.#onSignal);
  }
}
