import { useEffect } from "preact/hooks";
import { hrefOf } from "../../route.js";
import {
  baseline,
  compare,
  compared,
  comparableRuns,
  current,
  isComparing,
  openResults,
  problem,
} from "../../state/compare.js";
import { formats, loadFormats } from "../../state/formats.js";
import { engine } from "../../worker/client.js";
import type { ComparableRun } from "../../worker/protocol.js";
import { evalSetTitle } from "../../state/runs.js";
import { count } from "../../ui/format.js";
import { DropZone, FileButton } from "../../ui/drop.js";
import type { ReadFiles } from "../../ui/read-files.js";
import { save } from "../../ui/save.js";
import { Name } from "../../ui/text.js";
import { Comparison } from "./comparison.js";
import { Title } from "../../ui/title.js";
import "./compare.css";

export default function Compare() {
  // Thresholds may have changed since the last comparison.
  useEffect(() => void compare(), []);
  const runs = comparableRuns.value;
  return (
    <div class="compare">
      <Title>Compare</Title>
      {runs.length === 0 ? (
        <p class="muted">
          Compare a run with an earlier one, or with results from a file. <a href={hrefOf("files")}>Score something</a>,
          or open results below.
        </p>
      ) : (
        <div class="sides">
          <Side label="Baseline" chosen={baseline.value} choose={(id) => (baseline.value = id)} runs={runs} />
          <span class="sides-arrow" aria-hidden="true">
            →
          </span>
          <Side label="Candidate" chosen={current.value} choose={(id) => (current.value = id)} runs={runs} />
        </div>
      )}
      {runs.length > 1 && (
        <p>
          <a href={hrefOf("runs")}>All runs side by side</a>, with what each answered
        </p>
      )}
      <OpenResults />
      {problem.value !== undefined && (
        <div class="compare-notice failed" role="alert">
          <p>
            <Name>{problem.value.message}</Name>
          </p>
          {problem.value.help !== undefined && (
            <p class="muted">
              <Name>{problem.value.help}</Name>
            </p>
          )}
        </div>
      )}
      {current.value !== undefined && baseline.value === undefined && (
        <p class="muted">
          {runs.length === 1
            ? "There is one run so far. Run again, with other criteria or another agent, or open the results of an earlier run."
            : "No other run here has an evalset in common with this one. Run it again, or open the results of an earlier run."}
        </p>
      )}
      {isComparing.value && <p role="status">Comparing…</p>}
      {compared.value !== undefined && (
        <>
          <Export />
          {compared.value.sets.map((set, index) => (
            <Comparison
              key={set.current.evalSetId}
              set={set}
              index={index}
              isOnly={compared.value?.sets.length === 1}
            />
          ))}
          <OnlyIn what="the baseline" evalSets={compared.value.onlyBaseline} />
          <OnlyIn what="the other run" evalSets={compared.value.onlyCurrent} />
        </>
      )}
    </div>
  );
}

interface SideProps {
  label: string;
  chosen: string | undefined;
  choose(id: string): void;
  runs: readonly ComparableRun[];
}

function Side({ label, chosen, choose, runs }: SideProps) {
  const run = runs.find(({ id }) => id === chosen);
  return (
    <div class="side">
      <label>
        <span>{label}</span>
        <select
          class="field"
          value={chosen ?? ""}
          onChange={({ currentTarget }) => {
            choose(currentTarget.value);
            void compare();
          }}
        >
          {chosen === undefined && <option value="">Choose a run</option>}
          {runs.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {run !== undefined && (
        <p class="muted">
          {summaryText(run)}
          {(["configs", "judges"] as const).flatMap((key) =>
            (run[key] ?? []).map((name) => (
              <>
                {" · "}
                <Name>{name}</Name>
              </>
            )),
          )}
        </p>
      )}
    </div>
  );
}

const DATE_FORMAT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

function summaryText({ sets, creationTimestamp }: ComparableRun): string {
  const sum = (key: "total" | "passed" | "failed" | "notEvaluated") => sets.reduce((all, set) => all + set[key], 0);
  const parts = [count(sum("total"), "case"), `${sum("passed")} passed`, `${sum("failed")} failed`];
  if (sum("notEvaluated") > 0) parts.push(`${sum("notEvaluated")} not evaluated`);
  if (creationTimestamp !== undefined) parts.push(DATE_FORMAT.format(creationTimestamp * 1000));
  return parts.join(", ");
}

function OpenResults() {
  const openFiles = async (reading: Promise<ReadFiles>) => {
    const { files, skipped } = await reading;
    if (files.length > 0) await openResults(files);
    else if (skipped.length > 0) problem.value = { code: "unexpected", message: skipped.join("; ") };
  };
  return (
    <DropZone label="Open results" onFiles={(reading) => void openFiles(reading)}>
      <p class="muted">
        Drop evalset results here, exported from this page or stored by ADK. They become the baseline.
      </p>
      <FileButton label="Open results to compare with" onFiles={(reading) => void openFiles(reading)} />
    </DropZone>
  );
}

function Export() {
  useEffect(() => void loadFormats(), []);
  const offered = formats.value.filter(({ isForComparisons }) => isForComparisons);
  return (
    <div class="export" role="group" aria-label="Export the comparison">
      <span class="muted">Export</span>
      {offered.map(({ format, label }) => (
        <button
          key={format}
          type="button"
          class="button"
          onClick={async () => {
            const outcome = await engine.comparisonFile(format);
            if (outcome.ok) save(outcome.value.name, outcome.value.content, outcome.value.type);
            else problem.value = outcome.problem;
          }}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function OnlyIn({ what, evalSets }: { what: string; evalSets: readonly string[] }) {
  if (evalSets.length === 0) return null;
  return (
    <p class="muted">
      Only in {what}:{" "}
      {evalSets.map((name, index) => (
        <>
          {index > 0 && ", "}
          <Name>{evalSetTitle(name)}</Name>
        </>
      ))}
    </p>
  );
}
