/** The sentences of a turn with their labels, each linked to the judge's quotations from the context. */

import type { Sentence } from "adk-metrics";
import { useContext, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { head } from "../../ui/format.js";
import { Text, visible } from "../../ui/text.js";
import { type Highlight, HighlightContext } from "./highlight.js";
import "./sentences.css";

const LABEL_CLASSES: ReadonlyMap<string, string> = new Map([
  ["supported", "supported"],
  ["unsupported", "unsupported"],
  ["contradictory", "contradictory"],
  ["disputed", "disputed"],
  ["not_applicable", "inapplicable"],
]);

/** The CSS class of a label, which sets its colour and its line style. */
export function labelClass(label: string): string {
  return LABEL_CLASSES.get(label) ?? "inapplicable";
}

/** A label, styled like its marks in the text. */
export function Label({ of: label }: { of: string }) {
  return (
    <mark class={`sentence label ${labelClass(label)}`}>
      {visible(head(label, 40).replaceAll("_", " ")) || "no label"}
    </mark>
  );
}

/** The distinct labels of sentences, those that affect the score first. */
export function labelsOf(sentences: readonly Sentence[]): string[] {
  const order = [...LABEL_CLASSES.keys()];
  const rank = (label: string) => (LABEL_CLASSES.has(label) ? order.indexOf(label) : order.length);
  return [...new Set(sentences.map(({ label }) => label))].sort((a, b) => rank(a) - rank(b));
}

export function Sentences({ sentences }: { sentences: readonly Sentence[] }) {
  const steps = new Map<number, Sentence[]>();
  for (const sentence of sentences) {
    const step = sentence.stepIndex ?? 0;
    const known = steps.get(step);
    if (known === undefined) steps.set(step, [sentence]);
    else known.push(sentence);
  }
  const last = [...steps.keys()].reduce((most, step) => Math.max(most, step), 0);
  return (
    <>
      {[...steps].map(([step, ofStep]) => (
        <div key={step}>
          {steps.size > 1 && <h5>{step === last ? "Final response" : `Step ${step + 1}, intermediate`}</h5>}
          <ol class="sentences">
            {ofStep.map((sentence, at) => (
              <SentenceItem key={at} sentence={sentence} />
            ))}
          </ol>
        </div>
      ))}
    </>
  );
}

function SentenceItem({ sentence }: { sentence: Sentence }) {
  const { text, label, rationale, supportingExcerpt, contradictingExcerpt } = sentence;
  return (
    <li>
      <Label of={label} />
      <div>
        <Text fold={600}>{text}</Text>
        {rationale !== "" && (
          <div class="muted">
            <Text fold={400}>{rationale}</Text>
          </div>
        )}
        {supportingExcerpt && <Excerpt kind="supports" excerpt={supportingExcerpt} />}
        {contradictingExcerpt && <Excerpt kind="contradicts" excerpt={contradictingExcerpt} />}
      </div>
    </li>
  );
}

/** A quotation of the judge. Hovering marks it in the context; a click also scrolls there. */
function Excerpt({ kind, excerpt }: Pick<Highlight, "kind" | "excerpt">) {
  const highlightSignal = useContext(HighlightContext);
  const button = useRef<HTMLButtonElement>(null);
  const isMissing = useSignal(false);
  const { value: highlight } = highlightSignal;
  const isOwn = highlight?.excerpt === excerpt && highlight.kind === kind;
  const isChosen = isOwn && highlight.isChosen;

  function hover(isOver: boolean): void {
    if (highlightSignal.value?.isChosen) return;
    highlightSignal.value = isOver ? { excerpt, kind, isChosen: false } : undefined;
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        class={`excerpt ${kind}`}
        aria-pressed={isChosen}
        onPointerEnter={() => hover(true)}
        onPointerLeave={() => hover(false)}
        onFocus={() => hover(true)}
        onBlur={() => hover(false)}
        onClick={() => {
          highlightSignal.value = isChosen ? undefined : { excerpt, kind, isChosen: true };
          if (isChosen) return;
          const turn = button.current?.closest(".turn");
          requestAnimationFrame(() => {
            const mark = turn?.querySelector(".excerpt-mark");
            isMissing.value = mark === null || mark === undefined;
            const prefersReducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
            mark?.scrollIntoView({ block: "center", behavior: prefersReducedMotion ? "instant" : "smooth" });
          });
        }}
      >
        <span class="excerpt-kind">{kind === "supports" ? "Supported by" : "Contradicted by"}</span>{" "}
        <q>
          <bdi>{visible(head(excerpt, 400))}</bdi>
        </q>
      </button>
      {isChosen && isMissing.value && <p class="muted">This is not in the context word for word.</p>}
    </>
  );
}
