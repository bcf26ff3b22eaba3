// What reports say of judges: votes, rubrics, sentences, prose and costs in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  judgedVotes,
  judgedRubrics,
  rubricsOf,
  wordsOfRubrics,
  samplesText,
  sentenceGroups,
  voteReader,
  votesText,
} from "../../pkg-template/src/report/judged.js";
import { costText, judgesText } from "../../pkg-template/src/report/usage.js";
import { proseOf } from "../../pkg-template/src/votes.js";
import type { SampleVote } from "../../pkg-template/src/types.js";
import { invocation, travelSet, turn } from "./fixtures.js";
import { conversationSet, judgedSet, vertexSet } from "./judged-fixtures.js";
import { ofTurn } from "./judged-support.ts";

test("votes in words: how many were asked, what they said, why the others were not asked", () => {
  const set = judgedSet();
  const cases: [string, number, string?, string?][] = [
    ["late_checkout", 0, "4 of 5 samples asked: 1 valid, 2 invalid, 1 unreadable; early stopping saved 1"],
    ["late_checkout", 1, "3 of 5 samples asked: 3 valid; early stopping saved 2"],
    ["room_with_view", 0, "3 of 5 samples asked; early stopping saved 2"],
    ["spa_and_breakfast", 0, "4 samples asked"],
    ["simulated_family_trip", 0],
    ["simulated_family_trip", 2, "3 samples asked: 2 valid, 1 invalid"],
    ["asked_for_medicine", 0, "3 of 5 samples asked: 3 safe; early stopping saved 2", "safety_v1"],
    ["asked_for_medicine", 0, "3 samples asked: 4, 5, 3", "response_evaluation_score"],
    ["judge_failed", 0, "5 samples asked: 1 valid, 4 without a reply"],
    ["budget_spent", 0, "2 of 5 samples asked: 1 valid, 1 invalid; 3 not asked"],
    ["run_cancelled", 0, "0 of 5 samples asked; 5 not asked"],
  ];
  for (const [evalId, at, text, metricName] of cases) {
    assert.equal(samplesText(ofTurn(set, evalId, at, metricName)), text, evalId);
  }
});

test("a vote is what its question makes of its score", () => {
  const words: [string, string, number | undefined, string][] = [
    ["final_response_match_v2", "verdict", 1, "valid"],
    ["final_response_match_v2", "verdict", 0, "invalid"],
    ["final_response_match_v2", "verdict", undefined, "unreadable"],
    ["rubric_based_tool_use_quality_v1", "verdict", undefined, "unreadable"],
    ["rubric_based_tool_use_quality_v1", "verdict", 0.75, "mean 0.75"],
    ["hallucinations_v1", "segment", undefined, "sentences"],
    ["hallucinations_v1", "validate", 1 / 3, "labels 0.3333"],
    ["hallucinations_v1", "validate", undefined, "unreadable"],
    ["safety_v1", "score", 1, "safe"],
    ["safety_v1", "score", 0, "unsafe"],
    ["safety_v1", "score", undefined, "unreadable"],
    ["safety", "score", 0, "unsafe"],
    ["response_evaluation_score", "score", 4.5, "4.5"],
    ["response_evaluation_score", "score", Number.NaN, "unreadable"],
  ];
  for (const [metricName, purpose, score, word] of words) {
    const vote: SampleVote = { sampleIndex: 0, purpose, reply: "", ...(score === undefined ? {} : { score }) };
    assert.equal(voteReader({ metricName, evalStatus: 1 })(vote).word, word, `${metricName} ${purpose} ${score}`);
  }
});

test("a judge's remark is no rubric, and a rubric of that name is one where it has a score or the metric has rubrics", () => {
  const rubricScores = [
    { rubricId: "explanation", rationale: "It is." },
    { rubricId: "error", score: 1 },
    { rubricId: "polite", score: 1 },
  ];
  const ids = (metricName: string) =>
    rubricsOf({ metricName, evalStatus: 1, details: { rubricScores } }).map(({ rubricId }) => rubricId);
  assert.deepEqual(ids("safety_v1"), ["error", "polite"]);
  assert.deepEqual(ids("safety"), ["error", "polite"], "ADK-TS's old name");
  assert.deepEqual(ids("rubric_based_final_response_quality_v1"), ["explanation", "error", "polite"]);
});

test("the words of a rubric are found in the turn and in the criterion, however they are spelt", () => {
  const actual = {
    ...invocation("u", "a"),
    rubrics: [
      { rubricId: "one", rubricContent: { textProperty: "One." } },
      { rubric_id: "two", rubric_content: { text_property: "Two." } },
    ],
  };
  const criterion = {
    rubrics: [
      { rubricId: "three", rubricContent: "Three." },
      { rubric_id: "one", rubric_content: "Other." },
      "Four.",
      null,
    ],
  };
  const words = wordsOfRubrics(turn(undefined, actual as never, []), { metricName: "m", evalStatus: 1, criterion });
  assert.deepEqual(
    [...words],
    [
      ["one", "One."],
      ["two", "Two."],
      ["three", "Three."],
    ],
  );
});

test("a sample about rubrics says how many it found met where its mean tells, else the mean", () => {
  const rubric = (rubricId: string, yes: number, no: number, unscored = 0) => ({
    rubricId,
    text: "",
    yes,
    no,
    unscored,
  });
  const cases: [number[], ReturnType<typeof rubric>[], string[]][] = [
    [
      [1, 2 / 3],
      [rubric("a", 2, 0), rubric("b", 2, 0), rubric("c", 1, 1)],
      ["3 of 3 met", "2 of 3 met"],
    ],
    [
      [0, 0.5],
      [rubric("a", 1, 1), rubric("b", 0, 2)],
      ["0 of 2 met", "1 of 2 met"],
    ],
    [[1, 0], [rubric("a", 1, 1)], ["met", "not met"]],
    [
      [0.5, 1],
      [rubric("a", 2, 0), rubric("b", 0, 1, 1)],
      ["mean 0.5", "mean 1"],
    ],
  ];
  for (const [scores, rubrics, words] of cases) {
    const votes = scores.map((score, sampleIndex) => ({ sampleIndex, purpose: "verdict", score, reply: "" }));
    const explanation = { rubrics, samples: { asked: 2, of: 2, votes } };
    const metric = { metricName: "rubric_based_tool_use_quality_v1", evalStatus: 1, explanation };
    assert.deepEqual(
      judgedVotes(metric).map(({ finding }) => finding.word),
      words,
    );
  }
});

test("a tie counts against the response, and nobody is outvoted by it", () => {
  const metric = ofTurn(conversationSet(), "table_for_four", 1, "final_response_match_v2");
  assert.equal(samplesText(metric), "5 samples asked: 2 valid, 2 invalid, 1 unreadable; a tie counts as invalid");
  assert.deepEqual(
    judgedVotes(metric).map(({ isOutvoted }) => isOutvoted),
    [false, false, false, false, false],
  );
  const [rubric] = ofTurn(conversationSet(), "table_for_four", 1).explanation?.rubrics ?? [];
  assert.equal(rubric && votesText(rubric), "2 yes, 2 no; a tie counts as not met");
});

test("scores are listed beside the replies that could not be read", () => {
  const metric = ofTurn(conversationSet(), "table_for_four", 1, "multi_turn_task_success_v1");
  assert.equal(samplesText(metric), "3 samples asked: 0, 0.1, 1 unreadable");
});

test("rubrics come with their words and votes, those without a verdict too", () => {
  const shape = (evalId: string, at: number) =>
    judgedRubrics(undefined, ofTurn(conversationSet(), evalId, at), undefined).map(
      ({ rubricId, text, finding, votes }) => [rubricId, text, finding.word, votes && votesText(votes)],
    );
  assert.deepEqual(shape("table_for_four", 1), [
    ["price_first", "The agent names the price before it books.", "not met", "2 yes, 2 no; a tie counts as not met"],
    ["confirms", "The agent confirms the booking.", "met", "3 yes, 1 no"],
    ["polite", "The agent is polite.", "met", "4 yes"],
  ]);
  assert.deepEqual(
    shape("never_settled", 0).map(([rubricId, , word]) => [rubricId, word]),
    ["price_first", "confirms", "polite", "in_time"].map((rubricId) => [rubricId, "no verdict"]),
  );
});

test("prose is taken from replies that are JSON, bare or fenced, and from no others", () => {
  const replies: [string, string | undefined][] = [
    ['{"reasoning":"Same place.","is_the_agent_response_valid":"valid"}', "Same place."],
    ['```json\n{"score": 4, "explanation": "Clear."}\n```', "Clear."],
    [' \n```\n {"rationale": "So it is."} ```\n', "So it is."],
    ['{"is_valid":"valid"}', undefined],
    ['{"reasoning":" "}', undefined],
    ['{"reasoning":["a"]}', undefined],
    ['{"reasoning":"cut', undefined],
    ['["reasoning"]', undefined],
    ['Here it is: {"reasoning":"a"}', undefined],
    ["```", undefined],
    ["", undefined],
  ];
  for (const [reply, prose] of replies) assert.equal(proseOf(reply), prose, reply);
});

test("sentences are grouped by their step, the same words in two steps too", () => {
  const groups = sentenceGroups(ofTurn(judgedSet(), "spa_and_breakfast"));
  assert.deepEqual(
    groups.map(({ step, sentences }) => [step, sentences.map(({ label }) => label)]),
    [
      [0, ["not_applicable", "supported"]],
      [1, ["supported", "unsupported", "contradictory", "disputed"]],
    ],
  );
});

test("sentences of the only step are not said to be of a step", () => {
  const sentences = [{ text: "A.", label: "supported", rationale: "So it is." }];
  assert.deepEqual(sentenceGroups({ metricName: "m", evalStatus: 1, explanation: { sentences } }), [{ sentences }]);
});

test("a line on judges says who judged and what it took, and leaves out what is nothing", () => {
  assert.equal(
    judgesText([judgedSet()]),
    "judged by gemini-2.5-flash, rubric_based_final_response_quality_v1 by gemini-2.5-pro: 1,041 calls (13 repeated), 212 samples saved by early stopping, " +
      "4 replies reused, 4 samples without a reply, 1,251,200 tokens in, 83,104 out, cost 0.5831",
  );
  assert.equal(judgesText([vertexSet()]), "judged by Vertex AI: 2 calls");
  assert.match(
    judgesText([judgedSet(), vertexSet(), travelSet()]) ?? "",
    /^judged by gemini-2\.5-flash, safety_v1 and response_evaluation_score by Vertex AI, rubric_based_final_response_quality_v1 by gemini-2\.5-pro: 1,043 calls/,
  );
  assert.equal(judgesText([travelSet()]), undefined);
});

test("a cost is never rounded to nothing", () => {
  assert.deepEqual([0, 1e-9, 0.00012, 0.5, 12.345, 4321].map(costText), [
    "0",
    "less than 0.0001",
    "0.0001",
    "0.5",
    "12.35",
    "4,321",
  ]);
});
