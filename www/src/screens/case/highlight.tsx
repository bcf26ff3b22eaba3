/** Highlights an excerpt that a judge quotes in the context that it is from. */

import { type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";
import { Text } from "../../ui/text.js";
import { createFinder } from "./excerpt.js";
import { jsonOf } from "./model.js";

export interface Highlight {
  excerpt: string;
  kind: "supports" | "contradicts";
  /** Whether it was clicked rather than hovered: then it stays. */
  isChosen: boolean;
}

/** The current highlight of a turn. */
export const HighlightContext = createContext<Signal<Highlight | undefined>>(signal(undefined));

interface ContextTextProps {
  children: string;
  fold?: number;
  mono?: boolean;
}

/** A text of the context, in which the excerpt is marked. */
export function ContextText({ children: text, ...look }: ContextTextProps) {
  const highlight = useContext(HighlightContext).value;
  const find = useMemo(() => createFinder(text), [text]);
  const found = useMemo(() => (highlight === undefined ? undefined : find(highlight.excerpt)), [find, highlight]);
  if (found === undefined || highlight === undefined) return <Text {...look}>{text}</Text>;
  return (
    <Text {...look} marks={[{ ...found, className: `excerpt-mark ${highlight.kind}` }]} upTo={found.to}>
      {text}
    </Text>
  );
}

/** A JSON value of the context. */
export function ContextValue({ value, fold = 600 }: { value: unknown; fold?: number }) {
  const text = useMemo(() => jsonOf(value), [value]);
  return (
    <ContextText mono fold={fold}>
      {text}
    </ContextText>
  );
}
