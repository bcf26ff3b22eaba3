/**
 * Inflates a raw DEFLATE stream (RFC 1951) in one go: the `DecompressionStream` of the runtimes is asynchronous, and the
 * engine starts in the middle of a synchronous call.
 *
 * Time is linear in the size of the output. A code is looked up whole, in a table of 2^(longest code) entries that each
 * block makes. Only the stream that the build wrote is ever read, so it is taken to be sound.
 */

/** The order in which a block writes the lengths of its code length codes. */
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const END_OF_BLOCK = 256;
const LONGEST_CODE = 15;

/** A prefix code: `symbol << 4 | length` for whatever the next bits are. */
interface Code {
  entries: Uint16Array;
  mask: number;
}

/** @param size How many bytes come out. */
export function inflate(input: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const output = new Uint8Array(size);
  const lengths = ranges(3, 28, 4);
  [lengths.base[28], lengths.extra[28]] = [258, 0];
  const distances = ranges(1, 30, 2);
  let [read, written] = [0, 0];
  let [buffer, buffered] = [0, 0];

  /** Makes at least this many bits ready; at most 16. Behind the end there are zeros. */
  const need = (count: number): void => {
    while (buffered < count) {
      buffer |= (input[read++] ?? 0) << buffered;
      buffered += 8;
    }
  };
  const bits = (count: number): number => {
    need(count);
    const value = buffer & ((1 << count) - 1);
    buffer >>>= count;
    buffered -= count;
    return value;
  };
  const symbol = ({ entries, mask }: Code): number => {
    need(LONGEST_CODE);
    const entry = entries[buffer & mask] as number;
    buffer >>>= entry & 15;
    buffered -= entry & 15;
    return entry >> 4;
  };
  const store = (): void => {
    // Whole bytes that were made ready go back.
    read -= buffered >> 3;
    [buffer, buffered] = [0, 0];
    const count = (input[read] as number) | ((input[read + 1] as number) << 8);
    output.set(input.subarray(read + 4, read + 4 + count), written);
    read += 4 + count;
    written += count;
  };
  const dynamicCodes = (): [Code, Code] => {
    const literals = bits(5) + 257;
    const total = literals + bits(5) + 1;
    const lengthsOfLengths = new Uint8Array(19);
    for (let index = 0, count = bits(4) + 4; index < count; index++) {
      lengthsOfLengths[CODE_LENGTH_ORDER[index] as number] = bits(3);
    }
    const code = codeOf(lengthsOfLengths);
    const all = new Uint8Array(total);
    for (let index = 0; index < total;) {
      const next = symbol(code);
      if (next < 16) all[index++] = next;
      else if (next === 16) {
        const end = index + 3 + bits(2);
        all.fill(all[index - 1] as number, index, end);
        index = end;
      } else index += next === 17 ? 3 + bits(3) : 11 + bits(7);
    }
    return [codeOf(all.subarray(0, literals)), codeOf(all.subarray(literals))];
  };
  const block = ([literals, offsets]: [Code, Code]): void => {
    for (let next = symbol(literals); next !== END_OF_BLOCK; next = symbol(literals)) {
      if (next < END_OF_BLOCK) {
        output[written++] = next;
        continue;
      }
      const length = (lengths.base[next - 257] as number) + bits(lengths.extra[next - 257] as number);
      const offset = symbol(offsets);
      const from = written - (distances.base[offset] as number) - bits(distances.extra[offset] as number);
      // Not at once: what is copied may reach into what the copy writes.
      for (let index = 0; index < length; index++) output[written++] = output[from + index] as number;
    }
  };

  for (let isLast = false; !isLast;) {
    isLast = bits(1) === 1;
    const kind = bits(2);
    if (kind === 0) store();
    else block(kind === 1 ? fixedCodes() : dynamicCodes());
  }
  return output;
}

/** Where the values of codes begin and how many bits follow each: one more after every group of codes. */
function ranges(first: number, count: number, group: number): { base: Uint16Array; extra: Uint8Array } {
  const base = new Uint16Array(count + 1);
  const extra = new Uint8Array(count + 1);
  for (let code = 0, next = first; code < count; code++) {
    const more = Math.max(0, Math.floor(code / group) - 1);
    [base[code], extra[code]] = [next, more];
    next += 2 ** more;
  }
  return { base, extra };
}

function fixedCodes(): [Code, Code] {
  const lengths = new Uint8Array(288).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
  return [codeOf(lengths), codeOf(new Uint8Array(30).fill(5))];
}

/** The canonical code of these lengths, one for each symbol; 0 for symbols that do not occur. */
function codeOf(lengths: Uint8Array): Code {
  const longest = lengths.reduce((most, length) => Math.max(most, length), 1);
  const entries = new Uint16Array(1 << longest);
  let code = 0;
  for (let length = 1; length <= longest; length++, code <<= 1) {
    for (let symbol = lengths.indexOf(length); symbol !== -1; symbol = lengths.indexOf(length, symbol + 1), code++) {
      // A code begins with its highest bit, the numbers around it with their lowest.
      let reversed = 0;
      for (let bit = 0; bit < length; bit++) reversed |= ((code >> bit) & 1) << (length - 1 - bit);
      for (let at = reversed; at < entries.length; at += 1 << length) entries[at] = (symbol << 4) | length;
    }
  }
  return { entries, mask: entries.length - 1 };
}
