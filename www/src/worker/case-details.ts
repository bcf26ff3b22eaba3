/** What a case is shown with beside its results: why it did not pass, and what happened in its turns. */

import {
  changedWords,
  comparesCalls,
  comparesTexts,
  rationaleOf,
  rubricWords,
  whyNotPassed,
  type WordChanges,
} from "adk-metrics/report";
import { type EvalCaseResult, EvalStatus, knownScore, toolErrorOf, toolOutputsOf, turnEventsOf } from "adk-metrics/web";
import type { CaseContent, CaseDetails, TextPair, TurnDetails } from "./protocol.js";
import { definedProperties } from "./runs.js";

/** Adds the details of a case. Results from elsewhere may be damaged; then there are none, which the page reports. */
export function withDetails(content: CaseContent): CaseDetails {
  try {
    const { result } = content;
    return {
      ...content,
      result: {
        ...result,
        overallEvalMetricResults: known(result.overallEvalMetricResults),
        evalMetricResultPerInvocation: result.evalMetricResultPerInvocation.map((turn) => ({
          ...turn,
          evalMetricResults: known(turn.evalMetricResults),
        })),
      },
      why: whyNotPassed(result),
      details: result.evalMetricResultPerInvocation.map(detailsOf),
      rubricTexts: textsOf(result),
    };
  } catch {
    return { ...content, turns: [], why: [], details: [], rubricTexts: [] };
  }
}

/** What metrics found, without scores that are not known. */
function known(metrics: EvalCaseResult["overallEvalMetricResults"]) {
  return metrics.map(({ score: _, ...metric }, at) => ({
    ...metric,
    ...definedProperties({ score: knownScore(metrics[at] ?? metric) }),
  }));
}

/** The words of rubrics by their ids, for each metric of a case. */
function textsOf({ overallEvalMetricResults, evalMetricResultPerInvocation: turns }: EvalCaseResult) {
  return overallEvalMetricResults.map((metric) => {
    const texts = turns.map((turn) => {
      const ofTurn = turn.evalMetricResults.find(({ metricName }) => metricName === metric.metricName);
      return rubricWords(turn, ofTurn, metric);
    });
    // Those of the first turn that has some.
    return new Map(texts.toReversed().flatMap((words) => [...words]));
  });
}

/** The words in which the two texts of each pair differ. */
export function changesIn(pairs: readonly TextPair[]): WordChanges[] {
  return pairs.map(([expected, actual]) => changedWords(expected, actual));
}

type Turn = EvalCaseResult["evalMetricResultPerInvocation"][number];

function detailsOf(turn: Turn): TurnDetails {
  const { actualInvocation, evalMetricResults } = turn;
  const outputs = toolOutputsOf(actualInvocation).map(
    (output) => output && { response: output.response ?? null, ...definedProperties({ error: toolErrorOf(output) }) },
  );
  const rationales = evalMetricResults.map(({ evalStatus, explanation }) =>
    evalStatus === EvalStatus.PASSED ? [] : (explanation?.samples?.votes ?? []).map(({ reply }) => rationaleOf(reply)),
  );
  const compares = { texts: comparesTexts(turn), calls: comparesCalls(turn) };
  return { ...turnEventsOf(actualInvocation), outputs, rationales, compares };
}
