import { deflatedSize, deflatedWasm, wasmSize } from "../generated/wasm-deflated.js";
import { decodeBase91 } from "./base91.js";
import { inflate } from "./inflate.js";

/** The `.wasm` that travels inside the JavaScript, so that no bundler, no server and no permission needs to know of it. */
export function inlineModule(): Uint8Array<ArrayBuffer> {
  return inflate(decodeBase91(deflatedWasm, deflatedSize), wasmSize);
}
