/** `merge`: makes the results of a command from the journals of its parts, as if it had not been divided. */

import { closeSync } from "node:fs";
import type { JournaledBegin } from "../journal/section.js";
import { readEntries } from "../journal/file.js";
import { group } from "../lists.js";
import { isObject, messageOf } from "../engine/values.js";
import { count } from "../report/text.js";
import type { JournalEntry } from "../types.js";
import { type Arguments, parseArguments } from "./arguments.js";
import { kindOf, missing, openRegular, reasonOf } from "./files.js";
import { Journaling } from "./journal.js";
import { Mistake } from "./mistakes.js";
import { optionsOf } from "./options.js";
import { type ExitStatus, note } from "./process.js";
import { partIn, type Shard } from "./shards.js";

/** What a journal says of the command that wrote it. */
interface Command {
  command: (typeof COMMANDS)[number];
  positionals: readonly string[];
  options: Readonly<Record<string, readonly string[]>>;
}

const COMMANDS = ["eval", "run", "record"] as const;

/** The journal of a part. */
interface Part {
  file: string;
  entries: JournalEntry[];
  command: Command;
  /** `3/16`. */
  shard: Shard;
  balance: unknown;
  isEnded: boolean;
}

/** Runs `merge`. */
export async function mergeCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("merge"));
  if (given.positionals.length === 0) {
    throw new Mistake("no journal is named", { help: "adk-metrics merge part-*.jsonl" });
  }
  const parts = given.positionals.map(partOf);
  checkParts(parts, given);
  const entries = mergedEntries(parts);
  const journal = Journaling.merged(given.positionals, entries);
  const { command, positionals, options } = (parts[0] as Part).command;
  const useless = command === "record" ? FOR_SCORES.find((name) => given.has(name)) : undefined;
  if (useless !== undefined) {
    throw new Mistake("the parts are of record, whose output is inference results", {
      help: `Leave --${useless} out`,
    });
  }
  const modules = options.metrics ?? [];
  if (command !== "record" && modules.length > 0 && !given.has("metrics")) {
    const named = modules.map((file) => `--metrics ${file}`).join(" ");
    throw new Mistake("the parts were scored with metrics of modules, and a journal alone has no module run", {
      help: `Name the modules here as well, if you trust them: ${named}`,
    });
  }
  const all = argumentsOf(positionals, options, given);
  note(`merging ${count(parts.length, "part")} of ${command} ${positionals.join(" ")}`);
  switch (command) {
    case "eval":
      return await (await import("./eval.js")).evalWith(all, journal);
    case "run":
      return await (await import("./run.js")).runWith(all, journal);
    case "record":
      return await (await import("./record.js")).recordWith(all, journal);
  }
}

function partOf(file: string): Part {
  let descriptor: number | undefined;
  let entries: JournalEntry[];
  try {
    descriptor = openRegular(file, "journal");
    if (descriptor === undefined) {
      if (kindOf(file) === "folder") throw new Mistake("the journal is a folder", { location: file });
      throw missing(file, "journal");
    }
    ({ entries } = readEntries(descriptor));
  } catch (error) {
    if (error instanceof Mistake) throw error;
    const why = (error as NodeJS.ErrnoException).code === undefined ? messageOf(error) : reasonOf(error);
    throw new Mistake(`the journal cannot be read: ${why.replace(/^Error: /, "")}`, { location: file, cause: error });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  const own = entries.filter(({ section }) => section === "");
  const begun = (part: string) => (own as JournaledBegin[]).find((entry) => entry.part === part)?.inputs;
  const command = begun("command");
  if (command === undefined) {
    throw new Mistake("the journal is none of the command line's", {
      location: file,
      help: "eval, run and record write one with --journal",
    });
  }
  const { shard: text = "1/1", balance } = begun("shard") ?? {};
  const shard = partIn(String(text));
  if (!isCommand(command) || shard === undefined) {
    throw new Mistake("the journal does not say which command, or which part of it, it is of", {
      location: file,
      help: "It was changed, or another version wrote it: run the part anew",
    });
  }
  return { file, entries, command, shard, balance, isEnded: own.some(({ type }) => type === "end") };
}

function isCommand(value: object): value is Command {
  const { command, positionals, options } = value as Partial<Record<keyof Command, unknown>>;
  return (
    COMMANDS.some((one) => one === command) &&
    areTexts(positionals) &&
    isObject(options) &&
    Object.values(options).every(areTexts)
  );
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** @throws {Mistake} for parts that are missing, there twice, unfinished, or of another command. */
function checkParts(parts: readonly Part[], given: Arguments): void {
  const [first] = parts as [Part];
  const total = first.shard.count;
  const found = new Map<number, string[]>();
  for (const part of parts) {
    const { file, shard, command, balance } = part;
    if (shard.count !== total || command.command !== first.command.command || balance !== first.balance) {
      const what = (one: Part) => `part ${shardText(one)} of ${one.command.command}`;
      const how = balance === first.balance ? "" : ", divided by another --balance";
      throw new Mistake(`${file} is ${what(part)}${how}, and ${first.file} is ${what(first)}`, {
        help: "Name the journals of one command, divided once",
      });
    }
    group(found, shard.index, file);
    refuseOtherOptions(part, first, given);
  }
  for (const [index, files] of found) {
    if (files.length === 1) continue;
    throw new Mistake(`part ${index} of ${total} is there more than once`, { location: files.join(", ") });
  }
  const missing = Array.from({ length: total }, (_, at) => at + 1).filter((index) => !found.has(index));
  if (missing.length > 0) {
    const one = missing.length === 1;
    throw new Mistake(`${one ? "part" : "parts"} ${listed(missing)} of ${total} ${one ? "is" : "are"} missing`, {
      help: `Run ${one ? "it" : "them"}: --shard ${missing[0]}/${total}`,
    });
  }
  const cut = parts.filter(({ isEnded }) => !isEnded);
  if (cut.length === 0) return;
  throw new Mistake(`${cut.length === 1 ? "a part has" : `${cut.length} parts have`} not come to the end`, {
    location: cut.map((part) => `${part.file} (${shardText(part)})`).join(", "),
    help: "Go on with the command that wrote it, with --resume, and merge then",
  });
}

/**
 * The entries of all parts, with one `begin` for each evaluation: the earliest.
 *
 * @throws {Mistake} for parts of other inputs, with what differs.
 */
function mergedEntries(parts: readonly Part[]): JournalEntry[] {
  const begun = new Map<string, { entry: JournaledBegin; file: string }>();
  const rest: JournalEntry[] = [];
  for (const { file, entries } of parts) {
    for (const entry of entries) {
      if (entry.type !== "begin") {
        if (entry.section !== "") rest.push(entry);
        continue;
      }
      if (entry.section === "") continue;
      const { section, part, at, inputs } = entry as JournaledBegin;
      const key = JSON.stringify([section, part]);
      const known = begun.get(key);
      if (known === undefined) {
        begun.set(key, { entry: { ...(entry as JournaledBegin) }, file });
        continue;
      }
      known.entry.at = Math.min(known.entry.at, at);
      const names = Object.keys({ ...known.entry.inputs, ...inputs });
      const different = names.filter(
        (name) => JSON.stringify(known.entry.inputs[name]) !== JSON.stringify(inputs[name]),
      );
      if (different.length === 0) continue;
      throw new Mistake(`the parts are of other inputs: ${different.join(", ")}`, {
        location: `${known.file}, ${file}`,
        help: "Run all parts anew with the same inputs",
      });
    }
  }
  return [...[...begun.values()].map(({ entry }) => entry), ...rest];
}

/**
 * Checks that a part had the same options as the first one, which would decide otherwise. Inputs are compared elsewhere.
 *
 * @throws {Mistake} for an option that differs.
 */
function refuseOtherOptions(part: Part, first: Part, given: Arguments): void {
  const decided = [
    ...(given.has("explain") ? ["explain"] : []),
    ...(GATES.some((name) => given.has(name)) ? GATES : []),
  ];
  const [mine, others] = [part.command.options, first.command.options];
  const different = COMPARED.filter(
    (name) => !decided.includes(name) && JSON.stringify(mine[name]) !== JSON.stringify(others[name]),
  );
  if (different.length === 0) return;
  const canDecide = different.every((name) => GATES.includes(name) || name === "explain");
  throw new Mistake(
    `${part.file} and ${first.file} were given other ${different.map((name) => `--${name}`).join(", ")}`,
    {
      help: canDecide
        ? `Say here what is to hold: ${different.map((name) => `--${name}`).join(", ")}`
        : "Run all parts anew with the same options",
    },
  );
}

function shardText({ shard }: Part): string {
  return `${shard.index}/${shard.count}`;
}

/** Numbers in a list for users, the first of many. */
function listed(numbers: readonly number[]): string {
  const more = numbers.length - MOST_LISTED;
  return more > 0 ? `${numbers.slice(0, MOST_LISTED).join(", ")} and ${more} more` : numbers.join(", ");
}

const MOST_LISTED = 20;

const GATES = ["min-pass-rate", "min-pass-hat", "allow-flaky"];
/** Options that are about scores and reports. */
const FOR_SCORES = ["format", "explain", "print-detailed-results", "metrics", "strict", "log-level", ...GATES];
/** Options that change the outcome, besides inputs. */
const COMPARED = [...GATES, "explain", "dialect", "advisory", "price", "num-runs", "metrics"];
/**
 * The options that are taken from journals: what is scored, by what, and what has to pass. Others could make a journal from
 * elsewhere ask somebody, run a module or write a file.
 */
const TAKEN = [...COMPARED, "agent", "actual", "config", "session"];

/** The arguments of the parts, with the outputs of this command. */
export function argumentsOf(positionals: readonly string[], recorded: Command["options"], given: Arguments): Arguments {
  const taken = TAKEN.filter((name) => name !== "metrics" && Object.hasOwn(recorded, name));
  const names = GATES.some((name) => given.has(name)) ? taken.filter((name) => !GATES.includes(name)) : taken;
  const options = new Map(names.map((name) => [name, recorded[name] as readonly string[]]));
  for (const [name, values] of given.options) options.set(name, values);
  return {
    positionals: [...positionals],
    all: (name) => [...(options.get(name) ?? [])],
    one: (name) => options.get(name)?.[0],
    has: (name) => options.has(name),
    options,
  };
}
