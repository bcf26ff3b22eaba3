/**
 * The batch interfaces of OpenAI, Anthropic and the Gemini API on the loopback server, with what goes wrong with them.
 *
 * const server = await startBatchServer({ reply, plan: ({ number }) => ({ rows: number === 0 ? { 2: "expired" } : {} }) });
 * server.batches    // every batch: { id, provider, requests, … }
 * server.asked      // how often each question was answered, by its custom id
 */
import { answerTo, startServer } from "./server.mjs";

/**
 * What goes wrong with a row:
 * - `error`: the provider's own error of an overloaded server; `invalid`: an error that stays; `expired`, `cancelled`;
 * - `missing`: there is no row; `twice`: two rows; `unknown`: a row of nobody's beside it; `garbage`: its first line is cut.
 *
 * What goes wrong with a batch:
 * - `looks`: how often it is looked at before it is over (1); `create`: `lost` (made, the connection breaks off), `busy`
 *   (503 first), `large` (413 if it has more rows than `most`), `refused` (`lines`: the lines that are invalid);
 * - `onlyErrors`: no file of results; `noErrorFile`: errors are in the file of results, as compatible servers do;
 * - `cut`: the first download of the results ends in the middle of a line; `state`: what it ends as.
 *
 * @typedef {{ rows?: Record<number, string>, looks?: number, create?: string, most?: number, lines?: number[],
 *   onlyErrors?: boolean, noErrorFile?: boolean, cut?: boolean, state?: string }} Plan
 *
 * @param {{ reply?: (asked: object) => unknown, plan?: (batch: object) => Plan }} [options] `plan` is told `{ number,
 *   requests, provider }` of a batch that arrives.
 */
export async function startBatchServer({ reply = () => "Yes.", plan = () => ({}) } = {}) {
  const files = new Map();
  const batches = [];
  const asked = new Map();
  const uploads = new Map();
  const attempts = new Map();
  let count = 0;
  const next = (prefix) => `${prefix}${(count += 1)}`;

  /** Makes a batch, or says what is wrong. */
  async function make(provider, requests, more, response) {
    const number = attempts.get("number") ?? 0;
    const faults = plan({ number, provider, requests }) ?? {};
    if (faults.create === "busy" && !attempts.has(`busy${number}`)) {
      attempts.set(`busy${number}`, 1);
      return json(response, 503, errorOf(provider, "busy"));
    }
    if (faults.create === "large" && requests.length > faults.most) {
      return json(response, 413, errorOf(provider, "too large", 413));
    }
    attempts.set("number", number + 1);
    const id = { openai: "batch_", anthropic: "msgbatch_", gemini: "batches/b" }[provider];
    const batch = { id: next(id), provider, requests, faults, looks: 0, made: new Date().toISOString(), ...more };
    batches.push(batch);
    // What is asked is paid for, whether or not anybody looks.
    if (faults.create !== "refused") await rowsOf(batch);
    if (faults.create === "lost") return response.socket.destroy();
    return json(response, 200, await show(batch, true));
  }

  /** The rows of a batch, in disorder. */
  async function rowsOf(batch) {
    if (batch.rows) return batch.rows;
    const { provider, faults } = batch;
    const good = [];
    const bad = [];
    for (const [index, { id, path, body, inline }] of batch.requests.entries()) {
      const fault = faults.rows?.[index];
      if (fault === "missing") continue;
      const isAsked = fault === undefined || ["twice", "unknown", "garbage"].includes(fault);
      if (isAsked) asked.set(id, (asked.get(id) ?? 0) + 1);
      const played = {
        error: { fault: provider === "anthropic" ? "overloaded" : "unavailable" },
        invalid: { fault: "bad_request" },
      }[fault];
      const single = provider === "openai" && path.endsWith("/responses") ? "openai-responses" : provider;
      const answer = await answerTo(single, path, body, index, played ? () => played : reply);
      const row = ROWS[provider]({ id, inline, answer, fault, index });
      (isAsked || faults.noErrorFile || provider !== "openai" ? good : bad).push(row);
      if (fault === "twice") good.push(ROWS[provider]({ id, inline, answer: { status: 503, body: {} }, fault, index }));
      if (fault === "unknown") good.push(ROWS[provider]({ id: "nobody", inline, answer, fault, index }));
    }
    return (batch.rows = { good: good.reverse(), bad });
  }

  async function show(batch, isNew = false) {
    if (!isNew) batch.looks += 1;
    const isOver = batch.cancelled || batch.looks > (batch.faults.looks ?? 1);
    const { faults, id, made, requests } = batch;
    const rows = isOver && faults.create !== "refused" ? await rowsOf(batch) : { good: [], bad: [] };
    const total = requests.length;
    if (batch.provider === "openai") {
      const refused = faults.create === "refused";
      const output = isOver && !refused && !faults.onlyErrors && rows.good.length > 0;
      return {
        id,
        object: "batch",
        endpoint: batch.endpoint,
        input_file_id: batch.input,
        completion_window: "24h",
        created_at: Math.floor(Date.parse(made) / 1000),
        metadata: batch.metadata,
        status: !isOver ? "in_progress" : refused ? "failed" : (faults.state ?? "completed"),
        ...(output && { output_file_id: fileOf(batch, "good", rows.good) }),
        ...(isOver && !refused && rows.bad.length > 0 && { error_file_id: fileOf(batch, "bad", rows.bad) }),
        ...(isOver && refused
          ? {
              errors: {
                object: "list",
                data: (faults.lines ?? []).map((line) => ({
                  line: line + 1,
                  code: "invalid_json_line",
                  message: "This line is not right",
                  param: null,
                })),
              },
            }
          : { request_counts: { total, completed: rows.good.length, failed: rows.bad.length } }),
      };
    }
    if (batch.provider === "anthropic") {
      const none = { processing: total, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
      return {
        id,
        type: "message_batch",
        processing_status: isOver ? "ended" : "in_progress",
        request_counts: isOver ? { ...none, processing: 0, succeeded: total } : none,
        created_at: made,
        expires_at: made,
        ended_at: isOver ? made : null,
        archived_at: null,
        cancel_initiated_at: null,
        results_url: isOver ? `${server.url}/v1/messages/batches/${id}/results` : null,
      };
    }
    const state = !isOver ? "BATCH_STATE_RUNNING" : (faults.state ?? "BATCH_STATE_SUCCEEDED");
    const output = !isOver
      ? undefined
      : batch.isFile
        ? { responsesFile: fileOf(batch, "good", rows.good) }
        : { inlinedResponses: { inlinedResponses: rows.good } };
    return {
      name: id,
      metadata: {
        "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
        model: batch.model,
        displayName: batch.displayName,
        createTime: made,
        updateTime: made,
        state,
        name: id,
        batchStats: { requestCount: String(total), ...(isOver && { successfulRequestCount: String(total) }) },
        ...(output && { output }),
      },
      ...(isOver && { done: true, response: output }),
    };
  }

  function fileOf(batch, kind, rows) {
    const id = batch.provider === "gemini" ? `files/${batch.id.slice(8)}-${kind}` : `file-${batch.id}-${kind}`;
    const garbage = Object.values(batch.faults.rows ?? {}).includes("garbage");
    if (!files.has(id)) files.set(id, { rows, isCut: batch.faults.cut === true, garbage, reads: 0 });
    return id;
  }

  function giveRows(response, file) {
    file.reads += 1;
    const text = file.rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    const bytes = Buffer.from(file.garbage && file.reads === 1 ? text.slice(7) : text);
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": bytes.length });
    if (!file.isCut || file.reads > 1) response.end(bytes);
    else response.write(bytes.subarray(0, bytes.length - 20), () => response.socket.destroy());
    return true;
  }

  const page = async (provider, items, cursor, size) => {
    const from = cursor === null ? 0 : items.findIndex(({ id }) => id === cursor) + 1;
    const data = await Promise.all(items.slice(from, from + size).map((batch) => show(batch, true)));
    return { data, last: items[from + data.length - 1]?.id, has: from + data.length < items.length };
  };

  async function other(request, body, response) {
    const { pathname, searchParams: query } = new URL(request.url, "http://host");
    const { method, headers } = request;
    // Google's SDK asks v1, its documentation v1beta.
    const isGoogle = headers["x-goog-api-key"] !== undefined;
    const path = isGoogle ? pathname.replace(/^(\/upload|\/download)?\/v1\//, "$1/v1beta/") : pathname;
    const provider = path.startsWith("/v1/messages") ? "anthropic" : isGoogle ? "gemini" : "openai";
    if (!/^\/v1\/(files|batches|messages\/batches)|^\/(upload|download)?\/?v1beta\//.test(path)) return false;
    const keyed = headers.authorization ?? headers["x-api-key"] ?? headers["x-goog-api-key"];
    if (!keyed || String(keyed).includes("wrong"))
      return json(response, 401, errorOf(provider, `no such key: ${keyed}`, 401));
    const mine = batches.filter((one) => one.provider === provider).reverse();
    const size = Number(query.get("limit") ?? query.get("pageSize") ?? 20);
    const found = (id) => mine.find((one) => one.id === id);

    if (provider === "openai") {
      const [, , kind, id, what] = path.split("/");
      if (kind === "files" && method === "POST") {
        const form = await new Response(body, { headers: { "content-type": headers["content-type"] } }).formData();
        if (form.get("purpose") !== "batch") return json(response, 400, errorOf(provider, "no purpose", 400));
        const file = next("file-");
        files.set(file, { text: await form.get("file").text(), name: form.get("file").name });
        return json(response, 200, {
          id: file,
          object: "file",
          purpose: "batch",
          bytes: body.length,
          created_at: 1,
          filename: "x.jsonl",
          status: "processed",
        });
      }
      if (kind === "files" && what === "content") return giveRows(response, files.get(id));
      if (kind === "batches" && method === "POST" && id === undefined) {
        const { input_file_id: input, endpoint, metadata, completion_window: window } = JSON.parse(body);
        if (window !== "24h") return json(response, 400, errorOf(provider, "no window", 400));
        const lines = files
          .get(input)
          .text.trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line));
        const wrong = lines.find((line) => line.method !== "POST" || line.url !== endpoint || !line.custom_id);
        if (wrong) return json(response, 400, errorOf(provider, "a wrong line", 400));
        const requests = lines.map((line) => ({ id: line.custom_id, path: line.url, body: line.body }));
        await make(provider, requests, { input, endpoint, metadata }, response);
        return true;
      }
      if (kind === "batches" && id === undefined) {
        const { data, last, has } = await page(provider, mine, query.get("after"), size);
        return json(response, 200, { object: "list", data, first_id: data[0]?.id, last_id: last, has_more: has });
      }
      const batch = found(id);
      if (!batch) return json(response, 404, errorOf(provider, "no such batch", 404));
      if (what === "cancel") batch.cancelled = true;
      return json(response, 200, await show(batch));
    }

    if (provider === "anthropic") {
      const [, , , , id, what] = path.split("/");
      if (method === "POST" && id === undefined) {
        const requests = JSON.parse(body).requests.map((one) => ({
          id: one.custom_id,
          path: "/v1/messages",
          body: one.params,
        }));
        const wrong = requests.find((one) => !/^[\w-]{1,64}$/.test(one.id) || !one.body.max_tokens || one.body.stream);
        if (wrong) return json(response, 400, errorOf(provider, "a wrong request", 400));
        await make(provider, requests, {}, response);
        return true;
      }
      if (id === undefined) {
        const { data, last, has } = await page(provider, mine, query.get("after_id"), size);
        return json(response, 200, { data, first_id: data[0]?.id ?? null, last_id: last ?? null, has_more: has });
      }
      const batch = found(id);
      if (!batch) return json(response, 404, errorOf(provider, "no such batch", 404));
      if (what === "results") {
        giveRows(response, files.get(fileOf(batch, "good", (await rowsOf(batch)).good)));
        return true;
      }
      if (what === "cancel") batch.cancelled = true;
      return json(response, 200, await show(batch));
    }

    if (path === "/upload/v1beta/files") {
      const id = next("u");
      uploads.set(id, JSON.parse(body).file);
      response.writeHead(200, {
        "x-goog-upload-url": `${server.url}/upload/v1beta/put?id=${id}`,
        "x-goog-upload-status": "active",
      });
      return Boolean(response.end()) || true;
    }
    if (path === "/upload/v1beta/put") {
      const name = next("files/in");
      files.set(name, { text: body.toString("utf8") });
      response.setHeader("x-goog-upload-status", "final");
      return json(response, 200, { file: { name, mimeType: uploads.get(query.get("id"))?.mimeType } });
    }
    if (path.startsWith("/download/v1beta/")) {
      return giveRows(response, files.get(path.slice("/download/v1beta/".length).replace(/:download$/, "")));
    }
    const model = /^\/v1beta\/(models\/[^:]+):batchGenerateContent$/.exec(decodeURIComponent(path))?.[1];
    if (method === "POST" && model) {
      const { displayName, inputConfig } = JSON.parse(body).batch;
      const isFile = inputConfig.fileName !== undefined;
      const given = isFile
        ? files
            .get(inputConfig.fileName)
            .text.trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line))
        : inputConfig.requests.requests;
      const single = `/v1beta/${model}:generateContent`;
      const requests = given.map((one) => ({
        id: one.key ?? one.metadata?.key,
        path: single,
        body: one.request,
        inline: !isFile,
      }));
      await make(provider, requests, { displayName, model, isFile }, response);
      return true;
    }
    if (path === "/v1beta/batches") {
      const { data, last, has } = await page(provider, mine, query.get("pageToken"), size);
      return json(response, 200, { operations: data, ...(has && { nextPageToken: last }) });
    }
    const batch = found(path.slice("/v1beta/".length).replace(/:cancel$/, ""));
    if (!batch) return json(response, 404, errorOf(provider, "no such batch", 404));
    if (path.endsWith(":cancel")) batch.cancelled = true;
    return json(response, 200, await show(batch));
  }

  const server = await startServer({ reply, other });
  return Object.assign(server, { batches, asked });
}

/** The row of an answer, in each protocol. */
const ROWS = {
  openai({ id, answer, fault, index }) {
    const row = { id: `batch_req_${index}`, custom_id: id };
    if (fault === "expired") {
      const message = "This request could not be executed before the completion window expired.";
      return { ...row, response: null, error: { code: "batch_expired", message } };
    }
    if (fault === "cancelled")
      return { ...row, response: null, error: { code: "batch_cancelled", message: "Cancelled." } };
    return {
      ...row,
      response: { status_code: answer.status, request_id: `req_${index}`, body: answer.body },
      error: null,
    };
  },
  anthropic({ id, answer, fault }) {
    if (fault === "expired") return { custom_id: id, result: { type: "expired" } };
    if (fault === "cancelled") return { custom_id: id, result: { type: "canceled" } };
    const result =
      answer.status === 200 ? { type: "succeeded", message: answer.body } : { type: "errored", error: answer.body };
    return { custom_id: id, result };
  },
  gemini({ id, inline, answer, fault }) {
    const key = inline ? { metadata: { key: id } } : { key: id };
    if (fault === "expired") return { ...key, error: { code: 4, message: "The deadline passed." } };
    if (fault === "cancelled") return { ...key, error: { code: 1, message: "The operation was cancelled." } };
    if (answer.status === 200) return { ...key, response: answer.body };
    const code = { 400: 3, 503: 14 }[answer.status] ?? 13;
    return { ...key, error: { code, message: answer.body.error?.message ?? "overloaded" } };
  },
};

function errorOf(provider, message, code = 503) {
  if (provider === "anthropic") return { type: "error", error: { type: "api_error", message } };
  if (provider === "gemini") return { error: { code, message, status: "UNAVAILABLE" } };
  return { error: { message, type: "server_error", param: null, code: null } };
}

function json(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
  return true;
}
