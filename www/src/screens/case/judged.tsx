/** The metrics of a turn: each with its score or the reason for having none, and the judge's votes with their prompts. */

import { WITH_REMARKS } from "virtual:manifest";
import type { EvalMetricResult, RubricScore, SampleVote } from "adk-metrics";
import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { EvalStatus } from "../../enums.js";
import { Copy } from "../../ui/copy.js";
import { count, percentOf, scoreText } from "../../ui/format.js";
import { Status, toneOf } from "../../ui/status.js";
import { MetricName, Name, Text } from "../../ui/text.js";
import type { Question, TurnDetails } from "../../worker/protocol.js";
import { LabelVerdict } from "./label.js";
import { Sentences } from "./sentences.js";
import "./judged.css";

export interface JudgedProps {
  /** The turn, counted from 0, and whether it is the last. */
  turn: number;
  isLast: boolean;
  metrics: readonly EvalMetricResult[];
  /** Why each sample of a metric that did not pass voted as it did, by the places of metrics and of votes. */
  rationales: TurnDetails["rationales"];
  /** Loads the question that a vote answers from the worker. */
  ask(metric: EvalMetricResult, vote: SampleVote): Promise<Question | undefined>;
}

export function Judged({ metrics, rationales, ask, ...place }: JudgedProps) {
  const shown = metrics.filter(({ evalStatus }) => evalStatus !== EvalStatus.INFORMATIONAL);
  if (shown.length === 0) return null;
  const { told: individual, alike: grouped } = groupByReason(shown);
  return (
    <section class="judged">
      <h3>Metrics of this turn</h3>
      {individual.map((metric) => (
        <MetricBlock
          key={metric.metricName}
          metric={metric}
          rationales={rationales[metrics.indexOf(metric)] ?? []}
          ask={ask}
          {...place}
        />
      ))}
      {grouped.map(([reason, names]) => (
        <article key={reason} class={`metric ${toneOf(EvalStatus.NOT_EVALUATED)}`}>
          <div class="metric-group">
            <Status of={EvalStatus.NOT_EVALUATED} />
            <div>
              {names.map((name, index) => (
                <Fragment key={name}>
                  {index > 0 && ", "}
                  <MetricName>{name}</MetricName>
                </Fragment>
              ))}
              <div class="reason">
                <Text fold={600}>{reason}</Text>
              </div>
            </div>
          </div>
        </article>
      ))}
    </section>
  );
}

/** More rubrics than these are in their table only. */
const MAX_OPEN_RUBRICS = 20;

/** Groups metrics that have only a reason, and the same one; all others are shown individually. */
function groupByReason(metrics: readonly EvalMetricResult[]) {
  const names = new Map<string, string[]>();
  for (const { metricName, reason, explanation } of metrics) {
    if (reason !== undefined && explanation === undefined)
      names.set(reason, [...(names.get(reason) ?? []), metricName]);
  }
  const grouped = [...names].filter(([, of]) => of.length > 1);
  const groupedNames = new Set(grouped.flatMap(([, of]) => of));
  return { told: metrics.filter(({ metricName }) => !groupedNames.has(metricName)), alike: grouped };
}

interface BlockProps extends Omit<JudgedProps, "metrics" | "rationales"> {
  metric: EvalMetricResult;
  rationales: TurnDetails["rationales"][number];
}

function MetricBlock({ metric, rationales, ask, turn, isLast }: BlockProps) {
  const { metricName, evalStatus, score, threshold, reason, explanation, details } = metric;
  const { samples, sentences, warnings, scoredBy } = explanation ?? {};
  const remarks = (details?.rubricScores ?? []).filter(
    (entry) => isRemark(metricName, entry) && entry.rationale !== reason,
  );
  return (
    <article class={`metric ${toneOf(evalStatus)}`}>
      <header>
        <Status of={evalStatus} />
        <h4>
          <MetricName>{metricName}</MetricName>
        </h4>
        <span class="metric-score">
          {score === undefined ? "no score" : scoreText(score, threshold)}
          {threshold !== undefined && <span class="muted"> ≥ {threshold}</span>}
        </span>
      </header>
      <LabelVerdict turn={turn} isLast={isLast} metricName={metricName} />
      {reason !== undefined && (
        <div class="reason">
          <Text fold={600}>{reason}</Text>
        </div>
      )}
      {warnings?.map((warning, index) => (
        <div key={index} class="reason">
          <Text fold={600}>{warning}</Text>
        </div>
      ))}
      {remarks.map(({ rationale = "" }, index) => (
        <Rationale key={index}>{rationale}</Rationale>
      ))}
      {evalStatus !== EvalStatus.PASSED && <OpenRubrics metric={metric} />}
      {sentences !== undefined && sentences.length > 0 && <Sentences sentences={sentences} />}
      {samples !== undefined && (
        <>
          <p class="muted">
            {scoredBy === "vertex" ? "Scored by Vertex AI. " : ""}
            {samples.asked === samples.of
              ? count(samples.of, sentences === undefined ? "sample" : "question")
              : `${samples.asked} of ${count(samples.of, "sample")} asked`}
            {tallyText(metric)}
            {samples.asked > samples.votes.length && `, ${samples.asked - samples.votes.length} without a reply`}
            {samples.risk !== undefined && `; risk that all samples would decide otherwise: ${percentOf(samples.risk)}`}
          </p>
          <div class="votes">
            {samples.votes.map((vote, index) => (
              <Vote key={index} metric={metric} vote={vote} rationale={rationales[index]} ask={ask} />
            ))}
          </div>
        </>
      )}
    </article>
  );
}

/** `: 2 yes, 2 no, 1 unreadable; a tie counts as no`, for votes on one thing. */
function tallyText(metric: EvalMetricResult): string {
  const words = (metric.explanation?.samples?.votes ?? []).map((vote) => voteLabel(metric, vote).word);
  const tally = (word: string) => words.filter((other) => other === word).length;
  const [yes, no, unreadable] = [tally("Yes"), tally("No"), tally("Unreadable")];
  if (words.length < 2 || yes + no + unreadable < words.length) return "";
  const parts = [`${yes} yes`, `${no} no`, ...(unreadable > 0 ? [`${unreadable} unreadable`] : [])];
  return `: ${parts.join(", ")}${yes === no && yes > 0 && metric.score === 0 ? "; a tie counts as no" : ""}`;
}

/** Whether a rubric score is actually a judge's remark on its score, which is stored among the rubric scores. */
export function isRemark(metricName: string, { rubricId, score }: RubricScore): boolean {
  return WITH_REMARKS.includes(metricName) && score === undefined && ["explanation", "error"].includes(rubricId);
}

/** What a judge said. */
function Rationale({ children: text }: { children: string }) {
  return (
    <div class="vote-rationale">
      <Text fold={600}>{text}</Text>
      <Copy text={text} what="the rationale" />
    </div>
  );
}

/** The rubrics that are not met or have no verdict, and why. */
function OpenRubrics({ metric: { metricName, details, explanation } }: { metric: EvalMetricResult }) {
  const votes = new Map((explanation?.rubrics ?? []).map((rubric) => [rubric.rubricId, rubric]));
  const scored = (details?.rubricScores ?? []).filter((entry) => !isRemark(metricName, entry));
  const ids = new Set(scored.map(({ rubricId }) => rubricId));
  const inVain = [...votes.keys()]
    .filter((rubricId) => !ids.has(rubricId))
    .map((rubricId): RubricScore => ({ rubricId }));
  const open = [...scored.filter(({ score }) => score !== 1), ...inVain];
  if (open.length === 0) return null;
  return (
    <ul class="open-rubrics" role="list">
      {open.slice(0, MAX_OPEN_RUBRICS).map(({ rubricId, score, rationale }) => {
        const counts = votes.get(rubricId);
        return (
          <li key={rubricId}>
            <Status of={score === undefined ? EvalStatus.NOT_EVALUATED : EvalStatus.FAILED} isNamed />
            <div>
              <p>
                <b>
                  <Name>{rubricId}</Name>
                </b>{" "}
                <span class="muted">
                  {score === undefined ? "no verdict" : "not met"}
                  {counts !== undefined && `, ${counts.yes} yes, ${counts.no} no`}
                </span>
              </p>
              {rationale !== undefined && rationale !== "" && <Rationale>{rationale}</Rationale>}
            </div>
          </li>
        );
      })}
      {open.length > MAX_OPEN_RUBRICS && (
        <li class="muted">{count(open.length - MAX_OPEN_RUBRICS, "more rubric")}, in the table above</li>
      )}
    </ul>
  );
}

interface VoteProps {
  metric: EvalMetricResult;
  vote: SampleVote;
  /** Why it voted as it did, in the open. */
  rationale: string | undefined;
  ask: JudgedProps["ask"];
}

/** A sample of a judge: its vote, and behind a disclosure its reply and the question. */
function Vote({ metric, vote, rationale, ask }: VoteProps) {
  const question = useSignal<Question | "none" | undefined>(undefined);
  const { reply, usage, cached, sampleIndex, stepIndex = 0, purpose } = vote;
  const { tone, word } = voteLabel(metric, vote);
  const hasSeveralSteps = metric.explanation?.samples?.votes.some((other) => (other.stepIndex ?? 0) > 0);
  const facts = [
    ...(hasSeveralSteps ? [`step ${stepIndex + 1}`] : []),
    ...(purpose === "segment" || purpose === "validate" ? [] : [`sample ${sampleIndex + 1}`]),
    ...(cached ? ["reused reply"] : []),
    ...(usage === undefined ? [] : [`${count(usage.inputTokens, "token")} in, ${usage.outputTokens} out`]),
  ];
  return (
    <div class="vote-box">
      <details
        class="vote"
        onToggle={async ({ currentTarget }) => {
          if (currentTarget.open) question.value ??= (await ask(metric, vote)) ?? "none";
        }}
      >
        <summary>
          <span class={`vote-word ${tone}`}>
            {tone !== "" && (
              <Status
                of={
                  tone === "passed"
                    ? EvalStatus.PASSED
                    : tone === "failed"
                      ? EvalStatus.FAILED
                      : EvalStatus.NOT_EVALUATED
                }
                isNamed
              />
            )}
            {word}
          </span>{" "}
          <span class="muted">{facts.join(", ")}</span>
        </summary>
        <div class="exchange">
          <h5>Reply {reply !== "" && <Copy text={reply} what="the reply" />}</h5>
          {reply === "" ? (
            <p class="muted">No text</p>
          ) : (
            <Text mono fold={2500}>
              {reply}
            </Text>
          )}
          <h5>
            Question{" "}
            {question.value !== undefined && question.value !== "none" && (
              <Copy
                text={[question.value.system, question.value.prompt].filter((part) => part !== undefined).join("\n\n")}
                what="the prompt"
              />
            )}
          </h5>
          {question.value === undefined ? (
            <p class="muted">Loading…</p>
          ) : question.value === "none" ? (
            <p class="muted">
              Unknown: results store only the replies. Score the files in this page to see the questions.
            </p>
          ) : (
            <>
              {question.value.system !== undefined && (
                <Text mono fold={1500}>
                  {question.value.system}
                </Text>
              )}
              <Text mono fold={4000}>
                {question.value.prompt}
              </Text>
            </>
          )}
        </div>
      </details>
      {rationale !== undefined && <Rationale>{rationale}</Rationale>}
    </div>
  );
}

/** The vote of a sample in a word; a mean is neither yes nor no. */
function voteLabel({ explanation }: EvalMetricResult, { purpose, score }: SampleVote): { tone: string; word: string } {
  if (purpose === "segment") return { tone: "", word: "Sentences" };
  if (score === undefined)
    return purpose === "validate" ? { tone: "", word: "Labels" } : { tone: "open", word: "Unreadable" };
  if (purpose === "validate") return { tone: "", word: `Labels, mean ${scoreText(score)}` };
  if (purpose === "score") return { tone: "", word: scoreText(score) };
  if (explanation?.rubrics !== undefined && explanation.rubrics.length > 1 && score !== 0 && score !== 1) {
    return { tone: "", word: `Mean ${scoreText(score)}` };
  }
  return score === 1
    ? { tone: "passed", word: "Yes" }
    : { tone: "failed", word: score === 0 ? "No" : scoreText(score) };
}
