/** What a case is shown with beside its results: why it did not pass, and what happened in its turns. */

import { whyNotPassed } from "adk-metrics/report";
import { type Invocation, toolErrorOf, toolOutputsOf, turnEventsOf } from "adk-metrics/web";
import type { CaseContent, CaseDetails, TurnDetails } from "./protocol.js";
import { definedProperties } from "./runs.js";

/** Adds the details of a case. Results from elsewhere may be damaged; then there are none, which the page reports. */
export function withDetails(content: CaseContent): CaseDetails {
  try {
    const { result } = content;
    return {
      ...content,
      why: whyNotPassed(result),
      details: result.evalMetricResultPerInvocation.map(({ actualInvocation }) => detailsOf(actualInvocation)),
    };
  } catch {
    return { ...content, turns: [], why: [], details: [] };
  }
}

function detailsOf(invocation: Invocation): TurnDetails {
  const outputs = toolOutputsOf(invocation).map(
    (output) => output && { response: output.response ?? null, ...definedProperties({ error: toolErrorOf(output) }) },
  );
  return { ...turnEventsOf(invocation), outputs };
}
