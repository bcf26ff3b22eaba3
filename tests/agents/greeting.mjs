// Agents that are functions, run in the shortest evalset there is: one greeting.

import { AgentEvaluator } from "../../pkg/dist/esm/node.js";
import { errorOf, evalSetOf, turn } from "./evalsets.mjs";

export const MATCH = { response_match_score: 1 };
export const HELLO = evalSetOf({ hello: [turn("Hello?", "Hello!")] });

/** The case results of an agent that is a function. */
export async function run(agent, evalSet = HELLO, criteria = MATCH, numRuns = 1, options = {}) {
  const { evalCaseResults } = await AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria, numRuns, false, options);
  return evalCaseResults;
}

/** The error of an agent, which is ours if it could not be run, and a failed test otherwise. */
export const failing = (agent, evalSet = HELLO, criteria = MATCH, numRuns = 1, options = {}) =>
  errorOf(() => run(agent, evalSet, criteria, numRuns, options));
