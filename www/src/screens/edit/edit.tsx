/** The evalset editor: corrects expectations, accepts what the agent did, adds rubrics and cases. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { goTo, hrefOf, route } from "../../route.js";
import {
  caseIndex,
  change,
  startEditing,
  fileId,
  undoStack,
  problem,
  evalSet,
  editedCase,
  undo,
} from "../../state/edit.js";
import { markSaved, pathOf, sourceOf, sources } from "../../state/inputs.js";
import { summary, runProgress } from "../../state/run.js";
import { count, head } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { save } from "../../ui/save.js";
import { Name, visibleText } from "../../ui/text.js";
import { Fields } from "./fields.js";
import { Title } from "../../ui/title.js";
import "./edit.css";

/** How many cases are listed at first and added at a time. */
const CASES_PER_PAGE = 200;

export default function Edit() {
  const [id, evalId] = route.value.rest;
  const openedId = id === undefined ? sources.value.find(({ info }) => info?.kind === "evalset")?.id : Number(id);
  useEffect(() => {
    if (openedId !== undefined) void startEditing(openedId, evalId);
  }, [openedId, evalId]);
  const source = sourceOf(openedId);
  const shownId = fileId.value === openedId ? editedCase.value?.evalId : undefined;
  useEffect(() => {
    document.title = `${shownId === undefined ? "" : `${head(visibleText(shownId), 100)} – `}Edit – adk-metrics`;
  }, [shownId]);
  if (source === undefined) {
    return (
      <>
        <Title>Edit</Title>
        <p class="muted">
          There is no evalset to edit. <a href={hrefOf("files")}>Choose files</a>
        </p>
      </>
    );
  }
  return (
    <div class="edit">
      <header class="edit-head">
        <Title>
          Edit <Name>{source.name}</Name>
        </Title>
        <div class="edit-actions">
          <button type="button" class="button" disabled={undoStack.value.length === 0} onClick={() => void undo()}>
            Undo
          </button>
          <button
            type="button"
            class="button"
            disabled={evalSet.value === undefined}
            onClick={() => {
              if (evalSet.value === undefined) return;
              save(exportFileName(source.name), evalSet.value.text, "application/json");
              markSaved(source.id);
            }}
          >
            Export evalset
          </button>
          <a class="button" data-kind="primary" href={hrefOf("run")}>
            Score again
          </a>
        </div>
        <p class="muted">
          Changes apply at once, but only in this browser: export the evalset to have them as a file. It is written in
          ADK’s current schema.
        </p>
      </header>
      {problem.value !== undefined && (
        <div class="edit-notice" role="alert">
          <p>
            Not applied: <Name>{problem.value.message}</Name>
            {problem.value.path !== undefined && (
              <>
                {" "}
                at <code>{problem.value.path}</code>
              </>
            )}
          </p>
          {problem.value.help !== undefined && <p class="muted">{problem.value.help}</p>}
        </div>
      )}
      {fileId.value === openedId && evalSet.value !== undefined && (
        <div class="edit-body">
          <Cases />
          {editedCase.value === undefined ? (
            <p class="muted">The evalset has no cases.</p>
          ) : (
            <Fields
              key={`${caseIndex.value}`}
              evalCase={editedCase.value}
              row={rowOf(pathOf(source), editedCase.value.evalId)}
            />
          )}
        </div>
      )}
    </div>
  );
}

/** The row of a case in the run that is shown; undefined if there is none or more than one. */
function rowOf(path: string, evalId: string): number | undefined {
  const run = summary.value;
  if (run === undefined || runProgress.value !== undefined) return undefined;
  const rows = run.sets.flatMap((set) => {
    if (set.path !== path) return [];
    const ids = run.evalIds.slice(set.from, set.from + set.count);
    return ids.flatMap((one, index) => (one === evalId ? [set.from + index] : []));
  });
  return rows.length === 1 ? rows[0] : undefined;
}

function exportFileName(name: string): string {
  return `${name.replace(/(\.evalset|\.test)?\.json$/i, "")}.evalset.json`;
}

function Cases() {
  const query = useSignal("");
  const limit = useSignal(CASES_PER_PAGE);
  const now = evalSet.value;
  if (now === undefined) return null;
  const wanted = query.value.toLowerCase();
  const found = now.cases.flatMap(({ evalId, turns }, index) =>
    evalId.toLowerCase().includes(wanted) ? [{ evalId, turns, place: index }] : [],
  );
  return (
    <nav class="edit-cases" aria-label="Cases of the evalset">
      {now.cases.length > 10 && (
        <input
          class="field"
          type="search"
          aria-label="Search case ids"
          placeholder="Search case ids"
          value={query.value}
          onInput={({ currentTarget }) => {
            query.value = currentTarget.value;
          }}
        />
      )}
      <ul role="list">
        {found.slice(0, limit.value).map(({ evalId, turns, place: index }) => (
          <li key={index}>
            <a
              href={hrefOf("edit", fileId.value ?? 0, evalId)}
              {...(index === caseIndex.value ? { "aria-current": "true" as const } : {})}
            >
              <Name>{evalId}</Name> <small class="muted">{turns > 0 ? count(turns, "turn") : "scenario"}</small>
            </a>
          </li>
        ))}
      </ul>
      <More limit={limit} total={found.length} step={CASES_PER_PAGE} noun="case" />
      <div class="edit-actions">
        <button type="button" class="button" onClick={() => void changeCases("addCase")}>
          New<span class="visually-hidden"> case</span>
        </button>
        <button
          type="button"
          class="button"
          disabled={now.cases.length === 0}
          onClick={() => void changeCases("copyCase")}
        >
          Copy
        </button>
        <button
          type="button"
          class="button"
          disabled={now.cases.length === 0}
          onClick={() => void changeCases("removeCase")}
        >
          Delete
        </button>
      </div>
    </nav>
  );
}

async function changeCases(kind: "addCase" | "copyCase" | "removeCase"): Promise<void> {
  if (!(await change({ kind })) || fileId.value === undefined) return;
  goTo("edit", fileId.value, evalSet.value?.cases[caseIndex.value]?.evalId ?? "");
}
