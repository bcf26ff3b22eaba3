/** Runs side by side: how often each passes, the verdicts of every case in each, and what each answered. */

import { useEffect } from "preact/hooks";
import { goTo, hrefOf, route } from "../../route.js";
import { baseline, compare, current } from "../../state/compare.js";
import { keptRuns, type RunEntry } from "../../state/runs.js";
import { chooseRun, matrix, problem, showMatrix, shownRuns } from "../../state/side-by-side.js";
import { Name } from "../../ui/text.js";
import { Title } from "../../ui/title.js";
import { Answers } from "./answers.js";
import { Cases } from "./cases.js";
import { Estimates } from "./estimates.js";
import "./runs.css";

export default function Runs() {
  const [evalSetId, evalId] = route.value.rest;
  const chosen = shownRuns.value.map(({ id, thresholds }) => `${id} ${thresholds.join()}`).join();
  useEffect(showMatrix, [chosen]);
  // When this is shown next, its runs have to be loaded first.
  useEffect(() => () => (matrix.value = undefined), []);
  if (evalSetId !== undefined && evalId !== undefined && matrix.value !== undefined) {
    return <Answers key={`${evalSetId}/${evalId}`} runs={matrix.value.of} evalSetId={evalSetId} evalId={evalId} />;
  }
  return (
    <div class="runs">
      <Title>Runs side by side</Title>
      {keptRuns.value.length < 2 ? (
        <p class="muted">
          {keptRuns.value.length === 0 ? "There is no run yet." : "There is one run so far."} Score the same evalset
          again, with another model, prompt or config, or open results of earlier runs:{" "}
          <a href={hrefOf("files")}>Choose files</a>
        </p>
      ) : (
        <Choice />
      )}
      {problem.value !== undefined && (
        <p class="failed" role="alert">
          {problem.value}
        </p>
      )}
      {matrix.value !== undefined && matrix.value.of.length > 0 && (
        <>
          <Estimates runs={matrix.value.of} />
          <Changes runs={matrix.value.of} />
          <Cases matrix={matrix.value} />
        </>
      )}
    </div>
  );
}

/** Which runs are shown. */
function Choice() {
  const shown = new Set(shownRuns.value.map(({ id }) => id));
  return (
    <details class="run-choice">
      <summary class="button">
        {shown.size} of {keptRuns.value.length} runs
      </summary>
      <ul role="list">
        {keptRuns.value.map(({ id, name }) => (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={shown.has(id)}
                onChange={({ currentTarget }) => chooseRun(id, currentTarget.checked)}
              />{" "}
              <Name>{name}</Name>
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Leads to what changed between any two of the runs. */
function Changes({ runs }: { runs: readonly RunEntry[] }) {
  if (runs.length < 2) return null;
  return (
    <form
      class="changes-between"
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        [baseline.value, current.value] = [String(data.get("from")), String(data.get("to"))];
        void compare();
        goTo("compare");
      }}
    >
      <label>
        What changed from <RunField name="from" runs={runs} chosen={runs.at(-2)} />
      </label>
      <label>
        to <RunField name="to" runs={runs} chosen={runs.at(-1)} />
      </label>
      <button type="submit" class="button">
        Show the changes
      </button>
    </form>
  );
}

function RunField({ name, runs, chosen }: { name: string; runs: readonly RunEntry[]; chosen: RunEntry | undefined }) {
  return (
    <select name={name} class="field">
      {runs.map((run) => (
        <option key={run.id} value={run.id} selected={run.id === chosen?.id}>
          {run.name}
        </option>
      ))}
    </select>
  );
}
