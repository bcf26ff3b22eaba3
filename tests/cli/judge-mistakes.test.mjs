// What is missing or wrong about judges is said before anything is asked.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BARE, evalSet, folderOf, GOOD, run } from "./command.mjs";
import { FILES, judge, judged, KEY } from "./judging.mjs";

/** No program but Node is on this path: no `gcloud`. */
const NO_PATH = { PATH: "/nowhere" };

/** What is missing or wrong, by arguments and environment; and the words on stderr. */
const MISTAKES = {
  "no key for the criteria's model": [
    [],
    {},
    /error: there is no judge to ask gemini-2\.5-flash\n {3}at test_config\.json, criteria\.final_response_match_v2\n {3}help: Set GOOGLE_API_KEY or GEMINI_API_KEY, in the environment or in a \.env file; or choose/,
  ],
  "no key for the model": [
    ["--model", "gpt-4.1"],
    {},
    /no judge to ask gpt-4\.1\n.*\n {3}help: Set OPENAI_API_KEY, or/,
  ],
  "no key for gemini": [
    ["--judge", "gemini"],
    {},
    /--judge gemini needs an API key\n.*\n {3}help: Set GOOGLE_API_KEY or/,
  ],
  "no key for openai": [
    ["--judge", "openai", "--model", "x"],
    {},
    /--judge openai needs an API key\n.*\n.*OPENAI_API_KEY/,
  ],
  "no key for anthropic": [["--judge", "anthropic", "--model", "x"], {}, /help: Set ANTHROPIC_API_KEY, in/],
  "no project for vertex": [
    ["--judge", "vertex"],
    {},
    /Vertex AI needs GOOGLE_CLOUD_PROJECT, or GOOGLE_API_KEY in express/,
  ],
  "no token for vertex": [
    ["--judge", "vertex"],
    { GOOGLE_CLOUD_PROJECT: "p", ...NO_PATH },
    /Vertex AI needs a token: GOOGLE_OAUTH_ACCESS_TOKEN or .* is not set, and `gcloud` gave none\n {3}help: Log in/,
  ],
  "a model of another provider": [
    ["--judge", "anthropic"],
    { ANTHROPIC_API_KEY: KEY },
    /--judge anthropic cannot ask gemini-2\.5-flash, .*\n {3}help: Choose a model with --model, or in the config/,
  ],
  "an address that is none": [
    ["--judge", "openai", "--model", "x"],
    { OPENAI_BASE_URL: "localhost:1234" },
    /error: the address .*\n {3}at OPENAI_BASE_URL\n/,
  ],
  "an address without http": [
    ["--judge", "openai", "--model", "x"],
    { OPENAI_BASE_URL: "127.0.0.1:9/v1" },
    /error: the address has to begin with https:\/\/ or http:\/\/\n {3}at OPENAI_BASE_URL\n/,
  ],
  "a key that is none": [
    ["--judge", "gemini"],
    { GOOGLE_API_KEY: "zwei Wörter" },
    /error: expected a key, .*\n {3}at GOOGLE_API_KEY or GEMINI_API_KEY\n/,
  ],
  "an unknown judge": [["--judge", "opena1"], {}, /--judge cannot be `opena1`\n {3}help: Did you mean `openai`\?/],
  "a judge that resembles none": [["--judge", "x"], {}, /help: Expected one of gemini, .*, replay:<file>/],
  "a recording without a name": [
    ["--judge", "replay:"],
    {},
    /--judge replay needs a recording\n {3}help: --judge replay:<file>/,
  ],
  "a recording that is given as a module": [
    ["--judge", "replies/judge.jsonl"],
    {},
    /--judge replies\/judge\.jsonl is not a module\n {3}help: For a recording: --judge replay:replies\/judge\.jsonl/,
  ],
  "a recording that does not exist": [
    ["--judge", "replay:no.jsonl"],
    {},
    /the recording does not exist\n {3}at no\.jsonl/,
  ],
  "a recording that is none": [["--judge", "replay:clock.evalset.json"], {}, /at clock\.evalset\.json:1\n/],
  "a model for a recording": [
    ["--judge", "replay:r", "--model", "m"],
    {},
    /--model has no effect on a recording, which already contains its replies/,
  ],
  "a recording of a recording": [
    ["--judge", "replay:r", "--record", "s"],
    {},
    /--record would record replies that are already recorded/,
  ],
  "a recording that is there": [
    ["--record", "clock.evalset.json"],
    {},
    /overwrite the evalset\n {3}at clock\.evalset\.json/,
  ],
  "an old recording": [["--record", "old.jsonl"], {}, /the recording already exists\n {3}at old\.jsonl\n/],
  "a recording among the results": [
    ["--record", "./out.json", "--output", "out.json"],
    {},
    /the results and the recording would go to the same file/,
  ],
  "a recording in place of a folder": [["--record", "."], {}, /error: the output is a folder/],
  "a risk that is none": [
    ["--early-stop", "0"],
    {},
    /--early-stop cannot be `0`\n {3}help: Expected exact, none, or a risk above 0 and at most 0\.5, such as 0\.01/,
  ],
  "no concurrency": [
    ["--concurrency", "0"],
    {},
    /--concurrency cannot be `0`\n {3}help: Expected a whole number from 1 up/,
  ],
};

for (const [what, [args, env, words]] of Object.entries(MISTAKES)) {
  test(`refuses ${what} before anything is asked`, async (t) => {
    const cwd = folderOf(t, { ...FILES, "old.jsonl": "{}\n" });
    const { status, stdout, stderr } = await judge(cwd, args, env);
    assert.match(stderr, words);
    assert.doesNotMatch(stderr, /Wörter/);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.equal(readFileSync(join(cwd, "old.jsonl"), "utf8"), "{}\n");
  });
}

test("says once what is missing for the evalsets of a config, and which config it is", async (t) => {
  const cwd = folderOf(t, { ...FILES, ...GOOD });
  for (const folder of ["other", "unjudged"]) mkdirSync(join(cwd, folder));
  for (const [name, config] of Object.entries({
    other: judged(),
    unjudged: { criteria: { response_match_score: 1 } },
  })) {
    const set = JSON.stringify(evalSet({ noon: "It is noon." }, name));
    for (const kind of ["evalset", "actual"]) writeFileSync(join(cwd, name, `${name}.${kind}.json`), set);
    writeFileSync(join(cwd, name, "test_config.json"), JSON.stringify(config));
  }
  const { stderr } = await run(["eval", "."], { cwd, env: BARE });
  const places = [...stderr.matchAll(/error: there is no judge to ask gemini-2\.5-flash\n {3}at (.*)\n/g)];
  assert.deepEqual(
    places.map(([, place]) => place),
    ["test_config.json, criteria.final_response_match_v2", "other/test_config.json, criteria.final_response_match_v2"],
  );
});
