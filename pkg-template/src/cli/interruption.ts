/** Ctrl-C and SIGTERM: stop the work in progress, so that finished results can be written. */

import { endProcess, ExitStatus, note } from "./process.js";

const STATUSES = { SIGINT: ExitStatus.Interrupted, SIGTERM: ExitStatus.Terminated } as const;

type Signal = keyof typeof STATUSES;

const SIGNALS = Object.keys(STATUSES) as Signal[];

/**
 * A command in phases. A signal ends the current phase, or the process if there is none. While results are written, the first
 * signal changes nothing.
 */
export class Interruption {
  #phase = new AbortController();
  #isEnded = false;
  #isWriting = false;
  #signal: Signal | undefined;
  readonly #onSignal = (signal: Signal) => {
    if (this.#isWriting) {
      this.#isWriting = false;
      note("the results are being written; the next signal ends that too");
      return;
    }
    if (this.#phase.signal.aborted) endProcess(STATUSES[signal]);
    this.#signal = signal;
    this.#phase.abort();
  };

  /** Whether a signal came before everything was done. */
  get isInterrupted(): boolean {
    return this.#signal !== undefined;
  }

  /** The exit status for the signal. */
  get status(): ExitStatus {
    return STATUSES[this.#signal ?? "SIGINT"];
  }

  /** Whether nothing more is to be begun. */
  get isOver(): boolean {
    return this.isInterrupted || this.#isEnded;
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

  /** Ends the last phase: results are written now, and from here on the second signal ends the process. */
  write(): void {
    this.#isEnded = this.#isWriting = true;
    this.#phase.abort();
  }

  listen(): void {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  ignore(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}
