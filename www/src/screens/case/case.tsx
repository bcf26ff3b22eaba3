/** A case, turn by turn: messages, tool calls, and the result of each metric with its explanation. */

import type { EvalCaseResult, EvalMetricResult, SampleVote } from "adk-metrics";
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { goTo, hrefOf, route } from "../../route.js";
import { pathOf, type Source, sources } from "../../state/inputs.js";
import { summary, verdicts } from "../../state/run.js";
import { amountText, head, scoreText } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { labelOf } from "../../ui/set-label.js";
import { nameOf, Status, toneOf } from "../../ui/status.js";
import { MetricName, Name, Text, visibleText } from "../../ui/text.js";
import { engine } from "../../worker/client.js";
import type {
  CaseDetails,
  Matching,
  Problem,
  Question,
  TurnContent,
  TurnDetails,
  UnreachedTurn,
} from "../../worker/protocol.js";
import { names, rows } from "../results/view.js";
import { Calls } from "./calls.js";
import { AgentInstructions, Events } from "./events.js";
import { Judged } from "./judged.js";
import { useLabels } from "./label.js";
import { comparesCalls, comparesTexts, questionOf } from "./model.js";
import { ContextText, type Highlight, HighlightContext } from "./highlight.js";
import { Responses } from "./responses.js";
import { Rubrics } from "./rubrics.js";
import { Usage } from "./usage.js";
import { Unreached } from "./unreached.js";
import { WhyLines } from "./why-lines.js";
import "./case.css";

export default function Case() {
  const run = summary.value;
  const row = Number(route.value.rest[0]);
  if (run === undefined || run.evalIds[row] === undefined) {
    return (
      <>
        <h1>Case</h1>
        <p class="muted">
          {run === undefined ? "Nothing has been scored yet. " : "The run has no such case. "}
          <a href={hrefOf(run === undefined ? "files" : "results")}>
            {run === undefined ? "Choose files" : "Back to the results"}
          </a>
        </p>
      </>
    );
  }
  return (
    <div class="case">
      <CaseNavigation row={row} />
      <CaseArticle key={`${run.id}/${row}`} run={run.id} row={row} />
    </div>
  );
}

/** Links to the previous and the next case, in the order and with the filter of the results. */
function CaseNavigation({ row }: { row: number }) {
  const shownRows = rows.value;
  const position = shownRows.indexOf(row);
  const previous = position < 0 ? undefined : shownRows[position - 1];
  const next = position < 0 ? undefined : shownRows[position + 1];
  const failed = nextFailed(shownRows, position);
  // A layout effect, so that the keys work as soon as the case is visible.
  useLayoutEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const to = { ArrowLeft: previous, ArrowRight: next, f: failed }[event.key];
      if (to === undefined || takesKeys(event.target)) return;
      event.preventDefault();
      goTo("case", to);
    }
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [previous, next, failed]);
  const link = (to: number | undefined, name: string, arrow: string, key: string) => (
    <a
      class="button"
      {...(to === undefined
        ? { role: "link", "aria-disabled": true }
        : { href: hrefOf("case", to), title: visibleText(names.value[to] ?? ""), "aria-keyshortcuts": key })}
    >
      {arrow === "←" && <span aria-hidden="true">←</span>}
      {name}
      {arrow === "→" && <span aria-hidden="true">→</span>}
    </a>
  );
  return (
    <nav class="neighbours" aria-label="Cases">
      <a href={hrefOf("results")}>Results</a>
      <span class="muted">
        {position < 0 ? "not among the cases shown" : `${amountText(position + 1)} of ${amountText(shownRows.length)}`}
      </span>
      {link(previous, "Previous", "←", "ArrowLeft")}
      {link(next, "Next", "→", "ArrowRight")}
      {link(failed, "Next failed", "", "f")}
    </nav>
  );
}

/** The next row after a position whose case failed. */
function nextFailed(shownRows: Uint32Array, position: number): number | undefined {
  const cases = (verdicts.value ?? summary.value?.verdicts)?.cases;
  return position < 0 ? undefined : shownRows.subarray(position + 1).find((row) => cases?.[row] === EvalStatus.FAILED);
}

/** Whether an element handles arrow keys and letters itself. */
function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  const widget = target.closest(
    "input, select, textarea, [contenteditable], [role=slider], [role=grid], .scroll, .context",
  );
  return widget !== null;
}

function CaseArticle({ run, row }: { run: string; row: number }) {
  // Results from elsewhere may be damaged where nothing was validated yet.
  const [error] = useErrorBoundary();
  const content = useSignal<CaseDetails | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const matchings = useSignal<readonly Matching[]>([]);
  const unreached = useSignal<readonly UnreachedTurn[]>([]);
  const { sets = [], evalIds = [] } = summary.value ?? {};
  const set = sets.find(({ from, count }) => row >= from && row < from + count);
  const status = summary.value?.verdicts.cases[row] ?? 0;
  const heading = useRef<HTMLHeadingElement>(null);
  const title = visibleText(names.value[row] ?? "");
  useEffect(() => {
    document.title = `${head(title, 100)} – adk-metrics`;
  }, [title]);
  useLayoutEffect(() => {
    scrollTo(0, 0);
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    let isCurrent = true;
    void engine.caseAt(run, row).then((outcome) => {
      if (!isCurrent) return;
      if (!outcome.ok) {
        problem.value = outcome.problem;
        return;
      }
      content.value = outcome.value;
      // A case without scores: its turns could not be compared, or the agent failed.
      if (outcome.value.result.overallEvalMetricResults?.length !== 0) return;
      const file = evalSetFile(set?.path);
      const given = file === undefined ? undefined : { name: file.name, bytes: file.bytes };
      void engine.unreachedAt(run, row, given).then((found) => {
        if (isCurrent && found.ok) unreached.value = found.value;
      });
    });
    void engine.matchingsAt(run, row).then((outcome) => {
      if (isCurrent && outcome.ok) matchings.value = outcome.value;
    });
    return () => {
      isCurrent = false;
    };
    // The status changes when a pending case is scored during the run.
  }, [run, row, status]);
  useLabels(run, row, status);
  const name = names.value[row] ?? "";
  const shown = content.value?.result;
  return (
    <article>
      <header class="case-head">
        <h1 ref={heading} tabIndex={-1}>
          <Name>{name}</Name>
        </h1>
        <p>
          {shown !== undefined && (
            <span class={`verdict ${toneOf(shown.finalEvalStatus)}`}>
              <Status of={shown.finalEvalStatus} isNamed />
              {nameOf(shown.finalEvalStatus) || "Pending"}
            </span>
          )}
          <span class="muted">
            <Name>{set === undefined ? "" : labelOf(set, sets)}</Name>
          </span>
          <EditLink path={set?.path} evalId={evalIds[row] ?? ""} />
        </p>
        {shown?.reason !== undefined && (
          <div class={`notice ${toneOf(shown.finalEvalStatus)}`}>
            <Text fold={800}>{shown.reason}</Text>
          </div>
        )}
        {content.value !== undefined && error === undefined && <WhyLines content={content.value} />}
      </header>
      {problem.value !== undefined && <p class="notice failed">{problem.value.message}</p>}
      {error !== undefined ? (
        <p class="notice failed">This case cannot be shown: its results are damaged.</p>
      ) : content.value === undefined ? (
        problem.value === undefined && <p class="muted">Loading…</p>
      ) : (
        <CaseBody
          content={content.value}
          unreached={unreached.value}
          matchings={matchings.value}
          questions={() => engine.questionsAt(run, row)}
        />
      )}
    </article>
  );
}

/** How many turns are shown at first and added at a time. */
const TURNS_PER_PAGE = 30;

/** The file of an evalset, if it is among the files. */
function evalSetFile(path: string | undefined): Source | undefined {
  return sources.value.find((one) => pathOf(one) === path && one.info?.kind === "evalset");
}

/** A link to edit the case, if its evalset is among the files. */
function EditLink({ path, evalId }: { path: string | undefined; evalId: string }) {
  const source = evalSetFile(path);
  return source === undefined ? null : <a href={hrefOf("edit", source.id, evalId)}>Edit the case</a>;
}

interface DetailsProps {
  content: CaseDetails;
  unreached: readonly UnreachedTurn[];
  matchings: readonly Matching[];
  questions(): ReturnType<typeof engine.questionsAt>;
}

function CaseBody({ content, unreached, matchings, questions }: DetailsProps) {
  const { result } = content;
  const mode = useSignal<string | undefined>(undefined);
  const limit = useSignal(TURNS_PER_PAGE);
  const turns = result.evalMetricResultPerInvocation;
  // Turns that passed are folded where others did not.
  const folded = useSignal(foldable(turns));
  // All questions of a case are loaded together, when the first of them is opened.
  const cached = useMemo<{ questions?: Promise<readonly Question[]> }>(() => ({}), [result]);
  const ask = async (turn: number, metric: EvalMetricResult, vote: SampleVote) => {
    cached.questions ??= questions().then((outcome) => (outcome.ok ? outcome.value : []));
    return questionOf(await cached.questions, turn, turns.length, metric, vote);
  };
  return (
    <div class="case-body">
      <Verdicts result={result} turnLimit={limit} folded={folded} />
      <div class="case-main">
        <Rubrics result={result} />
        {turns.slice(0, limit.value).map((turn, index) => (
          <Turn
            key={index}
            turn={turn}
            content={content.turns[index] as TurnContent}
            details={content.details[index] as TurnDetails}
            index={index}
            count={turns.length}
            matchings={matchings}
            mode={mode}
            ask={ask}
            folded={folded}
          />
        ))}
        <More limit={limit} total={turns.length} step={TURNS_PER_PAGE} noun="turn" />
        {unreached.map((turn, index) => (
          <Unreached key={index} turn={turn} index={turns.length + index} />
        ))}
        {turns.length + unreached.length === 0 && (
          <p class="muted">
            The results hold no turns of this case. Add its evalset to the files to see what was expected.
          </p>
        )}
        <Usage result={result} />
      </div>
    </div>
  );
}

/** The turns whose metrics all passed, if there are others. */
function foldable(turns: EvalCaseResult["evalMetricResultPerInvocation"]): ReadonlySet<number> {
  const passed = turns.flatMap(({ evalMetricResults }, index) => {
    const judged = evalMetricResults.filter(({ evalStatus }) => evalStatus !== EvalStatus.INFORMATIONAL);
    return judged.length > 0 && judged.every(({ evalStatus }) => evalStatus === EvalStatus.PASSED) ? [index] : [];
  });
  return new Set(passed.length < turns.length ? passed : []);
}

function toggle(folded: Signal<ReadonlySet<number>>, index: number, isFolded: boolean): void {
  const now = new Set(folded.value);
  if (isFolded) now.add(index);
  else now.delete(index);
  folded.value = now;
}

interface VerdictsProps {
  result: EvalCaseResult;
  turnLimit: Signal<number>;
  folded: Signal<ReadonlySet<number>>;
}

/** The result of every metric for the whole case. */
function Verdicts({ result, turnLimit, folded }: VerdictsProps) {
  async function goToTurn(index: number): Promise<void> {
    turnLimit.value = Math.max(turnLimit.value, index + 1);
    toggle(folded, index, false);
    await new Promise((painted) => requestAnimationFrame(painted));
    document.getElementById(`turn-${index + 1}`)?.scrollIntoView();
  }
  const judged = result.overallEvalMetricResults.filter(({ evalStatus }) => evalStatus !== EvalStatus.INFORMATIONAL);
  return (
    <aside class="verdicts" aria-label="Verdicts">
      <ul>
        {judged.map(({ metricName, evalStatus, score, threshold, reason }) => (
          <li key={metricName} class={toneOf(evalStatus)}>
            <Status of={evalStatus} />
            <span>
              <MetricName>{metricName}</MetricName>
            </span>
            <span class="number">
              {score === undefined ? "–" : scoreText(score, threshold)}
              {threshold !== undefined && <span class="muted"> ≥ {threshold}</span>}
            </span>
            {reason !== undefined && (
              <div class="reason">
                <Text fold={300}>{reason}</Text>
              </div>
            )}
          </li>
        ))}
      </ul>
      {result.evalMetricResultPerInvocation.length > 1 && (
        <ol class="turn-list" aria-label="Turns">
          {result.evalMetricResultPerInvocation.map(({ evalMetricResults }, index) => (
            <li key={index}>
              <button type="button" onClick={() => void goToTurn(index)}>
                Turn {index + 1}
              </button>
              {evalMetricResults
                .filter(({ evalStatus }) => evalStatus === EvalStatus.FAILED)
                .map(({ metricName, evalStatus }) => (
                  <span key={metricName} class={toneOf(evalStatus)} title={metricName}>
                    <Status of={evalStatus} />
                  </span>
                ))}
            </li>
          ))}
        </ol>
      )}
    </aside>
  );
}

interface TurnProps {
  turn: EvalCaseResult["evalMetricResultPerInvocation"][number];
  content: TurnContent;
  details: TurnDetails;
  index: number;
  count: number;
  matchings: readonly Matching[];
  mode: Signal<string | undefined>;
  folded: Signal<ReadonlySet<number>>;
  ask(turn: number, metric: EvalMetricResult, vote: SampleVote): Promise<Question | undefined>;
}

function Turn({ turn, content, details, index, count, matchings, mode, ask, folded }: TurnProps) {
  const { actualInvocation: invocation, evalMetricResults: metrics } = turn;
  const { userText, actual, expected } = content;
  const highlight = useSignal<Highlight | undefined>(undefined);
  useSignalEffect(() => {
    if (!highlight.value?.isChosen) return undefined;
    const clearOnEscape = ({ key }: KeyboardEvent) => {
      if (key === "Escape") highlight.value = undefined;
    };
    addEventListener("keydown", clearOnEscape);
    return () => removeEventListener("keydown", clearOnEscape);
  });
  const isFolded = folded.value.has(index);
  const unfold = () => toggle(folded, index, !isFolded);
  const frame = { id: `turn-${index + 1}`, "aria-labelledby": `turn-title-${index + 1}` };
  const title = (
    <h2 id={`turn-title-${index + 1}`} class={count === 1 ? "visually-hidden" : undefined}>
      {count === 1 ? (
        "Turn 1"
      ) : (
        <button type="button" aria-expanded={!isFolded} onClick={unfold}>
          <span aria-hidden="true">{isFolded ? "▸" : "▾"}</span> Turn {index + 1}
          {isFolded && <Status of={EvalStatus.PASSED} />}
        </button>
      )}
    </h2>
  );
  if (isFolded) {
    return (
      <section class="turn folded" {...frame}>
        {title}
        <p>{visibleText(head(userText, 200))}</p>
      </section>
    );
  }
  return (
    <HighlightContext.Provider value={highlight}>
      <section class="turn" {...frame}>
        {title}
        <div class="message user">
          <h3>User</h3>
          <ContextText>{userText}</ContextText>
        </div>
        <Responses
          expected={comparesTexts(expected, metrics) ? expected?.text : undefined}
          actual={actual.text}
          metrics={metrics}
        />
        <Calls
          turn={index}
          expected={expected?.calls ?? []}
          actual={actual.calls}
          outputs={details.outputs}
          metrics={metrics}
          matchings={comparesCalls(expected, metrics) ? matchings : []}
          mode={mode}
        />
        <div class="turn-lower">
          <Judged
            turn={index}
            isLast={index === count - 1}
            metrics={metrics}
            ask={(metric, vote) => ask(index, metric, vote)}
          />
          <div class="context" tabIndex={0} role="group" aria-label={`What happened in turn ${index + 1}`}>
            <Events details={details} />
            <AgentInstructions invocation={invocation} />
          </div>
        </div>
      </section>
    </HighlightContext.Provider>
  );
}
