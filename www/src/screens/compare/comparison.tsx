/** The comparison of one evalset's results in two runs. */

import type { CaseComparison, ComparedScore, MetricComparison, ResultChange } from "adk-metrics";
import { hrefOf } from "../../route.js";
import { current, showMore } from "../../state/compare.js";
import { summary } from "../../state/run.js";
import { evalSetTitle } from "../../state/runs.js";
import { amountText, count, scoreText } from "../../ui/format.js";
import { sentence } from "../../ui/sentence.js";
import { nameOf, Status, toneOf } from "../../ui/status.js";
import { MetricName, Name, Text } from "../../ui/text.js";
import type { ShownComparison } from "../../worker/protocol.js";

/** The name, the tone and the sign of each kind of change. */
const CHANGES: Readonly<Record<ResultChange, { name: string; tone: string; sign: string }>> = {
  regressed: { name: "Regressed", tone: "failed", sign: "▼" },
  worse: { name: "Worse", tone: "failed", sign: "↓" },
  changed: { name: "Changed", tone: "open", sign: "≠" },
  fixed: { name: "Fixed", tone: "passed", sign: "▲" },
  better: { name: "Better", tone: "passed", sign: "↑" },
  unchanged: { name: "Unchanged", tone: "informational", sign: "=" },
};

const ORDER: readonly ResultChange[] = ["regressed", "worse", "changed", "fixed", "better", "unchanged"];

const VERDICTS = {
  better: { name: "better", tone: "passed" },
  worse: { name: "worse", tone: "failed" },
  unclear: { name: "unclear", tone: "open" },
  unchanged: { name: "unchanged", tone: "informational" },
} as const;

interface ComparisonProps {
  set: ShownComparison;
  /** The index of the evalset in the comparison. */
  index: number;
  isOnly: boolean;
}

export function Comparison({ set, index, isOnly }: ComparisonProps) {
  const { counts, metrics, cases, changed, bootstrap } = set;
  const Title = isOnly ? "h2" : "h3";
  return (
    <section class="comparison" aria-label={evalSetTitle(set.current.evalSetId)}>
      {!isOnly && (
        <h2>
          <Name>{evalSetTitle(set.current.evalSetId)}</Name>
        </h2>
      )}
      <dl class="counts changes">
        {ORDER.map((change) => {
          const { name, tone, sign } = CHANGES[change];
          return (
            <div key={change} class={counts[change] > 0 ? tone : "none"}>
              <dt>
                <span aria-hidden="true">{sign}</span> {name}
              </dt>
              <dd>{counts[change].toLocaleString("en")}</dd>
            </div>
          );
        })}
      </dl>
      <Passes passes={set.passes} />
      <Notes set={set} />
      {metrics.length > 0 && (
        <section aria-label="Metrics">
          <Title>Metrics</Title>
          <p class="muted">
            Mean difference over the cases, with its {amountText(bootstrap.confidence * 100)}% confidence interval: a
            paired bootstrap with {count(bootstrap.resamples, "resample")}. p-values are corrected for the number of
            metrics (Holm). “Unclear” may well be chance: a true difference as large as “would show” is found in four of
            five such comparisons, a smaller one less often.
          </p>
          <div class="wide" tabIndex={0} role="group" aria-label="Metrics, table">
            <table class="metric-changes">
              <thead>
                <tr>
                  <th scope="col">Metric</th>
                  <th scope="col">Verdict</th>
                  <th scope="col" class="number">
                    Difference
                  </th>
                  <th scope="col">Interval</th>
                  <th scope="col" class="number">
                    p-value
                  </th>
                  <th scope="col" class="number">
                    Would show
                  </th>
                  <th scope="col" class="number">
                    Baseline
                  </th>
                  <th scope="col" class="number">
                    Now
                  </th>
                  <th scope="col" class="number">
                    Better / worse / same
                  </th>
                </tr>
              </thead>
              <tbody>
                {metrics.map((metric) => (
                  <MetricRow key={metric.metricName} metric={metric} />
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
      <section aria-label="Cases">
        <Title>{changed === 0 ? "No case changed" : `${count(changed, "case")} changed, regressions first`}</Title>
        <ul class="case-changes">
          {cases.map((comparison) => (
            <CaseChange key={comparison.evalId} comparison={comparison} />
          ))}
        </ul>
        {cases.length < changed && (
          <button type="button" class="button" onClick={() => void showMore(index)}>
            Show more of {count(changed, "case")}
          </button>
        )}
      </section>
    </section>
  );
}

/** How often cases pass, over all runs. */
function Passes({ passes }: { passes: ShownComparison["passes"] }) {
  const { baselineRate, currentRate, compared, better, worse, change, detectable } = passes;
  if (baselineRate === undefined || currentRate === undefined) return null;
  const percent = (share: number) => `${Math.round(100 * share)}%`;
  const isRepeated = Math.max(passes.baseline.runs, passes.current.runs) > compared;
  const wouldShow =
    change !== "unclear" || detectable === undefined
      ? ""
      : ` A difference of ${count(Math.ceil(100 * detectable), "point")} or more would usually show.`;
  return (
    <p>
      {percent(currentRate)} of {isRepeated ? "runs" : "cases"} pass ({percent(baselineRate)} before):{" "}
      {better + worse === 0
        ? "each case passes as often as before."
        : `${count(better, "case")} more often, ${worse} less often, which ${change === "unclear" ? "may be" : "is hardly"} chance.${wouldShow}`}
    </p>
  );
}

/** Other differences. */
function Notes({ set }: { set: ShownComparison }) {
  const lists: [string, readonly string[]][] = [
    ["New cases", set.addedCases],
    ["Removed cases", set.removedCases],
    ["New metrics", set.addedMetrics],
    ["Removed metrics", set.removedMetrics],
  ];
  const thresholds = set.thresholdChanges.map(
    ({ metricName, baseline, current }) => `${metricName}: threshold ${baseline ?? "none"} → ${current ?? "none"}`,
  );
  const notes = [...set.notes, ...thresholds];
  return (
    <>
      {notes.length > 0 && (
        <ul class="compare-notes">
          {notes.map((note) => (
            <li key={note}>
              <Name>{note}</Name>
            </li>
          ))}
        </ul>
      )}
      {lists
        .filter(([, names]) => names.length > 0)
        .map(([title, names]) => (
          <details key={title}>
            <summary>
              {title}: {names.length.toLocaleString("en")}
            </summary>
            <Text>{names.join("\n")}</Text>
          </details>
        ))}
    </>
  );
}

function MetricRow({ metric }: { metric: MetricComparison }) {
  const { metricName, baselineMean, currentMean, difference, interval, detectable, change } = metric;
  const { better, worse, unchanged } = metric;
  const verdict = VERDICTS[change];
  return (
    <tr>
      <th scope="row">
        <MetricName>{metricName}</MetricName>
        {metric.goal === "lower" && <small class="muted"> lower is better</small>}
      </th>
      <td>
        {metric.compared === 0 ? (
          <span class="muted">no scores</span>
        ) : (
          <span class={`tone ${verdict.tone}`}>{verdict.name}</span>
        )}
      </td>
      <td class="number">{signedText(difference, metric)}</td>
      <td>
        {interval !== undefined && difference !== undefined && (
          <Interval low={interval.low} high={interval.high} mid={difference} tone={verdict.tone} metric={metric} />
        )}
      </td>
      <td class="number">
        <Chance metric={metric} />
      </td>
      <td class="number">{detectable === undefined ? "–" : meanText(metric, detectable)}</td>
      <td class="number">{meanText(metric, baselineMean)}</td>
      <td class="number">{meanText(metric, currentMean)}</td>
      <td class="number">
        {better} / {worse} / {unchanged}
      </td>
    </tr>
  );
}

/** The corrected p-value of a metric, with its own where that is another one. Where no case changed there is nothing to test. */
function Chance({ metric: { chance, correctedChance } }: { metric: MetricComparison }) {
  if (chance === undefined || correctedChance === undefined) return <>–</>;
  const [own, corrected] = [chanceText(chance), chanceText(correctedChance)];
  return (
    <>
      {corrected}
      {own !== corrected && <small class="muted"> alone {own}</small>}
    </>
  );
}

function chanceText(chance: number): string {
  return chance < 0.0005 ? "<0.001" : chance.toFixed(3);
}

function meanText({ verdicts }: MetricComparison, mean: number | undefined): string {
  return verdicts === undefined ? amountText(mean) : scoreText(mean);
}

function signedText(difference: number | undefined, { verdicts }: MetricComparison): string {
  if (difference === undefined) return "–";
  const size = Math.abs(difference);
  const text = verdicts === undefined ? amountText(size) : scoreText(size);
  return difference > 0 ? `+${text}` : difference < 0 ? `−${text}` : text;
}

/** A confidence interval on an axis centred at 0; an interval without 0 is significant. */
function Interval(props: { low: number; high: number; mid: number; tone: string; metric: MetricComparison }) {
  const { low, high, mid, tone, metric } = props;
  const maxValue = Math.max(Math.abs(low), Math.abs(high), 1e-9) * 1.15;
  const x = (value: number) => 80 + (value / maxValue) * 76;
  return (
    <span class="interval-cell">
      <svg class={`interval ${tone}`} viewBox="0 0 160 16" width="160" height="16" aria-hidden="true">
        <line class="zero" x1="80" x2="80" y1="1" y2="15" />
        <line class="span" x1={x(low)} x2={Math.max(x(high), x(low) + 1)} y1="8" y2="8" />
        <circle cx={x(mid)} cy="8" r="3.5" />
      </svg>
      <span class="muted">
        {signedText(low, metric)} to {signedText(high, metric)}
      </span>
    </span>
  );
}

function CaseChange({ comparison }: { comparison: CaseComparison }) {
  const { evalId, change, baseline, current: now } = comparison;
  const { name, tone, sign } = CHANGES[change];
  const metrics = comparison.metrics.filter((metric) => metric.change !== "unchanged");
  return (
    <li class={tone}>
      <details open={change === "regressed"}>
        <summary>
          <span class="tone change">
            <span aria-hidden="true">{sign}</span> {name}
          </span>
          <b>
            <Name>{evalId}</Name>
          </b>
          <span class="from-to">
            <Status of={baseline.status} /> <span aria-hidden="true">→</span>
            <span class="visually-hidden">to</span> <Status of={now.status} />
          </span>
          <span class="muted">
            {metrics.map(({ metricName }) => metricName).join(", ")}
            {now.runs > 1 && `, ${now.passedRuns} of ${now.runs} runs pass`}
          </span>
        </summary>
        {now.reason !== undefined && <Text>{sentence(now.reason)}</Text>}
        <CaseLink evalId={evalId} />
        <table>
          <thead class="visually-hidden">
            <tr>
              <th scope="col">Metric</th>
              <th scope="col">Baseline</th>
              <th scope="col">Now</th>
              <th scope="col">Difference</th>
            </tr>
          </thead>
          <tbody>
            {metrics.flatMap((metric) => [
              <tr key={metric.metricName}>
                <th scope="row">
                  <MetricName>{metric.metricName}</MetricName>
                </th>
                <ScoreCell score={metric.baseline} />
                <ScoreCell score={metric.current} />
                <td class="number">{differenceText(metric.difference)}</td>
              </tr>,
              ...metric.turns.map((turn) => (
                <tr key={`${metric.metricName}/${turn.invocationIndex}`} class="turn">
                  <th scope="row">Turn {turn.invocationIndex + 1}</th>
                  <ScoreCell score={turn.baseline} />
                  <ScoreCell score={turn.current} />
                  <td class="number">{differenceText(turn.difference)}</td>
                </tr>
              )),
            ])}
          </tbody>
        </table>
      </details>
    </li>
  );
}

/** A link to the case, if it belongs to the run that is shown. */
function CaseLink({ evalId }: { evalId: string }) {
  const run = summary.value;
  if (run === undefined || run.id !== current.value) return null;
  const row = run.evalIds.indexOf(evalId);
  return row < 0 ? null : (
    <a class="case-link" href={hrefOf("case", row)}>
      Open the case
    </a>
  );
}

function ScoreCell({ score }: { score: ComparedScore | undefined }) {
  if (score === undefined) return <td class="number muted">no result</td>;
  return (
    <td class="number" title={score.reason ?? nameOf(score.status)}>
      <span class={`tone ${toneOf(score.status)}`}>
        {scoreText(score.score, score.threshold)} <Status of={score.status} />
      </span>
    </td>
  );
}

function differenceText(difference: number | undefined): string {
  if (difference === undefined) return "–";
  const text = scoreText(Math.abs(difference));
  return difference > 0 ? `+${text}` : difference < 0 ? `−${text}` : text;
}
