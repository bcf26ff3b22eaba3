/** Reads the JSON that Jaeger's API and its page give: traces with their spans, whose attributes are called tags. */

import { type Fields, fieldsOf, id, integer, list, type Moment, type Span, text } from "./otlp.js";
import { unexpected } from "../engine/values.js";

/** Whether an object is an answer of Jaeger's API. */
export function isJaeger({ data }: Fields): boolean {
  const first = Array.isArray(data) ? fieldsOf(data[0]) : undefined;
  return first !== undefined && "traceID" in first && "spans" in first;
}

/** The spans of an answer. */
export function jaegerSpans(answer: Fields, path: string): Span[] {
  const inside = path.includes(": ") ? `${path}.data` : `${path}: data`;
  return list(answer, "data", inside).flatMap(([trace, at]) =>
    list(trace, "spans", `${at}.spans`).map(([span, path]) => spanOf(span, path)),
  );
}

function spanOf(span: Fields, path: string): Span {
  const attributes = tagsOf(span, "tags", path);
  const [traceId, spanId] = [id(span.traceID, `${path}.traceID`), id(span.spanID, `${path}.spanID`)];
  const time = microseconds(span.startTime, `${path}.startTime`);
  const parents = list(span, "references", `${path}.references`).map(([reference]) => reference);
  const parent = parents.find(({ refType }) => refType === "CHILD_OF") ?? parents[0];
  const failed = attributes.get("error") === true || attributes.get("otel.status_code") === "ERROR";
  return {
    path,
    traceId,
    spanId,
    parentId: text(parent?.spanID ?? span.parentSpanID).toLowerCase(),
    name: text(span.operationName),
    scope: text(attributes.get("otel.scope.name") ?? attributes.get("otel.library.name")),
    time,
    end: time + microseconds(span.duration ?? 0, `${path}.duration`),
    attributes,
    error: failed ? text(attributes.get("otel.status_description")) || "the span says no more" : undefined,
    events: list(span, "logs", `${path}.logs`).map(([log, at]): Moment => {
      const fields = tagsOf(log, "fields", at);
      const name = text(fields.get("event"));
      return {
        path: at,
        traceId,
        spanId,
        name,
        time: microseconds(log.timestamp, `${at}.timestamp`),
        attributes: fields,
        body: undefined,
      };
    }),
  };
}

function tagsOf(given: Fields, key: string, path: string): Map<string, unknown> {
  const tags = list(given, key, `${path}.${key}`);
  return new Map(tags.map(([tag, at]) => [text(tag.key), valueOf(tag, at)]));
}

function valueOf({ type, value }: Fields, path: string): unknown {
  return type === "int64" ? integer(value, `${path}.value`) : (value ?? null);
}

function microseconds(given: unknown, path: string): number {
  if (typeof given !== "number" || !(given >= 0)) throw unexpected("microseconds", given, path);
  return given / 1000;
}
