/** Which of the kept runs is shown; runs can be renamed and deleted. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { runProgress, summary } from "../../state/run.js";
import {
  deletedRun,
  deleteRun,
  keptRuns,
  renameRun,
  type RunEntry,
  runProblem,
  showRun,
  undeleteRun,
} from "../../state/runs.js";
import { count } from "../../ui/format.js";
import { Name, visibleText } from "../../ui/text.js";

export function RunPicker() {
  const isRenaming = useSignal(false);
  const picker = useRef<HTMLDivElement>(null);
  const renamed = () => {
    isRenaming.value = false;
    // The field that had the focus is gone with the next frame.
    requestAnimationFrame(() => picker.current?.querySelector("select")?.focus());
  };
  const runs = keptRuns.value;
  const shown = runs.find(({ id }) => id === summary.value?.id);
  // A run in progress is none that is kept.
  if (runProgress.value !== undefined || (runs.length === 0 && deletedRun.value === undefined)) return null;
  return (
    <div class="run-picker" ref={picker}>
      {isRenaming.value && shown !== undefined ? (
        <Rename run={shown} onDone={renamed} />
      ) : (
        <>
          {runs.length > 0 && (
            <select
              class="field"
              aria-label="Run"
              value={shown?.id ?? ""}
              onChange={({ currentTarget }) => void showRun(currentTarget.value)}
            >
              {shown === undefined && <option value="">Choose a run</option>}
              {runs.toReversed().map((run) => (
                <option key={run.id} value={run.id}>
                  {labelOf(run)}
                </option>
              ))}
            </select>
          )}
          {shown !== undefined && (
            <>
              <button type="button" class="button" data-kind="quiet" onClick={() => (isRenaming.value = true)}>
                Rename
              </button>
              <button type="button" class="button" data-kind="quiet" onClick={() => deleteRun(shown.id)}>
                Delete
              </button>
            </>
          )}
        </>
      )}
      <p role="status">
        {deletedRun.value !== undefined && (
          <>
            <Name>{deletedRun.value.entry.name}</Name> was deleted.{" "}
            <button type="button" class="link" onClick={() => void undeleteRun()}>
              Undo
            </button>
          </>
        )}
        {runProblem.value}
      </p>
    </div>
  );
}

/** `Run 3, 24 Nov 2026, 06:44: 3 of 5 cases passed` */
function labelOf({ name, sets, creationTimestamp }: RunEntry): string {
  const sum = (key: "total" | "passed") => sets.reduce((all, set) => all + set[key], 0);
  const time =
    creationTimestamp === undefined
      ? ""
      : `, ${new Date(creationTimestamp * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}`;
  return visibleText(`${name}${time}: ${sum("passed")} of ${count(sum("total"), "case")} passed`);
}

function Rename({ run, onDone }: { run: RunEntry; onDone(): void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        renameRun(run.id, field.current?.value ?? "");
        onDone();
      }}
      onKeyDown={({ key }) => key === "Escape" && onDone()}
    >
      <input ref={field} class="field" aria-label="Name of the run" defaultValue={run.name} maxLength={200} required />
      <button type="submit" class="button">
        Save
      </button>
      <button type="button" class="button" data-kind="quiet" onClick={onDone}>
        Cancel
      </button>
    </form>
  );
}
