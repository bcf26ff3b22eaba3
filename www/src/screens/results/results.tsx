import { useSignal } from "@preact/signals";
import { EvalStatus } from "../../enums.js";
import { hrefOf } from "../../route.js";
import { older } from "../../state/opened.js";
import { summary, runProgress } from "../../state/run.js";
import type { RunSummary } from "../../worker/protocol.js";
import { amountText, count } from "../../ui/format.js";
import { Status } from "../../ui/status.js";
import { labelOf } from "../../ui/set-label.js";
import { MetricName, Name, Text, visibleText } from "../../ui/text.js";
import { usageFacts } from "../../ui/usage.js";
import { Export } from "./export.js";
import { Flips } from "./flips.js";
import { Grid } from "./grid.js";
import { Histogram } from "./histogram.js";
import {
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
  tally,
} from "./view.js";
import { Title } from "../../ui/title.js";
import "./results.css";

export default function Results() {
  const run = summary.value;
  if (run === undefined) {
    return (
      <>
        <Title>Results</Title>
        <p class="muted">
          Nothing is scored yet. <a href={hrefOf("files")}>Choose files</a>, then run.
        </p>
      </>
    );
  }
  const judged = run.metrics.flatMap(({ threshold }, column) => (threshold === undefined ? [] : [column]));
  const informational = run.metrics.flatMap(({ threshold }, column) => (threshold === undefined ? [column] : []));
  return (
    <div class="results">
      <div class="title">
        <Title>Results</Title>
        <Export />
      </div>
      <Notices run={run} />
      <Figures run={run} />
      {judged.length > 0 && (
        <section aria-labelledby="scores-title">
          <div class="title">
            <h2 id="scores-title">Scores and thresholds</h2>
            <p class="muted">Drag a line, or use the arrow keys on it: verdicts follow, nothing is scored again.</p>
          </div>
          <Histograms run={run} columns={judged} />
        </section>
      )}
      {informational.length > 0 && <Informational run={run} columns={informational} />}
      <Flips />
      <section aria-labelledby="cases-title">
        <Tools run={run} />
        {rows.value.length > 0 ? (
          <Grid key={run.id} />
        ) : (
          <p class="nothing">
            No case matches.{" "}
            <button type="button" class="button" onClick={showAll}>
              Show all cases
            </button>
          </p>
        )}
      </section>
    </div>
  );
}

/** How many histograms are shown at first; more would push the cases out of view. */
const INITIAL_HISTOGRAMS = 8;

interface HistogramsProps {
  run: RunSummary;
  columns: readonly number[];
  /** Whether the list needs a tab stop to be scrollable by keyboard, since nothing in it is focusable. */
  isFocusable?: boolean;
}

function Histograms({ run, columns, isFocusable = false }: HistogramsProps) {
  const showsAll = useSignal(columns.length <= INITIAL_HISTOGRAMS);
  return (
    <>
      <div class="histograms" {...(isFocusable ? { tabIndex: 0, role: "group", "aria-label": "Amounts" } : {})}>
        {(showsAll.value ? columns : columns.slice(0, INITIAL_HISTOGRAMS)).map((column) => (
          <Histogram key={`${run.id}/${column}`} column={column} />
        ))}
      </div>
      {columns.length > INITIAL_HISTOGRAMS && (
        <button
          type="button"
          class="button"
          aria-expanded={showsAll.value}
          onClick={() => {
            showsAll.value = !showsAll.value;
          }}
        >
          {showsAll.value ? "Show fewer" : `Show all ${columns.length}`}
        </button>
      )}
    </>
  );
}

/** The histograms of informational metrics, rendered when they are opened. */
function Informational({ run, columns }: { run: RunSummary; columns: readonly number[] }) {
  const isOpen = useSignal(false);
  return (
    <details
      class="more"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>{count(columns.length, "metric")} for information</summary>
      {isOpen.value && <Histograms run={run} columns={columns} isFocusable />}
    </details>
  );
}

function showAll(): void {
  caseFilter.value = "all";
  query.value = "";
  shownSet.value = -1;
  verdictColumn.value = -1;
}

/** Cancelled evalsets, the reasons why results are not evaluated, and warnings about the inputs. */
function Notices({ run }: { run: RunSummary }) {
  const cancelled = run.sets.filter((set) => set.cancelled);
  const warnings = run.sets.flatMap(({ name, warnings = [] }) => warnings.map((warning) => ({ name, warning })));
  const progress = runProgress.value;
  const earlier = older.value?.run === run.id ? older.value.count : 0;
  return (
    <>
      {earlier > 0 && (
        <p>
          These are the newest results in the files; {count(earlier, "older run")} {earlier === 1 ? "is" : "are"} under{" "}
          <a href={hrefOf("compare")}>Compare</a>.
        </p>
      )}
      {progress !== undefined && (
        <p role="status">
          The run goes on: {amountText(progress.reduce((sum, one) => sum + (one?.done ?? 0), 0))} cases are scored.{" "}
          <a href={hrefOf("run")}>Watch it</a>
        </p>
      )}
      {cancelled.length > 0 && (
        <div class="notice open" role="note">
          <Status of={EvalStatus.NOT_EVALUATED} />
          <p>
            The run was ended early. What was not scored by then is not evaluated, in{" "}
            {cancelled.map(({ name }, index) => (
              <>
                {index > 0 && ", "}
                <Name>{name}</Name>
              </>
            ))}
            .
          </p>
        </div>
      )}
      {run.reasons.length > 0 && (
        <details class="more">
          <summary>Why results are not evaluated</summary>
          <ul class="warnings">
            {run.reasons.map(({ reason, metric, count: times }, index) => (
              <li key={index}>
                <span class="muted">
                  {metric !== undefined && <MetricName>{metric}</MetricName>}, {count(times, "result")}
                </span>
                <Text fold={400}>{reason}</Text>
              </li>
            ))}
          </ul>
        </details>
      )}
      {warnings.length > 0 && (
        <details class="more">
          <summary>{count(warnings.length, "warning")}</summary>
          <ul class="warnings">
            {warnings.map(({ name, warning: { message, path, line, help } }, index) => (
              <li key={index}>
                <span class="muted">
                  <Name>{name}</Name>
                  {line !== undefined && `, line ${line}`}
                  {path !== undefined && (
                    <>
                      {" "}
                      <code>
                        <Name>{path}</Name>
                      </code>
                    </>
                  )}
                </span>
                <Text fold={400}>{help === undefined ? message : `${message}. ${help}`}</Text>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Figures({ run }: { run: RunSummary }) {
  const { passed, failed, open, pending } = tally.value;
  const total = Math.max(1, run.evalIds.length);
  const judges = new Set(
    run.sets.flatMap(({ judges = [] }) =>
      judges.map(({ scoredBy, model, function: own }) =>
        scoredBy === "vertex" ? "Vertex AI" : (model ?? (own ? `the function ${own}` : "a function")),
      ),
    ),
  );
  const facts = usageFacts(run.sets);
  return (
    <section class="figures" aria-label="Summary">
      <dl class="tally">
        <Figure name="Cases" value={run.evalIds.length} />
        <Figure name="Passed" value={passed} status={EvalStatus.PASSED} />
        <Figure name="Failed" value={failed} status={EvalStatus.FAILED} />
        <Figure name="Not evaluated" value={open} status={EvalStatus.NOT_EVALUATED} />
        {pending > 0 && <Figure name="To come" value={pending} />}
      </dl>
      <div class="proportions" aria-hidden="true">
        {Object.entries({ passed, failed, open }).map(
          ([tone, cases]) =>
            cases > 0 && <div key={tone} class={tone} style={{ width: `${(cases / total) * 100}%` }} />,
        )}
      </div>
      {(facts.length > 0 || judges.size > 0) && (
        <dl class="facts">
          {judges.size > 0 && (
            <div>
              <dt>{judges.size === 1 ? "Judge" : "Judges"}</dt>
              <dd>
                {[...judges].map((name, index) => (
                  <>
                    {index > 0 && ", "}
                    <Name>{name}</Name>
                  </>
                ))}
              </dd>
            </div>
          )}
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Figure({ name, value, status }: { name: string; value: number; status?: number }) {
  return (
    <div>
      <dt>
        {status !== undefined && <Status of={status} isNamed />} {name}
      </dt>
      <dd>{value.toLocaleString("en")}</dd>
    </div>
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
        placeholder="Search case ids"
        aria-label="Search case ids"
        value={query.value}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value;
        }}
      />
      <fieldset class="choices">
        <legend class="visually-hidden">Show</legend>
        {choices.map(([value, name, amount]) => (
          <label key={value} class={amount === 0 && value !== caseFilter.value ? "muted" : undefined}>
            <input
              type="radio"
              name="show"
              checked={caseFilter.value === value}
              onChange={() => {
                caseFilter.value = value;
              }}
            />
            {name} <small>{amount.toLocaleString("en")}</small>
          </label>
        ))}
      </fieldset>
      {judged.length > 1 && (
        <select
          class="field"
          aria-label="Whose verdict"
          value={verdictColumn.value}
          onChange={({ currentTarget }) => {
            verdictColumn.value = Number(currentTarget.value);
          }}
        >
          <option value={-1}>Verdicts of cases</option>
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
