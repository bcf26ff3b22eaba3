/** Lines for a terminal: styles, widths, and rows in columns. */

import { defused, displayWidth, pad, shorten, wrap } from "./text.js";

/** How a piece of a report is set off: what it says, or how it looks. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "expected" | "actual";

/** Gives a text its styles. */
export type Paint = (text: string, styles: readonly Style[]) => string;

const SGR: Record<Style, number> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  cyan: 36,
  expected: 31,
  actual: 32,
};

const byEscapes: Paint = (text, styles) => `\u001b[${styles.map((style) => SGR[style]).join(";")}m${text}\u001b[0m`;

/** The columns that a table may take. */
export function widthOf({ width = 100 }: { width?: number }): number {
  return Math.max(60, Math.floor(width));
}

/** The lines in a piece of a page. */
const SOME_LINES = 1000;

/** The lines written so far; the only place that knows of colours. */
export class Page {
  readonly width: number;
  readonly #paint: Paint | undefined;
  readonly #lines: string[] = [];
  #from = 0;

  constructor(width: number, color: boolean | Paint) {
    this.width = width;
    this.#paint = typeof color === "function" ? color : color ? byEscapes : undefined;
  }

  style(text: string, ...styles: Style[]): string {
    return styles.length > 0 && text !== "" ? (this.#paint?.(text, styles) ?? text) : text;
  }

  line(text = ""): void {
    this.#lines.push(defused(text.trimEnd()));
  }

  /** Writes a text of any length; its lines after the first are indented by `hanging` columns. */
  wrapped(text: string, indent: number, hanging = indent, ...styles: Style[]): void {
    const [first = "", ...rest] = wrap(text, this.width - Math.max(indent, hanging));
    this.line(" ".repeat(indent) + this.style(first, ...styles));
    for (const line of rest) this.line(" ".repeat(hanging) + this.style(line, ...styles));
  }

  text(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  /** An empty page with the same width and colours. */
  sheet(): Page {
    return new Page(this.width, this.#paint ?? false);
  }

  /** Writes the text of a sheet. */
  written(text: string): void {
    for (const line of text.split("\n").slice(0, -1)) this.#lines.push(line);
  }

  /** Whether it is time to take its lines away. */
  get isLong(): boolean {
    return this.#lines.length >= SOME_LINES;
  }

  /** Takes the lines written so far away, in pieces. */
  *taken(): Generator<string> {
    for (const { length } = this.#lines; this.#from < length; this.#from += SOME_LINES) {
      yield this.#lines
        .slice(this.#from, this.#from + SOME_LINES)
        .map((line) => `${line}\n`)
        .join("");
    }
    this.#lines.length = this.#from = 0;
  }
}

export interface Cell {
  text: string;
  styles?: Style[];
}

export interface Column {
  header: string;
  align: "left" | "right";
  /** The column may be narrowed to this width. */
  narrowest: number;
}

/** Writes rows in columns. What is too wide gives way, texts before numbers, the widest first. */
export function writeRows(page: Page, columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
  for (const _ of rowsInSteps(page, columns, rows));
}

/** As {@link writeRows}: a step measures or writes some of the rows. */
export function* rowsInSteps(
  page: Page,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): Generator<undefined> {
  const widths = columns.map(({ header }) => displayWidth(header));
  for (const [index, row] of rows.entries()) {
    for (const at of columns.keys()) {
      widths[at] = Math.max(widths[at] as number, displayWidth(row[at]?.text ?? ""));
    }
    if (isLastOfSome(index)) yield;
  }
  const widest = (align: Column["align"]) => {
    const open = columns.flatMap((column, at) =>
      column.align === align && (widths[at] ?? 0) > column.narrowest ? [at] : [],
    );
    return open.reduce<number | undefined>(
      (most, at) => ((widths[at] ?? 0) > (widths[most ?? -1] ?? 0) ? at : most),
      undefined,
    );
  };
  let excess = widths.reduce((sum, width) => sum + width + 2, 0) - page.width;
  for (; excess > 0; excess--) {
    const at = widest("left") ?? widest("right");
    if (at === undefined) break;
    widths[at] = (widths[at] ?? 0) - 1;
  }
  const write = (cells: readonly Cell[]) => {
    const texts = cells.map(({ text, styles = [] }, at) => {
      const width = widths[at] ?? 0;
      const shown = shorten(text, width);
      const last = at === cells.length - 1 && columns[at]?.align === "left";
      return page.style(last ? shown : pad(shown, width, columns[at]?.align), ...styles);
    });
    page.line(`  ${texts.join("  ")}`);
  };
  write(columns.map(({ header }) => ({ text: header, styles: ["dim"] })));
  page.line(page.style(`  ${widths.map((width) => "─".repeat(width)).join("  ")}`, "dim"));
  for (const [index, row] of rows.entries()) {
    write(row);
    if (isLastOfSome(index)) yield;
  }
}

/** Whether a step of a number of rows or lines ends with this one. */
export function isLastOfSome(index: number): boolean {
  return index % SOME_LINES === SOME_LINES - 1;
}
