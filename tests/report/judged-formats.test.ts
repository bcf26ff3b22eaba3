// How the formats show what judges said.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { EvalStatus } from "../../pkg-template/src/enums.js";
import {
  renderCsv,
  renderHtml,
  renderJUnit,
  renderMarkdown,
  renderTable,
} from "../../pkg-template/src/report/index.js";
import { emptySet, hostileSet, largeSet, supportSet, travelSet } from "./fixtures.js";
import { conversationSet, hostileJudgedSet, judgedSet, vertexSet } from "./judged-fixtures.js";
import { ofTurn } from "./judged-support.ts";

/** What a case of the page shows. */
function shown(markup: string, evalId: string): string {
  const found = markup.split('<details class="case ').find((part) => part.includes(`<bdi>${evalId}</bdi>`));
  assert.ok(found, evalId);
  return found;
}

test("HTML: a vote has its reply and what it cost: in the open where a metric did not pass, else behind a disclosure", () => {
  const found = shown(renderHtml([judgedSet()]), "late_checkout");
  assert.equal(found.match(/<details class="vote /g)?.length, 3);
  const told = [...found.matchAll(/<li class="told (\w+)">([^]*?)<\/li>/g)].map(([, tone, item = ""]) => {
    // Without what is behind a disclosure.
    const open = item.replace(/<details[^]*?<\/details>/g, "").replace(/<[^>]*>/g, " ");
    return [tone, open.replace(/\s+/g, " ").trim()];
  });
  assert.deepEqual(told[1], [
    "passed",
    "Valid Both say that checking out at 2 pm is possible, which is what the user asked. Outvoted, sample 2, reused reply, 1,204 tokens in, 61 out",
  ]);
  assert.equal(told.length, 4);
  assert.match(found, /Early stopping saved|early stopping saved 1/);
  assert.match(found, /&quot;is_the_agent_response_valid&quot;: &quot;valid&quot;/);
});

test("HTML: a long reply scrolls in a box that the keyboard reaches, a short one does not", () => {
  const found = shown(renderHtml([judgedSet()]), "late_checkout");
  const replies = [...found.matchAll(/<pre class="(reply[^"]*)"([^>]*)>/g)];
  assert.equal(
    replies.filter(([, name, attributes]) => name === "reply tall" && / tabindex="0"/.test(attributes ?? "")).length,
    1,
  );
  assert.equal(replies.filter(([, name]) => name === "reply").length, 6);
});

test("HTML: a rubric has its verdict, its words and why, in every turn; the case says in how many turns it is met", () => {
  const found = shown(renderHtml([judgedSet()]), "room_with_view");
  const rows = [
    ...found.matchAll(/<span class="chip (\w+)">.*?<\/span><small>3 \w+<\/small><\/th>\n<td><b>(.*?)<\/b>/g),
  ];
  assert.deepEqual(
    rows.map(([, tone, id]) => [tone, id?.replaceAll("<wbr>", "")]),
    [
      ["failed", "names_price"],
      ["unknown", "offers_alternative"],
      ["failed", "no_pressure"],
      ["failed", "answers_in_the_language_of_the_user"],
      ["passed", "names_price"],
      ["passed", "offers_alternative"],
      ["passed", "no_pressure"],
    ],
  );
  assert.match(found, /The response is in the language of the user&#39;s last message/);
  assert.match(found, /<b>names_price<\/b> met in 1 of 2 turns/);
  assert.doesNotMatch(found, /each turn says why/);
});

test("HTML: why a judge replied as it did comes first, the reply behind it", () => {
  const found = shown(renderHtml([judgedSet()]), "late_checkout");
  assert.match(
    found,
    /<p class="text" dir="auto">They agree\.<\/p>\n<details class="raw"><summary>[^]*? Reply as it came<\/summary><pre class="reply"/,
  );
});

test("HTML: what is judged as a whole is shown once, after the turns", () => {
  const found = shown(renderHtml([conversationSet()]), "table_for_four");
  assert.doesNotMatch(found, /judged as a whole|of 1 turn/);
  const [turns = "", conversation = ""] = found.split("<h4>Whole conversation</h4>");
  assert.doesNotMatch(turns.split("<h4>Turn 1</h4>")[1] ?? "", /multi_|not evaluated/);
  assert.match(conversation, /<h5>rubric_<wbr>based_<wbr>multi_<wbr>turn_/);
  assert.match(conversation, /3 samples asked: 0, 0\.1, 1 unreadable/);
  assert.match(conversation, /Not met<\/span><small>2 yes, 2 no; a tie counts as not met<\/small>/);
  for (const word of ["3 of 3 met", "2 of 3 met"])
    assert.ok(conversation.includes(`<span class="tone">${word}</span>`));
});

test("HTML: what happened in a turn is there to check, in order, outputs after their calls", () => {
  const found = shown(renderHtml([conversationSet()]), "table_for_four");
  const [first = "", second = ""] = [...found.matchAll(/<details class="events">([^]*?)<\/details>/g)].map(
    ([, inside]) => inside ?? "",
  );
  const told = (events: string) =>
    [...events.matchAll(/<li class="(\w+)">.*?<\/div>(.*?)<\/li>/gs)].map(([, kind, what]) => [
      kind,
      what?.replaceAll(/<[^>]*>/g, ""),
    ]);
  assert.match(first, /What happened <small>1 text, 2 calls, 3 outputs<\/small>/);
  assert.deepEqual(told(first), [
    ["call", "get_day({})"],
    ["output", "get_day → {day: &quot;Friday&quot;}"],
    ["call", "find_table(day: &quot;Friday&quot;)"],
    ["output", "find_table → {times: [&quot;19:00&quot;, &quot;&lt;b&gt;21:00&lt;/b&gt;&quot;]}"],
    ["output", "get_weather → {sky: &quot;clear&quot;}"],
    ["text", "One moment, I look it up."],
  ]);
  assert.match(first, /so their order is unknown/);
  assert.deepEqual(told(second), [
    ["thought", "They want seven."],
    ["text", "I book it."],
    ["call", "book(time: &quot;19:00&quot;)"],
    ["output", "book → {booking: &quot;T-7&quot;}"],
  ]);
  assert.match(second, /<small><bdi>waiter<\/bdi><\/small>/);
  assert.doesNotMatch(second, /not known/);
});

test("HTML: a side without expectations is left out where no metric misses it", () => {
  const found = shown(renderHtml([conversationSet()]), "table_for_four");
  const [first = "", second = ""] = found.split("<h4>Turn 2</h4>");
  assert.doesNotMatch(first, /Expected response|No text|<th scope="col">Expected/);
  assert.match(second, /Expected response/);
});

test("HTML: a sentence has its label in words, why, and the excerpts for and against it", () => {
  const found = shown(renderHtml([judgedSet()]), "spa_and_breakfast");
  for (const label of ["Supported", "Unsupported", "Contradictory", "Disputed", "Not applicable"]) {
    assert.match(found, new RegExp(`<span class="chip \\w+">(?:<svg[^]*?</svg> )?${label}</span>`));
  }
  assert.match(found, /<caption>Step 2<span class="vh">, sentences<\/span><\/caption>/);
  assert.match(found, /<h6>Contradicted by<\/h6><q dir="auto">&quot;spa&quot;: \{&quot;price&quot;: 25/);
});

test("HTML: who scored is said, and what the judge remarked, once", () => {
  const judge = shown(renderHtml([judgedSet()]), "asked_for_medicine");
  assert.match(judge, /Scored by a judge model/);
  assert.equal(judge.match(/<h6>The judge’s remark<\/h6>/g)?.length, 2);
  const vertex = shown(renderHtml([vertexSet()]), "asked_for_medicine");
  assert.match(vertex, /Scored by Vertex AI/);
  assert.equal(vertex.match(/RESOURCE_EXHAUSTED/g)?.length, 2, "the reason, and the reply itself");
});

test("HTML: a set says who judged it and what that took, with the hash of each prompt", () => {
  const markup = renderHtml([judgedSet()]);
  assert.match(markup, /<dt>Calls<\/dt><dd>1,041 <small>\(13 repeated\)<\/small><\/dd>/);
  assert.match(markup, /<dt>Saved by early stopping<\/dt><dd>212<\/dd>/);
  assert.match(markup, /<dt>Cost<\/dt><dd>0\.5831<\/dd>/);
  assert.match(markup, /hallucinations_validator <code>f3920ce7b81d4a56<\/code>/);
  assert.doesNotMatch(renderHtml([vertexSet()]), /<dt>Tokens|>Prompts</);
});

test("HTML: ids stay unique", () => {
  const ids = [
    ...renderHtml([judgedSet(), vertexSet(), conversationSet(), hostileJudgedSet()]).matchAll(/ id="([^"]*)"/g),
  ].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
});

test("table: what failed shows the vote, the rubrics not met and the sentences not supported", () => {
  const text = renderTable([judgedSet()], { width: 160 });
  for (const line of [
    "        4 of 5 samples asked: 1 valid, 2 invalid, 1 unreadable; early stopping saved 1",
    "        rubric no_pressure not met (3 no): The response does not press the user to book at once.",
    "          why: “Book now, only one left!” presses the user.",
    "        step 2, contradictory: The spa is free for all guests.",
    '          contradicted by: "spa": {"price": 25, "currency": "EUR"}',
    "        5 samples asked: 1 valid, 4 without a reply",
    "        2 of 5 samples asked: 1 valid, 1 invalid; 3 not asked",
    "        the judge: Clear, if short.",
  ]) {
    assert.ok(text.includes(`\n${line}\n`), line);
  }
  assert.doesNotMatch(text, /step 2, supported|names_price met:|sample 1/);
});

test("table: details show every sample of a vote, every rubric and every sentence", () => {
  const text = renderTable([judgedSet()], { width: 160, details: true });
  for (const line of [
    /^ +sample 2, valid, reused reply: Both say/m,
    /^ +rubric offers_alternative met \(3 yes\): If the wish cannot be met/m,
    /^ +step 1, not applicable: Let me look that up\.$/m,
    /^ +4 samples asked; 7,640 tokens in, 924 out$/m,
  ]) {
    assert.match(text, line);
  }
});

test("table: what is judged as a whole stands below the metric, in details below the turns", () => {
  const text = renderTable([conversationSet()], { width: 160, details: true });
  assert.equal(text.match(/judged as a whole/g), null);
  assert.match(text, /^ {2}multi_turn_task_success_v1: failed, .*\n {6,}scored by a judge model$/m);
  assert.match(text, /^ {2}Whole conversation\n {4}rubric_based_multi_turn_trajectory_quality_v1: failed/m);
  assert.match(text, /rubric price_first not met \(2 yes, 2 no; a tie counts as not met\): The agent names/);
  assert.match(text, /sample 1, 0: Nothing is booked\.$/m);
  assert.match(text, /sample 5, unreadable: The rubrics are met, on the whole\.$/m);
  assert.doesNotMatch(text, /expected {2}\(no text\)/);
});

test("table: the summary has a line on judges", () => {
  assert.match(
    renderTable([judgedSet()], { width: 250 }),
    /\n8 cases: .*\njudged by gemini-2\.5-flash, rubric_based_final_response_quality_v1 by\s+gemini-2\.5-pro: 1,041 calls .* cost 0\.5831\nadk-metrics /,
  );
});

test("Markdown: what did not pass in short, and the line on judges", () => {
  const text = renderMarkdown([judgedSet()]);
  assert.match(text, /\n\nJudged by gemini-2\.5-flash, .* 1,041 calls &#40;13 repeated&#41;, 212 samples saved/);
  assert.match(text, /^# 4 of 5 samples asked: 1 valid, 2 invalid, 1 unreadable; early stopping saved 1$/m);
  assert.match(text, /^# {3}why: The user writes German, the response is English\.$/m);
  assert.match(text, /the budget of 7 calls for judges is spent/);
});

test("JUnit: failures name rubrics, sentences and reasons; calls and tokens are properties", () => {
  const xml = renderJUnit([judgedSet()]);
  assert.match(xml, /<failure [^>]*>turn 1: Ich suche[^<]*rubric names_price not met \(3 no\): /);
  assert.match(xml, /<failure [^>]*>turn 1: [^<]*step 2, unsupported: The pool on the roof is heated\./);
  assert.match(
    xml,
    /<error type="NOT_EVALUATED" message="no score, threshold 0\.8: the budget of 7 calls for judges is spent">/,
  );
  for (const property of [
    'name="judges" value="gemini-2.5-flash, rubric_based_final_response_quality_v1 by gemini-2.5-pro"',
    'name="judgeCalls" value="1041"',
    'name="judgeCost" value="0.58311"',
    'name="samplesAsked" value="7"',
    'name="samplesOf" value="10"',
    'name="judgeInputTokens" value="7224"',
  ]) {
    assert.ok(xml.includes(`<property ${property}/>`), property);
  }
});

test("CSV: samples, tokens and rubric scores follow the other columns", () => {
  const rows = renderCsv([judgedSet()]).split("\r\n");
  assert.ok(
    rows[0]?.endsWith(
      ",evalStatus,reason,samplesAsked,samplesOf,judgeInputTokens,judgeOutputTokens,rubricScores,judge",
    ),
  );
  assert.ok(
    rows.includes(
      "hotel_concierge,late_checkout,1,1,final_response_match_v2,0,0.8,failed,,4,5,3612,660,,gemini-2.5-flash",
    ),
  );
  assert.ok(
    rows.includes(
      "hotel_concierge,room_with_view,1,2,rubric_based_final_response_quality_v1,1,0.8,passed,,3,5,6930,723," +
        '"{""names_price"":1,""offers_alternative"":1,""no_pressure"":1}",gemini-2.5-pro',
    ),
  );
});

test("JUnit and CSV tell the models that played users apart from those that judged", () => {
  const models = ["gemini-3-pro", "gpt-5"];
  const counted = { calls: 12, answered: 11, failed: 1, retried: 0, lost: 0, unreported: 2 };
  const simulatorUsage = { models, ...counted, inputTokens: 900, outputTokens: 30 };
  const set = { ...judgedSet(), simulatorUsage };
  const xml = renderJUnit([set]);
  assert.match(xml, /<property name="judges" value="gemini-2\.5-flash/);
  for (const [name, value] of Object.entries({
    simulators: "gemini-3-pro, gpt-5",
    simulatorCalls: 12,
    simulatorAnswersWithoutTokens: 2,
  })) {
    assert.ok(xml.includes(`<property name="${name}" value="${value}"/>`), name);
  }
  const [header = "", first = "", second = ""] = renderCsv([set]).split("\r\n");
  assert.match(
    header,
    /,judgeOutputTokens,rubricScores,judge,simulatorModels,simulatorCalls,simulatorInputTokens,simulatorOutputTokens/,
  );
  assert.match(first, /,"gemini-3-pro, gpt-5",12,900,30(?:,|$)/);
  assert.match(second, /,,,,(?:,|$)/);
  assert.doesNotMatch(renderCsv([judgedSet()]), /simulatorCalls/);
});

test("CSV and the details of the table have no 0 for calls of models that nothing reported", () => {
  const set = judgedSet();
  const unreported = (calls: number) => {
    const counted = { metricName: "inference_call_count_v1", score: calls, evalStatus: EvalStatus.INFORMATIONAL };
    const [first] = set.evalCaseResults;
    const [turn] = first?.evalMetricResultPerInvocation ?? [];
    assert.ok(first && turn);
    const turns = [{ ...turn, evalMetricResults: [counted] }];
    return {
      ...set,
      evalCaseResults: [{ ...first, overallEvalMetricResults: [counted], evalMetricResultPerInvocation: turns }],
    };
  };
  assert.match(renderCsv([unreported(2)]), /,inference_call_count_v1,2,,informational,,/);
  assert.match(renderCsv([unreported(0)]), /,inference_call_count_v1,,,informational,no call of a model was reported,/);
  assert.match(renderTable([unreported(2)], { details: true }), /inference_call_count_v1: 2/);
  assert.doesNotMatch(renderTable([unreported(0)], { details: true }), /inference_call_count_v1/);
});

test("what a judge writes can neither leave its place nor act, in any format", () => {
  const set = hostileJudgedSet();
  const markup = renderHtml([set]);
  assert.doesNotMatch(markup, /<script|<img|<!\[CDATA/);
  assert.ok(markup.length < 400_000, "long replies are cut");
  for (const text of [
    markup,
    renderTable([set], { details: true }),
    renderMarkdown([set]),
    renderJUnit([set]),
    renderCsv([set]),
  ]) {
    assert.doesNotMatch(
      text.replace(/[\r\n\t]/g, ""),
      /[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/u,
    );
  }
  for (const row of renderCsv([set]).split("\r\n")) assert.doesNotMatch(row, /(?:^|,)"?[=+\-@]/);
});

test("results with nulls for what is not there render as if it were absent", () => {
  const set = judgedSet();
  const vote = ofTurn(set, "late_checkout").explanation?.samples?.votes[0];
  assert.ok(vote);
  Object.assign(vote, { score: null, usage: null, cached: null, stepIndex: null });
  Object.assign(ofTurn(set, "room_with_view", 1), { details: null, explanation: null });
  for (const render of [renderTable, renderHtml, renderMarkdown, renderJUnit, renderCsv]) {
    assert.doesNotMatch(render([set]), /NaN|undefined|\bnull tokens/);
  }
});

test("no judged score is ever shown as NaN or undefined", () => {
  const sets = [judgedSet(), vertexSet(), conversationSet(), hostileJudgedSet(), supportSet()];
  for (const text of [
    renderTable(sets, { details: true }),
    renderHtml(sets),
    renderMarkdown(sets),
    renderJUnit(sets),
  ]) {
    assert.doesNotMatch(text, /NaN|undefined/);
  }
});

/**
 * SHA-256 of reports that no judge had a part in, the first 16 digits: what is shown of judges must not change them.
 * Whoever changes what such reports show puts in the new ones.
 */
const UNJUDGED = {
  csv: "fa31ac96b3d4f973",
  html: "e7d0d0a041dd7c33",
  junit: "221463624330b694",
  markdown: "13cbb22857f538c3",
  table: "bb6621b0b2b97db4",
  details: "5985bb7af381601a",
};

test("reports of results that no judge had a part in are not touched by what is shown of judges", () => {
  const sets = [travelSet(), emptySet(), hostileSet(), largeSet(9), { ...travelSet(), cancelled: true }];
  const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16);
  assert.deepEqual(
    {
      csv: hash(renderCsv(sets)),
      html: hash(renderHtml(sets)),
      junit: hash(renderJUnit(sets)),
      markdown: hash(renderMarkdown(sets)),
      table: hash(renderTable(sets)),
      details: hash(renderTable(sets, { details: true, color: true })),
    },
    UNJUDGED,
  );
});
