/**
 * Edits evalsets as text, so that everything else stays as it is written, including unknown fields and every digit of
 * numbers. The engine validates the result: an edit that makes the evalset invalid is rejected.
 */

import {
  AdkMetricsError,
  type EvalCaseResult,
  evalSetToAdkJson,
  type EvalSetResult,
  resultsToAdkJson,
} from "adk-metrics/web";
import type { JSONPath, Node } from "jsonc-parser";
import { callsOf, withCallEdit } from "./edited-calls.js";
import {
  dedentedTextOf,
  nodeAt,
  parsed,
  sourceOf,
  textAt,
  withInsertion,
  without,
  withRaw,
  withValue,
} from "./json-text.js";
import { knownTools } from "./known-tools.js";
import { outcomeOf } from "./problems.js";
import { uniqueName } from "../ui/unique.js";
import type { CaseEdit, EditableCase, EditableRubric, EditableSet, EditableTurn, Editing } from "./protocol-edit.js";
import { baseName } from "./inspection.js";

/** Looks up the result of a case of a run, and the results of its evalset. */
export type CaseOfRun = (run: string, row: number) => { set: EvalSetResult; result: EvalCaseResult } | undefined;

export function editing(ready: Promise<void>, caseOfRun: CaseOfRun): Editing {
  return {
    editableSet: (file) =>
      outcomeOf(async () => {
        await ready;
        return editableSetOf(evalSetToAdkJson(file.bytes, baseName(file.name)));
      }),

    editableCase: (text, caseIndex) =>
      outcomeOf(() => editableCaseOf(text, nodeAt(parsed(text), "eval_cases", caseIndex))),

    knownTools: (files) => outcomeOf(() => knownTools(files.map(({ bytes }) => bytes))),

    applyEdit: (text, caseIndex, edit) =>
      outcomeOf(() => {
        const changed = withEdit(text, caseIndex, edit, caseOfRun);
        // Validates the whole evalset: an id may be a duplicate now, or the type of a value may be wrong.
        evalSetToAdkJson(changed);
        return editableSetOf(changed);
      }),
  };
}

function editableSetOf(text: string): EditableSet {
  const root = parsed(text);
  const cases = (nodeAt(root, "eval_cases")?.children ?? []).map((one) => ({
    evalId: textAt(one, "eval_id"),
    turns: nodeAt(one, "conversation")?.children?.length ?? 0,
  }));
  return { text, evalSetId: textAt(root, "eval_set_id"), cases };
}

function editableCaseOf(text: string, node: Node | undefined): EditableCase {
  if (node === undefined) throw new RangeError("The evalset has no such case.");
  const scenario = nodeAt(node, "conversation_scenario");
  return {
    evalId: textAt(node, "eval_id"),
    turns: (nodeAt(node, "conversation")?.children ?? []).map((turn) => editableTurnOf(text, turn)),
    rubrics: rubricsOf(node),
    ...(scenario === undefined || scenario.type === "null" ? {} : { scenario: dedentedTextOf(text, scenario) }),
  };
}

function editableTurnOf(text: string, node: Node): EditableTurn {
  const intermediateData = nodeAt(node, "intermediate_data");
  return {
    user: contentText(nodeAt(node, "user_content")),
    answer: contentText(nodeAt(node, "final_response")),
    intermediateData:
      intermediateData === undefined || intermediateData.type === "null" ? "" : dedentedTextOf(text, intermediateData),
    calls: callsOf(text, intermediateData),
    rubrics: rubricsOf(node),
  };
}

function rubricsOf(node: Node): EditableRubric[] {
  return (nodeAt(node, "rubrics")?.children ?? []).map((rubric) => ({
    id: textAt(rubric, "rubric_id"),
    text: textAt(rubric, "rubric_content", "text_property"),
    type: textAt(rubric, "type"),
  }));
}

/** The texts of a content's parts, one per line. */
function contentText(content: Node | undefined): string {
  const parts = content === undefined ? [] : (nodeAt(content, "parts")?.children ?? []);
  return parts
    .filter((part) => nodeAt(part, "text")?.type === "string")
    .map((part) => textAt(part, "text"))
    .join("\n");
}

function withEdit(text: string, at: number, edit: CaseEdit, caseOfRun: CaseOfRun): string {
  const root = parsed(text);
  const path = ["eval_cases", at];
  const node = nodeAt(root, ...path);
  switch (edit.kind) {
    case "user":
      return withContent(text, root, [...path, "conversation", edit.turn, "user_content"], edit.text, "user");
    case "answer":
      return withContent(text, root, [...path, "conversation", edit.turn, "final_response"], edit.text, "model");
    case "intermediateData":
      return withJson(text, root, [...path, "conversation", edit.turn, "intermediate_data"], edit.json);
    case "addCall":
    case "removeCall":
    case "moveCall":
    case "tool":
    case "argument":
      return withCallEdit(text, [...path, "conversation", edit.turn, "intermediate_data"], edit);
    case "scenario":
      return withJson(text, root, [...path, "conversation_scenario"], edit.json);
    case "rubrics": {
      const owner = edit.turn === undefined ? path : [...path, "conversation", edit.turn];
      return withRubrics(text, root, [...owner, "rubrics"], edit.rubrics);
    }
    case "rename":
      checkId(root, at, edit.evalId);
      return withValue(text, [...path, "eval_id"], edit.evalId);
    case "addTurn": {
      const turns = nodeAt(root, ...path, "conversation")?.children?.length ?? 0;
      return withInsertion(text, [...path, "conversation", turns], emptyTurn());
    }
    case "removeTurn":
      return withValue(text, [...path, "conversation", edit.turn], undefined);
    case "accept":
      return withActual(text, root, path, edit, caseOfRun);
    case "addCase":
      return withInsertion(text, ["eval_cases", at + 1], {
        eval_id: freeId(root, "case"),
        conversation: [emptyTurn()],
      });
    case "copyCase": {
      if (node === undefined) throw new RangeError("The evalset has no such case.");
      const copy = withRaw(text, ["eval_cases", at + 1], sourceOf(text, node), true);
      return withValue(copy, ["eval_cases", at + 1, "eval_id"], freeId(root, textAt(node, "eval_id")));
    }
    case "removeCase":
      return withValue(text, path, undefined);
  }
}

/** Rejects empty and duplicate ids: results refer to cases by them. */
function checkId(root: Node, at: number, evalId: string): void {
  const path = `evalCases[${at}].evalId`;
  if (evalId.trim() === "") throw new AdkMetricsError("invalid_input", "a case needs an id", { path });
  const cases = nodeAt(root, "eval_cases")?.children ?? [];
  if (cases.some((one, index) => index !== at && textAt(one, "eval_id") === evalId)) {
    throw new AdkMetricsError("invalid_input", `another case is called ${evalId}`, { path, help: "Choose another id" });
  }
}

function emptyTurn() {
  return {
    invocation_id: uniqueName(),
    user_content: { parts: [{ text: "" }], role: "user" },
    final_response: { parts: [{ text: "" }], role: "model" },
    intermediate_data: { tool_uses: [], tool_responses: [], intermediate_responses: [] },
  };
}

/** An unused eval id: `case_2`, `case_3`, … */
function freeId(root: Node, id: string): string {
  const taken = new Set((nodeAt(root, "eval_cases")?.children ?? []).map((one) => textAt(one, "eval_id")));
  for (let number = 2; ; number += 1) {
    if (!taken.has(`${id}_${number}`)) return `${id}_${number}`;
  }
}

/** Replaces the text of a content. A single text part is edited in place; several are replaced by one. */
function withContent(text: string, root: Node, path: JSONPath, newText: string, role: string): string {
  const parts = nodeAt(root, ...path, "parts")?.children ?? [];
  const textIndices = parts.flatMap((part, at) => (nodeAt(part, "text")?.type === "string" ? [at] : []));
  const [only] = textIndices;
  if (textIndices.length === 1 && only !== undefined) return withValue(text, [...path, "parts", only, "text"], newText);
  if (parts.length === 0) return withValue(text, path, { parts: [{ text: newText }], role });
  const others = parts.filter((_, at) => !textIndices.includes(at)).map((part) => sourceOf(text, part));
  const all = [...others, JSON.stringify({ text: newText })];
  return withRaw(text, [...path, "parts"], `[${all.join(", ")}]`);
}

/** Sets a field to JSON that the user wrote; empty text removes the field. */
function withJson(text: string, root: Node, path: JSONPath, json: string): string {
  if (json.trim() === "") return nodeAt(root, ...path) === undefined ? text : withValue(text, path, undefined);
  try {
    JSON.parse(json);
  } catch (error) {
    throw new AdkMetricsError("invalid_json", `this is not JSON: ${error instanceof Error ? error.message : ""}`, {
      path: path.join("."),
    });
  }
  return withRaw(text, path, json);
}

/** Replaces rubrics. Fields that cannot be edited are kept by rubric id. */
function withRubrics(text: string, root: Node, path: JSONPath, rubrics: readonly EditableRubric[]): string {
  if (rubrics.length === 0) return nodeAt(root, ...path) === undefined ? text : withValue(text, path, undefined);
  const known = new Map(
    (nodeAt(root, ...path)?.children ?? []).map((rubric) => [textAt(rubric, "rubric_id"), sourceOf(text, rubric)]),
  );
  const all = rubrics.map(({ id, text: words, type }) => {
    let rubric = known.get(id) ?? "{}";
    rubric = withValue(rubric, ["rubric_id"], id);
    rubric = withValue(rubric, ["rubric_content", "text_property"], words);
    return type === "" ? without(rubric, ["type"]) : withValue(rubric, ["type"], type);
  });
  return withRaw(text, path, `[${all.join(", ")}]`);
}

/** Replaces what is expected by what the agent did. */
function withActual(
  text: string,
  root: Node,
  path: JSONPath,
  { run, row, turn }: { run: string; row: number; turn?: number },
  caseOfRun: CaseOfRun,
): string {
  const { set, result } = caseOfRun(run, row) ?? {};
  if (set === undefined || result === undefined) throw new RangeError("This run is no longer there. Start it again.");
  const json = resultsToAdkJson({ ...set, evalCaseResults: [result] });
  const turns = nodeAt(parsed(json), "eval_case_results", 0, "eval_metric_result_per_invocation")?.children ?? [];
  const wanted = turns.map((one) => nodeAt(one, "actual_invocation"));
  if (turn === undefined && nodeAt(root, ...path, "conversation")?.children?.length !== wanted.length) {
    const all = wanted.flatMap((actual) => (actual === undefined ? [] : [sourceOf(json, actual)]));
    return withRaw(text, [...path, "conversation"], `[${all.join(", ")}]`);
  }
  let changed = text;
  for (const [at, actual] of wanted.entries()) {
    if (actual === undefined || (turn !== undefined && at !== turn)) continue;
    for (const field of ["final_response", "intermediate_data"]) {
      const value = nodeAt(actual, field);
      const place = [...path, "conversation", at, field];
      if (value !== undefined && value.type !== "null") changed = withRaw(changed, place, sourceOf(json, value));
      else changed = without(changed, place);
    }
  }
  return changed;
}
