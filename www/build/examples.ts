/**
 * The examples of the repository: `virtual:examples` has a function for each that loads its files. They come as one module,
 * since a request for each of them takes more than they do.
 */

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));
const ALL = "virtual:examples";
const ONE = "virtual:example/";

export function exampleFiles(): Plugin {
  return {
    name: "examples",
    resolveId: (id) => (id === ALL || id.startsWith(ONE) ? `\0${id}` : null),
    load(id) {
      if (id === `\0${ALL}`) {
        const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory());
        const filled = folders.map(({ name }) => name).filter((name) => filesOf(name).length > 0);
        const loads = filled.map((name) => `${JSON.stringify(name)}: () => import("${ONE}${name}")`);
        return `export default { ${loads.join(", ")} };`;
      }
      if (!id.startsWith(`\0${ONE}`)) return null;
      const paths = filesOf(id.slice(`\0${ONE}`.length));
      for (const path of paths) this.addWatchFile(path);
      const texts = paths.map((path) => [basename(path), readFileSync(path, "utf8")]);
      return `export default ${JSON.stringify(Object.fromEntries(texts))};`;
    },
  };
}

/** The files of an example but for what its recording is made of. */
function filesOf(folder: string): string[] {
  const names = readdirSync(join(examples, folder)).filter((name) => /\.jsonl?$/.test(name) && name !== "replies.json");
  return names.map((name) => join(examples, folder, name));
}
