/** What is folded at first, where there is no room for it above the cases. */

import { type Signal, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/** Whether the window is as narrow as a phone. */
const query = matchMedia("(max-width: 40rem)");
export const isNarrow = signal(query.matches);
query.addEventListener("change", () => (isNarrow.value = query.matches));

interface FoldProps {
  title: ComponentChildren;
  isOpen: Signal<boolean>;
  children: ComponentChildren;
}

/** Something under a title; what it is is rendered when it is opened. */
export function Fold({ title, isOpen, children }: FoldProps) {
  return (
    <details
      class="more"
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>{title}</summary>
      {isOpen.value && children}
    </details>
  );
}
