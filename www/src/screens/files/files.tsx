import { useSignal } from "@preact/signals";
import { goTo, hrefOf, route } from "../../route.js";
import { addFiles, leftOutFiles, restoreReplaced, message, replaced, replaceFiles } from "../../state/adding.js";
import { configChecked } from "../../state/config.js";
import { criteria } from "../../state/criteria.js";
import { add, exampleName, isInspecting, matching, type Source, sourceOf, sources } from "../../state/inputs.js";
import { caseCount, leftOut, runBlocker } from "../../state/job.js";
import { openResultFiles } from "../../state/opened.js";
import { problem } from "../../state/run.js";
import { runAndShow } from "../../state/running.js";
import { count } from "../../ui/format.js";
import { lazy } from "../../ui/lazy.js";
import { ProblemNote } from "../run/problem.js";
import { InterruptedRun } from "../run/kept.js";
import { type Example, EXAMPLES, filesOf } from "./examples.js";
import { ConfigChoice } from "./config-choice.js";
import { Pairs } from "./pairs.js";
import { DropZone, FileButton } from "../../ui/drop.js";
import { Name } from "../../ui/text.js";
import { Title } from "../../ui/title.js";
import "../../styles/inputs.css";
import "./files.css";

const FileEditor = lazy(() => import("./file-editor.js"));

export default function Files() {
  const [id] = route.value.rest;
  const opened = id === undefined ? undefined : sourceOf(Number(id));
  return opened === undefined ? <Overview /> : <FileEditor key={opened.id} source={opened} />;
}

function Overview() {
  const busyExample = useSignal<string | undefined>(undefined);

  async function open(example: Example, isScored: boolean) {
    busyExample.value = example.folder;
    try {
      await replaceFiles(await filesOf(example.folder), example.title);
      if (!isScored) showLoaded();
      else {
        await configChecked();
        if (runBlocker.value === undefined) await runAndShow("files");
      }
    } catch (error) {
      message.value = error instanceof Error ? error.message : String(error);
    }
    busyExample.value = undefined;
  }

  const hasFiles = sources.value.length > 0;
  return (
    <div class="files">
      <Title>See why your agent passes or fails</Title>
      <p class="lead">
        Give it an evalset and what the agent did, or try an example. Scores are the same as google-adk’s, and each one
        is explained. Nothing is uploaded: the engine runs in this page.
      </p>
      <InterruptedRun />
      <DropZone label="Add files" onFiles={(reader) => void addFiles(reader)}>
        <p>
          <strong>Drop files or folders here, or paste JSON.</strong>
          <br />
          <span class="muted">
            Evalsets, configs, actual runs, sessions, results, traces, recordings: any form that ADK or ADK-TS writes.
          </span>
        </p>
        <div class="actions">
          <FileButton label="Choose files" isPrimary={!hasFiles} onFiles={(reader) => void addFiles(reader)} />
          <FileButton label="Choose a folder" isFolder onFiles={(reader) => void addFiles(reader)} />
          <button
            type="button"
            class="button"
            onClick={async () => {
              const [made] = await add([{ name: unusedName(), bytes: new TextEncoder().encode("") }]);
              if (made !== undefined) goTo("files", made.id);
            }}
          >
            Write or paste JSON
          </button>
        </div>
      </DropZone>
      <p role="status" class="added">
        {message.value}
      </p>
      <LeftOut />
      {!hasFiles && <RemovedFiles />}
      {problem.value !== undefined && <ProblemNote problem={problem.value} />}
      {hasFiles && <Loaded />}
      <section aria-labelledby="examples">
        <h2 id="examples">{hasFiles ? "Or try an example" : "Try an example"}</h2>
        <p class="muted">Some fail on purpose. Replies of judges are recorded, so no key and no network is needed.</p>
        <ul class="examples" role="list">
          {EXAMPLES.map((example) => (
            <li key={example.folder} class="card" aria-busy={busyExample.value === example.folder}>
              <h3>
                {example.title}
                {example.isJudged && <span class="tag">recorded judge</span>}
              </h3>
              <p>{example.what}</p>
              <p class="muted">See {example.see}.</p>
              <div class="actions">
                <button
                  type="button"
                  class="button"
                  aria-disabled={busyExample.value !== undefined}
                  onClick={() => busyExample.value === undefined && void open(example, true)}
                >
                  <span class="visually-hidden">{example.title}: </span>
                  {busyExample.value === example.folder ? "Scoring…" : "Score it"}
                </button>
                <button
                  type="button"
                  class="button"
                  data-kind="quiet"
                  aria-disabled={busyExample.value !== undefined}
                  onClick={() => busyExample.value === undefined && void open(example, false)}
                >
                  Open files
                  <span class="visually-hidden"> of {example.title}</span>
                </button>
              </div>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

/** Scrolls to the list of files and focuses its heading. */
function showLoaded(): void {
  requestAnimationFrame(() => {
    const heading = document.getElementById("loaded");
    heading?.scrollIntoView({ block: "start" });
    heading?.focus({ preventScroll: true });
  });
}

function Loaded() {
  const blocker = runBlocker.value;
  const results = sources.value.filter(({ info }) => info?.hasScores === true && info.problem === undefined);
  // Scoring results again gives other scores than they have, so it comes second.
  const areResults = results.length > 0 && matching.value.pairs.every(({ actual }) => isOneOf(results, actual));
  return (
    <section aria-labelledby="loaded">
      <h2 id="loaded" tabIndex={-1}>
        {exampleName.value ?? "Your files"}
      </h2>
      <RemovedFiles />
      <Pairs />
      <ConfigChoice />
      <div class="actions next">
        {results.length > 0 && (
          <button
            type="button"
            class="button"
            {...(areResults ? { "data-kind": "primary" } : {})}
            aria-describedby="open-what"
            onClick={() => void openResultFiles(results)}
          >
            {results.length === 1 ? "Open the results" : `Open the results of ${results.length} files`}
          </button>
        )}
        <button
          type="button"
          class="button"
          {...(areResults ? {} : { "data-kind": "primary" })}
          aria-disabled={blocker !== undefined || isInspecting.value}
          aria-describedby="next-what"
          onClick={async () => {
            if (blocker?.screen === "criteria") goTo("criteria");
            if (blocker !== undefined || isInspecting.value) return;
            await runAndShow();
          }}
        >
          {areResults ? "Score again" : `Score ${count(caseCount.value, "case")}`}
        </button>
        <a class="button" href={hrefOf("criteria")}>
          Choose criteria
        </a>
        <button type="button" class="button" data-kind="quiet" onClick={() => void replaceFiles([])}>
          Remove all files
        </button>
        {results.length > 0 && (
          <p id="open-what" class="muted">
            Opening keeps the scores and verdicts in the files.
          </p>
        )}
        <p id="next-what" class="muted">
          {leftOut.value.length > 0 && blocker === undefined && `Left out: ${leftOut.value.join(" ")} `}
          {blocker?.what ??
            (areResults ? `Scoring again replaces them: ${count(caseCount.value, "case")} by ${criteriaText()}.` : "")}
        </p>
      </div>
    </section>
  );
}

/** How many names of files are listed. */
const MOST_LEFT_OUT = 200;

/** Which files of a folder were left out. */
function LeftOut() {
  const names = leftOutFiles.value;
  if (names.length === 0) return null;
  return (
    <details class="left-out">
      <summary>Files that were left out</summary>
      <ul role="list">
        {names.slice(0, MOST_LEFT_OUT).map((name) => (
          <li key={name}>
            <Name>{name}</Name>
          </li>
        ))}
        {names.length > MOST_LEFT_OUT && <li>and {(names.length - MOST_LEFT_OUT).toLocaleString("en")} more</li>}
      </ul>
    </details>
  );
}

/** What an example, or nothing, took the place of, with a button to bring it back. */
function RemovedFiles() {
  const files = replaced.value?.sources.length ?? 0;
  if (files === 0) return null;
  return (
    <p role="status">
      {files === 1 ? "Your file was removed." : `Your ${files} files were removed.`}{" "}
      <button type="button" class="link" onClick={restoreReplaced}>
        Undo
      </button>
    </p>
  );
}

function isOneOf(files: readonly Source[], id: number | undefined): boolean {
  return files.some((file) => file.id === id);
}

/** The criteria that apply. */
function criteriaText(): string {
  const names = Object.keys(criteria.value);
  return names.length === 0 ? "no metric" : names.join(", ");
}

function unusedName(): string {
  const taken = new Set(sources.value.map(({ name }) => name));
  for (let number = 1; ; number += 1) {
    const name = `new-${number}.evalset.json`;
    if (!taken.has(name)) return name;
  }
}
