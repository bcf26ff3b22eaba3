/**
 * What happened in a turn between the user's words and the response, on the HTML page: texts, tool calls and their
 * outputs in order, behind a disclosure. Judges see these, so what they say of them can be checked here.
 *
 * Linear in the events; at most {@link MOST_EVENTS} are shown, each cut at {@link LONGEST_TEXT}.
 */

import type { FunctionCall, FunctionResponse, Invocation } from "../types.js";
import { clipped, html, LONGEST_TEXT, type Markup, textBox } from "./html-markup.js";
import { callText, count, head, isRecord, valueText } from "./text.js";

const MOST_EVENTS = 200;
/** A call or an output longer than this scrolls in a box of its own. */
const TALL_VALUE = 1200;

type Happening = { author?: string | undefined } & (
  | { kind: "text" | "thought"; text: string }
  | { kind: "call"; call: FunctionCall }
  | { kind: "output"; output: FunctionResponse }
);

const WORDS: Record<Happening["kind"], string> = { text: "Text", thought: "Thought", call: "Call", output: "Output" };

/** What happened in a turn, behind a disclosure; nothing where there is no more to tell than which tools were called. */
export function eventsDetails(invocation: Invocation): Markup | undefined {
  const { happenings, isOrdered } = happeningsOf(invocation);
  if (happenings.every(({ kind }) => kind === "call")) return undefined;
  const areSeveral = new Set(happenings.map(({ author }) => author)).size > 1;
  const items = happenings.slice(0, MOST_EVENTS).map((one, at) => {
    const isNew = areSeveral && one.author !== happenings[at - 1]?.author;
    return happeningItem(one, isNew ? one.author : undefined);
  });
  const counts = (["thought", "text", "call", "output"] as const)
    .map((kind) => ({ kind, times: happenings.filter((one) => one.kind === kind).length }))
    .filter(({ times }) => times > 0)
    .map(({ kind, times }) => count(times, kind));
  const left = happenings.length - items.length;
  const notes = [
    ...(isOrdered ? [] : ["Calls and texts were recorded apart: which came first is not known."]),
    ...(left > 0 ? [`${count(left, "more event")} not shown.`] : []),
  ];
  return html`<details class="events"><summary><svg class="chevron" aria-hidden="true"><use href="#icon-chevron"/></svg> What happened <small>${counts.join(", ")}</small></summary>
<ol>${items}</ol>${notes.map((note) => html`<p class="legend">${note}</p>`)}</details>`;
}

function happeningItem(happening: Happening, author: string | undefined): Markup {
  const by = author === undefined ? undefined : html`<small><bdi>${head(author, 100)}</bdi></small>`;
  return html`<li class="${happening.kind}"><div class="label">${WORDS[happening.kind]}${by}</div>${happeningContent(happening)}</li>
`;
}

function happeningContent(happening: Happening): Markup {
  switch (happening.kind) {
    case "call":
      return valueBox("Call", callText(happening.call, LONGEST_TEXT));
    case "output": {
      const { name, response } = happening.output;
      return valueBox("Output", `${head(name ?? "(unnamed)", 300)} → ${valueText(response ?? null, LONGEST_TEXT)}`);
    }
    default:
      return textBox(WORDS[happening.kind], clipped(happening.text), happening.text.length);
  }
}

function valueBox(label: string, text: string): Markup {
  return text.length > TALL_VALUE
    ? html`<code class="call tall" dir="ltr" tabindex="0" role="group" aria-label="${label}">${text}</code>`
    : html`<code class="call" dir="ltr">${text}</code>`;
}

/** What happened, and whether the order is known: texts may be recorded apart from calls. */
function happeningsOf(invocation: Invocation): { happenings: Happening[]; isOrdered: boolean } {
  const data: unknown = invocation.intermediateData;
  if (!isRecord(data)) return { happenings: [], isOrdered: true };
  if (Array.isArray(data.invocationEvents)) {
    const happenings = data.invocationEvents
      .filter(isRecord)
      .flatMap(({ author, content }) => partsOf(isRecord(content) ? content.parts : undefined, author));
    return { happenings, isOrdered: true };
  }
  const calls = callsWithOutputs(records(data.toolUses), records(data.toolResponses));
  const texts = (Array.isArray(data.intermediateResponses) ? data.intermediateResponses : []).flatMap(
    (response: unknown) => (Array.isArray(response) ? partsOf(response[1], response[0]) : []),
  );
  return { happenings: [...calls, ...texts], isOrdered: calls.length === 0 || texts.length === 0 };
}

function records(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** What the parts of a content tell; parts of other kinds, such as images, are passed over. */
function partsOf(parts: unknown, by: unknown): Happening[] {
  const author = typeof by === "string" && by !== "" ? by : undefined;
  return records(parts).flatMap(({ text, thought, functionCall, functionResponse }): Happening[] => [
    ...(typeof text === "string" && text !== "" ? [{ kind: thought ? "thought" : "text", author, text } as const] : []),
    ...(isRecord(functionCall) ? [{ kind: "call", author, call: functionCall } as const] : []),
    ...(isRecord(functionResponse) ? [{ kind: "output", author, output: functionResponse } as const] : []),
  ]);
}

/** Each call with the output of the same id, or else the first of the same name without one; then what is left. */
function callsWithOutputs(calls: readonly FunctionCall[], outputs: readonly FunctionResponse[]): Happening[] {
  const byName = new Map<string | undefined, FunctionResponse[]>();
  for (const output of outputs) {
    const same = byName.get(output.name);
    if (same) same.push(output);
    else byName.set(output.name, [output]);
  }
  const answered = calls.flatMap((call): Happening[] => {
    const same = byName.get(call.name) ?? [];
    const byId = call.id ? same.findIndex(({ id }) => id === call.id) : -1;
    const at = byId < 0 ? same.findIndex(({ id }) => !id || !call.id) : byId;
    const [output] = at < 0 ? [] : same.splice(at, 1);
    return [{ kind: "call", call }, ...(output ? [{ kind: "output", output } as const] : [])];
  });
  const left = [...byName.values()].flat().map((output): Happening => ({ kind: "output", output }));
  return [...answered, ...left];
}
