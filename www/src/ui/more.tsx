import type { Signal } from "@preact/signals";
import { count } from "./format.js";

interface MoreProps {
  /** How many are shown. */
  limit: Signal<number>;
  total: number;
  /** How many each press adds. */
  step: number;
  /** The name of one item. */
  noun: string;
}

/** A button that shows more items of a long list. */
export function More({ limit, total, step, noun }: MoreProps) {
  if (total <= limit.value) return null;
  return (
    <button
      type="button"
      class="button more"
      onClick={() => {
        limit.value += step;
      }}
    >
      Show more of {count(total, noun)}
    </button>
  );
}
