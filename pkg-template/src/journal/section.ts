/** A section of a journal: what one evaluation appends, and finds there when it is resumed. */

import { inTurns, type Steps } from "../engine/steps.js";
import { unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import type { HostFailure, TokenCounts } from "../generated/contract.js";
import { MAX_REFUSALS, REJECTED_STATUSES } from "../generated/limits.js";
import type { Journal, JournalEntry, JudgeReply } from "../types.js";
import { differencesIn, differentIn } from "./differences.js";
import { OpenJournal, SOME_ENTRIES } from "./open.js";

/** A reply of a judge, or of who plays the user. */
export interface JournaledReply extends JournalEntry {
  type: "reply";
  key: string;
  reply: JudgeReply;
  /** Whether no call was made for it: it came from a cache or a recording. */
  cached?: boolean;
  /** How many calls for it failed before. */
  failed?: number;
  /** What these calls took. */
  failedUsage?: TokenCounts;
  evalId?: string;
  /** How long the call took, in milliseconds. */
  ms?: number;
}

/** A call that failed. If it was the last for its question, the question is asked again when the run continues. */
export interface JournaledFailure extends JournalEntry {
  type: "failure";
  key: string;
  failure: HostFailure;
  /** Which call for its sample it was, from 1. */
  attempt: number;
  /** What this call and those before it took. */
  failedUsage?: TokenCounts;
  /** Whether it was the last for its question in a shard, although another one may have a reply. */
  isLast?: true;
}

/** What a custom metric found. */
interface JournaledAnswer extends JournalEntry {
  type: "metric";
  key: string;
  found: object;
}

/** A run of a case that is over, and what its simulated user took. */
export interface JournaledRun extends JournalEntry {
  type: "run";
  evalId: string;
  run: number;
  result: object;
  spent: object;
  /** How long it took, in milliseconds. */
  ms: number;
}

/** A run of a case that has all its results. */
interface JournaledCase extends JournalEntry {
  type: "case";
  evalId: string;
}

/** The inputs of a part of an evaluation: it is resumed with the same ones only. */
export interface JournaledBegin extends JournalEntry {
  type: "begin";
  part: Part;
  /** When, in milliseconds since 1970. */
  at: number;
  inputs: Readonly<Record<string, unknown>>;
}

export type Part = "command" | "shard" | "runs" | "scores";

const openJournals = new WeakMap<Journal, OpenJournal>();

/** The entries of one evaluation in a journal. */
export class JournalSection implements Journal {
  readonly #open: OpenJournal;
  #name: string;
  /** Its entries, for the evaluation that resumes it if it is abandoned; a section with a name is resumed by its name. */
  #entries: JournalEntry[] | undefined;
  #isAbandoned = false;
  /** Whether the journal is all there is: nothing is asked or run, and what it lacks fails. */
  readonly isComplete: boolean;
  /** Replies that were not used yet, by question, in the order in which they came. */
  readonly #replies = new Map<string, JournaledReply[]>();
  /** Failures that were not used yet, by question: the last of each sample that was asked. */
  readonly #failures = new Map<string, JournaledFailure[]>();
  /** What judges refused, by metric and words: how often, and the last time. */
  readonly #refusals = new Map<string, { times: number; failure: HostFailure }>();
  /** The questions that used a reply, where the journal is all there is. */
  readonly #usedKeys = new Set<string>();
  /** The samples that have a reply, which says how many calls failed before it. */
  readonly #settledKeys = new Set<string>();
  readonly #answers = new Map<string, JournaledAnswer[]>();
  readonly #runs = new Map<string, JournaledRun>();
  /** How many runs of a case the journal has as settled, by eval id; each counts once. */
  readonly #settled = new Map<string, number>();
  readonly #begun = new Map<Part, JournaledBegin>();
  readonly #start = Date.now();
  #loading: Promise<void> | undefined;
  #isEnded = false;
  #hasBegun = false;
  /** How many runs of the journal were used instead of running anything. */
  usedRuns = 0;
  /** How many other entries of the journal were used instead of asking or computing anything. */
  usedReplies = 0;
  /** Which runs of cases belong to this process, where others have the rest; all by default. */
  isOurs: ((evalId: string, run: number) => boolean) | undefined;
  /** The digest of its evalset, where that is known already. */
  evalSetDigest: string | undefined;
  /** Why a complete journal lacks a run of a case, or what was asked about it. */
  whyMissing: ((evalId: string, run?: number) => string | undefined) | undefined;
  /** The cases of the whole evaluation, not only of this process's part. */
  selected: { evalIds: readonly string[] | undefined } | undefined;

  /** @param name What tells it from others in the journal; the number of its evaluation by default. */
  constructor(journal: Journal, name?: string, isComplete = false) {
    let open = openJournals.get(journal);
    if (open === undefined) openJournals.set(journal, (open = new OpenJournal(journal)));
    this.#open = open;
    this.#name = name ?? open.takeNumber();
    if (name === undefined) this.#entries = [];
    this.isComplete = isComplete;
  }

  /** A section that finds the same and appends nothing, for finding out what would be asked. */
  rehearsal(): JournalSection {
    const copy = new JournalSection({ read: async () => [], append: async () => {} }, this.#name);
    for (const [key, replies] of this.#replies) copy.#replies.set(key, [...replies]);
    for (const [key, answers] of this.#answers) copy.#answers.set(key, [...answers]);
    return copy;
  }

  read(): ReturnType<Journal["read"]> {
    return this.#open.journal.read();
  }

  append(entries: readonly JournalEntry[], settles: boolean): Promise<void> {
    return this.#open.journal.append(entries, settles);
  }

  /** @throws {AdkMetricsError} `journal_failed` for a journal that cannot be read. */
  load(): Promise<void> {
    return (this.#loading ??= this.#load());
  }

  async #load(): Promise<void> {
    await this.#open.load();
    const entries = this.#open.sections.get(this.#name) ?? [];
    this.#open.sections.delete(this.#name);
    await inTurns(this.#indexed(entries));
  }

  *#indexed(entries: readonly JournalEntry[]): Steps<void> {
    for (const [at, entry] of entries.entries()) {
      this.#index(entry);
      this.#entries?.push(entry);
      if (at % SOME_ENTRIES === SOME_ENTRIES - 1) yield;
    }
  }

  /** Leaves an evaluation that ended before it was done to the next one with the same inputs. */
  abandon(): void {
    const entries = this.#entries;
    if (entries === undefined || this.#isAbandoned) return;
    this.#isAbandoned = true;
    this.#entries = undefined;
    if (this.#hasBegun) this.#open.abandoned.set(this.#name, entries);
    else this.#open.returnNumber(this.#name, entries);
  }

  /** Resumes an abandoned evaluation of the same inputs, if there is one, and returns its own number. */
  #resumeAbandoned(part: Part, inputs: Readonly<Record<string, unknown>>): void {
    for (const [name, entries] of this.#open.abandoned) {
      const isSame = (entries as readonly JournaledBegin[]).some(
        (entry) => entry.type === "begin" && entry.part === part && differentIn(entry.inputs, inputs).length === 0,
      );
      if (!isSame) continue;
      this.#open.abandoned.delete(name);
      this.#open.returnNumber(this.#name, this.#entries ?? []);
      this.#name = name;
      this.#entries = [...entries];
      for (const known of [this.#replies, this.#failures, this.#answers, this.#runs, this.#settled, this.#begun]) {
        known.clear();
      }
      for (const entry of entries) this.#index(entry);
      return;
    }
  }

  #index(entry: JournalEntry): void {
    const known = entry as
      JournaledReply | JournaledFailure | JournaledAnswer | JournaledRun | JournaledCase | JournaledBegin;
    if (known.type === "reply") {
      const before = this.#replies.get(known.key);
      // Of shards that needed one reply, whichever found it in a cache, one made the call.
      if (this.isComplete && before?.[0]?.cached === true && known.cached !== true) before.unshift(known);
      else listed(this.#replies, known);
      this.#settledKeys.add(known.key);
      // It says itself what failed before it.
      if (!this.isComplete) this.#failures.delete(known.key);
    } else if (known.type === "failure") this.#indexFailure(known);
    else if (known.type === "metric") listed(this.#answers, known);
    else if (known.type === "run") this.#runs.set(runKey(known.evalId, known.run), known);
    else if (known.type === "case") this.#settled.set(known.evalId, (this.#settled.get(known.evalId) ?? 0) + 1);
    else if (entry.type === "end") this.#isEnded = true;
    else if (known.type === "begin") this.#begun.set(known.part, known);
  }

  #indexFailure(entry: JournaledFailure): void {
    const { key, failure, attempt } = entry;
    const known = this.#failures.get(key) ?? [];
    const before = known.findIndex((one) => one.attempt === attempt - 1);
    if (before === -1) known.push(entry);
    else known[before] = entry;
    this.#failures.set(key, known);
    if (failure.retryable) return;
    const refusal = refusalKey(key, failure.message);
    const { times = 0 } = this.#refusals.get(refusal) ?? {};
    this.#refusals.set(refusal, { times: times + 1, failure });
  }

  /** Whether it has the agent's runs too: then the conversations that are scored are not inputs. */
  get hasRuns(): boolean {
    return this.#begun.has("runs");
  }

  /** When its evaluation began, in milliseconds since 1970. */
  get began(): number {
    return (this.#begun.get("runs") ?? this.#begun.get("scores"))?.at ?? this.#start;
  }

  /**
   * Begins a portion, or continues it.
   *
   * @throws {AdkMetricsError} `journal_failed` if the journal is of other inputs, with what differs.
   */
  begin(part: Part, inputs: Readonly<Record<string, unknown>>): void {
    const own = this.#begun.get(part);
    const isNew = own === undefined || differentIn(own.inputs, inputs).length > 0;
    if (isNew && !this.#hasBegun && this.#entries !== undefined) this.#resumeAbandoned(part, inputs);
    const before = this.#begun.get(part);
    if (before === undefined && this.isComplete) return;
    this.#hasBegun = true;
    if (before === undefined) {
      const entry: JournaledBegin = { type: "begin", section: this.#name, part, at: this.began, inputs };
      this.#begun.set(part, entry);
      this.#append(entry, true);
      return;
    }
    const what = differencesIn(before.inputs, inputs);
    if (what === "") return;
    throw new AdkMetricsError("journal_failed", `the journal was started with different inputs: ${what}`, {
      path: "journal",
      help: "Continue with the same inputs, or start a new journal",
    });
  }

  /** What a part was begun with. */
  inputsOf(part: Part): Readonly<Record<string, unknown>> | undefined {
    return this.#begun.get(part)?.inputs;
  }

  /** How many replies were not used: those to questions that had used another, and those to questions that were not asked here. */
  get unusedReplies(): { repeated: number; unasked: number } {
    const unused = { repeated: 0, unasked: 0 };
    for (const [key, { length }] of this.#replies) unused[this.#usedKeys.has(key) ? "repeated" : "unasked"] += length;
    return unused;
  }

  /** Takes the next reply to a question, instead of a call; nothing if there is none. */
  reply(key: string): JournaledReply | undefined {
    if (this.isComplete) this.#usedKeys.add(key);
    return this.#next(this.#replies, key);
  }

  /** Takes the next failure of a question, instead of a call; nothing if it was not asked so often. */
  failure(key: string): JournaledFailure | undefined {
    return this.#failures.get(key)?.shift();
  }

  /** What ended the questions of the metric that asks this one, if a judge refused. */
  refusal(key: string): HostFailure | undefined {
    const metric = refusalKey(key, "");
    for (const [known, { times, failure }] of this.#refusals) {
      const endsAll = REJECTED_STATUSES.includes(failure.status ?? 0) || times >= MAX_REFUSALS;
      if (endsAll && known.startsWith(metric)) return failure;
    }
    return undefined;
  }

  /** The failures that were not used: how many samples a vote asks depends on when some fail. */
  get unusedFailures(): { samples: number; calls: number } {
    const unused = [...this.#failures.values()]
      .flat()
      .filter(({ key, isLast }) => isLast === true || !this.#settledKeys.has(key));
    // A recording fails without a call.
    const samples = unused.filter(({ attempt }) => attempt > 0).length;
    return { samples, calls: unused.reduce((sum, { attempt }) => sum + attempt, 0) };
  }

  answer(key: string): object | undefined {
    return this.#next(this.#answers, key)?.found;
  }

  run(evalId: string, run: number): JournaledRun | undefined {
    const key = runKey(evalId, run);
    const found = this.#runs.get(key);
    if (found !== undefined) this.usedRuns += 1;
    this.#runs.delete(key);
    return found;
  }

  #next<T>(all: Map<string, T[]>, key: string): T | undefined {
    const entries = all.get(key);
    const next = entries?.shift();
    if (next !== undefined) this.usedReplies += 1;
    if (entries?.length === 0) all.delete(key);
    return next;
  }

  /** Appends an entry. @param settles Whether it is to survive the end of the machine. */
  keep(entry: { type: JournalEntry["type"]; [more: string]: unknown }, settles = false): void {
    if (!this.isComplete) this.#append({ ...entry, section: this.#name }, settles);
  }

  /** What comes late for an abandoned evaluation is dropped: another may have resumed it. */
  #append(entry: JournalEntry, settles: boolean): void {
    if (this.#isAbandoned) return;
    this.#entries?.push(entry);
    this.#open.append(entry, settles);
  }

  /** Appends that a case is settled, unless the journal says so already. */
  settle(evalId: string, status: number): void {
    const before = this.#settled.get(evalId) ?? 0;
    if (before > 0) this.#settled.set(evalId, before - 1);
    else this.keep({ type: "case", evalId, status }, true);
  }

  /** Appends that the evaluation is complete; once more if it was complete before and went on. */
  async end(): Promise<void> {
    if (!this.#isEnded || this.#open.hasAppended) this.keep({ type: "end" }, true);
    this.#isEnded = true;
    await this.written();
  }

  /** Waits until what was appended so far is written, or could not be. */
  attempted(): Promise<void> {
    return this.#open.attempted();
  }

  /** Waits until all is written. @throws {AdkMetricsError} `journal_failed` if something could not be. */
  written(): Promise<void> {
    return this.#open.written();
  }

  /** @throws {AdkMetricsError} `journal_failed` if something could not be written. */
  check(): void {
    this.#open.check();
  }

  /** Calls the listener when something cannot be written. @returns Removes it. */
  listen(listener: () => void): () => void {
    return this.#open.listen(listener);
  }
}

/** The section of an evaluation: the next one of a journal of the user's. */
export function sectionOf(journal: Journal): JournalSection;
export function sectionOf(journal: Journal | undefined): JournalSection | undefined;
export function sectionOf(journal: Journal | undefined): JournalSection | undefined {
  if (journal === undefined || journal instanceof JournalSection) return journal;
  if (typeof journal?.read === "function" && typeof journal.append === "function") return new JournalSection(journal);
  throw unexpected("an object with `read` and `append`, such as fileJournal(path)", journal, "journal");
}

/** The case that was selected, if it is the only one. A part of an evaluation may be of one case though more were selected. */
export function selectedCaseOf(evalIds: readonly string[] | undefined, journal?: Journal): string | undefined {
  const whole = journal instanceof JournalSection ? journal.selected : undefined;
  const selected = whole === undefined ? evalIds : whole.evalIds;
  return selected?.length === 1 ? selected[0] : undefined;
}

function listed<T extends { key: string }>(all: Map<string, T[]>, entry: T): void {
  const known = all.get(entry.key);
  if (known === undefined) all.set(entry.key, [entry]);
  else known.push(entry);
}

/** The metric is the first part of a question's key. */
function refusalKey(key: string, message: string): string {
  return `${key.split("/", 1).join()}/${message}`;
}

function runKey(evalId: string, run: number): string {
  return JSON.stringify([evalId, run]);
}

/** The SHA-256 of bytes. */
export async function digestOf(bytes: Uint8Array | undefined): Promise<string | undefined> {
  if (bytes === undefined) return undefined;
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) {
    const help = "Browsers provide it to pages from https: or localhost";
    throw new AdkMetricsError("journal_failed", "a journal needs WebCrypto, which this runtime lacks", { help });
  }
  const digest = await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
