/** The file whose text is the config in use: what is changed in one is changed in the other. */

import { effect, signal } from "@preact/signals";
import { configText } from "./config.js";
import { type Source, sourceOf, write } from "./inputs.js";

/** The file that the config came from; absent if it came from none. */
export const activeConfig = signal<number | undefined>(undefined);

/** Has a file's text be the config. */
export function activateConfig({ id, bytes }: Source): void {
  activeConfig.value = id;
  configText.value = new TextDecoder().decode(bytes);
}

effect(() => {
  const text = configText.value;
  const source = sourceOf(activeConfig.peek());
  if (source !== undefined && new TextDecoder().decode(source.bytes) !== text) void write(source.id, text);
});
