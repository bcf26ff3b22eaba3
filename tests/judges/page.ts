// What the page of chromium.test.mjs runs. Like the page's own scripts it is bundled for browsers, without Node.

export * from "../../pkg-template/src/judges/index.js";
export { provideWire } from "../../pkg-template/src/judges/send.js";
