// A case whose user a model plays, and judges that play it with given words.

import { AgentEvaluator } from "../../pkg/dist/esm/node.js";
import { actualOf, evalSetOf } from "./evalsets.mjs";

export const PLAN = "Ask for the weather in Paris, then in London.";
/** An evalset of one case with the scenario; `more` goes into it. */
export const scenarioOf = (more = {}) =>
  evalSetOf({
    trip: { conversationScenario: { startingPrompt: "Weather in Paris?", conversationPlan: PLAN, ...more } },
  });
/** Criteria that score any conversation, by a judge. */
export const CRITERIA = { multi_turn_task_success_v1: 0.5 };

/** A judge that plays the user with these words, and scores 1; it keeps the simulator's requests. */
export function playing(words, requests = []) {
  const left = [...words];
  return async (request) => {
    if (request.metricName !== "user_simulator") return '{"score": 1, "explanation": "fine"}';
    requests.push(request);
    const next = left.shift();
    if (next instanceof Error) throw next;
    return next;
  };
}

/** Runs an agent in the case; options beside `scenario`, `numRuns` and `criteria` are those of the evaluation. */
export const run = (agent, judge, { scenario = {}, numRuns = 1, criteria = CRITERIA, ...options } = {}) =>
  AgentEvaluator.evaluateEvalSet(agent, scenarioOf(scenario), criteria, numRuns, false, { judge, ...options });

/** What the user said in the turns of a case result. */
export const usersOf = (result) => actualOf(result).map(({ userContent }) => userContent.parts[0].text);

/** An agent. */
export const echo = (message) => `You said ${message}`;
