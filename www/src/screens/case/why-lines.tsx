import type { WhyNotPassed } from "adk-metrics/report";
import { scoreText } from "../../ui/format.js";
import { Status, toneOf } from "../../ui/status.js";
import { MetricName, Text } from "../../ui/text.js";
import type { CaseDetails } from "../../worker/protocol.js";

/** Why a case did not pass: a line for each metric. */
export function WhyLines({ content: { why, result } }: { content: CaseDetails }) {
  // A run that failed says so itself.
  const shown = why.filter(({ differences }) => differences.join() !== result.reason);
  if (shown.length === 0) return null;
  return (
    <ul class="why" role="list" aria-label="Why it did not pass">
      {shown.map(({ metricName, evalStatus, differences, ...rest }) => (
        <li key={metricName} class={toneOf(evalStatus)}>
          <Status of={evalStatus} />
          <p>
            <b>
              <MetricName>{metricName}</MetricName>
            </b>{" "}
            <span class="muted">{[...scoreTexts(rest), ...turnTexts(rest)].join(", ")}</span>
          </p>
          {differences.length > 0 && <Text fold={400}>{differences.join("\n")}</Text>}
        </li>
      ))}
    </ul>
  );
}

/** `needs 1, got 0.000`; nothing without a score. */
function scoreTexts({ score, threshold }: Pick<WhyNotPassed, "score" | "threshold">): string[] {
  return score === undefined || threshold === undefined
    ? []
    : [`needs ${threshold}, got ${scoreText(score, threshold)}`];
}

/** `in turns 1, 3` */
function turnTexts({ turns }: Pick<WhyNotPassed, "turns">): string[] {
  if (turns.length === 0) return [];
  return turns.length > 5
    ? [`in ${turns.length} turns`]
    : [`in turn${turns.length === 1 ? "" : "s"} ${turns.join(", ")}`];
}
