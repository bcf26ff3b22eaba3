/** The verdicts on a case, beside its turns: each metric, and a list of the turns with what failed in them. */

import type { EvalCaseResult } from "adk-metrics";
import { EvalStatus } from "../../enums.js";
import { scoreText } from "../../ui/format.js";
import { Status, toneOf } from "../../ui/status.js";
import { MetricName, Text } from "../../ui/text.js";

interface VerdictsProps {
  result: EvalCaseResult;
  /** Shows a turn, and moves to it. */
  goToTurn(index: number): void;
}

/** The result of every metric for the whole case. */
export function Verdicts({ result, goToTurn }: VerdictsProps) {
  const judged = result.overallEvalMetricResults.filter(({ evalStatus }) => evalStatus !== EvalStatus.INFORMATIONAL);
  return (
    <aside class="verdicts" aria-label="Verdicts">
      <ul>
        {judged.map(({ metricName, evalStatus, score, threshold, reason }) => (
          <li key={metricName} class={toneOf(evalStatus)}>
            <Status of={evalStatus} />
            <span>
              <MetricName>{metricName}</MetricName>
            </span>
            <span class="number">
              {score === undefined ? "–" : scoreText(score, threshold)}
              {threshold !== undefined && <span class="muted"> ≥ {threshold}</span>}
            </span>
            {reason !== undefined && (
              <div class="reason">
                <Text fold={300}>{reason}</Text>
              </div>
            )}
          </li>
        ))}
      </ul>
      {result.evalMetricResultPerInvocation.length > 1 && (
        <ol class="turn-list" aria-label="Turns">
          {result.evalMetricResultPerInvocation.map(({ evalMetricResults }, index) => (
            <li key={index}>
              <button type="button" onClick={() => goToTurn(index)}>
                Turn {index + 1}
              </button>
              {evalMetricResults
                .filter(({ evalStatus }) => evalStatus === EvalStatus.FAILED)
                .map(({ metricName, evalStatus }) => (
                  <span key={metricName} class={toneOf(evalStatus)} title={metricName}>
                    <Status of={evalStatus} />
                  </span>
                ))}
            </li>
          ))}
        </ol>
      )}
    </aside>
  );
}
