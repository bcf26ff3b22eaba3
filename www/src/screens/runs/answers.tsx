/** What each run answered in one case, side by side. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { hrefOf } from "../../route.js";
import type { RunEntry } from "../../state/runs.js";
import { summary } from "../../state/run.js";
import { differences, matrix, shownCases } from "../../state/side-by-side.js";
import { amountText, head, scoreText } from "../../ui/format.js";
import { sentence } from "../../ui/sentence.js";
import { nameOf, Status, toneOf } from "../../ui/status.js";
import { MetricName, Name, Text, visibleText } from "../../ui/text.js";
import { Title } from "../../ui/title.js";
import { engine } from "../../worker/client.js";
import type { CaseInRun, TurnContent } from "../../worker/protocol.js";
import { Call } from "../case/calls.js";
import "../case/calls.css";

interface AnswersProps {
  runs: readonly RunEntry[];
  evalSetId: string;
  evalId: string;
}

export function Answers({ runs, evalSetId, evalId }: AnswersProps) {
  const found = useSignal<readonly CaseInRun[] | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    const ids = runs.map(({ id }) => id);
    void engine.caseIn(ids, evalSetId, evalId).then((outcome) => {
      if (!isCurrent) return;
      if (outcome.ok) found.value = outcome.value;
      else problem.value = outcome.problem.message;
    });
    document.title = `${head(visibleText(evalId), 100)} – adk-metrics`;
    return () => {
      isCurrent = false;
    };
  }, [runs, evalSetId, evalId]);
  const turns = Math.max(0, ...(found.value ?? []).map(({ repetitions: [first] }) => first?.turns.length ?? 0));
  return (
    <div class="runs answers">
      <Neighbours evalSetId={evalSetId} evalId={evalId} />
      <Title>
        <Name>{evalId}</Name>
      </Title>
      {problem.value !== undefined && <p class="failed">{problem.value}</p>}
      <div class="wide" tabIndex={0} role="group" aria-label="Answers of the runs, table">
        <table style={{ "--runs": runs.length }}>
          <thead>
            <tr>
              {runs.map((run, at) => (
                <Head key={run.id} run={run} beside={runs} found={found.value?.[at]} />
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: turns }, (_, turn) => (
              <Turn
                key={turn}
                index={turn}
                isOnly={turns === 1}
                inRuns={(found.value ?? []).map(({ repetitions: [first] }) => first?.turns[turn])}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Head({ run, beside, found }: { run: RunEntry; beside: readonly RunEntry[]; found: CaseInRun | undefined }) {
  const [first, ...others] = found?.repetitions ?? [];
  const passed = found?.repetitions.filter(({ evalStatus }) => evalStatus === 1).length ?? 0;
  return (
    <th scope="col">
      <Name>{run.name}</Name>
      {differences(run, beside).map((text) => (
        <p key={text} class="muted">
          <Name>{text}</Name>
        </p>
      ))}
      {found !== undefined && first === undefined && <p class="muted">This run does not have the case.</p>}
      {first !== undefined && (
        <>
          <p class={`tone ${toneOf(first.evalStatus)}`}>
            <Status of={first.evalStatus} isNamed /> {nameOf(first.evalStatus)}
            {others.length > 0 && `, first of ${others.length + 1} repetitions, of which ${passed} passed`}
          </p>
          {first.reason !== undefined && <Text fold={300}>{sentence(first.reason)}</Text>}
          <ul role="list">
            {first.metrics.map(({ metricName, evalStatus, score, threshold }) => (
              <li key={metricName}>
                <Status of={evalStatus} /> <MetricName>{metricName}</MetricName> {scoreText(score, threshold)}
              </li>
            ))}
          </ul>
          {summary.value?.id === run.id && <a href={hrefOf("case", first.row)}>Open the case</a>}
        </>
      )}
    </th>
  );
}

function Turn(props: { index: number; isOnly: boolean; inRuns: readonly (TurnContent | undefined)[] }) {
  const { index, isOnly, inRuns } = props;
  const any = inRuns.find((one) => one !== undefined);
  const expected = inRuns.find((one) => one?.expected !== undefined)?.expected;
  return (
    <>
      <tr class="question-row">
        <td colSpan={inRuns.length}>
          <h2 class={isOnly ? "visually-hidden" : undefined}>Turn {index + 1}</h2>
          <h3>User</h3>
          <Text>{any?.userText ?? ""}</Text>
          {expected !== undefined && expected.text !== "" && (
            <>
              <h3>Expected response</h3>
              <Text>{expected.text}</Text>
            </>
          )}
        </td>
      </tr>
      <tr>
        {inRuns.map((content, run) => (
          <td key={run}>
            {content === undefined ? (
              <p class="muted">No such turn</p>
            ) : (
              <>
                {content.actual.text === "" ? <p class="muted">No text</p> : <Text>{content.actual.text}</Text>}
                {content.actual.calls.length > 0 && (
                  <ol class="plain-calls" aria-label="Tool calls">
                    {content.actual.calls.slice(0, MAX_CALLS).map((call, at) => (
                      <li key={at}>
                        <Call call={call} index={at} />
                      </li>
                    ))}
                  </ol>
                )}
                {content.actual.calls.length > MAX_CALLS && (
                  <p class="muted">and {amountText(content.actual.calls.length - MAX_CALLS)} more calls</p>
                )}
              </>
            )}
          </td>
        ))}
      </tr>
    </>
  );
}

/** The most calls of a turn that are shown here; the case itself shows all. */
const MAX_CALLS = 40;

/** Links to the cases before and after, as they are filtered. */
function Neighbours({ evalSetId, evalId }: { evalSetId: string; evalId: string }) {
  const now = matrix.value;
  const rows = shownCases.value;
  const at = rows.findIndex((row) => now?.evalIds[row] === evalId && now.evalSetIds[row] === evalSetId);
  const link = (position: number, name: string, arrow: string) => {
    const row = at < 0 ? undefined : rows[position];
    const href = row === undefined ? undefined : hrefOf("runs", now?.evalSetIds[row] ?? "", now?.evalIds[row] ?? "");
    return (
      <a class="button" {...(href === undefined ? { role: "link", "aria-disabled": true } : { href })}>
        {arrow === "←" && <span aria-hidden="true">←</span>} {name}
        {arrow === "→" && <span aria-hidden="true">→</span>}
      </a>
    );
  };
  return (
    <nav class="neighbours" aria-label="Cases">
      <a href={hrefOf("runs")}>Runs side by side</a>
      {link(at - 1, "Previous", "←")}
      {link(at + 1, "Next", "→")}
    </nav>
  );
}
