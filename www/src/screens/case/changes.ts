/** What differs between expected and actual texts, as the worker finds it. */

import { useEffect, useState } from "preact/hooks";
import { engine } from "../../worker/client.js";
import type { TextPair, WordChanges } from "../../worker/protocol.js";
import type { Mark } from "../../ui/text.js";
import type { TextRange } from "./excerpt.js";

/**
 * The changed words of pairs of texts; undefined until they are known.
 *
 * @param pairs Asked for again when they are another list.
 */
export function useChanges(pairs: readonly TextPair[]): readonly WordChanges[] | undefined {
  const [found, setFound] = useState<{ of: readonly TextPair[]; changes: readonly WordChanges[] } | undefined>();
  useEffect(() => {
    let isCurrent = true;
    if (pairs.length === 0) return undefined;
    void engine.changesIn(pairs).then((outcome) => {
      if (isCurrent && outcome.ok) setFound({ of: pairs, changes: outcome.value });
    });
    return () => {
      isCurrent = false;
    };
  }, [pairs]);
  return found?.of === pairs ? found.changes : undefined;
}

export function changeMarks(ranges: WordChanges["expected"] = []): Mark[] {
  return ranges.map(([from, to]) => ({ from, to, className: "changed" }));
}

/** How much is shown before and after a change, and how little is not worth leaving out. */
const CONTEXT = 80;
const SHORTEST_GAP = 60;

/** The parts of a text around its changes, in order. */
export function excerptsAround(text: string, ranges: WordChanges["expected"]): TextRange[] {
  const parts: TextRange[] = [];
  for (const [start, end] of ranges) {
    const from = start - CONTEXT < SHORTEST_GAP ? 0 : wordAt(text, start - CONTEXT);
    const to = text.length - end - CONTEXT < SHORTEST_GAP ? text.length : wordAt(text, end + CONTEXT);
    const last = parts.at(-1);
    if (last !== undefined && from - last.to < SHORTEST_GAP) last.to = Math.max(last.to, to);
    else parts.push({ from, to });
  }
  return parts;
}

/** An offset, moved to the beginning of a word that is near. */
function wordAt(text: string, offset: number): number {
  const near = text.slice(offset, offset + 40);
  const space = near.search(/\s/);
  if (space >= 0) return offset + space + 1;
  const isSecondHalf = near.charCodeAt(0) >= 0xdc00 && near.charCodeAt(0) <= 0xdfff;
  return isSecondHalf ? offset + 1 : offset;
}
