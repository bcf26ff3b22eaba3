/** The formats of reports that can be saved, which the worker knows. */

import { signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { FormatChoice } from "../worker/protocol.js";

export const formats = signal<readonly FormatChoice[]>([]);

/** Asks for them, once. */
export async function loadFormats(): Promise<void> {
  if (formats.value.length === 0) formats.value = await engine.formats();
}
