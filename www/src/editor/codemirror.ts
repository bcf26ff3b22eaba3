/** A JSON editor with completion and validation by a schema, which shows the engine's errors where they occur. */

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, StateEffect } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import {
  findNodeAtLocation,
  getLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { descriptionAt, firstValue, isCamelCase, proposedKeys, schemaErrors, type Schema, valuesAt } from "./schema.js";
import { stepsOf } from "./path.js";

/** An error or a warning with its location in the document. */
export interface PlacedProblem {
  message: string;
  help?: string;
  /** The path: `eval_cases[2].conversation[0]`. */
  path?: string;
  /** The line, counted from 1. */
  line?: number;
  /** The place in the text, where the path is not known. */
  at?: number;
  isWarning?: boolean;
}

export interface EditorOptions {
  text: string;
  label: string;
  isReadOnly?: boolean;
  onChange(text: string): void;
  /** Hears what the schema finds wrong, beside what the engine says. */
  onViolations(found: readonly PlacedProblem[]): void;
}

export interface Editor {
  /** Completes, describes and checks by a schema, or by none. What is typed and where stays. */
  setSchema(schema: Schema | undefined): void;
  /** Replaces the text if it differs. */
  setText(text: string): void;
  /** Shows the engine's errors and warnings. */
  setProblems(problems: readonly PlacedProblem[]): void;
  /** Selects the location of a problem. */
  showProblem(problem: PlacedProblem): void;
  destroy(): void;
}

/** Signals that the engine's problems, or the schema, changed. */
const PROBLEMS_CHANGED = StateEffect.define<null>();

/** The most violations of a schema that are listed. */
const MAX_LISTED = 20;

/** Longer documents are not validated by their schema while they are typed, only by the engine. */
const MAX_VALIDATED_LENGTH = 2_000_000;

export function openEditor(parent: ShadowRoot, options: EditorOptions): Editor {
  let schema: Schema | undefined;
  const help = new Compartment();
  let problems: readonly PlacedProblem[] = [];
  const diagnostics = (view: EditorView): Diagnostic[] => {
    const text = view.state.doc.toString();
    const tree = parseDocument(text);
    const engineDiagnostics = problems.map((problem) => diagnosticOf(view, tree, problem));
    const syntaxDiagnostics = engineDiagnostics.some(({ severity }) => severity === "error") ? [] : syntaxErrors(text);
    const known = schema;
    // Old formats are arrays, which the schemas do not describe.
    const isChecked = tree?.type === known?.type && text.length <= MAX_VALIDATED_LENGTH;
    const violations = isChecked && known !== undefined && tree !== undefined ? schemaErrors(known, known, tree) : [];
    // What the engine says of a value is not said again of its key.
    const covered = engineDiagnostics.map(({ from, to }, index) => {
      const { parent } = nodeAt(tree, problems[index]?.path) ?? {};
      return { from: parent?.type === "property" ? parent.offset : from, to };
    });
    const schemaDiagnostics = violations
      .slice(0, 200)
      .map(({ node, message }): Diagnostic => ({ ...rangeOf(node), severity: "warning", message, source: "schema" }))
      .filter(({ from, to }) => !covered.some((other) => other.from <= to && from <= other.to));
    const { doc } = view.state;
    options.onViolations(
      schemaDiagnostics
        .slice(0, MAX_LISTED)
        .map(({ from, message }) => ({ message, at: from, line: doc.lineAt(from).number, isWarning: true })),
    );
    return [...engineDiagnostics, ...syntaxDiagnostics, ...schemaDiagnostics];
  };
  const view = new EditorView({
    root: parent,
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        drawSelection(),
        indentUnit.of("  "),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        json(),
        syntaxHighlighting(HIGHLIGHT),
        EDITOR_THEME,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
        EditorState.readOnly.of(options.isReadOnly === true),
        linter(diagnostics, {
          delay: 300,
          needsRefresh: ({ transactions }) =>
            transactions.some(({ effects }) => effects.some((one) => one.is(PROBLEMS_CHANGED))),
        }),
        help.of([]),
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...completionKeymap,
          ...lintKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setSchema(known) {
      schema = known;
      const extensions: Extension =
        known === undefined
          ? []
          : [autocompletion({ override: [(context) => completions(known, context)] }), hover(known)];
      view.dispatch({ effects: [help.reconfigure(extensions), PROBLEMS_CHANGED.of(null)] });
    },
    setText(text) {
      const now = view.state.doc.toString();
      if (now !== text) view.dispatch({ changes: { from: 0, to: now.length, insert: text } });
    },
    setProblems(engineDiagnostics) {
      problems = engineDiagnostics;
      view.dispatch({ effects: PROBLEMS_CHANGED.of(null) });
    },
    showProblem(problem) {
      const { doc } = view.state;
      const from = Math.min(problem.at ?? diagnosticOf(view, parseDocument(doc.toString()), problem).from, doc.length);
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

/**
 * Parses as much of the document as possible; trailing commas are allowed unless errors are collected. Undefined if the
 * nesting overflows the parser's stack.
 */
function parseDocument(text: string, errors?: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors ?? [], { allowTrailingComma: errors === undefined });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function syntaxErrors(text: string): Diagnostic[] {
  const errors: ParseError[] = [];
  parseDocument(text, errors);
  return errors.slice(0, 20).map(({ error, offset, length }) => ({
    from: offset,
    to: Math.min(text.length, offset + length),
    severity: "error",
    message: printParseErrorCode(error)
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase(),
  }));
}

function diagnosticOf(view: EditorView, tree: Node | undefined, problem: PlacedProblem): Diagnostic {
  const { message, help, line, isWarning } = problem;
  const node = nodeAt(tree, problem.path);
  const { doc } = view.state;
  const onLine = doc.line(Math.min(Math.max(1, line ?? 1), doc.lines));
  const range = node === undefined ? { from: onLine.from, to: onLine.to } : rangeOf(node);
  const words = help === undefined ? message : `${message}. ${help}`;
  const from = Math.min(range.from, doc.length);
  return {
    from,
    to: Math.min(range.to, doc.length),
    severity: isWarning === true ? "warning" : "error",
    message: words,
  };
}

/** The node at a path, or its nearest existing ancestor. */
function nodeAt(tree: Node | undefined, path: string | undefined): Node | undefined {
  if (tree === undefined || path === undefined) return undefined;
  const steps = stepsOf(path);
  for (let count = steps.length; count > 0; count -= 1) {
    const node = findNodeAtLocation(tree, steps.slice(0, count));
    if (node !== undefined) return node;
  }
  return undefined;
}

/** The range to mark for a node. Objects and arrays may be long: only their key and opening bracket are marked. */
function rangeOf({ type, offset, length, parent }: Node): { from: number; to: number } {
  if (type !== "object" && type !== "array") return { from: offset, to: offset + length };
  const name = parent?.type === "property" ? parent.children?.[0] : undefined;
  return name === undefined ? { from: offset, to: offset + 1 } : { from: name.offset, to: offset + 1 };
}

function completions(schema: Schema, context: CompletionContext): CompletionResult | null {
  const text = context.state.doc.toString();
  const { path, isAtPropertyKey, previousNode } = getLocation(text, context.pos);
  if (!context.explicit && previousNode === undefined) return null;
  const isInside = previousNode !== undefined && context.pos <= previousNode.offset + previousNode.length;
  const from = isInside ? previousNode.offset : (context.matchBefore(/[\w"]*/)?.from ?? context.pos);
  const to = isInside ? previousNode.offset + previousNode.length : context.pos;
  if (isAtPropertyKey) {
    const parent = path.slice(0, -1);
    const tree = parseDocument(text);
    const object = tree === undefined ? undefined : findNodeAtLocation(tree, parent);
    const names = (object?.children ?? []).flatMap(({ children: [name] = [] }) => name ?? []);
    const others = names.filter(({ offset }) => offset !== from).map(({ value }) => String(value));
    const options = proposedKeys(schema, parent, others, isCamelCase(schema, text)).map(
      ({ key, schema: of }): Completion => ({
        label: `"${key}"`,
        info: of.description ?? "",
        type: "property",
        apply: (view) => insertKey(view, from, to, key, firstValue(schema, of)),
      }),
    );
    return options.length === 0 ? null : { from, to, options };
  }
  const options = valuesAt(schema, path).map(({ value, description }) => ({
    label: JSON.stringify(value),
    detail: description,
    type: "constant",
  }));
  return options.length === 0 ? null : { from, to, options };
}

/** Inserts a key with a value that is selected, and the commas that keep the document valid. */
function insertKey(view: EditorView, from: number, to: number, key: string, value: string): void {
  const text = view.state.doc.toString();
  const [before, after] = [text.slice(0, from).trimEnd(), text.slice(to).trimStart()];
  const comma = /[{,]$/.test(before) || before === "" ? "" : ", ";
  const name = `${comma}${JSON.stringify(key)}`;
  const hasValue = after.startsWith(":");
  const separator = /^\s/.test(text.slice(to)) ? "," : ", ";
  const insert = hasValue ? name : `${name}: ${value}${after.startsWith('"') ? separator : ""}`;
  const end = from + name.length + (hasValue ? 0 : 2 + value.length);
  // What is typed next takes the place of the value, or goes between its brackets.
  const inset = !hasValue && /^["[{]/.test(value) ? 1 : 0;
  const head = end - inset;
  const anchor = hasValue || /^[[{]/.test(value) ? head : end - value.length + inset;
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor, head },
    userEvent: "input.complete",
    scrollIntoView: true,
  });
}

const hover = (schema: Schema) =>
  hoverTooltip((view, pos) => {
    const { path, previousNode, isAtPropertyKey } = getLocation(view.state.doc.toString(), pos);
    if (previousNode === undefined || !isAtPropertyKey) return null;
    const meaning = descriptionAt(schema, path);
    if (meaning === "") return null;
    return {
      pos: previousNode.offset,
      end: previousNode.offset + previousNode.length,
      create() {
        const dom = document.createElement("div");
        dom.className = "meaning";
        dom.textContent = meaning;
        return { dom };
      },
    };
  });

const HIGHLIGHT = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--text)", fontWeight: "600" },
  { tag: tags.string, color: "var(--text)" },
  { tag: tags.number, color: "var(--pass)" },
  { tag: [tags.bool, tags.null], color: "var(--open)" },
  { tag: tags.invalid, color: "var(--fail)" },
]);

const EDITOR_THEME = EditorView.theme({
  "&": { height: "100%", fontSize: "0.8125rem", backgroundColor: "var(--page)", color: "var(--text)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", overflow: "auto" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--muted)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--sunken)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 24%, transparent) !important",
  },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "6px",
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    boxShadow: "var(--shadow)",
    maxWidth: "28rem",
  },
  ".cm-tooltip .meaning, .cm-diagnostic, .cm-completionInfo": { padding: "6px 10px", fontFamily: "var(--sans)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--chosen)", color: "var(--on-chosen)" },
  ".cm-completionDetail": { fontStyle: "normal", fontFamily: "var(--sans)", marginInlineStart: "1em" },
  ".cm-diagnostic": { margin: "0" },
  ".cm-diagnostic-error": { borderInlineStart: "3px solid var(--fail-fill)" },
  ".cm-diagnostic-warning": { borderInlineStart: "3px solid var(--open-fill)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--fail-fill)",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--open-fill)",
    textUnderlineOffset: "3px",
  },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)" },
  ".cm-panels input, .cm-panels button": { font: "inherit" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--sunken)", border: "1px solid var(--line)", color: "var(--muted)" },
  ".cm-matchingBracket": { backgroundColor: "var(--chosen) !important", outline: "1px solid var(--strong-line)" },
  ".cm-selectionMatch": { backgroundColor: "var(--open-soft)" },
});
