/** The expected tool calls of a turn, which are in `tool_uses` or in `invocation_events`, and changes of them. */

import { AdkMetricsError } from "adk-metrics/web";
import type { JSONPath, Node } from "jsonc-parser";
import { nodeAt, parsed, sourceOf, textAt, withInsertion, withRaw, withValue } from "./json-text.js";
import type { CallEdit, EditableCall } from "./protocol-edit.js";

export function callsOf(text: string, intermediateData: Node | undefined): EditableCall[] {
  return pathsOf(intermediateData).map((path) => {
    const call = nodeAt(intermediateData, ...path) as Node;
    const args = nodeAt(call, "args")?.children ?? [];
    return {
      name: textAt(call, "name"),
      args: args.flatMap(({ children: [key, value] = [] }) =>
        key === undefined || value === undefined ? [] : [{ key: String(key.value), json: sourceOf(text, value) }],
      ),
    };
  });
}

/** Where calls are. */
function pathsOf(intermediateData: Node | undefined): JSONPath[] {
  const uses = nodeAt(intermediateData, "tool_uses")?.children ?? [];
  const events = nodeAt(intermediateData, "invocation_events")?.children ?? [];
  return [
    ...uses.flatMap((use, at) => (use.type === "object" ? [["tool_uses", at]] : [])),
    ...events.flatMap((event, at) =>
      (nodeAt(event, "content", "parts")?.children ?? []).flatMap((part, index) =>
        nodeAt(part, "function_call")?.type === "object"
          ? [["invocation_events", at, "content", "parts", index, "function_call"]]
          : [],
      ),
    ),
  ];
}

/** @param path Where the turn's intermediate data is. */
export function withCallEdit(text: string, path: JSONPath, edit: CallEdit): string {
  const data = nodeAt(parsed(text), ...path);
  if (edit.kind === "addCall") return withCall(text, path, data, edit.name);
  const paths = pathsOf(data);
  const own = paths[edit.call];
  if (own === undefined) throw new RangeError("The turn has no such call.");
  const place = [...path, ...own];
  switch (edit.kind) {
    case "tool":
      if (edit.name.trim() === "") throw new AdkMetricsError("invalid_input", "a tool call needs the name of a tool");
      return withValue(text, [...place, "name"], edit.name);
    case "argument":
      return withArgument(text, [...place, "args"], edit.key, edit.json);
    case "removeCall":
      return withoutCall(text, path, own);
    case "moveCall": {
      const before = paths[edit.call - 1];
      if (before === undefined) return text;
      const [first, second] = [before, own].map((one) => sourceOf(text, nodeAt(data, ...one) as Node));
      return withRaw(withRaw(text, place, first ?? ""), [...path, ...before], second ?? "");
    }
  }
}

function withCall(text: string, path: JSONPath, data: Node | undefined, name: string): string {
  const call = { name, args: {} };
  if (data === undefined || data.type !== "object") return withValue(text, path, { tool_uses: [call] });
  const events = nodeAt(data, "invocation_events");
  if (events?.type !== "array") {
    const uses = nodeAt(data, "tool_uses");
    if (uses?.type !== "array") return withValue(text, [...path, "tool_uses"], [call]);
    return withInsertion(text, [...path, "tool_uses", uses.children?.length ?? 0], call);
  }
  const authors = (events.children ?? []).map((event) => textAt(event, "author")).filter((author) => author !== "");
  const content = { parts: [{ function_call: call }], role: "model" };
  const event = { author: authors.at(-1) ?? "agent", content };
  return withInsertion(text, [...path, "invocation_events", events.children?.length ?? 0], event);
}

/** An event with nothing left is removed with its last call. */
function withoutCall(text: string, path: JSONPath, own: JSONPath): string {
  const [list, at] = own as [string, number];
  if (list === "tool_uses") return withValue(text, [...path, list, at], undefined);
  const parts = nodeAt(parsed(text), ...path, ...own.slice(0, 4))?.children ?? [];
  return withValue(text, [...path, ...own.slice(0, parts.length === 1 ? 2 : 5)], undefined);
}

function withArgument(text: string, path: JSONPath, key: string, json: string): string {
  if (key === "") throw new AdkMetricsError("invalid_input", "an argument needs a name");
  const args = nodeAt(parsed(text), ...path);
  if (json.trim() === "") {
    return nodeAt(args, key) === undefined ? text : withValue(text, [...path, key], undefined);
  }
  try {
    JSON.parse(json);
  } catch {
    throw new AdkMetricsError("invalid_json", `the argument \`${key}\` is no JSON value: ${json}`, {
      help: "Write a number, true, false, a text in quotes, a list or an object",
    });
  }
  if (args?.type === "object") return withRaw(text, [...path, key], json);
  return withRaw(text, path, `{${JSON.stringify(key)}: ${json}}`);
}
