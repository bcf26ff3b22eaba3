/** The evalset editor's state. Every change applies at once and can be undone. */

import { batch, signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { CaseEdit, EditableCase, EditableSet, KnownTool, Problem } from "../worker/protocol.js";
import { sourceOf, sources, write } from "./inputs.js";

/** The id of the edited file. */
export const fileId = signal<number | undefined>(undefined);

export const evalSet = signal<EditableSet | undefined>(undefined);

/** The index of the edited case in the evalset. */
export const caseIndex = signal(0);

export const editedCase = signal<EditableCase | undefined>(undefined);

/** The tools that the files of the page tell of. */
export const tools = signal<readonly KnownTool[]>([]);

/** Why the last change was rejected, or why the evalset cannot be edited. */
export const problem = signal<Problem | undefined>(undefined);

/** The evalset before each change. */
export const undoStack = signal<readonly { text: string; caseIndex: number }[]>([]);

const MAX_UNDO_STEPS = 50;

/** Starts editing a case by its eval id, or the first case if there is no such id. */
export async function startEditing(id: number, evalId: string | undefined): Promise<void> {
  const source = sourceOf(id);
  if (source === undefined) {
    evalSet.value = undefined;
    return;
  }
  if (
    fileId.value !== id ||
    evalSet.value === undefined ||
    new TextDecoder().decode(source.bytes) !== evalSet.value.text
  ) {
    const outcome = await engine.editableSet({ name: source.name, bytes: source.bytes });
    batch(() => {
      fileId.value = id;
      undoStack.value = [];
      evalSet.value = outcome.ok ? outcome.value : undefined;
      problem.value = outcome.ok ? undefined : { ...outcome.problem, file: source.name };
    });
  }
  void lookUpTools();
  const index = evalSet.value?.cases.findIndex((one) => one.evalId === evalId) ?? -1;
  await goToCase(Math.max(0, index));
}

/** Looks for tools in all files, once for the same files. */
async function lookUpTools(): Promise<void> {
  if (lookedThrough === sources.value) return;
  lookedThrough = sources.value;
  const outcome = await engine.knownTools(sources.value.map(({ name, bytes }) => ({ name, bytes })));
  if (outcome.ok) tools.value = outcome.value;
}

let lookedThrough: typeof sources.value | undefined;

/** Shows a case. */
async function goToCase(index: number): Promise<void> {
  const now = evalSet.value;
  if (now === undefined) return;
  const wanted = Math.max(0, Math.min(index, now.cases.length - 1));
  const outcome = now.cases.length === 0 ? undefined : await engine.editableCase(now.text, wanted);
  batch(() => {
    caseIndex.value = wanted;
    editedCase.value = outcome?.ok === true ? outcome.value : undefined;
  });
}

/** Changes are queued: leaving a field by pressing a button makes two, and the second builds on the first. */
let queue: Promise<unknown> = Promise.resolve();

/** Makes a change after all earlier ones; resolves with whether it was accepted. */
export function change(edit: CaseEdit): Promise<boolean> {
  return enqueue(() => apply(edit));
}

/** Undoes the last change. */
export function undo(): Promise<void> {
  return enqueue(revert);
}

function enqueue<T>(work: () => Promise<T>): Promise<T> {
  const done = queue.then(work);
  queue = done.catch(() => {});
  return done;
}

async function apply(edit: CaseEdit): Promise<boolean> {
  const now = evalSet.value;
  const [id, index] = [fileId.value, caseIndex.value];
  if (now === undefined || id === undefined) return false;
  const outcome = await engine.applyEdit(now.text, index, edit);
  if (!outcome.ok) {
    problem.value = outcome.problem;
    return false;
  }
  undoStack.value = [...undoStack.value, { text: now.text, caseIndex: index }].slice(-MAX_UNDO_STEPS);
  const isNew = edit.kind === "addCase" || edit.kind === "copyCase";
  await accept(id, outcome.value, isNew ? index + 1 : index);
  return true;
}

async function revert(): Promise<void> {
  const last = undoStack.value.at(-1);
  const [id, now] = [fileId.value, evalSet.value];
  if (last === undefined || id === undefined || now === undefined) return;
  undoStack.value = undoStack.value.slice(0, -1);
  const outcome = await engine.editableSet({ name: "evalset", bytes: new TextEncoder().encode(last.text) });
  if (outcome.ok) await accept(id, { ...outcome.value, text: last.text }, last.caseIndex);
}

async function accept(id: number, changed: EditableSet, index: number): Promise<void> {
  batch(() => {
    problem.value = undefined;
    evalSet.value = changed;
  });
  await Promise.all([write(id, changed.text), goToCase(index)]);
}
