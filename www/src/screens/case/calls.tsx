/**
 * Expected and actual tool calls side by side, as aligned by a metric of the run or in any matching mode. A table shows
 * in which modes the calls match.
 */

import type { AlignmentEntry, EvalMetricResult, FunctionCall } from "adk-metrics";
import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { onlyDifferences } from "../../state/only-differences.js";
import type { Matching, TextPair, ToolResult } from "../../worker/protocol.js";
import { exactJson } from "../../ui/json.js";
import { Copy } from "../../ui/copy.js";
import { count, scoreText } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { Status, toneOf } from "../../ui/status.js";
import { type Mark, MetricName, Name, Text } from "../../ui/text.js";
import { useChanges } from "./changes.js";
import { markedJson } from "./marked-json.js";
import { jsonOf } from "./model.js";
import "./calls.css";

const KINDS: Readonly<Record<AlignmentEntry["kind"], { sign: string; word: string; className: string }>> = {
  match: { sign: "=", word: "Match", className: "match" },
  arguments: { sign: "≠", word: "Changed", className: "changed" },
  missing: { sign: "−", word: "Missing", className: "missing" },
  extra: { sign: "+", word: "Extra", className: "extra" },
  moved: { sign: "↕", word: "Moved", className: "moved" },
};

const MATCH_TYPE_NAMES: Readonly<Record<Matching["matchType"], string>> = {
  EXACT: "Exact",
  IN_ORDER: "In order",
  ANY_ORDER: "Any order",
};

interface CallsProps {
  turn: number;
  expected: readonly FunctionCall[];
  actual: readonly FunctionCall[];
  /** The output of each actual call. */
  outputs: readonly (ToolResult | undefined)[];
  metrics: readonly EvalMetricResult[];
  matchings: readonly Matching[];
  /** The alignment that is shown, the same in all turns: the name of a metric or of a matching mode. */
  mode: Signal<string | undefined>;
}

export function Calls({ turn, expected, actual, outputs, metrics, matchings, mode }: CallsProps) {
  const scored = metrics.filter(({ explanation }) => explanation?.alignment);
  const choices = useMemo(() => {
    const found = new Map<string, readonly AlignmentEntry[]>();
    for (const { metricName, explanation } of scored) found.set(metricName, explanation?.alignment ?? []);
    for (const matching of matchings) found.set(modeName(matching), matching.turns[turn]?.alignment ?? []);
    return found;
  }, [metrics, matchings]);
  if (expected.length + actual.length === 0) return null;
  const shown = mode.value !== undefined && choices.has(mode.value) ? mode.value : [...choices.keys()][0];
  const alignment = shown === undefined ? undefined : choices.get(shown);
  const choose = (name: string) => () => {
    mode.value = name;
  };
  return (
    <section class="calls">
      <h3>Tool calls</h3>
      {(scored.length > 0 || matchings.length > 0) && (
        <div class="match-modes" role="group" aria-label="Ways of matching">
          <div class="scored-modes">
            {scored.map((metric) => (
              <button
                key={metric.metricName}
                type="button"
                aria-pressed={shown === metric.metricName}
                onClick={choose(metric.metricName)}
              >
                <Status of={metric.evalStatus} />
                Used for <MetricName>{metric.metricName}</MetricName>{" "}
                <small>{scoreText(metric.score, metric.threshold)}</small>
              </button>
            ))}
          </div>
          {matchings.length > 0 && <Matrix turn={turn} matchings={matchings} shown={shown} choose={choose} />}
        </div>
      )}
      {alignment !== undefined ? (
        <AlignedCalls alignment={alignment} expected={expected} actual={actual} outputs={outputs} />
      ) : (
        <UnalignedCalls calls={actual} outputs={outputs} />
      )}
    </section>
  );
}

function modeName({ matchType, ignoreArgs }: Matching): string {
  return `${matchType}${ignoreArgs ? " names" : ""}`;
}

interface MatrixProps {
  turn: number;
  matchings: readonly Matching[];
  shown: string | undefined;
  choose(name: string): () => void;
}

function Matrix({ turn, matchings, shown, choose }: MatrixProps) {
  return (
    <table class="matrix">
      <caption class="visually-hidden">How the calls match</caption>
      <thead>
        <tr>
          <td />
          {Object.entries(MATCH_TYPE_NAMES).map(([mode, name]) => (
            <th key={mode} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {[false, true].map((ignoreArgs) => (
          <tr key={String(ignoreArgs)}>
            <th scope="row">{ignoreArgs ? "Names only" : "With arguments"}</th>
            {matchings
              .filter((matching) => matching.ignoreArgs === ignoreArgs)
              .map((matching) => {
                const status = matching.turns[turn]?.evalStatus ?? EvalStatus.NOT_EVALUATED;
                const name = modeName(matching);
                return (
                  <td key={name}>
                    <button type="button" aria-pressed={shown === name} class={toneOf(status)} onClick={choose(name)}>
                      <Status of={status} isNamed />
                      <span class="visually-hidden">
                        {MATCH_TYPE_NAMES[matching.matchType]}, {ignoreArgs ? "names only" : "with arguments"}:{" "}
                      </span>
                      {status === EvalStatus.PASSED ? "match" : "differ"}
                    </button>
                  </td>
                );
              })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How many calls are shown at first; five times as many are added at a time. */
const CALLS_PER_PAGE = 60;

type AlignedProps = Pick<CallsProps, "expected" | "actual" | "outputs"> & { alignment: readonly AlignmentEntry[] };

/** The text about matching calls that are not shown. */
function matchingText(matching: number, others: number): string {
  if (others === 0) return "All calls match.";
  return matching === 1 ? "1 call that matches is not shown." : `${count(matching, "call")} that match are not shown.`;
}

function AlignedCalls({ alignment: all, expected, actual, outputs }: AlignedProps) {
  const limit = useSignal(CALLS_PER_PAGE);
  const alignment = onlyDifferences.value ? all.filter(({ kind }) => kind !== "match") : all;
  const matching = all.length - alignment.length;
  return (
    <>
      {matching > 0 && <p class="muted">{matchingText(matching, alignment.length)}</p>}
      <table class="aligned" hidden={alignment.length === 0}>
        <caption class="visually-hidden">Expected and actual tool calls</caption>
        <thead>
          <tr>
            <th scope="col">Comparison</th>
            <th scope="col">Expected</th>
            <th scope="col">Actual</th>
          </tr>
        </thead>
        <tbody>
          {alignment.slice(0, limit.value).map((entry, index) => (
            <AlignedRow
              key={index}
              entry={entry}
              expected={expected[entry.expectedIndex ?? -1]}
              actual={actual[entry.actualIndex ?? -1]}
              output={outputs[entry.actualIndex ?? -1]}
            />
          ))}
        </tbody>
      </table>
      <More limit={limit} total={alignment.length} step={5 * CALLS_PER_PAGE} noun="call" />
    </>
  );
}

interface RowProps {
  entry: AlignmentEntry;
  expected: FunctionCall | undefined;
  actual: FunctionCall | undefined;
  output: ToolResult | undefined;
}

const NO_DIFFERENCES: NonNullable<AlignmentEntry["differences"]> = [];

function AlignedRow({ entry, expected, actual, output }: RowProps) {
  const { sign, word, className } = KINDS[entry.kind];
  const differences = entry.differences ?? NO_DIFFERENCES;
  const marks = useArgumentMarks(differences);
  // The arguments that differ are below.
  const isShort = onlyDifferences.value && (differences.length > 0 || entry.kind === "moved");
  return (
    <>
      <tr class={`call-row ${className}`}>
        <th scope="row">
          <span class="call-kind">
            <span aria-hidden="true">{sign}</span>
            {word}
          </span>
          {entry.kind === "moved" && (
            <small>
              expected as call {(entry.expectedIndex ?? 0) + 1}, made as call {(entry.actualIndex ?? 0) + 1}
            </small>
          )}
        </th>
        <td data-side="Expected">
          {expected === undefined ? (
            <Absent />
          ) : (
            <Call call={expected} index={entry.expectedIndex} marks={marks.expected} isShort={isShort} />
          )}
        </td>
        <td data-side="Actual">
          {actual === undefined ? (
            <Absent />
          ) : (
            <Call call={actual} index={entry.actualIndex} marks={marks.actual} isShort={isShort} />
          )}
          {!isShort && <ToolOutput output={output} />}
        </td>
      </tr>
      {differences.length > 0 && (
        <tr class={`call-row ${className} differences`}>
          <td />
          <td colSpan={2}>
            <dl>
              {differences.map(({ path, expected: expectedValue, actual: actualValue }, index) => (
                <div key={index}>
                  <dt>
                    <Name>{path === "" ? "all arguments" : path}</Name>
                  </dt>
                  <dd>
                    <span class="visually-hidden">expected </span>
                    <Side value={expectedValue} className="expected" marks={marks.expected.get(path)} />
                    <span class="visually-hidden"> but got </span>
                    <Side value={actualValue} className="actual" marks={marks.actual.get(path)} />
                  </dd>
                </div>
              ))}
            </dl>
          </td>
        </tr>
      )}
    </>
  );
}

/** Which ranges of a value's JSON differ. */
type ValueMarks = readonly (readonly [number, number])[] | "all";

/** The same for the arguments that differ, by their paths. */
type ArgumentMarks = ReadonlyMap<string, ValueMarks>;

const NO_MARKS: ArgumentMarks = new Map();

/** The marks of both sides: of two texts the words that differ, else the whole values. */
function useArgumentMarks(differences: typeof NO_DIFFERENCES): { expected: ArgumentMarks; actual: ArgumentMarks } {
  const texts = useMemo(
    () => differences.filter(({ expected, actual }) => typeof expected === "string" && typeof actual === "string"),
    [differences],
  );
  const pairs = useMemo(
    () => texts.map(({ expected, actual }): TextPair => [jsonOf(expected), jsonOf(actual)]),
    [texts],
  );
  const changes = useChanges(pairs);
  return useMemo(() => {
    const side = (name: "expected" | "actual"): ArgumentMarks => {
      const marks = new Map<string, ValueMarks>(differences.map(({ path }) => [path, "all"]));
      for (const [at, { path }] of texts.entries()) marks.set(path, changes?.[at]?.[name] ?? "all");
      return marks;
    };
    return differences.length === 0
      ? { expected: NO_MARKS, actual: NO_MARKS }
      : { expected: side("expected"), actual: side("actual") };
  }, [differences, texts, changes]);
}

function Absent() {
  return (
    <span class="muted" aria-label="none">
      –
    </span>
  );
}

interface SideProps {
  value: unknown;
  className: "expected" | "actual";
  marks: ValueMarks | undefined;
}

/** One side of a difference. An absent value is shown differently from `null`. */
function Side({ value, className, marks = "all" }: SideProps) {
  const text = jsonOf(value);
  return (
    <span class={`side ${className}`}>
      <span aria-hidden="true">{className === "expected" ? "−" : "+"}</span>
      {value === undefined ? (
        <i>absent</i>
      ) : (
        <Text mono fold={300} marks={marksIn(marks, 0, text.length)}>
          {text}
        </Text>
      )}
    </span>
  );
}

/** The marks of a value whose JSON is somewhere in a text. */
function marksIn(marks: ValueMarks, from: number, to: number): Mark[] {
  const ranges = marks === "all" ? [[0, to - from] as const] : marks;
  return ranges.map(([start, end]) => ({ from: from + start, to: from + end, className: "changed" }));
}

interface CallProps {
  call: FunctionCall;
  index?: number | undefined;
  /** What differs in its arguments. */
  marks?: ArgumentMarks;
  /** Whether its arguments are left out. */
  isShort?: boolean;
}

export function Call({ call: { name, args }, index = 0, marks = NO_MARKS, isShort = false }: CallProps) {
  const hasArguments = args !== undefined && args !== null;
  return (
    <>
      <p class="call-name">
        <span class="muted" aria-label={`call ${index + 1}`}>
          {index + 1}
        </span>{" "}
        <b>
          <Name>{name ?? "(unnamed)"}</Name>
        </b>
        {hasArguments && <Copy text={() => exactJson(args, 2) ?? ""} what="the arguments as JSON" />}
      </p>
      {isShort ? null : hasArguments ? <Arguments args={args} marks={marks} /> : <p class="muted">no arguments</p>}
    </>
  );
}

function Arguments({ args, marks }: { args: unknown; marks: ArgumentMarks }) {
  const { text, marked } = useMemo(() => markedJson(args, new Set(marks.keys())), [args, marks]);
  const ranges = marked.flatMap(({ path, from, to }) => marksIn(marks.get(path) ?? "all", from, to));
  return (
    <Text mono fold={400} marks={ranges} upTo={ranges[0]?.to}>
      {text}
    </Text>
  );
}

/** The output of a tool, below its call. */
function ToolOutput({ output }: { output: ToolResult | undefined }) {
  if (output === undefined) return null;
  const { response, error } = output;
  const content = error ?? response;
  return (
    <div class={error === undefined ? "tool-output" : "tool-output failed"}>
      <p>{error === undefined ? "returned" : "failed"}</p>
      <Text mono fold={300}>
        {typeof content === "string" ? content : jsonOf(content)}
      </Text>
    </div>
  );
}

/** The actual calls alone, if no calls are expected. */
function UnalignedCalls({ calls, outputs }: { calls: readonly FunctionCall[]; outputs: CallsProps["outputs"] }) {
  const limit = useSignal(CALLS_PER_PAGE);
  return (
    <>
      <ol class="plain-calls">
        {calls.slice(0, limit.value).map((call, index) => (
          <li key={index}>
            <Call call={call} index={index} />
            <ToolOutput output={outputs[index]} />
          </li>
        ))}
      </ol>
      <More limit={limit} total={calls.length} step={5 * CALLS_PER_PAGE} noun="call" />
    </>
  );
}
