/**
 * Expected and actual tool calls side by side, as aligned by a metric of the run or in any matching mode. A table shows
 * in which modes the calls match.
 */

import type { AlignmentEntry, EvalMetricResult, FunctionCall } from "adk-metrics";
import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import type { Matching, ToolResult } from "../../worker/protocol.js";
import { scoreText } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { Status, toneOf } from "../../ui/status.js";
import { MetricName, Name, Text } from "../../ui/text.js";
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

function AlignedCalls({ alignment, expected, actual, outputs }: AlignedProps) {
  const limit = useSignal(CALLS_PER_PAGE);
  return (
    <>
      <table class="aligned">
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

function AlignedRow({ entry, expected, actual, output }: RowProps) {
  const { sign, word, className } = KINDS[entry.kind];
  const differences = entry.differences ?? [];
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
          {expected === undefined ? <Absent /> : <Call call={expected} index={entry.expectedIndex} />}
        </td>
        <td data-side="Actual">
          {actual === undefined ? <Absent /> : <Call call={actual} index={entry.actualIndex} />}
          <ToolOutput output={output} />
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
                    <Side value={expectedValue} className="expected" />
                    <span class="visually-hidden"> but got </span>
                    <Side value={actualValue} className="actual" />
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

function Absent() {
  return (
    <span class="muted" aria-label="none">
      –
    </span>
  );
}

/** One side of a difference. An absent value is shown differently from `null`. */
function Side({ value, className }: { value: unknown; className: "expected" | "actual" }) {
  return (
    <span class={`side ${className}`}>
      <span aria-hidden="true">{className === "expected" ? "−" : "+"}</span>
      {value === undefined ? (
        <i>absent</i>
      ) : (
        <Text mono fold={300}>
          {jsonOf(value)}
        </Text>
      )}
    </span>
  );
}

export function Call({ call: { name, args }, index = 0 }: { call: FunctionCall; index?: number | undefined }) {
  return (
    <>
      <p class="call-name">
        <span class="muted" aria-label={`call ${index + 1}`}>
          {index + 1}
        </span>{" "}
        <b>
          <Name>{name ?? "(unnamed)"}</Name>
        </b>
      </p>
      {args === undefined || args === null ? (
        <p class="muted">no arguments</p>
      ) : (
        <Text mono fold={400}>
          {jsonOf(args)}
        </Text>
      )}
    </>
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
