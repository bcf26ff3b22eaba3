// Node only, for the command line.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "./environment.js";

/**
 * The variables in the text of a `.env` file: `NAME=value` a line, `export` before it allowed, values bare or in quotes,
 * which may span lines. In double quotes `\n`, `\r`, `\t`, `\"` and `\\` are escapes. A `#` begins a comment at the start
 * of a line, after a quoted value, and after white space in a bare one. Nothing is expanded. Lines of any other form are
 * passed over. O(n).
 */
export function parseDotenv(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [, name = "", double, single, bare = ""] of text.replace(/^\ufeff/, "").matchAll(LINE)) {
    const value = double === undefined ? (single ?? bare.trim()) : double.replace(/\\([nrt"\\])/g, unescaped);
    Object.defineProperty(variables, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return variables;
}

const LINE =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^])*)"|'([^']*)'|((?:[^\r\n#]|(?<=[^\s=])#)*))[^\r\n]*$/gm;

function unescaped(_: string, letter: string): string {
  return { n: "\n", r: "\r", t: "\t" }[letter] ?? letter;
}

/**
 * An environment together with the `.env` file of a folder, if there is one; what the environment sets itself wins.
 *
 * @throws the system's error if there is one that cannot be read.
 */
export function withDotenv(environment: Environment, folder: string): Environment {
  let text: string;
  try {
    text = readFileSync(join(folder, ".env"), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR" || code === "ENOTDIR") return environment;
    throw error;
  }
  const set = Object.entries(environment).filter(([, value]) => value !== undefined && value !== "");
  return { ...parseDotenv(text), ...Object.fromEntries(set) };
}
