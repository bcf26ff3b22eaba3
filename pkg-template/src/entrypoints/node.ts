// Node: the module lies one folder up and is read when the engine is first used.
import { readFileSync } from "node:fs";
import { provideModule } from "../engine/instance.js";
import { useEnvironment } from "./environment.js";

provideModule(() => readFileSync(new URL("../adk_metrics.wasm", import.meta.url)));
useEnvironment();

export * from "../index.js";
export { type CustomMetricsOptions, fileCache, loadCustomMetrics } from "./environment.js";
