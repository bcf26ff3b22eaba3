/** A turn: what was said, which tools were called, and what the metrics found. */

import type { EvalCaseResult, EvalMetricResult, SampleVote } from "adk-metrics";
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { EvalStatus } from "../../enums.js";
import { head } from "../../ui/format.js";
import { Status } from "../../ui/status.js";
import { visibleText } from "../../ui/text.js";
import type { Matching, Question, TurnContent, TurnDetails } from "../../worker/protocol.js";
import { Calls } from "./calls.js";
import { AgentInstructions, Events } from "./events.js";
import { toggle } from "./folding.js";
import { ContextText, type Highlight, HighlightContext } from "./highlight.js";
import { Judged } from "./judged.js";
import { Responses } from "./responses.js";

interface TurnProps {
  turn: EvalCaseResult["evalMetricResultPerInvocation"][number];
  content: TurnContent;
  details: TurnDetails;
  index: number;
  count: number;
  matchings: readonly Matching[];
  mode: Signal<string | undefined>;
  folded: Signal<ReadonlySet<number>>;
  /** The next turn that did not pass, if this one did not either. */
  nextFailed: number | undefined;
  goToTurn(index: number): void;
  ask(turn: number, metric: EvalMetricResult, vote: SampleVote): Promise<Question | undefined>;
}

export function Turn({ turn, content, details, index, count, matchings, mode, ask, ...place }: TurnProps) {
  const { folded, nextFailed, goToTurn } = place;
  const { actualInvocation: invocation, evalMetricResults: metrics } = turn;
  const { userText, actual, expected } = content;
  const highlight = useSignal<Highlight | undefined>(undefined);
  useSignalEffect(() => {
    if (!highlight.value?.isChosen) return undefined;
    const clearOnEscape = ({ key }: KeyboardEvent) => {
      if (key === "Escape") highlight.value = undefined;
    };
    addEventListener("keydown", clearOnEscape);
    return () => removeEventListener("keydown", clearOnEscape);
  });
  const isFolded = folded.value.has(index);
  const unfold = () => toggle(folded, index, !isFolded);
  const frame = { id: `turn-${index + 1}`, "aria-labelledby": `turn-title-${index + 1}` };
  const title = (
    <h2 id={`turn-title-${index + 1}`} class={count === 1 ? "visually-hidden" : undefined}>
      {count === 1 ? (
        "Turn 1"
      ) : (
        <button type="button" aria-expanded={!isFolded} onClick={unfold}>
          <span aria-hidden="true">{isFolded ? "▸" : "▾"}</span> Turn {index + 1}
          {isFolded && <Status of={EvalStatus.PASSED} />}
        </button>
      )}
    </h2>
  );
  if (isFolded) {
    return (
      <section class="turn folded" {...frame}>
        {title}
        <p>{visibleText(head(userText, 200))}</p>
      </section>
    );
  }
  return (
    <HighlightContext.Provider value={highlight}>
      <section class="turn" {...frame}>
        {count === 1 ? (
          title
        ) : (
          <div class="turn-title">
            {title}
            {nextFailed !== undefined && (
              <button type="button" class="button" aria-keyshortcuts="t" onClick={() => goToTurn(nextFailed)}>
                Next failed turn
              </button>
            )}
          </div>
        )}
        <div class="message user">
          <h3>User</h3>
          <ContextText>{userText}</ContextText>
        </div>
        <Responses
          expected={details.compares.texts ? expected?.text : undefined}
          actual={actual.text}
          metrics={metrics}
        />
        <Calls
          turn={index}
          expected={expected?.calls ?? []}
          actual={actual.calls}
          outputs={details.outputs}
          metrics={metrics}
          matchings={details.compares.calls ? matchings : []}
          mode={mode}
        />
        <div class="turn-lower">
          <Judged
            turn={index}
            isLast={index === count - 1}
            metrics={metrics}
            rationales={details.rationales}
            ask={(metric, vote) => ask(index, metric, vote)}
          />
          <div class="context" tabIndex={0} role="group" aria-label={`What happened in turn ${index + 1}`}>
            <Events details={details} />
            <AgentInstructions invocation={invocation} />
          </div>
        </div>
      </section>
    </HighlightContext.Provider>
  );
}
