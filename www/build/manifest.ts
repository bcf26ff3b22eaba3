/** What the engine lists, as `virtual:manifest`: the build of the package wrote it from the Rust code. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const file = fileURLToPath(new URL("../../target/schema/manifest.json", import.meta.url));
const ID = "virtual:manifest";

interface Manifest {
  /** Names and thresholds. */
  defaultCriteria: [string, number][];
  providers: { name: string; label: string; origin: string }[];
}

export function manifest(): Plugin {
  return {
    name: "manifest",
    resolveId: (id) => (id === ID ? `\0${id}` : null),
    load(id) {
      if (id !== `\0${ID}`) return null;
      this.addWatchFile(file);
      const { defaultCriteria, providers } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
      const known = providers.map(({ name, label, origin }) => [name, { label, origin }]);
      return [
        `export const DEFAULT_CRITERIA = ${JSON.stringify(Object.fromEntries(defaultCriteria))};`,
        `export const PROVIDERS = ${JSON.stringify(Object.fromEntries(known))};`,
      ].join("\n");
    },
  };
}
