// What runs of an agent tell of those to come, from results as evaluate() gives them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "../package/support/package.mjs";

const { evaluate, reliabilityOf } = await importEntry();
const { renderCsv, renderHtml, renderJUnit, renderMarkdown, renderTable } = await importEntry("./report");

const turn = (text) => [{ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text }] } }];
const [GOOD, BAD] = ["the train leaves at nine", "no idea"];

/** Runs of cases: `{ id: "PPF" }` is a case that passed twice and failed once. */
async function resultsOf(runsOfCases) {
  const evalCases = Object.keys(runsOfCases).map((evalId) => ({ evalId, conversation: turn(GOOD) }));
  const actual = Object.entries(runsOfCases).flatMap(([evalId, runs]) =>
    [...runs].map((run) => ({ evalId, conversation: turn(run === "P" ? GOOD : BAD) })),
  );
  return evaluate({
    evalSet: { evalSetId: "trains", evalCases },
    actual: { evalSetId: "trains", evalCases: actual },
    criteria: { response_match_score: 0.8 },
  });
}

const rounded = (value) =>
  JSON.parse(JSON.stringify(value), (_, one) => (typeof one === "number" ? +one.toFixed(4) : one));

test("runs of a case tell how likely the next ones pass, and whether it is flaky", async () => {
  const { cases, ...all } = reliabilityOf(await resultsOf({ steady: "PPP", moody: "PPF", broken: "FFF" }));
  assert.deepEqual([all.confidence, all.runs, all.passed, all.notEvaluated], [0.95, 9, 5, 0]);
  assert.deepEqual(
    cases.map(({ evalId, runs, passed, isFlaky }) => [evalId, runs, passed, isFlaky]),
    [
      ["steady", 3, 3, false],
      ["moody", 3, 2, true],
      ["broken", 3, 0, false],
    ],
  );
  assert.deepEqual(rounded(cases[1].passAtK), [0.6667, 1, 1]);
  assert.deepEqual(rounded(cases[1].passHatK), [0.6667, 0.3333, 0]);
  const [{ scores, isFlaky, ...ofMetric }] = cases[1].metrics;
  assert.deepEqual([scores.least, scores.most, isFlaky], [0, 1, true]);
  assert.deepEqual(rounded([ofMetric.passAtK, ofMetric.passHatK]), [
    [0.6667, 1, 1],
    [0.6667, 0.3333, 0],
  ]);
  assert.deepEqual(rounded([scores.mean, scores.deviation]), [0.6667, 0.5774]);
  assert.equal(rounded(all.passRate.value), 0.5556);
  assert.deepEqual(rounded(all.passHatK.map(({ k, cases: count, value }) => [k, count, value])), [
    [1, 3, 0.5556],
    [2, 3, 0.4444],
    [3, 3, 0.3333],
  ]);
  assert.ok(all.variance.between > all.variance.within);
  assert.equal(all.metrics[0].metricName, "response_match_score");
});

test("results of several files are runs of the same cases, and cases may be grouped", async () => {
  const [first, second] = [await resultsOf({ a: "P", b: "F" }), await resultsOf({ a: "P", b: "P" })];
  const { cases, passRate } = reliabilityOf([first, second]);
  assert.deepEqual(
    cases.map(({ evalId, runs, passed }) => [evalId, runs, passed]),
    [
      ["a", 2, 2],
      ["b", 2, 1],
    ],
  );
  // Fewer groups tell less, so that the interval is wider.
  const one = await resultsOf({ a: "PP", b: "PP", c: "FF", d: "PF" });
  const byLetter = reliabilityOf(one, { groupOf: ({ evalId }) => (evalId < "c" ? "first" : "last") }).passRate;
  const byCase = reliabilityOf(one).passRate;
  assert.ok(byLetter.high - byLetter.low > byCase.high - byCase.low);
  // Results may name the groups themselves. A single group tells nothing, so that its cases count.
  const withGroups = (groupOf) => ({
    ...one,
    evalCaseResults: one.evalCaseResults.map((result) => ({ ...result, group: groupOf(result) })),
  });
  const named = reliabilityOf(withGroups(({ evalId }) => (evalId < "c" ? "first" : "last")));
  assert.deepEqual([named.groups, named.passRate], [2, byLetter]);
  const single = reliabilityOf(withGroups(() => "all"));
  assert.deepEqual([single.groups, single.passRate], [undefined, byCase]);
  const some = reliabilityOf(withGroups(({ evalId }) => (evalId < "c" ? "first" : undefined)));
  assert.equal(some.groups, 3);
  assert.ok(passRate.low < 0.75 && passRate.high > 0.75);
});

test("one run of a case passes as likely as the pass rate says, and it is as certain", async () => {
  const runs = { a: "PPPF", b: "PPFF", c: "PFPP", d: "PPPP", e: "FPPF" };
  const results = await resultsOf(runs);
  for (const options of [{}, { groupOf: ({ evalId }) => (evalId < "c" ? "first" : evalId) }, { confidence: 0.8 }]) {
    const { passRate, passAtK, passHatK } = rounded(reliabilityOf(results, options));
    assert.deepEqual([passAtK[0], passHatK[0]], Array(2).fill({ k: 1, cases: 5, ...passRate }));
  }
  const uneven = rounded(reliabilityOf(await resultsOf({ a: "PPPP", b: "F" })));
  assert.deepEqual([uneven.passRate.value, uneven.passAtK[0].value], [0.8, 0.5]);
});

test("what was not evaluated counts nowhere else, and one run has no spread", async () => {
  const set = await resultsOf({ a: "P" });
  set.evalCaseResults.push({ ...set.evalCaseResults[0], finalEvalStatus: 3, overallEvalMetricResults: [] });
  const { runs, notEvaluated, variance, cases, passRate } = reliabilityOf(set);
  assert.deepEqual([runs, notEvaluated, variance, cases.length], [1, 1, undefined, 1]);
  assert.deepEqual(rounded(passRate), { value: 1, low: 0.2065, high: 1 });
  const none = reliabilityOf({ ...set, evalCaseResults: [] });
  assert.deepEqual([none.passRate, none.notes], [undefined, ["the results contain no cases"]]);
});

test("results of one evalset without a case or metric in common are told of", async () => {
  const [a, b, both] = [
    await resultsOf({ a: "PP" }),
    await resultsOf({ b: "PF" }),
    await resultsOf({ a: "P", b: "P" }),
  ];
  const apart = 'the 2 results of "trains" have no case in common, so they are not runs of the same cases';
  assert.deepEqual(reliabilityOf([a, b]).notes, [apart]);
  assert.match(renderTable([a, b]), /have no case in common/);
  assert.equal(reliabilityOf([a, both]).notes, undefined);
  assert.equal(reliabilityOf([a, { ...b, evalSetId: "planes" }]).notes, undefined, "other evalsets have other cases");
  const other = structuredClone(a);
  for (const { overallEvalMetricResults } of other.evalCaseResults) {
    for (const result of overallEvalMetricResults) {
      if (result.metricName === "response_match_score") result.metricName = "politeness";
    }
  }
  assert.deepEqual(reliabilityOf([a, other]).notes, [
    'the 2 results of "trains" have no metric in common, so their verdicts are not comparable',
  ]);
});

test("what cannot be used is an error that says so", async () => {
  const set = await resultsOf({ a: "P" });
  const wrong = [
    [() => reliabilityOf(Promise.resolve(set)), /expected an EvalSetResult or a list of them/],
    [() => reliabilityOf([set, null]), /expected an EvalSetResult/],
    [() => reliabilityOf(set, { confidence: 95 }), /expected a number above 0 and below 1, found 95/],
    [() => reliabilityOf(set, { confidnce: 0.9 }), /there is no option `confidnce`/],
    [() => reliabilityOf(set, { groupOf: "tag" }), /expected a function/],
  ];
  for (const [call, message] of wrong) assert.throws(call, { name: "AdkMetricsError", message });
});

test("reports say it in a line, where cases were run repeatedly", async () => {
  const set = await resultsOf({ steady: "PPP", moody: "PPF" });
  const said = "pass rate 83% (95% interval 24 to 99%), pass^3 50%; 1 of 2 cases is flaky: moody (2 of 3)";
  assert.match(renderTable([set], { width: 200 }), new RegExp(said.replace(/[()^]/g, "\\$&")));
  const capital = new RegExp(said.replace("pass rate", "Pass rate").replace(/[()^]/g, "\\$&"));
  for (const report of [renderMarkdown, renderHtml]) {
    const text = report([set]).replaceAll(/&#(\d+);/g, (_, unit) => String.fromCharCode(unit));
    assert.match(text, capital);
  }
  assert.match(renderTable([await resultsOf({ a: "PP" })], { width: 200 }), /pass rate 100%.*; no case is flaky/s);
  assert.doesNotMatch(renderTable([await resultsOf({ a: "P", b: "F" })]), /flaky|pass rate/);
});

test("runs of the only case have intervals, which are about this case", async () => {
  const set = await resultsOf({ only: "PPPPPPPPFF" });
  const { passRate, passAtK, passHatK, isOneCase, metrics, needed } = reliabilityOf(set);
  const rounded = ({ low, value, high }) => [low, value, high].map((one) => Number(one.toFixed(4)));
  // Wilson's of 8 of 10, as statsmodels has it; those of pass@2 and pass^2 are its ends in 1 − (1 − p)² and p².
  assert.deepEqual(rounded(passRate), [0.4902, 0.8, 0.9433]);
  assert.deepEqual(rounded(passAtK[1]), [0.7401, 0.9778, 0.9968]);
  assert.deepEqual(rounded(passHatK[1]), [0.2403, 0.6222, 0.8898]);
  // Student's of ten scores, as scipy has it.
  assert.deepEqual(rounded(metrics[0].score), [0.4902, 0.8, 0.9433]);
  assert.equal(isOneCase, true);
  for (const { low, value, high } of [...passAtK, ...passHatK]) assert.ok(low <= value && value <= high);
  // 3.84 · 0.717 · 0.283 / 0.0025 runs, by the middle of that interval.
  assert.equal(needed.runs, 312);
  const text = renderTable(set, { width: 200 });
  assert.match(text, /pass rate 80% \(95% interval 49 to 94%\), pass\^10 0%; intervals are about this case only;/);
  assert.match(text, /takes about \d+ cases run 10 times; that of this case alone, 312 runs\n/);
  assert.match(renderJUnit(set), /<property name="oneCase" value="1"\/>/);
  assert.equal(reliabilityOf(await resultsOf({ a: "PF", b: "PF" })).isOneCase, undefined);
});

test("a wanted precision that results have is told of in reports, also of cases that ran once", async () => {
  const once = await resultsOf({ a: "P", b: "F", c: "P" });
  assert.doesNotMatch(renderTable(once), /estimating/);
  const wanted = { ...once, precision: 0.1 };
  assert.equal(reliabilityOf(wanted).needed.precision, 0.1);
  assert.equal(reliabilityOf(wanted, { precision: 0.2 }).needed.precision, 0.2);
  const said = /stimating the pass rate to within 10 points takes about \d+ cases run once/;
  for (const report of [renderTable(wanted), renderHtml(wanted), renderMarkdown(wanted)]) assert.match(report, said);
  assert.match(renderTable({ ...once, precision: 0.5 }), /\nthe pass rate is known to within 50 points\n/);
});

test("what a wanted precision takes is told as cases and, where these vary enough, as runs", async () => {
  const results = await resultsOf({ steady: "PPP", moody: "PPF", broken: "FFF" });
  const { needed } = reliabilityOf(results);
  assert.equal(needed.precision, 0.05);
  assert.ok(needed.cases > 200 && needed.cases <= 385, JSON.stringify(needed));
  assert.equal(needed.runs, undefined, "three cases are too different for any number of runs");
  assert.ok(3 * reliabilityOf(results, { precision: 0.1 }).needed.cases < needed.cases);
  assert.equal(reliabilityOf(results, { precision: 0.5 }).needed, undefined);
  // Four that always pass may well be luck: Wilson's middle of 4 of 4 is 0.755, and 3.84 · 0.755 · 0.245 / 0.0025 is 284.3.
  const lucky = reliabilityOf(await resultsOf({ a: "P", b: "P", c: "P", d: "P" }));
  assert.deepEqual(lucky.needed, { precision: 0.05, cases: 285 });
  const alike = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`c${at}`, at % 2 === 0 ? "PF" : "FP"]));
  const { needed: more } = reliabilityOf(await resultsOf(alike));
  assert.ok(more === undefined || more.runs > 2, JSON.stringify(more));
  assert.throws(() => reliabilityOf(results, { precision: 0 }), /expected a number above 0 and up to 0\.5/);
});

test("every report tells how repeated runs of each case ended", async () => {
  const results = await resultsOf({ steady: "PPP", moody: "PPF" });
  const table = renderTable(results);
  assert.match(
    table,
    /\n {2}Several runs +at least one passes \(pass@k\), 95% interval +all pass \(pass\^k\), 95% interval\n/,
  );
  assert.match(table, /\n {2}3 runs +100% \(34 to 100%\) +50% \(9 to 91%\)\n/);
  assert.match(table, /\n {2}response_match_score +83% \(24 to 99%\) +0\.8333 \(0\.2408 to 0\.9875\)\n/);
  assert.match(table, /\n {2}response_match_score +0\.0000 +0\.1667\n/);
  assert.match(table, /\nvariance of the verdicts: 0\.0000 between cases, 0\.1667 between runs of a case\n/);
  // Flaky cases come first.
  assert.match(
    table,
    /\n {2}moody +2 of 3, flaky +response_match_score 0\.6667 \(0\.0000 to 1\.0000\) +100%, 33%\n {2}steady +3 of 3 +100%, 100%\s*\n/,
  );
  assert.match(
    table,
    /\nestimating the pass rate to within 5 points takes about 86 cases run 3 times, or 129 runs of each\s+of\s+these\n/,
  );
  const markdown = renderMarkdown(results).replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
  assert.match(
    markdown,
    /\n\| moody \| 2 of 3, flaky \| response_match_score 0\.6667 \(0\.0000 to 1\.0000\) \| 100%, 33% \|\n/,
  );
  assert.match(markdown, /\nVariance of the verdicts: 0\.0000 between cases, 0\.1667 between runs of a case\n/);
  assert.match(markdown, /\n\| 2 runs \| 100% \(34 to 100%\) \| 67% \(16 to 95%\) \|\n/);
  const html = renderHtml(results);
  assert.match(html, /<bdi>moody<\/bdi><\/th><td data-label="Runs that pass">2 of 3, flaky<\/td>/);
  assert.match(html, /0\.8333<div class="muted">0\.2408 to 0\.9875<\/div>/);
  const junit = renderJUnit(results);
  for (const [name, value] of [
    ["passRate", "0.833333"],
    ["passAt3", "1"],
    ["passHat3", "0.5"],
    ["passHat3Low", "0.094531"],
    ["meanScore.response_match_score", "0.833333"],
    ["meanScore.response_match_score.low", "0.24078"],
    ["passRate.response_match_score", "0.833333"],
    ["varianceBetweenCases", "0"],
    ["varianceBetweenRuns", "0.166667"],
    ["neededPrecision", "0.05"],
    ["neededCases", "86"],
    ["neededRuns", "129"],
    ["flakyCases", "1"],
    ["casePassedRuns", "2"],
    ["flaky", "true"],
    ["casePassAt2", "1"],
    ["casePassHat2", "0.333333"],
    ["casePassAt3", "1"],
    ["casePassHat3", "0"],
  ]) {
    assert.ok(junit.includes(`<property name="${name}" value="${value}"/>`), name);
  }
  const [header, ...rows] = renderCsv(results).trimEnd().split("\r\n");
  assert.match(header, /,reliability,caseRuns,casePassedRuns,isFlaky,caseReliability$/);
  const [first, second] = rows.map((row) => /,"(\{.*\})",3,/.exec(row)?.[1].replaceAll('""', '"'));
  const { passRate, passAt3, passHat3, neededRuns, ...more } = JSON.parse(first);
  assert.deepEqual([passRate, passAt3, passHat3, neededRuns], [0.833333, 1, 0.5, 129]);
  assert.equal(more["meanScore.response_match_score"], 0.833333);
  assert.equal(second, undefined, "in the first row of the evalset alone");
  const ofCase = `"{""casePassAt2"":1,""casePassHat2"":0.333333,""casePassAt3"":1,""casePassHat3"":0}"`;
  const moody = rows.filter((row) => row.startsWith("trains,moody,"));
  assert.ok(moody.length > 0 && moody.every((row) => row.endsWith(`,3,2,true,${ofCase}`)), moody[0]);
});

test("the flaky metrics of a case with several have their own figures", async () => {
  const said = (text) => [{ userContent: { parts: [{ text: "When?" }] }, finalResponse: { parts: [{ text }] } }];
  const evalSet = { evalSetId: "trains", evalCases: [{ evalId: "moody", conversation: said("At nine.") }] };
  const evalCases = ["At nine.", "At nine.", "No idea."].map((text) => ({
    evalId: "moody",
    conversation: said(text),
  }));
  const criteria = { response_match_score: 0.8, tool_trajectory_avg_score: 1 };
  const results = await evaluate({ evalSet, actual: { evalSetId: "trains", evalCases }, criteria });
  const markdown = renderMarkdown(results).replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
  assert.match(
    markdown,
    /Flaky metric \|[^\n]*\n[^\n]*\n\|[^\n]*moody[^\n]*response_match_score[^\n]*2 of 3[^\n]*100%, 33%/,
  );
  assert.match(renderJUnit(results), /name="casePassHat2.response_match_score" value="0.333333"/);
  assert.match(renderCsv(results), /""casePassHat2.response_match_score"":0.333333/);
  assert.doesNotMatch(renderCsv(results), /casePassAt2.tool_trajectory_avg_score/);
});

test("reports of cases that were run once say nothing of repeated runs", async () => {
  const results = await resultsOf({ a: "P", b: "F" });
  for (const render of [renderTable, renderMarkdown, renderHtml, renderJUnit, renderCsv]) {
    assert.doesNotMatch(render(results), /flaky|pass rate|Several runs|caseRuns/i, render.name);
  }
});

test("it is said how many runs a metric has no verdict in", async () => {
  const results = await resultsOf({ a: "PPF", b: "PPP" });
  const [failed] = results.evalCaseResults;
  Object.assign(failed, { finalEvalStatus: 2, overallEvalMetricResults: [], evalMetricResultPerInvocation: [] });
  const table = renderTable(results, { width: 200 });
  assert.match(table, /\n {2}response_match_score +80% \(\d+ to \d+%\), 1 of 6 runs missing +0\.8000/);
  assert.doesNotMatch(renderTable(await resultsOf({ a: "PPF" })), /missing/);
});
