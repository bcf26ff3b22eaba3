/**
 * Markdown as agents write it: headings, lists, tables, quotes, code, emphasis and links. It becomes elements, never HTML: tags
 * are text, images are not loaded, and links lead to http and https only. A library would take a twentieth of the whole site,
 * and would make HTML of it. What is not Markdown here stays the text that it is. Takes time linear in the text.
 */

import type { ComponentChildren } from "preact";
import { visible, visibleText } from "./text.js";
import "./markdown.css";

/** Longer texts are shown as they are. */
const LONGEST = 30_000;
/** How deep lists, quotes and emphasis nest. */
const DEEPEST = 8;

const SIGNS = /(?:^|\n) {0,3}(?:#{1,6} |[-*+] |\d{1,9}[.)] |> ?|```|~~~|\|)|\*\*|__|`|\]\(/;

/** Whether it makes a difference to render a text. */
export function isMarkdown(text: string): boolean {
  return text.length <= LONGEST && SIGNS.test(text);
}

export function Markdown({ children }: { children: string }) {
  return (
    <div class="markdown" dir="auto">
      {blocks(children.replaceAll("\r\n", "\n").split("\n"), 0)}
    </div>
  );
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t])(.*)$/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const DIVIDER = /^\|?(?::?-+:?\|)*(?::?-+:?)?$/;

/** The blocks of some lines. */
function blocks(lines: readonly string[], depth: number): ComponentChildren[] {
  const found: ComponentChildren[] = [];
  for (let at = 0; at < lines.length;) {
    const [block, next] =
      depth < DEEPEST ? blockAt(lines, at, depth) : [<p>{lines.slice(at).join("\n")}</p>, lines.length];
    found.push(block);
    at = next;
  }
  return found;
}

/** The block that begins at a line, and where the next one does. */
function blockAt(lines: readonly string[], at: number, depth: number): [ComponentChildren, number] {
  const line = lines[at] ?? "";
  if (line.trim() === "") return [null, at + 1];
  const [, fence] = FENCE.exec(line) ?? [];
  if (fence !== undefined) {
    const end = endOf(lines, at + 1, (one) => one.trimStart().startsWith(fence));
    return [<pre class="text mono">{visible(lines.slice(at + 1, end).join("\n"))}</pre>, end + 1];
  }
  const [, level, title] = HEADING.exec(line) ?? [];
  // The page's own headings say what its parts are.
  if (level !== undefined)
    return [<p class={`heading level-${level.length}`}>{inline((title ?? "").trim())}</p>, at + 1];
  if (RULE.test(line)) return [<hr />, at + 1];
  if (QUOTE.test(line)) {
    const end = endOf(lines, at, (one) => !QUOTE.test(one));
    const quoted = lines.slice(at, end).map((one) => one.replace(QUOTE, ""));
    return [<blockquote>{blocks(quoted, depth + 1)}</blockquote>, end];
  }
  if (ITEM.test(line)) return listAt(lines, at, depth);
  if (line.includes("|") && isDivider(lines[at + 1] ?? "")) {
    return tableAt(lines, at);
  }
  const end = endOf(lines, at + 1, (one) => one.trim() === "" || beginsBlock(one));
  return [<p>{inline(lines.slice(at, end).join("\n"))}</p>, end];
}

function isDivider(line: string): boolean {
  return line.includes("|") && line.includes("-") && DIVIDER.test(line.replace(/[ \t]/g, ""));
}

function beginsBlock(line: string): boolean {
  return [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line));
}

/** The first line from one on for which something is so, or the number of lines. */
function endOf(lines: readonly string[], from: number, isEnd: (line: string) => boolean): number {
  let at = from;
  while (at < lines.length && !isEnd(lines[at] ?? "")) at += 1;
  return at;
}

function listAt(lines: readonly string[], from: number, depth: number): [ComponentChildren, number] {
  const isOrdered = (marker: string | undefined) => /\d/.test(marker ?? "");
  const [, , first = ""] = ITEM.exec(lines[from] ?? "") ?? [];
  const items: ComponentChildren[] = [];
  let at = from;
  while (at < lines.length) {
    const [whole, , marker] = ITEM.exec(lines[at] ?? "") ?? [];
    if (whole === undefined || isOrdered(marker) !== isOrdered(first) || RULE.test(lines[at] ?? "")) break;
    const width = Math.min(whole.length, (marker ?? "").length + 4);
    const own = [(lines[at] ?? "").slice(whole.length)];
    for (at += 1; at < lines.length; at += 1) {
      const line = lines[at] ?? "";
      const indent = line.length - line.trimStart().length;
      const isBlank = line.trim() === "";
      const isWithin = isBlank ? isIndented(lines[at + 1], 2) : indent >= Math.min(2, width);
      // A line that goes on without an indentation.
      const goesOn = !isBlank && !beginsBlock(line) && (lines[at - 1] ?? "").trim() !== "";
      if (!isWithin && !goesOn) break;
      own.push(line.slice(Math.min(indent, width)));
    }
    // Blank lines between items.
    while ((lines[at] ?? "x").trim() === "" && ITEM.test(lines[at + 1] ?? "")) at += 1;
    items.push(<li>{own.length === 1 ? inline(own[0] ?? "") : blocks(own, depth + 1)}</li>);
  }
  const start = Number.parseInt(first, 10);
  return [isOrdered(first) ? <ol start={start}>{items}</ol> : <ul>{items}</ul>, at];
}

function isIndented(line: string | undefined, by: number): boolean {
  return line !== undefined && line.trim() !== "" && line.startsWith(" ".repeat(by));
}

function tableAt(lines: readonly string[], at: number): [ComponentChildren, number] {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("\\|", "|"));
  const end = endOf(lines, at + 2, (line) => line.trim() === "" || !line.includes("|"));
  const head = cells(lines[at] ?? "");
  const table = (
    <table>
      <thead>
        <tr>
          {head.map((cell) => (
            <th scope="col">{inline(cell)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.slice(at + 2, end).map((line) => {
          const row = cells(line);
          return (
            <tr>
              {head.map((_, column) => (
                <td>{inline(row[column] ?? "")}</td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
  return [table, end];
}

// ---- within a line

const LINK =
  /(!?)\[([^[\]\n]{0,500})\]\(\s{0,9}<?([^\s<>()]{0,2000}(?:\([^\s()]{0,200}\)[^\s()]{0,200})?)>?(?:\s{1,9}"[^"\n]{0,200}")?\s{0,9}\)/y;
const ADDRESS = /https?:\/\/[^\s<>"'`[\]]{1,2000}/y;
const EMPHASIS: readonly (readonly [mark: string, tag: "strong" | "em" | "del"])[] = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "del"],
  ["*", "em"],
  ["_", "em"],
];
const SPECIAL = /[\\`*_~[!h]/g;
const PUNCTUATION = /[!-/:-@[-`{-~]/;

function inline(text: string, depth = 0): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  /** Marks that do not come again. */
  const missing = new Set<string>();
  let plain = 0;
  let at = 0;
  const take = (part: ComponentChildren, end: number) => {
    if (at > plain) parts.push(visible(text.slice(plain, at)));
    parts.push(part);
    plain = at = end;
  };
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    at = SPECIAL.exec(text)?.index ?? text.length;
    const found = at < text.length ? specialAt(text, at, depth, missing) : undefined;
    if (found !== undefined) take(found[0], found[1]);
    else at += 1;
  }
  if (plain < text.length) parts.push(visible(text.slice(plain)));
  return parts;
}

/** What a special character begins, and where that ends; undefined if it means itself. */
function specialAt(
  text: string,
  at: number,
  depth: number,
  missing: Set<string>,
): [ComponentChildren, number] | undefined {
  const character = text[at];
  if (character === "\\") {
    const next = text[at + 1] ?? "";
    return PUNCTUATION.test(next) ? [next, at + 2] : undefined;
  }
  if (character === "`") return codeAt(text, at, missing);
  if (character === "[" || character === "!") return linkAt(text, at, depth);
  if (character === "h") return addressAt(text, at);
  return depth < DEEPEST ? emphasisAt(text, at, depth, missing) : undefined;
}

function codeAt(text: string, at: number, missing: Set<string>): [ComponentChildren, number] | undefined {
  let to = at;
  while (text[to] === "`") to += 1;
  const mark = text.slice(at, to);
  const end = missing.has(mark) ? -1 : text.indexOf(mark, to);
  if (end >= 0) return [<code>{visible(text.slice(to, end).replace(/^ (.*) $/s, "$1"))}</code>, end + mark.length];
  missing.add(mark);
  return [mark, to];
}

function linkAt(text: string, at: number, depth: number): [ComponentChildren, number] | undefined {
  LINK.lastIndex = at;
  const [whole, image, label = "", address = ""] = LINK.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const end = at + whole.length;
  if (image === "!") return [<span class="muted">{visible(`Image: ${label} (${address})`)}</span>, end];
  const words = depth < DEEPEST ? inline(label, DEEPEST) : [visible(label)];
  return [isWeb(address) ? <Link to={address}>{words}</Link> : visible(whole), end];
}

function addressAt(text: string, at: number): [ComponentChildren, number] | undefined {
  ADDRESS.lastIndex = at;
  const found = ADDRESS.exec(text)?.[0] ?? "";
  // What ends a sentence or an emphasis is no part of it.
  let length = found.length;
  while (".,;:!?)*_".includes(found[length - 1] ?? " ")) length -= 1;
  const address = found.slice(0, length);
  if (!isWeb(address)) return undefined;
  return [<Link to={address}>{visible(address)}</Link>, at + address.length];
}

function isWeb(address: string): boolean {
  return /^https?:\/\//i.test(address) && URL.canParse(address);
}

/** A link that says where it leads, and sends no referrer. */
function Link({ to, children }: { to: string; children: ComponentChildren }) {
  return (
    <a href={to} target="_blank" rel="noopener noreferrer nofollow" title={visibleText(to)}>
      {children}
    </a>
  );
}

function emphasisAt(
  text: string,
  at: number,
  depth: number,
  missing: Set<string>,
): [ComponentChildren, number] | undefined {
  const [mark, Tag] = EMPHASIS.find(([one]) => text.startsWith(one, at)) ?? [];
  if (mark === undefined || Tag === undefined || missing.has(mark)) return undefined;
  const from = at + mark.length;
  if (/\s/.test(text[from] ?? " ")) return undefined;
  // snake_case has no emphasis.
  const isWord = (character: string | undefined) => mark.startsWith("_") && /[\p{L}\p{N}]/u.test(character ?? "");
  if (isWord(text[at - 1])) return undefined;
  const end = text.indexOf(mark, from + 1);
  if (end < 0) {
    missing.add(mark);
    return undefined;
  }
  if (/\s/.test(text[end - 1] ?? "") || isWord(text[end + mark.length])) return undefined;
  return [<Tag>{inline(text.slice(from, end), depth + 1)}</Tag>, end + mark.length];
}
