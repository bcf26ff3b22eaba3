// Which judge is asked: the one of the options, else the default, else one of the environment.

import assert from "node:assert/strict";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { judgeOf, provideEnvironment, setDefaultJudge } from "../../../pkg-template/src/judges/default.js";
import { parseDotenv, readDotenv } from "../../../pkg-template/src/judges/dotenv.js";
import { endpointOf } from "../../../pkg-template/src/judges/endpoint.js";
import { judgeFromEnvironment } from "../../../pkg-template/src/judges/environment.js";
import type { Judge } from "../../../pkg-template/src/types.js";
import { errorOf } from "./support.js";

const one: Judge = async () => "one";
const two: Judge = async () => "two";

describe("the judge of an evaluation", () => {
  afterEach(() => setDefaultJudge(undefined));

  test("is the one of its options, else the default, else one of the environment", async () => {
    const missing = await errorOf(() => judgeOf({}, "gemini-2.5-flash"));
    assert.equal(missing.code, "judge_required");
    assert.match(missing.message, /gemini-2\.5-flash/);
    assert.match(missing.help ?? "", /setDefaultJudge/);

    const asked: string[] = [];
    provideEnvironment((model) => (asked.push(model), two));
    assert.equal(judgeOf({}, "gemini-2.5-flash"), two);
    setDefaultJudge(one);
    assert.equal(judgeOf({}, "m"), one);
    assert.equal(judgeOf({ judge: two }, "m"), two);
    setDefaultJudge(undefined);
    assert.equal(judgeOf({}, "m"), two);
    assert.deepEqual(asked, ["gemini-2.5-flash", "m"]);
  });

  test("is a function", async () => {
    for (const judge of [null, {}, "gemini"]) {
      assert.equal((await errorOf(() => judgeOf({ judge: judge as never }, "m"))).path, "judge");
      assert.equal((await errorOf(() => setDefaultJudge(judge as never))).path, "judge");
    }
  });
});

describe("the environment", () => {
  const cases: [string, Record<string, string>, object][] = [
    [
      "gemini-2.5-flash",
      { GOOGLE_API_KEY: " google \n", GEMINI_API_KEY: "g" },
      { provider: "gemini", apiKey: "google" },
    ],
    ["gemini-2.5-flash", { GOOGLE_API_KEY: "", GEMINI_API_KEY: "g" }, { apiKey: "g", model: "gemini-2.5-flash" }],
    ["gemma-3-27b-it", { GEMINI_API_KEY: "g" }, { provider: "gemini" }],
    ["models/gemini-2.5-pro", { GEMINI_API_KEY: "g" }, { model: "gemini-2.5-pro" }],
    ["gpt-4.1-mini", { OPENAI_API_KEY: "o" }, { provider: "openai", apiKey: "o" }],
    ["o3", { OPENAI_API_KEY: "o", OPENAI_BASE_URL: "http://h/v1/" }, { provider: "openai", baseUrl: "http://h/v1" }],
    ["openai/gpt-oss-20b", { OPENAI_BASE_URL: "http://h/v1" }, { provider: "openai", model: "gpt-oss-20b" }],
    ["claude-sonnet-4-5", { ANTHROPIC_API_KEY: "a" }, { provider: "anthropic", apiKey: "a" }],
    [
      "anthropic/claude-x",
      { ANTHROPIC_API_KEY: "a", ANTHROPIC_BASE_URL: "http://h" },
      { model: "claude-x", baseUrl: "http://h" },
    ],
    ["llama3.2", { OLLAMA_HOST: "http://h:1" }, { provider: "ollama", model: "llama3.2", baseUrl: "http://h:1" }],
    ["orca-mini", { OLLAMA_HOST: "h" }, { provider: "ollama", baseUrl: "http://h:11434" }],
    ["llama3.2", { OLLAMA_HOST: "0.0.0.0:1" }, { baseUrl: "http://127.0.0.1:1" }],
    ["llama3.2", { OLLAMA_HOST: ":1" }, { baseUrl: "http://127.0.0.1:1" }],
    ["llama3.2", { OLLAMA_HOST: "https://h/ollama/" }, { baseUrl: "https://h/ollama" }],
    ["llama3.2", { OLLAMA_HOST: "[::1]" }, { baseUrl: "http://[::1]:11434" }],
    ["ollama_chat/gpt-oss:20b", { OPENAI_API_KEY: "o" }, { provider: "ollama", model: "gpt-oss:20b" }],
    ["qwen3", { OPENAI_BASE_URL: "http://h/v1" }, { provider: "openai", model: "qwen3" }],
  ];
  for (const [model, environment, expected] of cases) {
    test(`gives a judge for ${model} from ${Object.keys(environment).join(" and ")}`, async () => {
      const settings = await endpointOf(judgeFromEnvironment(model, environment))?.settings();
      assert.deepEqual({ ...settings, ...expected }, settings);
    });
  }

  for (const [model, variables] of [
    ["gemini-2.5-flash", /GOOGLE_API_KEY or GEMINI_API_KEY/],
    ["gpt-5", /OPENAI_API_KEY/],
    ["o4-mini", /OPENAI_API_KEY/],
    ["claude-x", /ANTHROPIC_API_KEY/],
    ["llama3.2", /OLLAMA_HOST/],
    ["", /OLLAMA_HOST/],
  ] as const) {
    test(`is missed for ${model || "no model"} by the names of its variables`, async () => {
      const error = await errorOf(() => judgeFromEnvironment(model, { GOOGLE_API_KEY: " " }));
      assert.equal(error.code, "judge_required");
      assert.match(error.help ?? "", variables);
    });
  }
});

describe("a .env file", () => {
  test("is read as others read it", () => {
    const text = [
      "\ufeff# keys",
      "PLAIN=value",
      " export  SPACED =  two words  ",
      "EMPTY=",
      "COMMENTED=value # not part of it",
      "HASH=a#b",
      'DOUBLE="say \\"hi\\"\\n# and\\\\ more" # comment',
      "SINGLE='as \\n it is # here'",
      'LINES="first',
      'second"',
      "WINDOWS=value\r",
      "no line of it",
      "=nor this",
      "PLAIN=last wins",
      "__proto__=safe",
      "URL=https://h/v1?a=b#c",
    ].join("\n");
    const variables = parseDotenv(text);
    assert.deepEqual(Object.entries(variables), [
      ["PLAIN", "last wins"],
      ["SPACED", "two words"],
      ["EMPTY", ""],
      ["COMMENTED", "value"],
      ["HASH", "a#b"],
      ["DOUBLE", 'say "hi"\n# and\\ more'],
      ["SINGLE", "as \\n it is # here"],
      ["LINES", "first\nsecond"],
      ["WINDOWS", "value"],
      ["__proto__", "safe"],
      ["URL", "https://h/v1?a=b#c"],
    ]);
  });

  test("may hold values of any length", () => {
    const long = "x\\n".repeat(3_000_000);
    for (const quote of ['"', "'", ""]) {
      const { LONG, KEY } = parseDotenv(`LONG=${quote}${long}${quote}\nKEY=k`);
      assert.equal(LONG?.length, quote === '"' ? 6_000_000 : 9_000_000);
      assert.equal(KEY, "k");
    }
  });

  test("may repeat anything a million times: what took more than linear time would not end", () => {
    for (const part of ["A=", 'A="', "A= ", "#", "A=#", " ", 'A="\\']) {
      assert.ok(Object.keys(parseDotenv(part.repeat(1_000_000))).length <= 1, part);
    }
  });

  test("gives what judges need, and nothing that acts on other programs", () => {
    const text =
      "OPENAI_API_KEY=k\nGEMINI_API_KEY=\nLD_PRELOAD=./evil.so\nOPENAI_ORG=o\nHTTPS_PROXY=p\nPORT=1\n__proto__=x\n";
    const read = (file: string) => (file === join("f", ".env") ? new TextEncoder().encode(text) : undefined);
    assert.deepEqual(readDotenv("f", read), {
      file: join("f", ".env"),
      variables: { OPENAI_API_KEY: "k" },
      ignored: ["LD_PRELOAD", "OPENAI_ORG", "HTTPS_PROXY"],
      others: ["PORT", "__proto__"],
    });
    assert.equal(readDotenv("g", read), undefined);
  });
});
