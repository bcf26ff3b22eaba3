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

/** A turn, and what is expected of the agent in it. */
export interface EditableTurn {
  user: string;
  answer: string;
  /** The tool calls and events between the user's message and the answer, as JSON. */
  intermediateData: string;
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

/** The worker's functions for editing evalsets. */
export interface Editing {
  /** Reads an evalset of any form. */
  editableSet(file: NamedFile): Promise<Outcome<EditableSet>>;
  editableCase(text: string, caseIndex: number): Promise<Outcome<EditableCase>>;
  /** The evalset after an edit. A new case is inserted after the one at `caseIndex`. */
  applyEdit(text: string, caseIndex: number, edit: CaseEdit): Promise<Outcome<EditableSet>>;
}
