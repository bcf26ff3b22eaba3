/**
 * The examples of the repository: `virtual:examples` has a function for each that loads its files. They come as one module,
 * since a request for each of them takes more than they do.
 */

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JudgeRequest } from "adk-metrics";
import type { Plugin } from "vite";
import { placeOf } from "../src/worker/example-place.js";

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
      const texts = paths.map((path) => [basename(path), shortened(basename(path), readFileSync(path, "utf8"))]);
      return `export default ${JSON.stringify(Object.fromEntries(texts))};`;
    },
  };
}

/**
 * A recording without its questions, which take most of it: the engine asks them again when the example is loaded
 * (`src/worker/examples.ts`).
 */
function shortened(name: string, text: string): string {
  if (name !== "judge.jsonl") return text;
  const [header = "", ...calls] = text.trimEnd().split("\n");
  const replies = calls.map((line) => {
    const { request, reply } = JSON.parse(line) as { request: JudgeRequest; reply: unknown };
    return JSON.stringify([placeOf(request), reply]);
  });
  return [header, ...replies].join("\n");
}

/** The files of an example but for what its recording is made of. */
function filesOf(folder: string): string[] {
  const names = readdirSync(join(examples, folder)).filter((name) => /\.jsonl?$/.test(name) && name !== "replies.json");
  return names.map((name) => join(examples, folder, name));
}
