/** A case, turn by turn: messages, tool calls, and the result of each metric with its explanation. */

import type { EvalMetricResult, SampleVote } from "adk-metrics";
import { useSignal } from "@preact/signals";
import { useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { goTo, hrefOf, route } from "../../route.js";
import { pathOf, type Source, sources } from "../../state/inputs.js";
import { onlyDifferences } from "../../state/only-differences.js";
import { summary } from "../../state/run.js";
import { CopyStatus } from "../../ui/copy.js";
import { head } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { labelOf } from "../../ui/set-label.js";
import { sentence } from "../../ui/sentence.js";
import { nameOf, Status, toneOf } from "../../ui/status.js";
import { Name, Text, visibleText } from "../../ui/text.js";
import { engine } from "../../worker/client.js";
import type {
  CaseDetails,
  Matching,
  Problem,
  Question,
  Repetition,
  TurnContent,
  TurnDetails,
  UnreachedTurn,
} from "../../worker/protocol.js";
import { names } from "../results/view.js";
import { failedTurns, foldable, toggle } from "./folding.js";
import { useKeys } from "./keys.js";
import { useLabels } from "./label.js";
import { questionOf } from "./model.js";
import { CaseNavigation, nextFailedCase } from "./navigation.js";
import { Repeated } from "./repeated.js";
import { Rubrics } from "./rubrics.js";
import { Turn } from "./turn.js";
import { Unreached } from "./unreached.js";
import { Usage } from "./usage.js";
import { Verdicts } from "./verdicts.js";
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
      <CopyStatus />
      <CaseArticle key={`${run.id}/${row}`} run={run.id} row={row} />
    </div>
  );
}

function CaseArticle({ run, row }: { run: string; row: number }) {
  // Results from elsewhere may be damaged where nothing was validated yet.
  const [error] = useErrorBoundary();
  const content = useSignal<CaseDetails | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const matchings = useSignal<readonly Matching[]>([]);
  const unreached = useSignal<readonly UnreachedTurn[]>([]);
  const repetition = useSignal<Repetition | undefined>(undefined);
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
    void engine.repetitionAt(run, row).then((outcome) => {
      if (isCurrent && outcome.ok) repetition.value = outcome.value;
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
          {content.value?.turns.some(hasExpectation) && <OnlyDifferencesToggle />}
        </p>
        {repetition.value !== undefined && <Repeated of={repetition.value} />}
        {shown?.reason !== undefined && (
          <div class={`notice ${toneOf(shown.finalEvalStatus)}`}>
            <Text fold={800}>{sentence(shown.reason)}</Text>
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
          row={row}
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

/** Whether a turn says what was expected. */
function hasExpectation({ expected }: TurnContent): boolean {
  return expected !== undefined && (expected.text !== "" || expected.calls.length > 0);
}

/** Shows only what differs, or everything. */
function OnlyDifferencesToggle() {
  const toggleIt = () => {
    onlyDifferences.value = !onlyDifferences.value;
  };
  useKeys({ d: toggleIt });
  return (
    <button
      type="button"
      class="button only-differences"
      aria-pressed={onlyDifferences.value}
      aria-keyshortcuts="d"
      onClick={toggleIt}
    >
      Only differences
    </button>
  );
}

interface DetailsProps {
  row: number;
  content: CaseDetails;
  unreached: readonly UnreachedTurn[];
  matchings: readonly Matching[];
  questions(): ReturnType<typeof engine.questionsAt>;
}

function CaseBody({ row, content, unreached, matchings, questions }: DetailsProps) {
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
  async function goToTurn(index: number): Promise<void> {
    limit.value = Math.max(limit.value, index + 1);
    toggle(folded, index, false);
    await new Promise((painted) => requestAnimationFrame(painted));
    const turn = document.getElementById(`turn-${index + 1}`);
    turn?.querySelector<HTMLElement>("h2 button")?.focus({ preventScroll: true });
    turn?.scrollIntoView();
  }
  const failed = useMemo(() => (turns.length > 1 ? failedTurns(turns) : []), [turns]);
  const nextFailed = () => failed.find((index) => index > currentTurn());
  const nextCase = nextFailedCase(row);
  useKeys({
    t: failed.length === 0 ? undefined : () => void goToTurn(nextFailed() ?? (failed[0] as number)),
    n: () => {
      const turn = nextFailed();
      if (turn !== undefined) void goToTurn(turn);
      else if (nextCase !== undefined) goTo("case", nextCase);
    },
  });
  return (
    <div class="case-body">
      <Verdicts result={result} goToTurn={(index) => void goToTurn(index)} />
      <div class="case-main">
        <Rubrics content={content} />
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
            nextFailed={failed.includes(index) ? failed.find((one) => one > index) : undefined}
            goToTurn={(to) => void goToTurn(to)}
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

/** The turn that has the focus; -1 if none has. */
function currentTurn(): number {
  const id = document.activeElement?.closest(".turn")?.id ?? "";
  return id.startsWith("turn-") ? Number(id.slice("turn-".length)) - 1 : -1;
}
