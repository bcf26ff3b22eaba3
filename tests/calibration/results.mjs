// Results of judged metrics, made up.

const content = (text) => ({ parts: [{ text }] });

/**
 * Results as files hold them. A case is a list of turns (a single one need be no list), or `{ runs: [...] }` with such for
 * each run; a turn is the votes on a rubric (`{ polite: [1, 1, 0] }`), or a score from 1 to 5.
 */
export function resultsOf(cases, { evalSetId = "shop", judges, judgeUsage, answer = "Yes." } = {}) {
  return {
    eval_set_result_id: `${evalSetId}_1`,
    eval_set_id: evalSetId,
    eval_case_results: Object.entries(cases).flatMap(([evalId, one]) =>
      (one.runs ?? [one]).map((run) => caseOf(evalSetId, evalId, Array.isArray(run) ? run : [run], answer)),
    ),
    creation_timestamp: 1,
    judges: judges ?? [
      { metricName: RUBRICS, scoredBy: "judge", model: "gpt-5", prompts: { [RUBRICS]: "0123456789abcdef" } },
      { metricName: SCORES, scoredBy: "judge", model: "gpt-5", prompts: { [SCORES]: "fedcba9876543210" } },
    ],
    ...(judgeUsage === undefined ? {} : { judgeUsage }),
  };
}

export const RUBRICS = "rubric_based_final_response_quality_v1";
export const SCORES = "response_evaluation_score";

/** Labels in CSV: rows of case, turn, rubric and label. */
export const csv = (...rows) => ["case,turn,rubric,label,metric", ...rows.map((row) => `${row},${RUBRICS}`)].join("\n");

export const TWO = { open: { polite: [1, 1, 1], brief: [1, 0, 1] }, closed: { polite: [0, 0, 0], brief: [0, 1, 0] } };

function caseOf(evalSetId, evalId, turns, answer) {
  return {
    eval_set_id: evalSetId,
    eval_id: evalId,
    final_eval_status: 1,
    overall_eval_metric_results: [],
    eval_metric_result_per_invocation: turns.map((turn) => ({
      actual_invocation: { user_content: content("Is it open?"), final_response: content(answer) },
      eval_metric_results: [typeof turn === "number" ? scored(turn) : judged(turn)],
    })),
    session_id: "",
    judgeVotes: turns.flatMap((turn, invocationIndex) =>
      typeof turn === "number"
        ? [{ metricName: SCORES, invocationIndex, votes: [turn, turn], of: 2 }]
        : Object.entries(turn).map(([rubricId, votes]) => ({
            metricName: RUBRICS,
            invocationIndex,
            rubricId,
            votes,
            of: 5,
          })),
    ),
  };
}

const isMet = (votes) => votes.filter((vote) => vote === 1).length > votes.filter((vote) => vote === 0).length;

function judged(rubrics) {
  const scores = Object.entries(rubrics).map(([rubric_id, votes]) => ({
    rubric_id,
    score: isMet(votes) ? 1 : 0,
    rationale: `because of ${rubric_id}`,
  }));
  const score = scores.filter((one) => one.score === 1).length / scores.length;
  const list = Object.keys(rubrics).map((rubric_id) => ({
    rubric_id,
    rubric_content: { text_property: `It is ${rubric_id}.` },
  }));
  return {
    metric_name: RUBRICS,
    threshold: 0.7,
    criterion: { threshold: 0.7, rubrics: list },
    score,
    eval_status: score >= 0.7 ? 1 : 2,
    details: { rubric_scores: scores },
  };
}

function scored(score) {
  return { metric_name: SCORES, threshold: 3.5, score, eval_status: score >= 3.5 ? 1 : 2 };
}

/** As many cases as there are pairs `judge people`: `PP` both pass, `PF` the judge alone. */
export function pairsOf(counts) {
  const cases = {};
  const rows = [];
  for (const [pair, count] of Object.entries(counts)) {
    for (let at = 1; at <= count; at += 1) {
      const evalId = `${pair}${at}`;
      cases[evalId] = { polite: pair[0] === "P" ? [1, 1, 1] : [0, 0, 0] };
      if (pair[1] !== "-") rows.push(`${evalId},1,${RUBRICS},polite,${pair[1] === "P" ? "pass" : "fail"}`);
    }
  }
  return { cases, labels: ["case,turn,metric,rubric,label", ...rows].join("\n") };
}
