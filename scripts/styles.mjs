// Makes the stylesheets of HTML reports from their sources: minified, each with the hash that the pages' policy allows it by.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";

/** The constants of the module, and the files in `report/styles` that each is made of, in order. */
const STYLESHEETS = {
  STYLE: ["base", "cases", "media"],
  JUDGED_STYLE: ["judged"],
  ESTIMATES_STYLE: ["estimates"],
};

/** @param {string} folder The folder of the sources. @param {string} file The module to write. */
export function writeStyles(folder, file) {
  const constants = Object.entries(STYLESHEETS).map(([name, parts]) => {
    const source = parts.map((part) => readFileSync(join(folder, `${part}.css`), "utf8")).join("");
    const text = transformSync(source, {
      loader: "css",
      minify: true,
      charset: "utf8",
      legalComments: "none",
    }).code.trim();
    const hash = `sha256-${createHash("sha256").update(text).digest("base64")}`;
    return `export const ${name} = ${JSON.stringify(text)};\nexport const ${name}_HASH = "${hash}";\n`;
  });
  writeFileSync(file, constants.join("\n"));
}
