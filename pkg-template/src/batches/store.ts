// Node only: no bundle for browsers may reach this file.
import * as fs from "node:fs";
import { join } from "node:path";
import { messageOf } from "../engine/values.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import { FileLock } from "../journal/lock.js";
import type { EndpointSettings } from "../generated/contract.js";
import type { JudgeCache, JudgeReply, JudgeRequest } from "../types.js";
import { Draft } from "./draft.js";
import { openAnew } from "./files.js";
import { type BatchFailure, BatchFolder, type BatchRecord, idOf, type NotedQuestion } from "./folder.js";
import { type BatchProtocol, batchProtocolOf, type BatchLook, noBatches } from "./protocols.js";
import { downloadResults, failuresOf, noResults } from "./results.js";
import { BatchServer, sleep } from "./server.js";
import type { Endpoint, Provider } from "../judges/endpoint.js";
import { withTokensOf } from "../judges/reply.js";
import { questionOf, render } from "../judges/wire.js";
import { definedProperties } from "../lists.js";

/** The state of a batch, and what is wrong with it. */
export interface BatchStatus {
  record: BatchRecord;
  /** For users. */
  state: string;
  done: number | undefined;
  isOver: boolean;
  /** What is wrong with this batch alone. */
  failure?: AdkMetricsError;
}

/** What batches asked and answered since the store was opened. */
export interface BatchTotals {
  batches: number;
  questions: number;
  replies: number;
  /** Tokens by model. */
  tokens: Map<string, { input: number; output: number }>;
}

export interface BatchStoreOptions {
  /** Where replies go. */
  cache: Pick<JudgeCache, "set">;
  /** Where a model is asked. @throws if there is no key. */
  endpointOf(record: BatchRecord): Endpoint;
  say(text: string): void;
  signal: AbortSignal;
  /** How long to wait between two looks, in milliseconds. */
  pollMs: number;
  /** The most questions of a batch, if the server takes fewer than its provider. */
  maxRows?: number;
}

/** How often a question is asked before it counts as failed. */
const MOST_TIMES = 3;

/**
 * Puts questions into batches, sends them, and puts the replies into the cache. The name of a batch is on the disk before it is
 * sent, and its id before anything else is done, so that a process can end at any time.
 */
export class BatchStore {
  readonly totals: BatchTotals = { batches: 0, questions: 0, replies: 0, tokens: new Map() };
  readonly #folder: BatchFolder;
  readonly #lock: FileLock;
  readonly #options: BatchStoreOptions;
  /** By server and model. */
  readonly #drafts = new Map<string, Draft>();
  /** The ids of questions in drafts and in batches that are not collected yet. */
  readonly #open = new Set<string>();
  readonly #failures = new Map<string, BatchFailure>();

  private constructor(folder: BatchFolder, lock: FileLock, options: BatchStoreOptions) {
    this.#folder = folder;
    this.#lock = lock;
    this.#options = options;
    folder.removeDrafts();
    for (const failure of folder.failures()) this.#failures.set(failure.key, failure);
    for (const { name } of this.records()) {
      for (const { id } of folder.questions(name)) this.#open.add(id);
    }
  }

  /**
   * @param folder The folder of the cache.
   * @throws {AdkMetricsError} `cache_failed` if another process works with its batches.
   */
  static async open(folder: string, options: BatchStoreOptions): Promise<BatchStore> {
    const batches = new BatchFolder(folder);
    const lock = new FileLock(batches.path, { code: "cache_failed", what: "the batches", other: "cache" });
    await lock.take();
    return new BatchStore(batches, lock, options);
  }

  /** The batches that are not collected yet, in a fixed order. */
  records(): BatchRecord[] {
    return this.#folder.records();
  }

  /** Whether a question is in a draft or a batch. */
  isOpen(key: string): boolean {
    return this.#open.has(idOf(key));
  }

  /** Why a question has no reply, if no batch is to ask it again. */
  failureOf(key: string): BatchFailure | undefined {
    const failure = this.#failures.get(key);
    return failure !== undefined && (!failure.retryable || failure.times >= MOST_TIMES) ? failure : undefined;
  }

  /** Whether a question got no reply for a temporary reason. */
  hasFailed(key: string): boolean {
    return this.#failures.get(key)?.retryable === true;
  }

  /** Adds a question to a draft. */
  async note(endpoint: Endpoint, request: JudgeRequest, key: string): Promise<void> {
    const settings = await endpoint.settings();
    const id = idOf(key);
    if (this.#open.has(id)) return;
    this.#open.add(id);
    const { body } = render(settings, questionOf(request));
    const { provider, label, model = request.model } = endpoint;
    const group = JSON.stringify([label, model]);
    const protocol = protocolOf(provider);
    const maxRows = Math.min(this.#options.maxRows ?? Infinity, protocol.maxRows);
    let draft = this.#drafts.get(group) ?? new Draft(this.#folder, { provider, label, model });
    // A row is some bytes longer than its body.
    const size = body.length + 200;
    if (draft.rows > 0 && (draft.rows >= maxRows || draft.bytes + size > protocol.maxBytes)) {
      draft.finish();
      draft = new Draft(this.#folder, { provider, label, model });
    }
    this.#drafts.set(group, draft);
    draft.bytes += size;
    draft.add({ id, key, request }, this.#timesAsked(key));
  }

  /** Makes batches of the drafts. @returns How many questions are in them. */
  finish(): number {
    let rows = 0;
    for (const draft of this.#drafts.values()) {
      rows += draft.rows;
      draft.finish();
    }
    this.#drafts.clear();
    return rows;
  }

  /** Sends the batches that are not sent yet. @throws The first failure, after all others were tried. */
  async send(): Promise<void> {
    const failures = new Map<string, AdkMetricsError>();
    // Read again each time, since one that is too large becomes two.
    for (;;) {
      const record = this.records().find(({ name, state }) => state !== "sent" && !failures.has(name));
      if (record === undefined) break;
      try {
        await this.#send(record);
      } catch (error) {
        if (!this.#isOfOne(error, [400])) throw error;
        failures.set(record.name, this.#located(record, error));
      }
    }
    for (const failure of failures.values()) throw failure;
  }

  /**
   * Asks how the batches are that were sent, and collects those that are over.
   *
   * @returns The state of each.
   */
  async look(): Promise<BatchStatus[]> {
    const found: BatchStatus[] = [];
    for (const record of this.records()) {
      if (record.state !== "sent" || record.id === undefined) {
        found.push({ record, state: "not sent", done: undefined, isOver: false });
        continue;
      }
      let isThere = false;
      try {
        const { server, protocol } = await this.#serverOf(record);
        const look = await protocol.look(server, record.id, record.rows);
        isThere = true;
        if (look.isOver) await this.#collect(record, look);
        found.push({ record, state: look.state, done: look.done, isOver: look.isOver });
      } catch (error) {
        if (!this.#isOfOne(error, isThere ? undefined : [400, 404, 410])) throw error;
        const failure = this.#located(record, error);
        found.push({ record, state: failure.message, done: undefined, isOver: false, failure });
      }
    }
    return found;
  }

  /**
   * Sends the batches that are not sent yet, and looks at the others; a failure of one does not keep it from the rest.
   *
   * @returns The state of each, why one was not sent, and the first failure of all.
   */
  async update(sends = true): Promise<{ looks: BatchStatus[]; unsent: unknown; failure: unknown }> {
    let unsent: unknown;
    try {
      if (sends) await this.send();
    } catch (error) {
      if (this.#options.signal.aborted) throw error;
      unsent = error;
    }
    const looks = await this.look();
    return { looks, unsent, failure: unsent ?? looks.find(({ failure }) => failure !== undefined)?.failure };
  }

  /** Waits until every batch is over and its replies are taken. */
  async wait(): Promise<void> {
    const said = new Map<string, string>();
    for (;;) {
      const { looks, unsent, failure } = await this.update();
      for (const { record, state, done, isOver, failure } of looks) {
        const progress = done === undefined ? "" : `, ${done} of ${record.rows} done`;
        const text = failure === undefined ? `${record.id ?? record.name}: ${state}${progress}` : state;
        if (said.get(record.name) !== text && !isOver) this.#options.say(text);
        said.set(record.name, text);
      }
      if (unsent !== undefined) throw unsent;
      if (looks.every(({ isOver }) => isOver) && this.records().length === 0) return;
      const isWaiting = looks.some(({ record, isOver, failure }) => record.state === "sent" && !isOver && !failure);
      if (failure !== undefined && !isWaiting) throw failure;
      if (isWaiting) await sleep(this.#options.pollMs, this.#options.signal);
    }
  }

  /** Forgets failed questions, so that the next run asks them again. */
  forgetFailures(): void {
    this.#folder.forgetFailures();
  }

  /** Releases the folder. */
  close(): void {
    for (const draft of this.#drafts.values()) draft.close();
    this.#drafts.clear();
    this.#lock.release();
  }

  #timesAsked(key: string): number {
    return this.#failures.get(key)?.times ?? 0;
  }

  // ---- sending

  async #send(record: BatchRecord): Promise<void> {
    const { server, protocol } = await this.#serverOf(record);
    const upload = this.#folder.uploadFile(record.name);
    try {
      if (record.state === "sending" && (await this.#adopt(record, server, protocol))) return;
      if ((await this.#writeUpload(record, protocol, upload)) === 0) {
        // None of its lines is a question.
        this.#remove(record);
        return;
      }
      const file = await fs.openAsBlob(upload);
      const body = await protocol.prepare(server, { name: record.name, rows: record.rows, file });
      for (let attempt = 1; ; attempt += 1) {
        this.#folder.keep(Object.assign(record, { state: "sending", since: record.since ?? Date.now() }));
        try {
          this.#sent(record, await protocol.create(server, body), false);
          return;
        } catch (error) {
          if (!isAdkMetricsError(error) || this.#options.signal.aborted) throw error;
          if (error.retryable !== true) {
            // It was refused, so there is nothing to look for.
            this.#folder.keep(Object.assign(record, { state: "noted" }));
            throw error;
          }
          if (attempt >= 5) throw error;
          await server.pause(attempt, error.retryAfterMs);
          // The answer may have been lost, not the batch.
          if (await this.#adopt(record, server, protocol)) return;
        }
      }
    } catch (error) {
      if (!isAdkMetricsError(error) || error.status !== 413) throw error;
      this.#split(record, error);
    } finally {
      fs.rmSync(upload, { force: true });
    }
  }

  async #adopt(record: BatchRecord, server: BatchServer, protocol: BatchProtocol): Promise<boolean> {
    const { name, rows, since = 0 } = record;
    const others = new Set(this.records().flatMap(({ id }) => id ?? []));
    const id = await protocol.find(server, { name, rows, since, others });
    if (id !== undefined) this.#sent(record, id, record.provider === "anthropic");
    return id !== undefined;
  }

  #sent(record: BatchRecord, id: string, isGuessed: boolean): void {
    this.#folder.keep(Object.assign(record, { state: "sent", id, isGuessed }));
    this.totals.batches += 1;
    this.totals.questions += record.rows;
    const questions = `${record.rows} ${record.rows === 1 ? "question" : "questions"}`;
    this.#options.say(`batch ${id}: ${questions} to ${record.model}`);
  }

  /** Writes the file that is sent. @returns How many questions are in it. */
  async #writeUpload(record: BatchRecord, protocol: BatchProtocol, path: string): Promise<number> {
    const settings = await this.#settingsOf(record);
    const { head, row, separator, tail } = protocol.upload(record.name, record.bytes);
    const file = openAnew(path);
    const decoder = new TextDecoder();
    let rows = 0;
    try {
      let before = head;
      for (const { id, request } of this.#folder.questions(record.name)) {
        fs.writeSync(file, before + row(id, decoder.decode(render(settings, questionOf(request)).body)));
        before = separator;
        rows += 1;
      }
      fs.writeSync(file, tail);
    } finally {
      fs.closeSync(file);
    }
    return rows;
  }

  /** Makes two batches of one that is too large for the server. */
  #split(record: BatchRecord, error: AdkMetricsError): void {
    const questions = [...this.#folder.questions(record.name)];
    if (questions.length < 2) {
      for (const { key } of questions) this.#fail(key, error);
      this.#remove(record);
      return;
    }
    const middle = Math.ceil(questions.length / 2);
    for (const half of [questions.slice(0, middle), questions.slice(middle)]) {
      const draft = new Draft(this.#folder, record);
      draft.bytes = Math.ceil((record.bytes * half.length) / questions.length);
      for (const question of half) draft.add(question, this.#timesAsked(question.key));
      draft.finish();
    }
    this.#folder.remove(record.name);
  }

  // ---- collecting

  async #collect(record: BatchRecord, look: BatchLook): Promise<void> {
    const questions = [...this.#folder.questions(record.name)];
    let results = noResults(questions);
    if (look.refused === undefined) {
      const settings = await this.#settingsOf(record);
      const take = ({ key }: NotedQuestion, reply: JudgeReply) => this.#take(record, key, reply);
      results = await downloadResults(look, questions, settings, take);
      if (!results.hasRows && record.isGuessed === true) {
        // That was another batch: this one is still to be sent.
        const { id: _, isGuessed: __, ...rest } = record;
        this.#folder.keep({ ...rest, state: "noted" });
        return;
      }
    }
    const replies = record.rows - results.unanswered.size;
    for (const [key, failure] of failuresOf(look, questions, results)) {
      this.#fail(key, failure, replies > 0);
      if (failure.usage !== undefined) this.#count(record.model, failure.usage);
    }
    this.#options.say(`batch ${record.id ?? ""}: ${look.state}, ${replies} of ${record.rows} answered`);
    this.#remove(record);
  }

  async #take({ model }: BatchRecord, key: string, reply: JudgeReply): Promise<void> {
    try {
      await this.#options.cache.set(key, reply);
    } catch (cause) {
      if (isAdkMetricsError(cause)) throw cause;
      throw new AdkMetricsError("cache_failed", `the cache cannot be written: ${messageOf(cause)}`, { cause });
    }
    this.totals.replies += 1;
    this.#count(model, reply.usage);
  }

  #count(model: string, usage: JudgeReply["usage"] = {}): void {
    const { inputTokens, outputTokens } = withTokensOf(usage);
    const tokens = this.totals.tokens.get(model) ?? { input: 0, output: 0 };
    this.totals.tokens.set(model, { input: tokens.input + inputTokens, output: tokens.output + outputTokens });
  }

  /** @param isAmongReplies It then says nothing of the server, whose refusals would end its metric. */
  #fail(key: string, { message, retryable, status }: AdkMetricsError, isAmongReplies = false): void {
    const times = this.#timesAsked(key) + 1;
    const failure: BatchFailure = {
      key,
      message,
      retryable: retryable === true,
      times,
      ...(status === undefined || isAmongReplies ? {} : { status }),
    };
    this.#failures.set(key, failure);
    this.#folder.keepFailure(failure);
  }

  #remove({ name }: BatchRecord): void {
    for (const { id } of this.#folder.questions(name)) this.#open.delete(id);
    this.#folder.remove(name);
  }

  // ---- failures of one batch

  /**
   * Whether an error is about one batch only: its endpoint, or an answer with one of these statuses.
   *
   * @param statuses Any, if absent.
   */
  #isOfOne(error: unknown, statuses: readonly number[] | undefined): error is AdkMetricsError {
    if (!isAdkMetricsError(error) || this.#options.signal.aborted || error.code === "cache_failed") return false;
    return error.code === "invalid_input" || statuses === undefined || statuses.includes(error.status ?? 0);
  }

  #located({ id, name }: BatchRecord, error: AdkMetricsError): AdkMetricsError {
    const { code, message, status, retryable } = error;
    // It names the batch already.
    if (code === "invalid_input") return error;
    return new AdkMetricsError(code, `batch ${id ?? name}: ${message}`, {
      path: join(this.#folder.path, name),
      help: "If the problem persists, remove the folder: its questions are then asked again",
      retryable: retryable === true,
      ...definedProperties({ status }),
      cause: error,
    });
  }

  // ---- servers

  #endpointOf(record: BatchRecord): Endpoint {
    const endpoint = this.#options.endpointOf(record);
    if (endpoint.label === record.label) return endpoint;
    throw new AdkMetricsError(
      "invalid_input",
      `the batch was sent to ${record.label}, but the judge is now ${endpoint.label}`,
      {
        path: this.#folder.recordFile(record.name),
        help: "Set the environment as it was when the batch was sent, or remove the batch's folder: its questions are then asked again",
      },
    );
  }

  /** The endpoint of a batch with the model that it was made for, whichever is asked now. */
  async #settingsOf(record: BatchRecord): Promise<EndpointSettings> {
    return { ...(await this.#endpointOf(record).settings()), model: record.model };
  }

  async #serverOf(record: BatchRecord): Promise<{ server: BatchServer; protocol: BatchProtocol }> {
    const { pollMs, signal } = this.#options;
    const server = new BatchServer(this.#endpointOf(record).fetch, await this.#settingsOf(record), pollMs, signal);
    return { server, protocol: protocolOf(record.provider) };
  }
}

function protocolOf(provider: Provider): BatchProtocol {
  const protocol = batchProtocolOf(provider);
  if (protocol !== undefined) return protocol;
  throw noBatches(provider);
}
