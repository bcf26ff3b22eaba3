/** The effective number of verdicts, where those of a case depend on each other. */

import type { Share } from "./corrected.js";

/** How often verdicts pass. Those of a case depend on each other, so sums are over cases: of verdicts, passes, and their products. */
export class Passes {
  #cases = 0;
  #count = 0;
  #passed = 0;
  #countSquares = 0;
  #passedSquares = 0;
  #products = 0;
  #last: { key: string; count: number; passed: number } | undefined;

  /** Adds verdicts of a group, to which the next ones may belong too. */
  add(key: string, members: readonly { passes: boolean }[]): void {
    const before = this.#last?.key === key ? this.#last : undefined;
    if (before !== undefined) this.#sum(before, -1);
    const count = (before?.count ?? 0) + members.length;
    const passed = (before?.passed ?? 0) + members.filter(({ passes }) => passes).length;
    this.#last = { key, count, passed };
    this.#sum(this.#last, 1);
  }

  #sum({ count, passed }: { count: number; passed: number }, times: 1 | -1): void {
    this.#cases += times;
    this.#count += times * count;
    this.#passed += times * passed;
    this.#countSquares += times * count * count;
    this.#passedSquares += times * passed * passed;
    this.#products += times * count * passed;
  }

  /**
   * The share, and the effective number of verdicts (L. Kish's design effect, 1965). Unlike intervals of shares it is not reduced
   * for few cases: the interval of a corrected rate, which is made of three of them, holds the truth often enough without.
   */
  get share(): Share | undefined {
    const [cases, all] = [this.#cases, this.#count];
    if (all === 0) return undefined;
    const share = this.#passed / all;
    if (cases < 2) return { share, count: cases };
    // The sum over cases of (passed − share · count)², times all², of whole numbers.
    const squares =
      all * all * this.#passedSquares -
      2 * all * this.#passed * this.#products +
      this.#passed ** 2 * this.#countSquares;
    // What is left of a difference of equals is noise of the arithmetic.
    const isNone = squares <= 1e-12 * all * all * this.#passedSquares;
    const effective = isNone ? cases : ((share * (1 - share)) / squares) * all ** 4 * (1 - 1 / cases);
    return { share, count: Math.min(all, Math.max(cases, effective)) };
  }
}
