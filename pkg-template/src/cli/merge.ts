/** `merge`: makes the results of a command from the journals of its shards, as if it had not been divided. */

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
import { shardIn, type Shard } from "./shards.js";

/** What a journal says of the command that wrote it. */
interface Command {
  command: (typeof COMMANDS)[number];
  positionals: readonly string[];
  options: Readonly<Record<string, readonly string[]>>;
}

const COMMANDS = ["eval", "run", "record"] as const;

/** The journal of a shard. */
interface ShardJournal {
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
    throw new Mistake("no journals specified", { help: "adk-metrics merge shard-*.jsonl" });
  }
  const shards = given.positionals.map(readShard);
  checkShards(shards, given);
  const entries = mergedEntries(shards);
  const journal = Journaling.merged(given.positionals, entries);
  const { command, positionals, options } = (shards[0] as ShardJournal).command;
  const useless = command === "record" ? FOR_SCORES.find((name) => given.has(name)) : undefined;
  if (useless !== undefined) {
    throw new Mistake("the shards are of record, which writes inference results", {
      help: `Leave out --${useless}`,
    });
  }
  if (command !== "record") refuseModules(options, given, "the shards were");
  const all = argumentsOf(positionals, options, given);
  note(`merging ${count(shards.length, "shard")} of ${command} ${positionals.join(" ")}`);
  switch (command) {
    case "eval":
      return await (await import("./eval.js")).evalWith(all, journal);
    case "run":
      return await (await import("./run.js")).runWith(all, journal);
    case "record":
      return await (await import("./record.js")).recordWith(all, journal);
  }
}

export function readShard(file: string): ShardJournal {
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
    throw new Mistake("this command did not write the journal", {
      location: file,
      help: "Use journals that eval, run or record wrote with --journal",
    });
  }
  const { shard: text = "1/1", balance } = begun("shard") ?? {};
  const shard = shardIn(String(text));
  if (!isCommand(command) || shard === undefined) {
    throw new Mistake("the journal does not say which command or shard it belongs to", {
      location: file,
      help: "It was edited, or another version wrote it: run the shard again with a new journal",
    });
  }
  return { file, entries, command, shard, balance, isEnded: own.some(({ type }) => type === "end") };
}

/** @throws {Mistake} if a command loaded modules of metrics, and none are named. @param what What was scored with them. */
export function refuseModules({ metrics = [] }: Command["options"], given: Arguments, what: string): void {
  if (metrics.length === 0 || given.has("metrics")) return;
  throw new Mistake(`${what} scored with your own metrics, whose modules only run if you specify them`, {
    help: `If you trust the modules, add ${metrics.map((file) => `--metrics ${file}`).join(" ")}`,
  });
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

/** @throws {Mistake} for shards that are missing, duplicated, unfinished, or of another command. */
function checkShards(shards: readonly ShardJournal[], given: Arguments): void {
  const [first] = shards as [ShardJournal];
  const total = first.shard.count;
  const found = new Map<number, string[]>();
  for (const journal of shards) {
    const { file, shard, command, balance } = journal;
    if (shard.count !== total || command.command !== first.command.command || balance !== first.balance) {
      const what = (one: ShardJournal) => `shard ${shardText(one)} of ${one.command.command}`;
      const how = balance === first.balance ? "" : ", divided by a different --balance";
      throw new Mistake(`${file} is ${what(journal)}${how}, and ${first.file} is ${what(first)}`, {
        help: "Merge only the shards of one command that was divided once",
      });
    }
    group(found, shard.index, file);
    refuseOtherOptions(journal, first, given);
  }
  for (const [index, files] of found) {
    if (files.length === 1) continue;
    throw new Mistake(`shard ${index} of ${total} occurs more than once`, { location: files.join(", ") });
  }
  const missing = Array.from({ length: total }, (_, at) => at + 1).filter((index) => !found.has(index));
  if (missing.length > 0) {
    const one = missing.length === 1;
    throw new Mistake(`${one ? "shard" : "shards"} ${listed(missing)} of ${total} ${one ? "is" : "are"} missing`, {
      help: `Run ${one ? "it" : "them"}: --shard ${missing[0]}/${total}`,
    });
  }
  const cut = shards.filter(({ isEnded }) => !isEnded);
  if (cut.length === 0) return;
  if (total === 1) {
    throw new Mistake("the command that wrote it has not finished", {
      location: first.file,
      help: "Run it again with --resume",
    });
  }
  throw new Mistake(`${cut.length === 1 ? "a shard has" : `${cut.length} shards have`} not finished`, {
    location: cut.map((journal) => `${journal.file} (${shardText(journal)})`).join(", "),
    help: "Run the command that wrote it again, with --resume, then merge",
  });
}

/**
 * The entries of all shards, with one `begin` for each evaluation: the earliest.
 *
 * @throws {Mistake} for shards with different inputs.
 */
function mergedEntries(shards: readonly ShardJournal[]): JournalEntry[] {
  const begun = new Map<string, { entry: JournaledBegin; file: string }>();
  const rest: JournalEntry[] = [];
  for (const { file, entries } of shards) {
    const before = earlierEnd(entries);
    const questionOf = ({ section, key }: JournalEntry & { key?: unknown }): string => `${section} ${String(key)}`;
    const answered = new Set(entries.filter(({ type }) => type === "reply").map(questionOf));
    for (const [place, entry] of entries.entries()) {
      if (entry.type !== "begin") {
        const isPast = entry.type === "failure" && place < before;
        const isLast = entry.type === "failure" && !answered.has(questionOf(entry));
        if (entry.section !== "" && !isPast) rest.push(isLast ? ({ ...entry, isLast } as JournalEntry) : entry);
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
      throw new Mistake(`the shards have different inputs: ${different.join(", ")}`, {
        location: `${known.file}, ${file}`,
        help: "Run all shards again with the same inputs",
      });
    }
  }
  return [...[...begun.values()].map(({ entry }) => entry), ...rest];
}

/** Where the command ended before it was run again and went on; -1 if it did not. What failed before is not what failed last. */
function earlierEnd(entries: readonly JournalEntry[]): number {
  const last = entries.findLastIndex(({ type }) => type !== "end");
  return entries.findLastIndex(({ type }, at) => type === "end" && at < last);
}

/**
 * Checks that a shard had the same options as the first one, which would decide otherwise. Inputs are compared elsewhere.
 *
 * @throws {Mistake} for an option that differs.
 */
function refuseOtherOptions(journal: ShardJournal, first: ShardJournal, given: Arguments): void {
  const decided = [
    ...(given.has("explain") ? ["explain"] : []),
    ...(GATES.some((name) => given.has(name)) ? GATES : []),
  ];
  const [mine, others] = [journal.command.options, first.command.options];
  const different = COMPARED.filter(
    (name) => !decided.includes(name) && JSON.stringify(mine[name]) !== JSON.stringify(others[name]),
  );
  if (different.length === 0) return;
  const canDecide = different.every((name) => GATES.includes(name) || name === "explain");
  throw new Mistake(
    `${journal.file} and ${first.file} have different values for ${different.map((name) => `--${name}`).join(", ")}`,
    {
      help: canDecide
        ? `Choose here what applies: ${different.map((name) => `--${name}`).join(", ")}`
        : "Run all shards again with the same options",
    },
  );
}

function shardText({ shard }: ShardJournal): string {
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
 * The options that are taken from journals: what is scored, how, and what has to pass. Others could make a journal from
 * elsewhere ask somebody, run a module or write a file.
 */
const TAKEN = [...COMPARED, "agent", "actual", "config", "session"];

/** The arguments of the shards, with the outputs of this command. */
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
