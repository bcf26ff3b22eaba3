// Calls of models that an agent does not report are unknown: google-adk's score is 0, which nothing may show or average.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "../package/support/package.mjs";

const { compareRuns, evaluate, knownScore, reliabilityOf } = await importEntry();
const { toAutoevals, toMastra, toOpenevals, evaluationEvents } = await importEntry("./interop");
const report = await importEntry("./report");

const METRIC = "inference_call_count_v1";
const NONE = "no call of a model was reported";
const ofCalls = ({ metricName }) => metricName === METRIC;

/** The results of a case for each number of model calls, with as many runs. */
function resultsOf(...runs) {
  const conversation = (calls) => [
    {
      userContent: { parts: [{ text: "Hi" }] },
      finalResponse: { role: "model", parts: [{ text: "Yo" }] },
      intermediateData: {
        invocationEvents: Array.from({ length: Math.max(calls, 1) }, () => ({
          author: "agent",
          ...(calls === 0 ? {} : { modelVersion: "m" }),
        })),
      },
    },
  ];
  const evalCases = runs[0].map((_, at) => ({ evalId: `c${at}`, conversation: conversation(1) }));
  const actual = runs.flatMap((calls) =>
    calls.map((one, at) => ({ evalId: `c${at}`, conversation: conversation(one) })),
  );
  return evaluate({
    evalSet: { evalSetId: "s", evalCases },
    actual: { evalSetId: "s", evalCases: actual },
    criteria: { response_match_score: 0.8 },
  });
}

const [two, none, mixed] = await Promise.all([resultsOf([2, 2]), resultsOf([0, 0]), resultsOf([2, 0], [0, 0], [4, 0])]);

test("google-adk's score stays in results", () => {
  const metric = none.evalCaseResults[0].overallEvalMetricResults.find(ofCalls);
  assert.equal(metric.score, 0);
  assert.deepEqual([knownScore(metric), knownScore({ metricName: "tool_call_count_v1", score: 0 })], [undefined, 0]);
});

test("means over runs leave unknown counts out", () => {
  assert.equal(reliabilityOf(none).metrics.find(ofCalls).score, undefined);
  const { metrics, cases } = reliabilityOf(mixed);
  assert.equal(metrics.find(ofCalls).score.value, 3);
  assert.deepEqual(
    cases.map((one) => one.metrics.find(ofCalls).scores?.least),
    [2, undefined],
  );
  const repeated = { ...none, evalCaseResults: [...none.evalCaseResults, ...none.evalCaseResults] };
  for (const render of [report.renderJUnit, report.renderCsv, report.renderMarkdown, report.renderHtml]) {
    assert.doesNotMatch(render(repeated), new RegExp(`meanScore.${METRIC}|model calls`), render.name);
  }
});

test("comparisons take no unknown count for fewer calls, and say why there is none", () => {
  for (const [before, after] of [
    [two, none],
    [none, two],
    [none, none],
  ]) {
    const found = compareRuns(before, after);
    const metric = found.metrics.find(ofCalls);
    assert.deepEqual([metric.compared, metric.better, metric.worse], [0, 0, 0]);
    assert.deepEqual([metric.onlyBaseline, metric.onlyCurrent], [before === two ? 2 : 0, after === two ? 2 : 0]);
    for (const one of found.cases) {
      const { change, difference, baseline, current } = one.metrics.find(ofCalls);
      assert.deepEqual([change, difference], ["unchanged", undefined]);
      const unknown = before === none ? baseline : current;
      assert.deepEqual([unknown.score, unknown.reason], [undefined, NONE]);
    }
    const csv = report.renderComparisonCsv(found);
    assert.doesNotMatch(csv, new RegExp(`${METRIC},(better|worse|changed)`));
    assert.match(report.renderComparisonJson(found), new RegExp(NONE));
  }
  const found = compareRuns(two, mixed);
  assert.equal(
    found.cases.flatMap(({ metrics }) => metrics.filter(ofCalls)).find(({ current }) => current.score).current.score,
    3,
  );
});

test("other tools get no score for an unknown count", () => {
  const [result] = none.evalCaseResults;
  assert.deepEqual(
    toAutoevals(result).find(({ name }) => name === METRIC),
    {
      name: METRIC,
      score: null,
      metadata: { evalId: "c0", sessionId: result.sessionId, status: "INFORMATIONAL", reason: NONE },
    },
  );
  assert.equal(
    toOpenevals(result).find(({ key }) => key === METRIC),
    undefined,
  );
  assert.equal(toMastra(result).find(({ scorerId }) => scorerId === METRIC).notScorable.reason, NONE);
  const events = evaluationEvents(none).filter(({ attributes }) => attributes["gen_ai.evaluation.name"] === METRIC);
  for (const { attributes } of events) {
    assert.deepEqual(
      [attributes["gen_ai.evaluation.score.value"], attributes["gen_ai.evaluation.explanation"]],
      [undefined, NONE],
    );
  }
  assert.equal(events.length, 4);
});
