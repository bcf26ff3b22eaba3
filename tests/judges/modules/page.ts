// What the page of chromium.test.mjs runs. Like the page's own scripts it is bundled for browsers, without Node.

import { provideModule } from "../../../pkg-template/src/engine/instance.js";
import { inlineModule } from "../../../pkg-template/src/entrypoints/inline-module.js";

provideModule(inlineModule);

export * from "../../../pkg-template/src/judges/index.js";
