/** `--shard` and `--balance`: which runs of cases this process takes, while others take the rest. */

import { createHash } from "node:crypto";
import { closeSync } from "node:fs";
import { readEntries } from "../journal/file.js";
import type { JournaledReply, JournaledRun, JournaledBegin } from "../journal/section.js";
import { group } from "../lists.js";
import type { EvalCaseResult, JournalEntry } from "../types.js";
import { selectedCases } from "./agent-runs.js";
import { api } from "./api.js";
import type { Arguments } from "./arguments.js";
import { openRegular, readBytes } from "./files.js";
import type { Input } from "./inputs.js";
import { inFile, Mistake } from "./mistakes.js";

/** The most tasks of a Cloud Run job. A larger number is a slip, and each shard takes memory. */
const MOST_SHARDS = 10_000;

/** Reads the number of a shard and of all shards, `3/16`; undefined for anything else. */
export function shardIn(text: string): Shard | undefined {
  const [, index = "", count = ""] = /^([1-9]\d{0,4})\/([1-9]\d{0,4})$/.exec(text) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  return shard.index >= 1 && shard.index <= shard.count && shard.count <= MOST_SHARDS ? shard : undefined;
}

/** One of several shards. */
export interface Shard {
  /** Counted from 1. */
  index: number;
  count: number;
}

/** Whether a run of a case belongs to this shard. */
export type IsOurs = (evalSetId: string, evalId: string, run: number) => boolean;

/** @throws {Mistake} for an invalid shard, and for `auto` if the environment has no numbers. */
export function shardOf(given: Arguments): Shard | undefined {
  const text = given.one("shard");
  if (text === undefined) {
    if (!given.has("balance")) return undefined;
    throw new Mistake("--balance divides the cases among shards, but there is no --shard", { help: "--shard 1/4" });
  }
  for (const [option, why] of [
    ["bail", "the first failure would end only one shard"],
    ["watch", "a shard is scored once"],
  ] as const) {
    if (given.has(option)) throw new Mistake(`--shard and --${option} cannot be used together: ${why}`);
  }
  if (/\d/.test(given.one("early-stop") ?? "")) {
    throw new Mistake(
      "--shard and --early-stop with a risk cannot be used together: each shard would estimate it from its own cases",
      {
        help: "Leave out --early-stop",
      },
    );
  }
  if (!given.has("journal")) {
    throw new Mistake("--shard needs a journal, from which merge combines the shards", {
      help: `--shard ${text} --journal shard.jsonl`,
    });
  }
  const shard = shardIn(text.startsWith("auto") ? numbered(text) : text);
  if (shard !== undefined) return shard;
  throw new Mistake(`--shard cannot be \`${text}\``, {
    help: `Expected the number of the shard, from 1, and of all shards, at most ${MOST_SHARDS}: 3/16; or auto, or auto/16`,
  });
}

/**
 * The shard according to the environment, such as `3/16`, for `auto` and `auto/16`.
 *
 * @throws {Mistake} for variables that are missing, empty or no whole numbers.
 */
function numbered(text: string): string {
  const names = ["CLOUD_RUN_TASK_INDEX", "JOB_COMPLETION_INDEX"];
  const index = names.map(valueOf).find((value) => value !== undefined);
  if (index === undefined) {
    throw new Mistake("--shard auto: the environment does not contain the number of a task", {
      help: "Cloud Run sets CLOUD_RUN_TASK_INDEX, a Kubernetes Indexed Job sets JOB_COMPLETION_INDEX",
    });
  }
  const total = text === "auto" ? valueOf("CLOUD_RUN_TASK_COUNT") : /^auto\/([1-9]\d*)$/.exec(text)?.[1];
  if (text === "auto" && total === undefined) {
    throw new Mistake("--shard auto: the environment does not contain the number of shards", {
      help: "On Kubernetes, add the Job's `completions`: --shard auto/16",
    });
  }
  // Neither `auto` nor `auto/16`: the caller says what is wrong.
  if (total === undefined) return "";
  const shard = `${index + 1}/${total}`;
  if (shardIn(shard) !== undefined) return shard;
  throw new Mistake(`--shard ${text}: there is no shard ${index + 1} of ${total}`, {
    help: `Tasks are counted from 0, and there may be at most ${MOST_SHARDS}: --shard auto/<number of tasks>`,
  });
}

/** A variable that is a whole number; nothing for one that is not set, or is empty. */
function valueOf(name: string): number | undefined {
  const text = process.env[name] ?? "";
  if (text.trim() === "") return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Mistake(`--shard auto: ${name} is not a whole number: \`${text}\``);
}

/** By a hash of the ids, all of whose bits depend on all of theirs: stable, whatever else is in the evalset. */
function byHash({ index, count }: Shard): IsOurs {
  return (...key) => createHash("sha256").update(JSON.stringify(key)).digest().readUInt32BE() % count === index - 1;
}

/**
 * Divides runs of cases: by a hash of their ids or, where their durations are known, the longest first, each to the shard with
 * the least work so far.
 *
 * @param numRuns How often each case is run; once where they were run already.
 * @throws {Mistake} for files that are neither results nor journals.
 */
export async function divided(
  shard: Shard,
  files: readonly string[],
  inputs: readonly Input[],
  numRuns: number,
): Promise<IsOurs> {
  if (files.length === 0) return byHash(shard);
  const durations = await durationsIn(files);
  const all: { key: string; ms: number | undefined }[] = [];
  for (const input of inputs) {
    const { evalSetId, evalCases } = await selectedCases(input);
    for (const { evalId } of evalCases) {
      const known = durations.get(evalId) ?? [];
      for (let run = 0; run < numRuns; run += 1) {
        all.push({ key: JSON.stringify([evalSetId, evalId, run]), ms: known[run] ?? mean(known) });
      }
    }
  }
  const usual = mean(all.flatMap(({ ms }) => ms ?? [])) ?? 1;
  const tasks = all.map(({ key, ms = usual }) => ({ key, ms }));
  tasks.sort((a, b) => b.ms - a.ms || (a.key < b.key ? -1 : 1));
  const loads = Array.from({ length: shard.count }, () => 0);
  const ours = new Set<string>();
  for (const { key, ms } of tasks) {
    const least = loads.indexOf(Math.min(...loads));
    loads[least] = (loads[least] as number) + ms;
    if (least === shard.index - 1) ours.add(key);
  }
  return (...key) => ours.has(JSON.stringify(key));
}

function mean(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/** How long the runs of each case took, in milliseconds. */
async function durationsIn(files: readonly string[]): Promise<Map<string, number[]>> {
  const durations = new Map<string, number[]>();
  const { readResults } = await api();
  for (const file of files) {
    const entries = journalIn(file);
    if (entries !== undefined) {
      addEntries(durations, entries);
      continue;
    }
    try {
      const results = readResults(readBytes(file, "file of --balance"));
      for (const one of results.flatMap((set) => set.evalCaseResults)) group(durations, one.evalId, durationOf(one));
    } catch (error) {
      const { message, location } = inFile(error, file, "results") as Mistake;
      throw new Mistake(`the file of --balance contains neither results nor a journal: ${message}`, {
        location,
        help: "Pass results of eval or run, or their journals: they say how long each case takes",
        cause: error,
      });
    }
  }
  return durations;
}

/** Adds the durations in a journal: replies, which the runs of a case share, and runs of the agent. */
function addEntries(durations: Map<string, number[]>, entries: readonly JournalEntry[]): void {
  const judged = new Map<string, number>();
  const runs = new Map<string, number[]>();
  for (const entry of entries as readonly (JournaledReply | JournaledRun | JournaledBegin)[]) {
    if (entry.type === "run") group(runs, entry.evalId, entry.ms);
    if (entry.type !== "reply" || entry.evalId === undefined) continue;
    judged.set(entry.evalId, (judged.get(entry.evalId) ?? 0) + (entry.ms ?? 0));
  }
  for (const evalId of new Set([...judged.keys(), ...runs.keys()])) {
    const own = runs.get(evalId) ?? [0];
    const share = (judged.get(evalId) ?? 0) / own.length;
    for (const ms of own) group(durations, evalId, ms + share);
  }
}

/** How long the agent took; a second for each turn where that is not known. */
function durationOf({ evalMetricResultPerInvocation }: EvalCaseResult): number {
  const seconds = evalMetricResultPerInvocation.map(({ actualInvocation }) => actualInvocation.duration ?? 1);
  return 1000 * seconds.reduce((sum, one) => sum + one, 0);
}

/** The entries of a journal; nothing for another file. */
export function journalIn(file: string): JournalEntry[] | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openRegular(file, "file of --balance");
    return descriptor === undefined ? undefined : readEntries(descriptor).entries;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
