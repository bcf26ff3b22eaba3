/** How often the judge is right, by the labels so far. */

import type { Estimate, SubjectCalibration } from "adk-metrics/calibration";
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../route.js";
import { calibration, calibrationProblem, labels } from "../../state/labels.js";
import { amountText, count, scoreText } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { MetricName, Name, Text } from "../../ui/text.js";
import type { RunCalibration } from "../../worker/protocol.js";

export function Agreement() {
  const found = calibration.value;
  return (
    <>
      <h2 id="agreement-title">How often the judge is right</h2>
      {calibrationProblem.value !== undefined && (
        <div class="notice open">
          <Text fold={300}>{`${calibrationProblem.value}.`}</Text>
        </div>
      )}
      {found === undefined ? (
        calibrationProblem.value === undefined && (
          <p class="muted">
            {labels.value.size === 0
              ? "Agreement, kappa and the corrected pass rate appear here with the first label."
              : "No label yet."}
          </p>
        )
      ) : (
        <Figures found={found} />
      )}
    </>
  );
}

/** How many metrics and rubrics, and how many disagreements, are shown at first and added at a time. */
const SUBJECTS_PER_PAGE = 6;
const DISAGREEMENTS_PER_PAGE = 10;

function Figures({ found }: { found: RunCalibration }) {
  const subjects = useSignal(SUBJECTS_PER_PAGE);
  const disagreements = useSignal(DISAGREEMENTS_PER_PAGE);
  const { labels: counts, disagreements: all } = found;
  return (
    <>
      <p class="muted">
        {count(counts.used, "label")}
        {counts.annotators > 1 && ` of ${counts.annotators} people`}
        {counts.given > counts.used && `; ${amountText(counts.given - counts.used)} more do not count`}
      </p>
      {counts.problems.slice(0, 3).map(({ message }, index) => (
        <div key={index} class="muted">
          <Text fold={300}>{`${message}.`}</Text>
        </div>
      ))}
      {found.subjects.slice(0, subjects.value).map((one) => (
        <Subject key={`${one.metricName}/${one.rubricId ?? ""}`} one={one} confidence={found.confidence} />
      ))}
      <More limit={subjects} total={found.subjects.length} step={SUBJECTS_PER_PAGE} noun="metric" />
      <section>
        <h3>{all.length === 0 ? "No disagreements" : count(all.length, "disagreement")}</h3>
        {all.length > 0 && (
          <p>
            <a href={`${hrefOf("results")}?show=disputed`}>Show these cases in the results</a>
          </p>
        )}
        <ul role="list" class="disagreements">
          {all
            .slice(0, disagreements.value)
            .map(({ row, evalId, turn, metricName, rubricId, judge, people, rationale }, index) => (
              <li key={index}>
                <a href={hrefOf("case", row)}>
                  <Name>{evalId}</Name>
                  {turn !== undefined && `, turn ${turn}`}
                </a>
                <p>
                  {rubricId === undefined ? <MetricName>{metricName}</MetricName> : <Name>{rubricId}</Name>}: judge{" "}
                  {wordOf(judge)}, label {wordOf(people)}
                </p>
                {rationale !== undefined && rationale !== "" && <Text fold={200}>{rationale}</Text>}
              </li>
            ))}
        </ul>
        <More limit={disagreements} total={all.length} step={DISAGREEMENTS_PER_PAGE} noun="disagreement" />
      </section>
    </>
  );
}

function wordOf({ passes, score }: { passes: boolean; score?: number }): string {
  return score === undefined || score === 0 || score === 1 ? (passes ? "pass" : "fail") : scoreText(score);
}

function Subject({ one, confidence }: { one: SubjectCalibration; confidence: number }) {
  const {
    metricName,
    rubricId,
    rubrics,
    labelled,
    verdicts,
    agreement,
    kappa,
    scores,
    sensitivity,
    specificity,
    alpha,
  } = one;
  const { judge, people, corrected, powered, reason } = one.passRate;
  const weighted = scores?.weightedKappa;
  const facts: [name: string, value: string | undefined, title: string][] = [
    ["Agreement", share(agreement), "In which share of the labelled verdicts judge and label are the same"],
    ["Kappa", plain(weighted ?? kappa), "Agreement beyond chance: 0 is chance, 1 is perfect"],
    ["Alpha", plain(alpha), "How far people agree with each other: Krippendorff’s alpha"],
    ["Right about passes", share(sensitivity), "Of what people pass, the share that the judge passes"],
    ["Right about failures", share(specificity), "Of what people fail, the share that the judge fails"],
    ["Pass rate by the judge", share({ value: judge }), "Of all verdicts"],
    ["Pass rate by labels", share(people), "Of the labels at random"],
    ["Corrected pass rate", share(corrected), "The judge’s pass rate, corrected for its errors"],
    ["With the judge’s help", share(powered), "From the labels, with the judge’s verdicts where there are none"],
  ];
  return (
    <section class="subject">
      <h3>
        {rubricId === undefined ? <MetricName>{metricName}</MetricName> : <Name>{rubricId}</Name>}
        {rubrics !== undefined && `, all ${rubrics} rubrics`}
      </h3>
      <p class="muted">
        {amountText(labelled)} of {count(verdicts, "verdict")} labelled
      </p>
      <dl>
        {facts.map(
          ([name, value, title]) =>
            value !== undefined && (
              <div key={name} title={title}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {reason !== undefined && <p class="muted">No corrected pass rate: {reason}.</p>}
      <p class="visually-hidden">Intervals contain the true value in {Math.round(confidence * 100)}%.</p>
    </section>
  );
}

/** `62% (41–79)` */
function share(estimate: Pick<Estimate, "value" | "low" | "high"> | undefined): string | undefined {
  return text(estimate, (value) => String(Math.round(value * 100)), "%");
}

function plain(estimate: Estimate | undefined): string | undefined {
  return text(estimate, (value) => value.toFixed(2), "");
}

function text(
  estimate: Pick<Estimate, "value" | "low" | "high"> | undefined,
  format: (value: number) => string,
  unit: string,
): string | undefined {
  if (estimate === undefined) return undefined;
  const { value, low, high } = estimate;
  const interval = low === undefined || high === undefined ? "" : ` (${format(low)} to ${format(high)})`;
  return `${format(value)}${unit}${interval}`;
}
