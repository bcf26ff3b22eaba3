import assert from "node:assert/strict";
import { test } from "node:test";
import { sideText } from "../../pkg-template/src/report/difference.js";
import { renderHtml, renderMarkdown, renderTable } from "../../pkg-template/src/report/index.js";
import { displayWidth } from "../../pkg-template/src/report/text.js";
import { emptySet, hostileSet, supportSet, travelSet } from "./fixtures.js";
import { hostileJudgedSet, judgedSet } from "./judged-fixtures.js";

const all = () => [travelSet(), supportSet(), hostileSet(), emptySet(), judgedSet(), hostileJudgedSet()];

test("no line is wider than the terminal, at any width, with and without details", () => {
  for (const width of [60, 80, 100, 160]) {
    for (const details of [false, true]) {
      for (const line of renderTable(all(), { width, details }).split("\n")) {
        assert.ok(displayWidth(line) <= width, `${displayWidth(line)} > ${width}: ${line}`);
      }
    }
  }
});

test("the columns of a table line up in every script", () => {
  const lines = renderTable([travelSet()]).split("\n");
  const rows = lines.filter((line) => /tool_trajectory_avg_score +\d/.test(line));
  assert.equal(rows.length, 8);
  const columns = rows.map((line) => displayWidth(line.slice(0, line.indexOf("tool_trajectory_avg_score"))));
  assert.equal(new Set(columns).size, 1);
});

test("a failed trajectory shows what differs, call by call", () => {
  const text = renderTable([travelSet()], { width: 120 });
  for (const line of [
    '= search_hotels(city: "Kyoto", near: "station", filters: {quiet: true, price: [0, 40000]})',
    '> get_profile(user: "u-1042") (expected as call 1, made as call 2)',
    '- check_weather(city: "Kyoto", day: "2026-03-16")',
    '~   guest.tier: "gold" → "silver"',
    "~   notify: (absent) → true",
    '+ send_email(to: "mina.frei@example.com", template: "hold-confirmation")',
    "- refund({})",
  ]) {
    assert.ok(text.includes(`      ${line}\n`), line);
  }
});

test("an integer that came as its digits shows as a number opposite a number, and only there", () => {
  const digits = "9007199254740993";
  assert.deepEqual([sideText(digits, 7), sideText(7, digits)], [digits, "7"]);
  assert.equal(sideText(`-${digits}`, 7), `-${digits}`);
  for (const opposite of ["9007199254740995", undefined, null, { id: 7 }]) {
    assert.equal(sideText(digits, opposite), `"${digits}"`);
  }
  for (const text of ["42", "0042", "4e99", "9007199254740991", `0${digits}`, ` ${digits}`]) {
    assert.equal(sideText(text, 7), JSON.stringify(text));
  }
  assert.equal(sideText(undefined, 7), "(absent)");
});

test("a failed response shows both texts, precision and recall", () => {
  const text = renderTable([travelSet()]);
  assert.match(text, /- 京都駅から徒歩5分/);
  assert.match(text, /\+ \(no text\)/);
  assert.match(text, /precision 0\.3478, recall 0\.3636/);
});

test("what was not evaluated shows its reason, and a case without metrics its own", () => {
  const text = renderTable([supportSet()]);
  assert.match(
    text,
    /hallucinations_v1: not evaluated, no score, threshold 0\.9\n +The judge could not be reached: 429/,
  );
  assert.match(text, /✗ refund_policy\n +Inference failed: the agent raised TimeoutError/);
});

test("a metric without an alignment lists both trajectories", () => {
  const set = travelSet();
  for (const result of set.evalCaseResults) {
    for (const turn of result.evalMetricResultPerInvocation)
      for (const metric of turn.evalMetricResults) delete metric.explanation;
  }
  assert.match(
    renderTable([set]),
    /expected calls:\n +cancel_booking\(reference: "K3PQ7Z"\)\n +refund\(\{\}\)\n +actual calls: none/,
  );
});

test("details show every turn of every case, those that passed too", () => {
  const text = renderTable([travelSet()], { details: true });
  assert.match(text, /Details of find_flight_zurich_tokyo/);
  assert.match(text, /user +Great, book it\./);
  assert.match(text, /expected +Booked: LX 160/);
  assert.match(text, /= book_flight\(flight: "LX160", seat: "27A"\)/);
});

test("a summary ends the report", () => {
  const text = renderTable([travelSet(), supportSet()]);
  assert.match(
    text,
    /^12 runs of 11 cases in 2 evalsets: 6 passed, 5 failed, 1 not evaluated\npass rate 55% \(95% interval 28 to 79%\); 1 of 11 cases is flaky: lost_parcel \(1 of 2\)\nvariance of the verdicts: 0\.\d{4} between cases, 0\.\d{4} between runs of a case\nestimating the pass rate to within 5 points takes about \d+ cases run once(?:, or \d+ runs of each of\s+these)?\nadk-metrics 0\.1\.0, reference 2\.13\.0, dialect adk-python\n$/m,
  );
  assert.match(renderTable([]), /^0 cases: none scored\n$/);
});

test("there is no escape sequence unless colour is asked for, and then only ours", () => {
  assert.ok(!renderTable(all(), { details: true }).includes("\u001b"));
  const coloured = renderTable(all(), { details: true, color: true });
  assert.ok(coloured.includes("\u001b[31m"));
  const plain = coloured
    .split("\u001b")
    .map((piece, at) => (at === 0 ? piece : piece.replace(/^\[[0-9;]*m/, "")))
    .join("");
  assert.equal(plain, renderTable(all(), { details: true }));
});

test("no score is ever shown as NaN or undefined", () => {
  assert.doesNotMatch(renderTable(all(), { details: true }), /NaN|undefined/);
});

test("metrics that decide nothing are marked, in every format with rows", () => {
  const set = { ...travelSet(), advisory: ["response_match_score"] };
  const rows = renderTable([set], { width: 140 }).split("\n");
  const marked = rows.filter((line) => /(?:passed|failed|not evaluated), advisory$/.test(line));
  assert.ok(marked.length > 0 && marked.every((line) => line.includes("response_match_score")));
  assert.ok(!renderTable([travelSet()]).includes("advisory"));
  assert.match(renderMarkdown([set]), /<code>response&#95;match&#95;score<\/code> \(advisory\)/);
  const html = renderHtml([set]);
  assert.match(html, /<th scope="row">response_<wbr>match_<wbr>score <span class="muted">advisory<\/span><\/th>/);
});

test("the kinds of tokens add up to their mean as it is shown", () => {
  const set = travelSet();
  const [metric] = (set.evalCaseResults[0]?.overallEvalMetricResults ?? []).filter(
    ({ metricName }) => metricName === "token_usage_v1",
  );
  assert.ok(metric);
  for (const [input, output, text] of [
    [2025.5, 73.5, "2,099 (2,025.5 in, 73.5 out)"],
    [2150.25, 52.5, "2,202.8 (2,150.3 in, 52.5 out)"],
    [0.05, 0.05, "0.1 (0.1 in, 0 out)"],
  ] as const) {
    metric.score = input + output;
    metric.details = { tokenUsageDetails: { totalTokens: input + output, inputTokens: input, outputTokens: output } };
    assert.ok(renderTable([set], { width: 160 }).includes(text), text);
  }
});

test("a case by itself is shown without what made it, which it does not say", () => {
  const { evalSetId, evalCaseResults } = travelSet();
  const table = renderTable([{ evalSetId, evalCaseResults } as ReturnType<typeof travelSet>]);
  assert.ok(!table.includes("undefined"), table);
});
