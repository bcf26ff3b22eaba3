/** Keeps the active config and the file that it came from in sync. */

import { effect, signal } from "@preact/signals";
import { configText } from "./config.js";
import { type Source, sourceOf, write } from "./inputs.js";

/** The id of the file that the config came from, if it came from one. */
export const activeConfig = signal<number | undefined>(undefined);

/** Makes a file the active config. */
export function activateConfig({ id, bytes }: Source): void {
  activeConfig.value = id;
  configText.value = new TextDecoder().decode(bytes);
}

effect(() => {
  const text = configText.value;
  const source = sourceOf(activeConfig.peek());
  if (source !== undefined && new TextDecoder().decode(source.bytes) !== text) void write(source.id, text);
});
