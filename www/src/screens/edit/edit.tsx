/** An evalset, case by case: correct what is expected, accept what the agent did, add rubrics and cases. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { goTo, hrefOf, route } from "../../route.js";
import { at, change, edit, file, past, problem, set, shown, undo } from "../../state/edit.js";
import { sourceOf, sources } from "../../state/inputs.js";
import { summary, underWay } from "../../state/run.js";
import { count } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { save } from "../../ui/save.js";
import { Name } from "../../ui/text.js";
import { Fields } from "./fields.js";
import { Title } from "../../ui/title.js";
import "./edit.css";

/** Cases listed at a time. */
const SOME = 200;

export default function Edit() {
  const [id, evalId] = route.value.rest;
  const wanted = id === undefined ? sources.value.find(({ facts }) => facts?.kind === "evalset")?.id : Number(id);
  useEffect(() => {
    if (wanted !== undefined) void edit(wanted, evalId);
  }, [wanted, evalId]);
  const source = sourceOf(wanted);
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
          <button type="button" class="button" disabled={past.value.length === 0} onClick={() => void undo()}>
            Undo
          </button>
          <button
            type="button"
            class="button"
            disabled={set.value === undefined}
            onClick={() => {
              if (set.value !== undefined) save(exportName(source.name), set.value.text, "application/json");
            }}
          >
            Export evalset
          </button>
          <a class="button" data-kind="primary" href={hrefOf("run")}>
            Score again
          </a>
        </div>
        <p class="muted">
          Changes hold at once in this page, and nowhere else: export the evalset to keep them. It is written in ADK’s
          schema of today.
        </p>
      </header>
      {problem.value !== undefined && (
        <div class="edit-notice" role="alert">
          <p>
            Not taken over: <Name>{problem.value.message}</Name>
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
      {file.value === wanted && set.value !== undefined && (
        <div class="edit-body">
          <Cases />
          {shown.value === undefined ? (
            <p class="muted">The evalset has no cases.</p>
          ) : (
            <Fields key={`${at.value}`} one={shown.value} row={rowOf(source.name, shown.value.evalId)} />
          )}
        </div>
      )}
    </div>
  );
}

/** The row of a case in the run that is shown; undefined if it has none, or several. */
function rowOf(name: string, evalId: string): number | undefined {
  const run = summary.value;
  if (run === undefined || underWay.value !== undefined) return undefined;
  const rows = run.sets.flatMap((set) => {
    if (set.name !== name) return [];
    const ids = run.evalIds.slice(set.from, set.from + set.count);
    return ids.flatMap((one, place) => (one === evalId ? [set.from + place] : []));
  });
  return rows.length === 1 ? rows[0] : undefined;
}

function exportName(name: string): string {
  return `${name.replace(/(\.evalset|\.test)?\.json$/i, "")}.evalset.json`;
}

function Cases() {
  const query = useSignal("");
  const most = useSignal(SOME);
  const now = set.value;
  if (now === undefined) return null;
  const wanted = query.value.toLowerCase();
  const found = now.cases.flatMap(({ evalId, turns }, place) =>
    evalId.toLowerCase().includes(wanted) ? [{ evalId, turns, place }] : [],
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
        {found.slice(0, most.value).map(({ evalId, turns, place }) => (
          <li key={place}>
            <a
              href={hrefOf("edit", file.value ?? 0, evalId)}
              {...(place === at.value ? { "aria-current": "true" as const } : {})}
            >
              <Name>{evalId}</Name> <small class="muted">{turns > 0 ? count(turns, "turn") : "scenario"}</small>
            </a>
          </li>
        ))}
      </ul>
      <More most={most} total={found.length} step={SOME} noun="case" />
      <div class="edit-actions">
        <button type="button" class="button" onClick={() => void added("addCase")}>
          New<span class="visually-hidden"> case</span>
        </button>
        <button type="button" class="button" disabled={now.cases.length === 0} onClick={() => void added("copyCase")}>
          Copy
        </button>
        <button type="button" class="button" disabled={now.cases.length === 0} onClick={() => void added("removeCase")}>
          Delete
        </button>
      </div>
    </nav>
  );
}

async function added(kind: "addCase" | "copyCase" | "removeCase"): Promise<void> {
  if (!(await change({ kind })) || file.value === undefined) return;
  goTo("edit", file.value, set.value?.cases[at.value]?.evalId ?? "");
}
