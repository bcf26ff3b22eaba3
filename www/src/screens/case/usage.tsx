/** The usage of each turn: tool calls, model calls, tokens and seconds, from the informational metrics. */

import type { EvalCaseResult, EvalMetricResultDetails } from "adk-metrics";
import { amountText } from "../../ui/format.js";
import "./usage.css";

interface Column {
  name: string;
  valueOf(scores: ReadonlyMap<string, number>, details: EvalMetricResultDetails): number | undefined;
}

const COLUMNS: readonly Column[] = [
  { name: "Tool calls", valueOf: (scores) => scores.get("tool_call_count_v1") },
  { name: "Model calls", valueOf: (scores) => scores.get("inference_call_count_v1") },
  { name: "Tokens in", valueOf: (_, { tokenUsageDetails }) => tokenUsageDetails?.inputTokens },
  { name: "cached", valueOf: (_, { tokenUsageDetails }) => tokenUsageDetails?.cachedTokens },
  { name: "Tokens out", valueOf: (_, { tokenUsageDetails }) => tokenUsageDetails?.outputTokens },
  { name: "reasoning", valueOf: (_, { tokenUsageDetails }) => tokenUsageDetails?.reasoningTokens },
  { name: "Tokens", valueOf: (_, { tokenUsageDetails }) => tokenUsageDetails?.totalTokens },
  { name: "Seconds", valueOf: (_, { durationDetails }) => durationDetails?.totalSeconds },
  { name: "in models", valueOf: (_, { durationDetails }) => durationDetails?.modelSeconds },
  { name: "in tools", valueOf: (_, { durationDetails }) => durationDetails?.toolSeconds },
  { name: "elsewhere", valueOf: (_, { durationDetails }) => durationDetails?.frameworkSeconds },
];

type Results = EvalCaseResult["overallEvalMetricResults"];

function amountsOf(results: Results): (number | undefined)[] {
  const scores = new Map(
    results.flatMap(({ metricName, score }) => (score === undefined ? [] : [[metricName, score]])),
  );
  const details: EvalMetricResultDetails = {};
  for (const { details: own } of results) {
    if (own?.tokenUsageDetails) details.tokenUsageDetails = own.tokenUsageDetails;
    if (own?.durationDetails) details.durationDetails = own.durationDetails;
  }
  return COLUMNS.map(({ valueOf }) => valueOf(scores, details));
}

export function Usage({ result }: { result: EvalCaseResult }) {
  const rows = result.evalMetricResultPerInvocation.map(({ evalMetricResults }) => amountsOf(evalMetricResults));
  const mean = amountsOf(result.overallEvalMetricResults);
  const columns = COLUMNS.flatMap((column, index) =>
    [mean, ...rows].some((row) => row[index] !== undefined) ? [{ ...column, at: index }] : [],
  );
  if (columns.length === 0) return null;
  return (
    <section>
      <h2>Calls, tokens and time</h2>
      <div class="scroll" tabIndex={0} role="group" aria-label="Calls, tokens and time">
        <table class="usage">
          <thead>
            <tr>
              <td />
              {columns.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, turn) => (
              <tr key={turn}>
                <th scope="row">Turn {turn + 1}</th>
                {columns.map(({ name, at: index }) => (
                  <td key={name}>{amountText(row[index])}</td>
                ))}
              </tr>
            ))}
            {rows.length > 1 && (
              <tr>
                <th scope="row">Mean</th>
                {columns.map(({ name, at: index }) => (
                  <td key={name}>{amountText(mean[index])}</td>
                ))}
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}
