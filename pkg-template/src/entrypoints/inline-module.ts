import { deflatedWasm, wasmSize } from "../generated/wasm-deflated.js";
import { inflate } from "./inflate.js";

/** The `.wasm` that travels inside the JavaScript, so that no bundler, no server and no permission needs to know of it. */
export function inlineModule(): Uint8Array<ArrayBuffer> {
  const characters = atob(deflatedWasm);
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = characters.charCodeAt(index);
  return inflate(bytes, wasmSize);
}
