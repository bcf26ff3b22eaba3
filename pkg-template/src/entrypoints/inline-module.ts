import { inflateSync } from "fflate";
import { deflatedWasm } from "../generated/wasm-deflated.js";

/**
 * The `.wasm` that travels inside the JavaScript, so that no bundler, no server and no permission needs to know of it.
 *
 * `DecompressionStream` is asynchronous, and the engine starts in the middle of a synchronous call: hence fflate.
 */
export function inlineModule(): Uint8Array<ArrayBuffer> {
  return inflateSync(bytesOfBase64(deflatedWasm));
}

/** `Uint8Array.fromBase64` is newer than the oldest supported browsers, and `Uint8Array.from` a hundred times slower. */
function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = characters.charCodeAt(index);
  return bytes;
}
