// Browsers whose bundler or server brings the `.wasm` as a file of its own, which is compiled while it arrives.
import { provideModule } from "../engine/instance.js";
import { broughtEngine, type EngineSource, loadOnce, sourceAt } from "./init.js";

provideModule(broughtEngine);

/**
 * Loads the engine; everything else works once this is done. Calling it again gives the same promise, or tries again
 * if it failed.
 *
 * ```ts
 * import { init, rouge1 } from "adk-metrics/web";
 *
 * await init();
 * rouge1("The weather is sunny", "It is sunny").fmeasure;
 * ```
 *
 * @param source Where the `.wasm` is, or what it is. Default: beside this package, where bundlers find it.
 * @throws {AdkMetricsError} `engine_unavailable` if it does not come or does not compile.
 */
export function init(source?: string | URL | EngineSource | Promise<EngineSource>): Promise<void> {
  return loadOnce(() => sourceAt(source ?? new URL("../adk_metrics.wasm", import.meta.url)));
}

export type { EngineSource };
export * from "../index.js";
