// As web.ts in Node, where pages are rendered with the same code: `fetch` knows no files there.
import { readFile } from "node:fs/promises";
import { provideModule } from "../engine/instance.js";
import { broughtEngine, type EngineSource, loadOnce } from "./init.js";

provideModule(broughtEngine);

/** Loads the engine: by default from the package's own file. */
export function init(source?: string | URL | EngineSource | Promise<EngineSource>): Promise<void> {
  return loadOnce(() => {
    if (source === undefined) return readFile(new URL("../adk_metrics.wasm", import.meta.url));
    return typeof source === "string" || source instanceof URL ? fetch(source) : source;
  });
}

export type { EngineSource };
export * from "../index.js";
