/** What people say of the verdicts of the run that is shown; kept in this browser with the run. */

import { computed, effect, signal } from "@preact/signals";
import { engine } from "../worker/client.js";
import type { GivenLabel, RunCalibration, VerdictPlace } from "../worker/protocol.js";
import { runProgress, summary, verdicts } from "./run.js";
import { enqueue, load, remove, store } from "./storage.js";
import { labelsIn } from "./stored-values.js";

/** The labels of a run, by {@link keyOf}. */
interface RunLabels {
  run: string;
  all: ReadonlyMap<string, GivenLabel>;
}

const loaded = signal<RunLabels | undefined>(undefined);

/** Who labels in this browser; empty if unnamed. */
export const annotator = signal("");

export const MOST_OF_NAME = 100;

const ANNOTATOR_KEY = "annotator";

void load<unknown>(ANNOTATOR_KEY).then((name) => {
  if (typeof name === "string") annotator.value = name.slice(0, MOST_OF_NAME);
});

export function setAnnotator(name: string): void {
  annotator.value = name.trim();
  void enqueue(() => store(ANNOTATOR_KEY, annotator.value));
}

/** The labels of the run that is shown. */
export const labels = computed<ReadonlyMap<string, GivenLabel>>(() => {
  const now = loaded.value;
  return now !== undefined && now.run === summary.value?.id ? now.all : NO_LABELS;
});

const NO_LABELS: ReadonlyMap<string, GivenLabel> = new Map();

/** How often the judge is right, by these labels; undefined without any. */
export const calibration = signal<RunCalibration | undefined>(undefined);

/** Why nothing can be said of the judge. */
export const calibrationProblem = signal<string | undefined>(undefined);

/** The rows of cases with a verdict that people do not share. */
export const disputed = computed<ReadonlySet<number>>(
  () => new Set(calibration.value?.disagreements.map(({ row }) => row)),
);

/** What a person's label of a verdict is known by. */
export function keyOf({ evalSetId, evalId, run, turn, metricName, rubricId }: VerdictPlace, by: string): string {
  return JSON.stringify([evalSetId, evalId, run, turn ?? 0, metricName, rubricId ?? "", by]);
}

/** What the one who labels here said of a verdict. */
export function labelOf(place: VerdictPlace): GivenLabel | undefined {
  return labels.value.get(keyOf(place, annotator.value));
}

const storageKey = (run: string) => `labels/${run}`;

effect(() => {
  const id = summary.value?.id;
  if (id === undefined || loaded.peek()?.run === id) return;
  void load(storageKey(id)).then((stored) => {
    if (summary.peek()?.id !== id || loaded.peek()?.run === id) return;
    const all = new Map(labelsIn(stored).map((one) => [keyOf(one, one.annotator ?? ""), one]));
    loaded.value = { run: id, all };
  });
});

/** How long labels and thresholds have to rest before the judge is calibrated, in milliseconds. */
const CALIBRATION_DELAY_MS = 120;

effect(() => {
  const given = [...labels.value.values()];
  const run = summary.value?.id;
  // Verdicts change with thresholds.
  void verdicts.value;
  if (run === undefined || runProgress.value !== undefined || !given.some(({ label }) => label !== undefined)) {
    calibration.value = calibrationProblem.value = undefined;
    return undefined;
  }
  const timer = setTimeout(() => {
    void engine.calibration(run, given).then((outcome) => {
      if (summary.peek()?.id !== run || labels.peek().size === 0) return;
      calibration.value = outcome.ok ? outcome.value : undefined;
      calibrationProblem.value = outcome.ok ? undefined : outcome.problem.message;
    });
  }, CALIBRATION_DELAY_MS);
  return () => clearTimeout(timer);
});

/** Changes the label of a verdict; one with neither label nor comment is removed. */
export function setLabel(
  place: VerdictPlace,
  change: { label?: GivenLabel["label"] | undefined; comment?: string; chosen?: GivenLabel["chosen"] },
): void {
  const { evalSetId, evalId, run, turn, metricName, rubricId } = place;
  const by = annotator.value;
  const key = keyOf(place, by);
  const { label, comment = "", chosen } = { ...labels.value.get(key), ...change };
  const now = new Map(labels.value);
  if (label === undefined && comment === "") now.delete(key);
  else {
    now.set(key, {
      ...{ evalSetId, evalId, run, metricName },
      ...(turn === undefined ? {} : { turn }),
      ...(rubricId === undefined ? {} : { rubricId }),
      ...(label === undefined ? {} : { label }),
      ...(by === "" ? {} : { annotator: by }),
      ...(chosen === undefined ? {} : { chosen }),
      ...(comment === "" ? {} : { comment }),
    });
  }
  keep(now);
}

/** Adds labels; those of the same verdict and person are replaced. */
export function addLabels(given: readonly GivenLabel[]): void {
  keep(new Map([...labels.value, ...given.map((one) => [keyOf(one, one.annotator ?? ""), one] as const)]));
}

export function removeLabels(): void {
  keep(new Map());
}

function keep(all: ReadonlyMap<string, GivenLabel>): void {
  const run = summary.value?.id;
  if (run === undefined) return;
  loaded.value = { run, all };
  const key = storageKey(run);
  void enqueue(() => (all.size === 0 ? remove(key) : store(key, [...all.values()])));
}

/** Deletes the labels of a run. Call it within `enqueue`. */
export function forgetLabels(run: string): Promise<void> {
  return remove(storageKey(run));
}
