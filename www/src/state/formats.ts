/** The report formats that the worker can export. */

import { signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { FormatChoice } from "../worker/protocol.js";

export const formats = signal<readonly FormatChoice[]>([]);

/** Loads the formats at the first call. */
export async function loadFormats(): Promise<void> {
  if (formats.value.length === 0) formats.value = await engine.formats();
}
