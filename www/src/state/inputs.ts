/** The user's files, and how they are paired. */

import { batch, computed, signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { FileKind, NamedFile } from "../worker/protocol.js";
import { type Choices, type Matchable, matchFiles, type Role, roleOf, rolesOf } from "./matching.js";

export type { Choices };

/** A file with its content. */
export interface Source extends Matchable, NamedFile {
  /** Whether it was made or changed here, and not saved as a file since. */
  isEdited?: boolean;
}

/** A file that is not inspected yet. */
export interface NewFile extends NamedFile {
  folder?: string;
  isEdited?: boolean;
}

export const sources = signal<readonly Source[]>([]);

/** The user's changes to roles and pairs. */
export const choices = signal<Choices>({ roles: {}, actualOf: {} });

export const matching = computed(() => matchFiles(sources.value, choices.value));

/** The title of the example that the files belong to, if they do. */
export const exampleName = signal<string | undefined>(undefined);

/** Whether the files are those of an unchanged example. If so, new files replace them. */
export const isPristine = signal(false);

/** Whether files are still being inspected. */
export const isInspecting = computed(() => sources.value.some(({ info }) => info === undefined));

let lastId = 0;

/** Adds files and replaces those with the same name and folder. Resolves when all are inspected. */
export async function add(files: readonly NewFile[]): Promise<readonly Source[]> {
  const added = files.map(({ name, bytes, folder = "", isEdited = false }): Source => {
    return { id: (lastId += 1), name, bytes, folder, isEdited };
  });
  const isReplaced = (old: Source) => added.some(({ name, folder }) => name === old.name && folder === old.folder);
  sources.value = [...sources.value.filter((old) => !isReplaced(old)), ...added];
  await Promise.all(added.map(inspectSource));
  return added
    .map(({ id }) => sources.value.find((source) => source.id === id))
    .filter((source) => source !== undefined);
}

/** Replaces all files. */
export async function replaceAll(files: readonly NewFile[]): Promise<readonly Source[]> {
  batch(() => {
    sources.value = [];
    choices.value = { roles: {}, actualOf: {} };
    exampleName.value = undefined;
    isPristine.value = false;
  });
  return add(files);
}

/** Removes a file. */
export function remove(id: number): void {
  sources.value = sources.value.filter((source) => source.id !== id);
}

/** Notes that an edited file was saved. */
export function markSaved(id: number): void {
  sources.value = sources.value.map((source) => (source.id === id ? { ...source, isEdited: false } : source));
}

// This browser keeps edits, but until they are saved it is the only place that has them.
addEventListener("beforeunload", (event) => {
  if (sources.value.some(({ isEdited }) => isEdited)) event.preventDefault();
});

/** Changes the content of a file. */
export async function write(id: number, text: string): Promise<void> {
  const old = sources.value.find((source) => source.id === id);
  if (old === undefined) return;
  isPristine.value = false;
  const changed = { ...old, isEdited: true, bytes: new TextEncoder().encode(text) };
  sources.value = sources.value.map((source) => (source.id === id ? changed : source));
  await inspectSource(changed);
}

/** Renames a file and inspects it again, since its kind may depend on its name. */
export function rename(id: number, name: string): void {
  const old = sources.value.find((source) => source.id === id);
  if (old === undefined || name.trim() === "") return;
  isPristine.value = false;
  const renamed = { ...old, name: name.trim(), bytes: old.bytes.slice() };
  sources.value = sources.value.map((source) => (source.id === id ? renamed : source));
  void inspectSource(renamed);
}

/** Sets the role of a file. */
export function setRole(id: number, role: Role): void {
  choices.value = { ...choices.value, roles: { ...choices.value.roles, [id]: role } };
}

/** Sets the file with the actual runs of an evalset; null for none. */
export function setActual(expected: number, actual: number | null): void {
  const others = Object.entries(choices.value.actualOf).filter(([, other]) => other !== actual || actual === null);
  const actualOf = { ...Object.fromEntries(others), [expected]: actual };
  let { roles } = choices.value;
  const file = sourceOf(actual ?? undefined);
  if (file !== undefined && roleOf(file, sources.value, choices.value) !== "actual") {
    const { [file.id]: _role, ...rest } = roles;
    // Results are agent runs anyway, until others of their history are chosen.
    roles = rolesOf(file)[0] === "actual" ? rest : { ...rest, [file.id]: "actual" };
  }
  choices.value = { roles, actualOf };
}

async function inspectSource(source: Source): Promise<void> {
  const info = await engine.inspect({ name: source.name, bytes: source.bytes });
  // The file may have been changed or removed meanwhile.
  sources.value = sources.value.map((now) =>
    now.id === source.id && now.bytes === source.bytes ? { ...now, info } : now,
  );
}

/** What tells a file from others: its folder and its name. */
export function pathOf({ folder, name }: Pick<Source, "folder" | "name">): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export function sourceOf(id: number | undefined): Source | undefined {
  return sources.value.find((source) => source.id === id);
}

/** The names of the kinds of files. */
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
