/** What happened in a turn, and what its agents were told: the context that judges see. */

import type { Invocation } from "adk-metrics";
import { useContext, useMemo } from "preact/hooks";
import { count } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { Name } from "../../ui/text.js";
import { finderIn } from "./excerpt.js";
import { briefingsOf, type Happening, happeningsOf, jsonOf } from "./model.js";
import { ContextText, ContextValue, Pointing } from "./pointing.js";
import { useSignal } from "@preact/signals";

/** Events shown at first, and with each further press. */
const SOME = 100;

const WORDS: Readonly<Record<Happening["kind"], string>> = {
  text: "Said on the way",
  thought: "Thought",
  call: "Called",
  output: "Got",
  sources: "Sources",
};

export function Events({ invocation }: { invocation: Invocation }) {
  const { happenings, isOrdered } = useMemo(() => happeningsOf(invocation), [invocation]);
  const most = useSignal(SOME);
  if (happenings.length === 0) return null;
  const areSeveral = new Set(happenings.map(({ author }) => author)).size > 1;
  return (
    <section class="events">
      <h3>What happened</h3>
      {!isOrdered && <p class="muted">Calls and texts were recorded apart: which came first is not known.</p>}
      <ol>
        {happenings.slice(0, most.value).map((one, at) => (
          <li key={at} class={`event ${one.kind}`}>
            <p class="event-kind">
              {WORDS[one.kind]}
              {one.kind === "call" && (
                <>
                  {" "}
                  <b>
                    <Name>{one.call.name ?? "(unnamed)"}</Name>
                  </b>
                </>
              )}
              {one.kind === "output" && one.output.name !== undefined && (
                <>
                  {" from "}
                  <b>
                    <Name>{one.output.name}</Name>
                  </b>
                </>
              )}
              {areSeveral && one.author !== undefined && (
                <span class="muted">
                  {" by "}
                  <Name>{one.author}</Name>
                </span>
              )}
              {one.usage !== undefined && <span class="event-usage">{one.usage}</span>}
            </p>
            <EventBody of={one} />
          </li>
        ))}
      </ol>
      <More most={most} total={happenings.length} step={5 * SOME} noun="event" />
    </section>
  );
}

function EventBody({ of: one }: { of: Happening }) {
  switch (one.kind) {
    case "call":
      return one.call.args === undefined || one.call.args === null ? (
        <p class="muted">no arguments</p>
      ) : (
        <ContextValue value={one.call.args} />
      );
    case "output":
      return <ContextValue value={one.output.response ?? null} />;
    case "sources":
      return <ContextValue value={one.sources} />;
    default:
      return <ContextText fold={800}>{one.text}</ContextText>;
  }
}

/** The instructions and tools of the agents; opened where they hold what is pointed at. */
export function Briefings({ invocation }: { invocation: Invocation }) {
  const briefings = useMemo(() => briefingsOf(invocation), [invocation]);
  const pointed = useContext(Pointing).value;
  const finders = useMemo(
    () => briefings.flatMap(({ instructions, tools }) => [finderIn(instructions), finderIn(jsonOf(tools ?? null))]),
    [briefings],
  );
  const holds = pointed?.isChosen === true && finders.some((find) => find(pointed.excerpt) !== undefined);
  if (briefings.length === 0) return null;
  return (
    <details class="more briefings" open={holds}>
      <summary>Instructions and tools of {count(briefings.length, "agent")}</summary>
      {briefings.map(({ name, instructions, tools }) => (
        <section key={name}>
          <h4>
            <Name>{name}</Name>
          </h4>
          {instructions !== "" && <ContextText fold={800}>{instructions}</ContextText>}
          {tools !== undefined && <ContextValue value={tools} fold={400} />}
        </section>
      ))}
    </details>
  );
}
