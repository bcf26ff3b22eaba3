/** The verdicts of every case in each run. Only the rows in sight are in the document. */

import { useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { hrefOf } from "../../route.js";
import type { RunEntry } from "../../state/runs.js";
import {
  type Cell,
  cellAt,
  filterCounts,
  matrix as shownMatrix,
  type MatrixFilter,
  matrixFilter,
  matrixQuery,
  shownCases,
} from "../../state/side-by-side.js";
import { count } from "../../ui/format.js";
import { Status } from "../../ui/status.js";
import { Name, NameLine } from "../../ui/text.js";

/** The height of a row in pixels, which has to match the style sheet. */
const ROW_HEIGHT = 36;
const OVERSCAN = 8;

const FILTERS: readonly (readonly [MatrixFilter, string])[] = [
  ["all", "All"],
  ["differ", "Verdicts differ"],
  ["flaky", "Flaky"],
  ["failed", "Failed in any"],
];

export function Cases({ matrix }: { matrix: NonNullable<typeof shownMatrix.value> }) {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const resized = new ResizeObserver(() => (height.value = element.clientHeight));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const rows = shownCases.value;
  // A string, so that scrolling within a row renders nothing.
  const sight = useComputed(() => {
    const first = Math.max(0, Math.floor(top.value / ROW_HEIGHT) - OVERSCAN);
    return `${first} ${Math.ceil((top.value + height.value) / ROW_HEIGHT) + OVERSCAN}`;
  });
  const [first = 0, last = 0] = sight.value.split(" ").map(Number);
  const { of: runs, evalIds } = matrix;
  return (
    <section aria-labelledby="matrix-title">
      <div class="title">
        <h2 id="matrix-title">Cases</h2>
        <p class="muted" role="status">
          {rows.length === evalIds.length
            ? count(evalIds.length, "case")
            : `${rows.length.toLocaleString("en")} of ${count(evalIds.length, "case")}`}
        </p>
      </div>
      <div class="tools">
        <input
          class="field"
          type="search"
          placeholder="Search case ids"
          aria-label="Search case ids"
          value={matrixQuery.value}
          onInput={({ currentTarget }) => (matrixQuery.value = currentTarget.value)}
        />
        <fieldset class="choices">
          <legend class="visually-hidden">Show</legend>
          {FILTERS.map(([filter, name]) => (
            <label key={filter}>
              <input
                type="radio"
                name="matrix-filter"
                checked={matrixFilter.value === filter}
                onChange={() => (matrixFilter.value = filter)}
              />
              {name} <small>{filterCounts.value[filter].toLocaleString("en")}</small>
            </label>
          ))}
        </fieldset>
      </div>
      <div
        ref={box}
        class="matrix-box"
        role="table"
        aria-label="Cases and runs"
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        style={{ "--runs": runs.length }}
        onScroll={({ currentTarget }) => (top.value = currentTarget.scrollTop)}
      >
        <div class="matrix-row matrix-head" role="row" aria-rowindex={1}>
          <span role="columnheader">Case</span>
          {runs.map(({ id, name }) => (
            <span key={id} role="columnheader" title={name}>
              <Name>{name}</Name>
            </span>
          ))}
        </div>
        <div class="matrix-body" role="rowgroup" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
          {rows.slice(first, last).map((row, at) => (
            <Row key={row} row={row} position={first + at} runs={runs} matrix={matrix} />
          ))}
        </div>
      </div>
      {rows.length === 0 && <p class="muted">No case matches.</p>}
    </section>
  );
}

interface RowProps {
  row: number;
  position: number;
  runs: readonly RunEntry[];
  matrix: NonNullable<typeof shownMatrix.value>;
}

function Row({ row, position, runs, matrix }: RowProps) {
  const { evalSetIds, evalIds } = matrix;
  const [evalSetId = "", evalId = ""] = [evalSetIds[row], evalIds[row]];
  return (
    <div
      class="matrix-row"
      role="row"
      aria-rowindex={position + 2}
      style={{ transform: `translateY(${position * ROW_HEIGHT}px)` }}
    >
      <span role="rowheader">
        <a href={hrefOf("runs", evalSetId, evalId)}>
          <NameLine>{evalId}</NameLine>
        </a>
      </span>
      {runs.map(({ id }, run) => (
        <span key={id} role="cell">
          <Verdict cell={cellAt(matrix, row, run)} />
        </span>
      ))}
    </div>
  );
}

/** The verdict of a case in a run, with how many repetitions passed if there are several. */
export function Verdict({ cell: { passed, failed, open } }: { cell: Cell }) {
  const all = passed + failed + open;
  if (all === 0) return <span class="muted">not in this run</span>;
  const status = failed > 0 ? EvalStatus.FAILED : passed > 0 ? EvalStatus.PASSED : EvalStatus.NOT_EVALUATED;
  return (
    <span class={`matrix-verdict ${passed > 0 && failed > 0 ? "open" : ""}`}>
      <Status of={status} />
      {all > 1 && `${passed} of ${all}`}
      {passed > 0 && failed > 0 && <span class="tag">flaky</span>}
    </span>
  );
}
