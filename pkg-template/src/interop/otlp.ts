/**
 * Reads OTLP in JSON (opentelemetry-proto, "JSON Protobuf Encoding"), also as Tempo wraps it: export requests of spans and of log records, one
 * or many, as objects, text, or lines of text as the collector's file exporter writes them. O(n) in what is read.
 */

import { closest } from "../closest.js";
import { toBytes } from "../engine/input.js";
import { bytesOf, isObject, unexpected, reading } from "../engine/values.js";
import { stringify } from "../engine/writing.js";
import { JsonLimitError } from "../engine/json.js";
import { AdkMetricsError } from "../errors.js";
import { MAX_DEPTH } from "../generated/limits.js";
import { integerIn, integerOf, parseExactly } from "./integers.js";
import { isJaeger, jaegerSpans } from "./jaeger.js";
import { definedProperties } from "../lists.js";

/** Where something is in the input; the line is known for lines of JSON. */
export interface Place {
  path: string;
  line?: number;
}

/** A span, or a log record, with its attributes as JavaScript values. */
export interface Item extends Place {
  traceId: string;
  spanId: string;
  attributes: ReadonlyMap<string, unknown>;
  /** Milliseconds since 1970. */
  time: number;
}

/** What happened at a moment: a log record, or an event of a span. */
export interface Moment extends Item {
  name: string;
  body: unknown;
}

/** A span. */
export interface Span extends Item {
  parentId: string;
  name: string;
  /** The name of the instrumentation. */
  scope: string;
  end: number;
  /** Why it failed; absent if it did not. */
  error: string | undefined;
  events: Moment[];
}

/** All spans and log records of an input; of spans sent twice the first. */
export interface Telemetry {
  spans: Span[];
  logs: Moment[];
}

/** JSON objects, whatever they hold. */
export type Fields = Readonly<Record<string, unknown>>;

const NAME = "traces";
const STATUS_ERROR = 2;

/** An error about a place of the input. */
export function wrong({ path, line }: Place, message: string, help: string): AdkMetricsError {
  return new AdkMetricsError("invalid_input", message, { path, ...definedProperties({ line }), help });
}

/** A value as an object; nothing for arrays and everything else. */
export function fieldsOf(value: unknown): Fields | undefined {
  return isObject(value) && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The beginning of an input as text. */
function beginningOf(input: unknown): string {
  if (typeof input === "string") return input.slice(0, 1000);
  if (!ArrayBuffer.isView(input)) return "";
  return new TextDecoder().decode(bytesOf(input, NAME)?.subarray(0, 1000));
}

/** How OTLP begins, the answers of Tempo, and those of Jaeger. */
const BEGINNING =
  /^\uFEFF?\s*(?:\[\s*)?(?:\{\s*"(?:trace|result)"\s*:\s*)?\{\s*"(?:resource_?(?:Span|Log|Metric)s"|batches"\s*:|data"\s*:\s*\[\s*\{\s*"traceID")/i;

/**
 * Whether an input is OTLP in JSON, by its first words or keys; nothing else of it is read.
 *
 * @example
 * isTraces('{"resourceSpans":[]}'); // true
 */
export function isTraces(input: unknown): boolean {
  return reading("input", () => looksLikeTraces(input));
}

function looksLikeTraces(input: unknown): boolean {
  if (!isObject(input)) return BEGINNING.test(beginningOf(input));
  const given = fieldsOf(Array.isArray(input) ? input[0] : input);
  if (given === undefined) return false;
  const first = unwrapped(given, "").request;
  return isJaeger(first) || ["resourceSpans", "resourceLogs", "resourceMetrics", "batches"].some((key) => key in first);
}

/** @throws {AdkMetricsError} `invalid_json`, `invalid_input` or `limit_exceeded` with the place. */
export function readTelemetry(input: unknown): Telemetry {
  const telemetry: Telemetry = { spans: [], logs: [] };
  const reader = new Reader(telemetry);
  const text = isObject(input) ? stringify(input, NAME) : textOf(input);
  const whole = attempt(text);
  if (Array.isArray(whole)) whole.forEach((request, at) => reader.request(request, `${NAME}: [${at}]`));
  else if (whole !== undefined) reader.request(whole, NAME);
  else readLines(text.split("\n"), reader);
  return telemetry;
}

/** @throws {AdkMetricsError} also with the line. */
function readLines(lines: readonly string[], reader: Reader): void {
  for (const [at, text] of lines.entries()) {
    if (text.trim() === "") continue;
    const line = at + 1;
    const request = attempt(text, line);
    if (request === undefined) {
      const isBegun = /^\s*[[{]/.test(text);
      const isLast = lines.slice(line).every((rest) => rest.trim() === "");
      throw new AdkMetricsError("invalid_json", "the traces are neither JSON nor JSON lines", {
        path: NAME,
        line,
        help:
          at > 0 && isLast ? "The last line may have been cut off" : isBegun ? "Is the file complete?" : NOT_PROTOBUF,
      });
    }
    try {
      reader.request(request, NAME, line);
    } catch (error) {
      if (!(error instanceof AdkMetricsError)) throw error;
      const { code, message, path = NAME, help } = error;
      throw new AdkMetricsError(code, message, { path, line, ...definedProperties({ help }) });
    }
  }
}

const NOT_PROTOBUF = "Export them as OTLP/JSON, not as protocol buffers";

function textOf(input: unknown): string {
  const bytes = toBytes(input, NAME);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AdkMetricsError("invalid_json", "the traces are not text in UTF-8", {
      path: NAME,
      help: NOT_PROTOBUF,
      cause,
    });
  }
}

/** @throws {AdkMetricsError} `limit_exceeded` for a line that exceeds a limit. All lines together may. */
function attempt(text: string, line?: number): unknown {
  try {
    return parseExactly(text);
  } catch (cause) {
    if (line === undefined || !(cause instanceof JsonLimitError)) return undefined;
    throw new AdkMetricsError("limit_exceeded", cause.message, { path: NAME, line, cause });
  }
}

/** What Tempo and Jaeger put around the traces that they give. */
const WRAPPERS = ["trace", "result"];

function unwrapped(given: Fields, path: string): { request: Fields; path: string } {
  for (const key of WRAPPERS) {
    const inner = fieldsOf(given[key]);
    if (inner !== undefined) return { request: inner, path: insideOf(path, key) };
  }
  return { request: given, path };
}

function insideOf(path: string, key: string): string {
  return path.includes(": ") ? `${path}.${key}` : `${path}: ${key}`;
}

class Reader {
  readonly #telemetry: Telemetry;
  readonly #seen = new Set<string>();
  #location: { line?: number } = {};

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  request(given: unknown, at: string, line?: number): void {
    this.#location = line === undefined ? {} : { line };
    const { request, path } = unwrapped(
      required(given, at, "an export request with `resourceSpans` or `resourceLogs`"),
      at,
    );
    const inside = (key: string) => insideOf(path, key);
    if (isJaeger(request)) {
      for (const span of jaegerSpans(request, path)) this.#keep({ ...span, ...this.#location });
      return;
    }
    for (const key of ["resourceSpans", "resourceLogs"]) refuseMisspelt(request, key, path);
    for (const [resource, place] of list(request, "batches", inside("batches"))) this.#resource(resource, place);
    if (!(
      "batches" in request ||
      "resourceSpans" in request ||
      "resourceLogs" in request ||
      "resourceMetrics" in request
    )) {
      const help = "Pass OTLP/JSON, as an OTLP exporter or the collector's file exporter writes it";
      throw wrong({ path }, "found neither `resourceSpans` nor `resourceLogs`", help);
    }
    for (const [resource, containerPath] of list(request, "resourceSpans", inside("resourceSpans"))) {
      this.#resource(resource, containerPath);
    }
    for (const [resource, at] of list(request, "resourceLogs", inside("resourceLogs"))) {
      refuseMisspelt(resource, "scopeLogs", at);
      for (const [scoped, spanPath] of list(resource, "scopeLogs", `${at}.scopeLogs`)) {
        refuseMisspelt(scoped, "logRecords", spanPath);
        for (const [log, where] of list(scoped, "logRecords", `${spanPath}.logRecords`)) {
          this.#telemetry.logs.push({ ...momentOf(log, where, log), ...this.#location });
        }
      }
    }
  }

  /** The spans of a resource; scopes had another name before, which Tempo still writes. */
  #resource(resource: Fields, path: string): void {
    refuseMisspelt(resource, "scopeSpans", path);
    for (const key of ["scopeSpans", "instrumentationLibrarySpans"]) {
      for (const [scoped, containerPath] of list(resource, key, `${path}.${key}`)) {
        refuseMisspelt(scoped, "spans", containerPath);
        const scope = text(fieldsOf(scoped.scope ?? scoped.instrumentationLibrary)?.name);
        for (const [span, where] of list(scoped, "spans", `${containerPath}.spans`)) this.#span(span, where, scope);
      }
    }
  }

  #keep(span: Span): void {
    const key = `${span.traceId} ${span.spanId}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#telemetry.spans.push(span);
  }

  #span(span: Fields, path: string, scope: string): void {
    const traceId = id(span.traceId, `${path}.traceId`);
    const spanId = id(span.spanId, `${path}.spanId`);
    const time = moment(span.startTimeUnixNano, `${path}.startTimeUnixNano`);
    const events = list(span, "events", `${path}.events`);
    const status = fieldsOf(span.status) ?? {};
    const failed = status.code === STATUS_ERROR || status.code === "STATUS_CODE_ERROR";
    this.#keep({
      path,
      ...this.#location,
      traceId,
      spanId,
      scope,
      time,
      parentId: idIn(text(span.parentSpanId)),
      name: text(span.name),
      end: Math.max(time, moment(span.endTimeUnixNano, `${path}.endTimeUnixNano`)),
      attributes: attributesOf(span, path),
      error: failed ? text(status.message) || "the span says no more" : undefined,
      events: events.map(([event, where]) => ({ ...momentOf(event, where, span), ...this.#location })),
    });
  }
}

/** The attributes that name a log record where it has no field for that. */
const EVENT_NAMES = ["event.name", "otel.event.name"];

/** A log record, or an event of a span. */
function momentOf(given: Fields, path: string, of: Fields): Moment {
  const attributes = attributesOf(given, path);
  const name =
    [given.eventName, given.name, ...EVENT_NAMES.map((key) => attributes.get(key))].map(text).find(Boolean) ?? "";
  // 0 means an unknown time.
  const happened = [given.timeUnixNano, given.observedTimeUnixNano].find((one) => Number(one ?? 0) !== 0);
  const time = moment(happened ?? 0, `${path}.timeUnixNano`);
  const body = given.body === undefined ? undefined : valueOf(given.body, `${path}.body`, 0);
  const [traceId, spanId] = [idIn(text(of.traceId)), idIn(text(of.spanId))];
  return { path, traceId, spanId, name, time, attributes, body };
}

function attributesOf(given: Fields, path: string): Map<string, unknown> {
  return new Map(entriesOf(given, "attributes", `${path}.attributes`, 0));
}

function entriesOf(given: Fields, key: string, path: string, depth: number): [string, unknown][] {
  return list(given, key, path).map(([entry, at]) => [text(entry.key), valueOf(entry.value, `${at}.value`, depth)]);
}

/** The value of an `AnyValue`. */
function valueOf(given: unknown, path: string, depth: number): unknown {
  if (depth > MAX_DEPTH) {
    throw new AdkMetricsError("limit_exceeded", `nested more than ${MAX_DEPTH} levels deep`, {
      path: `${path.slice(0, 200)}…`,
    });
  }
  if (given === undefined || given === null) return null;
  const value = required(given, path, "a value such as `{ stringValue }`");
  if (value.intValue !== undefined) return integer(value.intValue, `${path}.intValue`);
  if (value.arrayValue !== undefined) {
    const array = required(value.arrayValue, `${path}.arrayValue`, "an object with `values`");
    const values = array.values ?? [];
    if (!Array.isArray(values)) throw unexpected("an array", values, `${path}.arrayValue.values`);
    // Some exporters write null where a list holds nothing.
    return values.map((item, at) => valueOf(item, `${path}.arrayValue.values[${at}]`, depth + 1));
  }
  if (value.kvlistValue !== undefined) {
    const entries = required(value.kvlistValue, `${path}.kvlistValue`, "an object with `values`");
    // Unlike an assignment this makes an own property of any key, `__proto__` included.
    return Object.fromEntries(entriesOf(entries, "values", `${path}.kvlistValue.values`, depth + 1));
  }
  const bytes = value.bytesValue;
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? bytes ?? null;
}

export function integer(given: unknown, path: string): unknown {
  if (typeof given === "number" || integerIn(given) !== undefined) return given;
  if (typeof given !== "string" || !/^-?\d+$/.test(given)) throw unexpected("an integer", given, path);
  return integerOf(given);
}

export function required(given: unknown, path: string, what: string): Fields {
  const fields = fieldsOf(given);
  if (fields === undefined) throw unexpected(what, given, path);
  return fields;
}

export function list(given: Fields, key: string, path: string): [Fields, string][] {
  const items = given[key] ?? [];
  if (!Array.isArray(items)) throw unexpected("an array", items, path);
  return items.map((item, at) => [required(item, `${path}[${at}]`, "an object"), `${path}[${at}]`]);
}

/** @throws {AdkMetricsError} if the key is not there, but one that resembles it: what is under it would be lost. */
function refuseMisspelt(given: Fields, key: string, path: string): void {
  const found = key in given ? undefined : closest(key, Object.keys(given).slice(0, 64));
  if (found !== undefined) throw wrong({ path }, `\`${found}\` is not a key of OTLP`, `Did you mean \`${key}\`?`);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function id(given: unknown, path: string): string {
  if (typeof given !== "string" || given === "") throw unexpected("an id in hexadecimal digits", given, path);
  return idIn(given);
}

/** How long ids of spans and traces are in base 64, in which the JSON of protocol buffers has them, as Tempo does. */
const BASE64_LENGTHS = [12, 24];

/** An id in hexadecimal digits, which are what tools show. */
function idIn(given: string): string {
  if (!BASE64_LENGTHS.includes(given.length) || !/^[A-Za-z0-9+/]*={1,2}$/.test(given)) return given.toLowerCase();
  try {
    return Array.from(atob(given), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  } catch {
    return given;
  }
}

/** Nanoseconds since 1970, which are too many for a number, as milliseconds. */
function moment(given: unknown, path: string): number {
  const digits = integerIn(given) ?? given;
  const isTime = typeof digits === "number" ? digits >= 0 : typeof digits === "string" && /^\d{1,20}$/.test(digits);
  if (!isTime) throw unexpected("nanoseconds since 1970", given, path);
  return Number(digits) / 1e6;
}
