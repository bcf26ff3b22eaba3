/** How often the judge of a metric is right, by human labels: what a calibration found that the results carry. */

import type { Estimate, JudgeCalibration } from "adk-metrics";
import { EvalStatus } from "../../enums.js";
import { count } from "../../ui/format.js";
import { titleOf } from "../../ui/set-label.js";
import { Status } from "../../ui/status.js";
import { Name } from "../../ui/text.js";
import type { RunSummary } from "../../worker/protocol.js";

/** The calibrations of a metric, each once; pass rates are those of an evalset. */
export function Calibrations({ run, metricName }: { run: RunSummary; metricName: string }) {
  const all = run.sets.flatMap((set) =>
    (set.judgeCalibrations ?? [])
      .filter((one) => one.metricName === metricName)
      .map((one) => ({
        one,
        of: run.sets.length > 1 && one.passRate && one.passRate.isEarlier === undefined ? titleOf(set) : undefined,
      })),
  );
  const found = new Map(all.map((both) => [JSON.stringify(both), both]));
  const isJudged = run.sets.some(({ judges = [] }) => judges.some((judge) => judge.metricName === metricName));
  return (
    <>
      {[...found].map(([key, { one, of }]) => (
        <Calibration key={key} one={one} of={of} isJudged={isJudged} />
      ))}
    </>
  );
}

interface CalibrationProps {
  one: JudgeCalibration;
  of: string | undefined;
  isJudged: boolean;
}

function Calibration({ one, of, isJudged }: CalibrationProps) {
  const { metricName, rubricId, rubrics, labelled, agreement, kappa, passRate, stale } = one;
  const about = rubrics === undefined ? (rubricId === undefined ? "" : `rubric ${rubricId}`) : `all ${rubrics} rubrics`;
  const named = [metricName, about, of ?? ""].filter((part) => part !== "").join(", ");
  return (
    <section class="calibration" aria-label={`Calibration of ${named}`}>
      <h4>
        Checked against {count(labelled, "human label")}
        {about === "" ? "" : `: ${about}`}
      </h4>
      <dl>
        <Measure name="Agreement" value={shareText(agreement)} />
        {kappa && (
          <Measure
            name="Kappa"
            title="Agreement beyond chance: 0 is chance, 1 is perfect"
            value={estimateText(kappa, (value) => value.toFixed(2))}
          />
        )}
        {passRate && (
          <>
            <Measure
              name={[
                "Pass rate",
                ...(of === undefined ? [] : [`of ${of}`]),
                ...(passRate.isEarlier === true ? [isJudged ? "then," : "then"] : []),
                ...(isJudged ? ["by the judge"] : []),
              ].join(" ")}
              value={shareText({ value: passRate.judge })}
            />
            <Measure
              name={`Corrected for ${isJudged ? "its" : "the metric’s"} errors`}
              value={shareText(passRate.corrected)}
            />
          </>
        )}
      </dl>
      {stale !== undefined && (
        <p class="stale">
          <Status of={EvalStatus.NOT_EVALUATED} isNamed />
          <span>
            May no longer hold: <Name>{stale}</Name>
          </span>
        </p>
      )}
    </section>
  );
}

function Measure({ name, title, value }: { name: string; title?: string; value: string }) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** `0.68 (0.50 to 0.82)` */
function estimateText({ value, low, high }: Estimate, text: (value: number) => string, unit = ""): string {
  if (typeof low !== "number" || typeof high !== "number") return `${text(value)}${unit}`;
  return `${text(value)}${unit} (${text(low)} to ${text(high)}${unit})`;
}

/** `85% (74 to 92%)` */
function shareText(estimate: Estimate): string {
  return estimateText(estimate, (share) => String(Math.round(100 * share)), "%");
}
