/** Cases and what was done in them, read from streams side by side: no more of them is in memory than is scored next. */

import { toBytes } from "../engine/input.js";
import { isBytes, isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { MAX_BYTES } from "../generated/limits.js";
import { concatenated } from "../result-lines.js";
import type { Mistake } from "../types.js";
import { LINE_HEAD, LineKinds } from "./kinds.js";
import { Rest } from "./rest.js";
import { LineRows } from "./rows.js";
import { markLength, WINDOW_BYTES, WINDOW_LINES } from "./shape.js";
import { definedProperties } from "../lists.js";

/** Pieces of text or bytes whose lines are JSON, or objects. */
type Stream = AsyncIterable<unknown>;

/** A line, and where it is. */
export interface Line {
  readonly id: string;
  readonly text: Uint8Array;
  /** What its stream is called: `actual`, or `actual[1]`. */
  readonly path: string;
  /** Its number in the stream, from 1. */
  readonly line: number;
}

/** The streams of an input; undefined for anything else. */
export function streamsOf(input: unknown, path: string): readonly Stream[] | undefined {
  return reading(path, () => {
    if (isStream(input)) return [input];
    return Array.isArray(input) && isStream(input[0]) && Array.from(input).every(isStream)
      ? (input.slice() as Stream[])
      : undefined;
  });
}

function isStream(value: unknown): value is Stream {
  return isObject(value) && typeof Reflect.get(value, Symbol.asyncIterator) === "function";
}

const NEWLINE = 0x0a;
const latin1 = /* @__PURE__ */ new TextDecoder("latin1");

/** The lines of an input's streams. */
export class Lines {
  readonly kinds: LineKinds;
  readonly #streams: readonly Stream[];
  readonly #name: "evalSet" | "actual";
  /** The line that is looked at. */
  #path = "";
  #line = 0;

  constructor(streams: readonly Stream[], name: "evalSet" | "actual") {
    this.#streams = streams;
    this.#name = name;
    this.kinds = new LineKinds(name === "evalSet", (message, help, cause) => this.refuse(message, help, cause));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Line> {
    for (const [at, stream] of this.#streams.entries()) {
      this.#path = this.#streams.length === 1 ? this.#name : `${this.#name}[${at}]`;
      this.#line = 0;
      const rest = new Rest();
      for await (const piece of stream) {
        if (isObject(piece) && !isBytes(piece)) {
          this.#line += 1;
          yield* this.#found(this.kinds.idOfValue(piece), () => toBytes(piece, this.#path));
          continue;
        }
        if (typeof piece !== "string" && !isBytes(piece)) throw unexpected(WHAT_FITS, piece, this.#path);
        const bytes = toBytes(piece, this.#path);
        let from = 0;
        for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
          yield* this.#read([rest.taken(), bytes.subarray(from, end)]);
          from = end + 1;
        }
        rest.add(bytes.subarray(from));
        if (rest.size > MAX_BYTES) {
          this.#line += 1;
          throw this.refuse(
            `the line is longer than ${MAX_BYTES} bytes, the maximum for one line`,
            "Every line has to be one case. Is this a JSON file without line breaks?",
          );
        }
      }
      yield* this.#read([rest.taken()]);
    }
  }

  *#read(pieces: readonly Uint8Array[]): Generator<Line> {
    this.#line += 1;
    const all = concatenated(pieces);
    const text = this.#line === 1 ? all.subarray(markLength(all)) : all;
    if (text.every((byte) => byte <= 0x20)) return;
    const head = latin1.decode(text.subarray(0, LINE_HEAD));
    yield* this.#found(this.kinds.idOf(text, head), () => text);
  }

  *#found(id: string | undefined, text: () => Uint8Array): Generator<Line> {
    if (id !== undefined) yield { id, text: text(), path: this.#path, line: this.#line };
  }

  /** The error for what is wrong with the line that is looked at. */
  refuse(message: string, help?: string, cause?: unknown): AdkMetricsError {
    return new AdkMetricsError("invalid_input", message, {
      path: this.#path,
      line: this.#line,
      ...definedProperties({ help, cause }),
    });
  }
}

const WHAT_FITS = "objects, or text or bytes of JSON lines";

/** Some lines, separated by commas, with something before and after. */
export function textOf([before, after]: readonly [string, string], lines: readonly Line[]): Uint8Array {
  const encoder = new TextEncoder();
  const comma = encoder.encode(",");
  const texts = lines.flatMap(({ text }, at) => (at === 0 ? [text] : [comma, text]));
  return concatenated([encoder.encode(before), ...texts, encoder.encode(after)]);
}

/** Some cases, and the runs of them. */
export interface Pairs {
  readonly cases: readonly Line[];
  readonly runs: readonly Line[];
}

/** How far, in lines and in bytes, the runs of a case may be from those of the case before. */
const MOST_APART = 1000;
const MOST_AHEAD_BYTES = 32 * 2 ** 20;
/** Runs without a case that are named. */
const MOST_NAMED = 5;

/** Puts runs with their cases, in the order of the cases. */
export class Pairing {
  readonly #cases: Lines;
  readonly #runs: Lines;
  /** The cases that have had their runs. */
  readonly #settled = new LineRows();
  /** The runs that belong to no case. */
  readonly #left = new LineRows();
  readonly #named: string[] = [];
  /** The runs that wait for their case, by its id: in the order in which they came. */
  readonly #waiting = new Map<string, { line: Line; at: number }[]>();
  #waitingBytes = 0;
  /** How many runs were read, and which of them was the last that found its case. */
  #read = 0;
  #matched = 0;

  constructor(cases: Lines, runs: Lines) {
    this.#cases = cases;
    this.#runs = runs;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Pairs> {
    const runs = this.#runs[Symbol.asyncIterator]();
    let [own, theirs, bytes]: [Line[], Line[], number] = [[], [], 0];
    try {
      for await (const one of this.#cases) {
        await this.#readAhead(runs);
        const found = this.#runsOf(one);
        const size = found.reduce((sum, { text }) => sum + text.length, one.text.length);
        const lines = own.length + theirs.length + found.length;
        if (own.length > 0 && (bytes + size > WINDOW_BYTES || lines >= WINDOW_LINES)) {
          yield { cases: own, runs: theirs };
          [own, theirs, bytes] = [[], [], 0];
        }
        own.push(one);
        theirs.push(...found);
        bytes += size;
      }
      if (own.length > 0) yield { cases: own, runs: theirs };
      for (let next = await runs.next(); next.done !== true; next = await runs.next()) this.#take(next.value);
      for (const id of this.#waiting.keys()) this.#leave(id);
    } finally {
      await runs.return(undefined);
    }
  }

  /** The warning about runs that belong to no case. */
  get warning(): Mistake | undefined {
    const { count } = this.#left;
    if (count === 0) return undefined;
    const are = count === 1 ? "an actual conversation belongs" : `${count} actual conversations belong`;
    const places = `${this.#named.join(", ")}${count > MOST_NAMED ? ", …" : ""}`;
    return {
      code: "actual_missing",
      message: `${are} to no eval case and ${count === 1 ? "is" : "are"} left out: ${places}`,
      path: "actual",
      help: "Runs are matched with cases by eval id",
    };
  }

  async #readAhead(runs: AsyncGenerator<Line>): Promise<void> {
    while (this.#read < this.#matched + MOST_APART && this.#waitingBytes < MOST_AHEAD_BYTES) {
      const next = await runs.next();
      if (next.done === true) return;
      this.#take(next.value);
    }
  }

  #take(line: Line): void {
    if (this.#settled.firstOf(line.id) !== undefined) {
      throw this.#runs.refuse(`the run of the case \`${line.id}\` comes too late to be scored with it`, IN_ORDER);
    }
    const own = this.#waiting.get(line.id);
    const one = { line, at: this.#read++ };
    if (own === undefined) this.#waiting.set(line.id, [one]);
    else own.push(one);
    this.#waitingBytes += line.text.length;
  }

  #runsOf({ id }: Line): Line[] {
    if (this.#settled.add(0, 0, 0, 0, id) !== undefined) {
      throw this.#cases.refuse(
        `the case \`${id}\` occurs twice`,
        "To score several runs of a case, put them into `actual`",
      );
    }
    if (this.#left.firstOf(id) !== undefined) {
      throw this.#cases.refuse(`the run of the case \`${id}\` came too early to be scored with it`, IN_ORDER);
    }
    const found = this.#waiting.get(id);
    if (found === undefined) return [];
    this.#waiting.delete(id);
    for (const { line, at } of found) {
      this.#waitingBytes -= line.text.length;
      this.#matched = Math.max(this.#matched, at);
    }
    // Those that came long before are of no case.
    for (const [other, [first]] of this.#waiting) {
      if ((first?.at ?? 0) >= this.#matched - MOST_APART) break;
      this.#leave(other);
    }
    return found.map(({ line }) => line);
  }

  #leave(id: string): void {
    for (const { line } of this.#waiting.get(id) ?? []) {
      this.#left.add(0, 0, 0, line.line, id);
      this.#waitingBytes -= line.text.length;
      if (this.#named.length < MOST_NAMED) this.#named.push(`${line.path}, line ${line.line}`);
    }
    this.#waiting.delete(id);
  }
}

const IN_ORDER = `Put runs into the order of their cases; they may be up to ${MOST_APART} lines early or late. For files in any order, use \`npx adk-metrics eval\``;
