/**
 * What this browser keeps of the page: files, config, settings and runs, so that a reload loses nothing and a run that it
 * broke off can be resumed. Keys of judges are not stored here.
 */

import { batch, effect, signal } from "@preact/signals";
import { LINK_PREFIX } from "../route.js";
import { activeConfig } from "./active-config.js";
import { configText } from "./config.js";
import { choices, exampleName, isPristine, replaceAll, sources } from "./inputs.js";
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
import { runProgress, summary, thresholds } from "./run.js";
import { forgetRuns, keptRuns, restoreRuns, saveRuns } from "./runs.js";
import { deleteAll, enqueue, load, store } from "./storage.js";
import { actualOfIn, filesIn, judgeSettingsIn, rolesIn, runOptionsIn, stateIn } from "./stored-values.js";

/** How long changes are awaited before they are stored, in milliseconds. */
const DELAY_MS = 400;

/** What is stored besides runs, by key. Files may be large, and are written only when they change. */
interface SavedRecords {
  state: { startedAt: number; isFinished: boolean };
  files: { name: string; folder: string; isEdited: boolean; bytes: Uint8Array }[];
  settings: Settings;
}

interface Settings {
  /** The user's choices, by the indices of files. */
  roles: [number, Role][];
  actualOf: [number, number | null][];
  example: string | undefined;
  isPristine: boolean;
  config: string;
  /** The index of the file that the config came from. */
  activeConfig: number;
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

// ---- storing

/** What is in the storage; nothing is written before it was read. */
let storedFiles: readonly unknown[] = [];
let isRestored = false;
/** How often everything was forgotten: what was on its way into the storage then is not stored. */
let forgotten = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

effect(() => {
  // Whatever is read here is what the effect waits for.
  const isWorthIt = sources.value.length > 0 || summary.value !== undefined || hasSavedData.peek();
  void [settings(), thresholds.value, keptRuns.value, runProgress.value];
  clearTimeout(timer);
  if (isRestored && isWorthIt) timer = setTimeout(() => void save(), DELAY_MS);
});

// The last moment at which a page that is left can be sure to run.
addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden" && timer !== undefined) void save();
});

/** Stores what has changed. */
export async function save(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  hasSavedData.value = true;
  const before = forgotten;
  const [files, now] = [sources.value, settings()];
  await enqueue(async () => {
    if (before !== forgotten) return;
    const contents = files.flatMap(({ name, folder, isEdited, bytes }) => [name, folder, isEdited, bytes]);
    if (contents.length !== storedFiles.length || contents.some((one, at) => one !== storedFiles[at])) {
      await put(
        "files",
        files.map(({ name, folder, isEdited = false, bytes }) => ({ name, folder, isEdited, bytes })),
      );
      storedFiles = contents;
    }
    await put("settings", now);
    if (runProgress.value === undefined) await saveRuns(() => before === forgotten);
  });
}

function settings(): Settings {
  const indices = new Map(sources.value.map(({ id }, at) => [id, at]));
  const indexOf = (id: number) => indices.get(id) ?? -1;
  const { roles, actualOf } = choices.value;
  return {
    roles: Object.entries(roles).map(([id, role]) => [indexOf(Number(id)), role]),
    actualOf: Object.entries(actualOf).map(([id, other]) => [
      indexOf(Number(id)),
      other === null ? null : indexOf(other),
    ]),
    example: exampleName.value,
    isPristine: isPristine.value,
    config: configText.value,
    activeConfig: indexOf(activeConfig.value ?? -1),
    judge: withoutSecrets(),
    options: runOptions.value,
  };
}

/** Stores the inputs of a run that is being started. */
export async function saveRun(): Promise<void> {
  interrupted.value = undefined;
  await save();
  await enqueue(async () => {
    acquireLock();
    await put("state", { startedAt: Date.now(), isFinished: false });
  });
}

/** Marks the stored run as finished. */
export async function markFinished(): Promise<void> {
  await enqueue(async () => {
    const state = stateIn(await get("state"));
    if (state !== undefined) await put("state", { ...state, isFinished: true });
    releaseLock?.();
    releaseLock = undefined;
  });
}

/** Deletes all that this page stores in the browser: files, results, replies of judges, keys. */
export async function forgetAll(): Promise<void> {
  clearTimeout(timer);
  forgotten += 1;
  isRemembered.value = false;
  interrupted.value = undefined;
  hasSavedData.value = false;
  storedFiles = [];
  forgetRuns();
  await deleteAll(Object.values(CACHE_NAMES));
}

// ---- restoring

/** Resolves when everything that was kept is back. */
export const restored: Promise<void> = restore().finally(() => {
  isRestored = true;
});

/** Brings back everything that was kept. A link, and what the user did meanwhile, come first. */
async function restore(): Promise<void> {
  const isLink = location.hash.startsWith(LINK_PREFIX);
  const [kept, isElsewhere] = await Promise.all([get("state"), isRunningElsewhere()]);
  hasSavedData.value = kept !== undefined || (await get("settings")) !== undefined;
  const state = stateIn(kept);
  if (sources.value.length === 0) await restoreInputs();
  if (state?.isFinished === false && !isElsewhere) interrupted.value = { startedAt: state.startedAt };
  await restoreRuns(!isLink);
}

/** Restores files, config and settings; resolves with whether there are any. */
export async function restoreInputs(): Promise<boolean> {
  const [files, saved] = await Promise.all([get("files"), get("settings")]);
  if (files === undefined || saved === undefined) return false;
  const {
    roles,
    actualOf,
    example,
    isPristine: wasPristine,
    config,
    activeConfig: active,
    judge,
    options,
  } = { ...(saved as Partial<Settings> | null) };
  await replaceAll(filesIn(files));
  const ids = sources.value.map(({ id }) => id);
  const idOf = (place: number) => ids[place] ?? -1;
  const taken: Choices = {
    roles: Object.fromEntries(rolesIn(roles).map(([place, role]) => [idOf(place), role])),
    actualOf: Object.fromEntries(
      actualOfIn(actualOf).map(([place, other]) => [idOf(place), other === null ? null : idOf(other)]),
    ),
  };
  batch(() => {
    choices.value = taken;
    exampleName.value = typeof example === "string" ? example : undefined;
    isPristine.value = wasPristine === true;
    // Files are stored before the settings, so that those may still have an older text of the file.
    const file = typeof active === "number" ? sources.value[active] : undefined;
    activeConfig.value = file?.id;
    if (file !== undefined) configText.value = new TextDecoder().decode(file.bytes);
    else if (typeof config === "string") configText.value = config;
    runOptions.value = runOptionsIn(options);
    const settings = judgeSettingsIn(judge);
    if (settings !== undefined) restoreSettings(settings);
    interrupted.value = undefined;
  });
  return true;
}

/** What is stored, which another page may have written. */
function get(key: keyof SavedRecords): Promise<unknown> {
  return load(key);
}

function put<K extends keyof SavedRecords>(key: K, value: SavedRecords[K]): Promise<void> {
  return store(key, value);
}
