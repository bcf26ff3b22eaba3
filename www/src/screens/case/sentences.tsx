/** The sentences of a turn by label, each linked to what the judge quotes from the context. */

import type { Sentence } from "adk-metrics";
import { useContext, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { head } from "../../ui/format.js";
import { Text, visible } from "../../ui/text.js";
import { type Pointed, Pointing } from "./pointing.js";

const LOOKS: ReadonlyMap<string, string> = new Map([
  ["supported", "supported"],
  ["unsupported", "unsupported"],
  ["contradictory", "contradictory"],
  ["disputed", "disputed"],
  ["not_applicable", "inapplicable"],
]);

/** The class that sets how a label looks: colour, and a line of its own kind. */
export function lookOf(label: string): string {
  return LOOKS.get(label) ?? "inapplicable";
}

/** A label in words, looking as it does where it is marked. */
export function Label({ of: label }: { of: string }) {
  return (
    <mark class={`sentence label ${lookOf(label)}`}>{visible(head(label, 40).replaceAll("_", " ")) || "no label"}</mark>
  );
}

/** The labels of some sentences, those that count for the score first. */
export function labelsOf(sentences: readonly Sentence[]): string[] {
  const order = [...LOOKS.keys()];
  const rank = (label: string) => (LOOKS.has(label) ? order.indexOf(label) : order.length);
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
          {steps.size > 1 && <h5>{step === last ? "Final response" : `Step ${step + 1}, on the way`}</h5>}
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

/** What the judge quotes; pointing at it marks it in the context, choosing it goes there. */
function Excerpt({ kind, excerpt }: Pick<Pointed, "kind" | "excerpt">) {
  const pointing = useContext(Pointing);
  const button = useRef<HTMLButtonElement>(null);
  const isMissing = useSignal(false);
  const { value: pointed } = pointing;
  const isOurs = pointed?.excerpt === excerpt && pointed.kind === kind;
  const isChosen = isOurs && pointed.isChosen;

  function pass(isOver: boolean): void {
    if (pointing.value?.isChosen) return;
    pointing.value = isOver ? { excerpt, kind, isChosen: false } : undefined;
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        class={`excerpt ${kind}`}
        aria-pressed={isChosen}
        onPointerEnter={() => pass(true)}
        onPointerLeave={() => pass(false)}
        onFocus={() => pass(true)}
        onBlur={() => pass(false)}
        onClick={() => {
          pointing.value = isChosen ? undefined : { excerpt, kind, isChosen: true };
          if (isChosen) return;
          const turn = button.current?.closest(".turn");
          requestAnimationFrame(() => {
            const place = turn?.querySelector(".excerpt-mark");
            isMissing.value = place === null || place === undefined;
            const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
            place?.scrollIntoView({ block: "center", behavior: isCalm ? "instant" : "smooth" });
          });
        }}
      >
        <span class="excerpt-kind">{kind === "supports" ? "Supported by" : "Contradicted by"}</span>{" "}
        <q>
          <bdi>{visible(head(excerpt, 400))}</bdi>
        </q>
      </button>
      {isChosen && isMissing.value && <p class="muted">This does not stand in the context word for word.</p>}
    </>
  );
}
