/** Changes JSON as text, so that everything else stays as it is written, including every digit of numbers. */

import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  type JSONPath,
  modify,
  type Node,
  parseTree,
} from "jsonc-parser";
import { AdkMetricsError } from "adk-metrics/web";
import { uniqueName } from "../ui/unique.js";

const formattingOptions = { insertSpaces: true, tabSize: 2, eol: "\n" };

export function parsed(text: string): Node {
  const root = parseTree(text);
  if (root === undefined) throw new AdkMetricsError("invalid_json", "the evalset is not JSON");
  return root;
}

export function nodeAt(root: Node | undefined, ...path: JSONPath): Node | undefined {
  return root === undefined ? undefined : findNodeAtLocation(root, path);
}

export function textAt(root: Node, ...path: JSONPath): string {
  const node = nodeAt(root, ...path);
  return node?.type === "string" ? (getNodeValue(node) as string) : "";
}

/** A value as it is written in the text. */
export function sourceOf(text: string, { offset, length }: Node): string {
  return text.slice(offset, offset + length);
}

/** A value as it is written in the text, without the indentation of its nesting. */
export function dedentedTextOf(text: string, node: Node): string {
  const lines = sourceOf(text, node).split("\n");
  // JSON strings cannot contain line breaks, so every line starts between values.
  const depth = lines
    .slice(1)
    .reduce((least, line) => Math.min(least, line.length - line.trimStart().length), Number.POSITIVE_INFINITY);
  return lines.map((line, at) => (at === 0 ? line : line.slice(depth))).join("\n");
}

/** @param value The new value; undefined removes the property or item. */
export function withValue(text: string, path: JSONPath, value: unknown): string {
  return applyEdits(text, modify(text, path, value, { formattingOptions }));
}

export function without(text: string, path: JSONPath): string {
  return nodeAt(parsed(text), ...path) === undefined ? text : withValue(text, path, undefined);
}

export function withInsertion(text: string, path: JSONPath, value: unknown): string {
  return applyEdits(text, modify(text, path, value, { formattingOptions, isArrayInsertion: true }));
}

/** Inserts JSON verbatim: a placeholder is inserted first, then replaced. */
export function withRaw(text: string, path: JSONPath, json: string, isInsertion = false): string {
  const placeholder = `\u0000${uniqueName()}`;
  const withPlaceholder = isInsertion ? withInsertion(text, path, placeholder) : withValue(text, path, placeholder);
  return withPlaceholder.replace(JSON.stringify(placeholder), () => json);
}
