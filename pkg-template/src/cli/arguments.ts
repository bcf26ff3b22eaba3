/** Reads a command's arguments; every mistake gets words that say what to write instead. */

import { parseArgs } from "node:util";
import { closest } from "../closest.js";
import { Mistake } from "./mistakes.js";
import { commandsWith } from "./options.js";

/** An option of a command. */
export interface Option {
  type: "string" | "boolean";
  /** The option may be given several times. */
  multiple?: boolean;
}

/** What was given. */
export interface Arguments {
  positionals: string[];
  /** The values of an option, in order. */
  all(name: string): string[];
  /** The value of an option that is given at most once. */
  one(name: string): string | undefined;
  /** Whether a switch is on. */
  has(name: string): boolean;
  /** All options with their values; of a switch an empty one. */
  options: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads arguments.
 *
 * @throws {Mistake} for an unknown option, a missing or needless value, an option given twice.
 */
export function parseArguments(args: readonly string[], options: Readonly<Record<string, Option>>): Arguments {
  const { tokens, positionals } = parseArgs({
    args: args.map(likeOurs),
    options: Object.fromEntries(Object.entries(options).map(([name, { type }]) => [name, { type, multiple: true }])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined || !rawName.startsWith("--")) throw unknownOption(name, rawName, Object.keys(options));
    if (option.type === "boolean") {
      if (value !== undefined) throw new Mistake(`${rawName} is a switch and takes no value`);
    } else if (value === undefined || value === "" || (!inlineValue && value.length > 1 && value.startsWith("-"))) {
      throw new Mistake(`${rawName} needs a value`, {
        help: value?.startsWith("-") ? `If the value begins with a dash, write ${rawName}=${value}` : undefined,
      });
    }
    const known = values.get(name) ?? [];
    if (known.length > 0 && option.multiple !== true) throw new Mistake(`${rawName} may be used only once`);
    values.set(name, [...known, value ?? ""]);
  }
  return {
    positionals,
    all: (name) => values.get(name) ?? [],
    one: (name) => values.get(name)?.[0],
    has: (name) => values.has(name),
    options: values,
  };
}

/** Options of `adk eval` by their names there; underscores may replace dashes. */
const OTHER_NAMES: Readonly<Record<string, string>> = { "config-file-path": "config" };

function likeOurs(argument: string, at: number, all: readonly string[]): string {
  const [, name, value = ""] = /^--([A-Za-z][\w-]*)(=[^]*)?$/.exec(argument) ?? [];
  // Arguments after `--` are not options.
  if (name === undefined || all.slice(0, at).includes("--")) return argument;
  const dashed = name.replaceAll("_", "-");
  return `--${OTHER_NAMES[dashed] ?? dashed}${value}`;
}

function unknownOption(name: string, rawName: string, known: readonly string[]): Mistake {
  const close = closest(name, known);
  const elsewhere = rawName.startsWith("--") ? commandsWith(name) : [];
  if (elsewhere.length > 0) {
    return new Mistake(`this command has no option ${rawName}`, { help: `These have it: ${elsewhere.join(", ")}` });
  }
  return new Mistake(`unknown option ${rawName}`, {
    help:
      name === "criteria" || name === "threshold"
        ? 'Put criteria and thresholds into a file, --config test_config.json: {"criteria": {"response_match_score": 0.8}}'
        : close === undefined
          ? `The options are ${known.map((one) => `--${one}`).join(", ")}`
          : `Did you mean --${close}?`,
  });
}

/**
 * One of a few words.
 *
 * @throws {Mistake} for any other word.
 */
export function oneOf<T extends string>(option: string, value: string, words: readonly T[]): T {
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  const close = closest(value, words);
  throw new Mistake(`--${option} cannot be \`${value}\``, {
    help: close === undefined ? `Expected one of ${words.join(", ")}` : `Did you mean \`${close}\`?`,
  });
}

/**
 * A whole number from 1 up.
 *
 * @throws {Mistake} for anything else.
 */
export function countOf(option: string, value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && Number.isSafeInteger(number)) return number;
  throw new Mistake(`--${option} cannot be \`${value}\``, { help: "Expected a whole number from 1 up" });
}
