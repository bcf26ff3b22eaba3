import { useEffect } from "preact/hooks";
import { hrefOf } from "../../route.js";
import {
  allKept,
  baseline,
  compare,
  compared,
  contenders,
  current,
  isComparing,
  openResults,
  problem,
} from "../../state/compare.js";
import { formats, loadFormats } from "../../state/formats.js";
import { engine } from "../../worker/client.js";
import type { Contender } from "../../worker/protocol.js";
import { count } from "../../ui/format.js";
import { DropZone, FileButton } from "../../ui/drop.js";
import type { Taken } from "../../ui/reading.js";
import { save } from "../../ui/save.js";
import { Name } from "../../ui/text.js";
import { Comparison } from "./comparison.js";
import { Title } from "../../ui/title.js";
import "./compare.css";

export default function Compare() {
  // Thresholds may have moved since.
  useEffect(() => void allKept().then(compare), []);
  const list = contenders.value;
  return (
    <div class="compare">
      <Title>Compare</Title>
      {list.length === 0 ? (
        <p class="muted">
          Compare a run with an earlier one, or with results from a file. <a href={hrefOf("files")}>Score something</a>,
          or open results below.
        </p>
      ) : (
        <div class="sides">
          <Side label="Baseline" chosen={baseline.value} choose={(id) => (baseline.value = id)} list={list} />
          <span class="against" aria-hidden="true">
            →
          </span>
          <Side label="Compared with it" chosen={current.value} choose={(id) => (current.value = id)} list={list} />
        </div>
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
          {list.length === 1
            ? "There is one run so far. Run again, with other criteria or another agent, or open the results of an earlier run."
            : "No other run here has an evalset in common with this one. Run it again, or open the results of an earlier run."}
        </p>
      )}
      {isComparing.value && <p role="status">Comparing…</p>}
      {compared.value !== undefined && (
        <>
          <Export />
          {compared.value.sets.map((set, at) => (
            <Comparison key={set.current.evalSetId} set={set} at={at} isOnly={compared.value?.sets.length === 1} />
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
  list: readonly Contender[];
}

function Side({ label, chosen, choose, list }: SideProps) {
  const run = list.find(({ id }) => id === chosen);
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
          {list.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {run !== undefined && <p class="muted">{factsOf(run)}</p>}
    </div>
  );
}

const WHEN = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

function factsOf({ sets, creationTimestamp }: Contender): string {
  const sum = (key: "total" | "passed" | "failed" | "notEvaluated") => sets.reduce((all, set) => all + set[key], 0);
  const parts = [count(sum("total"), "case"), `${sum("passed")} passed`, `${sum("failed")} failed`];
  if (sum("notEvaluated") > 0) parts.push(`${sum("notEvaluated")} not evaluated`);
  if (creationTimestamp !== undefined) parts.push(WHEN.format(creationTimestamp * 1000));
  return parts.join(", ");
}

function OpenResults() {
  const take = async (reading: Promise<Taken>) => {
    const { files, leftOut } = await reading;
    if (files.length > 0) await openResults(files);
    else if (leftOut.length > 0) problem.value = { code: "unexpected", message: leftOut.join("; ") };
  };
  return (
    <DropZone label="Open results" onTake={(reading) => void take(reading)}>
      <p class="muted">
        Drop evalset results here, as this page exports them and ADK stores them: they become the baseline.
      </p>
      <FileButton label="Open results to compare with" onTake={(reading) => void take(reading)} />
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
      {evalSets.map((name, at) => (
        <>
          {at > 0 && ", "}
          <Name>{name}</Name>
        </>
      ))}
    </p>
  );
}
