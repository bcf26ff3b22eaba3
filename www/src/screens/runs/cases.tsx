/** The verdicts of every case in each run. Only the rows in sight are in the document. */

import { EvalStatus } from "../../enums.js";
import { hrefOf } from "../../route.js";
import { evalSetTitle, type RunEntry } from "../../state/runs.js";
import {
  areOfSeveral,
  type Cell,
  cellAt,
  differences,
  filterCounts,
  matrix as shownMatrix,
  type MatrixFilter,
  matrixFilter,
  matrixQuery,
  shownCases,
} from "../../state/side-by-side.js";
import { Choices } from "../../ui/choices.js";
import { count } from "../../ui/format.js";
import { bodyStyle, rowStyle, useRowsInSight } from "../../ui/rows.js";
import { Status } from "../../ui/status.js";
import { Name, NameLine } from "../../ui/text.js";

const FILTERS: readonly (readonly [MatrixFilter, string])[] = [
  ["all", "All"],
  ["differ", "Verdicts differ"],
  ["flaky", "Flaky"],
  ["failed", "Failed in any"],
];

export function Cases({ matrix }: { matrix: NonNullable<typeof shownMatrix.value> }) {
  const rows = shownCases.value;
  const { box, top, first, last, keyOf } = useRowsInSight(() => shownCases.value.length);
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
        <Choices
          legend="Show"
          name="matrix-filter"
          choices={FILTERS.map(([filter, name]) => [filter, name, filterCounts.value[filter]])}
          chosen={matrixFilter.value}
          choose={(filter) => {
            matrixFilter.value = filter;
          }}
        />
      </div>
      <div
        ref={box}
        class="rows matrix"
        role="table"
        aria-label="Cases and runs"
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        style={{ "--runs": runs.length }}
        onScroll={({ currentTarget }) => (top.value = currentTarget.scrollTop)}
      >
        <div class="rows-row rows-head" role="row" aria-rowindex={1}>
          <span role="columnheader">Case</span>
          {runs.map((run) => {
            const texts = differences(run, runs);
            return (
              <span key={run.id} role="columnheader" title={[run.name, ...texts].join("\n")}>
                <Name>{run.name}</Name>
                {texts.map((text) => (
                  <small key={text}>
                    <NameLine>{text}</NameLine>
                  </small>
                ))}
              </span>
            );
          })}
        </div>
        <div class="rows-body" role="rowgroup" style={bodyStyle(rows.length)}>
          {rows.slice(first.value, last.value).map((row, at) => (
            <Row key={keyOf(first.value + at)} row={row} position={first.value + at} runs={runs} matrix={matrix} />
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
    <div class="rows-row" role="row" aria-rowindex={position + 2} style={rowStyle(position)}>
      <span role="rowheader">
        <a href={hrefOf("runs", evalSetId, evalId)}>
          <NameLine>{evalId}</NameLine>
        </a>
        {areOfSeveral.value && (
          <small class="muted">
            <NameLine>{evalSetTitle(evalSetId)}</NameLine>
          </small>
        )}
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
