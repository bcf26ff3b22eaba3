/**
 * The inputs of the current run, stored in this browser: if the page is closed or reloaded during the run, it can be
 * resumed, and cached replies are reused. Keys of judges are not stored here.
 */

import { batch, signal } from "@preact/signals";
import { configText } from "./config.js";
import { choices, exampleName, replaceAll, sources } from "./inputs.js";
import {
  isRemembered,
  type JudgeSettings,
  runOptions,
  type RunOptions,
  restoreSettings,
  withoutSecrets,
} from "./judge.js";
import { CACHE_NAMES } from "./job.js";
import type { Choices, Role } from "./matching.js";

const DATABASE = "adk-metrics-playground";
const STORE = "runs";

/** The records of the database, by key. The state of the last run is separate from its inputs, which may be large. */
interface SavedRecords {
  state: { startedAt: number; isFinished: boolean };
  inputs: Inputs;
}

interface Inputs {
  files: { name: string; folder: string; bytes: Uint8Array }[];
  /** The user's choices, by the indices of files. */
  roles: [number, Role][];
  actualOf: [number, number | null][];
  example: string | undefined;
  config: string;
  judge: JudgeSettings;
  options: RunOptions;
}

/** A run that was not finished when the page was left. */
export const interrupted = signal<{ startedAt: number } | undefined>(undefined);

/** Whether this browser stores data that can be deleted. */
export const hasSavedData = signal(false);

/** The lock that is held during a run, so that other tabs do not consider it interrupted. */
const LOCK = "adk-metrics-run";
let releaseLock: (() => void) | undefined;
/** Undefined in insecure contexts (`http:`). */
const { locks } = navigator as Partial<Navigator>;

function acquireLock(): void {
  const untilReleased = (lock: Lock | null) =>
    lock === null ? undefined : new Promise<void>((resolve) => (releaseLock = resolve));
  void locks?.request(LOCK, { ifAvailable: true }, untilReleased).catch(() => {});
}

async function isRunningElsewhere(): Promise<boolean> {
  const { held = [] } = (await locks?.query().catch(() => undefined)) ?? {};
  return held.some(({ name }) => name === LOCK);
}

void Promise.all([load("state"), isRunningElsewhere()]).then(([state, isElsewhere]) => {
  hasSavedData.value = state !== undefined;
  if (state?.isFinished === false && !isElsewhere) interrupted.value = { startedAt: state.startedAt };
});

/** Stores the inputs of a run that is being started. */
export async function saveRun(): Promise<void> {
  const indices = new Map(sources.value.map(({ id }, at) => [id, at]));
  const indexOf = (id: number) => indices.get(id) ?? -1;
  const { roles, actualOf } = choices.value;
  const inputs: Inputs = {
    files: sources.value.map(({ name, folder, bytes }) => ({ name, folder, bytes })),
    roles: Object.entries(roles).map(([id, role]) => [indexOf(Number(id)), role]),
    actualOf: Object.entries(actualOf).map(([id, other]) => [
      indexOf(Number(id)),
      other === null ? null : indexOf(other),
    ]),
    example: exampleName.value,
    config: configText.value,
    judge: withoutSecrets(),
    options: runOptions.value,
  };
  interrupted.value = undefined;
  hasSavedData.value = true;
  await enqueue(async () => {
    acquireLock();
    await store("inputs", inputs);
    await store("state", { startedAt: Date.now(), isFinished: false });
  });
}

/** Marks the stored run as finished. */
export async function markFinished(): Promise<void> {
  await enqueue(async () => {
    const state = await load("state");
    if (state !== undefined) await store("state", { ...state, isFinished: true });
    releaseLock?.();
    releaseLock = undefined;
  });
}

/** Restores the inputs of the stored run; resolves with whether there is one. */
export async function restoreRun(): Promise<boolean> {
  const saved = await load("inputs");
  if (saved === undefined) return false;
  await replaceAll(saved.files);
  const ids = sources.value.map(({ id }) => id);
  const idOf = (place: number) => ids[place] ?? -1;
  const taken: Choices = {
    roles: Object.fromEntries(saved.roles.map(([place, role]) => [idOf(place), role])),
    actualOf: Object.fromEntries(
      saved.actualOf.map(([place, other]) => [idOf(place), other === null ? null : idOf(other)]),
    ),
  };
  batch(() => {
    choices.value = taken;
    exampleName.value = saved.example;
    configText.value = saved.config;
    runOptions.value = saved.options;
    restoreSettings(saved.judge);
    interrupted.value = undefined;
  });
  return true;
}

/** Deletes all that this page stores in the browser: the last run, replies of judges, keys. */
export async function forgetAll(): Promise<void> {
  isRemembered.value = false;
  interrupted.value = undefined;
  hasSavedData.value = false;
  await enqueue(() => Promise.all([DATABASE, ...Object.values(CACHE_NAMES)].map(deleteDatabase)));
}

let lastWrite: Promise<unknown> = Promise.resolve();

/** Writes to the storage after all earlier writes. */
function enqueue(change: () => Promise<unknown>): Promise<unknown> {
  lastWrite = lastWrite.then(change);
  return lastWrite;
}

function deleteDatabase(name: string): Promise<void> {
  return new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
  });
}

/** Undefined without a database: then runs work, but cannot be resumed. */
async function load<K extends keyof SavedRecords>(key: K): Promise<SavedRecords[K] | undefined> {
  try {
    return await access("readonly", (runs) => runs.get(key) as IDBRequest<SavedRecords[K] | undefined>);
  } catch {
    return undefined;
  }
}

async function store<K extends keyof SavedRecords>(key: K, value: SavedRecords[K]): Promise<void> {
  await access("readwrite", (runs) => runs.put(value, key)).catch(() => {});
}

async function access<T>(mode: IDBTransactionMode, work: (runs: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
  const database = await promiseOf(opening);
  try {
    return await promiseOf(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function promiseOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("an unknown error"));
  });
}
