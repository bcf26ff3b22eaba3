/** A run of an agent as an inference result: each turn as an invocation. */

import { detailsOf, isTextless, textlessWarning } from "../agents/observe.js";
import { TurnRecorder } from "../agents/record.js";
import type { AdkMetricsError } from "../errors.js";
import type { Content, Invocation } from "../types.js";
import { asksTools, isOfAdk, isSilent, nameOf } from "./calls.js";
import { isMessage } from "./events.js";
import { traceEventsOf, unasked } from "./trace-events.js";
import { type Exchange, exchangesOf, split } from "./history.js";
import { contentOf, contentsOf, jsonOf, userContentOf, wordsIn } from "./messages.js";
import { fieldsOf, type Moment, wrong } from "./otlp.js";
import { isGiven, wordsOf } from "./parts.js";
import { timesOf } from "./seconds.js";
import { keyOf, type Node } from "./tree.js";
import { attributeOf, type TraceTurn } from "./turns.js";

const INVOCATION_KEYS = ["gcp.vertex.agent.invocation_id", "adk.invocation_id"];

/** What an agent did in one conversation: an inference result, as `evaluate` reads it. */
export interface TracedRun {
  /** The case; matched by position if no run of the input has the id of a case. */
  evalId: string;
  sessionId: string;
  userId?: string;
  /** The turns, in order. */
  inferences: Invocation[];
  /** 1 if the agent finished, 2 if its last turn failed. */
  status: 1 | 2;
  /** Why it failed. */
  errorMessage?: string;
  /** What was read otherwise than one might expect; `evaluate` passes it on. */
  warnings?: string[];
}

/** At most this many kinds of what was not read are named. */
const MOST_UNREAD = 20;

/** A run of an agent by its turns. */
export function runOf(
  evalId: string,
  sessionId: string,
  turns: readonly TraceTurn[],
  moments: ReadonlyMap<string, Moment[]>,
): { run: TracedRun; isChanged: boolean } {
  const exchanges = exchangesOf(turns);
  const [inferences, warnings]: [Invocation[], string[]] = [[], []];
  const unread = new Set<string>();
  let failure: string | undefined;
  let isChanged = false;
  for (const [at, turn] of turns.entries()) {
    const location = `${quoted(sessionId)}, turn ${at + 1}`;
    const { invocation, problem, warning, ...read } = readTurn(turn, exchanges[at]);
    isChanged ||= read.isChanged === true;
    inferences.push(invocation);
    const isFailure = at === turns.length - 1 && errorOf(turn) !== undefined;
    if (warning !== undefined && !isFailure) warnings.push(`${location}: ${warning}`);
    const said = turn.calls.flatMap(({ unread: kinds = [], notes = [] }) => [
      ...[...kinds].map((what) => `not read: ${what}`),
      ...notes,
    ]);
    for (const what of said) {
      // The requests of later turns repeat it.
      if (!unread.has(what) && unread.size < MOST_UNREAD) warnings.push(`${location}: ${what}`);
      unread.add(what);
    }
    if (problem !== undefined) failure ??= `turn ${at + 1}: ${problem}`;
  }
  const before = split(turns[0]?.calls.find(({ input }) => input.length > 0)?.input ?? []).length - 1;
  if (before > 0) {
    const which = before === 1 ? "an earlier turn that is" : `${before} earlier turns that are`;
    warnings.push(`${quoted(sessionId)}: the messages of its first turn include ${which} not in these traces`);
  }
  const run: TracedRun = { evalId, sessionId, inferences, status: 1 };
  const all = turns.flatMap(({ nodes }) => nodes);
  const ofLogs = all.flatMap(({ span }) => moments.get(keyOf(span)) ?? []);
  const userId =
    attributeOf(all, ["user.id"]) ?? ofLogs.map(({ attributes }) => wordsOf(attributes.get("user.id"))).find(Boolean);
  if (userId !== undefined) run.userId = userId;
  const unseen = turns.flatMap(({ calls }) => calls.filter(isTextless).map(({ from }) => nameOf(from)));
  for (const name of new Set(unseen)) warnings.push(`${quoted(sessionId)}: ${textlessWarning(name)}`);
  if (warnings.length > 0) run.warnings = warnings;
  const error = errorOf(turns.at(-1) as TraceTurn);
  if (error !== undefined && inferences.at(-1)?.finalResponse === undefined) failure = error;
  if (failure !== undefined) {
    run.status = 2;
    run.errorMessage = failure;
  }
  return { run, isChanged };
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function errorOf({ outer, nodes }: TraceTurn): string | undefined {
  return (outer ?? nodes.at(-1))?.span.error;
}

/** Whether nothing was said in a turn because no model was called. */
export function isUnheard(turn: TraceTurn): boolean {
  return (
    !turn.calls.some(isSilent) &&
    errorOf(turn) === undefined &&
    userOf(turn) === undefined &&
    traceEventsOf(turn).length === 0
  );
}

/**
 * Whether nothing tells what a callback of google-adk made of the last answer of a conversation: no later turn was told of
 * it, and no event of it was traced.
 */
export function mayDiffer(turns: readonly TraceTurn[]): boolean {
  const turn = turns.at(-1);
  const last = turn?.calls.at(-1);
  if (turn === undefined || last === undefined || eventOf(turn) !== undefined) return false;
  return isOfAdk(last.from.span) && !asksTools(last.output) && wordsIn(last.output) !== "";
}

/** What the last event of a turn said, after all callbacks, where OpenInference tells of it. */
function eventOf({ calls }: TraceTurn): Content | undefined {
  const run = calls.at(-1)?.from.run;
  return run === undefined ? undefined : contentOf(fieldsOf(jsonOf(run.span, "output.value"))?.content, "model");
}

/** A turn with what later turns tell of it. */
function readTurn(
  turn: TraceTurn,
  exchange: Exchange | undefined,
): { invocation: Invocation; problem?: string; warning?: string; isChanged?: boolean } {
  if (isUnheard(turn)) {
    if (exchange === undefined) return { invocation: invocationOf(turn), problem: NO_MODEL };
    const from = turn.outer ?? (turn.nodes[0] as Node);
    const [usage, modelVersion, groundingMetadata] = [undefined, undefined, undefined];
    const config = { systemInstruction: undefined, tools: undefined };
    const calls = exchange.answers
      .filter(({ role }) => role === "model")
      .map((output) => ({
        from,
        time: turn.time,
        input: [exchange.user],
        output,
        usage,
        modelVersion,
        groundingMetadata,
        config,
      }));
    const { appDetails: _, ...invocation } = invocationOf({ ...turn, calls });
    return { invocation };
  }
  const last = turn.calls.at(-1);
  const [event, nextAnswer] = [eventOf(turn), exchange?.answers.at(-1)];
  const answer = event ?? nextAnswer;
  const isChanged =
    last !== undefined &&
    isOfAdk(last.from.span) &&
    answer?.role === "model" &&
    !asksTools(answer) &&
    !asksTools(last.output) &&
    wordsIn(answer) !== "" &&
    wordsIn(answer).trim() !== wordsIn(last.output).trim();
  if (!isChanged) return countedIn(turn, invocationOf(turn));
  const calls = [...turn.calls.slice(0, -1), { ...last, output: answer }];
  const where = event === undefined ? "the next turn was given" : "the turn ended with";
  const warning = `${where} a different answer than this turn's model gave; the former is used, because a callback may have changed the answer`;
  return { invocation: invocationOf({ ...turn, calls }), warning, isChanged };
}

const NO_MODEL =
  "it contains no messages, because no model was called in it; a callback may have answered, which traces do not show";

/** Warns of tools that ran although no model asked for them. */
function countedIn(turn: TraceTurn, invocation: Invocation): { invocation: Invocation; warning?: string } {
  const names = unasked(turn);
  const error = errorOf(turn);
  if (error !== undefined && invocation.finalResponse === undefined)
    return { invocation, warning: `it failed: ${error}` };
  if (names.length === 0) return { invocation };
  const which = [...new Set(names)].map((name) => `\`${name}\``).join(", ");
  const done = turn.calls.some(({ output }) => asksTools(output)) ? "they are left out" : "they count as calls";
  return { invocation, warning: `some tools ran without a request of a traced model call: ${which}; ${done}` };
}

function userOf({ outer, calls }: TraceTurn): Content | undefined {
  const firstInput = calls.find(({ input }) => input.length > 0)?.input ?? [];
  const ofOuter = outer === undefined ? undefined : jsonOf(outer.span, "gen_ai.input.messages");
  return userContentOf(contentsOf(ofOuter)) ?? userContentOf(firstInput);
}

function invocationOf(turn: TraceTurn): Invocation {
  const { nodes, calls, time, end } = turn;
  if (calls.some(isSilent)) throw noMessages(turn);
  const events = traceEventsOf(turn);
  const userContent = userOf(turn);
  const recorder = new TurnRecorder(userContent ?? {}, time);
  for (const { author, event } of events) recorder.add({ author, ...event }, end);
  const { creationTimestamp: _, duration, ...invocation } = recorder.finish(end);
  const invocationId = attributeOf(nodes, INVOCATION_KEYS);
  const agentDetails: Record<string, unknown> = {};
  for (const { from, config } of calls) {
    const name = nameOf(from);
    if (!Object.hasOwn(agentDetails, name)) define(agentDetails, name, detailsOf(name, { config }));
  }
  const { modelMs, toolMs } = timesOf(nodes);
  const isTimed = nodes.some(({ span }) => span.end > span.time) && duration !== undefined;
  return {
    ...(invocationId === undefined ? {} : { invocationId }),
    ...invocation,
    creationTimestamp: time / 1000,
    ...(isTimed ? { duration, modelDuration: seconds(modelMs), toolDuration: seconds(toolMs) } : {}),
    ...(calls.length === 0 ? {} : { appDetails: { agentDetails } }),
  };
}

/** Unlike an assignment this makes an own property of any key, `__proto__` included. */
function define(fields: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** The error for traces in which no model was called in any turn. */
export function noModel({ nodes }: TraceTurn): AdkMetricsError {
  const help = "Leave it out, or record gen_ai.input.messages and gen_ai.output.messages on the agent's span";
  return wrong((nodes[0] as Node).span, "a turn contains no messages: no model was called in it", help);
}

/** What captures messages, by how the name of the instrumentation begins. */
const CAPTURES = [
  ["opentelemetry.instrumentation.openai_v2", "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"],
  ["opentelemetry.util.genai", "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT"],
  ["openinference.", "Do not set OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS or similar variables"],
  ["opentelemetry.instrumentation.", "Do not set TRACELOOP_TRACE_CONTENT=false"],
  ["pydantic-ai", "Do not set `include_content=False` in InstrumentationSettings"],
  ["agent_framework", "Set ENABLE_SENSITIVE_DATA=true"],
] as const;

/** Names of what may hold messages; those of the conventions are read or empty. */
const OF_MESSAGES = /(?:prompts?|completions?|(?<!gen_ai\.(?:in|out)put\.)messages?|(?:in|out)put\.value)$/;

/** The error for a call without messages. */
function noMessages({ calls, nodes, capture, traceId }: TraceTurn): AdkMetricsError {
  const { span } = calls.find(isSilent)?.from ?? (nodes[0] as Node);
  const log = capture.unplaced.get(traceId) ?? capture.unplaced.get("");
  if (log !== undefined) return nameless(log);
  const { events, attributes } = span;
  const named = [
    ...[...attributes.keys()].filter((key) => OF_MESSAGES.test(key) && wordsOf(attributes.get(key)) !== undefined),
    ...events
      .filter((event) => OF_MESSAGES.test(event.name) && !isMessage(event))
      .filter((event) => [...event.attributes.values()].some(isGiven))
      .map(({ name }) => name),
  ];
  const unread = [...(calls.find(isSilent)?.unread ?? []), ...named.map((name) => `\`${name}\``)];
  if (unread.length > 0) {
    const help = "Record them as the conventions have them: gen_ai.input.messages and gen_ai.output.messages";
    return wrong(span, `the messages of a model call have a form that is not read: ${unread.join(", ")}`, help);
  }
  if (capture.isOn) {
    const help = "Pass all spans and log records of the agent, and capture the messages in each of its processes";
    return wrong(span, "a model call contains no messages, although others in the traces do", help);
  }
  const spans = "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true";
  const variable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
  const own = CAPTURES.find(([scope]) => span.scope.startsWith(scope));
  const help = !isOfAdk(span)
    ? `${own?.[1] ?? `Let the instrumentation capture them, often with ${variable}=true`}, and if it writes them to log records, pass these too`
    : span.attributes.has("gcp.vertex.agent.llm_request")
      ? `Set ${spans} where the agent runs, or pass the log records too, if the messages are there`
      : `Set ${variable}=SPAN_AND_EVENT where the agent runs; with EVENT_ONLY, pass the log records too`;
  return wrong(span, "the traces contain no messages: capturing them is off", help);
}

/** The error for a log record with messages of an unknown call. */
export function nameless(log: Moment): AdkMetricsError {
  const message = "a log record with messages has no span id, so it cannot be matched with a model call";
  return wrong(log, message, "Export log records with their trace and span ids");
}
