/** Filters of cases by the score of a metric, by the tools that they call and by their tags. */

import type { Signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { RunSummary } from "../../worker/protocol.js";
import { visibleText } from "../../ui/text.js";
import { loadTags, loadTools, scoreFilter, type ScoreFilter, tagFilter, tags, toolFilter, tools } from "./view.js";

/** What is left free beside the filters, in pixels. */
const MARGIN = 8;

export function Filters({ run }: { run: RunSummary }) {
  const panel = useRef<HTMLDivElement>(null);
  /** Moves the panel into sight: its button's position depends on what else is in the row. */
  const place = () => {
    const { current } = panel;
    if (current === null) return;
    current.style.translate = "";
    const over = current.getBoundingClientRect().right + MARGIN - document.documentElement.clientWidth;
    if (over > 0) current.style.translate = `${-over}px`;
  };
  useLayoutEffect(place);
  const active = [scoreFilter.value !== undefined, toolFilter.value !== "", tagFilter.value !== ""].filter(
    Boolean,
  ).length;
  return (
    <details
      class="column-choice filters"
      onToggle={() => {
        place();
        void Promise.all([loadTools(), loadTags()]).then(() => requestAnimationFrame(place));
      }}
    >
      <summary class="button">Filters{active > 0 && `: ${active}`}</summary>
      <div ref={panel}>
        <ScoreField run={run} />
        <NameField run={run} label="Tool called or expected" chosen={toolFilter} known={tools} />
        {((tags.value?.rows.size ?? 0) > 0 || tagFilter.value !== "") && (
          <NameField run={run} label="Tag" chosen={tagFilter} known={tags} />
        )}
        <p class="muted">Filters and order are part of the address: copy it to keep or share them.</p>
      </div>
    </details>
  );
}

/** The metric, the comparison and the score. */
function ScoreField({ run }: { run: RunSummary }) {
  const filter = scoreFilter.value;
  const set = (change: Partial<ScoreFilter>) => {
    const metric = change.metric ?? filter?.metric ?? "";
    const threshold = run.metrics.find(({ name }) => name === metric)?.threshold ?? 0;
    const before = filter?.metric === metric ? filter : { metric, is: "below" as const, value: threshold };
    scoreFilter.value = metric === "" ? undefined : { ...before, ...change };
  };
  return (
    <fieldset>
      <legend>Score</legend>
      <select
        class="field"
        aria-label="Metric"
        value={filter?.metric ?? ""}
        onChange={({ currentTarget }) => set({ metric: currentTarget.value })}
      >
        <option value="">Any</option>
        {run.metrics.map(({ name }) => (
          <option key={name} value={name}>
            {visibleText(name)}
          </option>
        ))}
      </select>
      {filter !== undefined && (
        <>
          <select
            class="field"
            aria-label="Comparison"
            value={filter.is}
            onChange={({ currentTarget }) => set({ is: currentTarget.value === "below" ? "below" : "from" })}
          >
            <option value="below">below</option>
            <option value="from">at least</option>
          </select>
          <input
            class="field number"
            type="number"
            step="any"
            aria-label="Score"
            value={filter.value}
            onInput={({ currentTarget }) => {
              const value = currentTarget.valueAsNumber;
              if (Number.isFinite(value)) set({ value });
            }}
          />
        </>
      )}
    </fieldset>
  );
}

interface NameFieldProps {
  run: RunSummary;
  label: string;
  chosen: Signal<string>;
  known: typeof tools;
}

/** The tool or the tag that cases have to have. */
function NameField({ run, label, chosen, known }: NameFieldProps) {
  const rows = known.value?.run === run.id ? known.value.rows : undefined;
  const names = [...(rows?.keys() ?? [])];
  const now = chosen.value;
  return (
    <label>
      {label}{" "}
      <select
        class="field"
        value={now}
        onChange={({ currentTarget }) => {
          chosen.value = currentTarget.value;
        }}
      >
        <option value="">Any</option>
        {(now === "" || names.includes(now) ? names : [now, ...names]).map((name) => (
          <option key={name} value={name}>
            {visibleText(name)} ({(rows?.get(name)?.size ?? 0).toLocaleString("en")})
          </option>
        ))}
      </select>
    </label>
  );
}
