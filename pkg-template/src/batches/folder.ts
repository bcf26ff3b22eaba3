/** The files of batches in the folder of a cache: batches, their questions, and questions that failed. They hold no keys. */
// Node only: no bundle for browsers may reach this file.
import * as fs from "node:fs";
import { join } from "node:path";
import { parseJson } from "../engine/json.js";
import { isObject, messageOf } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import type { Provider } from "../judges/endpoint.js";
import type { JudgeRequest } from "../types.js";
import { isFolder, linesIn, readRegular, writeWhole } from "./files.js";
import { batchProtocolOf, isId } from "./protocols.js";

/** The record of a batch in its folder. */
export interface BatchRecord {
  format: "adk-metrics batch";
  version: 1;
  /** A digest of its questions. */
  name: string;
  provider: Provider;
  /** Who answers, without keys. */
  label: string;
  model: string;
  rows: number;
  /** How long the bodies of its questions are in all. */
  bytes: number;
  /** Not sent yet; sent, but the answer may have been lost; or accepted, with an id. */
  state: "noted" | "sending" | "sent";
  /** The server's id. */
  id?: string;
  /** When it was first sent, in milliseconds since 1970. */
  since?: number;
  /** Whether the id is a guess, because the server's batches have no names. */
  isGuessed?: boolean;
}

/** A question in the file of a batch. */
export interface NotedQuestion {
  id: string;
  key: string;
  request: JudgeRequest;
}

/** Why a question has no reply. */
export interface BatchFailure {
  key: string;
  message: string;
  /** Whether it may be asked again. */
  retryable: boolean;
  /** How often it was asked. */
  times: number;
  status?: number;
}

export const FORMAT = "adk-metrics batch";
const RECORD = "batch.json";
const QUESTIONS = "questions.jsonl";
const UPLOAD = "upload";
/** What is in the folder of a batch. */
const FILES = new Set([RECORD, `${RECORD}.tmp`, QUESTIONS, UPLOAD]);
const DRAFT = "adk-metrics-draft-";
/** What `mkdtemp` makes of it. */
const DRAFT_NAME = /^adk-metrics-draft-[A-Za-z0-9]{6}$/;

/** The folder `batches` of a cache, with a folder for each batch. */
export class BatchFolder {
  readonly path: string;

  /** @throws {AdkMetricsError} `cache_failed` if there can be no such folder. */
  constructor(cache: string) {
    this.path = join(cache, "batches");
    try {
      fs.mkdirSync(this.path, { recursive: true });
      if (!isFolder(this.path)) throw new Error(`${this.path} is a link, not a folder`);
    } catch (cause) {
      const message = `the folder of batches cannot be created: ${messageOf(cause)}`;
      throw new AdkMetricsError("cache_failed", message, {
        path: this.path,
        help: "Choose another cache folder",
        cause,
      });
    }
  }

  /** The batches that are not collected yet, in a fixed order. */
  records(): BatchRecord[] {
    return fs
      .readdirSync(this.path)
      .sort()
      .flatMap((name) => {
        try {
          if (!isFolder(join(this.path, name))) return [];
          return recordIn(readRegular(this.recordFile(name)), name) ?? [];
        } catch {
          return [];
        }
      });
  }

  /** The questions of a batch that are as they were written. */
  *questions(name: string): Generator<NotedQuestion> {
    for (const line of linesIn(join(this.path, name, QUESTIONS))) if (isQuestion(line)) yield line;
  }

  keep(record: BatchRecord): void {
    keepRecord(join(this.path, record.name), record);
  }

  remove(name: string): void {
    removeBatch(join(this.path, name));
  }

  recordFile(name: string): string {
    return join(this.path, name, RECORD);
  }

  /** The file that is sent, while it is. */
  uploadFile(name: string): string {
    return join(this.path, name, UPLOAD);
  }

  /** A new folder and the file for the questions of a batch that is being put together. */
  makeDraft(): { folder: string; questions: string } {
    const folder = fs.mkdtempSync(join(this.path, DRAFT));
    return { folder, questions: join(folder, QUESTIONS) };
  }

  /**
   * Makes a batch of a draft.
   *
   * @throws {AdkMetricsError} `cache_failed` if something else has its name.
   */
  adoptDraft(folder: string, record: BatchRecord): void {
    keepRecord(folder, record);
    const path = join(this.path, record.name);
    try {
      fs.renameSync(folder, path);
    } catch (cause) {
      const message = `a batch cannot be stored: ${messageOf(cause)}`;
      const help = "If the folder of a batch is damaged, remove it: its questions are then asked again";
      throw new AdkMetricsError("cache_failed", message, { path, help, cause });
    }
  }

  /** Removes drafts of processes that ended before anything was sent. */
  removeDrafts(): void {
    for (const name of fs.readdirSync(this.path)) if (isDraft(this.path, name)) this.remove(name);
  }

  failures(): BatchFailure[] {
    return [...linesIn(this.#failuresFile)].filter((line) => isFailure(line));
  }

  /** @throws {AdkMetricsError} `cache_failed` if it cannot be written. */
  keepFailure(failure: BatchFailure): void {
    const path = this.#failuresFile;
    try {
      // It is not written where a link leads.
      if (fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) fs.rmSync(path);
      fs.appendFileSync(path, `${JSON.stringify(failure)}\n`);
    } catch (cause) {
      throw new AdkMetricsError("cache_failed", `the cache cannot be written: ${messageOf(cause)}`, { path, cause });
    }
  }

  forgetFailures(): void {
    if (fs.lstatSync(this.#failuresFile, { throwIfNoEntry: false })?.isDirectory() === true) return;
    fs.rmSync(this.#failuresFile, { force: true });
  }

  get #failuresFile(): string {
    return join(this.path, "failures.jsonl");
  }
}

function keepRecord(folder: string, record: BatchRecord): void {
  writeWhole(join(folder, RECORD), JSON.stringify(record));
}

/** Whether a folder is a draft and has nothing else in it: it may lie beside the user's folders. */
function isDraft(root: string, name: string): boolean {
  const folder = join(root, name);
  if (!DRAFT_NAME.test(name) || !isFolder(folder)) return false;
  return fs.readdirSync(folder, { withFileTypes: true }).every((entry) => entry.isFile() && FILES.has(entry.name));
}

/** Removes what the folder of a batch has, and the folder if nothing else is in it. */
function removeBatch(folder: string): void {
  for (const name of FILES) fs.rmSync(join(folder, name), { force: true });
  if (fs.readdirSync(folder).length === 0) fs.rmdirSync(folder);
}

/** The id of a question, in characters that providers allow, and at most 64. */
export function idOf(key: string): string {
  return key.slice(0, 48);
}

/** Whether a line is a question that may be used: its id becomes part of JSON, and its key the name of a file. */
function isQuestion(line: object): line is NotedQuestion {
  const { id, key, request } = line as Record<keyof NotedQuestion, unknown>;
  if (typeof key !== "string" || !/^[\w-]{8,200}$/.test(key) || id !== idOf(key) || !isObject(request)) return false;
  const { prompt, model } = request as Record<string, unknown>;
  return typeof prompt === "string" && typeof model === "string";
}

function isFailure(line: object): line is BatchFailure {
  const { key, message, times } = line as Record<keyof BatchFailure, unknown>;
  return typeof key === "string" && typeof message === "string" && typeof times === "number";
}

/** The record of a batch, if it is unchanged. */
function recordIn(text: string, folder: string): BatchRecord | undefined {
  const record: unknown = parseJson(text);
  if (!isObject(record)) return undefined;
  const { format, version, name, provider, label, model, rows, bytes, state, id } = record as Record<string, unknown>;
  if (format !== FORMAT || version !== 1 || name !== folder) return undefined;
  if ([provider, label, model].some((text) => typeof text !== "string")) return undefined;
  if (![rows, bytes].every((count) => Number.isSafeInteger(count)) || !isState(state)) return undefined;
  if (batchProtocolOf(provider as Provider) === undefined) return undefined;
  // Without its id it is looked for by its name.
  if (state === "sent" && (typeof id !== "string" || !isId(id)))
    return { ...(record as BatchRecord), state: "sending" };
  return record as BatchRecord;
}

function isState(state: unknown): state is BatchRecord["state"] {
  return state === "noted" || state === "sending" || state === "sent";
}
