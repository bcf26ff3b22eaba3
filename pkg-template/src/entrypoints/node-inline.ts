// As node.ts where the module cannot be read from beside the JavaScript: bundles for Node and for Bun leave files behind,
// Deno would ask for the permission to read.
import { provideModule } from "../engine/instance.js";
import { useEnvironment } from "./environment.js";
import { inlineModule } from "./inline-module.js";

provideModule(inlineModule);
useEnvironment();

export * from "../index.js";
export { type CustomMetricsOptions, fileCache, loadCustomMetrics } from "./environment.js";
