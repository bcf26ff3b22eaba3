// As web.ts outside of browsers, where pages are rendered with the same code: `fetch` finds no file beside a module there.
import { provideModule } from "../engine/instance.js";
import { broughtEngine, type EngineSource, loadOnce, sourceAt } from "./init.js";
import { inlineModule } from "./inline-module.js";

provideModule(broughtEngine);

/** Loads the engine: by default the one that travels inside the JavaScript. */
export function init(source?: string | URL | EngineSource | Promise<EngineSource>): Promise<void> {
  return loadOnce(() => (source === undefined ? inlineModule() : sourceAt(source)));
}

export type { EngineSource };
export * from "../index.js";
