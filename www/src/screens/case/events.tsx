/** The events of a turn, and the instructions and tools of its agents: the context that judges see. */

import type { Invocation, TurnEvent } from "adk-metrics";
import { useContext, useMemo } from "preact/hooks";
import { count } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { Name } from "../../ui/text.js";
import { createFinder } from "./excerpt.js";
import type { TurnDetails } from "../../worker/protocol.js";
import { agentsOf, jsonOf, usageText } from "./model.js";
import { ContextText, ContextValue, HighlightContext } from "./highlight.js";
import { useSignal } from "@preact/signals";
import "./events.css";

/** How many events are shown at first; five times as many are added at a time. */
const EVENTS_PER_PAGE = 100;

const EVENT_NAMES: Readonly<Record<TurnEvent["kind"], string>> = {
  text: "Intermediate text",
  thought: "Thought",
  call: "Called",
  output: "Got",
  sources: "Sources",
};

export function Events({ details: { events, isOrdered } }: { details: TurnDetails }) {
  const limit = useSignal(EVENTS_PER_PAGE);
  if (events.length === 0) return null;
  const hasSeveralAuthors = new Set(events.map(({ author }) => author)).size > 1;
  return (
    <section class="events">
      <h3>What happened</h3>
      {!isOrdered && <p class="muted">Calls and texts were recorded separately, so their order is unknown.</p>}
      <ol>
        {events.slice(0, limit.value).map((event, index) => (
          <li key={index} class={`event ${event.kind}`}>
            <p class="event-kind">
              {EVENT_NAMES[event.kind]}
              {event.kind === "call" && (
                <>
                  {" "}
                  <b>
                    <Name>{event.call.name ?? "(unnamed)"}</Name>
                  </b>
                </>
              )}
              {event.kind === "output" && event.output.name !== undefined && (
                <>
                  {" from "}
                  <b>
                    <Name>{event.output.name}</Name>
                  </b>
                </>
              )}
              {hasSeveralAuthors && event.author !== undefined && (
                <span class="muted">
                  {" by "}
                  <Name>{event.author}</Name>
                </span>
              )}
              {usageText(event) !== "" && <span class="event-usage">{usageText(event)}</span>}
            </p>
            <EventBody of={event} />
          </li>
        ))}
      </ol>
      <More limit={limit} total={events.length} step={5 * EVENTS_PER_PAGE} noun="event" />
    </section>
  );
}

function EventBody({ of: event }: { of: TurnEvent }) {
  switch (event.kind) {
    case "call":
      return event.call.args === undefined || event.call.args === null ? (
        <p class="muted">no arguments</p>
      ) : (
        <ContextValue value={event.call.args} />
      );
    case "output":
      return <ContextValue value={event.output.response ?? null} />;
    case "sources":
      return <ContextValue value={event.groundingMetadata} />;
    default:
      return <ContextText fold={800}>{event.text}</ContextText>;
  }
}

/** The instructions and tools of the agents; opened if they contain the chosen excerpt. */
export function AgentInstructions({ invocation }: { invocation: Invocation }) {
  const agents = useMemo(() => agentsOf(invocation), [invocation]);
  const highlight = useContext(HighlightContext).value;
  const finders = useMemo(
    () =>
      agents.flatMap(({ instructions, tools }) => [createFinder(instructions), createFinder(jsonOf(tools ?? null))]),
    [agents],
  );
  const hasHighlight = highlight?.isChosen === true && finders.some((find) => find(highlight.excerpt) !== undefined);
  if (agents.length === 0) return null;
  return (
    <details class="more agent-instructions" open={hasHighlight}>
      <summary>Instructions and tools of {count(agents.length, "agent")}</summary>
      {agents.map(({ name, instructions, tools }) => (
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
