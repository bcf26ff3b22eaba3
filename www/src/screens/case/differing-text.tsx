/** One side of two texts that differ: whole, or only the parts around what changed. */

import { count } from "../../ui/format.js";
import { Text } from "../../ui/text.js";
import type { WordChanges } from "../../worker/protocol.js";
import { changeMarks, excerptsAround } from "./changes.js";

interface PartsProps {
  children: string;
  ranges: WordChanges["expected"];
}

/** The parts of a text around what changed, with how much is left out between them. */
export function ChangedParts({ children: text, ranges }: PartsProps) {
  const parts = excerptsAround(text, ranges);
  if (parts.length === 0) return <p class="muted">Nothing but what both texts have</p>;
  let shown = 0;
  return (
    <div class="changed-parts">
      {parts.map(({ from, to }) => {
        const skipped = from - shown;
        shown = to;
        const marks = ranges
          .filter(([start, end]) => start < to && end > from)
          .map(([start, end]): [number, number] => [start - from, end - from]);
        return (
          <>
            <Skipped length={skipped} />
            <Text marks={changeMarks(marks)}>{text.slice(from, to)}</Text>
          </>
        );
      })}
      <Skipped length={text.length - shown} />
    </div>
  );
}

function Skipped({ length }: { length: number }) {
  return length === 0 ? null : <p class="skipped">{count(length, "character")} alike</p>;
}
