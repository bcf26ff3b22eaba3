/**
 * What agents did, from their OpenTelemetry traces: the spans of google-adk, ADK-TS and `@google/adk`, and those of
 * anything else that follows the `gen_ai` semantic conventions. A turn is what happens inside of an outermost span of an
 * agent; without one, inside of a trace. Turns belong together by the id of their conversation. O(n log n).
 */

import { hosted } from "../engine/hosted.js";
import { unexpected } from "../engine/values.js";
import { optionsOf } from "../known-options.js";
import { exactly, rounded } from "./integers.js";
import { isUnheard, mayDiffer, nameless, noModel, runOf, type TracedRun } from "./invocations.js";
import { readTelemetry, wrong } from "./otlp.js";
import { unusedIds } from "./sessions.js";
import { conversationsOf } from "./turns.js";

export type { TracedRun } from "./invocations.js";

/** A conversation that was traced. */
export interface TracedConversation {
  /** Its id; that of the trace where the spans say none. */
  sessionId: string;
  /** The ids of its traces, in order. */
  traceIds: string[];
  /** The attributes of the outermost span of its first turn. */
  attributes: Record<string, unknown>;
}

/** How to read traces. */
export interface TraceOptions {
  /** Which case a conversation is a run of, by the conversation's id. Default: the case with the same id. Of an id that no conversation has, a run warns. */
  evalIds?: Readonly<Record<string, string>> | ((conversation: TracedConversation) => string | undefined);
  /** Is told what these traces cannot show although nothing in them suggests it. Default: `console.warn`, each text once. */
  onNotice?(notice: string): void;
}

/**
 * What agents did, as `evaluate` takes it for `actual`. Integers beyond 2^53 are rounded; `tracesToJson` keeps them.
 *
 * google-adk 2 traces what the model answered. If an `after_model_callback` changed the last answer of a conversation, no
 * trace shows it, and the model's answer is read; `onNotice` is called.
 *
 * @param traces OTLP in JSON: an export request of spans or log records, or a list of them, as an object, text, bytes, or
 *   lines of text as the collector's file exporter writes them.
 * @throws {AdkMetricsError} `invalid_json` or `invalid_input` with the place; also if the messages were not captured,
 *   with the setting that captures them.
 *
 * @example
 * await evaluate({ evalSet, actual: readTraces(await readFile("traces.jsonl")) });
 */
export function readTraces(traces: string | Uint8Array | object, options: TraceOptions = {}): TracedRun[] {
  return rounded(runsOf(traces, options)).map((run) => ({
    ...run,
    inferences: run.inferences.map(hosted),
  }));
}

/**
 * The same as JSON text, with integers of any size as they were.
 *
 * @throws {AdkMetricsError} as `readTraces`.
 */
export function tracesToJson(traces: string | Uint8Array | object, options: TraceOptions = {}): string {
  return exactly(runsOf(traces, options));
}

const said = new Set<string>();

function sayOnce(notice: string): void {
  if (!said.has(notice)) console.warn(`adk-metrics: ${notice}`);
  said.add(notice);
}

function runsOf(traces: unknown, options: TraceOptions): TracedRun[] {
  const { evalIds = {}, onNotice = sayOnce } = optionsOf(options, ["evalIds", "onNotice"]);
  if (typeof onNotice !== "function") throw unexpected("a function", onNotice, "options: onNotice");
  const { conversations, moments, capture } = conversationsOf(readTelemetry(traces));
  if (conversations.size === 0) {
    for (const log of capture.unplaced.values()) throw nameless(log);
    const help = "Export the spans of the agent: invoke_agent, chat or generate_content, and execute_tool";
    throw wrong({ path: "traces" }, "there are no spans of an agent or a model", help);
  }
  const turns = [...conversations.values()].flat();
  if (turns.every(isUnheard)) throw noModel(turns[0] as (typeof turns)[number]);
  const runs = [...conversations].map(([sessionId, turns]) => {
    const ofFirst = (turns[0]?.outer ?? turns[0]?.nodes[0])?.span.attributes ?? [];
    const conversation: TracedConversation = {
      sessionId,
      traceIds: [...new Set(turns.map(({ traceId }) => traceId))],
      attributes: Object.fromEntries(ofFirst),
    };
    const mapped = typeof evalIds === "function" ? evalIds(rounded(conversation)) : idOf(evalIds, sessionId);
    return { ...runOf(mapped ?? sessionId, sessionId, turns, moments), mayDiffer: mayDiffer(turns) };
  });
  // Where a callback changed an answer that is known, it may have changed others. Once for all: nothing tells which.
  const first = runs.find((one) => one.mayDiffer)?.run;
  const unused =
    typeof evalIds === "function" ? undefined : unusedIds(evalIds, [...conversations.keys()], "conversation");
  const [run] = runs;
  if (unused !== undefined && run !== undefined) {
    run.run.warnings = [...(run.run.warnings ?? []), `${unused.message}. ${unused.help}`];
  }
  if (first !== undefined) {
    if (runs.some(({ isChanged }) => isChanged)) first.warnings = [...(first.warnings ?? []), MAY_DIFFER];
    // No warning: strict evaluations would refuse all traces of google-adk 2.
    else onNotice(NOT_SHOWN);
  }
  return runs.map(({ run }) => run);
}

const NOT_SHOWN =
  "google-adk traces what the model answers: if an after_model_callback changed the last answer of a conversation, the traces do not show it, and the model's answer is scored";

const MAY_DIFFER =
  "a callback changed answers in these traces; they do not show whether it also changed the last answer of a conversation";

function idOf(ids: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(ids, key) ? ids[key] : undefined;
}
