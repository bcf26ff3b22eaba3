/** Rounds of random draws, the same on every machine. */

import { createRandom } from "../../adk-ts/random.mjs";

/** Why simulations are left out; false with all suites. */
export const leftOut =
  process.env.ALL_SUITES === "true" || process.env.CI === "true" ? false : "thousands of rounds take a minute";

/** Random numbers from 0 to 1. */
export function randomOf(seed: number): () => number {
  return createRandom(seed).next;
}

/** In which share of 2,000 rounds an interval contains the truth. */
export function coverage(truth: number, interval: () => { low?: number; high?: number } | undefined): number {
  let contained = 0;
  for (let round = 0; round < 2000; round += 1) {
    const { low = Number.NaN, high = Number.NaN } = interval() ?? {};
    if (low <= truth && truth <= high) contained += 1;
  }
  return contained / 2000;
}
