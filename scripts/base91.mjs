/** Bytes as text, as `pkg-template/src/entrypoints/base91.ts` reads them. */

const DIGITS = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).filter(
  (character) => !'"$<\\'.includes(character),
);

export function encodeBase91(bytes) {
  const pair = (value) => DIGITS[value % 91] + DIGITS[Math.floor(value / 91)];
  let [text, buffer, buffered] = ["", 0, 0];
  for (const byte of bytes) {
    buffer |= byte << buffered;
    buffered += 8;
    if (buffered < 13) continue;
    text += pair(buffer & 8191);
    buffer >>>= 13;
    buffered -= 13;
  }
  return buffered > 0 ? text + pair(buffer) : text;
}
