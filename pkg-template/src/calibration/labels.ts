/** Reads the labels that people gave: from CSV, JSON, lines of JSON, or a list of objects. */

import { closest } from "../closest.js";
import { parseJson } from "../engine/json.js";
import { isBytes, isObject, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { looksLike } from "../looks-like.js";
import { readCsv } from "./csv.js";
import type { Label, LabelsInput } from "./types.js";
import { definedProperties } from "../lists.js";

/** A label as it was read, not yet looked at. */
export interface LabelRow {
  line?: number;
  /** Which one, counted from 1. */
  at: number;
  fields: Readonly<Partial<Record<LabelField, unknown>>>;
  /** Why it cannot be used, whatever the results are. */
  problem?: AdkMetricsError;
}

type LabelField = keyof Label;

/** The names of columns and keys, in lower case and without anything but letters. */
const NAMES: Readonly<Record<LabelField, readonly string[]>> = {
  evalId: ["case", "evalid", "caseid", "evalcase"],
  metricName: ["metric", "metricname"],
  rubricId: ["rubric", "rubricid"],
  turn: ["turn"],
  run: ["run"],
  evalSetId: ["evalset", "evalsetid"],
  label: ["label"],
  annotator: ["annotator"],
  chosen: ["chosen"],
  comment: ["comment", "comments"],
};

const REQUIRED = ["evalId", "metricName", "label"] as const;

const HELP =
  "Labels are rows of CSV with the columns case, turn, metric, rubric and label, or JSON objects with these keys";

/**
 * The labels of a text or a list.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything without labels, or without a column that each needs.
 */
export function rowsOf(input: LabelsInput): LabelRow[] {
  if (Array.isArray(input)) return rowsIn(input);
  const given: unknown = input;
  if (typeof given !== "string" && !isBytes(given)) throw unexpected("CSV, JSON or a list of labels", given, "labels");
  const text = (typeof given === "string" ? given : new TextDecoder().decode(given)).replace(/^\uFEFF/, "");
  const start = text.trimStart()[0];
  if (start === undefined) throw unusable("there are no labels: the file is empty", 1, HELP);
  if (start === "[") return rowsIn(parsed(text, 1) as readonly unknown[]);
  if (start === "{") return linesOf(text);
  return csvRows(text);
}

const QUOTES = 'Put the whole cell between quotes, and write a quote inside it twice: "He said ""yes"" to it"';

function unusable(message: string, line: number | undefined, help: string): AdkMetricsError {
  return new AdkMetricsError("invalid_input", message, {
    path: "labels",
    ...definedProperties({ line }),
    help,
  });
}

function parsed(text: string, line: number): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new AdkMetricsError("invalid_json", `the labels are not JSON: ${(cause as Error).message}`, {
      path: "labels",
      line,
      help: HELP,
      cause,
    });
  }
}

/** Lines of JSON; a single object may have the list under `labels`. */
function linesOf(text: string): LabelRow[] {
  let whole: { labels?: unknown };
  try {
    whole = parseJson(text) as { labels?: unknown };
  } catch {
    const lines = text.split("\n").flatMap((one, at) => (one.trim() === "" ? [] : [{ line: at + 1, text: one }]));
    return rowsIn(
      lines,
      ({ line }) => line,
      ({ line, text: one }) => parsed(one, line),
    );
  }
  if (Array.isArray(whole.labels)) return rowsIn(whole.labels);
  const other = looksLike(whole);
  if (other !== "") throw unusable("the file contains no labels", 1, other + HELP);
  return rowsIn([whole], () => 1);
}

/**
 * The labels of a list.
 *
 * @throws {AdkMetricsError} if none of them is one: then the list is something else.
 */
function rowsIn<T>(list: readonly T[], lineOf?: (item: T) => number, read: (item: T) => unknown = (item) => item) {
  if (list.length === 0) throw unusable("there are no labels: the list is empty", undefined, HELP);
  const rows = list.map((item, at): LabelRow => {
    const line = lineOf?.(item);
    const place = { ...definedProperties({ line }), at: at + 1 };
    try {
      return { ...place, fields: fieldsIn(read(item), at, line) };
    } catch (problem) {
      if (!(problem instanceof AdkMetricsError)) throw problem;
      return { ...place, fields: {}, problem };
    }
  });
  const [first] = rows;
  if (first?.problem !== undefined && rows.every(({ problem }) => problem !== undefined)) throw first.problem;
  return rows;
}

function fieldsIn(item: unknown, at: number, line: number | undefined): LabelRow["fields"] {
  if (!isObject(item) || Array.isArray(item)) throw unexpected("a label, which is an object", item, `labels[${at}]`);
  const keys = Object.keys(item);
  const found = fieldsOf(keys);
  refuseUnread("key", found, keys, line);
  const values = item as Record<string, unknown>;
  return Object.fromEntries([...found].map(([field, index]) => [field, values[keys[index] as string]]));
}

function csvRows(text: string): LabelRow[] {
  const [header, ...rows] = readCsv(text, (line) =>
    unusable("a cell begins with a quote that does not end it, so what follows cannot be read", line, QUOTES),
  );
  const columns = header?.cells.map((name) => name.trim()) ?? [];
  const found = fieldsOf(columns);
  refuseUnread("column", found, columns, header?.line ?? 1);
  if (rows.length === 0)
    throw unusable("there are no labels: the file contains only the column names", header?.line, HELP);
  return rows.map(({ line, cells }, at) => ({
    line,
    at: at + 1,
    fields: Object.fromEntries([...found].map(([field, index]) => [field, cells[index]?.trim() ?? ""])),
  }));
}

/** Where each field is among names. */
function fieldsOf(names: readonly string[]): Map<LabelField, number> {
  const plain = names.map((name) => name.toLowerCase().replace(/[^a-z]/g, ""));
  const fields = (Object.keys(NAMES) as LabelField[]).map((field): [LabelField, number] => [
    field,
    plain.findIndex((name) => NAMES[field].includes(name)),
  ]);
  return new Map(fields.filter(([, index]) => index >= 0));
}

/** @throws {AdkMetricsError} `invalid_input` if a field is missing that each label needs, or is misspelt. */
function refuseUnread(
  what: string,
  found: ReadonlyMap<LabelField, number>,
  names: readonly string[],
  line: number | undefined,
): void {
  const used = new Set(found.values());
  const others = names.filter((name, index) => name !== "" && !used.has(index));
  for (const field of Object.keys(NAMES) as LabelField[]) {
    if (found.has(field)) continue;
    const meant = NAMES[field].map((name) => closest(name, others)).find((name) => name !== undefined);
    const name = NAMES[field][0] as string;
    const message = `${what === "key" ? "the label has" : "the labels have"} no ${what} \`${name}\``;
    if (meant !== undefined) throw unusable(message, line, `Did you mean \`${name}\` instead of \`${meant}\`?`);
    // One of several objects may have no label yet.
    if (REQUIRED.some((one) => one === field) && !(what === "key" && field === "label")) {
      const present = names.filter((one) => one !== "").slice(0, 20);
      throw unusable(message, line, `${HELP}. The ${what}s are ${present.join(", ") || "none"}`);
    }
  }
}

const PASSING = ["1", "1.0", "true", "yes", "y", "pass", "passed", "valid", "met", "good", "safe", "correct"];
const FAILING = ["0", "0.0", "false", "no", "n", "fail", "failed", "invalid", "not met", "bad", "unsafe", "incorrect"];

/** What a label says: that a verdict should pass or fail, or a score. Undefined for anything else. */
export function readLabel(label: unknown): { passes?: boolean; score?: number } | undefined {
  if (typeof label === "boolean") return { passes: label };
  if (typeof label === "number") return Number.isFinite(label) ? numbered(label) : undefined;
  if (typeof label !== "string") return undefined;
  const word = label.trim().toLowerCase();
  const number = /^[-+]?(?:\d+(?:[.,]\d+)?|[.,]\d+)$/.test(word) ? Number(word.replace(",", ".")) : undefined;
  if (number !== undefined) return numbered(number);
  if (PASSING.includes(word)) return { passes: true };
  return FAILING.includes(word) ? { passes: false } : undefined;
}

function numbered(score: number): { passes?: boolean; score: number } {
  return score === 0 || score === 1 ? { passes: score === 1, score } : { score };
}
