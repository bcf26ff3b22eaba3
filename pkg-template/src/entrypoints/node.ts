// Node: the module lies one folder up and is read when the engine is first used.
import { readFileSync } from "node:fs";
import { provideModule } from "../engine/instance.js";
import { provideEnvironment } from "../judges/default.js";
import { judgeFromEnvironment } from "../judges/environment.js";

provideModule(() => readFileSync(new URL("../adk_metrics.wasm", import.meta.url)));

provideEnvironment((model) => judgeFromEnvironment(model, process.env));

export * from "../index.js";
export { fileCache } from "../judges/cache-file.js";
