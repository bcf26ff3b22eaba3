// The engine as it was built into pkg/, for tests that use the source of the package around it.

import { readFileSync } from "node:fs";
import { provideModule } from "../../../pkg-template/src/engine/instance.js";

/** How often the engine was loaded. */
export let loads = 0;

provideModule(() => {
  loads += 1;
  return readFileSync(new URL("../../../pkg/dist/adk_metrics.wasm", import.meta.url));
});
