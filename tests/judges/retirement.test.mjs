// The warning about a model that its provider replaces by another one, before and after the day on which it does.

import assert from "node:assert/strict";
import { after, before, describe, mock, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { ACTUAL, criteriaOf, EVAL_SET, fair } from "./trip.mjs";

const { estimateCalls, evaluate, geminiJudge, panelJudge, recordJudge, replayJudge } = await importEntry();

const METRIC = "final_response_match_v2";

/** Answers as the Gemini API does. */
async function answer(_url, { body }) {
  const { contents } = JSON.parse(new TextDecoder().decode(await new Response(body).arrayBuffer()));
  const text = fair({ prompt: contents[0].parts[0].text });
  return Response.json({ candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP" }] });
}

const gemini = (options = {}) => geminiJudge({ apiKey: "key-4711", fetch: answer, ...options });

/** The warnings about the model of a judge. */
async function warningsOf(judge, options = { num_samples: 1 }) {
  const criteria = { ...criteriaOf([METRIC], options), ...criteriaOf(["safety_v1"], options) };
  const { warnings = [] } = await evaluate({ evalSet: EVAL_SET, actual: ACTUAL, criteria, judge });
  return warnings.map(({ message }) => message).filter((message) => / retire[sd] /.test(message));
}

const SET = "to choose another model, set the judge's `model`, the criterion's `judge_model` or --model";
const TIMES = {
  "before the day": {
    now: Date.UTC(2026, 10, 30, 23, 59, 59),
    expected: `the Gemini API retires gemini-2.5-flash on 1 December 2026: from then on gemini-3.5-flash-lite answers in its place, at its own prices, and verdicts may change; ${SET}`,
  },
  "from that day on": {
    now: Date.UTC(2026, 11, 1),
    expected: `the Gemini API retired gemini-2.5-flash on 1 December 2026: since then gemini-3.5-flash-lite answers in its place, at its own prices, and verdicts may change; ${SET}`,
  },
};

for (const [when, { now, expected: EXPECTED }] of Object.entries(TIMES)) {
  describe(`a model that the provider replaces, ${when}`, () => {
    before(() => mock.timers.enable({ apis: ["Date"], now }));
    after(() => mock.timers.reset());

    test("is warned of once, where it is the default", async () => {
      assert.deepEqual(await warningsOf(gemini()), [EXPECTED]);
    });

    test("is warned of where the criterion or the judge names it", async () => {
      const named = { num_samples: 1, judge_model: "gemini-2.5-pro" };
      const [warning] = await warningsOf(gemini(), named);
      assert.match(warning, /gemini-2\.5-pro.*gemini-3\.8-flash/);
      assert.deepEqual(await warningsOf(gemini({ model: "models/gemini-2.5-flash" })), [EXPECTED]);
    });

    test("is warned of through a recording, but not where replies are there already", async () => {
      const lines = [];
      const recording = recordJudge(gemini(), { write: (line) => lines.push(line) });
      assert.deepEqual(await warningsOf(recording), [EXPECTED]);
      assert.deepEqual(await warningsOf(replayJudge(lines.join("\n"))), []);
    });

    test("is warned of where a judge of a panel asks it", async () => {
      const panel = panelJudge([gemini({ model: "gemini-3.5-flash-lite" }), gemini({ model: "gemini-2.5-flash" })]);
      assert.deepEqual(await warningsOf(panel), [EXPECTED]);
    });

    test("is told before anything is paid for", async () => {
      const criteria = criteriaOf([METRIC], { num_samples: 1 });
      const request = { evalSet: EVAL_SET, actual: ACTUAL, criteria };
      for (const judge of [gemini(), panelJudge([gemini({ model: "gemini-2.5-flash" }), gemini({ model: "other" })])]) {
        const rows = await estimateCalls({ ...request, judge });
        assert.ok(rows.every(({ retirement }) => retirement === EXPECTED));
      }
      const [row] = await estimateCalls({ ...request, judge: gemini({ model: "other" }) });
      assert.equal(row.retirement, undefined);
    });

    test("is nobody's else: other models, other providers, servers of one's own", async () => {
      assert.deepEqual(await warningsOf(gemini({ model: "gemini-3.5-flash-lite" })), []);
      assert.deepEqual(await warningsOf(gemini({ baseUrl: "https://models.example" })), []);
      assert.deepEqual(await warningsOf(async (asked) => fair(asked)), []);
    });
  });
}
