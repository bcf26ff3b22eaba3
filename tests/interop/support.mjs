// The package under test, traces of real agents, and helpers for writing traces.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export * from "../../pkg/dist/esm/interop.js";
export { AdkMetricsError, EvalStatus, evaluate, RougeEvaluator, TrajectoryEvaluator } from "../../pkg/dist/esm/node.js";

const folder = new URL("traces/", import.meta.url);
export const file = (name) => fileURLToPath(new URL(name, folder));
export const bytesOf = (name) => readFileSync(file(name));

/** The error that something throws. */
export function errorOf(act) {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

/** A JavaScript value as OTLP writes it. */
function anyValue(value) {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (Number.isInteger(value)) return { intValue: String(value) };
  if (typeof value === "number") return { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  if (value === null) return {};
  return { kvlistValue: { values: attributesOf(value) } };
}

const attributesOf = (bag) => Object.entries(bag).map(([key, value]) => ({ key, value: anyValue(value) }));

/** A span: its id and that of its parent, when it began and ended in milliseconds, its attributes, and more. */
export function span(id, parent, [from, to], attributes, more = {}) {
  return {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: id,
    ...(parent === undefined ? {} : { parentSpanId: parent }),
    name: id,
    startTimeUnixNano: `${1700000000000 + from}000000`,
    endTimeUnixNano: `${1700000000000 + to}000000`,
    attributes: attributesOf(attributes),
    ...more,
  };
}

/** A log record about a span. */
export function log(spanId, eventName, attributes, body, more = {}) {
  return {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId,
    eventName,
    timeUnixNano: "1700000000000000000",
    attributes: attributesOf(attributes),
    ...(body === undefined ? {} : { body: anyValue(body) }),
    ...more,
  };
}

/** An export request of these spans and log records. */
export function request(spans, logs = []) {
  return {
    resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: "test" }, spans }] }],
    ...(logs.length === 0 ? {} : { resourceLogs: [{ scopeLogs: [{ logRecords: logs }] }] }),
  };
}

export const text = (content) => ({ type: "text", content });
export const message = (role, ...parts) => ({ role, parts });
export const agent = (name, more = {}) => ({
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.agent.name": name,
  ...more,
});
/** The attributes of a model's call: what it was told and what it answered. */
export const chat = (input, output, more = {}) => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "m",
  "gen_ai.input.messages": JSON.stringify(input),
  "gen_ai.output.messages": JSON.stringify(output),
  ...more,
});
export const tool = (name, more = {}) => ({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": name,
  ...more,
});

/** The calls and responses of an invocation, the texts on the way, and its answer. */
export function told({ intermediateData, finalResponse }) {
  const parts = intermediateData.invocationEvents.flatMap(({ content }) => content?.parts ?? []);
  return {
    calls: parts.flatMap(({ functionCall }) => (functionCall ? [[functionCall.name, functionCall.args]] : [])),
    responses: parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse.response] : [])),
    answer: finalResponse?.parts.map((part) => part.text).join("\n"),
  };
}
