import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { goTo, hrefOf } from "../../route.js";
import { criteria } from "../../state/criteria.js";
import { caseCount, leftOut, runBlocker, scorable } from "../../state/job.js";
import { download } from "../../state/browser-model.js";
import { cancel, connections, problem, summary, runProgress, verdicts } from "../../state/run.js";
import { runAndShow, startedAt, durationMs } from "../../state/running.js";
import { count, CURRENCY } from "../../ui/format.js";
import { nameOf, toneOf } from "../../ui/status.js";
import { EstimateTable, money } from "./estimate.js";
import { InterruptedRun, SavedData } from "./kept.js";
import { sentence } from "../../ui/sentence.js";
import { areOfThisPage, costFacts, riskFacts, tokenFacts } from "../../ui/usage.js";
import { ProblemNote } from "./problem.js";
import { Title } from "../../ui/title.js";
import "../../styles/inputs.css";
import "../criteria/criteria.css";
import "./run.css";

export default function Run() {
  const isRunning = runProgress.value !== undefined;
  const blocker = runBlocker.value;
  return (
    <div class="run">
      <Title>Run</Title>
      {!isRunning && <InterruptedRun />}
      <div class="columns">
        <div class="main">
          <section class="panel" aria-label="What is run">
            <p>
              {scorable.value.length === 0 ? (
                "There is nothing to score yet."
              ) : (
                <>
                  <strong>{jobText()}</strong>
                  <span class="muted"> · {Object.keys(criteria.value).join(", ")}</span>
                </>
              )}
            </p>
            {!isRunning && scorable.value.length > 0 && leftOut.value.length > 0 && (
              <p class="muted">Left out: {leftOut.value.join(" ")}</p>
            )}
            <div class="actions">
              {isRunning ? (
                <button type="button" class="button" onClick={cancel}>
                  Stop and keep what is scored
                </button>
              ) : (
                <button
                  type="button"
                  class="button"
                  data-kind="primary"
                  aria-disabled={blocker !== undefined}
                  aria-describedby="start-what"
                  onClick={async () => {
                    if (blocker !== undefined) goTo(blocker.screen);
                    else await runAndShow();
                  }}
                >
                  {summary.value === undefined ? "Score" : "Score again"}
                </button>
              )}
              <p class="muted" id="start-what">
                {!isRunning && blocker !== undefined && (
                  <>
                    {blocker.what}{" "}
                    <a href={hrefOf(blocker.screen)}>
                      {blocker.screen === "files" ? "Go to the files" : "Go to the criteria"}
                    </a>
                  </>
                )}
              </p>
              {summary.value !== undefined && (
                <a class="end" href={hrefOf("results")}>
                  {isRunning ? "See the results so far" : "See the results"}
                </a>
              )}
            </div>
          </section>
          {problem.value !== undefined && <ProblemNote problem={problem.value} />}
          {isRunning && <RunningPanel />}
          {!isRunning && summary.value !== undefined && <FinishedPanel />}
          <Connections />
          <SavedData />
        </div>
        {!isRunning && (
          <section class="panel ask" aria-labelledby="ask">
            <h2 id="ask">Estimated judge calls</h2>
            <EstimateTable />
          </section>
        )}
      </div>
    </div>
  );
}

function jobText(): string {
  return `${count(caseCount.value, "case")} of ${count(scorable.value.length, "evalset")}`;
}

// ---- during the run

const clock = signal(0);

function RunningPanel() {
  useEffect(() => {
    const ticking = setInterval(() => {
      clock.value = Date.now();
    }, 1000);
    clock.value = Date.now();
    return () => clearInterval(ticking);
  }, []);
  const all = runProgress.value ?? [];
  const [done, total] = [sum(all.map((one) => one?.done)), sum(all.map((one) => one?.total))];
  const judges = all.flatMap((one) => one?.judge ?? []);
  const failure = judges.findLast(({ lastFailure }) => lastFailure !== undefined)?.lastFailure;
  const of = (name: Exclude<keyof (typeof judges)[number], "lastFailure">) => sum(judges.map((judge) => judge[name]));
  const left = judges.at(-1)?.leftMs;
  const costs = judges.flatMap(({ cost }) => cost ?? []);
  const elapsed = Math.max(0, clock.value - (startedAt.value ?? clock.value));
  const words =
    total === 0 ? "Starting" : `${done.toLocaleString("en")} of ${total.toLocaleString("en")} cases are scored`;
  return (
    <section class="panel" aria-labelledby="going">
      <h2 id="going">{words}</h2>
      <progress aria-label="Cases scored" max={Math.max(1, total)} value={done} />
      <p class="visually-hidden" role="status">
        {done > 0 && Math.floor((4 * done) / Math.max(1, total)) > 0
          ? `${Math.floor((4 * done) / total) * 25}% scored`
          : "Scoring"}
      </p>
      {download.value !== undefined && <p>The browser is loading its model: {Math.round(download.value * 100)}%.</p>}
      <VerdictCounts />
      {failure !== undefined && <p>The last call failed: {failure}</p>}
      {judges.length > 0 && (
        <dl class="amounts">
          <Figure name="Calls made" value={of("calls")} />
          <Figure name="Skipped (vote decided)" value={of("saved")} />
          <Figure name="Replies reused" value={of("cached")} />
          <Figure name="Retries" value={of("retried")} />
          <Figure name="Samples without a reply" value={of("lost") - of("unsent")} isBad />
          <Figure name="Samples not asked" value={of("unsent")} isBad />
          <Figure name="Waiting" value={of("queued") + of("inFlight")} />
          <Figure name="Tokens in" value={of("inputTokens")} />
          <Figure name="Tokens out" value={of("outputTokens")} />
          {costs.length > 0 && <Figure name="Cost" text={`${CURRENCY} ${money(sum(costs))}`} />}
          <Figure name="Time" text={duration(elapsed)} />
          <Figure
            name="Time left (approx.)"
            text={left === undefined ? "–" : left < 1000 ? "under 1 s" : duration(left)}
          />
        </dl>
      )}
    </section>
  );
}

/** The number of cases by verdict so far. */
function VerdictCounts() {
  const { cases } = verdicts.value ?? { cases: new Uint8Array() };
  const counted = [EvalStatus.PASSED, EvalStatus.FAILED, EvalStatus.NOT_EVALUATED].map((status) => ({
    status,
    count: cases.reduce((number, one) => number + Number(one === status), 0),
  }));
  return (
    <ul class="verdict-counts" role="list" aria-label="Cases by verdict">
      {counted.map(({ status, count }) => (
        <li key={status} class={toneOf(status)}>
          <strong>{count.toLocaleString("en")}</strong> {nameOf(status).toLowerCase()}
        </li>
      ))}
    </ul>
  );
}

function Figure({
  name,
  value,
  text,
  isBad = false,
}: {
  name: string;
  value?: number;
  text?: string;
  isBad?: boolean;
}) {
  return (
    <div class={isBad && (value ?? 0) > 0 ? "amount failed" : "amount"}>
      <dt>{name}</dt>
      <dd>{text ?? (value ?? 0).toLocaleString("en")}</dd>
    </div>
  );
}

// ---- after the run

function FinishedPanel() {
  const run = summary.value;
  if (run === undefined) return null;
  const used = run.sets.flatMap(({ judgeUsage }) => judgeUsage ?? []);
  const of = (name: "calls" | "saved" | "cached" | "unread" | "retried" | "lost" | "unsent") =>
    sum(used.map((one) => one[name] ?? 0));
  const isCut = run.sets.some(({ cancelled }) => cancelled === true);
  const warnings = run.sets.flatMap((set) => (set.warnings ?? []).map((warning) => ({ ...warning, name: set.name })));
  return (
    <section class="panel" aria-labelledby="done">
      <h2 id="done">
        <span role="status">
          {isCut ? "Stopped" : "Scored"}
          {durationMs.value === undefined ? "" : ` in ${duration(durationMs.value)}`}
        </span>
      </h2>
      <VerdictCounts />
      {used.length > 0 && (
        <dl class="amounts">
          <Figure name="Calls made" value={of("calls")} />
          <Figure name="Skipped (vote decided)" value={of("saved")} />
          <Figure name="Replies reused" value={of("cached")} />
          <Figure name="Unreadable replies" value={of("unread")} isBad />
          <Figure name="Retries" value={of("retried")} />
          <Figure name="Samples without a reply" value={of("lost") - of("unsent")} isBad />
          <Figure name="Samples not asked" value={of("unsent")} isBad />
          {[...riskFacts(used), ...tokenFacts(used), ...costFacts("Cost", used, areOfThisPage(run.sets))].map(
            ([name, value]) => (
              <Figure key={name} name={name} text={value} />
            ),
          )}
        </dl>
      )}
      {run.reasons.length > 0 && (
        <>
          <h3>Why results are not evaluated</h3>
          <ul class="reasons" role="list">
            {run.reasons.map(({ metric, reason, count }) => (
              <li key={`${metric}\n${reason}`} class="note open">
                <p>
                  {metric !== undefined && <code>{metric}</code>}{" "}
                  {count > 1 && <span class="muted">in {count} cases</span>}
                </p>
                <p>{sentence(reason)}</p>
              </li>
            ))}
          </ul>
        </>
      )}
      {warnings.length > 0 && (
        <details>
          <summary>{count(warnings.length, "warning")}</summary>
          <ul class="run-warnings">
            {warnings.slice(0, 100).map(({ name, message, path, help }, index) => (
              <li key={index}>
                {sentence(message)} {help !== undefined && sentence(help)}{" "}
                <span class="muted">
                  {name}
                  {path === undefined ? "" : `, ${path}`}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** The requests sent since the page was loaded. */
function Connections() {
  const made = Object.entries(connections.value);
  return (
    <p class="connections">
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path
          d="M8 1.5l5.5 2v4c0 3.5-2.3 5.8-5.5 7-3.200-1.200-5.500-3.500-5.500-7v-4z"
          fill="none"
          stroke="currentColor"
          stroke-width="1.25"
          stroke-linejoin="round"
        />
      </svg>
      {made.length === 0 ? (
        "This page has sent no requests."
      ) : (
        <span>
          Requests sent from this page:{" "}
          {made.map(([origin, count]) => `${new URL(origin).host}: ${count.toLocaleString("en")}`).join(", ")}. No other
          server was contacted.
        </span>
      )}
    </p>
  );
}

function sum(numbers: readonly (number | undefined)[]): number {
  return numbers.reduce<number>((total, number) => total + (number ?? 0), 0);
}

/** A duration in words. */
function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
