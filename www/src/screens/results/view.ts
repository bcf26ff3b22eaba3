/**
 * Which cases of the run are shown, and in which order. This state outlives the screen, since the screen of a case links
 * to the previous and the next one.
 *
 * Sorting is O(n log n) and happens when the order changes; filtering is O(n) and happens also when verdicts change.
 */

import { batch, computed, effect, signal } from "@preact/signals";
import { EvalStatus } from "../../enums.js";
import { compared, current } from "../../state/compare.js";
import { disputed } from "../../state/labels.js";
import { isInspecting, sources } from "../../state/inputs.js";
import { summary, verdicts } from "../../state/run.js";
import { engine } from "../../worker/client.js";
import type { RunSummary } from "../../worker/protocol.js";
import { type Tally, tallyOf } from "../../worker/scale.js";

/** The sort key: the order of the evalset, the verdict, the case's name, or a metric by the index of its column. */
export type SortKey = "evalset" | "verdict" | "case" | number;

export interface Sort {
  by: SortKey;
  descending: boolean;
}

export type CaseFilter = "all" | "passed" | "failed" | "open" | "flipped" | "regressed" | "disputed";

export const caseFilter = signal<CaseFilter>("all");
export const query = signal("");
/** The index of the evalset whose cases are shown; -1 for all. */
export const shownSet = signal(-1);
export const sort = signal<Sort>({ by: "evalset", descending: false });
/** The column of the metric whose verdicts the filter uses; -1 for the verdicts of the cases. */
export const verdictColumn = signal(-1);

/** Shows the cases in which a metric scores below a value, or at least that. */
export interface ScoreFilter {
  metric: string;
  is: "below" | "from";
  value: number;
}

export const scoreFilter = signal<ScoreFilter | undefined>(undefined);
/** The tool that the shown cases call; empty for any. */
export const toolFilter = signal("");

/** The rows of the cases that call each tool, of the run that `run` names; loaded when they are needed. */
export const tools = signal<{ run: string; rows: ReadonlyMap<string, ReadonlySet<number>> } | undefined>(undefined);

/** Loads which cases call which tools. */
export async function loadTools(): Promise<void> {
  const run = summary.value?.id;
  if (run === undefined || tools.value?.run === run) return;
  const outcome = await engine.toolsOf(run);
  if (!outcome.ok || summary.value?.id !== run) return;
  tools.value = { run, rows: new Map(outcome.value.map(({ name, rows }) => [name, new Set(rows)])) };
}

effect(() => {
  if (toolFilter.value !== "" && summary.value !== undefined) void loadTools();
});

/** The tag of the shown cases; empty for any. */
export const tagFilter = signal("");

/** The rows of the cases with each tag, as {@link tools}. */
export const tags = signal<typeof tools.value>(undefined);

/** Loads which cases have which tags. */
export async function loadTags(): Promise<void> {
  const run = summary.value?.id;
  if (run === undefined) return;
  const evalSets = sources.value.filter(({ info }) => info?.kind === "evalset");
  const outcome = await engine.tagsOf(
    run,
    evalSets.map(({ name, bytes }) => ({ name, bytes })),
  );
  if (!outcome.ok || summary.value?.id !== run) return;
  tags.value = { run, rows: new Map(outcome.value.map(({ name, rows }) => [name, new Set(rows)])) };
}

effect(() => {
  if (tagFilter.value !== "" && summary.value !== undefined && !isInspecting.value) void loadTags();
});

/** Shows all cases again. */
export function clearFilters(): void {
  batch(() => {
    caseFilter.value = "all";
    query.value = "";
    shownSet.value = -1;
    verdictColumn.value = -1;
    scoreFilter.value = undefined;
    toolFilter.value = tagFilter.value = "";
  });
}

/** The columns that the user chose; undefined for those that have something to show. */
export const chosenColumns = signal<ReadonlySet<number> | undefined>(undefined);

/** The columns that are shown, in order: all but informational metrics without any value, unless chosen otherwise. */
export const columns = computed<readonly number[]>(() => {
  const run = summary.value;
  if (run === undefined) return [];
  const chosen = chosenColumns.value;
  const all = run.metrics.map((_, column) => column);
  if (chosen !== undefined) return all.filter((column) => chosen.has(column));
  const width = run.metrics.length;
  const hasValue = (column: number) => run.evalIds.some((_, row) => !Number.isNaN(run.scores[row * width + column]));
  return all.filter((column) => run.metrics[column]?.threshold !== undefined || hasValue(column));
});

/** Filters and order are reset for a new run. */
let shownRunId: string | undefined;
effect(() => {
  const id = summary.value?.id;
  if (id === shownRunId) return;
  shownRunId = id;
  batch(() => {
    clearFilters();
    chosenColumns.value = undefined;
    sort.value = { by: "evalset", descending: false };
  });
});

/** The name of each row: its eval id, with the number of the run if the case has several. */
export const names = computed<readonly string[]>(() => {
  const run = summary.value;
  if (run === undefined) return [];
  const { sets, evalIds } = run;
  const all = sets.map(({ from, count }) => numbered(sets.length === 1 ? evalIds : evalIds.slice(from, from + count)));
  return all.length === 1 ? (all[0] ?? []) : all.flat();
});

/** The eval ids, with the number of the run for cases that have several. */
function numbered(evalIds: readonly string[]): readonly string[] {
  if (new Set(evalIds).size === evalIds.length) return evalIds;
  const runs = new Map<string, number>();
  for (const evalId of evalIds) runs.set(evalId, (runs.get(evalId) ?? 0) + 1);
  const seen = new Map<string, number>();
  return evalIds.map((evalId) => {
    if (runs.get(evalId) === 1) return evalId;
    const number = (seen.get(evalId) ?? 0) + 1;
    seen.set(evalId, number);
    return `${evalId} (run ${number})`;
  });
}

/** The length of the longest name. */
export const longestName = computed(() => names.value.reduce((longest, { length }) => Math.max(longest, length), 0));

const searchTexts = computed(() => names.value.map((name) => name.toLowerCase()));

/** The rows whose texts contain what is searched for; undefined until the worker has looked through them. */
const textMatches = signal<{ query: string; run: string; rows: ReadonlySet<number> } | undefined>(undefined);

/** How long typing pauses before texts are looked through, in milliseconds. */
const SEARCH_DELAY_MS = 150;

effect(() => {
  const [run, text] = [summary.value?.id, query.value];
  const words = wordsOf(text);
  if (run === undefined || words.length === 0) return undefined;
  const timer = setTimeout(() => {
    void engine.rowsWith(run, words).then((outcome) => {
      if (outcome.ok && query.peek() === text) textMatches.value = { query: text, run, rows: new Set(outcome.value) };
    });
  }, SEARCH_DELAY_MS);
  return () => clearTimeout(timer);
});

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

const collator = new Intl.Collator("en", { numeric: true });

/** All rows in the chosen order. Cases without a score come last in both directions. */
const sortedRows = computed<Uint32Array>(() => {
  const run = summary.value;
  const { by, descending } = sort.value;
  if (run === undefined) return new Uint32Array();
  const rows = new Uint32Array(run.evalIds.length);
  for (let row = 0; row < rows.length; row += 1) rows[row] = row;
  const sign = descending ? -1 : 1;
  if (by === "evalset") return descending ? rows.reverse() : rows;
  if (by === "case") {
    const all = names.value;
    return rows.sort((a, b) => sign * collator.compare(all[a] ?? "", all[b] ?? "") || a - b);
  }
  if (by === "verdict") {
    const statuses = verdicts.value?.cases ?? new Uint8Array();
    return rows.sort((a, b) => sign * (urgency(statuses[a]) - urgency(statuses[b])) || a - b);
  }
  const { scores, metrics } = run;
  const scoreOf = (row: number) => scores[row * metrics.length + by] ?? Number.NaN;
  return rows.sort((a, b) => {
    const [one, other] = [scoreOf(a), scoreOf(b)];
    const missing = Number(Number.isNaN(one)) - Number(Number.isNaN(other));
    return missing || (Number.isNaN(one) ? 0 : sign * (one - other)) || a - b;
  });
});

/** The order of verdicts: failed, not evaluated, passed, not scored yet. */
function urgency(status: number | undefined): number {
  if (status === EvalStatus.FAILED) return 0;
  if (status === EvalStatus.NOT_EVALUATED) return 1;
  return status === EvalStatus.PASSED ? 2 : 3;
}

/** A case with verdicts that differ from those of the run. */
export interface Flip {
  row: number;
  /** The verdict of the case, before and now. */
  from: number;
  to: number;
  /** The columns of the metrics whose verdicts flipped. */
  metrics: number[];
}

/** The cases in which a verdict flipped, those whose own verdict did first. */
export const flips = computed<readonly Flip[]>(() => {
  const run = summary.value;
  const now = verdicts.value;
  if (run === undefined || now === undefined || now === run.verdicts) return [];
  const before = run.verdicts;
  const width = run.metrics.length;
  const found: Flip[] = [];
  for (let row = 0; row < run.evalIds.length; row += 1) {
    const metrics: number[] = [];
    for (let at = row * width; at < (row + 1) * width; at += 1) {
      if (before.metrics[at] !== now.metrics[at]) metrics.push(at - row * width);
    }
    if (metrics.length > 0) found.push({ row, from: before.cases[row] ?? 0, to: now.cases[row] ?? 0, metrics });
  }
  const isOwn = ({ from, to }: Flip) => from !== to;
  return [...found.filter(isOwn), ...found.filter((flip) => !isOwn(flip))];
});

/** The rows of the cases that regressed since the baseline; undefined if the run is not being compared. */
export const regressed = computed<ReadonlySet<number> | undefined>(() => {
  const run = summary.value;
  const comparison = compared.value;
  if (run === undefined || comparison === undefined || current.value !== run.id) return undefined;
  const ids = new Map(comparison.sets.map(({ current: { evalSetId }, regressed }) => [evalSetId, new Set(regressed)]));
  const found = new Set<number>();
  for (const { evalSetId, from, count } of run.sets) {
    const worse = ids.get(evalSetId);
    if (worse === undefined) continue;
    for (let row = from; row < from + count; row += 1) if (worse.has(run.evalIds[row] ?? "")) found.add(row);
  }
  return found;
});

const STATUS_OF: Readonly<Partial<Record<CaseFilter, EvalStatus>>> = {
  passed: EvalStatus.PASSED,
  failed: EvalStatus.FAILED,
  open: EvalStatus.NOT_EVALUATED,
};

/** The visible rows, in order. */
export const rows = computed<Uint32Array>(() => {
  const run = summary.value;
  if (run === undefined) return new Uint32Array();
  const words = wordsOf(query.value);
  const found = textMatches.value;
  const inTexts = found?.run === run.id && found.query === query.value ? found.rows : undefined;
  const { from = 0, count = run.evalIds.length } = run.sets[shownSet.value] ?? {};
  const status = STATUS_OF[caseFilter.value];
  const statuses = status === undefined ? undefined : filteredVerdicts.value;
  const chosen =
    caseFilter.value === "flipped"
      ? new Set(flips.value.map(({ row }) => row))
      : caseFilter.value === "regressed"
        ? (regressed.value ?? new Set<number>())
        : caseFilter.value === "disputed"
          ? disputed.value
          : undefined;
  const scores = scorePredicate(run, scoreFilter.value);
  const callers = rowsOfName(run, tools.value, toolFilter.value);
  const tagged = rowsOfName(run, tags.value, tagFilter.value);
  const isFree = words.length === 0 && status === undefined && chosen === undefined && shownSet.value < 0;
  if (isFree && scores === undefined && callers === undefined && tagged === undefined) return sortedRows.value;
  return sortedRows.value.filter(
    (row) =>
      (scores === undefined || scores(row)) &&
      (callers === undefined || callers.has(row)) &&
      (tagged === undefined || tagged.has(row)) &&
      (statuses === undefined || statuses[row] === status) &&
      (chosen === undefined || chosen.has(row)) &&
      row >= from &&
      row < from + count &&
      (words.every((word) => searchTexts.value[row]?.includes(word)) || inTexts?.has(row) === true),
  );
});

/** Whether the score of a row is as the filter wants it; undefined without a filter. */
function scorePredicate(run: RunSummary, filter: ScoreFilter | undefined): ((row: number) => boolean) | undefined {
  const column = run.metrics.findIndex(({ name }) => name === filter?.metric);
  if (filter === undefined || column < 0) return undefined;
  const { is, value } = filter;
  return (row) => {
    const score = run.scores[row * run.metrics.length + column] ?? Number.NaN;
    return is === "below" ? score < value : score >= value;
  };
}

const NO_ROWS: ReadonlySet<number> = new Set();

/** The rows of the cases with a tool or a tag; undefined for any, and until they are known. */
function rowsOfName(run: RunSummary, known: typeof tools.value, name: string): ReadonlySet<number> | undefined {
  if (name === "" || known?.run !== run.id) return undefined;
  return known.rows.get(name) ?? NO_ROWS;
}

/** The verdict of each row that the filter uses. */
const filteredVerdicts = computed<Uint8Array>(() => {
  const now = verdicts.value;
  const column = verdictColumn.value;
  const run = summary.value;
  if (now === undefined || run === undefined) return new Uint8Array();
  return column < 0
    ? now.cases
    : Uint8Array.from(run.evalIds, (_, row) => now.metrics[row * run.metrics.length + column] ?? 0);
});

/** The number of cases by verdict. */
export const tally = computed<Tally>(() => verdicts.value?.tally ?? tallyOf(new Uint8Array()));

/** The number of cases by the verdict that the filter uses. */
export const filteredTally = computed<Tally>(() =>
  verdictColumn.value < 0 ? tally.value : tallyOf(filteredVerdicts.value),
);
