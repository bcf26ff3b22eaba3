/**
 * A grid of cases × metrics with keyboard navigation: arrows, Home and End, with Ctrl to the first and last cell, PageUp
 * and PageDown; Enter opens the case or sorts by the column. It is virtual: only visible rows are in the document.
 */

import { useComputed, useSignal } from "@preact/signals";
import { UNITS } from "virtual:manifest";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { goTo, hrefOf } from "../../route.js";
import { summary, thresholds, verdicts } from "../../state/run.js";
import { amountText, scoreText } from "../../ui/format.js";
import { labelOf } from "../../ui/set-label.js";
import { bodyStyle, ROW_HEIGHT, rowStyle, useRowsInSight } from "../../ui/rows.js";
import { Status, toneOf } from "../../ui/status.js";
import { MetricName, NameLine, visibleText } from "../../ui/text.js";
import { columns, longestName, names, rows, sort, type SortKey } from "./view.js";

/** How many rows are rendered per frame at first. */
const ROWS_PER_FRAME = 12;

/** The active cell and the scroll position; row -1 is the heading. Restored when the user returns from a case. */
const active = { row: -1, column: 0, scroll: 0, run: "" };

export function Grid() {
  const run = summary.value;
  const view = rows.value;
  const isReturning = active.run === run?.id;
  const { box, top, height, first, last } = useRowsInSight(() => rows.value.length, isReturning ? active.scroll : 0);
  const activeCell = useSignal(isReturning ? { row: active.row, column: active.column } : { row: -1, column: 0 });
  const shouldFocus = useRef(false);

  // The visible rows are rendered over several frames at first.
  const renderLimit = useSignal(ROWS_PER_FRAME);
  const isGrowing = useComputed(() => renderLimit.value < last.value - first.value);
  const start = useComputed(() => (isGrowing.value ? Math.floor(top.value / ROW_HEIGHT) : first.value));
  const end = useComputed(() => (isGrowing.value ? Math.min(start.value + renderLimit.value, last.value) : last.value));
  useEffect(() => {
    if (isGrowing.value) renderLimit.value += ROWS_PER_FRAME;
  });

  useLayoutEffect(() => {
    Object.assign(active, activeCell.value, { run: run?.id ?? "" });
    if (isReturning && box.current !== null) {
      box.current.scrollTop = active.scroll;
      // After returning from a case, nothing has the focus.
      shouldFocus.current = active.row >= 0 && document.activeElement === document.body;
    }
  }, []);

  // The active cell may have been rendered only now.
  useLayoutEffect(() => {
    if (!shouldFocus.current) return;
    shouldFocus.current = false;
    box.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  });

  if (run === undefined) return null;
  const shownColumns = columns.value;
  // The case, and the evalset where there are several.
  const before = run.sets.length > 1 ? 2 : 1;
  const width = shownColumns.length + before;
  const cell = {
    row: Math.min(activeCell.value.row, view.length - 1),
    column: Math.min(activeCell.value.column, width - 1),
  };

  function move(row: number, column: number): void {
    const to = {
      row: Math.min(Math.max(row, -1), view.length - 1),
      column: Math.min(Math.max(column, 0), width - 1),
    };
    shouldFocus.current = true;
    activeCell.value = to;
    Object.assign(active, to);
    if (box.current !== null) bringIntoView(box.current, to);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { row, column } = cell;
    const page = Math.max(1, Math.floor(height.value / ROW_HEIGHT) - 2);
    const { key, ctrlKey, metaKey, altKey } = event;
    if (altKey) return;
    const isWithCtrl = ctrlKey || metaKey;
    if (key === "ArrowDown") move(row + 1, column);
    else if (key === "ArrowUp") move(row - 1, column);
    else if (key === "ArrowRight") move(row, column + 1);
    else if (key === "ArrowLeft") move(row, column - 1);
    else if (key === "Home") move(isWithCtrl ? 0 : row, 0);
    else if (key === "End") move(isWithCtrl ? view.length - 1 : row, width - 1);
    else if (key === "PageDown") move(row + page, column);
    else if (key === "PageUp") move(Math.max(row - page, 0), column);
    else if (key === "Enter" || key === " ") activate(row, column);
    else return;
    event.preventDefault();
  }

  function activate(row: number, column: number): void {
    const opened = view[row];
    if (opened !== undefined) goTo("case", opened);
    else sortBy(column === 0 ? "case" : (shownColumns[column - before] ?? "evalset"));
  }

  const shown = new Set<number>();
  if (cell.row >= 0) shown.add(cell.row);
  for (let row = start.value; row < end.value; row += 1) shown.add(row);
  const longest = longestName.value;
  return (
    <div
      ref={box}
      class={before > 1 ? "rows grid several" : "rows grid"}
      role="grid"
      aria-label="Cases and metrics"
      aria-rowcount={view.length + 1}
      aria-colcount={width}
      style={{ "--metrics": shownColumns.length, "--longest": `${longest}ch` }}
      onScroll={({ currentTarget }) => {
        top.value = currentTarget.scrollTop;
        active.scroll = currentTarget.scrollTop;
      }}
      onKeyDown={onKeyDown}
    >
      <div class="rows-row rows-head grid-head" role="row" aria-rowindex={1}>
        <Heading by="case" column={0} isActive={cell.row === -1 && cell.column === 0}>
          Case
        </Heading>
        {before > 1 && (
          <Heading by="evalset" column={1} isActive={cell.row === -1 && cell.column === 1}>
            Evalset
          </Heading>
        )}
        {shownColumns.map((column, at) => {
          const { name = "", threshold } = run.metrics[column] ?? {};
          return (
            <Heading
              key={name}
              by={column}
              column={at + before}
              isActive={cell.row === -1 && cell.column === at + before}
            >
              <MetricName>{name}</MetricName>
              {threshold === undefined ? (
                Object.hasOwn(UNITS, name) && <small>{UNITS[name]}</small>
              ) : (
                <small>≥ {thresholds.value.get(name) ?? threshold}</small>
              )}
            </Heading>
          );
        })}
      </div>
      <div class="rows-body grid-body" role="presentation" style={bodyStyle(view.length)}>
        {[...shown].map((position) => (
          <Row
            key={view[position]}
            row={view[position] ?? 0}
            position={position}
            column={cell.row === position ? cell.column : -1}
          />
        ))}
      </div>
    </div>
  );
}

function Heading({
  by,
  column,
  isActive,
  children,
}: {
  by: SortKey;
  column: number;
  isActive: boolean;
  children: ComponentChildren;
}) {
  const { by: sorted, descending } = sort.value;
  const direction = descending ? "descending" : "ascending";
  return (
    <div
      class={column === 0 ? "grid-cell grid-case" : "grid-cell"}
      role="columnheader"
      aria-colindex={column + 1}
      tabIndex={isActive ? 0 : -1}
      onClick={() => sortBy(by)}
      {...(sorted === by ? { "aria-sort": direction as "ascending" | "descending" } : {})}
    >
      <span class="grid-title">{children}</span>
      <span class="grid-arrow" aria-hidden="true">
        {sorted === by ? (descending ? "↓" : "↑") : ""}
      </span>
    </div>
  );
}

interface RowProps {
  /** The row in the run. */
  row: number;
  /** The index of the row in the grid. */
  position: number;
  /** The column of the active cell; -1 if it is in another row. */
  column: number;
}

/** Rerendered only if its properties or its cells change, because it reads signals. */
function Row({ row, position, column }: RowProps) {
  // A computed string, so that moving a threshold rerenders only rows whose cells change.
  const shown = useComputed(() => cellsOf(row).join("\n"));
  const name = names.value[row] ?? "";
  const { questions = [], sets = [] } = summary.value ?? {};
  const question = questions[row] ?? "";
  const set = sets.length > 1 ? sets.find(({ from, count }) => row < from + count) : undefined;
  const before = set === undefined ? 1 : 2;
  const [caseStatus = "", ...cells] = shown.value.split("\n");
  return (
    <div
      class="rows-row"
      role="row"
      aria-rowindex={position + 2}
      style={rowStyle(position)}
      onClick={() => goTo("case", row)}
    >
      <div class="grid-cell grid-case" role="rowheader" aria-colindex={1}>
        <Status of={Number(caseStatus)} />
        <a href={hrefOf("case", row)} tabIndex={column === 0 ? 0 : -1} title={visibleText(name)}>
          <NameLine>{name}</NameLine>
        </a>
        {question !== "" && <span class="grid-question">{visibleText(question)}</span>}
      </div>
      {set !== undefined && (
        <div
          class="grid-cell grid-set"
          role="gridcell"
          aria-colindex={2}
          tabIndex={column === 1 ? 0 : -1}
          title={visibleText(labelOf(set, sets))}
        >
          <NameLine>{labelOf(set, sets)}</NameLine>
        </div>
      )}
      {cells.map((cell, at) => {
        const status = Number(cell[0]);
        return (
          <div
            key={at}
            class={`grid-cell number ${toneOf(status)}`}
            role="gridcell"
            aria-colindex={at + before + 1}
            tabIndex={column === at + before ? 0 : -1}
          >
            {status !== 0 && status !== EvalStatus.INFORMATIONAL && <Status of={status} />}
            {cell.slice(1)}
          </div>
        );
      })}
    </div>
  );
}

/** The cells of a row: the case's status, then for each metric its status, which is one digit, and its score. */
function cellsOf(row: number): string[] {
  const run = summary.value;
  if (run === undefined) return [];
  const statuses = verdicts.value ?? run.verdicts;
  const cells = columns.value.map((column) => {
    const { name = "", threshold } = run.metrics[column] ?? {};
    const position = row * run.metrics.length + column;
    const status = statuses.metrics[position] ?? 0;
    const score = run.scores[position];
    if (status === EvalStatus.INFORMATIONAL) return `${status}${amountText(score)}`;
    return `${status}${shortScore(score, thresholds.value.get(name) ?? threshold)}`;
  });
  return [String(statuses.cases[row] ?? 0), ...cells];
}

/** The longest score that fits into a cell, in characters. */
const MAX_SCORE_LENGTH = 9;

/** A score, shortened if the digits that distinguish it from the threshold do not fit. */
function shortScore(score: number | undefined, threshold: number | undefined): string {
  const text = scoreText(score, threshold);
  return text.length <= MAX_SCORE_LENGTH ? text : `${scoreText(score)}…`;
}

/** Sorts by a column; a second call reverses the order. */
function sortBy(by: SortKey): void {
  sort.value = { by, descending: sort.value.by === by && !sort.value.descending };
}

/** Scrolls a cell into view, not covered by the sticky heading or the column of cases. */
function bringIntoView(box: HTMLElement, { row, column }: { row: number; column: number }): void {
  const head = box.querySelector<HTMLElement>(".grid-head");
  if (head === null) return;
  if (row >= 0) {
    const room = box.clientHeight - head.offsetHeight;
    const y = row * ROW_HEIGHT;
    if (y < box.scrollTop) box.scrollTop = y;
    else if (y + ROW_HEIGHT > box.scrollTop + room) box.scrollTop = y + ROW_HEIGHT - room;
  }
  const cell = head.children[column];
  const first = head.children[0];
  if (!(cell instanceof HTMLElement) || !(first instanceof HTMLElement)) return;
  if (column === 0) {
    box.scrollLeft = 0;
    return;
  }
  const from = cell.offsetLeft - first.offsetWidth;
  const to = cell.offsetLeft + cell.offsetWidth - box.clientWidth;
  if (box.scrollLeft > from) box.scrollLeft = from;
  else if (box.scrollLeft < to) box.scrollLeft = to;
}
