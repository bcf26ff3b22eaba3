/** Copies a text to the clipboard. */

import { signal, useSignal } from "@preact/signals";
import "./copy.css";

interface CopyProps {
  /** What is copied; a function if making it takes time. */
  text: string | (() => string);
  /** What it is, such as “the arguments”. */
  what: string;
}

/** What the last button said, for screen readers. */
const announced = signal("");

/** The live region of all buttons of a screen. */
export function CopyStatus() {
  return (
    <span role="status" class="visually-hidden">
      {announced.value}
    </span>
  );
}

/** A button that copies a text, and says so. */
export function Copy({ text, what }: CopyProps) {
  const said = useSignal("");
  return (
    <span class="copy">
      <button
        type="button"
        aria-label={`Copy ${what}`}
        title={`Copy ${what}`}
        onClick={async () => {
          try {
            await navigator.clipboard.writeText(typeof text === "string" ? text : text());
            said.value = "Copied";
          } catch {
            said.value = "Select and copy it: this page may not use the clipboard";
          }
          announced.value = said.value;
        }}
      >
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path
            d="M6 6V3.5h6.5V10H10M3.5 6H10v6.5H3.5z"
            fill="none"
            stroke="currentColor"
            stroke-width="1.25"
            stroke-linejoin="round"
          />
        </svg>
      </button>
      {said.value}
    </span>
  );
}
