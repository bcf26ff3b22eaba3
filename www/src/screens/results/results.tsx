import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { hrefOf } from "../../route.js";
import { disputed, labels } from "../../state/labels.js";
import { runProgress, summary } from "../../state/run.js";
import type { RunSummary } from "../../worker/protocol.js";
import { Choices } from "../../ui/choices.js";
import { count } from "../../ui/format.js";
import { labelOf } from "../../ui/set-label.js";
import { MetricName, visibleText } from "../../ui/text.js";
import { Export } from "./export.js";
import { Filters } from "./filters.js";
import "./filter-address.js";
import { Flips } from "./flips.js";
import { Fold, isNarrow } from "./fold.js";
import { Grid } from "./grid.js";
import { Figures } from "./figures.js";
import { Histogram } from "./histogram.js";
import { Notices } from "./notices.js";
import { RunPicker } from "./run-picker.js";
import {
  chosenColumns,
  clearFilters,
  columns,
  filteredTally,
  flips,
  verdictColumn,
  shownSet,
  query,
  regressed,
  rows,
  caseFilter,
  type CaseFilter,
  sort,
} from "./view.js";
import { Title } from "../../ui/title.js";
import "./grid.css";
import "./results.css";

export default function Results() {
  const run = summary.value;
  if (run === undefined) {
    return (
      <>
        <Title>Results</Title>
        <p class="muted">
          Nothing has been scored yet. <a href={hrefOf("files")}>Choose files</a>, then run.
        </p>
        <RunPicker />
      </>
    );
  }
  const judged = run.metrics.flatMap(({ threshold }, column) => (threshold === undefined ? [] : [column]));
  const informational = run.metrics.flatMap(({ threshold }, column) => (threshold === undefined ? [column] : []));
  return (
    <div class="results">
      <div class="title">
        <Title>Results</Title>
        <RunPicker />
        <Export />
        {runProgress.value === undefined && (
          <a class="button" href={hrefOf("labels")}>
            Label verdicts{labels.value.size > 0 && `: ${labels.value.size.toLocaleString("en")}`}
          </a>
        )}
      </div>
      <Notices run={run} />
      <Figures run={run} />
      {judged.length > 0 && <Scores run={run} columns={judged} />}
      {informational.length > 0 && <Informational run={run} columns={informational} />}
      <Flips />
      <section aria-labelledby="cases-title">
        <Tools run={run} />
        {rows.value.length > 0 ? (
          <Grid key={run.id} />
        ) : (
          <p class="no-rows">
            No case matches.{" "}
            <button type="button" class="button" onClick={clearFilters}>
              Show all cases
            </button>
          </p>
        )}
      </section>
    </div>
  );
}

/** Whether the scores are shown in a narrow window, where they would push the cases out of view. */
const showsScores = signal(false);

/** The histograms of the metrics that have a threshold. */
function Scores({ run, columns }: { run: RunSummary; columns: readonly number[] }) {
  const title = <h2 id="scores-title">Scores and thresholds</h2>;
  const list = (
    <Histograms run={run} columns={columns}>
      {!isNarrow.value && title}
      <p class="muted">Drag a line, or use the arrow keys on it: verdicts follow, and nothing is scored again.</p>
    </Histograms>
  );
  return (
    <section aria-labelledby="scores-title">
      {isNarrow.value ? (
        <Fold title={title} isOpen={showsScores}>
          {list}
        </Fold>
      ) : (
        list
      )}
    </section>
  );
}

/** How many histograms are there at first, in a row that scrolls: more would push the cases out of view. */
const INITIAL_HISTOGRAMS = 8;

interface HistogramsProps {
  run: RunSummary;
  columns: readonly number[];
  /** Whether the list needs a tab stop to be scrollable by keyboard, since nothing in it is focusable. */
  isFocusable?: boolean;
  /** What is shown above them. */
  children?: ComponentChildren;
}

function Histograms({ run, columns, isFocusable = false, children }: HistogramsProps) {
  const showsAll = useSignal(false);
  const isTooWide = useSignal(false);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = list;
    if (current === null) return undefined;
    const measure = () => {
      if (!showsAll.value) isTooWide.value = current.scrollWidth > current.clientWidth;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [columns.length]);
  return (
    <>
      <div class="title">
        {children}
        {(columns.length > INITIAL_HISTOGRAMS || isTooWide.value) && (
          <button
            type="button"
            class="link"
            aria-expanded={showsAll.value}
            onClick={() => {
              showsAll.value = !showsAll.value;
            }}
          >
            {showsAll.value ? "Show one row" : `Show all ${columns.length}`}
          </button>
        )}
      </div>
      <div
        ref={list}
        class={showsAll.value ? "histograms" : "histograms in-a-row"}
        {...(isFocusable ? { tabIndex: 0, role: "group", "aria-label": "Amounts" } : {})}
      >
        {(showsAll.value ? columns : columns.slice(0, INITIAL_HISTOGRAMS)).map((column) => (
          <Histogram key={`${run.id}/${column}`} column={column} />
        ))}
      </div>
    </>
  );
}

/** The histograms of informational metrics, rendered when they are opened. */
function Informational({ run, columns }: { run: RunSummary; columns: readonly number[] }) {
  const isOpen = useSignal(false);
  return (
    <Fold title={count(columns.length, "informational metric")} isOpen={isOpen}>
      <Histograms run={run} columns={columns} isFocusable />
    </Fold>
  );
}

/** Which columns are shown. */
function ColumnChoice({ run }: { run: RunSummary }) {
  const shown = new Set(columns.value);
  return (
    <details class="column-choice">
      <summary class="button">Columns</summary>
      <ul role="list">
        {run.metrics.map(({ name }, column) => (
          <li key={name}>
            <label>
              <input
                type="checkbox"
                checked={shown.has(column)}
                onChange={({ currentTarget }) => {
                  const now = new Set(columns.value);
                  if (currentTarget.checked) now.add(column);
                  else now.delete(column);
                  chosenColumns.value = now;
                }}
              />{" "}
              <MetricName>{name}</MetricName>
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The search field, the filters and the sort order. */
function Tools({ run }: { run: RunSummary }) {
  const { passed, failed, open } = filteredTally.value;
  const flipped = flips.value.length;
  const choices: [CaseFilter, string, number][] = [
    ["all", "All", run.evalIds.length],
    ["failed", "Failed", failed],
    ["open", "Not evaluated", open],
    ["passed", "Passed", passed],
  ];
  const regressedRows = regressed.value;
  if (regressedRows !== undefined) choices.push(["regressed", "Regressed", regressedRows.size]);
  if (flipped > 0 || caseFilter.value === "flipped") choices.push(["flipped", "Flipped", flipped]);
  if (labels.value.size > 0 || caseFilter.value === "disputed") {
    choices.push(["disputed", "Label differs", disputed.value.size]);
  }
  const { by, descending } = sort.value;
  const judged = run.metrics.flatMap(({ threshold }, column) => (threshold === undefined ? [] : [column]));
  return (
    <div class="tools">
      <div class="title">
        <h2 id="cases-title">Cases</h2>
        <p class="muted" role="status">
          {rows.value.length === run.evalIds.length
            ? count(run.evalIds.length, "case")
            : `${rows.value.length.toLocaleString("en")} of ${count(run.evalIds.length, "case")}`}
        </p>
      </div>
      <input
        class="field search"
        type="search"
        placeholder="Search"
        aria-label="Search ids, questions, answers, tools and reasons"
        value={query.value}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value;
        }}
      />
      <Choices
        legend="Show"
        name="show"
        choices={choices}
        chosen={caseFilter.value}
        choose={(value) => {
          caseFilter.value = value;
        }}
      />
      {judged.length > 1 && (
        <select
          class="field"
          aria-label="Whose verdict"
          value={verdictColumn.value}
          onChange={({ currentTarget }) => {
            verdictColumn.value = Number(currentTarget.value);
          }}
        >
          <option value={-1}>Case verdicts</option>
          {judged.map((column) => (
            <option key={column} value={column}>
              Verdicts of {run.metrics[column]?.name}
            </option>
          ))}
        </select>
      )}
      {run.sets.length > 1 && (
        <select
          class="field"
          aria-label="Evalset"
          value={shownSet.value}
          onChange={({ currentTarget }) => {
            shownSet.value = Number(currentTarget.value);
          }}
        >
          <option value={-1}>All evalsets</option>
          {run.sets.map(({ name, path, count: cases }, set) => (
            <option key={set} value={set}>
              {visibleText(labelOf({ name, ...(path === undefined ? {} : { path }) }, run.sets))} ({cases})
              {run.sets[set]?.cancelled ? ", ended early" : ""}
            </option>
          ))}
        </select>
      )}
      <Filters run={run} />
      <ColumnChoice run={run} />
      <div class="order">
        <label for="sort-by">Sort by</label>
        <select
          id="sort-by"
          class="field"
          value={String(by)}
          onChange={({ currentTarget }) => {
            const key = currentTarget.value;
            const column = Number(key);
            const isName = key === "evalset" || key === "verdict" || key === "case";
            sort.value = { by: isName ? key : column, descending: false };
          }}
        >
          <option value="evalset">Evalset</option>
          <option value="verdict">Verdict</option>
          <option value="case">Case id</option>
          {run.metrics.map(({ name }, column) => (
            <option key={name} value={column}>
              {name}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="button"
          aria-label={descending ? "Sort ascending" : "Sort descending"}
          title={descending ? "Descending" : "Ascending"}
          onClick={() => {
            sort.value = { by, descending: !descending };
          }}
        >
          <span aria-hidden="true">{descending ? "↓" : "↑"}</span>
        </button>
      </div>
    </div>
  );
}
