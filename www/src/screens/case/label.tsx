/** Labels on the verdicts of a case, where these are shown. */

import type { VerdictToLabel } from "adk-metrics/calibration";
import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { labelOf, setLabel } from "../../state/labels.js";
import { runProgress } from "../../state/run.js";
import { Status } from "../../ui/status.js";
import { engine } from "../../worker/client.js";
import { answersOf } from "../labels/answers.js";
import "./label.css";

/** The verdicts of the case that is shown which can be labelled, and how many turns it has. */
const labelable = signal<readonly VerdictToLabel[]>([]);

/** Loads which verdicts of a case can be labelled. */
export function useLabels(run: string, row: number, status: number): void {
  const isRunning = runProgress.value !== undefined;
  useEffect(() => {
    let isCurrent = true;
    labelable.value = [];
    if (isRunning) return undefined;
    void engine.verdictsOfCase(run, row).then((outcome) => {
      if (isCurrent && outcome.ok) labelable.value = outcome.value;
    });
    return () => {
      isCurrent = false;
    };
  }, [run, row, status, isRunning]);
}

interface LabelProps {
  /** The turn, counted from 0, and whether it is the last, where verdicts on whole conversations are shown. */
  turn: number;
  isLast: boolean;
  metricName: string;
  rubricId?: string;
}

/** Thumbs, or the scale of the metric, and a comment. Nothing where there is no verdict to label. */
export function LabelVerdict({ turn, isLast, metricName, rubricId }: LabelProps) {
  const isOpen = useSignal(false);
  const verdict = labelable.value.find(
    (one) =>
      one.metricName === metricName &&
      one.rubricId === rubricId &&
      (one.turn === undefined ? isLast : one.turn === turn + 1),
  );
  if (verdict === undefined) return null;
  const given = labelOf(verdict);
  const name = rubricId ?? metricName;
  return (
    <div class="label-verdict" role="group" aria-label={`Your label of ${name}`}>
      {answersOf(verdict).map(({ key, label, word }) => (
        <button
          key={key}
          type="button"
          aria-pressed={given?.label === label}
          aria-label={`Label: ${word}`}
          title={`Label: ${word}`}
          onClick={() =>
            setLabel(verdict, {
              label: given?.label === label ? undefined : label,
              chosen: given?.chosen ?? "doubtful",
            })
          }
        >
          {typeof label === "boolean" ? <Thumb isUp={label} /> : word}
        </button>
      ))}
      <button
        type="button"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {given?.comment === undefined ? "Comment" : "Comment ✎"}
      </button>
      {given?.label !== undefined && differs(verdict, given.label) && (
        <span class="label-differs">
          <Status of={EvalStatus.NOT_EVALUATED} isNamed /> differs from the judge
        </span>
      )}
      {isOpen.value && (
        <input
          class="field"
          aria-label={`Comment on ${name}`}
          value={given?.comment ?? ""}
          onInput={({ currentTarget }) => setLabel(verdict, { comment: currentTarget.value })}
        />
      )}
    </div>
  );
}

/** Whether a label contradicts the judge: half of a scale or more apart, as calibrations count it. */
function differs({ judge, scale }: VerdictToLabel, label: NonNullable<ReturnType<typeof labelOf>>["label"]): boolean {
  if (typeof label === "boolean" || scale === undefined) return label !== judge.passes;
  return judge.score !== undefined && Math.abs(Number(label) - judge.score) >= (scale.most - scale.least) / 2;
}

function Thumb({ isUp }: { isUp: boolean }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" class={isUp ? undefined : "down"}>
      <path
        d="M5.5 7.2 8 2.2c1 0 1.6.7 1.6 1.7v2.3h3c.9 0 1.5.8 1.3 1.6l-1 4.6c-.1.6-.7 1.1-1.3 1.1H5.5zM2.3 7.2h3.2v6.3H2.3z"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linejoin="round"
      />
    </svg>
  );
}
