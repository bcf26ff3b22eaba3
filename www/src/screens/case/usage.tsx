/** What each turn took: tool calls, model calls, tokens, seconds, as the metrics for information tell. */

import type { EvalCaseResult, EvalMetricResultDetails } from "adk-metrics";
import { amountText } from "../../ui/format.js";

interface Column {
  name: string;
  of(scores: ReadonlyMap<string, number>, details: EvalMetricResultDetails): number | undefined;
}

const COLUMNS: readonly Column[] = [
  { name: "Tool calls", of: (scores) => scores.get("tool_call_count_v1") },
  { name: "Model calls", of: (scores) => scores.get("inference_call_count_v1") },
  { name: "Tokens in", of: (_, { tokenUsageDetails }) => tokenUsageDetails?.inputTokens },
  { name: "cached", of: (_, { tokenUsageDetails }) => tokenUsageDetails?.cachedTokens },
  { name: "Tokens out", of: (_, { tokenUsageDetails }) => tokenUsageDetails?.outputTokens },
  { name: "reasoning", of: (_, { tokenUsageDetails }) => tokenUsageDetails?.reasoningTokens },
  { name: "Tokens", of: (_, { tokenUsageDetails }) => tokenUsageDetails?.totalTokens },
  { name: "Seconds", of: (_, { durationDetails }) => durationDetails?.totalSeconds },
  { name: "in models", of: (_, { durationDetails }) => durationDetails?.modelSeconds },
  { name: "in tools", of: (_, { durationDetails }) => durationDetails?.toolSeconds },
  { name: "elsewhere", of: (_, { durationDetails }) => durationDetails?.frameworkSeconds },
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
  return COLUMNS.map(({ of }) => of(scores, details));
}

export function Usage({ result }: { result: EvalCaseResult }) {
  const rows = result.evalMetricResultPerInvocation.map(({ evalMetricResults }) => amountsOf(evalMetricResults));
  const mean = amountsOf(result.overallEvalMetricResults);
  const columns = COLUMNS.flatMap((column, at) =>
    [mean, ...rows].some((row) => row[at] !== undefined) ? [{ ...column, at }] : [],
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
                {columns.map(({ name, at }) => (
                  <td key={name}>{amountText(row[at])}</td>
                ))}
              </tr>
            ))}
            {rows.length > 1 && (
              <tr>
                <th scope="row">Mean</th>
                {columns.map(({ name, at }) => (
                  <td key={name}>{amountText(mean[at])}</td>
                ))}
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}
