// Traces that are broken, or that somebody wrote to break their reader.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AdkMetricsError,
  agent,
  chat,
  errorOf,
  log,
  message,
  readSessions,
  readTraces,
  request,
  span,
  text,
} from "./support.mjs";
import { told, tool, tracesToJson } from "./support.mjs";

const ASK = message("user", text("Go."));
const ANSWER = message("assistant", text("Gone."));
const call = (name, args) => message("assistant", { type: "tool_call", id: "c", name, arguments: args });

test("spans that are each other's parents are turns of their own", () => {
  const spans = [
    span("a", "b", [0, 9], agent("one")),
    span("b", "a", [1, 8], agent("two")),
    span("c", "c", [2, 7], chat([ASK], [ANSWER])),
    span("d", "a", [3, 6], chat([ASK], [ANSWER])),
  ];
  const runs = readTraces(request(spans));
  assert.equal(runs.length, 1);
  assert.equal(told(runs[0].inferences[0]).answer, "Gone.");
});

test("spans whose parent never arrived are read as if they had none", () => {
  const [run] = readTraces(request([span("a", "ffffffffffffffff", [0, 9], chat([ASK], [ANSWER]))]));
  assert.equal(told(run.inferences[0]).answer, "Gone.");
});

test("a chain of a hundred thousand spans is read in order of its length", () => {
  const spans = [span("0", undefined, [0, 100], agent("deep"))];
  for (let at = 1; at < 100_000; at += 1) spans.push(span(String(at), String(at - 1), [0, 100], {}));
  spans.push(span("m", "99999", [1, 2], chat([ASK], [ANSWER])));
  const [run] = readTraces(request(spans.reverse()));
  assert.equal(run.inferences[0].intermediateData.invocationEvents[0].author, "deep");
});

test("agents within agents by the thousand, each with tools, are read", () => {
  const spans = [span("0", undefined, [0, 9], agent("a0"))];
  for (let at = 1; at < 5000; at += 1) {
    spans.push(span(String(at), String(at - 1), [0, 9], agent(`a${at}`)));
    spans.push(span(`m${at}`, String(at), [1, 2], chat([ASK], [call("t", {})])));
    spans.push(span(`t${at}`, String(at), [2, 3], tool("t", { "gen_ai.tool.call.arguments": "{}" })));
  }
  const [run] = readTraces(request(spans));
  assert.equal(told(run.inferences[0]).calls.length, 4999);
});

test("calls within calls by the ten thousand are one", () => {
  const spans = [span("0", undefined, [0, 9], chat([ASK], [ANSWER]))];
  for (let at = 1; at < 50_000; at += 1) spans.push(span(String(at), String(at - 1), [0, 9], chat([ASK], [ANSWER])));
  const [run] = readTraces(request(spans));
  assert.equal(run.inferences[0].intermediateData.invocationEvents.length, 1);
});

test("names that objects inherit are names like any other", () => {
  const args = '{"__proto__":{"polluted":true},"constructor":1}';
  const spans = [
    span("a", undefined, [0, 9], agent("__proto__", { "gen_ai.conversation.id": "constructor" })),
    span("b", "a", [1, 2], {
      "gen_ai.operation.name": "chat",
      "gen_ai.input.messages": JSON.stringify([ASK]),
      "gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"tool_call","name":"toString","arguments":${args}}]}]`,
    }),
    span("c", "a", [2, 3], tool("toString", { "gen_ai.tool.call.result": { ["__proto__"]: "x", ok: 1 } })),
    span("d", "a", [3, 4], { "gen_ai.operation.name": "hasOwnProperty" }),
  ];
  const traces = JSON.stringify(request(spans));
  const [run] = readTraces(traces, { evalIds: {} });
  assert.equal(run.evalId, "constructor");
  assert.equal({}.polluted, undefined);
  const [invocation] = run.inferences;
  const [[name, given]] = told(invocation).calls;
  assert.deepEqual([name, JSON.stringify(given)], ["toString", args]);
  assert.deepEqual(Object.keys(invocation.appDetails.agentDetails), ["__proto__"]);
  assert.ok(tracesToJson(traces).includes(args));
});

const spanWith = (more) => request([{ ...span("a", undefined, [0, 9], agent("a")), ...more }]);

/** What is wrong, and the words and the place of the error. */
const BROKEN = {
  "no request": [{}, "found neither `resourceSpans` nor `resourceLogs`", "traces"],
  "a number": ["7", /expected an export request/, "traces"],
  "a list that holds something else": [[{ resourceSpans: [] }, 7], /found 7/, "traces: [1]"],
  "spans that are no list": [{ resourceSpans: {} }, "expected an array, found an object", "traces: resourceSpans"],
  "a scope that is null": [
    { resourceSpans: [{ scopeSpans: [null] }] },
    "expected an object, found null",
    "traces: resourceSpans[0].scopeSpans[0]",
  ],
  "a span without an id": [spanWith({ spanId: "" }), /expected an id in hexadecimal digits/, /spans\[0\]\.spanId$/],
  "a time that is none": [
    spanWith({ endTimeUnixNano: "soon" }),
    /expected nanoseconds/,
    /spans\[0\]\.endTimeUnixNano$/,
  ],
  "a negative time": [spanWith({ startTimeUnixNano: -1 }), /found -1/, /startTimeUnixNano$/],
  "attributes that are an object": [spanWith({ attributes: {} }), /expected an array/, /attributes$/],
  "an attribute's value that is a text": [
    spanWith({ attributes: [{ key: "k", value: "v" }] }),
    /expected a value such as `\{ stringValue \}`, found "v"/,
    /attributes\[0\]\.value$/,
  ],
  "an integer that is none": [
    spanWith({ attributes: [{ key: "k", value: { intValue: "1e3" } }] }),
    /expected an integer/,
    /attributes\[0\]\.value\.intValue$/,
  ],
};

for (const [name, [traces, words, place]] of Object.entries(BROKEN)) {
  test(`${name} is an error with its place`, () => {
    const error = errorOf(() => readTraces(traces));
    assert.ok(error instanceof AdkMetricsError, String(error.stack));
    assert.equal(error.code, "invalid_input");
    for (const [found, expected] of [
      [error.message, words],
      [error.path, place],
    ]) {
      if (typeof expected === "string") assert.equal(found, expected);
      else assert.match(found, expected);
    }
  });
}

test("values nested beyond what anybody writes are refused", () => {
  let value = { stringValue: "x" };
  for (let depth = 0; depth < 300; depth += 1) value = { arrayValue: { values: [value] } };
  // As text: objects this deep are refused before they are traces.
  const traces = JSON.stringify(spanWith({ attributes: [{ key: "k", value }] }));
  assert.equal(errorOf(() => readTraces(traces)).code, "limit_exceeded");
});

test("an object that contains itself, bytes that are no text, and no JSON are errors", () => {
  const circle = { resourceSpans: [] };
  circle.resourceSpans.push(circle);
  assert.equal(errorOf(() => readTraces(circle)).code, "unserializable");
  const protobuf = errorOf(() => readTraces(new Uint8Array([0x0a, 0xff, 0xfe])));
  assert.deepEqual(
    [protobuf.code, protobuf.help],
    ["invalid_json", "Export them as OTLP/JSON, not as protocol buffers"],
  );
  assert.equal(errorOf(() => readTraces("nothing")).code, "invalid_json");
  for (const cut of ['{"resourceSpans":[{', '{\n  "resourceSpans": [\n']) {
    assert.equal(errorOf(() => readTraces(cut)).help, "Is the file complete?");
  }
  for (const nothing of [undefined, null, 7]) assert.ok(errorOf(() => readTraces(nothing)) instanceof AdkMetricsError);
});

test("of lines of JSON the error says which, and that the last may have been cut off", () => {
  const line = JSON.stringify(request([span("a", undefined, [0, 9], chat([ASK], [ANSWER]))]));
  const cut = errorOf(() => readTraces(`${line}\n\n${line.slice(0, 100)}\n`));
  assert.deepEqual([cut.code, cut.line, cut.help], ["invalid_json", 3, "The last line may have been cut off"]);
  const wrong = errorOf(() => readTraces(`${line}\n{"resourceSpans":7}`));
  assert.deepEqual([wrong.path, wrong.line], ["traces: resourceSpans", 2]);
  assert.equal(readTraces(`${line}\n${line}\r\n`)[0].inferences.length, 1, "the same span twice is one");
});

test("a session that cannot be written as JSON is an error that says so", () => {
  let deep = "end";
  for (let level = 0; level < 1_000_000; level += 1) deep = { a: deep };
  const cycle = { id: "s" };
  cycle.self = cycle;
  const throwing = {
    get events() {
      throw new TypeError("not yet");
    },
  };
  for (const [session, words] of [
    [{ id: "s", events: deep }, /nested too deeply/],
    [cycle, /circular/i],
    [{ id: "s", state: { n: 1n } }, /BigInt/],
    [throwing, /not yet/],
  ]) {
    const error = errorOf(() => readSessions([session]));
    assert.ok(error instanceof AdkMetricsError);
    assert.deepEqual([error.code, error.path], ["unserializable", "sessions[0]"]);
    assert.match(error.message, words);
  }
  assert.equal(errorOf(() => readSessions([{ toJSON: () => undefined }])).code, "invalid_input");
});

/** A call of a tool with arguments that are written as they are given. */
const asking = (args) => [
  span("a", undefined, [0, 9], agent("a")),
  span("b", "a", [1, 2], {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": JSON.stringify([ASK]),
    "gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"tool_call","name":"pay","arguments":${args}}]}]`,
  }),
  span("c", "a", [3, 4], chat([ASK], [ANSWER])),
];

test("a text that begins as large integers are kept stays a text, as a value and as a key", () => {
  for (const text of ["\u0000int:12345", "\u000012345678901234567890", "\u0000", "\u0000\u0000", "\u0000-1"]) {
    const args = { value: text, list: [text], [text]: 1 };
    const traces = JSON.stringify(request(asking(`{"order":12345678901234567890,${JSON.stringify(args).slice(1)}`)));
    assert.deepEqual(told(readTraces(traces)[0].inferences[0]).calls, [
      ["pay", { order: Number("12345678901234567890"), ...args }],
    ]);
    const [run] = JSON.parse(tracesToJson(traces));
    assert.deepEqual(told(run.inferences[0]).calls, [["pay", { order: Number("12345678901234567890"), ...args }]]);
    assert.ok(tracesToJson(traces).includes('{"order":12345678901234567890,'));
  }
});

test("what `evalIds` is given has numbers, however large they are", () => {
  const given = [];
  const attributes = [...span("a", undefined, [0, 9], agent("a")).attributes];
  attributes.push({ key: "order", value: { intValue: "12345678901234567890" } });
  const spans = [{ ...span("a", undefined, [0, 9], {}), attributes }, span("b", "a", [1, 2], chat([ASK], [ANSWER]))];
  readTraces(request(spans), { evalIds: ({ attributes: { order } }) => void given.push(order) });
  assert.deepEqual(given, [Number("12345678901234567890")]);
});

/** How often something is called while something is done. */
function callsOf(owner, name, act) {
  const original = owner[name];
  let calls = 0;
  owner[name] = function (...args) {
    calls += 1;
    return original.apply(this, args);
  };
  try {
    act();
  } finally {
    owner[name] = original;
  }
  return calls;
}

test("calls of one tool are matched with its spans with work in proportion to their number", () => {
  const turn = (size) => {
    const calls = Array.from({ length: size }, (_, at) => ({
      type: "tool_call",
      name: "t",
      arguments: { at: size - at },
    }));
    return request([
      span("a", undefined, [0, 9], agent("a")),
      span("m", "a", [0, 1], chat([ASK], [message("assistant", ...calls)])),
      ...calls.map((_, at) =>
        span(`t${at}`, "a", [2, 3], tool("t", { "gen_ai.tool.call.arguments": JSON.stringify({ at: at + 1 }) })),
      ),
    ]);
  };
  const work = (size) => {
    const traces = JSON.stringify(turn(size));
    return callsOf(JSON, "stringify", () => readTraces(traces));
  };
  const [few, many] = [work(200), work(800)];
  assert.ok(many < 4.2 * few, `${few} and ${many}`);
});

test("a tool's output that is not JSON is looked at once, however it is quoted", () => {
  const output = `Order no :1234567890123456 "${'\\"'.repeat(50_000)}`;
  const spans = [
    span("a", undefined, [0, 9], agent("a")),
    span("b", "a", [1, 2], chat([ASK], [call("t", {})])),
    span("c", "a", [3, 4], tool("t", { "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": output })),
  ];
  const traces = JSON.stringify(request(spans));
  // A regular expression over text that is no JSON may look for the end of a string from every quote of it.
  const { exec } = RegExp.prototype;
  const seen = [];
  RegExp.prototype.exec = function (text) {
    if (text === output) seen.push(this.source);
    return exec.call(this, text);
  };
  let run;
  try {
    [run] = readTraces(traces);
  } finally {
    RegExp.prototype.exec = exec;
  }
  assert.deepEqual(seen, []);
  assert.deepEqual(told(run.inferences[0]).responses, [{ result: output }]);
});

test("an agent's span with forty-five thousand messages takes memory for each of them once", () => {
  const said = Array.from({ length: 45_000 }, () => ANSWER);
  const messages = { "gen_ai.input.messages": JSON.stringify([ASK]), "gen_ai.output.messages": JSON.stringify(said) };
  const [run] = readTraces(request([span("a", undefined, [0, 9], agent("a", messages))]));
  assert.equal(told(run.inferences[0]).answer, "Gone.");
  assert.equal(run.inferences[0].intermediateData.invocationEvents.length, said.length);
});

const MANY = 150_000;
const IN_CONVERSATION = { "gen_ai.conversation.id": "c" };
const GIVEN = message("tool", { type: "tool_call_response", id: "c", response: "r" });

/** Traces with more items in one list than a function takes arguments. */
const LONG_LISTS = {
  "calls in one message": () => {
    const calls = Array.from({ length: MANY }, () => ({ id: "c", function: { name: "t", arguments: "{}" } }));
    return request([span("m", undefined, [0, 1], chat([ASK], [{ role: "assistant", tool_calls: calls }]))]);
  },
  "tools that no model asked for": () => {
    const spans = [span("a", undefined, [0, 9], agent("a")), span("m", "a", [0, 1], chat([ASK], [ANSWER]))];
    const ran = tool("t", { "gen_ai.tool.call.arguments": "{}" });
    for (let at = 0; at < MANY; at += 1) spans.push(span(`t${at}`, "a", [1, 2], ran));
    return request(spans);
  },
  "spans in a trace that goes on with another": () => {
    const spans = [{ ...span("a", undefined, [0, 1], chat([ASK], [ANSWER], IN_CONVERSATION)), traceId: "0" }];
    spans.push(span("b", undefined, [2, 3], chat([GIVEN], [ANSWER], IN_CONVERSATION)));
    for (let at = 0; at < MANY; at += 1) spans.push(span(`t${at}`, undefined, [4, 5], tool("t")));
    return request(spans);
  },
};

for (const [name, traces] of Object.entries(LONG_LISTS)) {
  test(`${MANY} ${name} are read, or too many`, () => {
    try {
      const [run] = readTraces(traces());
      assert.equal(run.inferences.length, 1);
    } catch (error) {
      assert.equal(error.code, "limit_exceeded", error.stack);
    }
  });
}

for (const [what, nested] of Object.entries({
  "brackets that close": "[".repeat(201) + "]".repeat(201),
  "brackets that do not": "[".repeat(1_000_000),
  "objects in objects": '{"a":'.repeat(300),
})) {
  test(`${what}, deeper than any input may be, are refused before they take memory`, () => {
    const plain = '{"resourceSpans":[],"quoted":"[[\\"[[\\\\"';
    const error = errorOf(() => readTraces(`${plain}}\n${plain},"more":${nested}}`));
    assert.equal(error.code, "limit_exceeded");
    assert.match(error.message, /values are nested more than 200 levels deep/);
    assert.equal(error.line, 2);
  });
}

/** How often functions that are given to the methods of arrays are called. */
function callbacksOf(act) {
  const methods = ["sort", "filter", "find", "findLast", "findLastIndex", "map", "flatMap", "some", "every", "reduce"];
  const own = methods.map((name) => [name, Array.prototype[name]]);
  let number = 0;
  for (const [name, method] of own) {
    Array.prototype[name] = function (callback, ...rest) {
      const counted = (...given) => {
        number += 1;
        return callback(...given);
      };
      return method.call(this, typeof callback === "function" ? counted : callback, ...rest);
    };
  }
  try {
    act();
  } finally {
    for (const [name, method] of own) Array.prototype[name] = method;
  }
  return number;
}

/** Traces of `size` spans that were quadratic to read. */
const GROWING = {
  "messages that name a trace, before all of its models": (size) => {
    const spans = Array.from({ length: size }, (_, at) =>
      span(`m${at}`, undefined, [1000 + at, 9000], chat([ASK], [ANSWER])),
    );
    return request(
      spans,
      spans.map(() => log("", "gen_ai.choice", {}, { message: { content: "x" } })),
    );
  },
  "traces that go on with one another": (size) => {
    const spans = Array.from({ length: size }, (_, at) => ({
      ...span(`m${at}`, undefined, [at, at + 1], chat([at === 0 ? ASK : GIVEN], [ANSWER], IN_CONVERSATION)),
      traceId: String(at),
    }));
    return request(spans);
  },
  "agents that hold all of their calls": (size) => {
    const question = { contents: [{ role: "user", parts: [{ text: "Go." }] }] };
    const attributes = { "openinference.span.kind": "LLM", "input.value": JSON.stringify(question) };
    const answered = JSON.stringify({ content: { role: "model", parts: [{ text: "Gone." }] } });
    const spans = Array.from({ length: size }, (_, at) =>
      span(String(at), at === 0 ? undefined : "0", [at, size], { ...attributes, "output.value": answered }),
    );
    return request(spans.map((one) => ({ ...one, name: "invoke_agent a" })));
  },
};

for (const [name, traces] of Object.entries(GROWING)) {
  test(`the work for ${name} grows with their number`, () => {
    const [some, twice] = [500, 1000].map((size) => {
      const text = JSON.stringify(traces(size));
      return callbacksOf(() => readTraces(text));
    });
    assert.ok(twice < 2.5 * some, `${some}, then ${twice}`);
  });
}
