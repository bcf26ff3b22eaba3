/** A table of rubrics × turns: whether each rubric is met, how the samples voted, and why. */

import type { EvalMetricResult, RubricScore, RubricVotes } from "adk-metrics";
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { Copy } from "../../ui/copy.js";
import { scoreText } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { Status, toneOf } from "../../ui/status.js";
import { MetricName, Name, Text } from "../../ui/text.js";
import type { CaseDetails } from "../../worker/protocol.js";
import { LabelVerdict } from "./label.js";
import { isRemark } from "./judged.js";
import "./rubrics.css";

/** How many rubrics are shown at first and added at a time. If there are more, those that are not met come first. */
const RUBRICS_PER_PAGE = 200;

interface Cell {
  score?: RubricScore;
  votes?: RubricVotes;
}

/** The heatmaps of all rubric metrics of a case. */
export function Rubrics({ content }: { content: CaseDetails }) {
  const tables = useMemo(() => tablesOf(content), [content]);
  return (
    <>
      {tables.map((table) => (
        <Heatmap key={table.metric.metricName} table={table} />
      ))}
    </>
  );
}

interface Table {
  metric: EvalMetricResult;
  turns: number;
  rubrics: { id: string; text: string; cells: (Cell | undefined)[]; overall: number | undefined }[];
}

function tablesOf({ result, rubricTexts }: CaseDetails): Table[] {
  const { overallEvalMetricResults, evalMetricResultPerInvocation: turns } = result;
  return overallEvalMetricResults.flatMap((metric, at) => {
    const rubrics = new Map<string, (Cell | undefined)[]>();
    const cellOf = (id: string, turn: number): Cell => {
      const cells = rubrics.get(id) ?? new Array<Cell | undefined>(turns.length).fill(undefined);
      rubrics.set(id, cells);
      return (cells[turn] ??= {});
    };
    for (const [turn, { evalMetricResults }] of turns.entries()) {
      const found = evalMetricResults.find(({ metricName }) => metricName === metric.metricName);
      for (const score of found?.details?.rubricScores ?? []) {
        if (!isRemark(metric.metricName, score)) cellOf(score.rubricId, turn).score = score;
      }
      for (const votes of found?.explanation?.rubrics ?? []) {
        cellOf(votes.rubricId, turn).votes = votes;
      }
    }
    if (rubrics.size === 0) return [];
    const overall = new Map(metric.details?.rubricScores?.map(({ rubricId, score }) => [rubricId, score]));
    const list = Array.from(rubrics, ([id, cells]) => ({
      id,
      text: rubricTexts[at]?.get(id) ?? "",
      cells,
      overall: overall.get(id),
    }));
    const isMet = ({ cells }: (typeof list)[number]) => cells.every((cell) => cell?.score?.score === 1);
    if (list.length > RUBRICS_PER_PAGE) list.sort((a, b) => Number(isMet(a)) - Number(isMet(b)));
    return [{ metric, turns: turns.length, rubrics: list }];
  });
}

/** The status of a rubric by its score. */
function statusOf(score: number | undefined): EvalStatus {
  if (score === undefined) return EvalStatus.NOT_EVALUATED;
  return score === 1 ? EvalStatus.PASSED : EvalStatus.FAILED;
}

const STATUS_TEXTS: ReadonlyMap<EvalStatus, string> = new Map([
  [EvalStatus.PASSED, "met"],
  [EvalStatus.FAILED, "not met"],
  [EvalStatus.NOT_EVALUATED, "no verdict"],
]);

function Heatmap({ table: { metric, turns, rubrics } }: { table: Table }) {
  const selected = useSignal(initialCell(rubrics));
  const limit = useSignal(RUBRICS_PER_PAGE);
  const { rubric: selectedRow, turn } = selected.value;
  const rubric = rubrics[selectedRow];
  const cell = rubric?.cells[turn];
  const status = statusOf(cell?.score?.score);
  return (
    <section class="rubrics">
      <h2>
        Rubrics of <MetricName>{metric.metricName}</MetricName>
      </h2>
      <div class="heatmap-box">
        <div class="scroll" tabIndex={0} role="group" aria-label={`Rubrics of ${metric.metricName}`}>
          <table class="heatmap">
            <thead>
              <tr>
                <th scope="col">Rubric</th>
                {Array.from({ length: turns }, (_, turn) => (
                  <th key={turn} scope="col">
                    Turn {turn + 1}
                  </th>
                ))}
                {turns > 1 && <th scope="col">Share</th>}
              </tr>
            </thead>
            <tbody>
              {rubrics.slice(0, limit.value).map(({ id, text, cells, overall }, row) => (
                <tr key={id}>
                  <th scope="row">
                    <Name>{id}</Name>
                    {text !== "" && <Text fold={160}>{text}</Text>}
                  </th>
                  {cells.map((cell, column) => {
                    const status = statusOf(cell?.score?.score);
                    return (
                      <td key={column}>
                        {cell !== undefined && (
                          <button
                            type="button"
                            class={toneOf(status)}
                            aria-pressed={row === selectedRow && column === turn}
                            onClick={() => {
                              selected.value = { rubric: row, turn: column };
                            }}
                          >
                            <Status of={status} isNamed />
                            <span class="visually-hidden">{STATUS_TEXTS.get(status)}</span>
                            {cell.votes !== undefined && <small>{votesShort(cell.votes)}</small>}
                          </button>
                        )}
                      </td>
                    );
                  })}
                  {turns > 1 && <td class="number">{scoreText(overall)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
          <More limit={limit} total={rubrics.length} step={RUBRICS_PER_PAGE} noun="rubric" />
        </div>
        {rubric !== undefined && cell !== undefined && (
          <div>
            <div class={`rationale ${toneOf(status)}`}>
              <div role="status">
                <p>
                  <b>
                    <Name>{rubric.id}</Name>
                  </b>{" "}
                  in turn {turn + 1}: <span class="tone">{STATUS_TEXTS.get(status)}</span>
                  {cell.votes !== undefined && <span class="muted">, {votesInWords(cell.votes)}</span>}
                </p>
                <Text fold={800}>{cell.score?.rationale ?? "No sample gave a verdict on it."}</Text>
              </div>
              {cell.score?.rationale && <Copy text={cell.score.rationale} what="the rationale" />}
            </div>
            <LabelVerdict
              key={`${rubric.id}/${turn}`}
              turn={turn}
              isLast={turn === turns - 1}
              metricName={metric.metricName}
              rubricId={rubric.id}
            />
          </div>
        )}
      </div>
    </section>
  );
}

/** The cell that is selected at first: one that is not met, if there is any. */
function initialCell(rubrics: Table["rubrics"]): { rubric: number; turn: number } {
  let first: { rubric: number; turn: number } | undefined;
  for (const [rubric, { cells }] of rubrics.entries()) {
    for (const [turn, cell] of cells.entries()) {
      if (cell === undefined) continue;
      first ??= { rubric, turn };
      if (cell.score?.score !== 1) return { rubric, turn };
    }
  }
  return first ?? { rubric: 0, turn: 0 };
}

function votesShort({ yes, no, unscored }: RubricVotes): string {
  return `${yes}/${yes + no + unscored}`;
}

function votesInWords({ yes, no, unscored }: RubricVotes): string {
  const parts = [`${yes} yes`, `${no} no`, ...(unscored > 0 ? [`${unscored} without a verdict`] : [])];
  return parts.join(", ");
}
