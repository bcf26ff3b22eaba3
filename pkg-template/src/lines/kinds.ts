/** What each of many lines is: the id of its case, and what is wrong with other lines. */

import { closest } from "../closest.js";
import { evalSetIdOf, keysOfLines, idInHead, idOfLine, isHeaderLine, kindOfLine, type LineKind } from "./shape.js";

/** How much of a line is looked at for its id before all of it is. */
export const LINE_HEAD = 400;

const [OPEN, CLOSE] = [0x7b, 0x7d];

/** Makes the error for what is wrong with the line that is looked at. */
export type Refuse = (message: string, help?: string, cause?: unknown) => Error;

/** The lines of an input, one after the other: all are of one kind. */
export class LineKinds {
  kind: LineKind | undefined;
  /** The id of the evalset, if a line names it. */
  evalSetId: string | undefined;
  readonly #isEvalSet: boolean;
  readonly #refuse: Refuse;

  /** @param isEvalSet Whether lines are cases; else they are what the agent did in one. */
  constructor(isEvalSet: boolean, refuse: Refuse) {
    this.#isEvalSet = isEvalSet;
    this.#refuse = refuse;
  }

  /**
   * The id of the case that a line belongs to; undefined for a line that says what the others are.
   *
   * @param head The beginning of the line; its bytes as characters.
   */
  idOf(text: Uint8Array, head: string): string | undefined {
    this.#checkEnds(text);
    const id = this.kind === undefined ? undefined : idInHead(head, this.kind);
    return id ?? this.idOfValue(parsedLine(text, this.#isEvalSet, this.#refuse));
  }

  /** As {@link idOf}, of a line that is read. */
  idOfValue(value: object): string | undefined {
    if (isHeaderLine(value)) {
      this.#name(evalSetIdOf(value));
      return undefined;
    }
    const kind = this.#kindOf(value);
    this.kind = kind;
    const id = idOfLine(value, kind);
    if (id === undefined) throw this.#refuse("the line has no `eval_id`", helpOf(this.#isEvalSet));
    return id;
  }

  #name(id: string | undefined): void {
    if (this.#isEvalSet && id !== undefined && this.evalSetId !== undefined && this.evalSetId !== id) {
      throw this.#refuse(
        `the lines belong to two evalsets, \`${this.evalSetId}\` and \`${id}\``,
        "All lines together are one evalset: score these one by one",
      );
    }
    this.evalSetId ??= id;
  }

  #kindOf(value: object): LineKind {
    const found = kindOfLine(value);
    if (found === undefined || (this.#isEvalSet && found !== "eval_cases")) {
      const meant = misspeltIn(value, this.#isEvalSet);
      throw this.#refuse(
        `the line is not a ${this.#isEvalSet ? "case" : "run of a case"}`,
        meant === undefined ? helpOf(this.#isEvalSet) : `It has \`${meant[0]}\`. Did you mean \`${meant[1]}\`?`,
      );
    }
    if (this.kind === undefined || found === this.kind) return found;
    throw this.#refuse(
      `the line is ${NAMES[found]}, but those before it are ${NAMES[this.kind]}`,
      "All lines have to be of the same kind",
    );
  }

  /** Refuses a line that cannot be an object, such as one that was cut off. */
  #checkEnds(text: Uint8Array): void {
    let [first, last] = [0, text.length - 1];
    while ((text[first] as number) <= 0x20) first += 1;
    while ((text[last] as number) <= 0x20) last -= 1;
    if (text[first] === OPEN && text[last] === CLOSE) return;
    if (text[first] === OPEN) parsedLine(text, this.#isEvalSet, this.#refuse);
    throw this.#refuse("the line is not a JSON object", helpOf(this.#isEvalSet));
  }
}

const decoder = /* @__PURE__ */ new TextDecoder();

export function parsedLine(text: Uint8Array, isEvalSet: boolean, refuse: Refuse): object {
  try {
    return JSON.parse(decoder.decode(text)) as object;
  } catch (cause) {
    throw refuse(`the line is not complete JSON: ${(cause as Error).message}`, helpOf(isEvalSet), cause);
  }
}

/** A key that resembles one by which a line is known, and that one. */
function misspeltIn(value: object, isEvalSet: boolean): readonly [found: string, meant: string] | undefined {
  const known = keysOfLines(isEvalSet ? "eval_cases" : undefined);
  for (const key of Object.keys(value)) {
    const meant = closest(key, known);
    if (meant !== undefined && meant !== key) return [key, meant];
  }
  return undefined;
}

/** What each line is, for who got it wrong. */
function helpOf(isEvalSet: boolean): string {
  return isEvalSet
    ? 'Every line has to be a case: {"eval_id": "…", "conversation": […]}'
    : "Every line has to be what the agent did in one case: a case with its conversation, an inference result, the results of a case, or a session";
}

const NAMES: Readonly<Record<LineKind, string>> = {
  eval_cases: "`eval_cases`",
  inference_results: "`inference_results`",
  eval_case_results: "`eval_case_results`",
  sessions: "sessions",
};
