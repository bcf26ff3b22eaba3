/** The batch interfaces of OpenAI, Anthropic and the Gemini API, behind one of our own. */

import { parseJson } from "../engine/json.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import type { RawAnswer } from "../judges/wire.js";
import { type BatchServer, type Fields, fieldsOf, itemsOf, type Sent, textOf } from "./server.js";
import type { Provider } from "../judges/endpoint.js";

/** The answer to one question of a batch. */
export interface BatchRow {
  id: string;
  raw: RawAnswer;
}

/** The state of a batch on its server. */
export interface BatchLook {
  /** The state in the server's words. */
  state: string;
  isOver: boolean;
  /** How many questions are done, if the server says so. */
  done: number | undefined;
  /** Why the batch was refused as a whole: wrong lines, counted from 0, or other reasons. */
  refused?: { line: number | undefined; message: string }[];
  /** The rows that are there, in any order; undefined for a line that is not a row. */
  rows(): AsyncIterable<BatchRow | undefined>;
}

/** The file of a batch: rows between a head and a tail. */
export interface Upload {
  head: string;
  row(id: string, body: string): string;
  separator: string;
  tail: string;
}

/** A batch that is to be sent. */
export interface Outgoing {
  /** Identifies it among others. */
  name: string;
  rows: number;
  /** The file that {@link Upload} describes. */
  file: Blob;
}

/** A batch that may have been created, although the answer to that was lost. */
export interface LostBatch {
  name: string;
  rows: number;
  /** The earliest time of its creation, in milliseconds since 1970. */
  since: number;
  /** The ids of batches that are known to be others. */
  others: ReadonlySet<string>;
}

export interface BatchProtocol {
  readonly maxRows: number;
  readonly maxBytes: number;
  /** @param bytes How long the bodies are in all. */
  upload(name: string, bytes: number): Upload;
  /** Uploads the file, where that is needed; may be repeated. @returns The body for {@link create}. */
  prepare(server: BatchServer, outgoing: Outgoing): Promise<BodyInit>;
  /** Creates the batch. Must not be repeated: each call makes another. @returns Its id. */
  create(server: BatchServer, body: BodyInit): Promise<string>;
  /** Looks for a lost batch on the server. @returns Its id. */
  find(server: BatchServer, lost: LostBatch): Promise<string | undefined>;
  /** @param count How many questions it has. */
  look(server: BatchServer, id: string, count: number): Promise<BatchLook>;
}

const MEGABYTE = 1_000_000;
/** The most pages of a list that are searched, and the length of each. */
const MOST_PAGES = 20;
const PAGE = 100;

const JSON_TYPE = { "content-type": "application/json" };

/** The protocol of a provider; undefined for one without batches. */
export function batchProtocolOf(provider: Provider): BatchProtocol | undefined {
  switch (provider) {
    case "openai":
      return openai("/chat/completions");
    case "openai-responses":
      return openai("/responses");
    case "anthropic":
      return anthropic;
    case "gemini":
      return gemini;
    default:
      return undefined;
  }
}

/** The error for a judge whose provider has no batches. */
export function noBatches(judge: string): AdkMetricsError {
  const help = "OpenAI, servers with its protocol, Anthropic and the Gemini API do";
  return new AdkMetricsError("invalid_input", `${judge} does not support batches`, { help });
}

/** Servers that speak a provider's protocol often know nothing of batches. */
const WITHOUT_BATCHES = [404, 405, 501];

/**
 * Sends a part of a batch.
 *
 * @throws {AdkMetricsError} `judge_failed` that says so where the server has no such address.
 */
async function sending(server: BatchServer, url: string, sent: Sent): Promise<Fields> {
  try {
    return await server.json(url, sent);
  } catch (cause) {
    if (!isAdkMetricsError(cause) || !WITHOUT_BATCHES.includes(cause.status ?? 0)) throw cause;
    const { origin, pathname } = new URL(url);
    throw new AdkMetricsError("judge_failed", `the server does not support batches: ${cause.message}`, {
      path: `${origin}${pathname}`,
      help: "Ask without batches, or check the address, which has to end with the version",
      retryable: false,
      status: cause.status as number,
      cause,
    });
  }
}

// ---- OpenAI

const openai = (path: string): BatchProtocol => {
  const base = (server: BatchServer): string => server.url.slice(0, server.url.lastIndexOf(path));
  return {
    maxRows: 50_000,
    maxBytes: 190 * MEGABYTE,
    upload: () => ({
      head: "",
      row: (id, body) => `{"custom_id":"${id}","method":"POST","url":"/v1${path}","body":${body}}`,
      separator: "\n",
      tail: "\n",
    }),
    async prepare(server, { name, file }) {
      const form = new FormData();
      form.append("purpose", "batch");
      form.append("file", file, `${name}.jsonl`);
      const { id } = await sending(server, `${base(server)}/files`, { method: "POST", body: form });
      return JSON.stringify({
        input_file_id: idIn(id, "file"),
        endpoint: `/v1${path}`,
        completion_window: "24h",
        metadata: { adk_metrics: name },
      });
    },
    async create(server, body) {
      const sent = { method: "POST", body, headers: JSON_TYPE, attempts: 1 } as const;
      return idIn((await sending(server, `${base(server)}/batches`, sent)).id, "batch");
    },
    find: (server, { name }) =>
      findIn(server, `${base(server)}/batches?limit=${PAGE}`, "after", (batch) =>
        fieldsOf(batch.metadata).adk_metrics === name ? textOf(batch.id) : undefined,
      ),
    async look(server, id, count) {
      const batch = await server.json(`${base(server)}/batches/${encodeURIComponent(id)}`);
      const state = stateOf(batch.status);
      const { completed, failed } = fieldsOf(batch.request_counts);
      // Some compatible servers write no file of errors, and some batches have no other file.
      const files = [textOf(batch.output_file_id), textOf(batch.error_file_id)].flatMap((file) => file ?? []);
      const problems = itemsOf(fieldsOf(batch.errors).data).map(({ line, code, message }) => ({
        line: typeof line === "number" && line >= 1 ? line - 1 : undefined,
        message: server.redacted(textOf(message) ?? textOf(code) ?? "the server gave no reason"),
      }));
      return {
        state,
        isOver: ["completed", "failed", "expired", "cancelled"].includes(state),
        done: sum([completed, failed]),
        ...(state === "failed" && files.length === 0 ? { refused: problems } : {}),
        async *rows() {
          for (const file of files) {
            const place = `${base(server)}/files/${encodeURIComponent(idIn(file, "file"))}/content`;
            for await (const line of server.lines(place, count)) {
              yield rowOf(line, "custom_id", openaiAnswer);
            }
          }
        },
      };
    },
  };
};

function openaiAnswer({ response, error }: Fields): RawAnswer {
  const { status_code: status = 200, body } = fieldsOf(response);
  if (body !== undefined && body !== null) return answered(typeof status === "number" ? status : 500, body);
  const { code, message } = fieldsOf(error);
  return unanswered([textOf(code), textOf(message)].filter((text) => text !== undefined).join(": "));
}

// ---- Anthropic

/** The HTTP statuses by which errors of these kinds come for single questions. */
const ANTHROPIC_STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

const anthropic: BatchProtocol = {
  maxRows: 100_000,
  maxBytes: 240 * MEGABYTE,
  upload: () => ({
    head: '{"requests":[\n',
    row: (id, body) => `{"custom_id":"${id}","params":${body}}`,
    separator: ",\n",
    tail: "\n]}\n",
  }),
  prepare: async (_server, { file }) => file,
  async create(server, body) {
    const sent = { method: "POST", body, headers: JSON_TYPE, attempts: 1 } as const;
    return idIn((await sending(server, `${server.url}/batches`, sent)).id, "batch");
  },
  // Its batches have no names. A later one with as many questions is a guess, which its results confirm.
  find: (server, { rows, since, others }) =>
    findIn(server, `${server.url}/batches?limit=${PAGE}`, "after_id", ({ id, created_at, request_counts }) => {
      const total = sum(Object.values(fieldsOf(request_counts)));
      const isLater = Date.parse(textOf(created_at) ?? "") >= since - CLOCKS_APART_MS;
      const name = textOf(id);
      return isLater && total === rows && name !== undefined && !others.has(name) ? name : undefined;
    }),
  async look(server, id, count) {
    const place = `${server.url}/batches/${encodeURIComponent(id)}`;
    const batch = await server.json(place);
    const state = stateOf(batch.processing_status);
    const { processing: _, ...counts } = fieldsOf(batch.request_counts);
    return {
      state,
      isOver: state === "ended",
      done: sum(Object.values(counts)),
      async *rows() {
        // Not from `results_url`: the key is only sent to the server that the user named.
        for await (const line of server.lines(`${place}/results`, count))
          yield rowOf(line, "custom_id", anthropicAnswer);
      },
    };
  },
};

/** By how many milliseconds a server's clock may differ from this machine's. */
const CLOCKS_APART_MS = 5 * 60_000;

function anthropicAnswer({ result }: Fields): RawAnswer {
  const { type, message, error } = fieldsOf(result);
  if (type === "succeeded" && message !== undefined) return answered(200, message);
  if (type !== "errored") return unanswered(textOf(type) ?? "");
  const kind = textOf(fieldsOf(fieldsOf(error).error).type) ?? "";
  return answered(ANTHROPIC_STATUSES[kind] ?? 500, error);
}

// ---- Gemini

/** The most bytes of a batch inside a request; a larger one is uploaded as a file. */
const MOST_INLINE = 19 * MEGABYTE;

/** The HTTP statuses of Google's codes. */
const GOOGLE_STATUSES: Readonly<Record<number, number>> = {
  3: 400,
  4: 504,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  11: 400,
  13: 500,
  14: 503,
  16: 401,
};

/** The root and the version in the address of a judge: `https://example.com`, `v1`. */
function geminiPlace({ url }: BatchServer): { root: string; version: string } {
  const [, root = "", version = "v1"] = /^(.*)\/(v\d\w*)\/(?:models|tunedModels)\/[^/]*$/.exec(url) ?? [];
  return { root, version };
}

const gemini: BatchProtocol = {
  // It has no limit of rows, but smaller batches are done sooner.
  maxRows: 100_000,
  maxBytes: 1900 * MEGABYTE,
  upload: (name, bytes) =>
    bytes > MOST_INLINE
      ? { head: "", row: (id, body) => `{"key":"${id}","request":${body}}`, separator: "\n", tail: "\n" }
      : {
          head: `{"batch":{"displayName":"${name}","inputConfig":{"requests":{"requests":[\n`,
          row: (id, body) => `{"request":${body},"metadata":{"key":"${id}"}}`,
          separator: ",\n",
          tail: "\n]}}}}\n",
        },
  async prepare(server, { name, file }) {
    if ((await file.slice(0, 9).text()).startsWith('{"batch":')) return file;
    const type = "application/jsonl";
    const { root, version } = geminiPlace(server);
    const begun = await server.ask(`${root}/upload/${version}/files`, {
      method: "POST",
      body: JSON.stringify({ file: { displayName: name, mimeType: type } }),
      headers: {
        ...JSON_TYPE,
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": String(file.size),
        "x-goog-upload-header-content-type": type,
      },
    });
    const place = begun.headers.get("x-goog-upload-url") ?? "";
    if (!URL.canParse(place) || new URL(place).origin !== new URL(server.url).origin) {
      throw new AdkMetricsError("judge_failed", "the server gave no upload address on its own origin", {
        retryable: false,
      });
    }
    const headers = { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" };
    const uploaded = await server.json(place, { method: "POST", body: file, headers });
    const fileName = textOf(fieldsOf(uploaded.file).name);
    return JSON.stringify({ batch: { displayName: name, inputConfig: { fileName } } });
  },
  async create(server, body) {
    const url = server.url.replace(/:generateContent$/, ":batchGenerateContent");
    const sent = { method: "POST", body, headers: JSON_TYPE, attempts: 1 } as const;
    return idIn((await server.json(url, sent)).name, "batch");
  },
  find(server, { name }) {
    const { root, version } = geminiPlace(server);
    return findIn(server, `${root}/${version}/batches?pageSize=${PAGE}`, "pageToken", (batch) =>
      fieldsOf(batch.metadata).displayName === name ? textOf(batch.name) : undefined,
    );
  },
  async look(server, id, count) {
    const { root, version } = geminiPlace(server);
    const operation = await server.json(`${root}/${version}/${id.split("/").map(encodeURIComponent).join("/")}`);
    const metadata = fieldsOf(operation.metadata);
    const state = stateOf(metadata.state)
      .replace(/^(?:BATCH|JOB)_STATE_/, "")
      .toLowerCase();
    const output = fieldsOf(operation.response ?? metadata.output);
    const file = textOf(output.responsesFile);
    const error = textOf(fieldsOf(operation.error).message);
    const { successfulRequestCount, failedRequestCount } = fieldsOf(metadata.batchStats);
    const hasRows = file !== undefined || output.inlinedResponses !== undefined;
    return {
      state,
      isOver: ["succeeded", "partially_succeeded", "failed", "cancelled", "expired"].includes(state),
      done: sum([successfulRequestCount, failedRequestCount]),
      ...(state === "failed" && !hasRows
        ? { refused: [{ line: undefined, message: server.redacted(error ?? "the server gave no reason") }] }
        : {}),
      async *rows() {
        for (const row of itemsOf(fieldsOf(output.inlinedResponses).inlinedResponses)) {
          const key = textOf(fieldsOf(row.metadata).key);
          yield key === undefined ? undefined : { id: key, raw: geminiAnswer(row) };
        }
        if (file === undefined) return;
        const place = idIn(file, "file").split("/").map(encodeURIComponent).join("/");
        for await (const line of server.lines(`${root}/download/${version}/${place}:download?alt=media`, count)) {
          yield rowOf(line, "key", geminiAnswer);
        }
      },
    };
  },
};

function geminiAnswer({ response, error }: Fields): RawAnswer {
  if (response !== undefined && response !== null) return answered(200, response);
  const { code, message } = fieldsOf(error);
  if (typeof code !== "number") return unanswered(textOf(message) ?? "");
  const status = code >= 400 ? code : GOOGLE_STATUSES[code];
  return status === undefined
    ? unanswered(textOf(message) ?? "")
    : answered(status, { error: { ...fieldsOf(error), code: status } });
}

// ---- what they share

/** The row in a line; undefined if there is none. */
function rowOf(line: string, key: string, answerOf: (row: Fields) => RawAnswer): BatchRow | undefined {
  try {
    const row = fieldsOf(parseJson(line));
    const id = textOf(row[key]);
    return id === undefined ? undefined : { id, raw: answerOf(row) };
  } catch {
    return undefined;
  }
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** The answer that the server would have given to the question alone. */
function answered(status: number, body: unknown): RawAnswer {
  const isStatus = Number.isInteger(status) && status >= 100 && status <= 599;
  const answer = { answered: { status: isStatus ? status : 500, headers: {}, now: Date.now() } };
  return { answer, body: encoder.encode(JSON.stringify(body)) };
}

/** For a question that did not reach the model, and may be asked again. */
function unanswered(why: string): RawAnswer {
  const message = `the batch contains no answer${why === "" ? "" : `: ${why}`}`;
  return { answer: { failed: { message, retryable: true } }, body: new Uint8Array() };
}

/** Whether a text can be an id, which becomes part of addresses. */
export function isId(text: string): boolean {
  return /^[\w/.:=-]{1,1000}$/.test(text) && !text.split("/").some((part) => /^\.*$/.test(part));
}

/** How a batch is, in a word that is shown. */
function stateOf(value: unknown): string {
  const state = textOf(value) ?? "";
  return /^\w{1,50}$/.test(state) ? state : "unknown";
}

/** An id that can be part of an address. */
function idIn(value: unknown, what: string): string {
  const id = textOf(value);
  if (id !== undefined && isId(id)) return id;
  throw new AdkMetricsError("judge_failed", `the server did not give the ${what} an id`, { retryable: false });
}

/** Google's counts are texts. */
function sum(counts: unknown[]): number | undefined {
  const known = counts
    .filter((count) => typeof count === "number" || typeof count === "string")
    .map(Number)
    .filter((count) => Number.isFinite(count));
  return known.length === 0 ? undefined : known.reduce((all, one) => all + one, 0);
}

/** Looks through a list, page by page. */
async function findIn(
  server: BatchServer,
  first: string,
  cursor: string,
  match: (batch: Fields) => string | undefined,
): Promise<string | undefined> {
  let url = first;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { data, operations, has_more, last_id, nextPageToken } = await server.json(url);
    const items = itemsOf(data ?? operations);
    for (const item of items) {
      const found = match(item);
      if (found !== undefined) return found;
    }
    const next =
      textOf(nextPageToken) ?? (has_more === true ? (textOf(last_id) ?? textOf(items.at(-1)?.id)) : undefined);
    if (next === undefined) return undefined;
    url = `${first}&${cursor}=${encodeURIComponent(next)}`;
  }
  return undefined;
}
