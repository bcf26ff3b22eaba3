/** The protocol between page and worker: editing an evalset. */

import type { NamedFile, Outcome } from "./protocol.js";

/** An evalset as JSON text in ADK's schema. */
export interface EditableSet {
  text: string;
  evalSetId: string;
  cases: { evalId: string; turns: number }[];
}

export interface EditableRubric {
  id: string;
  text: string;
  /** Which metric it is for, such as `FINAL_RESPONSE_QUALITY`; empty for none in particular. */
  type: string;
}

/** An expected tool call. Values are JSON as it is written. */
export interface EditableCall {
  name: string;
  args: { key: string; json: string }[];
}

/** A tool: what is declared of it, or seen in calls. */
export interface KnownTool {
  name: string;
  description: string;
  parameters: ToolParameter[];
}

export interface ToolParameter {
  name: string;
  /** By JSON Schema's names; empty if several or none are known. */
  type: string;
  /** The values that it may have; empty for any. */
  choices: string[];
  isRequired: boolean;
  description: string;
}

/** A turn, and what is expected of the agent in it. */
export interface EditableTurn {
  user: string;
  answer: string;
  /** The tool calls and events between the user's message and the answer, as JSON. */
  intermediateData: string;
  /** The tool calls among them. */
  calls: EditableCall[];
  rubrics: EditableRubric[];
}

export interface EditableCase {
  evalId: string;
  turns: EditableTurn[];
  /** The scenario of a simulated conversation, as JSON. */
  scenario?: string;
  rubrics: EditableRubric[];
}

/** A change of a case. Turns count from 0. */
export type CaseEdit =
  | CallEdit
  | { kind: "user" | "answer"; turn: number; text: string }
  | { kind: "intermediateData"; turn: number; json: string }
  | { kind: "scenario"; json: string }
  | { kind: "rubrics"; turn?: number; rubrics: EditableRubric[] }
  | { kind: "rename"; evalId: string }
  | { kind: "addTurn" }
  | { kind: "removeTurn"; turn: number }
  /** Makes what the agent did in a row of a run the expectation, for one turn or for the whole case. */
  | { kind: "accept"; run: string; row: number; turn?: number }
  | { kind: "addCase" | "copyCase" | "removeCase" };

/** A change of the expected tool calls of a turn. Calls count from 0. */
export type CallEdit = { turn: number } & (
  | { kind: "addCall"; name: string }
  | { kind: "removeCall"; call: number }
  /** Exchanges a call with the one before it. */
  | { kind: "moveCall"; call: number }
  | { kind: "tool"; call: number; name: string }
  /** Sets an argument to JSON; empty text removes it. */
  | { kind: "argument"; call: number; key: string; json: string }
);

/** The worker's functions for editing evalsets. */
export interface Editing {
  /** Reads an evalset of any form. */
  editableSet(file: NamedFile): Promise<Outcome<EditableSet>>;
  editableCase(text: string, caseIndex: number): Promise<Outcome<EditableCase>>;
  /** The tools that files declare or call, in the order of the alphabet. */
  knownTools(files: readonly NamedFile[]): Promise<Outcome<KnownTool[]>>;
  /** The evalset after an edit. A new case is inserted after the one at `caseIndex`. */
  applyEdit(text: string, caseIndex: number, edit: CaseEdit): Promise<Outcome<EditableSet>>;
}
