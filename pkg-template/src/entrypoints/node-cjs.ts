// CommonJS in Node: as node.ts, where `import.meta` does not exist.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { provideModule } from "../engine/instance.js";

declare const __dirname: string;

provideModule(() => readFileSync(join(__dirname, "..", "adk_metrics.wasm")));

export * from "../index.js";
