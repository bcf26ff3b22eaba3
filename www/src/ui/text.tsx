/**
 * Text that nobody has vetted: it is shown, never acted upon. It keeps to itself whatever its direction, characters that
 * act rather than show have a stand-in, and what is long is folded. Rendering is linear in what is shown.
 */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { head } from "./format.js";
import "./text.css";

/** Controls, direction marks and overrides, what has no width, tags, and what is no character. */
const INVISIBLE =
  /[\p{Cc}\p{Cs}\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF\uFFF9-\uFFFB\uFFFE\uFFFF\u{E0000}-\u{E007F}]/gu;

/** What stands for a character that has no shape of its own, such as `U+202E`. */
function codePointText(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A text with a stand-in for each character that would act rather than show. */
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

/** The same as a string, for where there can be no markup. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => codePointText(character));
}

/** A name on one line, such as an eval id: breakable anywhere, kept to itself. */
export function Name({ children }: { children: string }) {
  return <bdi class="name-text">{visible(head(children, 500))}</bdi>;
}

/** Characters at the end of a name that stay when there is no room: names often differ there only. */
const TAIL_LENGTH = 10;

/** A name on one line of any width: where there is no room, its middle is left out. */
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

/** The name of a metric, which breaks at its underscores. */
export function MetricName({ children }: { children: string }) {
  const words = head(children, 200).split("_");
  return (
    <bdi class="metric-name">
      {words.map((word, at) => (at === 0 ? visible(word) : ["_", <wbr key={at} />, visible(word)]))}
    </bdi>
  );
}

/** A stretch of a text that is marked: `[from, to)` in UTF-16 code units. */
export interface Mark {
  from: number;
  to: number;
  /** Classes that say how it looks. */
  className: string;
}

/** A text is folded if it is longer than this, unless little more would come. */
const DEFAULT_FOLD = 1500;
const MAX_LINES = 24;
/** Characters shown at a time once it is unfolded; more would keep the page from painting. */
const CHARACTERS_PER_STEP = 2_000_000;
/** Characters that are laid out together; those out of sight are not laid out at all. */
const BLOCK_LENGTH = 20_000;

interface TextProps {
  children: string;
  marks?: readonly Mark[];
  /** Characters shown before it is folded. */
  fold?: number;
  /** A place that has to be seen: it is not folded away. */
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

/** Where a text is folded; its length if it is not. */
function foldOf(text: string, fold: number): number {
  let end = text.length > fold * 1.25 ? head(text, fold).length : text.length;
  let line = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
    line += 1;
    if (line === MAX_LINES && hasLinesAfter(text, at, MAX_LINES / 3)) end = at;
  }
  return end;
}

/** Whether at least so many lines follow. */
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

/** A stretch of a text with what is marked of it; marks may overlap. */
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
