/** The evalset that is edited. Every change is taken over at once, and can be undone. */

import { batch, signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { CaseEdit, EditableCase, EditableSet, Problem } from "../worker/protocol.js";
import { sourceOf, write } from "./inputs.js";

/** The file that is edited, by its id. */
export const file = signal<number | undefined>(undefined);

export const set = signal<EditableSet | undefined>(undefined);

/** The case that is edited: its place in the evalset. */
export const at = signal(0);

export const shown = signal<EditableCase | undefined>(undefined);

/** Why the last change was not taken over, or the evalset cannot be edited. */
export const problem = signal<Problem | undefined>(undefined);

/** What the evalset was before each change. */
export const past = signal<readonly { text: string; at: number }[]>([]);

const MOST_UNDONE = 50;

/** Begins to edit a case, by its eval id; the first if there is no such case. */
export async function edit(id: number, evalId: string | undefined): Promise<void> {
  const source = sourceOf(id);
  if (source === undefined) {
    set.value = undefined;
    return;
  }
  if (file.value !== id || set.value === undefined || new TextDecoder().decode(source.bytes) !== set.value.text) {
    const outcome = await engine.editableSet({ name: source.name, bytes: source.bytes });
    batch(() => {
      file.value = id;
      past.value = [];
      set.value = outcome.ok ? outcome.value : undefined;
      problem.value = outcome.ok ? undefined : { ...outcome.problem, file: source.name };
    });
  }
  const place = set.value?.cases.findIndex((one) => one.evalId === evalId) ?? -1;
  await goToCase(Math.max(0, place));
}

/** Shows a case. */
export async function goToCase(place: number): Promise<void> {
  const now = set.value;
  if (now === undefined) return;
  const wanted = Math.max(0, Math.min(place, now.cases.length - 1));
  const outcome = now.cases.length === 0 ? undefined : await engine.editableCase(now.text, wanted);
  batch(() => {
    at.value = wanted;
    shown.value = outcome?.ok === true ? outcome.value : undefined;
  });
}

/** The change under way: leaving a field by pressing a button makes two, and the second builds on the first. */
let queue: Promise<unknown> = Promise.resolve();

/** Makes a change, after those before it; true if it was taken over. */
export function change(edit: CaseEdit): Promise<boolean> {
  return queued(() => make(edit));
}

/** Takes the last change back. */
export function undo(): Promise<void> {
  return queued(takeBack);
}

function queued<T>(work: () => Promise<T>): Promise<T> {
  const done = queue.then(work);
  queue = done.catch(() => {});
  return done;
}

async function make(edit: CaseEdit): Promise<boolean> {
  const now = set.value;
  const [id, place] = [file.value, at.value];
  if (now === undefined || id === undefined) return false;
  const outcome = await engine.edited(now.text, place, edit);
  if (!outcome.ok) {
    problem.value = outcome.problem;
    return false;
  }
  past.value = [...past.value, { text: now.text, at: place }].slice(-MOST_UNDONE);
  const isNew = edit.kind === "addCase" || edit.kind === "copyCase";
  await take(id, outcome.value, isNew ? place + 1 : place);
  return true;
}

async function takeBack(): Promise<void> {
  const last = past.value.at(-1);
  const [id, now] = [file.value, set.value];
  if (last === undefined || id === undefined || now === undefined) return;
  past.value = past.value.slice(0, -1);
  const outcome = await engine.editableSet({ name: "evalset", bytes: new TextEncoder().encode(last.text) });
  if (outcome.ok) await take(id, { ...outcome.value, text: last.text }, last.at);
}

async function take(id: number, changed: EditableSet, place: number): Promise<void> {
  batch(() => {
    problem.value = undefined;
    set.value = changed;
  });
  await Promise.all([write(id, changed.text), goToCase(place)]);
}
