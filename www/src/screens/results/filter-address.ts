/** The filters and the order of the results in the address, so that a link, a bookmark and a reload show the same cases. */

import { batch, effect } from "@preact/signals";
import { addressText, beforeQuery, route } from "../../route.js";
import { summary } from "../../state/run.js";
import { keptRuns, showRun } from "../../state/runs.js";
import {
  type CaseFilter,
  caseFilter,
  chosenColumns,
  query,
  scoreFilter,
  shownSet,
  sort,
  type SortKey,
  tagFilter,
  toolFilter,
  verdictColumn,
} from "./view.js";

const CASE_FILTERS: readonly CaseFilter[] = ["all", "passed", "failed", "open", "flipped", "regressed", "disputed"];
const SCORE = /^(.*)(<|>=)(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

/** What follows `?` in the address; empty if all cases are shown in their own order. */
function filterText(): string {
  const run = summary.value;
  const metric = (column: number) => run?.metrics[column]?.name ?? "";
  const { by, descending } = sort.value;
  const score = scoreFilter.value;
  const parts: [string, string][] = [
    ["show", caseFilter.value === "all" ? "" : caseFilter.value],
    ["of", verdictColumn.value < 0 ? "" : metric(verdictColumn.value)],
    ["evalset", shownSet.value < 0 ? "" : String(shownSet.value)],
    ["score", score === undefined ? "" : `${score.metric}${score.is === "below" ? "<" : ">="}${score.value}`],
    ["tool", toolFilter.value],
    ["tag", tagFilter.value],
    ["search", query.value],
    ["sort", by === "evalset" ? "" : typeof by === "number" ? `metric:${metric(by)}` : by],
    ["order", descending ? "descending" : ""],
    ["columns", chosenColumns.value === undefined ? "" : JSON.stringify([...chosenColumns.value].map(metric))],
  ];
  const chosen = parts.filter(([, value]) => value !== "");
  if (chosen.length === 0 || run === undefined) return "";
  return String(new URLSearchParams([...chosen, ["run", run.id]]));
}

/** Applies what an address says; what does not fit the run is left out. */
function apply(text: string): void {
  const run = summary.value;
  if (run === undefined) return;
  const given = new URLSearchParams(text);
  const columnOf = (name: string | null) => run.metrics.findIndex((metric) => metric.name === name);
  const set = Number(given.get("evalset") ?? -1);
  const [, metric, sign, value] = SCORE.exec(given.get("score") ?? "") ?? [];
  const key = given.get("sort") ?? "evalset";
  const sortColumn = key.startsWith("metric:") ? columnOf(key.slice("metric:".length)) : -1;
  const named = (["evalset", "verdict", "case"] as const).find((name) => name === key) ?? "evalset";
  const by: SortKey = sortColumn < 0 ? named : sortColumn;
  batch(() => {
    caseFilter.value = CASE_FILTERS.find((filter) => filter === given.get("show")) ?? "all";
    verdictColumn.value = columnOf(given.get("of"));
    shownSet.value = run.sets[set] === undefined ? -1 : set;
    scoreFilter.value =
      metric === undefined || columnOf(metric) < 0
        ? undefined
        : { metric, is: sign === "<" ? "below" : "from", value: Number(value) };
    toolFilter.value = given.get("tool") ?? "";
    tagFilter.value = given.get("tag") ?? "";
    query.value = given.get("search") ?? "";
    chosenColumns.value = columnsIn(given.get("columns"), columnOf);
    sort.value = { by, descending: given.get("order") === "descending" };
  });
}

/** The columns of a list of metrics, as JSON; undefined for no list. */
function columnsIn(text: string | null, columnOf: (name: string) => number): ReadonlySet<number> | undefined {
  if (text === null) return undefined;
  try {
    const names: unknown = JSON.parse(text);
    if (!Array.isArray(names)) return undefined;
    return new Set(names.map((name) => columnOf(String(name))).filter((column) => column >= 0));
  } catch {
    return undefined;
  }
}

/** What was in the address when the page was opened, until the run that it is about is there. */
let awaited = addressText();

// A link that is pasted, and going back.
addEventListener("hashchange", () => {
  const text = addressText();
  if (text === "" || route.value.screen !== "results") return;
  const run = new URLSearchParams(text).get("run") ?? "";
  const isKept = keptRuns.value.some(({ id }) => id === run);
  if (!isKept || run === summary.value?.id) apply(text);
  else void showRun(run).then(() => apply(text));
});

/** The screen that was shown before. */
let screenBefore: string | undefined;

effect(() => {
  const run = summary.value;
  const { screen } = route.value;
  const isFromElsewhere = screenBefore !== undefined && screenBefore !== screen;
  screenBefore = screen;
  if (run === undefined) return;
  if (awaited !== "") {
    const text = awaited;
    awaited = "";
    apply(text);
  }
  const text = filterText();
  if (screen !== "results" || text === addressText()) return;
  // A link from another screen is followed by the listener above.
  if (isFromElsewhere && addressText() !== "") return;
  const place = beforeQuery(location.hash) || "#/results";
  history.replaceState(history.state, "", text === "" ? place : `${place}?${text}`);
});
