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

/** Lines in the order in which they were read, found by the id of their case. An id is known by 64 bits of its hash. */
export class LineRows {
  count = 0;
  #file = new Uint16Array(FIRST_CAPACITY);
  #offset = new Float64Array(FIRST_CAPACITY);
  #length = new Uint32Array(FIRST_CAPACITY);
  #line = new Uint32Array(FIRST_CAPACITY);
  /** The two halves of each id's hash. */
  #low = new Uint32Array(FIRST_CAPACITY);
  #high = new Uint32Array(FIRST_CAPACITY);
  /** The next line of the same id, and of the first line of an id the last one. */
  #next = new Int32Array(FIRST_CAPACITY);
  #last = new Int32Array(FIRST_CAPACITY);
  /** Which line is the first of an id, by the hash. */
  #slots = new Int32Array(2 * FIRST_CAPACITY).fill(NONE);

  /** Adds a line. @returns The first line of the same id, if there is one before. */
  add(file: number, offset: number, length: number, line: number, id: string): number | undefined {
    if (this.count === this.#file.length) this.#grow();
    const row = this.count++;
    const [low, high] = hashOf(id);
    this.#file[row] = file;
    this.#offset[row] = offset;
    this.#length[row] = length;
    this.#line[row] = line;
    this.#low[row] = low;
    this.#high[row] = high;
    this.#next[row] = NONE;
    this.#last[row] = row;
    const slot = this.#slotOf(low, high);
    const first = this.#slots[slot] as number;
    if (first === NONE) {
      this.#slots[slot] = row;
      return undefined;
    }
    this.#next[this.#last[first] as number] = row;
    this.#last[first] = row;
    return first;
  }

  /** The lines of the id of a line of others, in order. */
  *ofSameId(others: LineRows, row: number): Generator<number> {
    const slot = this.#slotOf(others.#low[row] as number, others.#high[row] as number);
    for (let at = this.#slots[slot] as number; at !== NONE; at = this.#next[at] as number) yield at;
  }

  /** The first line of an id. */
  firstOf(id: string): number | undefined {
    const row = this.#slots[this.#slotOf(...hashOf(id))] as number;
    return row === NONE ? undefined : row;
  }

  /** Whether a line has the id of one of others. */
  isIn(others: LineRows, row: number): boolean {
    return others.ofSameId(this, row).next().done !== true;
  }

  lengthOf(row: number): number {
    return this.#length[row] as number;
  }

  /** The places of some lines. */
  placesOf(rows: readonly number[]): Places {
    const pick = <T extends Uint16Array | Uint32Array | Float64Array>(from: T, to: T): T => {
      rows.forEach((row, at) => (to[at] = from[row] as number));
      return to;
    };
    return {
      file: pick(this.#file, new Uint16Array(rows.length)),
      offset: pick(this.#offset, new Float64Array(rows.length)),
      length: pick(this.#length, new Uint32Array(rows.length)),
      line: pick(this.#line, new Uint32Array(rows.length)),
    };
  }

  #slotOf(low: number, high: number): number {
    const mask = this.#slots.length - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const row = this.#slots[at] as number;
      if (row === NONE || (this.#low[row] === low && this.#high[row] === high)) return at;
    }
  }

  #grow(): void {
    const capacity = 2 * this.#file.length;
    const grown = <T extends { set(from: T): void }>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.#file = grown(new Uint16Array(capacity), this.#file);
    this.#offset = grown(new Float64Array(capacity), this.#offset);
    this.#length = grown(new Uint32Array(capacity), this.#length);
    this.#line = grown(new Uint32Array(capacity), this.#line);
    this.#low = grown(new Uint32Array(capacity), this.#low);
    this.#high = grown(new Uint32Array(capacity), this.#high);
    this.#next = grown(new Int32Array(capacity), this.#next);
    this.#last = grown(new Int32Array(capacity), this.#last);
    const firsts = this.#slots.filter((row) => row !== NONE);
    this.#slots = new Int32Array(2 * capacity).fill(NONE);
    for (const row of firsts) this.#slots[this.#slotOf(this.#low[row] as number, this.#high[row] as number)] = row;
  }
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
