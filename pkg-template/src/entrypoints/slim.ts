// Wherever the caller brings the module.
import { provideModule } from "../engine/instance.js";
import { broughtEngine, type EngineSource, loadOnce, setEngine } from "./init.js";

provideModule(broughtEngine);

/**
 * Loads the engine from what you bring; everything else works once this is done. Only the first call counts, unless it
 * failed.
 *
 * ```ts
 * import { init, rouge1 } from "adk-metrics/slim";
 *
 * await init(fetch("/assets/adk_metrics.wasm")); // the file `adk-metrics/adk_metrics.wasm`
 * rouge1("The weather is sunny", "It is sunny").fmeasure;
 * ```
 *
 * @throws {AdkMetricsError} `engine_unavailable` if it does not come or does not compile.
 */
export function init(source: EngineSource | Promise<EngineSource>): Promise<void> {
  return loadOnce(() => source);
}

/** As {@link init}, at once: bytes are compiled when the engine is first used. */
export function initSync(source: BufferSource | WebAssembly.Module): void {
  setEngine(source);
}

export type { EngineSource };
export * from "../index.js";
