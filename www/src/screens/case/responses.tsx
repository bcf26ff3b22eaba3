/** The expected and the actual response side by side, with what changed, or what metrics found, marked. */

import type { EvalMetricResult, Sentence } from "adk-metrics";
import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { onlyDifferences } from "../../state/only-differences.js";
import { Copy } from "../../ui/copy.js";
import { amountText, scoreText } from "../../ui/format.js";
import { isMarkdown, Markdown } from "../../ui/markdown.js";
import { type Mark, Text } from "../../ui/text.js";
import { MAX_MATCHED_WORDS, type TextPair, type WordChanges } from "../../worker/protocol.js";
import { changeMarks, useChanges } from "./changes.js";
import { ChangedParts } from "./differing-text.js";
import { Label, labelsOf, labelClass } from "./sentences.js";
import "./responses.css";

interface ResponsesProps {
  expected: string | undefined;
  actual: string;
  metrics: readonly EvalMetricResult[];
}

/** Whether responses are shown as Markdown; nothing is marked in them then. */
const rendersMarkdown = signal(false);

type MarkKind = "changes" | "words" | "sentences" | "nothing";

export function Responses({ expected, actual, metrics }: ResponsesProps) {
  const differs = expected !== undefined && expected !== actual;
  const pairs = useMemo((): TextPair[] => (differs ? [[expected, actual]] : []), [expected, actual]);
  const changes = useChanges(pairs)?.[0];
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
    ...(differs ? [["changes", "Changed words"] as [MarkKind, string]] : []),
    ...(tokens !== undefined ? [["words", "Shared words"] as [MarkKind, string]] : []),
  ];
  if (onlyDifferences.value && expected !== undefined) {
    return <OnlyDifferences expected={expected} actual={actual} changes={changes} />;
  }
  const canRender = isMarkdown(actual) || isMarkdown(expected ?? "");
  const isRendered = canRender && rendersMarkdown.value;
  const shown = isRendered ? "nothing" : (chosen.value ?? choices[0]?.[0] ?? "nothing");
  const marks: Readonly<Record<MarkKind, { expected?: Mark[]; actual: Mark[] }>> = {
    changes: { expected: changeMarks(changes?.expected), actual: changeMarks(changes?.actual) },
    words,
    sentences: { actual: sentencesInResponse },
    nothing: { actual: [] },
  };
  return (
    <div class="responses">
      <div class={expected === undefined ? "sides single" : "sides"}>
        {expected !== undefined && (
          <Side title="Expected response" className="expected" text={expected}>
            {isRendered ? (
              <Markdown>{expected}</Markdown>
            ) : (
              <MarkedText marks={marks[shown].expected ?? []}>{expected}</MarkedText>
            )}
          </Side>
        )}
        <Side title="Final response" className="agent" text={actual}>
          {isRendered ? <Markdown>{actual}</Markdown> : <MarkedText marks={marks[shown].actual}>{actual}</MarkedText>}
        </Side>
      </div>
      {(choices.length > 0 || canRender) && (
        <div class="legend">
          {canRender && (
            <button
              type="button"
              class="button"
              data-kind="quiet"
              onClick={() => {
                rendersMarkdown.value = !isRendered;
              }}
            >
              {isRendered ? "Show as text" : "Render Markdown"}
            </button>
          )}
          {choices.length > 0 && !isRendered && (
            <Toggles
              label="Highlight"
              choices={[...choices, ["nothing", "Off"]]}
              shown={shown}
              choose={(value) => {
                chosen.value = value;
              }}
            />
          )}
          {shown === "changes" && changes !== undefined && <ChangesLegend changes={changes} />}
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

/** How far the first mark may be for the text to be shown as far as that. */
const LONGEST_WAY = 20_000;

/** A text that is folded after its first mark, if that is not too far. */
function MarkedText({ marks, children }: { marks: readonly Mark[]; children: string }) {
  const first = marks[0]?.to ?? 0;
  return (
    <Text marks={marks} upTo={first > LONGEST_WAY ? 0 : first}>
      {children}
    </Text>
  );
}

interface TogglesProps<T extends string> {
  label: string;
  choices: readonly (readonly [T, string])[];
  shown: T;
  choose(value: T): void;
}

/** Buttons, one of which is pressed. */
function Toggles<T extends string>({ label, choices, shown, choose }: TogglesProps<T>) {
  return (
    <>
      <span class="muted">{label}:</span>
      <div class="toggles" role="group" aria-label={`${label} in the responses`}>
        {choices.map(([value, name]) => (
          <button key={name} type="button" aria-pressed={shown === value} onClick={() => choose(value)}>
            {name}
          </button>
        ))}
      </div>
    </>
  );
}

interface SideProps {
  title: string;
  className: string;
  text: string;
  children: ComponentChildren;
}

/** A response with its title. */
function Side({ title, className, text, children }: SideProps) {
  return (
    <div class={`message ${className}`}>
      <h3>
        {title}
        {text !== "" && <Copy text={text} what={`the ${title.toLowerCase()}`} />}
      </h3>
      {text === "" ? <NoText /> : children}
    </div>
  );
}

/** What the marks of changed words say. */
function ChangesLegend({ changes: { expected, actual, isExact } }: { changes: WordChanges }) {
  if (expected.length + actual.length === 0) return <p>Only white space differs.</p>;
  if (isExact) return null;
  return <p>The texts differ too much to mark words: all from the first difference to the last is marked.</p>;
}

interface OnlyDifferencesProps {
  expected: string;
  actual: string;
  changes: WordChanges | undefined;
}

/** The parts of both responses that differ. */
function OnlyDifferences({ expected, actual, changes }: OnlyDifferencesProps) {
  const isSame = expected === actual;
  return (
    <div class="responses">
      {isSame || changes === undefined || changes.expected.length + changes.actual.length === 0 ? (
        <>
          <h3>Responses</h3>
          <p class="muted">
            {isSame
              ? "The response is as expected, word for word."
              : changes === undefined
                ? "Loading…"
                : "Only white space differs."}
          </p>
        </>
      ) : (
        <>
          <div class="sides">
            <Side title="Expected response" className="expected" text={expected}>
              <ChangedParts ranges={changes.expected}>{expected}</ChangedParts>
            </Side>
            <Side title="Final response" className="agent" text={actual}>
              <ChangedParts ranges={changes.actual}>{actual}</ChangedParts>
            </Side>
          </div>
          {!changes.isExact && (
            <div class="legend">
              <ChangesLegend changes={changes} />
            </div>
          )}
        </>
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
