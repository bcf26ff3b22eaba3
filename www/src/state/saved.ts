/**
 * The run that is under way, kept in this browser: if the page is closed or reloaded meanwhile, the run can be taken up
 * again, and replies that are kept are not asked for again. Keys of judges are not kept here.
 */

import { batch, signal } from "@preact/signals";
import { configText } from "./config.js";
import { choices, exampleName, replaceAll, sources } from "./inputs.js";
import {
  isRemembered,
  type JudgeSettings,
  runOptions,
  type RunOptions,
  takeSettings,
  withoutSecrets,
} from "./judge.js";
import { REPLIES } from "./job.js";
import type { Choices, Role } from "./matching.js";

const DATABASE = "adk-metrics-playground";
const STORE = "runs";

/** What is kept, by its key: how the last run went, and apart from it what it was made of, which may be large. */
interface Kept {
  state: { startedAt: number; isFinished: boolean };
  inputs: Inputs;
}

interface Inputs {
  files: { name: string; folder: string; bytes: Uint8Array }[];
  /** The user's decisions, by the places of files. */
  roles: [number, Role][];
  actualOf: [number, number | null][];
  example: string | undefined;
  config: string;
  judge: JudgeSettings;
  options: RunOptions;
}

/** A run that was not finished when the page was left. */
export const interrupted = signal<{ startedAt: number } | undefined>(undefined);

/** Whether something is kept in this browser that can be forgotten. */
export const isKept = signal(false);

/** Held while a run is under way, so that other pages of this site do not take it for interrupted. */
const LOCK = "adk-metrics-run";
let release: (() => void) | undefined;
/** Absent in pages from plain `http:`. */
const { locks } = navigator as Partial<Navigator>;

function hold(): void {
  const held = (lock: Lock | null) => (lock === null ? undefined : new Promise<void>((resolve) => (release = resolve)));
  void locks?.request(LOCK, { ifAvailable: true }, held).catch(() => {});
}

async function isRunningElsewhere(): Promise<boolean> {
  const { held = [] } = (await locks?.query().catch(() => undefined)) ?? {};
  return held.some(({ name }) => name === LOCK);
}

void Promise.all([load("state"), isRunningElsewhere()]).then(([state, isElsewhere]) => {
  isKept.value = state !== undefined;
  if (state?.isFinished === false && !isElsewhere) interrupted.value = { startedAt: state.startedAt };
});

/** Keeps the inputs of the run that begins. */
export async function keepRun(): Promise<void> {
  const place = new Map(sources.value.map(({ id }, at) => [id, at]));
  const placeOf = (id: number) => place.get(id) ?? -1;
  const { roles, actualOf } = choices.value;
  const inputs: Inputs = {
    files: sources.value.map(({ name, folder, bytes }) => ({ name, folder, bytes })),
    roles: Object.entries(roles).map(([id, role]) => [placeOf(Number(id)), role]),
    actualOf: Object.entries(actualOf).map(([id, other]) => [
      placeOf(Number(id)),
      other === null ? null : placeOf(other),
    ]),
    example: exampleName.value,
    config: configText.value,
    judge: withoutSecrets(),
    options: runOptions.value,
  };
  interrupted.value = undefined;
  isKept.value = true;
  await inTurn(async () => {
    hold();
    await store("inputs", inputs);
    await store("state", { startedAt: Date.now(), isFinished: false });
  });
}

/** Notes that the run came to its end. */
export async function endRun(): Promise<void> {
  await inTurn(async () => {
    const state = await load("state");
    if (state !== undefined) await store("state", { ...state, isFinished: true });
    release?.();
    release = undefined;
  });
}

/** Brings back the inputs of the run that is kept. */
export async function takeBack(): Promise<boolean> {
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
    takeSettings(saved.judge);
    interrupted.value = undefined;
  });
  return true;
}

/** Deletes what this page keeps in the browser: the last run, replies of judges, keys. */
export async function forgetAll(): Promise<void> {
  isRemembered.value = false;
  interrupted.value = undefined;
  isKept.value = false;
  await inTurn(() => Promise.all([DATABASE, ...Object.values(REPLIES)].map(deleted)));
}

let writing: Promise<unknown> = Promise.resolve();

/** Changes what is kept, after the changes before. */
function inTurn(change: () => Promise<unknown>): Promise<unknown> {
  writing = writing.then(change);
  return writing;
}

function deleted(name: string): Promise<void> {
  return new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
  });
}

/** Without a database a run is not kept; it works nevertheless. */
async function load<K extends keyof Kept>(key: K): Promise<Kept[K] | undefined> {
  try {
    return await access("readonly", (runs) => runs.get(key) as IDBRequest<Kept[K] | undefined>);
  } catch {
    return undefined;
  }
}

async function store<K extends keyof Kept>(key: K, value: Kept[K]): Promise<void> {
  await access("readwrite", (runs) => runs.put(value, key)).catch(() => {});
}

async function access<T>(mode: IDBTransactionMode, work: (runs: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
  const database = await settled(opening);
  try {
    return await settled(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("an unknown error"));
  });
}
