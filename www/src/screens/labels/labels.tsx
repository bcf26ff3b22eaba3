/** People's labels of verdicts, and how often the judge is right by them. */

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { hrefOf } from "../../route.js";
import { addLabels, annotator, keyOf, labels, MOST_OF_NAME, removeLabels, setAnnotator } from "../../state/labels.js";
import { runProgress, summary } from "../../state/run.js";
import { FileButton } from "../../ui/drop.js";
import { amountText, count, head } from "../../ui/format.js";
import type { ReadFiles } from "../../ui/read-files.js";
import { save } from "../../ui/save.js";
import { visibleText } from "../../ui/text.js";
import { Title } from "../../ui/title.js";
import { engine } from "../../worker/client.js";
import type { GivenLabel } from "../../worker/protocol.js";
import { names } from "../results/view.js";
import { Agreement } from "./agreement.js";
import { answersOf } from "./answers.js";
import {
  done,
  give,
  isBlind,
  loadQueue,
  message,
  metric,
  order,
  type Order,
  problem,
  queue,
  shown,
  step,
  takeBack,
} from "./queue.js";
import { Verdict } from "./verdict.js";
import "./labels.css";

export default function Labels() {
  const run = summary.value;
  const isRunning = runProgress.value !== undefined;
  useEffect(() => void loadQueue(), [run?.id, isRunning, order.value, metric.value]);
  useKeys();
  const name = shown.value === undefined ? undefined : names.value[shown.value.row];
  useEffect(() => {
    document.title = `${name === undefined ? "" : `${head(visibleText(name), 100)} – `}Labels – adk-metrics`;
  }, [name]);
  if (run === undefined || isRunning) {
    return (
      <>
        <Title>Labels</Title>
        <p class="muted">
          {isRunning ? "Verdicts can be labelled when the run has ended. " : "There are no verdicts to label yet. "}
          <a href={hrefOf(isRunning ? "run" : "files")}>{isRunning ? "See the run" : "Choose files"}</a>
        </p>
      </>
    );
  }
  return (
    <div class="labels">
      <div class="title">
        <Title>Labels</Title>
        <p class="muted">
          Label each verdict as it should be, to see how often the judge is right.{" "}
          <a href={hrefOf("results")}>Results</a>
        </p>
      </div>
      <details class="label-choices" open={innerWidth >= 640}>
        <summary>Metric, order and name</summary>
        <Settings
          metrics={run.metrics.map(({ name }) => name)}
          hasJudge={run.sets.some(({ judges = [] }) => judges.length > 0)}
        />
      </details>
      <div class="label-body">
        {problem.value !== undefined ? (
          <p class="notice open" role="alert">
            {visibleText(problem.value)}
          </p>
        ) : (
          <section class="label-task" aria-label="Verdict to label">
            <Progress />
            {shown.value !== undefined && (
              <Verdict key={keyOf(shown.value, run.id)} run={run.id} verdict={shown.value} />
            )}
          </section>
        )}
        <aside class="agreement" aria-labelledby="agreement-title">
          <Agreement />
          <Files />
        </aside>
      </div>
    </div>
  );
}

/** Labels by keyboard. */
function useKeys(): void {
  useLayoutEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
      const takesText = "input:not([type=checkbox]), select, textarea, dialog";
      if (event.target instanceof Element && event.target.closest(takesText) !== null) return;
      const verdict = shown.value;
      if (verdict === undefined) return;
      const answer = answersOf(verdict).find(({ key }) => key === event.key);
      if (answer !== undefined) give(answer.label, answer.word);
      else if (event.key === "ArrowLeft") step(-1);
      else if (event.key === "ArrowRight") step(1);
      else if (event.key === "Backspace") takeBack();
      else if (event.key === "c") document.getElementById("label-comment")?.focus();
      else return;
      event.preventDefault();
    }
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function Progress() {
  const { verdicts = [], total = 0 } = queue.value ?? {};
  if (queue.value === undefined) return <p class="muted">Loading…</p>;
  const isComplete = done.value === verdicts.length;
  return (
    <div class="label-progress">
      <progress max={verdicts.length} value={done.value} aria-label="Labelled" />
      <p class="muted">
        {amountText(done.value)} of {amountText(verdicts.length)} labelled
        {total > verdicts.length && `, the first of ${amountText(total)} verdicts`}
      </p>
      <p role="status">
        {message.value} {isComplete && "All of them are labelled."}
      </p>
    </div>
  );
}

/** @param hasJudge Whether any metric asked a judge: without one, the verdicts of all metrics are to be labelled. */
function Settings({ metrics, hasJudge }: { metrics: readonly string[]; hasJudge: boolean }) {
  return (
    <div class="label-settings">
      <label>
        Metric{" "}
        <select
          class="field"
          value={metric.value}
          onChange={({ currentTarget }) => {
            metric.value = currentTarget.value;
          }}
        >
          <option value="">{hasJudge ? "All judged metrics" : "All metrics"}</option>
          {metrics.map((name) => (
            <option key={name} value={name}>
              {visibleText(name)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Order{" "}
        <select
          class="field"
          value={order.value}
          aria-describedby="order-hint"
          onChange={({ currentTarget }) => {
            order.value = currentTarget.value as Order;
          }}
        >
          <option value="doubtful">Most doubtful first</option>
          <option value="random">At random</option>
        </select>
      </label>
      <NameField />
      <label class="check">
        <input
          type="checkbox"
          checked={isBlind.value}
          onChange={({ currentTarget }) => {
            isBlind.value = currentTarget.checked;
          }}
        />{" "}
        Hide the judge’s verdict
      </label>
      <p class="muted" id="order-hint">
        {order.value === "doubtful"
          ? "Starts where samples disagree and scores are near the threshold, which finds the judge’s errors fastest. To correct the pass rate, label at random."
          : "A random sample: only such labels can correct the pass rate."}
      </p>
    </div>
  );
}

/** Whose labels these are. It applies when the field is left, since it identifies labels. */
function NameField() {
  const draft = useSignal<string | undefined>(undefined);
  return (
    <label>
      Your name{" "}
      <input
        class="field"
        value={draft.value ?? annotator.value}
        maxLength={MOST_OF_NAME}
        placeholder="if several people label"
        onInput={({ currentTarget }) => {
          draft.value = currentTarget.value;
        }}
        onBlur={() => {
          if (draft.value !== undefined) setAnnotator(draft.value);
          draft.value = undefined;
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Enter") currentTarget.blur();
        }}
      />
    </label>
  );
}

/** How many problems of a file are listed. */
const MOST_PROBLEMS = 20;

/** Labels from files and into files. */
function Files() {
  const said = useSignal<readonly string[]>([]);
  const removed = useSignal<readonly GivenLabel[]>([]);
  const hasLabels = useComputed(() => labels.value.size > 0);
  const run = summary.value?.id;
  if (run === undefined) return null;
  async function open(id: string, reading: Promise<ReadFiles>): Promise<void> {
    const { files, skipped } = await reading;
    const found = await Promise.all(files.map(({ name, bytes }) => engine.readLabels(id, { name, bytes })));
    said.value = [
      ...skipped,
      ...found.flatMap((outcome, file) => {
        const name = files[file]?.name ?? "";
        if (!outcome.ok) return [`${name}: ${outcome.problem.message}.`];
        const { labels: read, comments, empty, problems } = outcome.value;
        addLabels([...read, ...comments]);
        const more = problems.length - MOST_PROBLEMS;
        return [
          `${name}: ${count(read.length, "label")} imported${comments.length > 0 ? `, and ${count(comments.length, "comment")} without a label` : ""}${empty > 0 ? `, ${count(empty, "row")} without a label` : ""}.`,
          ...problems
            .slice(0, MOST_PROBLEMS)
            .map(({ line, label, message: text, help }) =>
              [`${line === undefined ? `Label ${label}` : `Line ${line}`}: ${text}.`, help && `${help}.`]
                .filter(Boolean)
                .join(" "),
            ),
          ...(more > 0 ? [`And ${count(more, "problem")} more.`] : []),
        ];
      }),
    ];
  }
  async function saveAs(id: string, format: "csv" | "jsonl" | "html"): Promise<void> {
    const outcome = await engine.labelsFile(id, [...labels.value.values()], format);
    if (!outcome.ok) {
      said.value = [`${outcome.problem.message}.`];
      return;
    }
    const { name, type, content } = outcome.value;
    save(name, content, type);
    said.value = [`Saved ${name}.`];
  }
  return (
    <section class="label-files" aria-labelledby="label-files-title">
      <h2 id="label-files-title">Labels as a file</h2>
      <FileButton label="Import labels" onFiles={(reading) => void open(run, reading)} />
      {hasLabels.value && (
        <>
          <button type="button" class="button" onClick={() => void saveAs(run, "csv")}>
            Export CSV
          </button>
          <button type="button" class="button" onClick={() => void saveAs(run, "jsonl")}>
            JSON lines
          </button>
          <button type="button" class="button" onClick={() => void saveAs(run, "html")}>
            Report
          </button>
          <Remove removed={removed} />
        </>
      )}
      {removed.value.length > 0 && !hasLabels.value && (
        <p>
          {count(removed.value.length, "label")} removed.{" "}
          <button
            type="button"
            class="button"
            onClick={() => {
              addLabels(removed.value);
              removed.value = [];
            }}
          >
            Undo
          </button>
        </p>
      )}
      <div role="status" class="label-messages">
        {said.value.map((text, index) => (
          <p key={index}>{visibleText(text)}</p>
        ))}
      </div>
    </section>
  );
}

/** Removes all labels of the run, which can be undone until the screen is left. */
function Remove({ removed }: { removed: Signal<readonly GivenLabel[]> }) {
  return (
    <button
      type="button"
      class="button"
      onClick={() => {
        removed.value = [...labels.value.values()];
        removeLabels();
      }}
    >
      Remove all
    </button>
  );
}
