// Votes that end before their verdict is certain: what they ask, on what, and what is said of it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { journalInMemory } from "../package/support/journals.mjs";
import { importEntry } from "../package/support/package.mjs";
import { createRandom } from "../adk-ts/random.mjs";

const { evaluate, evaluateStream, estimateCalls } = await importEntry();
const { renderCsv, renderHtml, renderJUnit, renderMarkdown, renderTable } = await importEntry("./report");

const METRIC = "final_response_match_v2";
const RUBRICS = "rubric_based_final_response_quality_v1";

const setOf = (count) => {
  const names = Array.from({ length: count }, (_, index) => `case-${index}`);
  return evalSetOf(Object.fromEntries(names.map((name) => [name, [turn(`question ${name}`, `answer of ${name}.`)]])));
};

/** Draws that depend on a text alone. */
const drawn = (text) =>
  createRandom([...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1e9, 7)).next();

/** A judge whose samples agree with each other so often; most answers are valid. */
function judgeOf(agreement, { delayMs = () => 0, asked = [] } = {}) {
  return async ({ evalId, sampleIndex, responseSchema }) => {
    asked.push(`${evalId} ${sampleIndex}`);
    await sleep(delayMs());
    const says = (what) => {
      const isGood = drawn(`${what} ${evalId}`) < 0.8;
      return drawn(`${what} ${evalId} ${sampleIndex} vote`) < agreement === isGood;
    };
    const { properties } = responseSchema;
    if ("is_the_agent_response_valid" in properties) {
      return JSON.stringify({ reasoning: "", is_the_agent_response_valid: says("it") ? "valid" : "invalid" });
    }
    const rubrics = Object.keys(properties.rubrics?.properties ?? properties);
    const found = Object.fromEntries(rubrics.map((id) => [id, { rationale: "", verdict: says(id) ? "yes" : "no" }]));
    return JSON.stringify("rubrics" in properties ? { rubrics: found } : found);
  };
}

/** The same judge by a name, and what is done after each reply. */
const named = (judge, after = () => {}) =>
  async function judged(question, options) {
    const reply = await judge(question, options);
    after();
    return reply;
  };

const requestOf = (count, more) => {
  const set = setOf(count);
  return { evalSet: set, actual: set, criteria: { [METRIC]: { threshold: 0.5 } }, ...more };
};

const RUBRIC_IDS = ["polite", "brief", "right"];
const RUBRIC_CRITERIA = {
  [RUBRICS]: {
    threshold: 0.5,
    rubrics: RUBRIC_IDS.map((rubricId) => ({ rubricId, rubricContent: { textProperty: `It is ${rubricId}.` } })),
  },
};

const verdicts = ({ evalCaseResults }) => evalCaseResults.map(({ overallEvalMetricResults: [{ score }] }) => score);
const samplesOf = ({ evalCaseResults }) =>
  evalCaseResults.map(
    ({ evalMetricResultPerInvocation: [{ evalMetricResults }] }) => evalMetricResults[0].explanation.samples,
  );

describe("with a risk", () => {
  test("the first 20 questions are asked until they are certain, the others by how these voted", async () => {
    const found = await evaluate(requestOf(60, { judge: judgeOf(1), earlyStop: { risk: 0.1 } }));
    const samples = samplesOf(found);
    assert.ok(samples.slice(0, 20).every(({ asked, risk }) => asked === 3 && risk === undefined));
    for (const { asked, of, risk } of samples.slice(20)) {
      assert.ok(asked < 3 && of === 5, `${asked}`);
      assert.ok(0 < risk && risk < 0.1, `${risk}`);
    }
    assert.deepEqual(
      verdicts(found),
      verdicts(await evaluate(requestOf(60, { judge: judgeOf(1), earlyStop: "none" }))),
    );
    const { judgeUsage, judges } = found;
    assert.equal(judgeUsage.verdictsAtRisk, 40);
    const saved = samples.slice(20).reduce((sum, { asked }) => sum + 3 - asked, 0);
    assert.equal(judgeUsage.savedAtRisk, saved);
    assert.equal(judgeUsage.calls, 60 + samples.slice(20).reduce((sum, { asked }) => sum + asked, 0));
    assert.equal(judges[0].earlyStop.risk, 0.1);
    const { positive, negative } = judges[0].earlyStop.prior;
    assert.ok(positive > negative && negative > 0);
  });

  test("a prior that is given counts from the first question", async () => {
    const prior = { positive: 0.005, negative: 0.005 };
    const found = await evaluate(requestOf(3, { judge: judgeOf(1), earlyStop: { risk: 0.01, prior } }));
    assert.deepEqual(
      samplesOf(found).map(({ asked }) => asked),
      [2, 2, 2],
    );
    assert.deepEqual(found.judges[0].earlyStop, { risk: 0.01, prior });
    // Votes that are as likely as not: the exact rule is hardly beaten.
    const even = { positive: 1e6, negative: 1e6 };
    const unsure = await evaluate(requestOf(3, { judge: judgeOf(1), earlyStop: { risk: 0.01, prior: even } }));
    assert.deepEqual(
      samplesOf(unsure).map(({ asked }) => asked),
      [3, 3, 3],
    );
    assert.equal(unsure.judgeUsage.verdictsAtRisk, undefined);
  });

  for (const criteria of [{ [METRIC]: { threshold: 0.5 } }, RUBRIC_CRITERIA])
    test(`what is asked and found does not depend on the order in which replies arrive (${Object.keys(criteria)})`, async () => {
      const of = async (concurrency, delayMs) => {
        const asked = [];
        const judge = judgeOf(0.95, { delayMs, asked });
        const found = await evaluate(requestOf(50, { judge, earlyStop: { risk: 0.05 }, concurrency, criteria }));
        return { asked: asked.sort(), verdicts: verdicts(found), samples: samplesOf(found), stamp: found.judges };
      };
      const one = await of(1, () => 0);
      for (const seed of [1, 2]) {
        const random = createRandom(seed);
        assert.deepEqual(await of(16, () => random.next() * 6), one);
      }
    });

  for (const criteria of [{ [METRIC]: { threshold: 0.5 } }, RUBRIC_CRITERIA])
    test(`an evaluation that goes on from a journal asks and finds the same, wherever it was cut off (${Object.keys(criteria)})`, async () => {
      const request = (more) =>
        requestOf(40, { earlyStop: { risk: 0.05 }, concurrency: 4, seed: 1, criteria, ...more });
      const gist = (found) => JSON.stringify([verdicts(found), samplesOf(found), found.judges, found.judgeUsage]);
      const whole = [];
      const expected = gist(await evaluate(request({ judge: named(judgeOf(0.9, { asked: whole })) })));
      for (const stopAfter of [5, 30, 66, 80, 95]) {
        const { begin } = journalInMemory();
        const asked = [];
        const controller = new AbortController();
        const judge = judgeOf(0.9, { asked });
        const counting = named(judge, () => asked.length >= stopAfter && controller.abort());
        await evaluate(request({ judge: counting, journal: begin(), signal: controller.signal }));
        assert.ok(asked.length < whole.length, `${stopAfter}`);
        const found = await evaluate(request({ judge: counting, journal: begin() }));
        assert.equal(gist(found), expected, `cut off after ${stopAfter}`);
      }
    });

  test("the rubrics of a question have to be settled all of them", async () => {
    const request = (earlyStop) => requestOf(60, { judge: judgeOf(0.98), earlyStop, criteria: RUBRIC_CRITERIA });
    const [exact, all, risky] = [
      await evaluate(request("exact")),
      await evaluate(request("none")),
      await evaluate(request({ risk: 0.05 })),
    ];
    assert.deepEqual(verdicts(exact), verdicts(all));
    assert.ok(risky.judgeUsage.calls < exact.judgeUsage.calls, `${risky.judgeUsage.calls} ${exact.judgeUsage.calls}`);
    const flips = verdicts(risky).filter((score, at) => score !== verdicts(all)[at]).length;
    assert.ok(flips <= 6, `${flips}`);
  });

  test("a rubric that is decided is left out of later samples, whatever these say of it", async () => {
    const asked = [];
    const judge = ({ prompt, sampleIndex, responseSchema }) => {
      const listed = Object.keys(responseSchema.properties.rubrics.properties);
      assert.deepEqual(
        RUBRIC_IDS.filter((id) => prompt.includes(`It is ${id}.`)),
        listed,
      );
      asked[sampleIndex] = listed;
      // Samples disagree on one rubric alone. Those that are asked about it alone speak against the others.
      const verdict = (id) => ((id === "brief" ? sampleIndex % 2 === 0 : listed.includes(id)) ? "yes" : "no");
      const found = RUBRIC_IDS.map((id) => [id, { rationale: `${sampleIndex}`, verdict: verdict(id) }]);
      return JSON.stringify({ rubrics: Object.fromEntries(found) });
    };
    const { evalCaseResults } = await evaluate({
      ...requestOf(1, { judge, earlyStop: { risk: 0.1, prior: { positive: 1, negative: 1 } } }),
      criteria: {
        [RUBRICS]: { ...RUBRIC_CRITERIA[RUBRICS], judgeModelOptions: { judgeModel: "m", numSamples: 9 } },
      },
    });
    const [{ evalMetricResults }] = evalCaseResults[0].evalMetricResultPerInvocation;
    const [{ explanation, details }] = evalMetricResults;
    const first = asked.findIndex(({ length }) => length < RUBRIC_IDS.length);
    assert.ok(first > 1 && first < explanation.samples.asked, JSON.stringify(asked));
    assert.ok(asked.slice(first).every((listed) => listed.length === 1 && listed[0] === "brief"));
    assert.deepEqual(
      explanation.rubrics.map(({ yes, no }) => [yes, no]),
      [first, asked.length / 2, first].map((yes) => [Math.ceil(yes), yes === first ? 0 : Math.floor(yes)]),
    );
    assert.deepEqual(
      details.rubricScores.map(({ score }) => score),
      [1, 1, 1],
    );
  });

  test("a run that is cancelled, or whose judge fails, ends with what it has", { timeout: 20_000 }, async () => {
    const refused = await evaluate(
      requestOf(40, {
        judge: () => Promise.reject(Object.assign(new Error("no such model"), { status: 404 })),
        earlyStop: { risk: 0.05 },
      }),
    );
    assert.ok(verdicts(refused).every((score) => score === undefined));
    const controller = new AbortController();
    const judge = judgeOf(1);
    let count = 0;
    const counting = (question, options) => ((count += 1) === 10 ? controller.abort() : 0, judge(question, options));
    const cut = await evaluate(
      requestOf(40, { judge: counting, earlyStop: { risk: 0.05 }, signal: controller.signal, concurrency: 2 }),
    );
    assert.equal(cut.evalCaseResults.length, 40);
    const budget = await evaluate(requestOf(40, { judge, earlyStop: { risk: 0.05 }, budget: { calls: 25 } }));
    assert.equal(budget.judgeUsage.calls, 25);
    const results = [];
    for await (const one of evaluateStream(requestOf(40, { judge, earlyStop: { risk: 0.05 } }))) {
      results.push(one.evalId);
      if (results.length === 15) break;
    }
    assert.equal(results.length, 15);
  });

  test("reports say which verdicts rest on it, and what it saved", async () => {
    const found = await evaluate(requestOf(30, { judge: judgeOf(1), earlyStop: { risk: 0.1 } }));
    const saved = found.judgeUsage.savedAtRisk;
    const said = new RegExp(
      `samples saved by early stopping \\(at least ${saved} of them at a risk of 10%, for 10 verdicts\\)`,
    );
    assert.match(renderTable(found, { width: 300 }), said);
    assert.match(renderTable(found, { width: 300, details: true }), /risk that all samples would decide otherwise: \d/);
    const html = renderHtml(found);
    assert.match(html, new RegExp(`at least ${saved} of them at a risk of 10%, for 10 verdicts`));
    assert.match(html, /risk that all samples would decide otherwise: \d/);
    const [header, ...rows] = renderCsv(found).trim().split("\r\n");
    const risks = rows.map((row) => Number(row.split(",")[header.split(",").indexOf("judgeRisk")]));
    const ofTurns = risks.filter((risk) => risk > 0);
    assert.equal(ofTurns.length, 10);
    assert.ok(ofTurns.every((risk) => risk < 0.1));
    const certain = await evaluate(requestOf(30, { judge: judgeOf(1) }));
    assert.doesNotMatch(renderCsv(certain), /judgeRisk/);
    assert.match(renderJUnit(found), /<property name="judgeVerdictsAtRisk" value="10"\/>/);
    assert.equal(renderJUnit(found).match(/<property name="judgeRisk" value="0\.0\d+"\/>/g).length, 10);
    const named = (markdown) => /^Verdicts that rest on a risk&#58; (.*)$/m.exec(markdown)[1].split(", ");
    assert.equal(named(renderMarkdown(found)).length, 10);
    assert.match(
      named(renderMarkdown(found))[0],
      /^case-2\d final&#95;response&#95;match&#95;v2 &#40;\d\.\d&#37;&#41;$/,
    );
    assert.match(named(renderMarkdown(found, { maxRows: 3 }))[2], / and 7 more$/);
    assert.match(renderJUnit(found), new RegExp(`<property name="judgeSamplesSavedAtRisk" value="${saved}"/>`));
  });

  test("an estimate counts what it saves", async () => {
    const [exact] = await estimateCalls(requestOf(60, { judge: judgeOf(1) }));
    const [risky] = await estimateCalls(requestOf(60, { judge: judgeOf(1), earlyStop: { risk: 0.05 } }));
    assert.deepEqual([exact.least.calls, exact.most.calls, risky.most.calls], [180, 300, 300]);
    assert.ok(risky.least.calls < exact.least.calls && risky.likely.calls < exact.likely.calls);
  });
});

test("exact and none are what true and false are", async () => {
  const of = async (earlyStop) => (await evaluate(requestOf(4, { judge: judgeOf(1), earlyStop }))).judgeUsage;
  assert.deepEqual(await of("exact"), await of(true));
  assert.deepEqual(await of("none"), await of(false));
  assert.deepEqual([(await of("exact")).calls, (await of("none")).calls], [12, 20]);
});

for (const [earlyStop, message, path = "earlyStop"] of [
  [0.01, /expected true, false, "exact", "none" or \{ risk: 0.01 \}/],
  ["sometimes", /expected true, false, "exact"/],
  [{}, /expected a number above 0, at most 0.5/, "earlyStop: risk"],
  [{ risk: 0 }, /at most 0.5, found 0/, "earlyStop: risk"],
  [{ risk: 0.9 }, /at most 0.5/, "earlyStop: risk"],
  [{ risk: Number.NaN }, /at most 0.5/, "earlyStop: risk"],
  [{ rsik: 0.1 }, /there is no `rsik` here/],
  [{ risk: 0.1, prior: { positive: 1 } }, /expected a number above 0/, "earlyStop: prior: negative"],
  [{ risk: 0.1, prior: { positive: 1, negative: -1 } }, /above 0/, "earlyStop: prior: negative"],
  [{ risk: 0.1, prior: { alpha: 1 } }, /there is no `alpha` here/, "earlyStop: prior"],
]) {
  test(`${JSON.stringify(earlyStop)} is refused`, async () => {
    await assert.rejects(evaluate(requestOf(1, { judge: judgeOf(1), earlyStop })), {
      code: "invalid_input",
      message,
      path,
    });
  });
}
