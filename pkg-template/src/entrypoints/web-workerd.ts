// As web.ts in Cloudflare Workers, which compile no WebAssembly while they run.
import module from "../adk_metrics.wasm";
import { provideModule } from "../engine/instance.js";
import { broughtEngine, type EngineSource, loadOnce, sourceAt } from "./init.js";

provideModule(broughtEngine);

/** Loads the engine: by default the module that was uploaded with the worker. */
export function init(source?: string | URL | EngineSource | Promise<EngineSource>): Promise<void> {
  return loadOnce(() => (source === undefined ? module : sourceAt(source)));
}

export type { EngineSource };
export * from "../index.js";
