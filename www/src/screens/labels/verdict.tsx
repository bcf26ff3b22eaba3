/** The verdict that is to be labelled: what it is about, and what it may be. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { hrefOf } from "../../route.js";
import { labelOf, setLabel } from "../../state/labels.js";
import { amountText, scoreText } from "../../ui/format.js";
import { Status } from "../../ui/status.js";
import { MetricName, Name, Text } from "../../ui/text.js";
import { engine } from "../../worker/client.js";
import type { CaseDetails, PlacedVerdict, TurnContent } from "../../worker/protocol.js";
import { Call } from "../case/calls.js";
import "../case/calls.css";
import { names } from "../results/view.js";
import { answersOf } from "./answers.js";
import { at, give, isBlind, order, queue, step, takeBack } from "./queue.js";

/** What each metric scores, by its name. */
const descriptions = new Map<string, string>();

export function Verdict({ run, verdict }: { run: string; verdict: PlacedVerdict }) {
  const { row, turn, metricName, rubricId, rule, scale } = verdict;
  const content = useSignal<CaseDetails | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const about = useSignal(descriptions.get(metricName) ?? "");
  useEffect(() => {
    let isCurrent = true;
    void engine.caseAt(run, row).then((outcome) => {
      if (!isCurrent) return;
      if (outcome.ok) content.value = outcome.value;
      else problem.value = outcome.problem.message;
    });
    if (descriptions.size === 0) {
      void engine.metrics().then((outcome) => {
        if (!outcome.ok) return;
        for (const { metricName: name, description } of outcome.value) descriptions.set(name, description ?? "");
        about.value = descriptions.get(metricName) ?? "";
      });
    }
    return () => {
      isCurrent = false;
    };
  }, []);
  return (
    <article>
      <header>
        <p class="label-place">
          <a href={hrefOf("case", row)}>
            <Name>{names.value[row] ?? ""}</Name>
          </a>
          {turn !== undefined && `, turn ${turn}`}
        </p>
        <h2>
          <MetricName>{metricName}</MetricName>
          {rubricId !== undefined && (
            <>
              {": "}
              <Name>{rubricId}</Name>
            </>
          )}
        </h2>
        {rule !== undefined ? <Text fold={1200}>{rule}</Text> : about.value !== "" && <p>{about.value}</p>}
      </header>
      {problem.value !== undefined && <p class="notice failed">{problem.value}</p>}
      {content.value !== undefined && <Conversation turns={content.value.turns} last={turn} />}
      {!isBlind.value && <Judge verdict={verdict} />}
      <footer>
        <p id="label-question">
          {rubricId !== undefined
            ? "Is the rubric met?"
            : scale === undefined
              ? "Should it pass?"
              : `Which score, from ${scale.least} to ${scale.most}?`}
        </p>
        <div class="label-row">
          <Answers verdict={verdict} />
          <Steps />
        </div>
        <Comment verdict={verdict} />
      </footer>
    </article>
  );
}

function Answers({ verdict }: { verdict: PlacedVerdict }) {
  const given = labelOf(verdict);
  return (
    <div class="label-answers" role="group" aria-labelledby="label-question">
      {answersOf(verdict).map(({ key, label, word }) => (
        <button
          key={key}
          type="button"
          class="button"
          aria-pressed={given?.label === label}
          aria-keyshortcuts={key}
          onClick={() => give(label, word)}
        >
          {typeof label === "boolean" && <Status of={label ? EvalStatus.PASSED : EvalStatus.FAILED} isNamed />}
          {word}
          {word !== key && <kbd>{key}</kbd>}
        </button>
      ))}
      {given?.label !== undefined && (
        <button type="button" class="button" data-kind="quiet" onClick={takeBack}>
          Remove the label
        </button>
      )}
      {given?.label !== undefined && order.value === "random" && given.chosen === "doubtful" && (
        <p class="muted">Labelled outside this sample: give the label again to count it here.</p>
      )}
    </div>
  );
}

function Comment({ verdict }: { verdict: PlacedVerdict }) {
  return (
    <label class="label-comment">
      <span>
        Comment <kbd>c</kbd>
      </span>
      <input
        id="label-comment"
        class="field"
        aria-keyshortcuts="c"
        value={labelOf(verdict)?.comment ?? ""}
        onInput={({ currentTarget }) => setLabel(verdict, { comment: currentTarget.value })}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Enter" || key === "Escape") currentTarget.blur();
        }}
      />
    </label>
  );
}

function Steps() {
  const last = (queue.value?.verdicts.length ?? 0) - 1;
  return (
    <p class="label-steps">
      <button
        type="button"
        class="button"
        disabled={at.value === 0}
        aria-keyshortcuts="ArrowLeft"
        onClick={() => step(-1)}
      >
        <span aria-hidden="true">←</span> Previous
      </button>
      <button
        type="button"
        class="button"
        disabled={at.value >= last}
        aria-keyshortcuts="ArrowRight"
        onClick={() => step(1)}
      >
        Skip <span aria-hidden="true">→</span>
      </button>
    </p>
  );
}

/** What the judge says, where it may be seen. */
function Judge({ verdict: { judge, rationale, rubricId, scale } }: { verdict: PlacedVerdict }) {
  const [yes, no] = rubricId === undefined ? ["pass", "fail"] : ["met", "not met"];
  return (
    <section class="label-judge" aria-label="The judge">
      <p>
        <Status of={judge.passes ? EvalStatus.PASSED : EvalStatus.FAILED} isNamed /> The judge says:{" "}
        <b>{scale !== undefined && judge.score !== undefined ? scoreText(judge.score) : judge.passes ? yes : no}</b>
      </p>
      {rationale !== undefined && <Text fold={600}>{rationale}</Text>}
    </section>
  );
}

interface ConversationProps {
  turns: readonly TurnContent[];
  /** The turn that is judged, counted from 1; the whole conversation without one. */
  last: number | undefined;
}

function Conversation({ turns, last }: ConversationProps) {
  const judged = last === undefined ? turns : turns.slice(last - 1, last);
  const earlier = last === undefined ? [] : turns.slice(0, last - 1);
  return (
    <>
      {earlier.length > 0 && (
        <details class="label-earlier">
          <summary>
            {earlier.length === 1 ? "The turn before" : `The ${amountText(earlier.length)} turns before`}
          </summary>
          {earlier.map((turn, index) => (
            <Turn key={index} turn={turn} />
          ))}
        </details>
      )}
      {judged.map((turn, index) => (
        <Turn key={index} turn={turn} />
      ))}
    </>
  );
}

function Turn({ turn: { userText, actual, expected } }: { turn: TurnContent }) {
  return (
    <div class="label-turn">
      <h3>User</h3>
      <Text fold={1500}>{userText}</Text>
      <div class="label-sides">
        {expected !== undefined && (expected.text !== "" || expected.calls.length > 0) && (
          <Side title="Expected" side={expected} />
        )}
        <Side title="Agent" side={actual} />
      </div>
    </div>
  );
}

/** The most calls of a turn that are shown here; the case itself shows all. */
const MAX_CALLS = 20;

function Side({ title, side: { text, calls } }: { title: string; side: TurnContent["actual"] }) {
  return (
    <div>
      <h3>{title}</h3>
      {text === "" ? <p class="muted">No text</p> : <Text fold={3000}>{text}</Text>}
      {calls.length > 0 && (
        <ol class="plain-calls" aria-label={`Tool calls, ${title}`}>
          {calls.slice(0, MAX_CALLS).map((call, index) => (
            <li key={index}>
              <Call call={call} index={index} />
            </li>
          ))}
        </ol>
      )}
      {calls.length > MAX_CALLS && <p class="muted">and {amountText(calls.length - MAX_CALLS)} more calls</p>}
    </div>
  );
}
