// Writes the licence notices of what the package carries and others wrote: crates in the WebAssembly, Unicode's data, npm
// packages in the playground.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./setup.mjs";

/** The file, in the package and on the playground's site. */
export const NOTICES = "THIRD_PARTY_LICENSES.md";

/** What `cargo` and `cargo tree` know of the engine: the features and the target that it is built with. */
export const ENGINE = ["--locked", "--features", "wasm"];
const TARGET = "wasm32-unknown-unknown";

/**
 * Writes the notices of the package, and of the playground once its packages are installed.
 *
 * @param file The file to write.
 * @param www The playground's folder, if it is part of what the notices are for.
 */
export function writeNotices(file, www) {
  const sections = [
    ["Crates compiled into the WebAssembly", crates()],
    ["Standard library and data", [rust(), unicode()]],
    ["Packages in the JavaScript", packages(root)],
    ...(www === undefined ? [] : [["Packages in the playground", packages(www)]]),
  ];
  const text = [
    "# Third-party licences\n\nadk-metrics itself is licensed under Apache-2.0, whose text is in `LICENSE`. It carries:\n",
    ...sections.flatMap(([title, parts]) => [`## ${title}\n`, ...notices(parts)]),
    `## The MIT License\n\n\`\`\`text\n${MIT}\n\`\`\`\n`,
  ].join("\n");
  writeFileSync(file, text);
}

/** The text of the MIT License below the copyright, which most parts have in lines of their own making. */
const MIT = readFileSync(new URL("notices/mit.txt", import.meta.url), "utf8").trim();

/** The same text, however its lines and quotation marks are set. */
const MIT_IN_ANY_LINES = new RegExp(
  MIT.split(/\s+/)
    .map((word) => word.replaceAll(/[.()]/g, "\\$&").replaceAll('"', '["“”]'))
    .join("\\s+"),
);

/** The licence of Unicode's data, which stands with it, and which crates with some of the data have as well. */
const UNICODE = readFileSync(new URL("notices/unicode.txt", import.meta.url), "utf8").trim();

/** A text that names the licences of others' making instead of repeating them. */
function withoutRepeated(text) {
  const withoutMit = text.replace(MIT_IN_ANY_LINES, "Used under the MIT License, whose text is at the end.");
  if (withoutMit === UNICODE) return UNICODE;
  return withoutMit.replace(UNICODE, "Used under the Unicode License V3, whose text stands with Unicode's data below.");
}

/** The notices of some parts; each text stands once, below the names of all that have it. */
function notices(parts) {
  const byText = new Map();
  for (const { name, license, text: whole } of parts) {
    const text = withoutRepeated(whole);
    const names = byText.get(text) ?? [];
    names.push(`- ${name} (${license})`);
    byText.set(text, names);
  }
  return [...byText].map(([text, names]) => `${names.join("\n")}\n\n\`\`\`text\n${text}\n\`\`\`\n`);
}

function crates() {
  const cargo = (...args) => execFileSync("cargo", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  const { packages } = JSON.parse(cargo("metadata", "--format-version", "1", "--filter-platform", TARGET, ...ENGINE));
  const known = new Map(packages.map((one) => [`${one.name} ${one.version}`, one]));
  const tree = cargo("tree", "-p", "adk-metrics", "-e", "normal", "--target", TARGET, "--prefix", "none", ...ENGINE);
  const names = new Set([...tree.matchAll(/^(\S+) v(\S+)/gm)].map(([, name, version]) => `${name} ${version}`));
  return [...names]
    .filter((name) => !name.startsWith("adk-metrics "))
    .sort()
    .map((name) => {
      const { license, manifest_path: manifest, authors } = known.get(name);
      return { name, license, text: textOf(dirname(manifest), license, name, authors) };
    });
}

/**
 * The text that a licence asks to be passed on. Of several that may be chosen from it is MIT's, which is short and names the
 * authors.
 */
function textOf(folder, license, name, authors = []) {
  const files = readdirSync(folder).filter((file) => /^(?:licen[sc]e|copying|notice)/i.test(file));
  const read = (file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
  const also = files.filter((file) => /unicode|^notice/i.test(file));
  const mit = files.find((file) => /mit/i.test(file)) ?? files.find((file) => /^licen[sc]e(?:\.\w+)?$/i.test(file));
  if (/\bMIT\b/.test(license) && mit !== undefined) return [mit, ...also].map(read).join("\n\n");
  if (/\bApache-2\.0\b/.test(license)) {
    const by = authors.length === 0 ? "" : `Copyright ${authors.join(", ")}. `;
    return [`${by}Used under the Apache License, Version 2.0, whose text is in LICENSE.`, ...also.map(read)].join(
      "\n\n",
    );
  }
  throw new Error(`${name} (${license}) has no licence file that can be passed on: ${folder}`);
}

function rust() {
  const text =
    "Copyright (c) The Rust Project Contributors. Used under the Apache License, Version 2.0, whose text is in LICENSE.";
  return { name: "Rust's standard library", license: "MIT OR Apache-2.0", text };
}

function unicode() {
  return { name: "Data of the Unicode Character Database", license: "Unicode-3.0", text: UNICODE };
}

/** The packages that a folder's `dependencies` bring: they are bundled, while `devDependencies` only build. */
function packages(project) {
  const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
  return Object.entries(lock.packages)
    .filter(([path, { dev, link }]) => path.startsWith("node_modules/") && !dev && !link)
    .map(([path, { version }]) => {
      const folder = join(project, path);
      const name = `${path.replace(/^.*node_modules\//, "")} ${version}`;
      const { license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      return { name, license, text: textOf(folder, license, name) };
    });
}
