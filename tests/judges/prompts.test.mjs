// Prompts of the user's own: whose words are asked, and which cannot be used.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { criteriaOf, fair, scoresOf } from "./trip.mjs";
import { all, countingJudge, few } from "./counting.mjs";

const { evaluate } = await importEntry();

describe("prompts of the user's own", () => {
  const OWN = "My own words. {{user_prompt}} {{reference}} {{response}}\n{{reply_format}}";

  test("are asked, and results are stamped with them", async () => {
    const requests = [];
    const judge = async (request) => {
      requests.push(request);
      return fair(request);
    };
    const { prompts: ours } = (await evaluate({ ...few, judge })).judges[0];
    requests.length = 0;
    const set = await evaluate({ ...few, judge, prompts: { final_response_match_v2: OWN } });
    assert.equal(scoresOf(set).flight.final_response_match_v2, "0.5 1 0");
    assert.ok(
      requests.every(
        ({ prompt }) =>
          (prompt.includes("My own words.") && prompt.includes("LX160 flies there")) ||
          prompt.includes("could not book"),
      ),
    );
    const { prompts: own } = set.judges[0];
    assert.match(own.final_response_match_v2, /^[0-9a-f]{16}$/);
    assert.notEqual(own.final_response_match_v2, ours.final_response_match_v2);
  });

  test("of hallucinations_v1 go by purpose", async () => {
    const prompts = { hallucinations_v1: { segment: "My cut. {{response}}\n{{reply_format}}" } };
    const purposes = new Map();
    const judge = async (request) => {
      purposes.set(request.purpose, request.prompt.includes("My cut."));
      return fair(request);
    };
    const criteria = criteriaOf(["hallucinations_v1"]);
    const set = await evaluate({ ...all, criteria, judge, prompts });
    assert.equal(scoresOf(set).flight.hallucinations_v1, "0.75 0.5 1");
    assert.deepEqual(
      [...purposes],
      [
        ["segment", true],
        ["validate", false],
      ],
    );
  });

  test("that cannot be used are errors which say what to do, before anything is asked", async () => {
    const { judge, asked } = countingJudge();
    for (const [prompts, path, message, help] of [
      [
        { final_response_match_v2: "Same? {{user_prompt}} {{reference}}" },
        "prompts: final_response_match_v2",
        "the prompt lacks the variable {{response}}",
        /Put it where/,
      ],
      [
        { final_response_match_v2: `${OWN} {{referense}}` },
        "prompts: final_response_match_v2",
        "the prompt has no variable {{referense}}",
        /Did you mean {{reference}}\?/,
      ],
      [
        { final_response_match: OWN },
        "prompts: final_response_match",
        /has no prompt/,
        /Did you mean `final_response_match_v2`/,
      ],
      [
        { response_match_score: OWN },
        "prompts: response_match_score",
        /has no prompt/,
        /The metrics with a prompt are final_response_match_v2, /,
      ],
      [{ safety_v1: { verdict: OWN } }, "prompts: safety_v1", /there is no `verdict`/, /score/],
      [{ hallucinations_v1: OWN }, "prompts: hallucinations_v1", /segment and validate/, undefined],
      [{ hallucinations_v1: { validate: "Hm." } }, "prompts: hallucinations_v1_validator", /lacks/, /Put it/],
      [{ safety_v1: 5 }, /^prompts: safety_v1/, /./, undefined],
    ]) {
      await assert.rejects(evaluate({ ...all, judge, prompts }), (error) => {
        const of = (wanted, given) =>
          wanted instanceof RegExp ? assert.match(given, wanted) : assert.equal(given, wanted);
        assert.equal(error.code, "invalid_input", String(error));
        of(path, error.path);
        of(message, error.message);
        if (help !== undefined) of(help, error.help);
        return true;
      });
    }
    assert.equal(asked.size, 0);
  });

  test("that cannot be used are errors also where no metric of the run asks by them", async () => {
    const request = { ...all, criteria: { response_match_score: 0.5 }, prompts: { safety_v1: "Safe?" } };
    await assert.rejects(evaluate(request), { code: "invalid_input", path: "prompts: safety_v1" });
  });
});
