/** How the runs of a case ended that was run repeatedly, and what that tells of the next ones. */

import { Name } from "../../ui/text.js";
import type { Repetition } from "../../worker/protocol.js";

type Ended = Pick<Repetition, "runs" | "passed" | "passAtK" | "passHatK">;

export function Repeated({ of }: { of: Repetition }) {
  const { notEvaluated, isFlaky, flaky } = of;
  return (
    <>
      <p class="muted">
        <span>
          {isFlaky && "Flaky: "}
          {endedText(of)}
          {notEvaluated > 0 && `, ${notEvaluated} not evaluated`}
        </span>
      </p>
      {flaky.map((metric) => (
        <p key={metric.metricName} class="muted">
          <span>
            <Name>{metric.metricName}</Name>: {endedText(metric)}
          </span>
        </p>
      ))}
    </>
  );
}

/** `2 of 3 runs pass (pass@2 100%, pass^2 33%)` */
function endedText({ runs, passed, passAtK, passHatK }: Ended): string {
  const text = `${passed} of ${runs} runs pass`;
  const [some, every] = [passAtK[1], passHatK[1]];
  if (some === undefined || every === undefined) return text;
  return `${text} (pass@2 ${Math.round(100 * some)}%, pass^2 ${Math.round(100 * every)}%)`;
}
