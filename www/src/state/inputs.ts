/** The files that the user gave, and how they belong together. */

import { batch, computed, signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { FileKind, NamedFile } from "../worker/protocol.js";
import { type Choices, type Matchable, matchFiles, type Role } from "./matching.js";

/** A file, its text or bytes as they came. */
export interface Source extends Matchable, NamedFile {}

/** A file that is not read yet. */
export interface NewFile extends NamedFile {
  folder?: string;
}

export const sources = signal<readonly Source[]>([]);

/** What the user decided about pairs. */
export const choices = signal<Choices>({ roles: {}, actualOf: {} });

export const matching = computed(() => matchFiles(sources.value, choices.value));

/** The example that the files are, if they are one. */
export const exampleName = signal<string | undefined>(undefined);

/** Whether the files are an example's in which nothing was changed: other files then take their place. */
export const isPristine = signal(false);

/** Whether files are still being looked at. */
export const isInspecting = computed(() => sources.value.some(({ info }) => info === undefined));

let lastId = 0;

/** Adds files; those with the name and folder of another replace it. Resolves when all are looked at. */
export async function add(files: readonly NewFile[]): Promise<readonly Source[]> {
  const added = files.map(({ name, bytes, folder = "" }): Source => ({ id: (lastId += 1), name, bytes, folder }));
  const isReplaced = (old: Source) => added.some(({ name, folder }) => name === old.name && folder === old.folder);
  sources.value = [...sources.value.filter((old) => !isReplaced(old)), ...added];
  await Promise.all(added.map(inspectSource));
  return added
    .map(({ id }) => sources.value.find((source) => source.id === id))
    .filter((source) => source !== undefined);
}

/** Puts other files in the place of all. */
export async function replaceAll(files: readonly NewFile[]): Promise<readonly Source[]> {
  batch(() => {
    sources.value = [];
    choices.value = { roles: {}, actualOf: {} };
    exampleName.value = undefined;
    isPristine.value = false;
  });
  return add(files);
}

/** Takes a file out. */
export function remove(id: number): void {
  sources.value = sources.value.filter((source) => source.id !== id);
}

/** Changes what a file holds, as its editor does. */
export async function write(id: number, text: string): Promise<void> {
  const old = sources.value.find((source) => source.id === id);
  if (old === undefined) return;
  isPristine.value = false;
  const changed = { ...old, bytes: new TextEncoder().encode(text) };
  sources.value = sources.value.map((source) => (source.id === id ? changed : source));
  await inspectSource(changed);
}

/** Gives a file another name, which may say what kind it is. */
export function rename(id: number, name: string): void {
  const old = sources.value.find((source) => source.id === id);
  if (old === undefined || name.trim() === "") return;
  isPristine.value = false;
  const renamed = { ...old, name: name.trim(), bytes: old.bytes.slice() };
  sources.value = sources.value.map((source) => (source.id === id ? renamed : source));
  void inspectSource(renamed);
}

/** Says what a file is for. */
export function setRole(id: number, role: Role): void {
  choices.value = { ...choices.value, roles: { ...choices.value.roles, [id]: role } };
}

/** Says what the agent did on an evalset; null for nothing. */
export function setActual(expected: number, actual: number | null): void {
  const others = Object.entries(choices.value.actualOf).filter(([, other]) => other !== actual || actual === null);
  choices.value = { ...choices.value, actualOf: { ...Object.fromEntries(others), [expected]: actual } };
}

async function inspectSource(source: Source): Promise<void> {
  const info = await engine.inspect({ name: source.name, bytes: source.bytes });
  // The file may have been changed or taken out meanwhile.
  sources.value = sources.value.map((now) =>
    now.id === source.id && now.bytes === source.bytes ? { ...now, info } : now,
  );
}

export function sourceOf(id: number | undefined): Source | undefined {
  return sources.value.find((source) => source.id === id);
}

/** What a kind of file is called. */
export const KIND_NAMES: Readonly<Record<FileKind, string>> = {
  evalset: "Evalset",
  results: "Evalset results",
  inferences: "Inference results",
  session: "Sessions",
  traces: "OpenTelemetry traces",
  config: "Eval config",
  recording: "Recorded replies of a judge",
  unknown: "Not recognised",
};
