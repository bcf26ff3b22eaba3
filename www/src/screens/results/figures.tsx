/** What the results are of, and how many cases passed. */

import type { Estimate } from "adk-metrics";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { runProgress, verdicts } from "../../state/run.js";
import type { RunReliability, RunSummary } from "../../worker/protocol.js";
import { amountText, count, scoreText } from "../../ui/format.js";
import { Names } from "../../ui/names.js";
import { Status } from "../../ui/status.js";
import { type Fact, usageFacts } from "../../ui/usage.js";
import { titleOf } from "../../ui/set-label.js";
import { engine } from "../../worker/client.js";
import { configsOf, judgesOf } from "../../worker/counts.js";
import { Fold, isNarrow } from "./fold.js";
import { tally } from "./view.js";

/** Whether all that is known of a run is shown in a narrow window. */
const showsDetails = signal(false);

export function Figures({ run }: { run: RunSummary }) {
  const { passed, failed, open, pending } = tally.value;
  const total = Math.max(1, run.evalIds.length);
  const judges = judgesOf(run.sets);
  const names = [...new Set(run.sets.map(titleOf))].filter((name) => name !== "");
  const configs = configsOf(run.sets);
  const facts = [...scoredFacts(run), ...useReliability(run), ...usageFacts(run.sets)];
  const unjudged = passedUnjudged(run);
  const details = (
    <>
      <GroupBy run={run} />
      <dl class="facts">
        <Names one="Evalset" several="Evalsets" names={names} />
        <Names one="Config" several="Configs" names={configs} />
        <Names one="Judge" several="Judges" names={judges} />
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
  return (
    <section class="figures" aria-label="Summary">
      <dl class="counts tally">
        <Figure name="Cases" value={run.evalIds.length} />
        <Figure name="Passed" value={passed} status={EvalStatus.PASSED} />
        <Figure name="Failed" value={failed} status={EvalStatus.FAILED} />
        <Figure name="Not evaluated" value={open} status={EvalStatus.NOT_EVALUATED} />
        {pending > 0 && <Figure name="Pending" value={pending} />}
      </dl>
      <div class="proportions" aria-hidden="true">
        {Object.entries({ passed, failed, open }).map(
          ([tone, cases]) =>
            cases > 0 && <div key={tone} class={tone} style={{ width: `${(cases / total) * 100}%` }} />,
        )}
      </div>
      {unjudged > 0 && (
        <p class="muted">
          {count(unjudged, "case")} passed although a metric was not evaluated there: such a metric does not count.
        </p>
      )}
      {isNarrow.value ? (
        <Fold title="About this run" isOpen={showsDetails}>
          {details}
        </Fold>
      ) : (
        details
      )}
    </section>
  );
}

/** When it was scored, and by whose rules where they are not google-adk's. */
function scoredFacts({ sets }: RunSummary): Fact[] {
  const times = sets.map(({ scoredAt }) => scoredAt).filter((time) => Number.isFinite(time) && time > 0);
  const facts: Fact[] = [];
  if (times.length > 0) {
    const date = new Date(Math.max(...times) * 1000);
    facts.push(["Scored", date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })]);
  }
  if (sets.some(({ dialect }) => dialect === "adk-ts")) facts.push(["Scoring rules", "ADK-TS"]);
  return facts;
}

/** How reliable the agent was in the run that is shown, once that is known. */
export const reliability = signal<{ run: string; value: RunReliability } | undefined>(undefined);

/** Which cases depend on each other, so that intervals respect it. */
const groupBy = signal("");

/** Chooses how cases are grouped, where something groups them. */
function GroupBy({ run }: { run: RunSummary }) {
  const { groupings = [] } = reliability.value?.run === run.id ? reliability.value.value : {};
  if (groupings.length === 0) return null;
  const nameOf = (by: string) => (by === "evalset" ? "cases of an evalset" : `cases with the same ${by.slice(4)}`);
  return (
    <label>
      Intervals respect{" "}
      <select
        class="field"
        value={groupBy.value}
        onChange={({ currentTarget }) => (groupBy.value = currentTarget.value)}
      >
        <option value="">runs of a case</option>
        {groupings.map((by) => (
          <option key={by} value={by}>
            {nameOf(by)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** How likely the next run passes, computed when the results and their thresholds have settled. */
function useReliability(run: RunSummary): Fact[] {
  const isRunning = runProgress.value !== undefined;
  const statuses = verdicts.value;
  const by = groupBy.value;
  useEffect(() => {
    if (isRunning) return undefined;
    let isCurrent = true;
    const delay = reliability.peek()?.run === run.id ? 600 : 150;
    // A line that is dragged moves many times a second, and whatever moves it next would wait for this.
    const timer = setTimeout(() => {
      void engine.reliability(run.id, by).then((outcome) => {
        if (isCurrent) reliability.value = outcome.ok ? { run: run.id, value: outcome.value } : undefined;
      });
    }, delay);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [run.id, isRunning, statuses, by]);
  if (reliability.value?.run !== run.id || isRunning) return [];
  const { passRate, passAtK, passHatK, variance, needed, flaky, confidence, groups, isOneCase } =
    reliability.value.value;
  const facts: Fact[] = [];
  if (passRate !== undefined) facts.push(["Pass rate", estimateText(passRate, confidence)]);
  if (passAtK !== undefined) facts.push([`pass@${passAtK.k}`, estimateText(passAtK, confidence)]);
  if (passHatK !== undefined) facts.push([`pass^${passHatK.k}`, estimateText(passHatK, confidence)]);
  if (isOneCase && passRate?.low !== undefined) facts.push(["Intervals", "about this case only"]);
  if (groups !== undefined) facts.push(["Groups of cases", amountText(groups)]);
  if (flaky.length > 0) facts.push(["Flaky", count(flaky.length, "case")]);
  if (variance !== undefined) {
    const { between, within } = variance;
    facts.push(["Variance", `${scoreText(between)} between cases, ${scoreText(within)} between runs of a case`]);
  }
  if (needed !== undefined) {
    const more = needed.runs === undefined ? "" : count(needed.runs, "run");
    const runs = more === "" ? "" : isOneCase ? `; that of this case alone, ${more}` : `, or ${more} of each case`;
    facts.push([
      `Pass rate to within ${count(Math.round(needed.precision * 100), "point")}`,
      `takes about ${count(needed.cases, "case")}${runs}`,
    ]);
  }
  return facts;
}

/** `62% (41 to 79%)` */
function estimateText({ value, low, high }: Estimate, confidence: number): string {
  const percent = (share: number) => String(Math.round(share * 100));
  if (low === undefined || high === undefined) return `${percent(value)}%`;
  return `${percent(value)}% (${percent(low)} to ${percent(high)}%, ${percent(confidence)}% interval)`;
}

/** How many cases passed although a metric that decides has no verdict there. */
function passedUnjudged(run: RunSummary): number {
  const { cases, metrics } = verdicts.value ?? run.verdicts;
  const width = run.metrics.length;
  return cases.reduce((sum, status, row) => {
    if (status !== EvalStatus.PASSED) return sum;
    const hasOpen = metrics.subarray(row * width, (row + 1) * width).includes(EvalStatus.NOT_EVALUATED);
    return sum + Number(hasOpen);
  }, 0);
}

function Figure({ name, value, status }: { name: string; value: number; status?: number }) {
  return (
    <div>
      <dt>
        {status !== undefined && <Status of={status} isNamed />} {name}
      </dt>
      <dd>{value.toLocaleString("en")}</dd>
    </div>
  );
}
