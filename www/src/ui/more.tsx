import type { Signal } from "@preact/signals";
import { count } from "./format.js";

interface MoreProps {
  /** How many are shown. */
  limit: Signal<number>;
  total: number;
  /** How many each press adds. */
  step: number;
  /** What they are, for one of them. */
  noun: string;
}

/** The way to the rest of a long list, of which only the beginning is shown. */
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
