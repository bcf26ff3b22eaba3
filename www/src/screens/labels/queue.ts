/** Which verdict is to be labelled, and what comes next. This state outlives the screen. */

import { batch, computed, effect, signal } from "@preact/signals";
import { annotator, labelOf, setLabel } from "../../state/labels.js";
import { runProgress, summary, verdicts } from "../../state/run.js";
import { engine } from "../../worker/client.js";
import type { LabelQueue, PlacedVerdict } from "../../worker/protocol.js";

/** The most doubtful verdicts first, or a random sample. */
export type Order = "doubtful" | "random";

export const order = signal<Order>("doubtful");
/** The only metric; empty for those that ask a judge. */
export const metric = signal("");
/** Whether the judge's verdict is hidden, so that it does not sway people. */
export const isBlind = signal(true);

/** The verdicts to label; undefined until they are known. */
export const queue = signal<LabelQueue | undefined>(undefined);
/** Why there are none. */
export const problem = signal<string | undefined>(undefined);
/** The place in the queue. */
export const at = signal(0);
/** What was done last, in words. */
export const message = signal("");

export const shown = computed<PlacedVerdict | undefined>(() => queue.value?.verdicts[at.value]);

/** How many verdicts of the queue are labelled. */
export const done = computed(() => (queue.value?.verdicts ?? []).filter(isDone).length);

/**
 * Whether a verdict needs no label any more. In a random sample, one that was labelled for another reason has to be confirmed:
 * if such verdicts were passed over, the sample would not be random.
 */
function isDone(verdict: PlacedVerdict): boolean {
  const { label, chosen = "random" } = labelOf(verdict) ?? {};
  return label !== undefined && (order.value === "doubtful" || chosen === "random");
}

let loadedFor: string | undefined;

/** Loads the queue for what is chosen, unless it is there. */
export async function loadQueue(): Promise<void> {
  const run = summary.value?.id;
  if (run === undefined || runProgress.value !== undefined) return;
  const [random, only] = [order.value === "random", metric.value];
  const wanted = JSON.stringify([run, random, only]);
  if (loadedFor === wanted) return;
  loadedFor = wanted;
  const outcome = await engine.verdictsToLabel(run, { random, ...(only === "" ? {} : { metric: only }) });
  if (loadedFor !== wanted) return;
  batch(() => {
    queue.value = outcome.ok ? outcome.value : undefined;
    problem.value = outcome.ok ? undefined : sentenceOf(outcome.problem);
    message.value = "";
    at.value = 0;
    toNext(-1);
  });
}

function sentenceOf({ message: text, help }: { message: string; help?: string }): string {
  const parts = [text, ...(help === undefined ? [] : [help])];
  return parts.map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}.`).join(" ");
}

// Another run has other verdicts, and other thresholds change what the judge says.
effect(() => {
  void [summary.value?.id, verdicts.value];
  loadedFor = undefined;
});

/** Goes to the first verdict after a place that needs a label; stays if there is none. */
function toNext(from: number): void {
  const all = queue.value?.verdicts ?? [];
  const places = [...all.keys()];
  const next = [...places.slice(from + 1), ...places.slice(0, Math.max(0, from))].find(
    (place) => !isDone(all[place] as PlacedVerdict),
  );
  if (next !== undefined) at.value = next;
}

/** Labels the verdict that is shown, and goes to the next. */
export function give(label: boolean | number, word: string): void {
  const verdict = shown.value;
  if (verdict === undefined) return;
  const before = labelOf(verdict)?.chosen;
  batch(() => {
    setLabel(verdict, { label, chosen: before === "random" ? before : order.value });
    message.value = `Labelled: ${word}.`;
    toNext(at.value);
  });
}

/** Removes the label of the verdict that is shown. */
export function takeBack(): void {
  const verdict = shown.value;
  if (verdict === undefined || labelOf(verdict)?.label === undefined) return;
  setLabel(verdict, { label: undefined });
  message.value = "The label was removed.";
}

/** Goes to a neighbour, labelled or not. */
export function step(by: 1 | -1): void {
  const last = (queue.value?.verdicts.length ?? 0) - 1;
  at.value = Math.min(last, Math.max(0, at.value + by));
  message.value = "";
}

// Whose labels count as done depends on who labels.
effect(() => {
  void annotator.value;
  if (queue.peek() !== undefined) toNext(-1);
});
