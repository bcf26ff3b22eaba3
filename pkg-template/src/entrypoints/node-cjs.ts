// CommonJS in Node: as node.ts, where `import.meta` does not exist.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { provideModule } from "../engine/instance.js";
import { useEnvironment } from "./environment.js";

declare const __dirname: string;

provideModule(() => readFileSync(join(__dirname, "..", "adk_metrics.wasm")));
useEnvironment();

export * from "../index.js";
export * from "./node-only.js";
