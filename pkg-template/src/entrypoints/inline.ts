// Everywhere else: the module travels inside the JavaScript, so that no bundler and no server needs to know of it.
import { provideModule } from "../engine/instance.js";
import { wasmBase64 } from "../generated/wasm-base64.js";

provideModule(() => Uint8Array.from(atob(wasmBase64), (character) => character.charCodeAt(0)));

export * from "../index.js";
