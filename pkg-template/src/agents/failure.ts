/** What an agent threw, in words: its class, message, where it was thrown, and what caused it. */

import { framesOf } from "../engine/frames.js";
import { causesOf, shortened, titleOf } from "../engine/values.js";
import { isAdkMetricsError } from "../errors.js";

/**
 * Why a run failed. The first line says it all; the lines below are the stack, and one paragraph for each cause.
 *
 * @param turn The turn in which it failed, counted from 1; absent if the agent was in none.
 */
export function reasonOf(error: unknown, turn?: number): string {
  const where = turn === undefined ? "" : `turn ${turn}: `;
  const told = causesOf(error).flat();
  const causes = told.flatMap((cause) => [`Caused by: ${shortened(titleOf(cause))}`, ...framesOf(cause)]);
  if (isAdkMetricsError(error)) {
    const words = error.toString();
    const namesTurn = error.code === "cancelled" || words.includes(`turn ${turn} `);
    return [`${namesTurn ? "" : where}${words}`, ...causes].join("\n");
  }
  if (error === undefined || error === null || error === "") return `${where}the agent failed without an error`;
  return [`${where}${shortened(titleOf(error))}`, ...framesOf(error), ...causes].join("\n");
}
