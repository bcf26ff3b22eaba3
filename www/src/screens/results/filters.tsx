/** Filters of cases by the score of a metric and by the tools that they call. */

import { summary } from "../../state/run.js";
import type { RunSummary } from "../../worker/protocol.js";
import { visibleText } from "../../ui/text.js";
import { loadTools, scoreFilter, type ScoreFilter, toolFilter, tools } from "./view.js";

export function Filters({ run }: { run: RunSummary }) {
  const active = Number(scoreFilter.value !== undefined) + Number(toolFilter.value !== "");
  return (
    <details class="column-choice filters" onToggle={() => void loadTools()}>
      <summary class="button">Filters{active > 0 && `: ${active}`}</summary>
      <div>
        <ScoreField run={run} />
        <ToolField />
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

/** The tool that cases call or are expected to call. */
function ToolField() {
  const rows = tools.value?.run === summary.value?.id ? tools.value?.rows : undefined;
  const chosen = toolFilter.value;
  const names = [...(rows?.keys() ?? [])];
  return (
    <label>
      Tool called or expected{" "}
      <select
        class="field"
        value={chosen}
        onChange={({ currentTarget }) => {
          toolFilter.value = currentTarget.value;
        }}
      >
        <option value="">Any</option>
        {(chosen === "" || names.includes(chosen) ? names : [chosen, ...names]).map((name) => (
          <option key={name} value={name}>
            {visibleText(name)} ({(rows?.get(name)?.size ?? 0).toLocaleString("en")})
          </option>
        ))}
      </select>
    </label>
  );
}
