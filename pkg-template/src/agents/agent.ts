/** The agents that can be evaluated. All shapes are structural: neither ADK-TS nor `@google/adk` is imported. */

import type { Content, Invocation } from "../types.js";

/** What an agent did or said: what is read of an event of ADK-TS or of `@google/adk`. */
export interface AgentEvent {
  /** The name of the agent; events of `user` are not recorded. Default: `agent`. */
  author?: string;
  content?: Content;
  /** Whether this is a piece of an answer that is being streamed. */
  partial?: boolean;
  groundingMetadata?: object;
  usageMetadata?: object;
  modelVersion?: string;
  errorCode?: string;
  errorMessage?: string;
  actions?: { skipSummarization?: boolean };
  longRunningToolIds?: Iterable<string>;
  invocationId?: string;
}

/** What a function agent receives besides the user's message. */
export interface AgentTurn {
  /** The user's message with all its parts. */
  readonly content: Content;
  readonly sessionId: string;
  readonly userId: string;
  /** The state of the session: what `sessionInput` gives, and what the agent wrote into it in earlier turns. */
  readonly state: Record<string, unknown>;
  /** The turns before this one. */
  readonly history: readonly Invocation[];
  /** Aborts when the turn takes too long, or the evaluation is cancelled. */
  readonly signal: AbortSignal;
}

/**
 * What a function may answer: the final response as text or content, one event, or many as an array or an (async)
 * generator; `null` is not an answer. Texts that a generator yields are pieces of one answer. The object is not a promise: the
 * compiler would not look at what that holds.
 */
export type AgentAnswer = string | (object & { then?: never }) | null;

/** An agent that is a function from the user's words to what happened. */
export type AgentFunction = (message: string, turn: AgentTurn) => AgentAnswer | Promise<AgentAnswer>;

/** A `BaseAgent` of ADK-TS or `@google/adk`; it is run by a `Runner` of the library that it comes from. */
export interface AdkAgent {
  readonly name: string;
  /** Runs the agent and gives its events. */
  runAsync(context: never): AsyncIterable<object>;
}

/** A `Runner` of ADK-TS or `@google/adk`. Every conversation gets a new session of its session service. */
export interface AdkRunner {
  readonly appName: string;
  readonly agent: { readonly name: string };
  readonly sessionService: object;
  /** Runs a turn and gives its events. */
  runAsync(request: never): AsyncIterable<object>;
}

/** What `AgentBuilder.build()` of ADK-TS gives. */
export interface AdkBuiltAgent {
  readonly agent: { readonly name: string };
  readonly runner: {
    /** Runs a turn and gives its events. */
    runAsync(request: never): AsyncIterable<object>;
  };
  readonly session: { readonly appName: string; readonly userId: string };
  readonly sessionService: object;
}

/** An `AgentBuilder` of ADK-TS; it is built once per evaluation. */
export interface AdkAgentBuilder {
  /** The agent with its runner and session. */
  build(): Promise<AdkBuiltAgent>;
}

/** An `App` of `@google/adk`. */
export interface AdkApp {
  readonly name: string;
  readonly rootAgent: object;
}

/** Whatever can be evaluated. */
export type Agent = AgentFunction | AdkAgent | AdkRunner | AdkBuiltAgent | AdkAgentBuilder | AdkApp;
