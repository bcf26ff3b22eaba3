/**
 * What happened in a turn between the user's words and the response, on the HTML page: texts, tool calls and their
 * outputs in order, behind a disclosure. Judges see these, so what they say of them can be checked here.
 *
 * Linear in the events; at most {@link MOST_EVENTS} are shown, each cut at {@link LONGEST_TEXT}.
 */

import type { Invocation } from "../types.js";
import { isNoSource, type SaidOrDone, eventsOf } from "../turn-events.js";
import { clipped, html, LONGEST_TEXT, type Markup, textBox } from "./html-markup.js";
import { callText, count, head, valueText } from "./text.js";

const MOST_EVENTS = 200;
/** A call or an output longer than this scrolls in a box of its own. */
const TALL_VALUE = 1200;

const WORDS: Record<SaidOrDone["kind"], string> = { text: "Text", thought: "Thought", call: "Call", output: "Output" };

/** What happened in a turn, behind a disclosure; nothing if only tools were called. */
export function eventsDetails(invocation: Invocation): Markup | undefined {
  const { events: all, isOrdered } = eventsOf(invocation);
  const events = all.filter(isNoSource);
  if (events.every(({ kind }) => kind === "call")) return undefined;
  const areSeveral = new Set(events.map(({ author }) => author)).size > 1;
  const items = events.slice(0, MOST_EVENTS).map((one, at) => {
    const isNew = areSeveral && one.author !== events[at - 1]?.author;
    return eventItem(one, isNew ? one.author : undefined);
  });
  const counts = (["thought", "text", "call", "output"] as const)
    .map((kind) => ({ kind, times: events.filter((one) => one.kind === kind).length }))
    .filter(({ times }) => times > 0)
    .map(({ kind, times }) => count(times, kind));
  const left = events.length - items.length;
  const notes = [
    ...(isOrdered ? [] : ["Calls and texts were recorded separately, so their order is unknown."]),
    ...(left > 0 ? [`${count(left, "more event")} not shown.`] : []),
  ];
  return html`<details class="events"><summary><svg class="chevron" aria-hidden="true"><use href="#icon-chevron"/></svg> What happened <small>${counts.join(", ")}</small></summary>
<ol>${items}</ol>${notes.map((note) => html`<p class="legend">${note}</p>`)}</details>`;
}

function eventItem(event: SaidOrDone, author: string | undefined): Markup {
  const by = author === undefined ? undefined : html`<small><bdi>${head(author, 100)}</bdi></small>`;
  return html`<li class="${event.kind}"><div class="label">${WORDS[event.kind]}${by}</div>${eventContent(event)}</li>
`;
}

function eventContent(event: SaidOrDone): Markup {
  switch (event.kind) {
    case "call":
      return valueBox("Call", callText(event.call, LONGEST_TEXT));
    case "output": {
      const { name, response } = event.output;
      return valueBox("Output", `${head(name ?? "(unnamed)", 300)} → ${valueText(response ?? null, LONGEST_TEXT)}`);
    }
    default:
      return textBox(WORDS[event.kind], clipped(event.text), event.text.length);
  }
}

function valueBox(label: string, text: string): Markup {
  return text.length > TALL_VALUE
    ? html`<code class="call tall" dir="ltr" tabindex="0" role="group" aria-label="${label}">${text}</code>`
    : html`<code class="call" dir="ltr">${text}</code>`;
}
