const LINE_FEED = 10;

/** Lines of a text that comes in pieces, in steps that grow with the text: what has come of a line is not read again. */
export class LineBuffer {
  readonly #most: number;
  #pieces: string[] = [];
  #length = 0;

  /** @param most How many characters of a line are kept. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The lines that end in a piece, without those that are blank. */
  *push(piece: string): Generator<string> {
    for (let from = 0; ;) {
      // There may be nothing else without end.
      while (this.#length === 0 && piece.charCodeAt(from) === LINE_FEED) from += 1;
      const end = piece.indexOf("\n", from);
      if (end === -1) return this.#keep(piece.slice(from));
      this.#keep(piece.slice(from, end));
      const line = this.#pieces.join("");
      this.#pieces = [];
      this.#length = 0;
      from = end + 1;
      if (line.trim() !== "") yield line;
    }
  }

  #keep(part: string): void {
    const kept = part.slice(0, this.#most - this.#length);
    if (kept === "") return;
    this.#pieces.push(kept);
    this.#length += kept.length;
  }
}
