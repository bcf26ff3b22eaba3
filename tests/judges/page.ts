// What the page of chromium.test.mjs runs. Like the page's own scripts it is bundled for browsers, without Node.

import { provideModule } from "../../pkg-template/src/engine/instance.js";
import { wasmBase64 } from "../../pkg-template/src/generated/wasm-base64.js";

provideModule(() => Uint8Array.from(atob(wasmBase64), (character) => character.charCodeAt(0)));

export * from "../../pkg-template/src/judges/index.js";
