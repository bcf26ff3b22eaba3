/** A journal while evaluations use it. */

import { inTurns, type Steps } from "../engine/steps.js";
import { messageOf } from "../engine/values.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import type { Journal, JournalEntry } from "../types.js";
import { checkEntry } from "./entries.js";

/** How many entries are checked, or found their place, in a step. */
export const SOME_ENTRIES = 1000;

/** A journal that evaluations of this process share: what was read from it, and what is being written to it. */
export class OpenJournal {
  readonly journal: Journal;
  /** The entries that were read, by section, until an evaluation takes them. */
  readonly sections = new Map<string, JournalEntry[]>();
  /** The entries of evaluations that ended before they were done, by section: the next with the same inputs resumes one. */
  readonly abandoned = new Map<string, readonly JournalEntry[]>();
  /** The number of the next section without a name. */
  #nextNumber = 0;
  /** Lower numbers whose evaluations never began. */
  readonly #freeNumbers = new Set<number>();
  failure: AdkMetricsError | undefined;
  /** Whether this process added something. */
  hasAppended = false;
  readonly #listeners = new Set<() => void>();
  #loading: Promise<void> | undefined;
  /** Entries of the next write, and whether it is to survive the end of the machine. */
  #pending: JournalEntry[] = [];
  #settles = false;
  #writes = new Set<Promise<void>>();

  constructor(journal: Journal) {
    this.journal = journal;
  }

  /** The lowest number that no section has. */
  takeNumber(): string {
    const [number = this.#nextNumber++] = [...this.#freeNumbers].sort((a, b) => a - b);
    this.#freeNumbers.delete(number);
    return String(number);
  }

  /** Returns the number and the entries of a section in which nothing was begun. */
  returnNumber(name: string, entries: readonly JournalEntry[]): void {
    if (entries.length > 0) this.sections.set(name, [...entries]);
    this.#freeNumbers.add(Number(name));
  }

  /** Reads the journal, once. */
  load(): Promise<void> {
    return (this.#loading ??= this.#read());
  }

  async #read(): Promise<void> {
    try {
      await inTurns(this.#sorted(await this.journal.read()));
    } catch (error) {
      throw journalError("read", error);
    }
  }

  /** Checks entries, and keeps them by section. */
  *#sorted(entries: Iterable<JournalEntry>): Steps<void> {
    let place = 0;
    for (const entry of entries) {
      place += 1;
      checkEntry(entry, `entry ${place}`);
      const known = this.sections.get(entry.section);
      if (known === undefined) this.sections.set(entry.section, [entry]);
      else known.push(entry);
      if (place % SOME_ENTRIES === 0) yield;
    }
  }

  /** @param settles Whether the entry is to survive the end of the machine. */
  append(entry: JournalEntry, settles: boolean): void {
    if (this.failure !== undefined) return;
    this.hasAppended = true;
    this.#pending.push(entry);
    this.#settles ||= settles;
    if (this.#pending.length > 1) return;
    // Entries of the same turn of the event loop are written together.
    const write = Promise.resolve()
      .then(() => {
        const [entries, settles] = [this.#pending, this.#settles];
        [this.#pending, this.#settles] = [[], false];
        return this.journal.append(entries, settles);
      })
      .catch((error: unknown) => {
        this.failure ??= journalError("written", error);
        for (const listener of this.#listeners) listener();
      })
      .finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  /** Waits until what was appended so far is written, or could not be. */
  async attempted(): Promise<void> {
    await Promise.all(this.#writes);
  }

  /** Waits until all is written. @throws {AdkMetricsError} if something could not be. */
  async written(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes);
    this.check();
  }

  check(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function journalError(what: string, cause: unknown): AdkMetricsError {
  if (isAdkMetricsError(cause)) return cause;
  return new AdkMetricsError(
    "journal_failed",
    `the journal cannot be ${what}: ${messageOf(cause).replace(/^Error: /, "")}`,
    {
      path: "journal",
      cause,
    },
  );
}
