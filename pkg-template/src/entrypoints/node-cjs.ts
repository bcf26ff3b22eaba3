// CommonJS in Node: as node.ts, where `import.meta` does not exist.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { provideModule } from "../engine/instance.js";
import { provideEnvironment } from "../judges/default.js";
import { judgeFromEnvironment } from "../judges/environment.js";

declare const __dirname: string;

provideModule(() => readFileSync(join(__dirname, "..", "adk_metrics.wasm")));

provideEnvironment((model) => judgeFromEnvironment(model, process.env));

export * from "../index.js";
export { fileCache } from "../judges/cache-file.js";
