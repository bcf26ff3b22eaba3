/**
 * What a model's request has of the turns before: what the user said, and what was answered in the end. It has turns that
 * left no messages of their own, and answers that were changed after the model had given them.
 */

import type { Content } from "../types.js";
import { isOfUser } from "./messages.js";
import type { TraceTurn } from "./turns.js";

/** A turn as a later one tells of it. */
export interface Exchange {
  user: Content;
  answers: Content[];
}

/** What later turns tell of each turn of a conversation, where they do. O(n) in the messages of the turns. */
export function exchangesOf(turns: readonly TraceTurn[]): (Exchange | undefined)[] {
  const exchangeByTurn: (Exchange | undefined)[] = turns.map(() => undefined);
  // The nearest later turn tells best.
  for (const [at, { calls }] of turns.entries()) {
    const exchanges = split(calls.find(({ input }) => input.length > 0)?.input ?? []);
    // The last is the turn itself.
    for (let back = 1; back < exchanges.length && back <= at; back += 1) {
      if (exchangeByTurn[at - back] !== undefined) break;
      const exchange = exchanges.at(-1 - back);
      if (exchange !== undefined) exchangeByTurn[at - back] = exchange;
    }
  }
  return exchangeByTurn;
}

/** The turns in a model's request; the last is its own. */
export function split(contents: readonly Content[]): Exchange[] {
  const exchanges: Exchange[] = [];
  for (const content of contents) {
    if (isOfUser(content)) exchanges.push({ user: content, answers: [] });
    else exchanges.at(-1)?.answers.push(content);
  }
  return exchanges;
}
