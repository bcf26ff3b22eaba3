import type { Explanation } from "../types.js";
import { Marks } from "./marks.js";
import { allBut, PlainJson } from "./plain-json.js";
import { isObject } from "./values.js";

/** What has an explanation among its properties. */
interface Explained {
  explanation?: Explanation;
}

/** Notes on a result its explanation as JSON, where neither comparisons nor copies see it. */
class ExplanationMark extends Marks {
  #json: string;
  #explanation: Explanation | undefined;
  readonly #panel: readonly string[] | undefined;

  constructor(result: object, json: string, panel: readonly string[] | undefined) {
    super(result);
    this.#json = json;
    this.#panel = panel;
  }

  static explanationOf(result: object): Explanation | undefined {
    if (!(#json in result)) return undefined;
    if (result.#explanation === undefined) {
      result.#explanation = JSON.parse(result.#json) as Explanation;
      result.#json = "";
      const panel = result.#panel;
      for (const vote of (panel && result.#explanation.samples?.votes) ?? []) {
        vote.judge = panel?.[vote.sampleIndex % panel.length] as string;
      }
    }
    return result.#explanation;
  }

  /** An explanation of tokens as `JSON.stringify` writes it, if it was not read yet. */
  static tokensOf(result: object): string | undefined {
    if (!(#json in result) || Object.getOwnPropertyDescriptor(result, "explanation")?.get !== PROPERTY.get)
      return undefined;
    const [head, precision, recall] = TOKENS.exec(result.#json) ?? [];
    if (head === undefined) return undefined;
    return `{"tokens":{"precision":${Number(precision)},"recall":${Number(recall)},${result.#json.slice(head.length)}`;
  }
}

/** How the engine begins an explanation of tokens. What follows is integers and texts, which can be written in one way only. */
const TOKENS = /^\{"tokens":\{"precision":([^,]*),"recall":([^,]*),/;

/** The same for all results, since a getter of each would cost more than all the rest. */
const PROPERTY: PropertyDescriptor = {
  get(this: object) {
    return ExplanationMark.explanationOf(this);
  },
  set(this: object, value: unknown) {
    Object.defineProperty(this, "explanation", { value, writable: true, enumerable: true, configurable: true });
  },
  enumerable: true,
  configurable: true,
};

/**
 * Gives a result an explanation, which is an own property that is read from its JSON when it is looked at.
 *
 * @param panel The names of the judges whom samples asked in turn, if there were several.
 */
export function explain(result: Explained, json: string, panel?: readonly string[]): void {
  Object.defineProperty(result, "explanation", PROPERTY);
  new ExplanationMark(result, json, panel);
}

/** Gives a result the explanation of another, if that has one, without looking at it. */
export function shareExplanation(result: Explained, from: Explained): void {
  const property = Object.getOwnPropertyDescriptor(from, "explanation");
  if (property === undefined) return;
  const isRead = property.get !== PROPERTY.get;
  Object.defineProperty(result, "explanation", isRead ? property : { ...PROPERTY, get: () => from.explanation });
}

const ALL_ELSE = /* @__PURE__ */ allBut("explanation");

/**
 * Results of metrics as `JSON.stringify` writes them. Explanations of tokens, which are most of the text, are not parsed for
 * that.
 *
 * @param most How many values and characters are written besides.
 * @returns Nothing if not all is plain.
 */
export function metricResultsJson(results: unknown, most: number): string | undefined {
  if (!Array.isArray(results) || "toJSON" in results) return undefined;
  const writer = new PlainJson(most);
  let all = "";
  for (const result of results as unknown[]) {
    const tokens = isObject(result) && Object.keys(result).at(-1) === "explanation" && ExplanationMark.tokensOf(result);
    const json = tokens ? writer.write(result, ALL_ELSE) : writer.write(result);
    if (json === undefined) return undefined;
    all += `${all === "" ? "" : ","}${tokens ? `${json.slice(0, -1)},"explanation":${tokens}}` : json}`;
  }
  return `[${all}]`;
}
