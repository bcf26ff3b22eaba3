import { useSignal } from "@preact/signals";
import { forgetAll, interrupted, hasSavedData } from "../../state/saved.js";
import { isRemembered } from "../../state/judge.js";
import { resume } from "../../state/running.js";
import { ProblemNote } from "./problem.js";

/** The interrupted run, if there is one, which can be resumed or deleted. */
export function InterruptedRun() {
  const failure = useSignal<string | undefined>(undefined);
  if (interrupted.value === undefined) return null;
  const { startedAt } = interrupted.value;
  return (
    <section class="note open" aria-label="Interrupted run">
      <p>
        <strong>A run of {timeOf(startedAt)} was interrupted.</strong> Its files are kept in this browser, and so are
        the replies that the judge gave by then: they are not asked for again.
      </p>
      <div class="actions">
        <button
          type="button"
          class="button"
          data-kind="primary"
          onClick={() => {
            resume().catch((error: unknown) => {
              failure.value = String(error);
            });
          }}
        >
          Resume
        </button>
        <Forget />
      </div>
      {failure.value !== undefined && <ProblemNote problem={{ code: "unexpected", message: failure.value }} />}
    </section>
  );
}

/** A button that deletes all stored data. */
export function Forget() {
  return (
    <button type="button" class="button" onClick={() => void forgetAll()}>
      Forget
    </button>
  );
}

/** What this page stores in the browser, with a button to delete it. */
export function SavedData() {
  const isForgotten = useSignal(false);
  const hasData = hasSavedData.value || isRemembered.value;
  return (
    <p class="muted kept" role="status">
      {hasData ? (
        <>
          Kept in this browser: files, settings, runs with their results, replies of judges
          {isRemembered.value ? ", keys" : ""}.{" "}
          <button
            type="button"
            class="link"
            onClick={() => {
              void forgetAll().then(() => {
                isForgotten.value = true;
              });
            }}
          >
            Forget all of it
          </button>
        </>
      ) : isForgotten.value ? (
        "Nothing is kept in this browser any more."
      ) : (
        "Nothing is kept in this browser."
      )}
    </p>
  );
}

function timeOf(ms: number): string {
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return isToday ? time : `${date.toLocaleDateString("en-GB", { day: "numeric", month: "long" })}, ${time}`;
}
