/** What a case is shown with beside its results: why it did not pass, and what happened in its turns. */

import { changedWords, rationaleOf, whyNotPassed, type WordChanges } from "adk-metrics/report";
import { type EvalCaseResult, EvalStatus, toolErrorOf, toolOutputsOf, turnEventsOf } from "adk-metrics/web";
import type { CaseContent, CaseDetails, TextPair, TurnDetails } from "./protocol.js";
import { definedProperties } from "./runs.js";

/** Adds the details of a case. Results from elsewhere may be damaged; then there are none, which the page reports. */
export function withDetails(content: CaseContent): CaseDetails {
  try {
    const { result } = content;
    return {
      ...content,
      why: whyNotPassed(result),
      details: result.evalMetricResultPerInvocation.map(detailsOf),
    };
  } catch {
    return { ...content, turns: [], why: [], details: [] };
  }
}

/** The words in which the two texts of each pair differ. */
export function changesIn(pairs: readonly TextPair[]): WordChanges[] {
  return pairs.map(([expected, actual]) => changedWords(expected, actual));
}

type Turn = EvalCaseResult["evalMetricResultPerInvocation"][number];

function detailsOf({ actualInvocation, evalMetricResults }: Turn): TurnDetails {
  const outputs = toolOutputsOf(actualInvocation).map(
    (output) => output && { response: output.response ?? null, ...definedProperties({ error: toolErrorOf(output) }) },
  );
  const rationales = evalMetricResults.map(({ evalStatus, explanation }) =>
    evalStatus === EvalStatus.PASSED ? [] : (explanation?.samples?.votes ?? []).map(({ reply }) => rationaleOf(reply)),
  );
  return { ...turnEventsOf(actualInvocation), outputs, rationales };
}
