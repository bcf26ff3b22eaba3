/**
 * Shows untrusted text safely: its direction is isolated from the text around it, invisible characters are replaced by
 * their code points, and long text is folded. Rendering takes time linear in what is shown.
 */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { head } from "./format.js";
import "./text.css";

/** Control characters, direction marks and overrides, zero-width characters, tags, and noncharacters. */
const INVISIBLE =
  /[\p{Cc}\p{Cs}\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF\uFFF9-\uFFFB\uFFFE\uFFFF\u{E0000}-\u{E007F}]/gu;

/** The replacement of an invisible character, such as `U+202E`. */
function codePointText(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A text with every invisible character replaced by its code point. */
export function visible(text: string): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(INVISIBLE)) {
    if (character === "\n" || character === "\t") continue;
    if (index > from) parts.push(text.slice(from, index));
    from = index + character.length;
    if (character === "\r" && text[from] === "\n") continue;
    parts.push(<span class="stand-in">{codePointText(character)}</span>);
  }
  if (from === 0) return text;
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** The same as a string, for attributes and other places without markup. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => codePointText(character));
}

/** A name, such as an eval id: breakable anywhere, with its direction isolated. */
export function Name({ children }: { children: string }) {
  return <bdi class="name-text">{visible(head(children, 500))}</bdi>;
}

/** How many characters at the end of a name are always shown: names often differ only there. */
const TAIL_LENGTH = 10;

/** A name on one line: if it does not fit, its middle is left out. */
export function NameLine({ children: name }: { children: string }) {
  if (name.length <= 2 * TAIL_LENGTH) return <Name>{name}</Name>;
  const cut = head(name, name.length - TAIL_LENGTH).length;
  return (
    <bdi class="name-line" dir="auto">
      <span>{visible(head(name.slice(0, cut), 500))}</span>
      <span>{visible(name.slice(cut))}</span>
    </bdi>
  );
}

/** The name of a metric, with line breaks allowed after underscores. */
export function MetricName({ children }: { children: string }) {
  const words = head(children, 200).split("_");
  return (
    <bdi class="metric-name">
      {words.map((word, at) => (at === 0 ? visible(word) : ["_", <wbr key={at} />, visible(word)]))}
    </bdi>
  );
}

/** A marked range of a text: `[from, to)` in UTF-16 code units. */
export interface Mark {
  from: number;
  to: number;
  /** The CSS classes of the mark. */
  className: string;
}

/** Text is folded if it is longer than this, unless only little would be hidden. */
const DEFAULT_FOLD = 1500;
const MAX_LINES = 24;
/** How many more characters each unfolding shows; more would block painting. */
const CHARACTERS_PER_STEP = 2_000_000;
/** The length of a block. Blocks out of sight are not laid out (`content-visibility`). */
const BLOCK_LENGTH = 20_000;

interface TextProps {
  children: string;
  marks?: readonly Mark[];
  /** Characters shown before it is folded. */
  fold?: number;
  /** An offset up to which the text has to be visible, whatever the fold. */
  upTo?: number | undefined;
  mono?: boolean;
}

/** A text of any length with its line breaks. */
export function Text({ children: text, marks = [], fold = DEFAULT_FOLD, upTo = 0, mono = false }: TextProps) {
  const [open, setOpen] = useState(0);
  const folded = foldOf(text, fold);
  const end = Math.min(text.length, Math.max(open, folded, upTo > folded ? upTo + 200 : 0));
  const hidden = text.length - end;
  const cuts = blocksOf(text, end);
  return (
    <div class={mono ? "text mono" : "text"} dir={mono ? "ltr" : "auto"}>
      {cuts.map((from, at) => (
        <div key={at} class={cuts.length > 2 ? "text-block far" : "text-block"}>
          {marked(text, from, cuts[at + 1] ?? end, marks)}
        </div>
      ))}
      {hidden > 0 && (
        <button type="button" class="unfold" onClick={() => setOpen(end + CHARACTERS_PER_STEP)}>
          {hidden > CHARACTERS_PER_STEP
            ? `Show ${CHARACTERS_PER_STEP.toLocaleString("en")} more of ${hidden.toLocaleString("en")} characters`
            : `Show all ${text.length.toLocaleString("en")} characters`}
        </button>
      )}
    </div>
  );
}

/** The offset at which a text is folded; its length if it is not. */
function foldOf(text: string, fold: number): number {
  let end = text.length > fold * 1.25 ? head(text, fold).length : text.length;
  let line = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
    line += 1;
    if (line === MAX_LINES && hasLinesAfter(text, at, MAX_LINES / 3)) end = at;
  }
  return end;
}

/** Whether at least `least` lines follow. */
function hasLinesAfter(text: string, from: number, least: number): boolean {
  let at = from;
  for (let line = 0; line < least; line += 1) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Where the blocks of a text begin: after a line break, else after a space, else anywhere. */
function blocksOf(text: string, end: number): number[] {
  const cuts = [0];
  let from = 0;
  while (end - from > BLOCK_LENGTH * 1.5) {
    const near = head(text.slice(from, from + BLOCK_LENGTH + 1), BLOCK_LENGTH);
    const ends = [near.lastIndexOf("\n"), near.lastIndexOf(" ")].find((at) => at > BLOCK_LENGTH / 2);
    from += ends === undefined ? near.length : ends + 1;
    cuts.push(from);
  }
  return cuts;
}

/** A range of a text with its marks, which may overlap. */
function marked(text: string, from: number, to: number, marks: readonly Mark[]): ComponentChildren {
  const visibleMarks = marks.filter((mark) => mark.to > from && mark.from < to);
  if (visibleMarks.length === 0) return visible(text.slice(from, to));
  const places = new Set([from, to]);
  for (const mark of visibleMarks) places.add(Math.max(from, mark.from)).add(Math.min(to, mark.to));
  const cuts = [...places].sort((a, b) => a - b);
  const begins = [...visibleMarks].sort((a, b) => a.from - b.from);
  let active: Mark[] = [];
  let next = 0;
  return cuts.slice(0, -1).map((cut, at) => {
    const end = cuts[at + 1] ?? to;
    for (let mark = begins[next]; mark !== undefined && mark.from <= cut; mark = begins[(next += 1)]) active.push(mark);
    active = active.filter((mark) => mark.to > cut);
    const shown = visible(text.slice(cut, end));
    return active.length === 0 ? (
      shown
    ) : (
      <mark key={cut} class={active.map(({ className }) => className).join(" ")}>
        {shown}
      </mark>
    );
  });
}
