// Replies that give no vote, and samples that nobody is asked for: counted, and said beside the verdicts of the others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "../package/support/package.mjs";

const { evaluate } = await importEntry();
const { renderTable } = await importEntry("./report");

const NONE = { get: () => Promise.resolve(undefined), set: () => Promise.resolve() };
const GREETED = [{ userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } }];

/** Five cases, judged by `final_response_match_v2` with five samples each. */
async function greetings(judge, options) {
  const evalCases = Array.from({ length: 5 }, (_, at) => ({ evalId: `c${at}`, conversation: GREETED }));
  const [evalSet, actual] = ["s", "s"].map((evalSetId) => ({ evalSetId, evalCases }));
  const result = await evaluate({
    evalSet,
    actual,
    criteria: { final_response_match_v2: 0.5 },
    judge,
    cache: NONE,
    retry: { attempts: 1 },
    ...options,
  });
  return { result, judged: /^judged by .*$/m.exec(renderTable(result, { width: 400 }))[0] };
}

test("replies that cannot be read are counted beside the verdict of the others, with a warning from a fifth on", async () => {
  for (const [every, answered, unread, isWarned] of [
    [1000, 15, 0, false],
    [6, 17, 2, false],
    [3, 20, 6, true],
  ]) {
    let asked = 0;
    const judge = async () =>
      (asked += 1) % every === 0 ? "I am not sure, sorry." : '{"is_the_agent_response_valid": "valid"}';
    const { result, judged } = await greetings(judge, { concurrency: 1 });
    assert.ok(result.evalCaseResults.every(({ finalEvalStatus }) => finalEvalStatus === 1));
    assert.deepEqual([result.judgeUsage.answered, result.judgeUsage.unread ?? 0], [answered, unread]);
    const warning = `${unread} of ${answered} replies of the judges could not be read; verdicts rest on the others`;
    const warned = (result.warnings ?? []).map(({ message }) => message);
    assert.equal(warned.includes(warning), isWarned, warned.join("\n"));
    assert.equal(judged.includes(`, ${unread} unreadable replies,`), unread > 0, judged);
  }
});

test("samples that are not asked any more once a judge fails are counted", async () => {
  const judge = async () => {
    throw new Error("down");
  };
  const { result, judged } = await greetings(judge, { concurrency: 1 });
  const { asked, calls, lost, unsent } = result.judgeUsage;
  assert.deepEqual([asked, calls, lost, unsent], [25, 15, 25, 10]);
  assert.match(judged, /: 15 calls, 15 samples without a reply, 10 samples not asked$/);
});
