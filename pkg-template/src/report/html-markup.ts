/**
 * The building blocks of the HTML report: markup whose contents are escaped, icons, tables, boxes of text.
 *
 * Text of results gets into the page through {@link html} only, between tags or in quoted attributes.
 */

import { EvalStatus } from "../enums.js";
import { count, head, pieces } from "./text.js";

/** The characters of a text that are shown; the rest is counted. */
export const LONGEST_TEXT = 6000;
/** A text longer than this scrolls in a box of its own. */
const TALL_TEXT = 1500;
/** Marked words with at most this much punctuation between them are marked as one. */
const LONGEST_GAP = 3;

/** Text that is HTML already. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Content = string | number | undefined | Markup | readonly Content[];

/** HTML with everything put into it escaped, save what is HTML already; lists are joined. */
export function html(literals: TemplateStringsArray, ...contents: Content[]): Markup {
  let text = literals[0] ?? "";
  contents.forEach((content, at) => {
    text += markupOf(content) + (literals[at + 1] ?? "");
  });
  return new Markup(text);
}

function markupOf(content: Content): string {
  if (content === undefined) return "";
  if (content instanceof Markup) return content.text;
  if (typeof content === "number") return String(content);
  if (typeof content !== "string") return content.map(markupOf).join("");
  let text = "";
  for (const piece of pieces(content)) {
    const safe = escaped(piece.text);
    text += piece.standsIn ? `<span class="stand-in">${safe}</span>` : safe;
  }
  return text;
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text as HTML, in whose lines no CI system finds a command. */
export function escaped(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
    .replace(/#(?=#)/g, "&#35;")
    .replace(/:(?=:)/g, "&#58;");
}

const STROKE = new Markup(
  'fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"',
);

/** Drawn once, used wherever a status is shown. */
export const ICONS = html`<svg width="0" height="0" aria-hidden="true" focusable="false" class="vh">
<symbol id="icon-passed" viewBox="0 0 16 16">
<circle cx="8" cy="8" r="7" ${STROKE}/><path d="M5 8.2l2.1 2.1L11 6.2" ${STROKE}/></symbol>
<symbol id="icon-failed" viewBox="0 0 16 16">
<circle cx="8" cy="8" r="7.75" fill="currentColor"/>
<path d="M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8" stroke="var(--page)" stroke-width="1.6" stroke-linecap="round"/></symbol>
<symbol id="icon-unknown" viewBox="0 0 16 16">
<circle cx="8" cy="8" r="7" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2.6 1.8"/>
<path d="M5.5 8h5" ${STROKE}/></symbol>
<symbol id="icon-chevron" viewBox="0 0 12 12"><path d="M4.5 2.5L8 6l-3.5 3.5" ${STROKE}/></symbol>
</svg>`;

/** A name that may be broken after its underscores. */
export function breakable(name: string, longest = 300): Content {
  return head(name, longest)
    .split(/(?<=_)/)
    .map((part, at) => (at === 0 ? part : html`<wbr>${part}`));
}

/** The class that gives a status its colours. */
export function tone(status: EvalStatus): string {
  if (status === EvalStatus.PASSED) return "passed";
  return status === EvalStatus.FAILED ? "failed" : "unknown";
}

export function icon(status: EvalStatus): Markup {
  const name = tone(status);
  return html`<svg class="icon ${name}" aria-hidden="true"><use href="#icon-${name}"/></svg>`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export interface Heading {
  text: string;
  /** Its cells are numbers, aligned at the end. */
  numeric?: boolean;
  /** Only screen readers need it. */
  hidden?: boolean;
}

/** A table of its own width in a box that scrolls where the page is narrow. */
export function gridTable(
  title: string,
  classes: string,
  headings: readonly Heading[],
  rows: readonly Markup[],
): Markup {
  const cells = headings.map(({ text, numeric, hidden }) => {
    const attributes = new Markup(numeric ? ' class="num"' : "");
    return html`<th scope="col"${attributes}>${hidden ? html`<span class="vh">${text}</span>` : text}</th>`;
  });
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${title}">
<table class="grid ${classes}"><caption class="vh">${title}</caption>
<thead><tr>${cells}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** What a reader should know first, with what to do about it. */
export function noticeBox(message: string, more = ""): Markup {
  return html`<div class="notice"><p>${head(message, LONGEST_TEXT)}</p>${more === "" ? undefined : html`<p>${more}</p>`}</div>`;
}

/** A text as a block, in a box that scrolls if it is long. */
export function textBox(label: string, text: Markup, length: number): Markup {
  return length > TALL_TEXT
    ? html`<div class="text tall" dir="auto" tabindex="0" role="group" aria-label="${label}">${text}</div>`
    : html`<div class="text" dir="auto">${text}</div>`;
}

/** A text, cut if it is very long. */
export function clipped(text: string): Markup {
  return marked(text, []);
}

/** A text with its matched words marked, neighbours as one; cut if it is very long. */
export function marked(text: string, spans: readonly (readonly [number, number])[]): Markup {
  const shown = head(text, LONGEST_TEXT);
  const runs: [number, number][] = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = runs.at(-1);
    const from = last?.[1] ?? 0;
    if (!(start >= from && end > start && end <= shown.length)) continue;
    if (last && start - from <= LONGEST_GAP && /^[^\p{L}\p{N}\n]*$/u.test(shown.slice(from, start))) last[1] = end;
    else runs.push([start, end]);
  }
  let at = 0;
  const parts = runs.map(([start, end]) => {
    const part = html`${shown.slice(at, start)}<mark>${shown.slice(start, end)}</mark>`;
    at = end;
    return part;
  });
  const rest = text.length - shown.length;
  return html`${parts}${shown.slice(at)}${rest > 0 ? html`<span class="cut">${count(rest, "more character")} not shown</span>` : undefined}`;
}
