/** The protocol between page and worker: evalsets that are made of what an agent did. */

import type { NamedFile, Outcome } from "./protocol.js";

/** A conversation that can become a case. */
export interface Conversation {
  evalId: string;
  turns: { user: string; answer: string; calls: string[] }[];
}

/** What an evalset is made of. */
export interface EvalSetDraft {
  evalSetId: string;
  /** The conversations, by their places, with the places of their turns. */
  cases: { place: number; turns: readonly number[] }[];
  /** Whether the answers and the tool calls of the agent are what is expected. */
  expectsAnswers: boolean;
  expectsCalls: boolean;
  /** What answers have to fulfil, in words. */
  rubrics: readonly string[];
}

/** The worker's functions for making evalsets. */
export interface Drafting {
  /** The conversations in a session, a trace, results or inference results. */
  conversationsIn(file: NamedFile): Promise<Outcome<Conversation[]>>;
  evalSetFrom(file: NamedFile, draft: EvalSetDraft): Promise<Outcome<NamedFile>>;
}
