import { inflateSync } from "fflate";
import { deflatedWasm, digits } from "../generated/wasm-deflated.js";

/**
 * The `.wasm` that travels inside the JavaScript, so that no bundler, no server and no permission needs to know of it.
 *
 * `DecompressionStream` is asynchronous, and the engine starts in the middle of a synchronous call: hence fflate.
 */
export function inlineModule(): Uint8Array<ArrayBuffer> {
  return inflateSync(bytesOfBase85(deflatedWasm));
}

/** Four bytes for every five digits. */
function bytesOfBase85(text: string): Uint8Array {
  const values = new Uint8Array(128);
  for (let value = 0; value < 85; value++) values[digits.charCodeAt(value)] = value;
  const bytes = new DataView(new ArrayBuffer((text.length / 5) * 4));
  for (let from = 0, to = 0; from < text.length; to += 4) {
    let word = 0;
    for (const end = from + 5; from < end; from++) word = word * 85 + (values[text.charCodeAt(from)] as number);
    bytes.setUint32(to, word);
  }
  return new Uint8Array(bytes.buffer);
}
