/** The beginning of a line whose end has not come yet. A stream may give it byte by byte, and reuse its buffer. */
export class Rest {
  #bytes = new Uint8Array(0);
  size = 0;

  add(more: Uint8Array): void {
    const size = this.size + more.length;
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(2 * size);
      larger.set(this.taken());
      this.#bytes = larger;
    }
    this.#bytes.set(more, size - more.length);
    this.size = size;
  }

  /** What there is, which is to be copied before more comes. */
  taken(): Uint8Array {
    const { size } = this;
    this.size = 0;
    return this.#bytes.subarray(0, size);
  }
}
