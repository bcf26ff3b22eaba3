/** What the results of a run tell as a whole, and search in their texts. */

import {
  type EvalCaseResult,
  type EvalSetResult,
  finalText,
  type Invocation,
  readEvalSet,
  reliabilityOf,
  toolCallsOf,
} from "adk-metrics/web";
import { groupIn, type Groups } from "./grouping.js";
import { baseName } from "./inspection.js";
import { outcomeOf } from "./problems.js";
import type { Source } from "./replay.js";
import type { NamedRows, Repetition, RunReliability, Studying, UnreachedTurn } from "./protocol-study.js";
import { definedProperties, type Run } from "./runs.js";

/**
 * @param resultsOf The results of a run with the current thresholds.
 * @param runOf A run of this page.
 */
export function studying(
  resultsOf: (run: string) => readonly EvalSetResult[],
  runOf: (run: string) => Run | undefined,
): Studying {
  return {
    reliability: (run, by = "") =>
      outcomeOf(() => {
        const groupings = runOf(run)?.groupings;
        return { ...reliability(resultsOf(run), groupings?.get(by)), groupings: [...(groupings?.keys() ?? [])] };
      }),
    repetitionAt: (run, row) => outcomeOf(() => repetition(resultsOf(run), row)),
    rowsWith: (run, words) =>
      outcomeOf(() => {
        const cases = resultsOf(run).flatMap(({ evalCaseResults }) => evalCaseResults);
        return cases.flatMap((result, row) => (hasWords(result, words) ? [row] : []));
      }),
    toolsOf: (run) =>
      outcomeOf(() => {
        const cases = resultsOf(run).flatMap(({ evalCaseResults }) => evalCaseResults);
        return rowsByName(cases.map(toolNamesOf));
      }),
    tagsOf: (run, files) =>
      outcomeOf(() => {
        const evalSets: Tagged[] = [
          ...(runOf(run)?.sets ?? []).flatMap(({ source }) =>
            source === undefined ? [] : [{ evalSet: source.evalSet, name: source.evalSetName }],
          ),
          ...files.map(({ name, bytes }) => ({ evalSet: bytes, name: baseName(name) })),
        ];
        // The evalset as it was scored goes before what it is now.
        const tags = new Map(evalSets.toReversed().flatMap(tagsIn));
        const cases = resultsOf(run).flatMap(({ evalSetId, evalCaseResults }) =>
          evalCaseResults.map((one) => tags.get(caseKey(one.evalSetId ?? evalSetId, one.evalId)) ?? []),
        );
        // What only one case has, such as an id, is no tag.
        return rowsByName(cases).filter(({ name, rows }) => rows.length > 1 || !name.includes(": "));
      }),
    unreachedAt: (run, row, file) =>
      outcomeOf(() => {
        const { result, source } = runOf(run)?.setAndCaseAt(row) ?? {};
        const evalSet = source?.evalSet ?? file?.bytes;
        const name = source?.evalSetName ?? (file === undefined ? undefined : baseName(file.name));
        if (result === undefined || evalSet === undefined) return [];
        const { evalCases } = readEvalSet(evalSet, name);
        const conversation = evalCases.find(({ evalId }) => evalId === result.evalId)?.conversation ?? [];
        return conversation.slice(result.evalMetricResultPerInvocation.length).map(unreachedTurn);
      }),
  };
}

/** The rows of each name, in the order of the names. */
function rowsByName(namesOfRows: readonly (readonly string[])[]): NamedRows[] {
  const rows = new Map<string, number[]>();
  for (const [row, names] of namesOfRows.entries()) {
    for (const name of new Set(names)) {
      const known = rows.get(name);
      if (known === undefined) rows.set(name, [row]);
      else known.push(row);
    }
  }
  return [...rows].map(([name, of]) => ({ name, rows: of })).sort((a, b) => a.name.localeCompare(b.name, "en"));
}

const caseKey = (evalSetId: unknown, evalId: unknown): string => JSON.stringify([evalSetId, evalId]);

/** The tags of each case of an evalset: those of its list `tags`, and the values by which `--group-by tag:…` groups. */
function tagsIn({ evalSet, name }: Tagged): [key: string, tags: string[]][] {
  try {
    const { evalSetId, evalCases } = readEvalSet(evalSet, name);
    return evalCases.map(({ evalId, sessionInput, creationTimestamp: _, ...own }) => {
      const tags = Object.entries({ ...sessionInput?.state, ...own }).flatMap(([key, value]) => tagsOf(key, value));
      return [caseKey(evalSetId, evalId), tags];
    });
  } catch {
    return [];
  }
}

interface Tagged {
  evalSet: Source["evalSet"];
  name: string | undefined;
}

function tagsOf(key: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => (Array.isArray(one) ? [] : tagsOf(key, one)));
  if (value === "" || !["string", "number", "boolean"].includes(typeof value)) return [];
  return [key === "tags" ? String(value) : `${key}: ${String(value)}`];
}

/** The names of the tools of a case. Results from elsewhere may be damaged: those have none. */
function toolNamesOf({ evalMetricResultPerInvocation: turns }: EvalCaseResult): string[] {
  try {
    return turns.flatMap(({ actualInvocation, expectedInvocation }) =>
      [actualInvocation, expectedInvocation]
        .flatMap((turn) => (turn === undefined ? [] : toolCallsOf(turn)))
        .flatMap(({ name }) => (typeof name === "string" && name !== "" ? [name] : [])),
    );
  } catch {
    return [];
  }
}

function unreachedTurn(expected: Invocation): UnreachedTurn {
  return {
    userText: finalText({ ...expected, finalResponse: expected.userContent }),
    expected: { text: finalText(expected), calls: toolCallsOf(expected) },
  };
}

function reliability(given: readonly EvalSetResult[], groups: Groups | undefined): Omit<RunReliability, "groupings"> {
  const withGroup = (result: EvalCaseResult) => {
    const group = groupIn(groups, result);
    return group === undefined ? result : { ...result, group };
  };
  const results =
    groups === undefined
      ? given
      : given.map((set) => ({ ...set, evalCaseResults: set.evalCaseResults.map(withGroup) }));
  const found = reliabilityOf(results);
  const { passRate, confidence, passAtK, passHatK, variance, needed, cases, metrics, isOneCase } = found;
  const [some, every] = [passAtK, passHatK].map((all) => all.findLast(({ k }) => k > 1));
  return {
    confidence,
    flaky: cases.filter(({ isFlaky }) => isFlaky).map(({ evalSetId, evalId }) => [evalSetId, evalId]),
    means: Object.fromEntries(
      metrics.flatMap(({ metricName, score }) => (score === undefined ? [] : [[metricName, score] as const])),
    ),
    ...definedProperties({
      passRate,
      passAtK: some,
      passHatK: every,
      variance,
      needed,
      groups: found.groups,
      isOneCase,
    }),
  };
}

/** What the runs of a case tell, which are the results with its ids; undefined for a single one. */
function repetition(results: readonly EvalSetResult[], row: number): Repetition | undefined {
  const keyIn = ({ evalSetId }: EvalSetResult, one: EvalCaseResult) => caseKey(one.evalSetId ?? evalSetId, one.evalId);
  const key = results.flatMap((set) => set.evalCaseResults.map((one) => keyIn(set, one)))[row];
  const runs = results.map((set) => ({
    ...set,
    evalCaseResults: set.evalCaseResults.filter((one) => keyIn(set, one) === key),
  }));
  const [found] = reliabilityOf(runs).cases;
  if (found === undefined || found.runs + found.notEvaluated < 2) return undefined;
  return { ...found, flaky: found.metrics.filter(({ isFlaky }) => isFlaky) };
}

/** Whether the texts of a case contain all words, which are in lower case. */
function hasWords(result: EvalCaseResult, words: readonly string[]): boolean {
  const missing = new Set(words);
  for (const text of textsOf(result)) {
    const lower = text.toLowerCase();
    for (const word of missing) if (lower.includes(word)) missing.delete(word);
    if (missing.size === 0) return true;
  }
  return false;
}

/** The texts of a case that are searched. Results from elsewhere may lack any part. */
function* textsOf(result: EvalCaseResult): Generator<string> {
  yield result.evalId;
  if (result.reason !== undefined) yield result.reason;
  for (const { reason } of result.overallEvalMetricResults) if (reason !== undefined) yield reason;
  for (const { actualInvocation, expectedInvocation, evalMetricResults } of result.evalMetricResultPerInvocation) {
    yield* textsOfTurn(actualInvocation);
    yield* textsOfTurn(expectedInvocation);
    for (const { reason, explanation, details } of evalMetricResults) {
      if (reason !== undefined) yield reason;
      // What judges said.
      for (const one of [...(details?.rubricScores ?? []), ...(explanation?.sentences ?? [])]) {
        if (typeof one.rationale === "string") yield one.rationale;
      }
      for (const { reply } of explanation?.samples?.votes ?? []) if (typeof reply === "string") yield reply;
    }
  }
}

function* textsOfTurn(turn: Invocation | undefined): Generator<string> {
  if (turn === undefined) return;
  for (const content of [turn.userContent, turn.finalResponse]) {
    for (const { text } of content?.parts ?? []) if (typeof text === "string") yield text;
  }
  // Tool calls and events, with the names of tools and their arguments.
  if (turn.intermediateData !== undefined) yield JSON.stringify(turn.intermediateData);
}
