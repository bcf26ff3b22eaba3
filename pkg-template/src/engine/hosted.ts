/**
 * Invocations as hosts see them: one shape, whatever came in. Records of ADK's have their keys in camelCase, fields that
 * are `null` are absent, and `intermediateData` has `toolUses`, also where it has events. Names that are not ADK's (arguments
 * of tools, their responses, agents) stay as they are.
 *
 * Nothing is changed in place: a value that has the shape comes back as it is, so that a caller recognises its objects.
 * O(n) in what is looked at.
 */

import { toolCallsOf } from "../invocation.js";
import type { FunctionCall, IntermediateData, Invocation } from "../types.js";
import { isObject } from "./values.js";
import { snakeOf } from "./spelling.js";

/** What a value looks like: anything, a record, a list, an object with names of others, or names of Google's throughout. */
type Shape = null | "names" | { readonly list: Shape } | { readonly map: Shape } | RecordShape;

/** A record: its keys in camelCase, and what their values look like. Other keys may be there too. */
interface RecordShape {
  readonly fields: ReadonlyMap<string, Shape>;
  /** The keys by their other spelling, where that differs. */
  readonly camelOf: ReadonlyMap<string, string>;
}

function record(shapes: Readonly<Record<string, Shape>>, ...keys: readonly string[]): RecordShape {
  const fields = new Map([...keys.map((key) => [key, null] as const), ...Object.entries(shapes)]);
  const camelOf = new Map([...fields.keys()].map((key) => [snakeOf(key), key]));
  for (const key of fields.keys()) if (camelOf.get(key) === key) camelOf.delete(key);
  return { fields, camelOf };
}

const INVOCATION = /* @__PURE__ */ invocationShape();

function invocationShape(): RecordShape {
  const blob = record({}, "data", "displayName", "fileUri", "mimeType");
  const part = record(
    {
      functionCall: record({}, "id", "name", "args"),
      functionResponse: record({}, "id", "name", "response", "willContinue"),
      inlineData: blob,
      fileData: blob,
      videoMetadata: "names",
    },
    ...["text", "thought", "thoughtSignature", "codeExecutionResult", "executableCode", "mediaResolution"],
  );
  const content = record({ parts: { list: part } }, "role");
  const event = record({ content, usageMetadata: "names", groundingMetadata: "names" }, ...["author", "modelVersion"]);
  const intermediateData = record({
    toolUses: { list: part.fields.get("functionCall") ?? null },
    toolResponses: { list: part.fields.get("functionResponse") ?? null },
    intermediateResponses: { list: { list: { list: part } } },
    invocationEvents: { list: event },
  });
  const agent = record({}, "name", "instructions", "toolDeclarations");
  const rubric = record({ rubricContent: record({}, "textProperty") }, "rubricId", "description", "type");
  return record(
    {
      userContent: content,
      finalResponse: content,
      intermediateData,
      rubrics: { list: rubric },
      appDetails: record({ agentDetails: { map: agent } }),
    },
    ...["invocationId", "creationTimestamp", "duration", "modelDuration", "toolDuration"],
  );
}

/**
 * An invocation in either spelling, or a mixture, as hosts see it.
 *
 * @throws What getters of the caller's throw, and `TypeError` for an object that is written as JSON by a `toJSON`.
 */
export function hosted(invocation: object): Invocation {
  const shaped = (fits(INVOCATION, invocation) ? invocation : shapedAs(INVOCATION, invocation)) as Invocation;
  const { intermediateData } = shaped;
  if (!isObject(intermediateData) || Array.isArray(intermediateData.toolUses)) return shaped;
  return { ...shaped, intermediateData: withToolUses({ ...intermediateData }) };
}

/**
 * Gives what happened in a turn its calls as `toolUses`. Neither JSON nor copies nor comparisons see it there, since files
 * have either the one or the other.
 */
export function withToolUses(data: Omit<IntermediateData, "toolUses">): IntermediateData {
  return Object.defineProperty(data, "toolUses", TOOL_USES) as IntermediateData;
}

const TOOL_USES: PropertyDescriptor = {
  get(this: IntermediateData): FunctionCall[] {
    const { invocationEvents } = this;
    return toolCallsOf({ userContent: {}, intermediateData: { invocationEvents: invocationEvents ?? [] } });
  },
  enumerable: false,
  configurable: true,
};

/** Whether a value surely comes back as it is. Makes nothing, since most values do. */
function fits(shape: Shape, value: unknown): boolean {
  if (shape === null || typeof value !== "object" || value === null) return true;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  if (Array.isArray(value)) {
    const item = shape === "names" ? shape : "list" in shape ? shape.list : null;
    return item === null || value.every((one) => fits(item, one));
  }
  if (shape !== "names" && "list" in shape) return true;
  for (const key of Object.keys(value)) {
    const part = (value as Record<string, unknown>)[key];
    if (shape === "names") {
      if (part === null || key.includes("_") || !fits(shape, part)) return false;
    } else if ("map" in shape) {
      if (!fits(shape.map, part)) return false;
    } else {
      const of = shape.fields.get(key);
      if (shape.camelOf.has(key) || (of !== undefined && (part === null || !fits(of, part)))) return false;
    }
  }
  return true;
}

function shapedAs(shape: Shape, value: unknown): unknown {
  if (shape === null || !isObject(value)) return value;
  if (shape === "names") return named(value);
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") throw new TypeError("it has its own toJSON");
  if ("list" in shape) return Array.isArray(value) ? listOf(value, (item) => shapedAs(shape.list, item)) : value;
  if (Array.isArray(value)) return value;
  return "map" in shape
    ? objectOf(value, (key, item) => [key, shapedAs(shape.map, item)])
    : objectOf(value, (key, item) => fieldOf(shape, key, item));
}

function fieldOf(
  { fields, camelOf }: RecordShape,
  key: string,
  value: unknown,
): readonly [string, unknown] | undefined {
  const name = camelOf.get(key) ?? key;
  const shape = fields.get(name);
  if (shape === undefined) return [key, value];
  return value === null ? undefined : [name, shapedAs(shape, value)];
}

/** A value of Google's, all of whose keys are names of fields. */
function named(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return listOf(value, named);
  return objectOf(value, (key, item) =>
    item === null
      ? undefined
      : [key.replace(/_+([a-z0-9]?)/g, (all, letter: string) => letter.toUpperCase() || all), named(item)],
  );
}

/** A list with other items, or the list itself if all are the same. */
function listOf(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  const items = list.map(change);
  return items.every((item, at) => item === list[at]) ? list : items;
}

/** An object with other entries, or the object itself if all are the same. */
function objectOf(
  object: object,
  change: (key: string, value: unknown) => readonly [string, unknown] | undefined,
): object {
  let isSame = true;
  const entries = Object.entries(object).flatMap(([key, value]) => {
    const entry = change(key, value);
    isSame &&= entry !== undefined && entry[0] === key && entry[1] === value;
    return entry === undefined ? [] : [entry];
  });
  return isSame ? object : (Object.fromEntries(entries) as object);
}
