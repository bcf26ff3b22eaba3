import { inflateSync } from "fflate";
import { deflatedWasm } from "../generated/wasm-deflated.js";

/**
 * The `.wasm` that travels inside the JavaScript, so that no bundler, no server and no permission needs to know of it.
 *
 * `DecompressionStream` is asynchronous, and the engine starts in the middle of a synchronous call: hence fflate.
 */
export function inlineModule(): Uint8Array<ArrayBuffer> {
  return inflateSync(bytesOfBase85(deflatedWasm));
}

/** Four bytes of five characters: `(` to `~` without the two that strings escape. Base64 would take 20 kB more. */
function bytesOfBase85(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array((text.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let from = 0, to = 0; from < text.length; from += 5, to += 4) {
    let value = 0;
    for (let at = from; at < from + 5; at++) {
      const code = text.charCodeAt(at);
      value = value * 85 + code - (code > 96 ? 42 : code > 92 ? 41 : 40);
    }
    view.setUint32(to, value);
  }
  return bytes;
}
