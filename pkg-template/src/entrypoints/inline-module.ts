import { inflateSync } from "fflate";
import { deflatedWasm } from "../generated/wasm-deflated.js";

/**
 * The `.wasm` that travels inside the JavaScript, so that no bundler, no server and no permission needs to know of it.
 *
 * `DecompressionStream` is asynchronous, and the engine starts in the middle of a synchronous call: hence fflate.
 */
export function inlineModule(): Uint8Array<ArrayBuffer> {
  return inflateSync(bytesOfZ85(deflatedWasm));
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/** Z85 (ZeroMQ's RFC 32): four bytes in five characters that need no escapes in strings. Base64 would take 20 kB more. */
function bytesOfZ85(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let value = 0; value < 85; value++) values[DIGITS.charCodeAt(value)] = value;
  const bytes = new Uint8Array((text.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let from = 0, to = 0; from < text.length; from += 5, to += 4) {
    let value = 0;
    for (let at = from; at < from + 5; at++) value = value * 85 + (values[text.charCodeAt(at)] as number);
    view.setUint32(to, value);
  }
  return bytes;
}
