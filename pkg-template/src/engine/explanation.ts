import type { Explanation } from "../types.js";
import { Marks } from "./marks.js";

/** What has an explanation among its properties. */
interface Explained {
  explanation?: Explanation;
}

/** Notes on a result its explanation as JSON, where neither comparisons nor copies see it. */
class ExplanationMark extends Marks {
  #json: string;
  #explanation: Explanation | undefined;

  constructor(result: object, json: string) {
    super(result);
    this.#json = json;
  }

  static explanationOf(result: object): Explanation | undefined {
    if (!(#json in result)) return undefined;
    if (result.#explanation === undefined) {
      result.#explanation = JSON.parse(result.#json) as Explanation;
      result.#json = "";
    }
    return result.#explanation;
  }
}

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

/** Gives a result an explanation, which is an own property that is read from its JSON when it is looked at. */
export function explain(result: Explained, json: string): void {
  Object.defineProperty(result, "explanation", PROPERTY);
  new ExplanationMark(result, json);
}

/** Gives a result the explanation of another, if that has one, without looking at it. */
export function shareExplanation(result: Explained, from: Explained): void {
  const property = Object.getOwnPropertyDescriptor(from, "explanation");
  if (property === undefined) return;
  const isRead = property.get !== PROPERTY.get;
  Object.defineProperty(result, "explanation", isRead ? property : { ...PROPERTY, get: () => from.explanation });
}
