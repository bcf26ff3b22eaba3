/** The expected and the actual response side by side, with what metrics found in them marked. */

import type { EvalMetricResult, Sentence } from "adk-metrics";
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { amountText, scoreText } from "../../ui/format.js";
import { type Mark, Text } from "../../ui/text.js";
import { MOST_WORDS } from "../../worker/protocol.js";
import { Label, labelsOf, lookOf } from "./sentences.js";

interface ResponsesProps {
  expected: string | undefined;
  actual: string;
  metrics: readonly EvalMetricResult[];
}

type Shown = "words" | "sentences" | "nothing";

export function Responses({ expected, actual, metrics }: ResponsesProps) {
  const tokens = metrics.find(({ explanation }) => explanation?.tokens)?.explanation?.tokens;
  const sentences = metrics.find(({ explanation }) => explanation?.sentences)?.explanation?.sentences;
  const inResponse = useMemo(() => sentenceMarks(actual, sentences ?? []), [actual, sentences]);
  const words = useMemo(
    () => ({
      expected: (tokens?.matched ?? []).map(({ expected: [from, to] }): Mark => ({ from, to, look: "shared" })),
      actual: (tokens?.matched ?? []).map(({ actual: [from, to] }): Mark => ({ from, to, look: "shared" })),
    }),
    [tokens],
  );
  const chosen = useSignal<Shown | undefined>(undefined);
  const choices: [Shown, string][] = [
    ...(inResponse.length > 0 ? [["sentences", "Sentences"] as [Shown, string]] : []),
    ...(tokens !== undefined ? [["words", "Shared words"] as [Shown, string]] : []),
  ];
  const shown = chosen.value ?? choices[0]?.[0] ?? "nothing";
  const marks = shown === "words" ? words.actual : shown === "sentences" ? inResponse : [];
  return (
    <div class="responses">
      <div class={expected === undefined ? "sides single" : "sides"}>
        {expected !== undefined && (
          <div class="said expected">
            <h3>Expected response</h3>
            {expected === "" ? <Nothing /> : <Text marks={shown === "words" ? words.expected : []}>{expected}</Text>}
          </div>
        )}
        <div class="said agent">
          <h3>Final response</h3>
          {actual === "" ? <Nothing /> : <Text marks={marks}>{actual}</Text>}
        </div>
      </div>
      {choices.length > 0 && (
        <div class="legend">
          <div class="toggles" role="group" aria-label="Mark in the responses">
            {[...choices, ["nothing", "Nothing"] as [Shown, string]].map(([value, name]) => (
              <button
                key={value}
                type="button"
                aria-pressed={shown === value}
                onClick={() => {
                  chosen.value = value;
                }}
              >
                {name}
              </button>
            ))}
          </div>
          {shown === "words" && tokens !== undefined && (
            <p>
              <mark class="shared">Underlined</mark> words are in both: {amountText(tokens.matched.length)}
              {tokens.matched.length < MOST_WORDS ? "" : " or more"} in all, precision {scoreText(tokens.precision)},
              recall {scoreText(tokens.recall)}
              {tokens.matched.length === MOST_WORDS && `. The first ${amountText(MOST_WORDS)} are marked`}
            </p>
          )}
          {shown === "sentences" && (
            <p class="labels">
              {labelsOf(sentences ?? []).map((label) => (
                <Label key={label} of={label} />
              ))}
            </p>
          )}
        </div>
      )}
    </div>
  );
}

function Nothing() {
  return <p class="muted">No text</p>;
}

/** Where the sentences of a response stand in it, one after the other. Those of earlier steps are elsewhere. */
function sentenceMarks(text: string, sentences: readonly Sentence[]): Mark[] {
  const last = Math.max(0, ...sentences.map(({ stepIndex = 0 }) => stepIndex));
  let from = 0;
  return sentences.flatMap(({ text: sentence, label, stepIndex = 0 }) => {
    if (stepIndex !== last || sentence === "") return [];
    const at = text.indexOf(sentence, from);
    if (at < 0) return [];
    from = at + sentence.length;
    return [{ from: at, to: from, look: `sentence ${lookOf(label)}` }];
  });
}
