// Node: the module lies one folder up and is read when the engine is first used. The path is put together in a way that
// tools which copy what a server needs can follow, and bundlers leave alone.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { provideModule } from "../engine/instance.js";
import { useEnvironment } from "./environment.js";

provideModule(() => readFileSync(join(dirname(fileURLToPath(import.meta.url)), "../adk_metrics.wasm")));
useEnvironment();

export * from "../index.js";
export * from "./node-only.js";
