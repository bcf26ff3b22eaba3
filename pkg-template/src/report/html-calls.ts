/**
 * The tool calls of a turn on the HTML page: side by side as aligned, arguments that differ marked, below each what the
 * tool returned or why it failed.
 */

import type { AlignmentEntry, EvalMetricResultPerInvocation, FunctionCall, FunctionResponse } from "../types.js";
import { showsCalls, placesText, sideText } from "./difference.js";
import { html, type Markup, marked } from "./html-markup.js";
import { callsOf } from "../invocation.js";
import { isRecord } from "../lists.js";
import { errorOf, outputsOf } from "../turn-events.js";
import { outputText } from "./tool-output.js";
import { head, keyText, markedValue, type MarksAt, pathBelow, valueText } from "./text.js";
import { changedWords } from "./word-changes.js";

interface CallKind {
  sign: string;
  word: string;
  /** The class of its colours. */
  tone: string;
}

const KINDS: Record<AlignmentEntry["kind"], CallKind> = {
  match: { sign: "=", word: "Matched", tone: "same" },
  arguments: { sign: "≠", word: "Changed", tone: "unknown" },
  missing: { sign: "−", word: "Missing", tone: "failed" },
  extra: { sign: "+", word: "Extra", tone: "added" },
  moved: { sign: "↕", word: "Moved", tone: "unknown" },
};

/** The tool calls of a turn: side by side as aligned, or as they came if nothing aligned them. */
export function callsTable(turn: EvalMetricResultPerInvocation): Markup | undefined {
  const expected = callsOf(turn.expectedInvocation);
  const actual = callsOf(turn.actualInvocation);
  const outputs = outputsOf(turn.actualInvocation);
  if (expected.length + actual.length === 0) return undefined;
  const alignment = turn.evalMetricResults.find(({ explanation }) => explanation?.alignment?.length)?.explanation
    ?.alignment;
  if (!showsCalls(turn)) {
    return html`<div><h5>Tool calls</h5><ul>${actual.map((call, at) => html`<li>${callMarkup(call)}${gave(outputs[at])}</li>`)}</ul></div>`;
  }
  const rows = alignment
    ? alignment.map((entry) => alignedRow(entry, expected, actual, outputs))
    : Array.from({ length: Math.max(expected.length, actual.length) }, (_, at) =>
        callRow(html`<th scope="row">${at + 1}</th>`, expected[at], actual[at], outputs[at], []),
      );
  return html`<table class="calls"><caption>Tool calls</caption>
<thead><tr><th scope="col" class="kind"><span class="vh">Comparison</span></th><th scope="col">Expected</th><th scope="col">Actual</th></tr></thead>
<tbody>${rows}</tbody></table>`;
}

function alignedRow(
  entry: AlignmentEntry,
  expected: readonly FunctionCall[],
  actual: readonly FunctionCall[],
  outputs: readonly (FunctionResponse | undefined)[],
): Markup {
  const { sign, word, tone } = KINDS[entry.kind];
  const indices = entry.kind === "moved" ? html`<small>${placesText(entry).slice(1, -1)}</small>` : undefined;
  const title = html`<th scope="row"><span aria-hidden="true">${sign}</span>${word}${indices}</th>`;
  return callRow(
    title,
    expected[entry.expectedIndex ?? -1],
    actual[entry.actualIndex ?? -1],
    outputs[entry.actualIndex ?? -1],
    entry.differences ?? [],
    tone,
  );
}

type Differences = NonNullable<AlignmentEntry["differences"]>;

function callRow(
  title: Markup,
  expected: FunctionCall | undefined,
  actual: FunctionCall | undefined,
  output: FunctionResponse | undefined,
  differences: Differences,
  tone = "same",
): Markup {
  const side = (name: "Expected" | "Actual", call: FunctionCall | undefined) =>
    call
      ? html`<td data-side="${name}">${callMarkup(call, differences, name)}${name === "Actual" ? html`${nested(differences)}${gave(output)}` : undefined}</td>`
      : html`<td></td>`;
  return html`<tr class="${tone === "same" ? "same" : `off ${tone}`}">${title}${side("Expected", expected)}${side("Actual", actual)}</tr>`;
}

/** The first key of a path: a name, or another key in brackets. */
const FIRST_KEY = /^(?:[A-Za-z_$][\w$]*|\["[^"\\]*(?:\\.[^"\\]*)*"\])/;

function callMarkup(call: FunctionCall, differences: Differences = [], side: "Expected" | "Actual" = "Actual"): Markup {
  const args: unknown = call.args ?? undefined;
  const name = html`<b>${head(call.name ?? "(unnamed)", 300)}</b>`;
  const entries = isRecord(args) ? Object.entries(args) : [];
  if (entries.length === 0)
    return html`<code class="call" dir="ltr">${name}${args === undefined ? "()" : `(${valueText(args)})`}</code>`;
  const changedKeys = new Set(differences.map(({ path }) => FIRST_KEY.exec(path)?.[0] ?? path));
  const marksAt = marksOf(differences, side);
  const lines = entries.map(([key, value]) => {
    const path = pathBelow("", key);
    const changed = changedKeys.has(path) ? html`<span class="vh">changed </span>` : undefined;
    const { text, marks } = markedValue(value, 600, path, marksAt);
    return html`<span class="arg">${changed}${keyText(key)}: <span class="value">${marked(text, marks)}</span></span>`;
  });
  return html`<code class="call" dir="ltr">${name}${lines}</code>`;
}

/** What is marked of the values of one side: the words that differ between two texts, else the value. */
function marksOf(differences: Differences, side: "Expected" | "Actual"): MarksAt {
  const byPath = new Map(differences.map((difference) => [difference.path, difference]));
  return (path, text) => {
    const difference = byPath.get(path);
    if (difference === undefined) return undefined;
    const { expected, actual } = difference;
    if (typeof expected !== "string" || typeof actual !== "string") return [[0, text.length]];
    const changes = changedWords(valueText(expected, 600), valueText(actual, 600));
    return side === "Expected" ? changes.expected : changes.actual;
  };
}

/** What a tool gave, below its call. */
function gave(output: FunctionResponse | undefined): Markup | undefined {
  if (output === undefined) return undefined;
  return html`<p class="gave${errorOf(output) !== undefined ? " failed" : ""}" dir="ltr">${outputText(output, 600)}</p>`;
}

/** What differs below the arguments themselves, where looking at both sides would not show it at once. */
function nested(differences: Differences): Markup | undefined {
  const deep = differences.filter(
    ({ path }) => path === "" || /^(?:[A-Za-z_$][\w$]*|\["[^"\\]*(?:\\.[^"\\]*)*"\])[.[]/.test(path),
  );
  if (deep.length === 0) return undefined;
  return html`<ul class="nested">${deep.map(({ path, expected, actual }) => html`<li><code dir="ltr">${head(path, 300) || "arguments"}: ${sideText(expected, actual)} → ${sideText(actual, expected)}</code></li>`)}</ul>`;
}
