// As node.ts where the module cannot be read from beside the JavaScript: bundled for Node, which leaves files behind, and
// Deno, which would ask for the permission to read.
import { provideModule } from "../engine/instance.js";
import { useEnvironment } from "./environment.js";
import { inlineModule } from "./inline-module.js";

provideModule(inlineModule);
useEnvironment();

export * from "../index.js";
export { fileCache } from "./environment.js";
