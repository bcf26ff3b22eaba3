import assert from "node:assert/strict";
import { test } from "node:test";
import { EvalStatus } from "../../pkg-template/src/enums.js";
import {
  renderCsv,
  renderFailures,
  renderHtml,
  renderJUnit,
  renderMarkdown,
  renderTable,
} from "../../pkg-template/src/report/index.js";
import { failureSummary, renderPooledFailures } from "../../pkg-template/src/report/failures.js";
import type { EvalCaseResult, EvalMetricResult, EvalSetResult } from "../../pkg-template/src/types.js";
import { travelSet } from "./fixtures.js";

const { FAILED, INFORMATIONAL } = EvalStatus;

const RENDERERS: Record<string, (set: EvalSetResult) => string> = {
  table: (set) => renderTable(set, { details: true }),
  failures: (set) => renderFailures(set),
  junit: (set) => renderJUnit(set),
  markdown: (set) => renderMarkdown(set),
  csv: (set) => renderCsv(set),
  html: (set) => renderHtml(set),
};

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));

const failed = (metricName: string, more: Partial<EvalMetricResult> = {}): EvalMetricResult => ({
  metricName,
  threshold: 1,
  score: 0,
  evalStatus: FAILED,
  ...more,
});

const turnOf = (evalMetricResults: EvalMetricResult[], more: object = {}) => ({
  actualInvocation: { userContent: { parts: [{ text: "Hi" }] }, ...more },
  evalMetricResults,
});

function caseOf(evalId: string, overall: EvalMetricResult[], turns: ReturnType<typeof turnOf>[]): EvalCaseResult {
  return {
    ...(travelSet().evalCaseResults[0] as EvalCaseResult),
    evalId,
    finalEvalStatus: FAILED,
    overallEvalMetricResults: overall,
    evalMetricResultPerInvocation: turns,
  };
}

const setOf = (evalCaseResults: EvalCaseResult[]): EvalSetResult => ({ ...travelSet(), evalCaseResults });

/** Results that take space in proportion to their argument. */
const HOSTILE: Record<string, (size: number) => EvalSetResult> = {
  "many metrics in one turn": (size) => {
    const metrics = list(size, (at) => failed(`metric_${at}`));
    return setOf([caseOf("case", metrics, [turnOf(metrics.map((metric) => ({ ...metric })))])]);
  },
  "many metrics and many turns without them": (size) =>
    setOf([
      caseOf(
        "case",
        list(size, (at) => failed(`metric_${at}`)),
        list(size, () => turnOf([])),
      ),
    ]),
  "one metric many times, and many turns": (size) =>
    setOf([
      caseOf(
        "case",
        list(size, () => failed("again")),
        list(size, () => turnOf([failed("again")])),
      ),
    ]),
  "many metrics that only inform beside many that do not": (size) =>
    setOf([
      caseOf(
        "case",
        [
          ...list(size, (at) => failed(`metric_${at}`)),
          ...list(size, (at) => failed(`fact_${at}`, { evalStatus: INFORMATIONAL, score: 1 })),
        ],
        [],
      ),
    ]),
  "a metric of its own in each case": (size) =>
    setOf(
      list(size, (at) =>
        caseOf(
          `case_${at}`,
          [failed(`metric_${at}`), failed(`fact_${at}`, { evalStatus: INFORMATIONAL, score: 1 })],
          [],
        ),
      ),
    ),
  "many samples of one vote": (size) => {
    const votes = list(size, (sampleIndex) => ({ sampleIndex, purpose: "verdict" as const, score: 0, reply: "no" }));
    const metric = failed("final_response_match_v2", {
      explanation: { samples: { asked: size, of: size, votes } },
    });
    return setOf([caseOf("case", [metric], [turnOf([metric])])]);
  },
  "many samples about rubrics": (size) => {
    const votes = list(size, (sampleIndex) => ({ sampleIndex, purpose: "verdict" as const, score: 0, reply: "no" }));
    const rubrics = list(size, (at) => ({ rubricId: `rubric_${at}`, text: "Short.", yes: 0, no: size, unscored: 0 }));
    const metric = failed("rubric_based_final_response_quality_v1", {
      explanation: { samples: { asked: size, of: size, votes }, rubrics },
    });
    return setOf([caseOf("case", [metric], [turnOf([metric])])]);
  },
  "many rubrics over turns": (size) => {
    const rubricScores = list(size, (at) => ({ rubricId: `rubric_${at}`, score: 0 }));
    const metric = failed("rubric_based_final_response_quality_v1", { details: { rubricScores } });
    return setOf([caseOf("case", [metric], [turnOf([metric]), turnOf([metric])])]);
  },
  "outputs of tools in the reverse order of their calls": (size) => {
    const toolUses = list(size, (at) => ({ id: `call_${at}`, name: "tool", args: {} }));
    const toolResponses = toolUses.map(({ id, name }) => ({ id, name, response: {} })).reverse();
    const metric = failed("tool_trajectory_avg_score");
    return setOf([caseOf("case", [metric], [turnOf([metric], { intermediateData: { toolUses, toolResponses } })])]);
  },
  "outputs of tools that answer no call": (size) => {
    const toolUses = list(size, (at) => ({ id: `call_${at}`, name: "tool", args: {} }));
    const toolResponses = toolUses.map(({ name }, at) => ({ id: `other_${at}`, name, response: {} }));
    const metric = failed("tool_trajectory_avg_score");
    return setOf([caseOf("case", [metric], [turnOf([metric], { intermediateData: { toolUses, toolResponses } })])]);
  },
  "a call with many arguments, all of which differ": (size) => {
    const args = Object.fromEntries(list(size, (at) => [`key_${at}`, at]));
    const differences = Object.keys(args).map((path) => ({ path, expected: 0, actual: 1 }));
    const metric = failed("tool_trajectory_avg_score", {
      explanation: { alignment: [{ kind: "arguments", expectedIndex: 0, actualIndex: 0, differences }] },
    });
    const call = { intermediateData: { toolUses: [{ name: "tool", args }] } };
    const turn = turnOf([metric], call);
    return setOf([caseOf("case", [metric], [{ ...turn, expectedInvocation: turn.actualInvocation } as typeof turn])]);
  },
  "many judges and calibrations of many metrics": (size) => {
    const metrics = list(size, (at) => failed(`metric_${at}`));
    return {
      ...setOf([caseOf("case", metrics, [turnOf(metrics)])]),
      judges: list(size, (at) => ({ metricName: `metric_${at}`, model: "model", label: "openai" })),
      judgeCalibrations: list(size, (at) => ({
        metricName: `metric_${at}`,
        labels: 10,
        agreement: { share: 0.9, low: 0.8, high: 0.95 },
      })),
    } as unknown as EvalSetResult;
  },
  "many advisory metrics": (size) => {
    const metrics = list(size, (at) => failed(`metric_${at}`));
    return {
      ...setOf([caseOf("case", metrics, [turnOf(metrics)])]),
      advisory: metrics.map(({ metricName }) => metricName),
    };
  },
  "many warnings": (size) => ({
    ...travelSet(),
    warnings: list(size, (at) => ({ code: "invalid_input" as const, message: `warning ${at}` })),
  }),
  "many judged metrics without verdicts": (size) => {
    const metrics = list(size, (at) => failed(`metric_${at}`));
    const unknown = metrics.map((metric) => ({
      ...metric,
      evalStatus: EvalStatus.NOT_EVALUATED,
      explanation: { samples: { asked: 1, of: 1, votes: [] } },
    }));
    return {
      ...setOf([caseOf("case", metrics, [turnOf(unknown)])]),
      judges: list(size, (at) => ({ metricName: `metric_${at}`, model: "model", label: "openai" })),
    } as unknown as EvalSetResult;
  },
  "many runs of many cases": (size) =>
    setOf(
      list(size, (at) =>
        caseOf(`case_${at % (size / 4)}`, [failed("metric"), failed("other")], [turnOf([failed("metric")])]),
      ),
    ),
};

/** How often a renderer reads something of what it is given, and how much it writes. */
function workOf<Given>(render: (given: Given) => string, given: Given): { reads: number; length: number } {
  let reads = 0;
  const known = new WeakMap<object, object>();
  const watched = <T>(value: T): T => {
    if (typeof value !== "object" || value === null) return value;
    let proxy = known.get(value);
    if (proxy === undefined) {
      proxy = new Proxy(value, {
        get(target, key, receiver): unknown {
          reads += 1;
          return watched(Reflect.get(target, key, receiver));
        },
      });
      known.set(value, proxy);
      known.set(proxy, proxy);
    }
    return proxy as T;
  };
  const { length } = render(watched(given));
  return { reads, length };
}

for (const [what, make] of Object.entries(HOSTILE)) {
  for (const [format, render] of Object.entries(RENDERERS)) {
    test(`${format}: work grows with the size of the results: ${what}`, () => {
      const [small, large] = [100, 400].map((size) => workOf(render, make(size)));
      assert.ok(small && large);
      for (const kind of ["reads", "length"] as const) {
        assert.ok(
          large[kind] < 8 * small[kind],
          `${kind}: ${small[kind]}, then ${large[kind]} for four times the size`,
        );
      }
    });
  }
}

test("what a failed assertion says grows with the size of the results", () => {
  const made = (size: number) => {
    const sets = list(size, (at) => ({ ...setOf([caseOf("case", [failed("metric")], [])]), evalSetId: `set_${at}` }));
    const failures = sets.map(({ evalSetId }) => ({ evalSetId, evalId: "case", metricName: "metric", score: 0 }));
    return { sets, failures };
  };
  for (const say of [
    ({ sets, failures }: ReturnType<typeof made>) => failureSummary(failures, sets).join(),
    ({ sets, failures }: ReturnType<typeof made>) => renderPooledFailures(failures, sets),
  ]) {
    const [small, large] = [100, 400].map((size) => workOf(say, made(size)).reads);
    assert.ok(small && large && large < 8 * small, `${small} reads, then ${large} for four times the size`);
  }
});
