/**
 * Bytes as text that JavaScript quotes without escapes: 13 bits in two of 91 characters, which is 8 % shorter than
 * base64. The first character is the lower digit. Only what `scripts/base91.mjs` wrote is ever read.
 */

/** @param size How many bytes come out. */
export function decodeBase91(text: string, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let read = 0, written = 0, buffer = 0, buffered = 0; written < size;) {
    buffer |= (digit(text.charCodeAt(read)) + 91 * digit(text.charCodeAt(read + 1))) << buffered;
    read += 2;
    for (buffered += 13; buffered >= 8 && written < size; buffered -= 8, buffer >>>= 8) bytes[written++] = buffer;
  }
  return bytes;
}

/** The digits are printable ASCII without `"`, `$`, `<` and `\`, which mean something to what handles code. */
function digit(code: number): number {
  return code - 32 - (code > 34 ? 1 : 0) - (code > 36 ? 1 : 0) - (code > 60 ? 1 : 0) - (code > 92 ? 1 : 0);
}
