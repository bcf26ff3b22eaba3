/** What a queue evaluates: read from files by who adds it, every worker and who collects the results. */

import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { readEvalSet } from "../adk-schema.js";
import { nameOf, simulatorOf } from "../agents/test-files.js";
import { type UserSimulatorOptions, withinTurns } from "../agents/simulator.js";
import { recordOf } from "../engine/criteria.js";
import { messageOf } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { isTraces } from "../interop/otlp.js";
import { tracesToJson } from "../interop/traces.js";
import type { EvalSet } from "../types.js";
import type { Store } from "./store.js";
import type { QueuedEvalSet } from "./types.js";
import { definedProperties } from "../lists.js";

/** What is queued, as the database has it. */
export interface StoredPlan {
  /** The digest of all that decides the results. */
  id: string;
  evalSets: readonly StoredEvalSet[];
  /** What the command line was given, which collects as it would have evaluated. */
  command?: { positionals: readonly string[]; options: Readonly<Record<string, readonly string[]>> };
}

/** An evalset with the digests of its files. */
export interface StoredEvalSet extends QueuedEvalSet {
  digests: { evalSet: string; config?: string; actual?: string };
}

/** A job: ids, and the place of its input. */
export interface JobData {
  /** The number of the evalset in the plan. */
  at: number;
  evalSet: string;
  evalId: string;
  run: number;
}

/** An evalset with the contents of its files. */
export interface QueueInput {
  readonly stored: StoredEvalSet;
  readonly evalSet: Uint8Array;
  readonly evalSetName: string;
  readonly config?: Uint8Array;
  readonly actual?: Uint8Array;
  /** The cases that are selected. */
  readonly cases: EvalSet;
  readonly userSimulator: UserSimulatorOptions;
}

/** The largest file of what an agent did: it is read for each case. */
const MOST_BYTES = 64 * 1024 * 1024;

const FILES = ["evalSet", "config", "actual"] as const;

export const sha256 = (content: Uint8Array | string): string => createHash("sha256").update(content).digest("hex");

/** Reads the files of an evalset for the first time. */
export function plannedInput(given: QueuedEvalSet): QueueInput {
  return inputOf({ ...given, digests: { evalSet: "" } }, false);
}

/** @throws {AdkMetricsError} `queue_failed` for files that are not those that were queued. */
export function queuedInput(stored: StoredEvalSet): QueueInput {
  return inputOf(stored, true);
}

function inputOf(stored: StoredEvalSet, isQueued: boolean): QueueInput {
  const digests: StoredEvalSet["digests"] = { evalSet: "" };
  const contents: { [name in (typeof FILES)[number]]?: Uint8Array } = {};
  for (const name of FILES) {
    const file = stored[name];
    if (file === undefined) continue;
    const bytes = contentOf(file);
    digests[name] = sha256(bytes);
    contents[name] = bytes;
    if (!isQueued || digests[name] === stored.digests[name]) continue;
    throw new AdkMetricsError("queue_failed", `${file} has changed since it was queued`, {
      path: name,
      help: "Give every worker the unchanged files, or queue the new ones under another name",
    });
  }
  const { evalSet = new Uint8Array(), config, actual } = contents;
  if (actual !== undefined && actual.length > MOST_BYTES) {
    throw new AdkMetricsError("limit_exceeded", `${stored.actual} is larger than ${MOST_BYTES / 2 ** 20} MiB`, {
      path: "actual",
      help: "Split it into several evalsets and files, or use --shard",
    });
  }
  const evalSetName = nameOf(stored.evalSet);
  const all = readEvalSet(evalSet, evalSetName);
  const wanted = stored.evalIds && new Set(stored.evalIds);
  const evalCases = all.evalCases.filter(({ evalId }) => wanted?.has(evalId) ?? true);
  return {
    stored: { ...stored, digests },
    evalSet,
    evalSetName,
    ...definedProperties({ config }),
    ...(actual === undefined
      ? {}
      : { actual: isTraces(actual) ? new TextEncoder().encode(tracesToJson(actual)) : actual }),
    cases: { ...all, evalCases },
    userSimulator: withinTurns(simulatorOf(recordOf(config))).options,
  };
}

function contentOf(file: string): Uint8Array {
  let opened: number | undefined;
  try {
    // Who writes to the queue's database names files: a pipe would be waited for, and a device may have no end.
    opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(opened);
    if (!found.isFile() || found.size === 0) throw new Error("it is empty or not a regular file");
    return readFileSync(opened);
  } catch (cause) {
    throw new AdkMetricsError("queue_failed", `${file} cannot be read: ${messageOf(cause).replace(/^Error: /, "")}`, {
      help: "Files have to have the same paths where they are added, on every worker and where results are collected",
      cause,
    });
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** All jobs of an evalset, with their ids, which are digests of plan, case and run. */
export function jobsOf(planId: string, at: number, { stored, cases }: QueueInput): { id: string; data: JobData }[] {
  const runs = stored.actual === undefined ? (stored.numRuns as number) : 1;
  const { evalSet } = stored;
  // Runs of a case, which may ask the same, are far apart: the later one finds the reply.
  return Array.from({ length: runs }, (_, run) =>
    cases.evalCases.map(({ evalId }) => ({
      id: `case-${sha256(JSON.stringify([planId, at, evalId, run]))}`,
      data: { at, evalSet, evalId, run },
    })),
  ).flat();
}

/** @throws {AdkMetricsError} `queue_failed` if nothing was added. */
export async function storedPlan(store: Store, name: string): Promise<StoredPlan> {
  const found = await store.get("plan", "plan");
  if (found !== undefined) return JSON.parse(found) as StoredPlan;
  throw new AdkMetricsError("queue_failed", `nothing was added to the queue \`${name}\``, {
    help: "Add an evaluation first, or choose another queue name",
  });
}
