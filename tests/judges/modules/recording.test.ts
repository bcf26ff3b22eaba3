// Recording and replaying: what is written, that it is found again, and the errors for missing replies.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { identified, identityOf } from "../../../pkg-template/src/judges/judge.js";
import { recordJudge } from "../../../pkg-template/src/judges/record.js";
import { replayJudge } from "../../../pkg-template/src/judges/replay.js";
import type { Judge, JudgeReply, JudgeRequest } from "../../../pkg-template/src/types.js";
import { errorOf, NEVER, PLAIN, REQUEST } from "./support.js";

const HEADER = '{"format":"adk-metrics recording","version":1}\n';
/** Of a recording of the function `echo`. */
const HEADER_OF_ECHO = '{"format":"adk-metrics recording","version":1,"function":"echo"}\n';
const USAGE = { inputTokens: 10, outputTokens: 5 };

/** A judge that replies with what it is asked. */
const echo: Judge = async ({ prompt, sampleIndex }) => ({ text: `${prompt} ${sampleIndex}`, usage: USAGE });

/** What asking these questions writes. */
async function recorded(requests: JudgeRequest[], judge: Judge = echo): Promise<string> {
  let text = "";
  const recording = recordJudge(judge, (line) => void (text += line));
  for (const request of requests) await recording(request, { signal: NEVER() });
  return text;
}

/** A reply whose text throws when it is read. */
const THROWING = {
  get text() {
    throw new Error("no text for you");
  },
};

const ask = async (judge: Judge, request: JudgeRequest): Promise<string> =>
  ((await judge(request, { signal: NEVER() })) as JudgeReply).text;

describe("a recording", () => {
  test("is a header and a line for each call", async () => {
    const text = await recorded([PLAIN]);
    assert.equal(
      text,
      `${HEADER_OF_ECHO}${JSON.stringify({ request: PLAIN, reply: { text: "Is it safe? 0", usage: USAGE } })}\n`,
    );
  });

  test("is replayed from text, bytes and lines", async () => {
    const text = await recorded([REQUEST, { ...REQUEST, sampleIndex: 3 }, PLAIN]);
    const lines = text.split("\n");
    for (const given of [
      text,
      `\ufeff${text}`,
      text.replaceAll("\n", "\r\n"),
      Buffer.from(text),
      lines,
      new Set(lines),
    ]) {
      const judge = replayJudge(given);
      assert.equal(await ask(judge, REQUEST), `${REQUEST.prompt} 2`);
      assert.equal(await ask(judge, { ...REQUEST, sampleIndex: 3 }), `${REQUEST.prompt} 3`);
      assert.deepEqual(await judge(PLAIN, { signal: NEVER() }), { text: "Is it safe? 0", usage: USAGE });
    }
  });

  test("goes to a stream, one line after the other whatever ends first", async () => {
    const lines: string[] = [];
    const stream = {
      async write(line: string) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
        lines.push(line);
      },
    };
    const slow: Judge = async (request, options) => {
      await new Promise((resolve) => setTimeout(resolve, 10 - request.sampleIndex));
      return echo(request, options);
    };
    const judge = recordJudge(slow, stream);
    const samples = Array.from({ length: 8 }, (_, sampleIndex) => ({ ...PLAIN, sampleIndex }));
    await Promise.all(samples.map((sample) => judge(sample, { signal: NEVER() })));
    assert.equal(lines.length, 9);
    assert.equal(lines[0], HEADER_OF_ECHO.replace("echo", "slow"));
    const replay = replayJudge(lines);
    for (const sample of samples) assert.equal(await ask(replay, sample), `Is it safe? ${sample.sampleIndex}`);
  });

  test("has no failed calls, whose errors pass as they are", async () => {
    const broken = new Error("broken");
    const judge = recordJudge(
      async () => {
        throw broken;
      },
      () => assert.fail("a line was written"),
    );
    await assert.rejects(
      async () => judge(PLAIN, { signal: NEVER() }),
      (error) => error === broken,
    );
  });

  test("has texts for replies that are texts, and refuses what is none", async () => {
    assert.match(await recorded([PLAIN], async () => "yes"), /"reply":\{"text":"yes"\}/);
    for (const given of [undefined, null, 5, {}, { text: 5 }, { text: ["yes"] }, THROWING]) {
      const error = await errorOf(() => recorded([PLAIN], async () => given as never));
      assert.equal(error.code, "judge_failed");
    }
  });

  test("has no keys, and no request that says which server to ask", async () => {
    const text = await recorded([{ ...PLAIN, apiKey: "secret-key" } as JudgeRequest]);
    assert.doesNotMatch(text, /secret/);
    const httpOptions = { headers: { authorization: "Bearer secret-token" } };
    const error = await errorOf(() => recorded([{ ...PLAIN, generationConfig: { httpOptions } }]));
    assert.equal(error.code, "invalid_input");
    assert.doesNotMatch(error.toString(), /secret/);
  });

  test("holds halves of surrogate pairs and line breaks of every kind", async () => {
    const request = { ...PLAIN, prompt: "\ud83d \u2028 \u0000 \r\n" };
    assert.equal(await ask(replayJudge(Buffer.from(await recorded([request]))), request), `${request.prompt} 0`);
  });

  test("that cannot be written says so", async () => {
    for (const sink of [
      () => {
        throw new Error("the disk is full");
      },
      { write: async () => Promise.reject(new Error("the disk is full")) },
    ]) {
      const error = await errorOf(() => recordJudge(echo, sink)(PLAIN, { signal: NEVER() }));
      assert.equal(error.code, "recording_failed");
      assert.match(error.message, /the disk is full/);
    }
  });

  test("that could not be written once asks nobody any more, nor does one to a stream that failed", async () => {
    let asked = 0;
    const counting: Judge = async () => {
      asked += 1;
      return { text: "yes", usage: { inputTokens: 3, outputTokens: 2 } };
    };
    const failing = recordJudge(counting, (line) => {
      if (line.includes("two")) throw new Error("the disk is full");
    });
    await failing({ ...PLAIN, prompt: "one" }, { signal: NEVER() });
    const error = await errorOf(() => failing({ ...PLAIN, prompt: "two" }, { signal: NEVER() }));
    assert.deepEqual([asked, error.usage], [2, { inputTokens: 3, outputTokens: 2 }]);
    const later = await errorOf(() => failing({ ...PLAIN, prompt: "three" }, { signal: NEVER() }));
    assert.deepEqual([asked, later.code, later.retryable, later.usage], [2, "recording_failed", false, undefined]);
    assert.match(later.message, /the disk is full/);
    const stream = { write: () => true, errored: undefined as Error | undefined };
    const streamed = recordJudge(counting, stream);
    await streamed(PLAIN, { signal: NEVER() });
    stream.errored = new Error("no space left");
    const broken = await errorOf(() => streamed(PLAIN, { signal: NEVER() }));
    assert.deepEqual([asked, broken.code], [3, "recording_failed"]);
    assert.match(broken.message, /no space left/);
  });

  test("needs a judge and a sink", async () => {
    assert.equal((await errorOf(() => recordJudge({} as never, () => {}))).path, "judge");
    for (const sink of [undefined, {}, { write: 5 }, "file.jsonl"]) {
      assert.equal((await errorOf(() => recordJudge(echo, sink as never))).path, "sink");
    }
  });

  test("keeps the model of the judge, and of several none", async () => {
    const own = identified(async () => "yes", { model: "own-model", label: "x" });
    assert.equal(identityOf(recordJudge(own, () => {})).model, "own-model");
    const text = await recorded([PLAIN], own);
    assert.equal(identityOf(replayJudge(text)).model, "own-model");
    assert.equal(identityOf(replayJudge(text + text)).model, "own-model");
    assert.equal(identityOf(replayJudge(text + HEADER)).model, undefined);
  });

  test("is told from others by its calls, whatever its lines look like", async () => {
    const labelOf = (recording: string) => identityOf(replayJudge(recording)).label;
    const text = await recorded([PLAIN, REQUEST]);
    const label = labelOf(text);
    assert.match(label ?? "", /^replay [0-9a-f]{16}$/);
    assert.equal(labelOf(text.replaceAll("\n", "\r\n").replace("{", '{ "note": "again",')), label);
    const others = [
      HEADER,
      await recorded([PLAIN]),
      await recorded([REQUEST, PLAIN]),
      text.replace("Is it safe? 0", "Is it safe? 1"),
      text.replace('Is it safe?"', 'Is it sane?"'),
    ];
    assert.equal(new Set([label, ...others.map(labelOf)]).size, 1 + others.length);
  });
});

describe("the header of a recording", () => {
  const headed = async (options: object, judge: Judge = echo) => {
    let text = "";
    const recording = recordJudge(judge, (line) => void (text += line), options);
    await recording(PLAIN, { signal: NEVER() });
    return { text, model: identityOf(recording).model, header: JSON.parse(text.split("\n")[0] as string) as object };
  };

  test("has a note, which replaying does not look at", async () => {
    const { text, header } = await headed({ note: "made on a rainy day" });
    assert.deepEqual(header, {
      format: "adk-metrics recording",
      version: 1,
      function: "echo",
      note: "made on a rainy day",
    });
    assert.equal(await ask(replayJudge(text), PLAIN), "Is it safe? 0");
  });

  test("names the model of a judge that names none", async () => {
    const { text, model } = await headed({ model: "jury-of-three" });
    assert.equal(model, "jury-of-three");
    assert.equal(identityOf(replayJudge(text)).model, "jury-of-three");
    const own = identified(echo, { model: "own-model" });
    assert.equal((await headed({ model: "jury-of-three" }, own)).model, "own-model");
  });

  test("has texts only", async () => {
    for (const options of [{ note: 5 }, { model: ["a"] }, "note", null]) {
      const error = await errorOf(() => headed(options as never));
      assert.equal(error.code, "invalid_input");
    }
  });
});

describe("a replayed request", () => {
  test("is found whatever its id and the order of its keys", async () => {
    const judge = replayJudge(await recorded([{ ...REQUEST, generationConfig: { a: 1, b: { c: 2, d: 3 } } }]));
    assert.ok(await ask(judge, { ...REQUEST, id: "other", generationConfig: { b: { d: 3, c: 2 }, a: 1 } }));
  });

  test("of a case with the same question gets the same reply", async () => {
    const judge = replayJudge(await recorded([REQUEST]));
    assert.equal(await ask(judge, { ...REQUEST, evalId: "rome" }), `${REQUEST.prompt} 2`);
  });

  test("gets the reply of its own turn if the same was asked for several", async () => {
    const turns = [0, 1, 2].map((invocationIndex) => ({ ...PLAIN, invocationIndex }));
    let count = 0;
    const judge = replayJudge(await recorded(turns, async () => `reply ${count++}`));
    assert.equal(await ask(judge, turns[2] as JudgeRequest), "reply 2");
    assert.equal(await ask(judge, { ...PLAIN, invocationIndex: 9 }), "reply 0");
  });

  test("is found in as many steps however long the recording is", async (t) => {
    const turns = Array.from({ length: 2000 }, (_, invocationIndex) => ({ ...PLAIN, invocationIndex }));
    const judge = replayJudge(await recorded(turns));
    const stringify = t.mock.method(JSON, "stringify");
    for (const turn of turns) await ask(judge, turn);
    assert.ok(stringify.mock.callCount() < 50 * turns.length, `${stringify.mock.callCount()} for ${turns.length}`);
  });

  test("that is missing is told of in few words", async () => {
    const samples = Array.from({ length: 2000 }, (_, sampleIndex) => ({ ...PLAIN, sampleIndex }));
    const judge = replayJudge(await recorded(samples));
    const error = await errorOf(() => ask(judge, { ...PLAIN, sampleIndex: 5000 }));
    assert.match(error.message, /the recording only has samples 1, 2, .*, 20 …$/);
    assert.ok(error.message.length < 400);
  });

  const cases: [string, Partial<JudgeRequest>, RegExp][] = [
    [
      "a changed prompt",
      { prompt: "Is it valid?\nAnswer in prose." },
      /final_response_match_v2 \(verdict\), case "paris", turn 2, sample 3: the prompt changed at line 2, column 11: recorded "JSON\.", now "prose\."/,
    ],
    ["a longer prompt", { prompt: `${REQUEST.prompt}!` }, /at line 2, column 16: recorded its end, now "!"/],
    ["a changed system prompt", { system: "You are kind." }, /the system prompt changed at line 1, column 9/],
    ["a system prompt that is gone", { system: undefined as never }, /the system prompt changed .* now its end/],
    ["another model", { model: "gpt-5" }, /the model is "gpt-5", but "gemini-2.5-flash" was recorded/],
    ["a changed schema", { responseSchema: { type: "string" } }, /the reply's schema changed/],
    ["changed settings", { generationConfig: { temperature: 1 } }, /the generation config changed/],
    ["another sample", { sampleIndex: 7 }, /turn 2, sample 8: the recording only has samples 3, 4/],
    ["another metric", { metricName: "safety_v1" }, /nothing is recorded for this metric/],
    ["another case", { evalId: "rome", prompt: "?" }, /nothing is recorded for this case/],
    ["another turn", { invocationIndex: 5, prompt: "?" }, /nothing is recorded for this turn/],
  ];
  for (const [name, changes, message] of cases) {
    test(`that is missing says why: ${name}`, async () => {
      const judge = replayJudge(await recorded([REQUEST, { ...REQUEST, sampleIndex: 3 }]));
      const error = await errorOf(() => ask(judge, { ...REQUEST, ...changes }));
      assert.equal(error.code, "replay_missing");
      assert.equal(error.retryable, false);
      assert.match(error.message, message);
      assert.match(error.help ?? "", /recordJudge/);
    });
  }

  test("that differs within a character shows the whole of it", async () => {
    const judge = replayJudge(await recorded([{ ...PLAIN, prompt: "a 😀" }]));
    const { message } = await errorOf(() => ask(judge, { ...PLAIN, prompt: "a 😁" }));
    assert.match(message, /column 3: recorded "😀", now "😁"/);
  });

  test("that differs shows where what is judged changed, not the marker of its blocks", async () => {
    const marked = (marker: string, text: string) =>
      `Blocks begin with \`<data-${marker} name="…">\`.\n<data-${marker} name="response">\n${text}\n</data-${marker}>`;
    const judge = replayJudge(await recorded([{ ...PLAIN, prompt: marked("0123456789abcdef", "It rains.") }]));
    const asking = (text: string) => errorOf(() => ask(judge, { ...PLAIN, prompt: marked("fedcba9876543210", text) }));
    assert.match((await asking("It pours.")).message, /at line 3, column 4: recorded "rains\..*, now "pours\./);
    assert.match((await asking("It rains.")).message, /an input of the prompt changed, although its text did not$/);
  });

  test("that differs shows little of a long prompt", async () => {
    const judge = replayJudge(await recorded([{ ...PLAIN, prompt: "x".repeat(1e6) }]));
    const { message } = await errorOf(() => ask(judge, { ...PLAIN, prompt: `y${"x".repeat(1e6)}` }));
    assert.ok(message.length < 400, String(message.length));
  });
});

describe("what is no recording", () => {
  const call = JSON.stringify({ request: PLAIN, reply: { text: "yes" } });
  const cases: [string, unknown, object][] = [
    ["nothing", "", { code: "invalid_input", line: 1 }],
    ["blank lines", "\n \n", { code: "invalid_input" }],
    ["calls without a header", call, { code: "invalid_input", line: 1 }],
    ["something else", '{"eval_set_id": "x"}', { code: "invalid_input", line: 1 }],
    ["a number", "5", { code: "invalid_input", line: 1 }],
    ["a later version", HEADER.replace("1}", "2}"), { code: "invalid_input", line: 1 }],
    [
      "a version that is deep",
      HEADER.replace("1}", `${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
      { code: "limit_exceeded", line: 1 },
    ],
    [
      "a version with another's words",
      HEADER.replace("1}", `"${"##vso[x]".repeat(1000)}"}`),
      { code: "invalid_input", message: /^.{1,100}$/ },
    ],
    ["a model that is no name", HEADER.replace("1}", '1,"model":{"a":1}}'), { code: "invalid_input", line: 1 }],
    [
      "settings that are deep",
      `${HEADER}{"request": {"generationConfig": ${'{"a":'.repeat(100_000)}1${"}".repeat(100_001)}, "reply": "yes"}`,
      { code: "limit_exceeded", line: 2, message: /nested more than 200 levels/ },
    ],
    ["a line that was cut off", HEADER + call.slice(0, -5), { code: "invalid_json", line: 2 }],
    [
      "a path",
      "judge.jsonl",
      {
        code: "invalid_json",
        line: 1,
        help: /^Pass the contents of the recording, not its path; each line is an object/,
      },
    ],
    [
      "an evalset",
      '{\n  "eval_cases": []\n}',
      { code: "invalid_input", line: 1, help: /^This looks like an evalset, .* Create one with recordJudge/ },
    ],
    ["results", '{"eval_case_results": []}', { code: "invalid_input", help: /^This looks like results\. Create/ }],
    ["nothing that was recorded", "", { message: /^the recording is empty$/, help: /^No call was answered\. Create/ }],
    ["empty lines", "\n\n", { code: "invalid_input", message: /^the recording is empty$/ }],
    ["a call without a reply", `${HEADER}\n{"request": ${JSON.stringify(PLAIN)}}`, { code: "invalid_input", line: 3 }],
    ["a call without a prompt", `${HEADER}{"request": {"id": ""}, "reply": "yes"}`, { code: "invalid_input", line: 2 }],
    ["bytes that are no text", Uint8Array.of(255, 254), { code: "invalid_json" }],
    ["no text at all", 5, { code: "invalid_input" }],
    ["an object", {}, { code: "invalid_input" }],
    ["lines that are none", [HEADER, 5], { code: "invalid_input" }],
  ];
  for (const [name, given, expected] of cases) {
    test(`is refused with its line: ${name}`, async () => {
      const error = await errorOf(() => replayJudge(given as string));
      for (const [key, value] of Object.entries(expected)) {
        if (value instanceof RegExp) assert.match(String(error[key as "help"]), value);
        else assert.equal(error[key as "code"], value);
      }
      assert.match(error.path ?? "", /^recording/);
    });
  }
});
