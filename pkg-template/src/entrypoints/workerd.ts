// Cloudflare Workers compile no WebAssembly while they run: the module is imported, and its bundler uploads it.
import module from "../adk_metrics.wasm";
import { provideModule } from "../engine/instance.js";

provideModule(() => module);

export * from "../index.js";
