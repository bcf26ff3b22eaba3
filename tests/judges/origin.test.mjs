// The origin of a judge's server is known without sending a request.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "../package/support/package.mjs";

const { anthropicJudge, geminiJudge, judgeOrigin, ollamaJudge, openaiJudge, vertexJudge } = await importEntry();

test("the origin of a judge is its provider's, or that of the address that it was given", () => {
  const fetch = () => assert.fail("nothing is to be sent");
  const token = () => assert.fail("no token is needed");
  for (const [judge, origin] of [
    [geminiJudge({ apiKey: "k", fetch }), "https://generativelanguage.googleapis.com"],
    [anthropicJudge({ apiKey: "k", fetch }), "https://api.anthropic.com"],
    [openaiJudge({ apiKey: "k", fetch }), "https://api.openai.com"],
    [openaiJudge({ baseUrl: "http://127.0.0.1:1234/v1?code=secret", fetch }), "http://127.0.0.1:1234"],
    [openaiJudge({ baseUrl: "https://example.com?code=secret", api: "responses", fetch }), "https://example.com"],
    [ollamaJudge({ fetch }), "http://127.0.0.1:11434"],
    [vertexJudge({ apiKey: "k", fetch }), "https://aiplatform.googleapis.com"],
    [
      vertexJudge({ project: "p", location: "us-central1", accessToken: token, fetch }),
      "https://us-central1-aiplatform.googleapis.com",
    ],
  ]) {
    assert.equal(judgeOrigin(judge), origin);
  }
});

test("where a function of the user's own sends questions is not known", () => {
  assert.equal(
    judgeOrigin(() => assert.fail("it is not to be asked")),
    undefined,
  );
});
