/** The expected and the actual response side by side, with the words or sentences that metrics found marked. */

import type { EvalMetricResult, Sentence } from "adk-metrics";
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { amountText, scoreText } from "../../ui/format.js";
import { type Mark, Text } from "../../ui/text.js";
import { MAX_MATCHED_WORDS } from "../../worker/protocol.js";
import { Label, labelsOf, labelClass } from "./sentences.js";
import "./responses.css";

interface ResponsesProps {
  expected: string | undefined;
  actual: string;
  metrics: readonly EvalMetricResult[];
}

type MarkKind = "words" | "sentences" | "nothing";

export function Responses({ expected, actual, metrics }: ResponsesProps) {
  const tokens = metrics.find(({ explanation }) => explanation?.tokens)?.explanation?.tokens;
  const sentences = metrics.find(({ explanation }) => explanation?.sentences)?.explanation?.sentences;
  const sentencesInResponse = useMemo(() => sentenceMarks(actual, sentences ?? []), [actual, sentences]);
  const words = useMemo(
    () => ({
      expected: (tokens?.matched ?? []).map(({ expected: [from, to] }): Mark => ({ from, to, className: "shared" })),
      actual: (tokens?.matched ?? []).map(({ actual: [from, to] }): Mark => ({ from, to, className: "shared" })),
    }),
    [tokens],
  );
  const chosen = useSignal<MarkKind | undefined>(undefined);
  const choices: [MarkKind, string][] = [
    ...(sentencesInResponse.length > 0 ? [["sentences", "Sentences"] as [MarkKind, string]] : []),
    ...(tokens !== undefined ? [["words", "Shared words"] as [MarkKind, string]] : []),
  ];
  const shown = chosen.value ?? choices[0]?.[0] ?? "nothing";
  const marks = shown === "words" ? words.actual : shown === "sentences" ? sentencesInResponse : [];
  return (
    <div class="responses">
      <div class={expected === undefined ? "sides single" : "sides"}>
        {expected !== undefined && (
          <div class="message expected">
            <h3>Expected response</h3>
            {expected === "" ? <NoText /> : <Text marks={shown === "words" ? words.expected : []}>{expected}</Text>}
          </div>
        )}
        <div class="message agent">
          <h3>Final response</h3>
          {actual === "" ? <NoText /> : <Text marks={marks}>{actual}</Text>}
        </div>
      </div>
      {choices.length > 0 && (
        <div class="legend">
          <span class="muted">Highlight:</span>
          <div class="toggles" role="group" aria-label="Highlight in the responses">
            {[...choices, ["nothing", "Off"] as [MarkKind, string]].map(([value, name]) => (
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
              {amountText(tokens.matched.length)}
              {tokens.matched.length < MAX_MATCHED_WORDS ? "" : " or more"} shared{" "}
              {tokens.matched.length === 1 ? "word" : "words"} (<mark class="shared">underlined</mark>), precision{" "}
              {scoreText(tokens.precision)}, recall {scoreText(tokens.recall)}
              {tokens.matched.length === MAX_MATCHED_WORDS && `; the first ${amountText(MAX_MATCHED_WORDS)} are marked`}
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

function NoText() {
  return <p class="muted">No text</p>;
}

/** Marks the sentences of the final response, in order. Sentences of earlier steps are not part of it. */
function sentenceMarks(text: string, sentences: readonly Sentence[]): Mark[] {
  const last = Math.max(0, ...sentences.map(({ stepIndex = 0 }) => stepIndex));
  let from = 0;
  return sentences.flatMap(({ text: sentence, label, stepIndex = 0 }) => {
    if (stepIndex !== last || sentence === "") return [];
    const at = text.indexOf(sentence, from);
    if (at < 0) return [];
    from = at + sentence.length;
    return [{ from: at, to: from, className: `sentence ${labelClass(label)}` }];
  });
}
