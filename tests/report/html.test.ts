import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { JUDGED_STYLE, JUDGED_STYLE_HASH, STYLE, STYLE_HASH } from "../../pkg-template/src/generated/styles.js";
import { EvalStatus } from "../../pkg-template/src/enums.js";
import { renderHtml } from "../../pkg-template/src/report/index.js";
import {
  emptySet,
  evalCase,
  evalSet,
  hostileSet,
  invocation,
  largeSet,
  overlap,
  supportSet,
  trajectory,
  travelSet,
  turn,
} from "./fixtures.js";
import { conversationSet, hostileJudgedSet, judgedSet, vertexSet } from "./judged-fixtures.js";
import { checkInert, checkNesting } from "./markup.js";

const page = () => renderHtml([travelSet(), supportSet()]);

test("the policy allows the page's stylesheets by their hashes, and nothing else", () => {
  const hash = (text: string) => `sha256-${createHash("sha256").update(text).digest("base64")}`;
  assert.equal(STYLE_HASH, hash(STYLE));
  assert.equal(JUDGED_STYLE_HASH, hash(JUDGED_STYLE));
  const pages: [string, string[], string][] = [
    [renderHtml([travelSet()]), [STYLE], `'${STYLE_HASH}'`],
    [page(), [STYLE, JUDGED_STYLE], `'${STYLE_HASH}' '${JUDGED_STYLE_HASH}'`],
  ];
  for (const [markup, styles, hashes] of pages) {
    const policy = `content="default-src 'none'; style-src ${hashes}; base-uri 'none'; form-action 'none'"`;
    assert.ok(markup.includes(policy));
    assert.deepEqual(
      [...markup.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style]) => style),
      styles,
    );
  }
});

test("the page runs nothing and asks for nothing", () => {
  for (const markup of [page(), renderHtml([hostileSet()]), renderHtml([judgedSet(), hostileJudgedSet()])]) {
    checkInert(markup);
    assert.doesNotMatch(STYLE + JUDGED_STYLE, /url\(|@import/);
  }
});

test("elements nest whatever the results hold", () => {
  for (const markup of [
    page(),
    renderHtml([judgedSet(), vertexSet(), conversationSet(), hostileJudgedSet()]),
    renderHtml([hostileSet(), emptySet()], { title: "</title><b>" }),
    renderHtml([]),
  ]) {
    checkNesting(markup);
  }
});

test("text of results is escaped, and acting characters are shown", () => {
  const markup = renderHtml([hostileSet()], { title: "</title><script>alert(1)</script>" });
  assert.doesNotMatch(markup, /<script|<img/);
  assert.match(markup, /<title>&lt;\/title&gt;&lt;script&gt;/);
  assert.match(markup, /<span class="stand-in">⟨U\+202E⟩<\/span>gnp\.exe/);
  assert.doesNotMatch(markup.replace(/[\t\n]/g, ""), /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
});

test("a very long text is cut and says by how much", () => {
  const markup = renderHtml([hostileSet()]);
  assert.match(markup, /1,0\d\d,\d{3} more characters not shown/);
  assert.ok(markup.length < 200_000);
});

test("cases that failed come first, then those not evaluated", () => {
  const order = [...renderHtml([supportSet()]).matchAll(/<details class="case (\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(order, ["failed", "failed", "unknown", "passed"]);
});

const marksOf = (...turns: Parameters<typeof turn>[]) => {
  const set = evalSet("s", [
    evalCase(
      "s",
      "c",
      turns.map((given) => turn(...given)),
    ),
  ]);
  return [...renderHtml([set]).matchAll(/<mark>(.*?)<\/mark>/g)].map(([, text]) => text);
};

test("changed words are marked in both texts, neighbours as one", () => {
  const [expected, actual] = ["Seat 27A is free, by the window", "Seat 28B is free: by the exit"];
  const marks = marksOf([invocation("u", expected), invocation("u", actual), [overlap(expected, actual)]]);
  assert.deepEqual(marks, ["27A", ",", "window", "28B", ":", "exit", "Marked"]);
});

test("texts that differ too much are marked from the first difference to the last, and say so", () => {
  const text = (letter: string) => Array.from({ length: 300 }, (_, at) => `${letter}${at}`).join(" ");
  const [expected, actual] = [`Hello ${text("a")}.`, `Hello ${text("b")}.`];
  const given = turn(invocation("u", expected), invocation("u", actual), [overlap(expected, actual)]);
  const markup = renderHtml([evalSet("s", [evalCase("s", "c", [given])])]);
  assert.match(markup, /differ too much to mark words: from the first difference to the last, all is <mark>marked</);
  assert.deepEqual(
    [...markup.matchAll(/<mark>(.*?)<\/mark>/g)].map(([, marked]) => marked),
    [`${text("a")}.`, `${text("b")}.`, "marked"],
  );
});

test("what results say of matched words marks nothing", () => {
  const metric = overlap("one two", "one two");
  metric.explanation = {
    tokens: {
      precision: 1,
      recall: 1,
      matched: [
        { expected: [3, 1], actual: [0, 99] },
        { expected: [-1, 2], actual: [0, 3] },
      ],
    },
  };
  assert.deepEqual(marksOf([invocation("u", "one two"), invocation("u", "one two"), [metric]]), []);
});

test("tool calls say in words what became of them", () => {
  const markup = page();
  for (const word of ["Matched", "Moved", "Missing", "Changed", "Extra"])
    assert.match(markup, new RegExp(`</span>${word}<`));
  assert.match(markup, /expected as call 1, made as call 2/);
  assert.match(
    markup,
    /<span class="arg"><span class="vh">changed <\/span>nights: <span class="value"><mark>2<\/mark><\/span>/,
  );
  // Where they are, however deep.
  assert.match(markup, /guest: <span class="value">\{name: &quot;[^<]*tier: &quot;<mark>gold<\/mark>&quot;/);
  assert.match(markup, /guest\.tier: &quot;gold&quot; → &quot;silver&quot;/);
});

test("a case says at its top why it did not pass, and folds its turns that passed", () => {
  const call = (city: string) => [{ name: "look", args: { city } }];
  const said = (day: number, city: string) => {
    const at = { expectedIndex: 0, actualIndex: 0 };
    const differences = [{ path: "city", expected: "Oslo", actual: city }];
    const metric = trajectory([city === "Oslo" ? { kind: "match", ...at } : { kind: "arguments", ...at, differences }]);
    return turn(invocation(`Day ${day}`, "Sunny", call("Oslo")), invocation(`Day ${day}`, "Sunny", call(city)), [
      metric,
    ]);
  };
  const result = evalCase("s", "c", [said(1, "Oslo"), said(2, "Rome"), said(3, "Oslo")]);
  const [, panel = ""] = renderHtml([evalSet("s", [result])]).split('<div class="panel"');
  const text = panel.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  assert.match(
    text,
    /^[^>]*> tool_ ?trajectory_ ?avg_ ?score needs 1, got 0\.6667, in turn 2 look: city is &quot;Rome&quot;, expected &quot;Oslo&quot;/,
  );
  assert.equal(panel.match(/<details class="turn">/g)?.length, 2);
  assert.match(panel, /<section class="turn"><div class="turn-head"><h4>Turn 2/);
  assert.match(text, /Turn 1 passed Day 1/);
  // Where all turns are alike, none is.
  assert.doesNotMatch(
    renderHtml([evalSet("s", [evalCase("s", "c", [said(1, "Oslo"), said(2, "Oslo")])])]),
    /<details class="turn">/,
  );
});

test("every id is unique", () => {
  const ids = [...page().matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
});

test("no score is ever shown as NaN or undefined", () => {
  assert.doesNotMatch(renderHtml([travelSet(), supportSet(), hostileSet(), emptySet()]), /NaN|>undefined|undefined</);
});

test("the same results give the same page", () => {
  assert.equal(page(), page());
});

test("the size of a page is linear in its cases", () => {
  const perCase = renderHtml([largeSet(400)]).length / 400;
  assert.ok(perCase < 12_000, String(perCase));
});

test("what is counted of a case says that it is the mean of its turns, where there are several", () => {
  const cases = travelSet().evalCaseResults.map((result) => ({
    turns: result.evalMetricResultPerInvocation.length,
    terms: [...renderHtml([{ ...travelSet(), evalCaseResults: [result] }]).matchAll(/<dt>(Tokens[^<]*)</g)],
  }));
  assert.ok(cases.some(({ turns, terms }) => turns > 1 && terms.length > 0));
  for (const { turns, terms } of cases) {
    const expected = turns > 1 ? ["Tokens per turn", ...terms.slice(1).map(() => "Tokens")] : terms.map(() => "Tokens");
    assert.deepEqual(
      terms.map(([, term]) => term),
      terms.length === 0 ? [] : expected,
    );
  }
});

test("what tools returned, and why they failed, stands below their calls", () => {
  const text = (said: string) => ({ parts: [{ text: said }] });
  const calls = ["Oslo", "Atlantis", "Rome"].map((city) => ({ id: city, name: "get_weather", args: { city } }));
  const responses = [
    { id: "Oslo", name: "get_weather", response: { sky: "clear" } },
    { id: "Atlantis", name: "get_weather", response: { error: "no such <city>" } },
  ];
  const invocationEvents = [...calls, ...responses].map((part) => ({
    author: "agent",
    content: { parts: ["args" in part ? { functionCall: part } : { functionResponse: part }] },
  }));
  const actualInvocation = { userContent: text("Hi"), intermediateData: { invocationEvents } };
  const set = travelSet();
  const [first] = set.evalCaseResults;
  assert.ok(first);
  const turnWith = (more: object) => ({ actualInvocation, evalMetricResults: [], ...more }) as never;
  const expectedInvocation = { userContent: text("Hi"), intermediateData: { toolUses: calls.slice(0, 1) } };
  const alignment = [
    { kind: "match", expectedIndex: 0, actualIndex: 0 },
    ...[1, 2].map((at) => ({ kind: "extra", actualIndex: at })),
  ];
  const aligned = {
    metricName: "m",
    evalStatus: EvalStatus.FAILED,
    score: 0,
    threshold: 1,
    explanation: { alignment },
  };
  for (const turn of [
    turnWith({}),
    turnWith({ expectedInvocation }),
    turnWith({ expectedInvocation, evalMetricResults: [aligned] }),
  ]) {
    const html = renderHtml({ ...set, evalCaseResults: [{ ...first, evalMetricResultPerInvocation: [turn] }] });
    const gave = [...html.matchAll(/<p class="gave( failed)?" dir="ltr">(.*?)<\/p>/g)].map(([, failed, said]) => [
      failed,
      said,
    ]);
    assert.deepEqual(gave, [
      [undefined, "returned {sky: &quot;clear&quot;}"],
      [" failed", "failed: no such &lt;city&gt;"],
    ]);
  }
});

test("calls of models that nothing reported are not shown as none", () => {
  const set = travelSet();
  const [first] = set.evalCaseResults;
  assert.ok(first);
  const counted = (metricName: string, score: number) => ({ metricName, score, evalStatus: EvalStatus.INFORMATIONAL });
  for (const [calls, shown] of [
    [0, false],
    [2, true],
  ] as const) {
    const informational = [counted("tool_call_count_v1", 1), counted("inference_call_count_v1", calls)];
    const one = { ...first, overallEvalMetricResults: informational, evalMetricResultPerInvocation: [] };
    assert.equal(/Model calls/.test(renderHtml({ ...set, evalCaseResults: [one] })), shown);
  }
});
