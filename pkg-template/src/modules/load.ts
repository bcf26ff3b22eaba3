/** Modules that the user names: ES modules, CommonJS, and TypeScript where the process can run it. */

import { existsSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messageOf } from "../engine/values.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import { definedProperties } from "../lists.js";

/** A module on disk, and maybe one of its exports: `./metrics.mjs#politeness`. */
export interface ModuleName {
  /** Its path, absolute. */
  file: string;
  /** The name of an export. */
  name?: string;
}

/**
 * Reads the name of a module: a path or a `file:` URL, then `#` and an export. A `#` in a path means no harm where there is
 * such a file.
 *
 * @param folder The folder that paths are relative to.
 */
export function moduleNameOf(given: string, folder: string): ModuleName {
  const hash = existsSync(pathOf(given, folder)) ? -1 : given.lastIndexOf("#");
  const name = hash < 0 ? "" : given.slice(hash + 1);
  const file = pathOf(hash < 0 ? given : given.slice(0, hash), folder);
  return name === "" ? { file } : { file, name };
}

function pathOf(given: string, folder: string): string {
  if (!given.startsWith("file:")) return resolve(folder, given);
  try {
    return fileURLToPath(given);
  } catch (cause) {
    throw new AdkMetricsError("invalid_input", `not the address of a module: ${messageOf(cause)}`, {
      path: given,
      cause,
    });
  }
}

/** Whether two paths lead to one file. */
export function isSameFile(a: string, b: string): boolean {
  return realPath(a) === realPath(b);
}

function realPath(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    return file;
  }
}

/** What a module exports. */
export type Exports = Readonly<Record<string, unknown>>;

/**
 * Waits for the user's code, but not for ever; a promise that nothing can settle any more would end the process.
 *
 * @param what What it does, for the error.
 * @throws {AdkMetricsError} `timeout` if it takes longer.
 */
export async function inTime<T>(work: T | Promise<T>, what: string, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new AdkMetricsError("timeout", `${what} took longer than ${timeoutMs / 1000} s`));
    timer = setTimeout(fail, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const DEFAULT_TIMEOUT_MS = 120_000;

/**
 * Loads a module, which runs its code.
 *
 * @param what What it is to hold, for errors: `agent`.
 * @param timeoutMs How long its code may take.
 * @throws {AdkMetricsError} `invalid_input` if there is none, or its code cannot be loaded; with what helps for TypeScript.
 */
export async function loadModule(file: string, what: string, timeoutMs?: number): Promise<Exports> {
  if (!existsSync(file)) {
    throw new AdkMetricsError("invalid_input", `the module of the ${what} does not exist`, { path: file });
  }
  checkKind(file, what);
  try {
    return await inTime(importFile(pathToFileURL(file).href), "loading it", timeoutMs);
  } catch (cause) {
    const location = locationOf(cause);
    const help = helpFor(file, cause, location === undefined);
    const words = isAdkMetricsError(cause) ? cause.message : messageOf(cause);
    const message = `the module of the ${what} cannot be loaded: ${words}`;
    throw new AdkMetricsError("invalid_input", message, {
      ...(location ?? { path: file }),
      ...definedProperties({ help }),
      cause,
    });
  }
}

/** Imports a file that only the running program knows, so that bundlers are not to look for it. */
export async function importFile(href: string): Promise<Exports> {
  try {
    return (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ href)) as Exports;
  } catch (error) {
    // Jest has its own loader, which imports only where Node was started with a flag.
    const { code } = (error ?? {}) as { code?: unknown };
    if (String(code).startsWith("ERR_VM_DYNAMIC_IMPORT")) {
      return requireFrom(href)(fileURLToPath(href)) as Exports;
    }
    throw error;
  }
}

/** By itself, since webpack warns of a `createRequire(…)` whose location it does not know. */
function requireFrom(href: string): NodeJS.Require {
  return createRequire(href);
}

/** Node would wait for a pipe without end, and read a device without end, as some of `/proc` that says it is an empty file. A folder it explains itself. */
function checkKind(file: string, what: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory() || (found.isFile() && found.size > 0)) return;
  if (found.isFile()) throw new AdkMetricsError("invalid_input", `the module of the ${what} is empty`, { path: file });
  throw new AdkMetricsError("invalid_input", `the module of the ${what} is not a regular file`, {
    path: file,
    help: "Pipes and devices cannot be read here: write their contents to a file first",
  });
}

/** The stack of a syntax error in CommonJS begins with its place, which may be in another module. */
function locationOf(cause: unknown): { path: string; line: number } | undefined {
  const [, path, line] = /^(.+):(\d+)\n/.exec(cause instanceof SyntaxError ? String(cause.stack) : "") ?? [];
  return path === undefined ? undefined : { path: pathOf(path, ""), line: Number(line) };
}

const TYPESCRIPT = /\.[cm]?tsx?$/;

function helpFor(file: string, cause: unknown, hasNoPlace: boolean): string | undefined {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  if (!/\.[cm]?[jt]sx?$|(?:^|[\\/])[^.\\/]*$/.test(file))
    return "A module is a JavaScript or TypeScript file (.js .mjs .cjs .ts)";
  const isForeign = code === "ERR_UNKNOWN_FILE_EXTENSION" || String(code).includes("TYPE");
  if (isForeign || (TYPESCRIPT.test(file) && (code === "ERR_MODULE_NOT_FOUND" || cause instanceof SyntaxError))) {
    return (
      `Node ${process.versions.node} cannot run this TypeScript directly (22.18 and newer can if the types can be ` +
      'stripped): install a loader and specify it, as in NODE_OPTIONS="--import tsx"'
    );
  }
  return cause instanceof SyntaxError && hasNoPlace ? `To see where, run node --check ${file}` : undefined;
}

/**
 * Where the exports of a module are, the first that has a name first: the module, and what CommonJS exports, which comes as
 * `default`, once more so where a loader made CommonJS of TypeScript.
 */
export function layersOf(exports: Exports): Exports[] {
  const layers: Exports[] = [exports];
  for (let at = 0; at < 2; at += 1) {
    const inner = layers[at]?.default;
    if (typeof inner !== "object" || inner === null) break;
    layers.push(inner as Exports);
  }
  return layers;
}

/** The value that a module exports under a name. */
export function exportOf(exports: Exports, name: string): unknown {
  return layersOf(exports).find((layer) => Object.hasOwn(layer, name))?.[name];
}
