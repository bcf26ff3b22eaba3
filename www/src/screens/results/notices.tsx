/** What has to be known before the results are read. */

import { EvalStatus } from "../../enums.js";
import { hrefOf } from "../../route.js";
import { older } from "../../state/opened.js";
import { runProgress } from "../../state/run.js";
import type { RunSummary } from "../../worker/protocol.js";
import { amountText, count } from "../../ui/format.js";
import { sentence } from "../../ui/sentence.js";
import { Status } from "../../ui/status.js";
import { MetricName, Name, Text } from "../../ui/text.js";

/** Cancelled evalsets, the reasons why results are not evaluated, and warnings about the inputs. */
export function Notices({ run }: { run: RunSummary }) {
  const cancelled = run.sets.filter((set) => set.cancelled);
  const warnings = run.sets.flatMap(({ name, warnings = [] }) => warnings.map((warning) => ({ name, warning })));
  const progress = runProgress.value;
  const silent = progress === undefined ? silentMetrics(run) : [];
  const earlier = older.value?.run === run.id ? older.value.count : 0;
  return (
    <>
      {earlier > 0 && (
        <p>
          These are the newest results in the files; {count(earlier, "older run")} {earlier === 1 ? "is" : "are"} under{" "}
          <a href={hrefOf("compare")}>Compare</a>.
        </p>
      )}
      {progress !== undefined && (
        <p role="status">
          The run is in progress: {amountText(progress.reduce((sum, one) => sum + (one?.done ?? 0), 0))} cases are
          scored. <a href={hrefOf("run")}>Watch it</a>
        </p>
      )}
      {cancelled.length > 0 && (
        <div class="notice open" role="note">
          <Status of={EvalStatus.NOT_EVALUATED} />
          <p>
            The run ended early. What had not been scored by then is not evaluated, in{" "}
            {cancelled.map(({ name }, index) => (
              <>
                {index > 0 && ", "}
                <Name>{name}</Name>
              </>
            ))}
            .
          </p>
        </div>
      )}
      {silent.length > 0 && (
        <div class="notice open" role="note">
          <Status of={EvalStatus.NOT_EVALUATED} />
          <div>
            {silent.map(({ metric, reason }) => (
              <p key={metric}>
                <strong>
                  <MetricName>{metric}</MetricName> has no verdict in any case.
                </strong>{" "}
                <Text fold={400}>{sentence(reason)}</Text>
              </p>
            ))}
            <p>
              <a href={hrefOf("criteria")}>Change the judge</a>
            </p>
          </div>
        </div>
      )}
      {run.reasons.length > 0 && (
        <details class="more">
          <summary>Why results are not evaluated</summary>
          <ul class="warnings">
            {run.reasons.map(({ reason, metric, count: times }, index) => (
              <li key={index}>
                <span class="muted">
                  {metric !== undefined && <MetricName>{metric}</MetricName>}, {count(times, "result")}
                </span>
                <Text fold={400}>{reason}</Text>
              </li>
            ))}
          </ul>
        </details>
      )}
      {warnings.length > 0 && (
        <details class="more">
          <summary>{count(warnings.length, "warning")}</summary>
          <ul class="warnings">
            {warnings.map(({ name, warning: { message, path, line, help } }, index) => (
              <li key={index}>
                <span class="muted">
                  <Name>{name}</Name>
                  {line !== undefined && `, line ${line}`}
                  {path !== undefined && (
                    <>
                      {" "}
                      <code>
                        <Name>{path}</Name>
                      </code>
                    </>
                  )}
                </span>
                <Text fold={400}>{help === undefined ? message : `${message}. ${help}`}</Text>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** The metrics without a verdict in any case, as where no judge answered, each with its most frequent reason. */
function silentMetrics(run: RunSummary): { metric: string; reason: string }[] {
  const width = run.metrics.length;
  const { metrics } = run.verdicts;
  return run.metrics.flatMap(({ name }, column) => {
    const reason = run.reasons.find(({ metric }) => metric === name)?.reason;
    if (reason === undefined) return [];
    for (let row = 0; row < run.evalIds.length; row += 1) {
      const status = metrics[row * width + column];
      if (status !== EvalStatus.NOT_EVALUATED && status !== 0) return [];
    }
    return [{ metric: name, reason }];
  });
}
