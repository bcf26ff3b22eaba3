// A trip is planned with an agent: an evalset whose cases every judged metric has something to say about, and a judge
// that answers any of their questions, at any provider.

/** Every metric that asks a judge, with settings that make few calls. */
export const CRITERIA = {
  final_response_match_v2: { threshold: 0.5 },
  rubric_based_final_response_quality_v1: { threshold: 0.5, rubrics: [rubric("short", "The answer is one sentence.")] },
  rubric_based_tool_use_quality_v1: { threshold: 1, rubrics: [rubric("searched", "Flights were searched for.")] },
  rubric_based_multi_turn_trajectory_quality_v1: { threshold: 1, rubrics: [rubric("order", "Searches, then books.")] },
  hallucinations_v1: { threshold: 0.9 },
  per_turn_user_simulator_quality_v1: { threshold: 0.8 },
  safety_v1: { threshold: 1 },
  response_evaluation_score: { threshold: 4 },
  multi_turn_task_success_v1: { threshold: 0.7 },
  multi_turn_trajectory_quality_v1: { threshold: 0.7 },
  multi_turn_tool_use_quality_v1: { threshold: 0.7 },
};

/** The metrics that Vertex AI's service may score instead of a judge. */
export const BY_VERTEX = Object.keys(CRITERIA).filter((name) => /^(safety|response_e|multi)/.test(name));

/** The criteria of some metrics with the same options of the judge. */
export function criteriaOf(names = Object.keys(CRITERIA), judge_model_options = { num_samples: 3 }) {
  return Object.fromEntries(names.map((name) => [name, { ...CRITERIA[name], judge_model_options }]));
}

function rubric(rubric_id, text_property, type) {
  return { rubric_id, rubric_content: { text_property }, ...(type === undefined ? {} : { type }) };
}

function turn(says, answers, invocation_events = []) {
  return {
    invocation_id: `turn-${says}`,
    user_content: { role: "user", parts: [{ text: says }] },
    final_response: { role: "model", parts: [{ text: answers }] },
    intermediate_data: { invocation_events },
  };
}

function called(name, args, response) {
  return [
    { author: "travel", content: { role: "model", parts: [{ function_call: { id: name, name, args } }] } },
    { author: "travel", content: { role: "user", parts: [{ function_response: { id: name, name, response } }] } },
  ];
}

const SEARCH = called("search_flights", { from: "Zürich", to: "Tōkyō" }, { flights: ["LX160"] });
const BOOK = called("book_flight", { flight: "LX160" }, { ok: true });

/** Two turns that are compared with what was expected, and a conversation with a simulated user. */
export const EVAL_SET = {
  eval_set_id: "trips",
  eval_cases: [
    {
      eval_id: "flight",
      conversation: [
        turn("Find me a flight from Zürich to Tōkyō.", "LX160 flies there at 13:00.", SEARCH),
        turn("Book it!", "It is booked.", BOOK),
      ],
      rubrics: [
        rubric("names", "It names the flight.", "FINAL_RESPONSE_QUALITY"),
        rubric("once", "It books once.", "TOOL_USE_QUALITY"),
        rubric("asks", "It asks before it books.", "TRAJECTORY_QUALITY"),
      ],
    },
    {
      eval_id: "simulated",
      conversation_scenario: {
        starting_prompt: "I want to see Mount Fuji.",
        conversation_plan: "Ask for a tour to Mount Fuji, then for its price.",
        user_persona: "NOVICE",
      },
    },
  ],
};

/** What the agent did. */
export const ACTUAL = {
  eval_set_id: "trips",
  eval_cases: [
    {
      eval_id: "flight",
      conversation: [
        turn("Find me a flight from Zürich to Tōkyō.", "LX160 flies there at 13:00. Breakfast is free. 🛫", SEARCH),
        turn("Book it!", "I could not book it.", []),
      ],
    },
    {
      eval_id: "simulated",
      conversation: [
        turn("I want to see Mount Fuji.", "There is a tour by bus."),
        turn("What does it cost?", "It costs 12,000 yen."),
        turn("And what is the weather like on Mars?", "I do not know."),
      ],
    },
  ],
};

const json = (answer) => JSON.stringify(answer);
const lines = (fields) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** The text of a block of the prompt. */
function block(prompt, name) {
  const [, text = ""] = new RegExp(`<data-\\S+ name="${name}">\\n(.*?)\\n?</data-`, "s").exec(prompt) ?? [];
  return text;
}

/**
 * What a fair judge says, in the reply formats that google-adk reads. The rubrics `short` and `asks` are not met, breakfast
 * is made up, a booking that failed matches nothing, and asking about Mars is not in the plan.
 */
export function fair({ prompt }) {
  if (prompt.includes("is_the_agent_response_valid")) {
    const valid = block(prompt, "response").includes("could not") ? "invalid" : "valid";
    return json({ reasoning: "Compared.", is_the_agent_response_valid: valid });
  }
  if (prompt.includes('"is_valid"')) {
    const valid = block(prompt, "user_message").includes("Mars") ? "invalid" : "valid";
    return json({ reasoning: "Checked.", is_valid: valid });
  }
  if (prompt.includes("Verdict: <yes or no>")) {
    const rubrics = block(prompt, "rubrics")
      .split("\n")
      .map((line) => JSON.parse(line));
    const verdicts = rubrics.map(({ id, property }) =>
      lines({ ID: id, Property: property, Rationale: `About ${id}.`, Verdict: UNMET.includes(id) ? "no" : "yes" }),
    );
    return verdicts.join("\n\n");
  }
  if (prompt.includes("contradicting_excerpt")) {
    const sentences = [...block(prompt, "sentences").matchAll(/<sentence>(.*?)<\/sentence>/gs)];
    return sentences
      .map(([, sentence]) =>
        lines({
          sentence,
          label: sentence.includes("Breakfast") ? "unsupported" : "supported",
          rationale: "Looked up.",
          supporting_excerpt: sentence.includes("Breakfast") ? "null" : "the tool output",
          contradicting_excerpt: "null",
        }),
      )
      .join("\n\n");
  }
  if (prompt.includes("<sentence>")) {
    const sentences = block(prompt, "response").match(/[^.]+\./g) ?? [];
    return sentences.map((sentence) => `<sentence>${sentence.trim()}</sentence>`).join("\n");
  }
  const score = prompt.includes("how coherent") ? 4 : prompt.includes("harmless") ? 1 : 0.75;
  return json({ explanation: "Looked at.", score });
}

/** A judge that is a function of the user's own. */
export const fairJudge = async (asked) => fair(asked);

const UNMET = ["short", "asks"];

/** A fair judge at a server: of the requests of each question every so many-th meets the next of these faults, of some the first. */
export function sometimes(every, ...faults) {
  const numbers = new Map();
  let faulty = 0;
  return (asked) => {
    const number = numbers.get(asked.prompt) ?? numbers.size;
    numbers.set(asked.prompt, number + 1);
    if (number % every > 0) return fair(asked);
    faulty += 1;
    return faults[faulty % faults.length];
  };
}

/** What Vertex AI's evaluation service says. */
export const byVertex = ({ model }) => ({
  score: model === "coherence" ? 4 : model === "safety_v1" ? 1 : 0.75,
  explanation: "Looked at.",
});

/** A result in few words: the score of each metric over the conversation and over its turns, `-` where there is none. */
export function scoresOf(set) {
  const cell = ({ score }) => (score === undefined ? "-" : String(score));
  return Object.fromEntries(
    set.evalCaseResults
      .toSorted((a, b) => (a.evalId < b.evalId ? -1 : 1))
      .map(({ evalId, overallEvalMetricResults, evalMetricResultPerInvocation }) => [
        evalId,
        Object.fromEntries(
          overallEvalMetricResults
            .filter(({ metricName }) => metricName in CRITERIA)
            .map((overall, index) => [
              overall.metricName,
              [overall, ...evalMetricResultPerInvocation.map(({ evalMetricResults }) => evalMetricResults[index])]
                .map(cell)
                .join(" "),
            ]),
        ),
      ]),
  );
}

/** What a fair judge's answers come to, as {@link scoresOf} writes it. */
export const FAIR_SCORES = {
  flight: {
    final_response_match_v2: "0.5 1 0",
    rubric_based_final_response_quality_v1: "0.5 0.5 0.5",
    rubric_based_tool_use_quality_v1: "1 1 1",
    rubric_based_multi_turn_trajectory_quality_v1: "0.5 - 0.5",
    hallucinations_v1: "0.75 0.5 1",
    per_turn_user_simulator_quality_v1: "- - -",
    safety_v1: "1 1 1",
    response_evaluation_score: "4 4 4",
    multi_turn_task_success_v1: "0.75 - 0.75",
    multi_turn_trajectory_quality_v1: "0.75 - 0.75",
    multi_turn_tool_use_quality_v1: "0.75 - 0.75",
  },
  simulated: {
    final_response_match_v2: "- - - -",
    rubric_based_final_response_quality_v1: "0 0 0 0",
    rubric_based_tool_use_quality_v1: "1 1 1 1",
    rubric_based_multi_turn_trajectory_quality_v1: "1 - - 1",
    hallucinations_v1: "1 1 1 1",
    per_turn_user_simulator_quality_v1: `${2 / 3} 1 1 0`,
    safety_v1: "1 1 1 1",
    response_evaluation_score: "- - - -",
    multi_turn_task_success_v1: "0.75 - - 0.75",
    multi_turn_trajectory_quality_v1: "0.75 - - 0.75",
    multi_turn_tool_use_quality_v1: "0.75 - - 0.75",
  },
};

/** The scores of some metrics alone. */
export const fairScoresOf = (names) =>
  Object.fromEntries(
    Object.entries(FAIR_SCORES).map(([evalId, scores]) => [
      evalId,
      Object.fromEntries(names.map((name) => [name, scores[name]])),
    ]),
  );

/** The result of one metric for one case. */
export function found(set, metricName, evalId = "flight") {
  const one = set.evalCaseResults.find((result) => result.evalId === evalId);
  const at = one.overallEvalMetricResults.findIndex((result) => result.metricName === metricName);
  return {
    overall: one.overallEvalMetricResults[at],
    turns: one.evalMetricResultPerInvocation.map(({ evalMetricResults }) => evalMetricResults[at]),
  };
}

/** The reasons of every result that has no score, once each. */
export function reasonsOf(set) {
  const results = set.evalCaseResults.flatMap(({ overallEvalMetricResults, evalMetricResultPerInvocation }) => [
    ...overallEvalMetricResults,
    ...evalMetricResultPerInvocation.flatMap(({ evalMetricResults }) => evalMetricResults),
  ]);
  const judged = results.filter(({ metricName, score }) => metricName in CRITERIA && score === undefined);
  return [...new Set(judged.map(({ reason }) => reason))];
}
