// Judges that the command line cannot reach, or that fail in some of their calls.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../providers/server.mjs";
import { BARE, CLOCK, folderOf, run } from "./command.mjs";
import { at, fair, FILES, judge, judged, KEY, MODELS, server, statuses } from "./judging.mjs";

test("exits with 3 if Vertex AI's service gives no score", async (t) => {
  const answering = await server(t, { reply: () => ({ fault: "forbidden" }) });
  const cwd = folderOf(t, { ...CLOCK, "test_config.json": { criteria: { safety_v1: 0.8 } } });
  const { status, stderr } = await judge(cwd, ["--judge", "vertex"], at.vertex(answering));
  assert.match(stderr, /^error: no call of the judge got a reply: The server at 127\.0\.0\.1:\d+ answered 403/m);
  assert.equal(status, 3);
});

test("a judge that is down decides no exit status where its metric is advisory", async (t) => {
  const answering = await server(t, { reply: () => ({ fault: "auth" }) });
  const cwd = folderOf(t, { ...FILES, "test_config.json": judged({}, { response_match_score: 0 }) });
  const advised = ["--advisory", "final_response_match_v2", "--journal", "run.jsonl"];
  const { status, stdout, stderr } = await judge(cwd, advised, at.gemini(answering));
  assert.deepEqual([status, statuses(stdout)], [0, { noon: 1, late: 1 }], stderr);
  assert.match(stderr, /^warning: `final_response_match_v2` has no verdict in 2 of 2 case results: .*401/m);
  assert.doesNotMatch(stderr, /^error/m);
  const merged = await run(["merge", "run.jsonl"], { cwd });
  assert.equal(merged.status, 0, merged.stderr);
  const decided = await judge(cwd, [], at.gemini(answering));
  assert.equal(decided.status, 3);
});

test("exits with 3 if only the judge of an advisory metric replied, and says whose judge did not", async (t) => {
  const own = `export default ({ metricName }) => {
  if (metricName === "final_response_match_v2") throw new Error("no key");
  return "Property: It is short.\\nRationale: It is.\\nVerdict: yes";
};`;
  const rubric = { rubric_id: "short", rubric_content: { text_property: "It is short." } };
  const rubrics = { rubrics: [rubric], threshold: 0.5, judge_model_options: { num_samples: 1 } };
  const criteria = judged({}, { rubric_based_final_response_quality_v1: rubrics });
  const cwd = folderOf(t, { ...FILES, "own.mjs": own, "test_config.json": criteria });
  const given = ["--judge", "./own.mjs", "--advisory", "rubric_based_final_response_quality_v1"];
  const { status, stderr } = await judge(cwd, given);
  assert.equal(status, 3, stderr);
  assert.match(stderr, /^error: no call of the judge for a metric that decides got a reply: /m);
});

/** Ways in which a judge cannot be reached, and what is said of it. */
const UNREACHED = {
  "the key is wrong": ["auth", /no call of the judge got a reply: .*401/],
  "the key has no permission": ["forbidden", /no call of the judge got a reply: .*403/],
  "there is no such model": ["not_found", /no call of the judge got a reply: .*404/],
};

for (const [what, [fault, words]] of Object.entries(UNREACHED)) {
  test(`exits with 3 if ${what}, and never prints the key`, async (t) => {
    const answering = await server(t, { reply: () => ({ fault, message: `The key ${KEY} is not welcome` }) });
    for (const provider of Object.keys(at)) {
      const args = ["--judge", provider, "--model", MODELS[provider], "--explain", "all"];
      const { status, stdout, stderr } = await judge(folderOf(t, FILES), args, at[provider](answering));
      assert.match(stderr, words, provider);
      assert.equal(status, 3, provider);
      assert.deepEqual(statuses(stdout), { noon: 3, late: 3 });
      if (provider !== "ollama") assert.doesNotMatch(stdout + stderr, new RegExp(KEY), provider);
    }
  });
}

test("names a server that is not the provider's own, and the variable of its address", async (t) => {
  const answering = await server(t, { reply: () => ({ fault: "not_found" }) });
  const { stderr } = await judge(folderOf(t, FILES), ["--judge", "openai", "--model", "m"], at.openai(answering));
  assert.match(stderr, /^error: no call of the judge got a reply: The server at 127\.0\.0\.1:\d+ answered 404/m);
  assert.match(stderr, /help: .* that OPENAI_BASE_URL ends with the version/);
});

test("counts only the sample that was refused as without a reply, the others as not asked", async (t) => {
  const answering = await server(t, { reply: () => ({ fault: "auth" }) });
  const cwd = folderOf(t, { ...FILES, "test_config.json": judged({ num_samples: 5 }) });
  const { stdout } = await judge(cwd, ["--concurrency", "1"], at.gemini(answering));
  const { calls, lost, unsent } = JSON.parse(stdout).judgeUsage;
  assert.deepEqual([calls, lost - unsent], [1, 1]);
  assert.ok(unsent > 0);
});

test("exits with 3 if nobody is there, without trying for minutes", async (t) => {
  const gone = await startServer();
  await gone.close();
  const config = judged({ num_samples: 1 }, { response_match_score: 0.5 });
  const cwd = folderOf(t, { ...FILES, "test_config.json": config });
  const { status, stdout, stderr } = await judge(cwd, [], at.gemini(gone));
  assert.equal(status, 3);
  assert.match(stderr, /no call of the judge got a reply: .*ECONNREFUSED/);
  // Results name the variable as well: a command has no `baseUrl`.
  assert.match(stdout, /Check the network, the proxy and GOOGLE_GEMINI_BASE_URL/);
  assert.doesNotMatch(stdout + stderr, /baseUrl/);
  // As in google-adk, a metric without a result leaves the status of a case to the others.
  assert.deepEqual(statuses(stdout), { noon: 1, late: 2 });
});

test("exits with 1 if some calls get a reply", async (t) => {
  const reply = (asked) => (asked.prompt.includes("I do not know.") ? { fault: "bad_request" } : fair(asked));
  const answering = await server(t, { reply });
  const { status, stdout } = await judge(folderOf(t, FILES), [], at.gemini(answering));
  assert.equal(status, 1);
  assert.deepEqual(statuses(stdout), { noon: 1, late: 3 });
});

test("exits with 1 if only results of the judge are missing", async (t) => {
  const reply = (asked) => (asked.index === 0 ? fair(asked) : { fault: "bad_request" });
  const answering = await server(t, { reply });
  const config = judged({}, { response_match_score: 0 });
  const cwd = folderOf(t, { ...FILES, "test_config.json": config });
  const { status, stdout, stderr } = await judge(cwd, ["--concurrency", "1"], at.gemini(answering));
  assert.deepEqual(statuses(stdout), { noon: 1, late: 1 });
  assert.match(stderr, /^warning: `final_response_match_v2` has no verdict in 1 of 2 case results: /m);
  assert.equal(status, 1);
  const again = await server(t, { reply });
  const strict = await judge(cwd, ["--concurrency", "1", "--strict"], at.gemini(again));
  assert.match(strict.stderr, /^--strict: there are warnings, so the exit status is 2$/m);
  assert.equal(strict.status, 2);
});

test("exits with 1 if a reply cannot be read on one turn of a case that passes by the others, and says which", async (t) => {
  const turn = (asked, answer) => ({
    userContent: { role: "user", parts: [{ text: asked }] },
    finalResponse: { role: "model", parts: [{ text: answer }] },
  });
  const conversation = [turn("What time is it?", "It is noon."), turn("And now?", "It is late.")];
  const set = { evalSetId: "clock", evalCases: [{ evalId: "talk", conversation }] };
  const judging = `export default ({ prompt }) =>
    prompt.includes("And now?") ? "It is wrong." : '{"is_the_agent_response_valid": "valid"}';`;
  const files = { "clock.evalset.json": set, "clock.actual.json": set, "judge.mjs": judging };
  const cwd = folderOf(t, { ...files, "test_config.json": judged({ num_samples: 1 }) });
  const { status, stdout } = await run(["eval", "clock.evalset.json", "--judge", "./judge.mjs"], {
    cwd,
    env: BARE,
  });
  assert.match(
    stdout.replaceAll(/\s+/g, " "),
    /1 passed warning: .* has no verdict on turn 2 of talk, which does not count: no reply/,
  );
  assert.equal(status, 1);
});
