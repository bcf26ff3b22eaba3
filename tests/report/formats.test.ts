import assert from "node:assert/strict";
import { test } from "node:test";
import {
  renderCsv,
  renderFailures,
  renderHtml,
  renderJUnit,
  renderMarkdown,
  renderTable,
} from "../../pkg-template/src/report/index.js";
import * as report from "../../pkg-template/src/report/index.js";
import { compareRuns } from "../../pkg-template/src/compare/runs.js";
import { EvalStatus } from "../../pkg-template/src/enums.js";
import type { EvalSetResult } from "../../pkg-template/src/types.js";
import { emptySet, hostileSet, largeSet, supportSet, travelSet } from "./fixtures.js";
import { hostileJudgedSet, judgedSet } from "./judged-fixtures.js";

const sets = () => [travelSet(), supportSet()];

/** Reads RFC 4180. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    const row = rows.at(-1);
    const cell = quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"');
    if (row === undefined || row.at(-1) === "\r\n") rows.push([cell, end ?? ""]);
    else row.splice(-1, 1, cell, end ?? "");
  }
  return rows.map((row) => row.slice(0, -1));
}

/** The opening and closing tags of a document whose text and attributes hold no markup. */
function tagsOf(xml: string): string[] {
  return xml.split(/[<>]/).filter((_, at) => at % 2 === 1);
}

test("JUnit: a suite for each evalset, a test case for each case and metric", () => {
  const xml = renderJUnit(sets());
  assert.match(xml, /<testsuites name="adk-metrics" tests="22" failures="9" errors="1" skipped="0" time="30\.655000">/);
  assert.match(
    xml,
    /<testsuite name="travel_agent" tests="16" failures="6" errors="0" skipped="0" time="24\.255000" timestamp="2026-03-14T09:30:00">/,
  );
  assert.match(xml, /<testcase classname="travel_agent" name="say_hello › response_match_score">/);
  assert.match(xml, /name="lost_parcel \(run 2\) › response_evaluation_score"/);
});

test("JUnit: a failure holds its numbers and the difference", () => {
  assert.match(
    renderJUnit(sets()),
    /<failure type="FAILED" message="score 0\.5000, threshold 1">turn 1: Find a quiet hotel[^<]*\n {2}- check_weather/,
  );
});

test("JUnit: what was not evaluated is an error with its reason", () => {
  assert.match(
    renderJUnit(sets()),
    /<error type="NOT_EVALUATED" message="no score, threshold 0\.9: The judge could not be reached/,
  );
});

test("JUnit: a case whose inference failed is a failure of its own", () => {
  assert.match(
    renderJUnit(sets()),
    /name="refund_policy">\n(?: +<\/?propert.*\n)+ +<failure type="FAILED" message="Inference failed: the agent raised/,
  );
});

test("JUnit: informational values are properties, not test cases", () => {
  const xml = renderJUnit(sets());
  assert.match(xml, /<property name="token_usage_v1" value="1936"\/>/);
  assert.doesNotMatch(xml, /› token_usage_v1/);
});

test("JUnit: elements nest, and hold nothing that XML forbids", () => {
  for (const xml of [
    renderJUnit(sets()),
    renderJUnit([hostileSet(), hostileJudgedSet(), emptySet()]),
    renderJUnit([]),
  ]) {
    assert.doesNotMatch(xml.replace(/[\t\n]/g, ""), /[\p{Cc}\p{Cs}\ufffe\uffff]/u);
    assert.doesNotMatch(xml, /&(?!(?:amp|lt|gt|quot|apos);)/);
    const open: string[] = [];
    for (const tag of tagsOf(xml).slice(1)) {
      const name = /^\/?(\w+)/.exec(tag)?.[1] ?? "";
      if (tag.startsWith("/")) assert.equal(open.pop(), name);
      else if (!tag.endsWith("/")) open.push(name);
    }
    assert.deepEqual(open, []);
  }
});

test("CSV: a row for every metric of a case and of each turn, numbers in full", () => {
  const rows = readCsv(renderCsv(sets()));
  assert.deepEqual(rows[0], [
    "evalSetId",
    "evalId",
    "run",
    "turn",
    "metricName",
    "score",
    "threshold",
    "evalStatus",
    "reason",
    "samplesAsked",
    "samplesOf",
    "judgeInputTokens",
    "judgeOutputTokens",
    "rubricScores",
    "judge",
    "reliability",
    "caseRuns",
    "casePassedRuns",
    "isFlaky",
    "caseReliability",
    "warnings",
  ]);
  assert.ok(rows.every((row) => row.length === 21));
  const kyoto = rows.filter(([, id, , , metric]) => id === "hold_hotel_kyoto" && metric === "response_match_score");
  assert.deepEqual(
    kyoto.map(([, , , turn, , score]) => [turn, score]),
    [
      ["", "0.6777777777777778"],
      ["1", "0.3555555555555555"],
      ["2", "1"],
    ],
  );
});

test("CSV: a run has the id of its case and its number, each in a column", () => {
  const rows = readCsv(renderCsv(sets())).filter(([, id]) => id === "lost_parcel");
  assert.deepEqual(new Set(rows.map(([, , run]) => run)), new Set(["1", "2"]));
  assert.doesNotMatch(renderCsv(sets()), /\(run \d/);
});

test("JUnit: a test case says which eval case it is and which run of it", () => {
  const [, second] = renderJUnit(sets()).split('name="lost_parcel (run 2) › response_evaluation_score"');
  assert.match(
    second ?? "",
    /^[^\n]*\n +<properties>\n +<property name="evalId" value="lost_parcel"\/>\n +<property name="run" value="2"\/>/,
  );
});

test("JUnit: the seconds of an eval case are those of its first test, and add up", () => {
  const set = travelSet();
  const [one, two, ...others] = set.evalCaseResults;
  assert.ok(one && two);
  for (const { evalMetricResultPerInvocation } of set.evalCaseResults)
    for (const turn of evalMetricResultPerInvocation)
      turn.evalMetricResults = turn.evalMetricResults.filter(({ metricName }) => !metricName.startsWith("invocation"));
  const duration = (score: number) => ({
    metricName: "invocation_duration_v1",
    score,
    evalStatus: EvalStatus.INFORMATIONAL,
  });
  for (const turn of one.evalMetricResultPerInvocation) turn.evalMetricResults.push(duration(1.25));
  const [turn] = two.evalMetricResultPerInvocation;
  assert.ok(turn);
  Object.assign(turn.actualInvocation, { duration: 0.5 });
  const turns = one.evalMetricResultPerInvocation.length;
  const xml = renderJUnit({ ...set, evalCaseResults: [one, two, ...others] });
  const total = (turns * 1.25 + 0.5).toFixed(6);
  assert.match(xml, new RegExp(`<testsuites [^>]* time="${total}">`));
  assert.match(xml, new RegExp(`<testsuite [^>]* time="${total}" timestamp`));
  const times = [...xml.matchAll(/<testcase [^>]* time="([^"]*)"/g)].map(([, time]) => Number(time));
  assert.deepEqual(times, [turns * 1.25, 0.5]);
  assert.doesNotMatch(renderJUnit([emptySet()]), / time="/);
});

test("CSV: a case without metrics has a row with its reason", () => {
  const row = readCsv(renderCsv(sets())).find(([, id]) => id === "refund_policy");
  assert.deepEqual(row, [
    "support_agent.evalset",
    "refund_policy",
    "1",
    "",
    "",
    "",
    "",
    "failed",
    "Inference failed: the agent raised TimeoutError after 60 s.",
    ...new Array(7).fill(""),
    "1",
    "0",
    "false",
    "",
    "",
  ]);
});

test("CSV: formulas are disarmed, numbers stay numbers", () => {
  const set = hostileSet();
  const [one] = set.evalCaseResults;
  const metric = one?.overallEvalMetricResults[0];
  assert.ok(one && metric);
  metric.score = -0.5;
  for (const start of ["=1+1", "+1", "-1", "@x", "\tx", "\nx", "＝1"]) {
    metric.reason = start;
    const row = readCsv(renderCsv([set]))[1];
    assert.equal(row?.at(-1), `'${start}`);
    assert.equal(row?.[5], "-0.5");
    assert.match(row?.[0] ?? "", /^'=cmd/);
  }
  for (const [text, safe] of [
    ["x;=1+1", "x;'=1+1"],
    ["a\t=1+1", "a\t'=1+1"],
    ["a;b; @x", "a;b;' @x"],
    ['a;"=1+1"', 'a;\'"=1+1"'],
    ["first\n+1", "first\n'+1"],
    [" =1+1", "' =1+1"],
    ["a;b, c-d", "a;b, c-d"],
  ] as const) {
    metric.reason = text;
    assert.equal(readCsv(renderCsv([set]))[1]?.at(-1), safe);
  }
  metric.score = Number.NaN;
  assert.doesNotMatch(renderCsv([set]), /NaN/);
});

test("Markdown: a table of cases, those that failed first, and their differences collapsed", () => {
  const text = renderMarkdown(sets());
  assert.match(text, /^## Evaluation of 12 runs of 11 cases: 6 passed, 5 failed, 1 not evaluated\n/);
  assert.match(
    text,
    /\| Case \|.*\n\| :--- \| ---: \| ---: \| :--- \|\n\| <code>hold&#95;hotel&#95;kyoto<\/code> \| \*\*0\.5000\*\* &lt; 1 \|/,
  );
  assert.match(text, /```diff\n {2}search_hotels\(.*\n! get_profile/);
  assert.equal(text.match(/<details>/g)?.length, 6);
});

test("Markdown: text of results stays text", () => {
  for (const [set, columns] of [
    [hostileSet(), 6],
    [hostileJudgedSet(), 5],
  ] as const) {
    const text = renderMarkdown([set]);
    const outside = text.replace(/^(`{3,})diff\n[\s\S]*?\n\1$/gm, "");
    assert.doesNotMatch(outside, /<(?!\/?(?:details|summary|code|sub)>)/);
    assert.doesNotMatch(outside, /`|\]\(|@everyone/);
    assert.equal(outside.match(/<details>/g)?.length, 1);
    assert.equal(outside.match(/<\/details>/g)?.length, 1);
    for (const row of outside.split("\n").filter((line) => line.startsWith("|")))
      assert.equal(row.match(/\|/g)?.length, columns);
  }
});

/** The results with a text in place of one string after the other; of lists, in place of the first entry's. */
function* withText(value: object, text: string): Generator<EvalSetResult> {
  const paths = new Map<string, (string | number)[]>();
  const look = (part: unknown, path: (string | number)[]): void => {
    if (typeof part === "string") {
      const shape = path.map((key) => (/^\d+$/.test(String(key)) ? "*" : key)).join(".");
      if (!paths.has(shape)) paths.set(shape, path);
    } else if (typeof part === "object" && part !== null) {
      for (const [key, inside] of Object.entries(part)) look(inside, [...path, key]);
    }
  };
  look(value, []);
  for (const path of paths.values()) {
    const copy = structuredClone(value);
    const parent = path.slice(0, -1).reduce((part, key) => Reflect.get(part, key) as object, copy);
    Reflect.set(parent, path.at(-1) ?? "", text);
    yield copy as EvalSetResult;
  }
}

/** Markdown as those see it who look for addresses and names in the finished page: without code, references decoded. */
function finished(markdown: string): string {
  return markdown
    .replace(/^(`{3,})diff\n[\s\S]*?\n\1$/gm, "")
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

test("Markdown: no text of results becomes a link, calls someone, refers to an issue or begins a list", () => {
  const linking =
    "@octocat @org/team #12 GH-12 a/b#3 me@evil.example www.evil.example http://evil.example xmpp:a@b.example";
  const found = /@\w|#\d|GH-\d|www\.|:\/\//i;
  let tried = 0;
  for (const set of [travelSet(), supportSet(), judgedSet()]) {
    for (const changed of withText(set, linking)) {
      const markdowns = [renderMarkdown(changed)];
      try {
        markdowns.push(report.renderComparisonMarkdown(compareRuns(set, changed)));
      } catch (error) {
        assert.equal((error as Error).name, "AdkMetricsError");
      }
      for (const markdown of markdowns) assert.doesNotMatch(finished(markdown), found);
      tried += markdowns.length;
    }
  }
  for (const beginning of ["- one", "  * one", "1. one", "12) one", "---", "> one"]) {
    for (const changed of withText(travelSet(), beginning)) {
      const body = renderMarkdown(changed).replace(/^(`{3,})diff\n[\s\S]*?\n\1$/gm, "");
      assert.doesNotMatch(body, /^ *(?:[-*] one|1[.2)]+ one|---|> one)/m);
    }
  }
  assert.ok(tried > 100, `${tried}`);
});

test("Markdown: a report keeps within its bytes and says what it left out", () => {
  for (const maxBytes of [5_000, 65_536, 1_000_000]) {
    const text = renderMarkdown([largeSet(2000)], { maxBytes });
    assert.ok(Buffer.byteLength(text) <= maxBytes);
    assert.match(text, /left out to stay within|<details>/);
  }
  assert.match(renderMarkdown([largeSet(2000)], { maxBytes: 65_536 }), /sections left out to stay within 65,536 bytes/);
  assert.match(renderMarkdown([largeSet(2000)]), /… and 1,800 more cases\./);
});

const RENDERERS = { renderCsv, renderFailures, renderHtml, renderJUnit, renderMarkdown, renderTable };

test("the entry is its renderers, the table of formats, and what tells differences", () => {
  const ofComparisons = ["Csv", "Html", "Json", "Markdown", "Table"].map((format) => `renderComparison${format}`);
  const chunks = [
    "comparisonCsv",
    "comparisonHtml",
    "comparisonJson",
    "comparisonTable",
    "csv",
    "html",
    "junit",
    "table",
  ];
  assert.deepEqual(
    Object.keys(report).sort(),
    [
      "REPORT_FORMATS",
      "changedWords",
      "comparesCalls",
      "comparesTexts",
      "rationaleOf",
      "rubricWords",
      "whyNotPassed",
      ...chunks.map((name) => `${name}Chunks`),
      ...ofComparisons,
      ...Object.keys(RENDERERS),
    ].sort(),
  );
});

for (const [name, { ending, fileNames, signature, render }] of Object.entries(report.REPORT_FORMATS)) {
  test(`the format ${name}: its files have its ending, its reports its signature, and no other format's`, () => {
    const rendered = render?.([travelSet()], {});
    const text =
      rendered === undefined
        ? '{\n  "eval_set_result_id": "a_1.5",\n  "eval_set_result_name": "a_1.5",\n  "eval_set_id": "a",\n'
        : [...rendered].join("");
    assert.match(`report${ending}`, fileNames);
    assert.ok(signature.test(text));
    for (const other of Object.values(report.REPORT_FORMATS).filter((one) => one.signature !== signature)) {
      assert.doesNotMatch(`report${ending}`, other.fileNames);
      assert.ok(!other.signature.test(text));
    }
  });
}

for (const [name, render] of Object.entries(RENDERERS)) {
  test(`${name} takes one result as a list of one`, () => {
    assert.equal(render(travelSet()), render([travelSet()]));
  });

  test(`${name} says what it expects in place of anything else`, () => {
    const noTurns = { ...travelSet(), evalCaseResults: [{ evalId: "a", overallEvalMetricResults: [] }] };
    const others: [unknown, string, RegExp?][] = [
      [undefined, "results"],
      [null, "results"],
      ["text", "results"],
      [{}, "results"],
      [{ evalSetId: "a", evalCaseResults: [null] }, "results.evalCaseResults[0]"],
      [{ evalCaseResults: [] }, "results"],
      [Promise.resolve(travelSet()), "results", /Await/],
      [[travelSet(), null], "results[1]"],
      [[noTurns], "results[0].evalCaseResults[0].finalEvalStatus"],
      [new Array(1), "results[0]"],
    ];
    for (const [other, path, help = /evaluate/] of others) {
      const expected = { name: "AdkMetricsError", code: "invalid_input", path, help };
      assert.throws(() => render(other as report.Results), expected);
    }
  });
}

test("no evalset, an empty evalset: every format still renders", () => {
  for (const render of [renderCsv, renderJUnit, renderMarkdown]) {
    assert.ok(render([]).length > 0);
    assert.ok(render([emptySet()]).length > 0);
  }
});

test("a cancelled run says so to its readers", () => {
  const cancelled = [{ ...travelSet(), cancelled: true }];
  for (const render of [renderTable, renderMarkdown, renderHtml]) {
    assert.match(render(cancelled), /The run was cancelled/);
    assert.doesNotMatch(render([travelSet()]), /cancelled; some/);
  }
});
