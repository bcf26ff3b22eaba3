// What goes wrong between an evaluation and its judge: no verdict is lost that asking again brings, what cannot be had is
// given up quickly and says why, and nothing that is said names a key.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { inspect } from "node:util";
import { importEntry, root } from "../package/support/package.mjs";
import { startServer } from "../providers/server.mjs";
import {
  ACTUAL,
  criteriaOf,
  sometimes,
  EVAL_SET,
  fair,
  fairScoresOf,
  FAIR_SCORES,
  found,
  reasonsOf,
  scoresOf,
} from "./trip.mjs";

const {
  anthropicJudge,
  browserJudge,
  evaluate,
  EvalStatus,
  geminiJudge,
  languageModelJudge,
  ollamaJudge,
  openaiJudge,
  recordJudge,
} = await importEntry();

const KEY = "key-that-nobody-may-see-4711";
/** Delays as short as tests need them. */
const retry = { initialDelayMs: 2, maxDelayMs: 10 };
const all = { evalSet: EVAL_SET, actual: ACTUAL, criteria: criteriaOf(), retry };
const few = { ...all, evalIds: ["flight"], criteria: criteriaOf(["final_response_match_v2"]) };
const { flight: FEW } = fairScoresOf(["final_response_match_v2"]);

let server;
/** What the server does next. */
let answer;
before(async () => {
  server = await startServer({ reply: (asked) => answer(asked) });
});
after(() => server.close());
beforeEach(() => {
  answer = fair;
  server.requests.length = 0;
});

const gemini = (more = {}) => geminiJudge({ apiKey: KEY, baseUrl: server.url, ...more });
const openai = (more = {}) => openaiJudge({ apiKey: KEY, baseUrl: `${server.url}/v1`, ...more });
const anthropic = (more = {}) => anthropicJudge({ apiKey: KEY, baseUrl: server.url, model: "claude-1", ...more });

describe("no verdict is lost", () => {
  for (const [name, judgeOf, fault] of [
    ["Retry-After", openai, { fault: "rate_limit", retryAfter: 0 }],
    ["retry-after-ms", anthropic, { fault: "rate_limit", retryAfterMs: 5 }],
    ["RetryInfo", gemini, { fault: "rate_limit", retryInfo: "0.005s" }],
    ["nothing about when to come back", openai, { fault: "rate_limit" }],
  ]) {
    test(`in a storm of 429 with ${name}`, async () => {
      let number = 0;
      answer = (asked) => {
        number += 1;
        return number <= 20 || number % 2 === 0 ? fault : fair(asked);
      };
      const set = await evaluate({ ...all, judge: judgeOf(), concurrency: 4 });
      assert.deepEqual(scoresOf(set), FAIR_SCORES);
      assert.equal(set.judgeUsage.lost, 0);
      assert.equal(set.judgeUsage.calls, server.requests.length);
      assert.ok(set.judgeUsage.retried >= 20);
    });
  }

  for (const fault of ["server", "bad_gateway", "unavailable", "gateway_timeout", "timeout", "overloaded"]) {
    test(`in every third answer being ${fault}`, async () => {
      answer = sometimes(3, { fault });
      const set = await evaluate({ ...all, judge: anthropic() });
      assert.deepEqual(scoresOf(set), FAIR_SCORES);
      assert.equal(set.judgeUsage.lost, 0);
    });
  }

  for (const [name, judgeOf] of Object.entries({ gemini, openai, anthropic })) {
    test(`among ${name}'s answers of which 30% break off, are cut short or are no JSON`, async () => {
      answer = sometimes(3, { fault: "reset" }, { fault: "half" }, { fault: "malformed" }, { fault: "html" });
      const set = await evaluate({ ...all, judge: judgeOf() });
      assert.deepEqual(scoresOf(set), FAIR_SCORES);
      assert.equal(set.judgeUsage.lost, 0);
    });
  }

  test("where some answers never come, and are asked again at once", async () => {
    answer = sometimes(4, { fault: "hang" });
    const set = await evaluate({ ...all, judge: gemini(), timeoutMs: 250, retry: { initialDelayMs: 0 } });
    assert.deepEqual(scoresOf(set), FAIR_SCORES);
    assert.ok(set.judgeUsage.retried > 0);
    assert.equal(set.judgeUsage.lost, 0);
  });

  test("after a connection that breaks off, which is made anew within half a second", async (t) => {
    let number = 0;
    answer = (asked) => ((number += 1) === 1 ? { fault: "reset" } : fair(asked));
    const timer = t.mock.method(globalThis, "setTimeout");
    const set = await evaluate({ ...few, judge: gemini(), concurrency: 1, retry: { jitter: 0 } });
    const waits = timer.mock.calls.map(({ arguments: [, wait = 0] }) => wait);
    assert.deepEqual(scoresOf(set), { flight: FEW });
    assert.equal(set.judgeUsage.retried, 1);
    // Timers of `fetch` are among them.
    const [shortest, longest] = [
      waits.some((wait) => wait > 100 && wait <= 501),
      waits.some((wait) => wait > 4000 && wait <= 5001),
    ];
    assert.deepEqual([shortest, longest], [true, false], `${waits}`);
  });

  test("where a judge of the user's own says that asking again may help", async () => {
    const failed = new Set();
    const judge = async (asked) => {
      const place = `${asked.metricName} ${asked.evalId} ${asked.invocationIndex} ${asked.sampleIndex}`;
      if (!failed.has(place)) {
        failed.add(place);
        throw Object.assign(new Error("busy"), { retryable: true, retryAfterMs: 1, status: 429 });
      }
      return fair(asked);
    };
    const set = await evaluate({ ...few, judge });
    assert.deepEqual(scoresOf(set), { flight: FEW });
    assert.equal(set.judgeUsage.retried, 4);
  });
});

describe("what cannot be had", () => {
  test("is known by what an answer says, also where a gateway answers 200", async () => {
    let asked = 0;
    const fetch = async () => {
      asked += 1;
      return Response.json({ error: { code: 401, message: "No such key." } });
    };
    const criteria = criteriaOf(["final_response_match_v2"]);
    const set = await evaluate({ ...all, criteria, judge: openai({ fetch }), concurrency: 1 });
    assert.ok(set.evalCaseResults.length > 1);
    // A key that one call is refused for need not be tried by the next.
    assert.equal(asked, 1);
  });

  test("is given up with the last reason and the number of calls", async () => {
    answer = () => ({ fault: "unavailable", message: "Come back never." });
    const set = await evaluate({ ...few, judge: gemini(), retry: { ...retry, attempts: 3 }, concurrency: 1 });
    assert.equal(scoresOf(set).flight.final_response_match_v2, "- - -");
    const { reason, evalStatus } = found(set, "final_response_match_v2").turns[0];
    assert.equal(evalStatus, EvalStatus.NOT_EVALUATED);
    assert.match(reason, /Come back never\..*asked 3 times/s);
    assert.equal(set.judgeUsage.lost, 6);
  });

  test("leaves the next case its turn, also where the server wants to be left alone", { timeout: 10_000 }, async () => {
    answer = () => ({ fault: "rate_limit", retryAfter: 0.05 });
    const criteria = criteriaOf(["final_response_match_v2", "safety_v1"], { num_samples: 1 });
    const patience = { ...retry, attempts: 2 };
    const set = await evaluate({ ...all, criteria, judge: openai(), retry: patience, concurrency: 1 });
    assert.deepEqual(scoresOf(set).simulated, { final_response_match_v2: "- - - -", safety_v1: "- - - -" });
  });

  test("is a reply of many megabytes, which costs its own verdict alone", async () => {
    const long = "x".repeat(60_000_000);
    answer = (asked) => (asked.prompt.includes("could not") ? long : fair(asked));
    for (const judge of [openai(), async (asked) => answer(asked), async (asked) => ({ text: answer(asked) })]) {
      const set = await evaluate({ ...few, judge });
      assert.equal(scoresOf(set).flight.final_response_match_v2, "1 1 -");
      assert.match(
        reasonsOf(set)[0],
        /(?:sent an answer|returned a reply) of .*; at most 1048576 are read\. Verdicts are short/,
      );
      assert.doesNotMatch(reasonsOf(set)[0], /Split it/);
      assert.equal(set.judgeUsage.retried, 0);
    }
  });

  test("is no reply as long as one may be", async () => {
    answer = (asked) => (asked.prompt.includes("could not") ? "{".repeat(1024 * 1024) : fair(asked));
    const set = await evaluate({ ...few, judge: async (asked) => answer(asked) });
    assert.equal(scoresOf(set).flight.final_response_match_v2, "1 1 -");
  });

  test("is given up when no answer comes in time", async () => {
    answer = () => ({ fault: "hang" });
    const set = await evaluate({ ...few, judge: gemini(), timeoutMs: 40, retry: { ...retry, attempts: 2 } });
    assert.match(reasonsOf(set)[0], /the judge did not answer within 40 ms \(`timeoutMs`\)\. It was asked 2 times/);
    assert.deepEqual([set.judgeUsage.calls, set.judgeUsage.lost], [12, 6]);
  });

  test("is not asked for again where a key is refused; other metrics go on", async () => {
    answer = (asked) => (asked.prompt.includes("how coherent") ? fair(asked) : { fault: "auth" });
    const names = ["final_response_match_v2", "response_evaluation_score", "safety_v1"];
    const set = await evaluate({ ...all, criteria: criteriaOf(names), judge: gemini(), concurrency: 2 });
    assert.deepEqual(scoresOf(set).flight, {
      final_response_match_v2: "- - -",
      response_evaluation_score: "4 4 4",
      safety_v1: "- - -",
    });
    // Six questions about the response of one sample each, and what was in flight when the refusals came.
    const refused = server.requests.filter(({ prompt }) => !prompt.includes("how coherent"));
    assert.ok(refused.length <= 4, `${refused.length} calls with a key that was refused`);
    for (const name of ["final_response_match_v2", "safety_v1"]) {
      const { overall, turns } = found(set, name);
      for (const { reason } of [overall, ...turns]) assert.match(reason, /The server plays auth/, name);
    }
  });

  test("is refused for one question alone, which says so", async () => {
    for (const judge of [gemini(), openai(), anthropic()]) {
      for (const fault of ["refusal", "blocked", "empty", "truncated"]) {
        answer = (asked) => (asked.prompt.includes("could not") ? { fault } : fair(asked));
        const set = await evaluate({ ...few, judge, retry: { ...retry, attempts: 2 } });
        assert.equal(scoresOf(set).flight.final_response_match_v2, "1 1 -", fault);
        assert.ok(found(set, "final_response_match_v2").turns[1].reason.length > 10);
      }
    }
  });

  test("is a spent quota, which no waiting brings back", async () => {
    answer = () => ({ fault: "quota" });
    const set = await evaluate({ ...few, judge: openai(), concurrency: 1 });
    assert.equal(set.judgeUsage.retried, 0);
    assert.match(reasonsOf(set)[0], /The server plays quota/);
  });

  test("is a spent quota in a large run, which nobody waits for either", async () => {
    answer = () => ({ fault: "quota" });
    const [evalSet, actual, config] = ["museum-guide.evalset.json", "museum-guide.actual.json", "test_config.json"].map(
      (name) => readFileSync(join(root, "examples/museum-guide", name)),
    );
    const patient = { initialDelayMs: 60_000, jitter: 0 };
    const judge = openai({ model: "gpt-4.1" });
    const set = await evaluate({ evalSet, actual, config, judge, retry: patient, budget: { timeMs: 10_000 } });
    assert.match(reasonsOf(set).join(), /The server plays quota/);
  });

  test("is a server that is not there: the reason names it and what to do", async () => {
    const gone = await startServer();
    await gone.close();
    const judge = ollamaJudge({ baseUrl: gone.url, model: "llama" });
    const set = await evaluate({ ...few, judge, retry: { ...retry, attempts: 2 } });
    assert.match(reasonsOf(set)[0], /ECONNREFUSED/);
    assert.match(reasonsOf(set)[0], /Ollama/i);
  });
});

test("a key is in nothing that an evaluation gives, whatever went wrong", async () => {
  const faults = ["auth", "forbidden", "bad_request", "rate_limit", "half", "html"];
  const seen = [];
  const note = (...values) => seen.push(...values.map((value) => inspect(value, { depth: 20, getters: true })));
  const cache = {
    get: async (key) => void note(key),
    set: async (key, reply) => {
      note(key, reply);
      throw new Error("full");
    },
  };
  for (const judge of [
    gemini({ headers: { "x-team": KEY } }),
    openai({ headers: { cookie: `session=${KEY}` } }),
    anthropic({ baseUrl: `${server.url}?key=${KEY}` }),
  ]) {
    for (const fault of faults) {
      // Servers repeat what they were sent.
      answer = (asked) =>
        asked.prompt.includes("could not")
          ? { fault, message: `wrong: ${KEY} ${JSON.stringify(asked.headers)}` }
          : `${fair(asked)}\nI was asked with ${KEY} ${JSON.stringify(asked.headers)}`;
      const set = await evaluate({
        ...few,
        judge: recordJudge(judge, (line) => note(line)),
        cache,
        retry: { ...retry, attempts: 2 },
        onProgress: (progress) => note(progress),
      });
      note(set, JSON.stringify(set));
      assert.equal(scoresOf(set).flight.final_response_match_v2, "1 1 -");
    }
  }
  assert.ok(seen.length > 100);
  assert.ok(server.requests.length > 0);
  assert.deepEqual(
    seen.filter((text) => text.includes(KEY)),
    [],
  );
});

test("settings of the model that say which server to ask are refused before anyone is asked", async () => {
  for (const key of ["http_options", "httpOptions"]) {
    const judge_model_config = { temperature: 0.1, [key]: { baseUrl: "https://evil.example", headers: { a: KEY } } };
    let calls = 0;
    const judge = async (asked) => {
      calls += 1;
      return fair(asked);
    };
    const criteria = criteriaOf(["final_response_match_v2"], { num_samples: 1, judge_model_config });
    const error = await evaluate({ ...few, criteria, judge }).then(assert.fail, (thrown) => thrown);
    assert.equal(error.code, "invalid_criterion");
    assert.match(error.toString(), /`http_options` is refused/);
    assert.match(error.path, new RegExp(`judge_model_config\\.${key}$`));
    assert.ok(!error.toString().includes(KEY));
    assert.equal(calls, 0);
  }
});

/** Twenty cases of one turn. */
const MANY = {
  evalSetId: "many",
  evalCases: Array.from({ length: 20 }, (_, index) => ({
    evalId: `case ${index}`,
    conversation: [
      {
        userContent: { parts: [{ text: `Question ${index}?` }] },
        finalResponse: { parts: [{ text: "Yes." }] },
      },
    ],
  })),
};

describe("hopeless calls", () => {
  const asking = async (judge, more = {}) => {
    let calls = 0;
    const result = await evaluate({
      evalSet: MANY,
      actual: MANY,
      criteria: criteriaOf(["final_response_match_v2"]),
      concurrency: 1,
      retry: { attempts: 3, initialDelayMs: 1 },
      judge: async (request) => judge(request, (calls += 1)),
      ...more,
    });
    return { calls, reasons: reasonsOf(result).join("\n") };
  };

  test("that a server refuses in the same words again and again are not made any more", async () => {
    for (const status of [400, 404, 429]) {
      const { calls, reasons } = await asking(() => {
        throw Object.assign(new Error("no such model"), { status });
      });
      assert.ok(calls <= 5, `${calls} calls for ${status}`);
      assert.match(reasons, /no such model/);
    }
  });

  test("are made where the words differ, or where the judge answers others", async () => {
    const { calls } = await asking((request, number) => {
      throw Object.assign(new Error(`no to ${number}`), { status: 400 });
    });
    assert.ok(calls > 20, `${calls}`);
    const found = await asking((request, number) => {
      if (number === 1) return fair(request);
      throw Object.assign(new Error("no"), { status: 400 });
    });
    assert.ok(found.calls > 20, `${found.calls}`);
  });

  test("are those that a server wants to have put off for hours", async () => {
    const { reasons } = await asking(() => {
      throw Object.assign(new Error("slow down"), { status: 429, retryable: true, retryAfterMs: 86_400_000 });
    });
    assert.match(reasons, /slow down\. It asks to wait 86400 s, which is too long/);
  });

  test("are those of a judge that says nothing of asking again; the result says how it would", async () => {
    const thrown = (more) => () => {
      throw Object.assign(new Error("slow down"), more);
    };
    for (const status of [408, 429, 503, 529]) {
      const { reasons, calls } = await asking(thrown({ status }));
      assert.match(reasons, /slow down\. Only errors with `retryable: true` are retried/);
      const { calls: refused, reasons: known } = await asking(thrown({ status, retryable: false }));
      assert.equal(calls, refused);
      assert.doesNotMatch(known, /retryable/);
    }
    assert.doesNotMatch((await asking(thrown({ status: 400 }))).reasons, /retryable/);
  });

  test("are those of a judge that throws what cannot be looked at", async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const { reasons } = await asking(() => {
      throw proxy;
    });
    assert.match(reasons, /an error without a message/);
  });
});

test("a judge may reply, and throw, without a promise", async () => {
  const criteria = criteriaOf(["final_response_match_v2"]);
  const found = await evaluate({ ...all, criteria, judge: () => '{"is_the_agent_response_valid": "valid"}' });
  assert.ok(found.judgeUsage.answered > 0);
  const judge = () => {
    throw new Error("out of order");
  };
  assert.match(reasonsOf(await evaluate({ ...all, criteria, judge })).join(), /out of order/);
});

test("a budget in money wants the price of every model that is asked", async () => {
  const budget = { cost: 1, prices: { "gpt-x": { inputPerMillion: 1, outputPerMillion: 2 } } };
  const request = { ...all, criteria: criteriaOf(["final_response_match_v2"]), judge: async () => "", budget };
  await assert.rejects(evaluate(request), {
    code: "invalid_input",
    path: "budget: prices",
    message: "there is no price for the function judge, which is asked",
    help: /"gemini-2\.5-flash", the model that the function is asked for/,
  });
  await assert.rejects(evaluate({ ...request, judge: openaiJudge({ apiKey: KEY, model: "gpt-y" }) }), {
    message: "there is no price for the model gpt-y, which is asked",
  });
});

test("a provider is not asked for another's model at its own address", async () => {
  const request = { ...all, criteria: criteriaOf(["final_response_match_v2"]), judge: openaiJudge({ apiKey: KEY }) };
  await assert.rejects(evaluate(request), {
    code: "invalid_input",
    message: /openai, which has no model gemini-2\.5-flash/,
  });
});

test("settings that a provider is not sent are told through other judges as well", async () => {
  const judge_model_config = { topK: 1 };
  const result = await evaluate({
    ...all,
    criteria: criteriaOf(["final_response_match_v2"], { judge_model_config }),
    retry: { attempts: 1 },
    judge: recordJudge(openaiJudge({ baseUrl: "http://127.0.0.1:9/v1", model: "m" }), () => {}),
  });
  assert.match(result.warnings[0].message, /OpenAI is not sent `topK`/);
});

test("settings that the AI SDK's model or the browser's is not sent are told as well", async () => {
  const doGenerate = () => Promise.reject(new Error("not now"));
  const model = { specificationVersion: "v2", provider: "p", modelId: "m", doGenerate };
  const warningsOf = async (judge, judge_model_config) => {
    const criteria = criteriaOf(["final_response_match_v2"], { judge_model_config });
    const { warnings = [] } = await evaluate({ ...all, criteria, retry: { attempts: 1 }, judge });
    const [failure] = warnings.filter(({ code }) => code === "judge_failed");
    // The other case has no turns to compare, so no judge was to be asked.
    assert.match(
      failure.message,
      /^`final_response_match_v2` has no verdict in 1 of 2 case results: (?!.*compares with expected turns)/,
    );
    return warnings.filter((warning) => warning !== failure).map(({ message }) => message.replace(/:.*: /, ": "));
  };
  const settings = { temperature: 0, top_k: 1, thinking_config: { thinking_budget: 0 }, seed: null };
  assert.deepEqual(
    await warningsOf(
      recordJudge(languageModelJudge(model), () => {}),
      settings,
    ),
    ["final_response_match_v2: pass `providerOptions` to the judge"],
  );
  assert.deepEqual(await warningsOf(browserJudge(), { ...settings, thinking_config: null }), []);
  assert.deepEqual(await warningsOf(browserJudge(), { temperature: 0 }), [
    "final_response_match_v2: it accepts `temperature` only together with `topK`",
  ]);
});

describe("a reply of hallucinations_v1 that cannot be read is shown, with what was expected", () => {
  const segments = ({ prompt }) => prompt.includes("<sentence>") && !prompt.includes("contradicting_excerpt");
  const request = { ...all, evalIds: ["flight"], criteria: criteriaOf(["hallucinations_v1"], { num_samples: 1 }) };

  test("of the segmenter", async () => {
    for (const said of ["I cannot do that.", '{"answer": 42}']) {
      answer = (asked) => (segments(asked) ? said : fair(asked));
      const set = await evaluate({ ...request, judge: gemini() });
      const { reason } = found(set, "hallucinations_v1").overall;
      assert.match(reason, /^no reply of the judge could be read: expected .*sentence/);
      assert.ok(reason.includes(`, found ${JSON.stringify(said)}`) || reason.includes(`, found "${said}"`), reason);
      const [warning] = set.warnings.filter(({ code }) => code === "judge_failed");
      assert.match(
        warning.message,
        /^`hallucinations_v1` has no verdict in 1 of 1 case results: no reply of the judge/,
      );
    }
  });

  test("of the validator", async () => {
    answer = (asked) => (segments(asked) ? fair(asked) : "I cannot do that.");
    const { reason } = found(await evaluate({ ...request, judge: gemini() }), "hallucinations_v1").overall;
    assert.match(reason, /^no reply of the judge could be read: expected .*, found "I cannot do that\."$/);
  });
});
