import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { goTo, hrefOf, route } from "../../route.js";
import { activeConfig, activateConfig } from "../../state/active-config.js";
import { configChecked, configText, DEFAULT_CONFIG } from "../../state/config.js";
import {
  add,
  exampleName,
  isInspecting,
  isPristine,
  matching,
  replaceAll,
  type Source,
  sourceOf,
  sources,
} from "../../state/inputs.js";
import { obstacle } from "../../state/job.js";
import { judgeKind } from "../../state/judge.js";
import { problem } from "../../state/run.js";
import { runAndShow } from "../../state/running.js";
import { lazy } from "../../ui/lazy.js";
import { ProblemNote } from "../run/problem.js";
import { InterruptedRun } from "../run/kept.js";
import { type Example, EXAMPLES, filesOf } from "./examples.js";
import { Pairs } from "./pairs.js";
import { DropZone, FileButton } from "../../ui/drop.js";
import { readFiles, fileFromText, type ReadFiles } from "../../ui/read-files.js";
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
  const message = useSignal("");
  const busyExample = useSignal<string | undefined>(undefined);

  async function addFiles(reader: Promise<ReadFiles>) {
    const { files, skipped } = await reader;
    const replacesAll = isPristine.value && files.length > 0;
    const added = await (replacesAll ? replaceAll(files) : add(files));
    applyConfigAndReplies(added, replacesAll);
    const unreadable = added.filter(({ info }) => info?.problem !== undefined);
    message.value = [
      added.length === 1 ? `${added[0]?.name} was added.` : added.length > 1 ? `${added.length} files were added.` : "",
      unreadable.length > 0 ? `${unreadable.map(({ name }) => name).join(", ")} cannot be read yet; see below.` : "",
      skipped.length > 0 ? `Left out: ${skipped.join("; ")}.` : "",
    ]
      .filter((part) => part !== "")
      .join(" ");
  }

  async function open(example: Example, isScored: boolean) {
    busyExample.value = example.folder;
    try {
      applyConfigAndReplies(await replaceAll(await filesOf(example.folder)), true);
      exampleName.value = example.title;
      isPristine.value = true;
      if (!isScored) showLoaded();
      else {
        await configChecked();
        if (obstacle.value === undefined) await runAndShow("files");
      }
    } catch (error) {
      message.value = error instanceof Error ? error.message : String(error);
    }
    busyExample.value = undefined;
  }

  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      if (isEditable(event.target) || event.clipboardData === null) return;
      event.preventDefault();
      const { files } = event.clipboardData;
      const text = event.clipboardData.getData("text/plain");
      void addFiles(files.length > 0 ? readFiles(files) : Promise.resolve({ files: fileFromText(text), skipped: [] }));
    };
    addEventListener("paste", paste);
    return () => removeEventListener("paste", paste);
  });

  const hasFiles = sources.value.length > 0;
  return (
    <div class="files">
      <Title>See why your agent passes or fails</Title>
      <p class="lead">
        Give it an evalset and what the agent did, or take an example. Scores are google-adk’s, and each says how it
        came about. Nothing is uploaded: the engine runs in this page.
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
          <FileButton label="Choose files" onFiles={(reader) => void addFiles(reader)} />
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
      {problem.value !== undefined && <ProblemNote problem={problem.value} />}
      {hasFiles && <Loaded />}
      <section aria-labelledby="examples">
        <h2 id="examples">{hasFiles ? "Or take an example" : "Take an example"}</h2>
        <p class="muted">
          Some fail, and are meant to. Where a judge is asked, its replies are recorded, so no key and no network is
          needed.
        </p>
        <ul class="examples" role="list">
          {EXAMPLES.map((example) => (
            <li key={example.folder} class="card" aria-busy={busyExample.value === example.folder}>
              <h3>
                {example.title}
                {example.isJudged && <span class="tag">recorded judge</span>}
              </h3>
              <p>{example.what}</p>
              <p class="muted see">See {example.see}.</p>
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
  const blocker = obstacle.value;
  return (
    <section aria-labelledby="loaded">
      <h2 id="loaded" tabIndex={-1}>
        {exampleName.value ?? "Your files"}
      </h2>
      <Pairs />
      <div class="actions next">
        <button
          type="button"
          class="button"
          data-kind="primary"
          aria-disabled={blocker !== undefined || isInspecting.value}
          aria-describedby="next-what"
          onClick={async () => {
            if (blocker?.screen === "criteria") goTo("criteria");
            if (blocker !== undefined || isInspecting.value) return;
            await runAndShow();
          }}
        >
          Score {caseCountText()}
        </button>
        <a class="button" href={hrefOf("criteria")}>
          Choose criteria
        </a>
        <button type="button" class="button" data-kind="quiet" onClick={() => void replaceAll([])}>
          Take all out
        </button>
        <p id="next-what" class="muted">
          {blocker?.what}
        </p>
      </div>
    </section>
  );
}

function caseCountText(): string {
  const cases = matching.value.pairs.reduce((sum, { expected, actual }) => {
    const info = sourceOf(expected === "own" ? actual : expected)?.info;
    return sum + (info?.evalIds.length || 1);
  }, 0);
  return cases === 1 ? "1 case" : `${cases} cases`;
}

/**
 * Activates the config and the recordings among new files.
 *
 * @param replacesAll Whether all other files were removed: without a config, google-adk's default criteria then apply.
 */
function applyConfigAndReplies(added: readonly Source[], replacesAll: boolean): void {
  const config = added.find(({ info }) => info?.kind === "config");
  if (config !== undefined) activateConfig(config);
  else if (replacesAll) {
    activeConfig.value = undefined;
    configText.value = DEFAULT_CONFIG;
  }
  if (added.some(({ info }) => info?.kind === "recording")) judgeKind.value = "recording";
  else if (replacesAll && judgeKind.value === "recording") judgeKind.value = "none";
}

function unusedName(): string {
  const taken = new Set(sources.value.map(({ name }) => name));
  for (let number = 1; ; number += 1) {
    const name = `new-${number}.evalset.json`;
    if (!taken.has(name)) return name;
  }
}

function isEditable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, .editor") !== null;
}
