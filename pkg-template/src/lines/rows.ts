/** The positions of lines in files, and their cases: some forty bytes a line, so that millions of them fit. */

/** Places of lines. */
export interface Places {
  /** Which of the files, by its number. */
  readonly file: Uint16Array;
  readonly offset: Float64Array;
  readonly length: Uint32Array;
  /** The number of the line in its file, from 1. */
  readonly line: Uint32Array;
}

const FIRST_CAPACITY = 1024;
const NONE = -1;

/** What is kept of each line. */
interface Columns {
  file: Uint16Array;
  offset: Float64Array;
  length: Uint32Array;
  line: Uint32Array;
  /** The two halves of each id's hash. */
  low: Uint32Array;
  high: Uint32Array;
  /** The next line of the same id, and of the first line of an id the last one. */
  next: Int32Array;
  last: Int32Array;
}

/** Lines as another thread can send them. */
export interface SentRows {
  readonly count: number;
  readonly columns: Columns;
  /** Which line is the first of an id, by the hash. */
  readonly slots: Int32Array;
}

/** Lines in the order in which they were read, found by the id of their case. An id is known by 64 bits of its hash. */
export class LineRows {
  count: number;
  #columns: Columns;
  #slots: Int32Array;

  /** @param sent The lines, if they were read by another thread. */
  constructor(sent?: SentRows) {
    this.count = sent?.count ?? 0;
    this.#columns = sent?.columns ?? columnsOf(FIRST_CAPACITY);
    this.#slots = sent?.slots ?? new Int32Array(2 * FIRST_CAPACITY).fill(NONE);
  }

  /** The lines, to be sent to another thread. */
  get sent(): SentRows {
    return { count: this.count, columns: this.#columns, slots: this.#slots };
  }

  /** Adds a line. @returns The first line of the same id, if there is one before. */
  add(file: number, offset: number, length: number, line: number, id: string): number | undefined {
    if (this.count === this.#columns.file.length) this.#grow();
    const columns = this.#columns;
    const row = this.count++;
    const [low, high] = hashOf(id);
    columns.file[row] = file;
    columns.offset[row] = offset;
    columns.length[row] = length;
    columns.line[row] = line;
    columns.low[row] = low;
    columns.high[row] = high;
    columns.next[row] = NONE;
    columns.last[row] = row;
    const slot = this.#slotOf(low, high);
    const first = this.#slots[slot] as number;
    if (first === NONE) {
      this.#slots[slot] = row;
      return undefined;
    }
    columns.next[columns.last[first] as number] = row;
    columns.last[first] = row;
    return first;
  }

  /** The lines of the id of a line of others, in order. */
  *ofSameId(others: LineRows, row: number): Generator<number> {
    for (let at = this.#firstAs(others, row); at !== NONE; at = this.#columns.next[at] as number) yield at;
  }

  /** The first line of an id. */
  firstOf(id: string): number | undefined {
    const row = this.#slots[this.#slotOf(...hashOf(id))] as number;
    return row === NONE ? undefined : row;
  }

  /** Whether a line has the id of one of others. */
  isIn(others: LineRows, row: number): boolean {
    return others.#firstAs(this, row) !== NONE;
  }

  lengthOf(row: number): number {
    return this.#columns.length[row] as number;
  }

  /** The places of some lines. */
  placesOf(rows: readonly number[]): Places {
    const { file, offset, length, line } = this.#columns;
    const pick = <T extends Uint16Array | Uint32Array | Float64Array>(from: T, to: T): T => {
      rows.forEach((row, at) => (to[at] = from[row] as number));
      return to;
    };
    return {
      file: pick(file, new Uint16Array(rows.length)),
      offset: pick(offset, new Float64Array(rows.length)),
      length: pick(length, new Uint32Array(rows.length)),
      line: pick(line, new Uint32Array(rows.length)),
    };
  }

  #firstAs(others: LineRows, row: number): number {
    const { low, high } = others.#columns;
    return this.#slots[this.#slotOf(low[row] as number, high[row] as number)] as number;
  }

  #slotOf(low: number, high: number): number {
    const columns = this.#columns;
    const mask = this.#slots.length - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const row = this.#slots[at] as number;
      if (row === NONE || (columns.low[row] === low && columns.high[row] === high)) return at;
    }
  }

  #grow(): void {
    const old = this.#columns;
    const capacity = 2 * old.file.length;
    this.#columns = columnsOf(capacity);
    for (const name of Object.keys(old) as (keyof Columns)[]) this.#columns[name].set(old[name]);
    const firsts = this.#slots.filter((row) => row !== NONE);
    this.#slots = new Int32Array(2 * capacity).fill(NONE);
    const { low, high } = this.#columns;
    for (const row of firsts) this.#slots[this.#slotOf(low[row] as number, high[row] as number)] = row;
  }
}

function columnsOf(capacity: number): Columns {
  return {
    file: new Uint16Array(capacity),
    offset: new Float64Array(capacity),
    length: new Uint32Array(capacity),
    line: new Uint32Array(capacity),
    low: new Uint32Array(capacity),
    high: new Uint32Array(capacity),
    next: new Int32Array(capacity),
    last: new Int32Array(capacity),
  };
}

/** Two hashes of 32 bits: FNV-1a of A. Fowler, G. Noll and K.-P. Vo, and MurmurHash3's steps by A. Appleby. */
function hashOf(id: string): readonly [low: number, high: number] {
  let low = 0x811c9dc5;
  let high = id.length;
  for (let at = 0; at < id.length; at += 1) {
    const unit = id.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    const mixed = Math.imul(unit, 0xcc9e2d51);
    high = Math.imul((high ^ ((mixed << 15) | (mixed >>> 17))) | 0, 5) + 0xe6546b64;
    high = (high << 13) | (high >>> 19);
  }
  return [finish(low), finish(high)];
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
