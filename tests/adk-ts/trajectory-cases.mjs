// Inputs for TrajectoryEvaluator: a table of single differences, then seeded mutations of random trajectories.

import { createRandom } from "./random.mjs";

export const TRAJECTORY = "tool_trajectory_avg_score";

const turn = (intermediateData) => ({
  userContent: { role: "user", parts: [{ text: "q" }] },
  ...(intermediateData === undefined ? {} : { intermediateData }),
  creationTimestamp: 0,
});

/** An invocation whose trajectory is `toolUses`. */
export const calls = (...toolUses) => turn({ toolUses, intermediateResponses: [] });
const call = (name, args) => (args === undefined ? { name } : { name, args });

const WEATHER = call("get_weather", { city: "Paris", unit: "C" });
const SEARCH = call("search", { query: "hotels", limit: 3 });
const BOOK = call("book", { id: 7, guests: [{ name: "Ana" }, { name: "Bo" }] });

/** `[name, actual toolUses, expected toolUses]`; each is one invocation with threshold 1. */
const PAIRS = [
  ["the same call", [WEATHER], [WEATHER]],
  ["the same three calls", [WEATHER, SEARCH, BOOK], [WEATHER, SEARCH, BOOK]],
  ["a missing call", [WEATHER], [WEATHER, SEARCH]],
  ["an extra call", [WEATHER, SEARCH], [WEATHER]],
  ["two calls swapped", [SEARCH, WEATHER], [WEATHER, SEARCH]],
  ["a repeated call", [WEATHER, WEATHER], [WEATHER]],
  ["no calls on either side", [], []],
  ["none called, one expected", [], [WEATHER]],
  ["one called, none expected", [WEATHER], []],
  ["another tool", [call("search", { city: "Paris", unit: "C" })], [WEATHER]],
  ["a tool name in another case", [call("Get_Weather", { city: "Paris", unit: "C" })], [WEATHER]],
  ["top-level keys in another order", [call("get_weather", { unit: "C", city: "Paris" })], [WEATHER]],
  ["nested keys in another order", [call("t", { a: { x: 1, y: 2 } })], [call("t", { a: { y: 2, x: 1 } })]],
  ["nested keys in the same order", [call("t", { a: { x: 1, y: 2 } })], [call("t", { a: { x: 1, y: 2 } })]],
  ["keys in another order inside a list", [call("t", { a: [{ x: 1, y: 2 }] })], [call("t", { a: [{ y: 2, x: 1 }] })]],
  ["list elements in another order", [call("t", { a: [1, 2] })], [call("t", { a: [2, 1] })]],
  ["args absent and empty", [call("t")], [call("t", {})]],
  ["args empty and absent", [call("t", {})], [call("t")]],
  ["args absent on both sides", [call("t")], [call("t")]],
  ["args null and empty", [call("t", null)], [call("t", {})]],
  ["args null and absent", [call("t", null)], [call("t")]],
  ["args null and given", [call("t", null)], [call("t", { a: 1 })]],
  ["a null argument and a missing one", [call("t", { a: null })], [call("t", {})]],
  ["a null argument on both sides", [call("t", { a: null })], [call("t", { a: null })]],
  ["a null argument under another key", [call("t", { a: null })], [call("t", { b: null })]],
  ["a nested null and a missing key", [call("t", { a: { b: null } })], [call("t", { a: {} })]],
  ["an argument added", [call("t", { a: 1, b: 2 })], [call("t", { a: 1 })]],
  ["an argument dropped", [call("t", { a: 1 })], [call("t", { a: 1, b: 2 })]],
  ["a number and its text", [call("t", { a: 1 })], [call("t", { a: "1" })]],
  ["one and true", [call("t", { a: 1 })], [call("t", { a: true })]],
  ["zero and false", [call("t", { a: 0 })], [call("t", { a: false })]],
  ["an empty list and an empty object", [call("t", { a: [] })], [call("t", { a: {} })]],
  ["a list and its element", [call("t", { a: [1] })], [call("t", { a: 1 })]],
  ["empty text and null", [call("t", { a: "" })], [call("t", { a: null })]],
  ["nearly equal doubles", [call("t", { a: 0.1 + 0.2 })], [call("t", { a: 0.3 })]],
  ["equal doubles", [call("t", { a: 1e-7, b: 1.5e300 })], [call("t", { a: 1e-7, b: 1.5e300 })]],
  ["ids differ", [{ id: "call-1", ...WEATHER }], [{ id: "call-2", ...WEATHER }]],
  ["an id on one side", [{ id: "call-1", ...WEATHER }], [WEATHER]],
  ["a non-ASCII tool name", [call("天気を調べる", { 都市: "東京" })], [call("天気を調べる", { 都市: "東京" })]],
  ["a tool name in NFC and NFD", [call("caf\u00e9")], [call("cafe\u0301")]],
  ["an argument key in NFC and NFD", [call("t", { "caf\u00e9": 1 })], [call("t", { "cafe\u0301": 1 })]],
  ["an argument value in NFC and NFD", [call("t", { a: "caf\u00e9" })], [call("t", { a: "cafe\u0301" })]],
  ["an emoji argument", [call("t", { a: "👩‍👩‍👧" })], [call("t", { a: "👩‍👩‍👧" })]],
  [
    "keys that sort apart by UTF-16 and by code point",
    [call("t", { "\uffee": 1, "😀": 2 })],
    [call("t", { "😀": 2, "\uffee": 1 })],
  ],
  ["the empty key", [call("t", { "": 1 })], [call("t", { "": 1 })]],
  [
    "keys with the words of Object",
    [call("t", { constructor: 1, toString: 2 })],
    [call("t", { toString: 2, constructor: 1 })],
  ],
  ["white space around a value", [call("t", { a: "x " })], [call("t", { a: "x" })]],
  ["control characters and quotes", [call("t", { a: '"\\\b\u0000\u2028' })], [call("t", { a: '"\\\b\u0000\u2028' })]],
  ["empty tool names", [call("")], [call("")]],
  ["no tool name on either side", [{ args: { a: 1 } }], [{ args: { a: 1 } }]],
  ["a tool name on one side", [{ args: {} }], [call("", {})]],
];

const LIST = [WEATHER, SEARCH];
/** `[name, actual invocations, expected invocations]`; run with every threshold of `THRESHOLDS`. */
const DATA_STATES = [
  ["no invocations", [], []],
  ["no invocations but one expected", [], [calls(WEATHER)]],
  ["intermediateData absent in actual", [turn()], [calls(WEATHER)]],
  ["intermediateData absent in expected", [calls(WEATHER)], [turn()]],
  ["intermediateData absent in both", [turn()], [turn()]],
  ["intermediateData null", [turn(null)], [calls(WEATHER)]],
  ["toolUses absent", [turn({ intermediateResponses: [] })], [calls(WEATHER)]],
  ["toolUses null", [calls(WEATHER)], [turn({ toolUses: null, intermediateResponses: [] })]],
  ["one evaluated, one without data", [calls(...LIST), turn()], [calls(...LIST), calls(...LIST)]],
  ["one failed, one without data", [calls(WEATHER), turn()], [calls(SEARCH), calls(SEARCH)]],
  ["one of two equal", [calls(WEATHER), calls(SEARCH)], [calls(WEATHER), calls(BOOK)]],
  ["two of three equal", [calls(WEATHER), calls(SEARCH), calls()], [calls(WEATHER), calls(BOOK), calls()]],
  ["more expected than actual", [calls(WEATHER)], [calls(WEATHER), calls(SEARCH)]],
  ["more actual than expected", [calls(WEATHER), calls(SEARCH)], [calls(WEATHER)]],
  ["more actual than expected, the extra without data", [calls(WEATHER), turn()], [calls(WEATHER)]],
];

const metric = (threshold, extra = {}) => ({
  metricName: TRAJECTORY,
  ...(threshold === undefined ? {} : { threshold }),
  ...extra,
});

/** Metrics as given: equality, both sides of it, none, null, and a criterion that the evaluator does not read. */
const METRICS = [
  ["threshold 1", metric(1)],
  ["threshold 0.5", metric(0.5)],
  ["threshold 0", metric(0)],
  ["threshold -1", metric(-1)],
  ["threshold 2", metric(2)],
  ["threshold two thirds", metric(2 / 3)],
  ["no threshold", metric(undefined)],
  ["threshold null", metric(null)],
  ["only criterion.threshold", metric(undefined, { criterion: { threshold: 0.5 } })],
  ["criterion.threshold below threshold", metric(1, { criterion: { threshold: 0.25 } })],
  ["legacy name", { metricName: "tool_trajectory_score", threshold: 0.5 }],
];

const MALFORMED = [
  ["an invocation is null", [null], [calls()]],
  ["an expected invocation is null", [calls()], [null]],
  ["a call is null", [calls(null)], [calls(WEATHER)]],
  ["an expected call is null", [calls(WEATHER)], [calls(null)]],
  ["toolUses is an object", [turn({ toolUses: {} })], [turn({ toolUses: {} })]],
  ["toolUses is text of another length", [turn({ toolUses: "ab" })], [calls(WEATHER)]],
  ["toolUses is text of the same length", [turn({ toolUses: "a" })], [calls(WEATHER)]],
  ["toolUses is zero", [turn({ toolUses: 0 })], [calls(WEATHER)]],
  ["args are a number and empty", [calls({ name: "t", args: 5 })], [calls(call("t", {}))]],
  [
    "args are text and a list of its letters",
    [calls({ name: "t", args: "ab" })],
    [calls({ name: "t", args: ["a", "b"] })],
  ],
  [
    "args are a list and an object of its indices",
    [calls({ name: "t", args: [4, 5] })],
    [calls(call("t", { 0: 4, 1: 5 }))],
  ],
  ["names are equal numbers", [calls({ name: 1 })], [calls({ name: 1 })]],
  ["a name is null and absent", [calls({ name: null })], [calls({})]],
];

const TOOLS = [
  "get_weather",
  "search",
  "book_flight",
  "send_email",
  "lookup",
  "αναζήτηση",
  "検索",
  "tool.v2",
  "a b",
  "🔧",
];
const KEYS = [
  "city",
  "query",
  "limit",
  "filters",
  "id",
  "tags",
  "opts",
  "x",
  "y",
  "ключ",
  "鍵",
  "é",
  "e\u0301",
  "_",
  "a b",
];
const WORDS = [
  "Paris",
  "hotel",
  "naïve",
  "東京",
  "",
  "0",
  "1",
  "true",
  "null",
  "line\nbreak",
  '"quoted"',
  "🎉",
  "İ",
  "ß",
  "\u00a0",
];
const NUMBERS = [0, 1, -1, 2.5, 1e21, 1e-7, 123456789, 0.1, 4294967295, 5e-324];

function randomValue(random, depth) {
  const kind = random.between(0, depth > 0 ? 6 : 4);
  if (kind <= 1) return random.pick(WORDS);
  if (kind === 2) return random.pick(NUMBERS);
  if (kind === 3) return random.chance(0.5);
  if (kind === 4) return null;
  if (kind === 5) return Array.from({ length: random.between(0, 3) }, () => randomValue(random, depth - 1));
  return randomArgs(random, depth - 1);
}

function randomArgs(random, depth) {
  const keys = random.shuffled(KEYS).slice(0, random.between(0, 3));
  return Object.fromEntries(keys.map((key) => [key, randomValue(random, depth)]));
}

function randomCall(random) {
  const form = random.between(0, 9);
  const name = random.pick(TOOLS);
  if (form === 0) return { name };
  if (form === 1) return { name, args: null };
  if (form === 2) return { id: `c${random.between(0, 99)}`, name, args: randomArgs(random, 2) };
  return { name, args: randomArgs(random, 2) };
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** The same value with the keys of every object, down to `depth` levels, in another order. */
function reordered(random, value, depth) {
  if (depth === 0 || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((element) => reordered(random, element, depth - 1));
  return Object.fromEntries(
    random.shuffled(Object.entries(value)).map(([key, inner]) => [key, reordered(random, inner, depth - 1)]),
  );
}

function withArgs(toolCall, change) {
  return isObject(toolCall.args) ? { ...toolCall, args: change(toolCall.args) } : toolCall;
}

function onOne(random, list, change) {
  if (list.length === 0) return list;
  const at = random.between(0, list.length - 1);
  return list.map((item, index) => (index === at ? change(item) : item));
}

const MUTATIONS = {
  same: (_random, list) => list,
  "keys reordered": (random, list) => list.map((c) => withArgs(c, (args) => reordered(random, args, 1))),
  "nested keys reordered": (random, list) => list.map((c) => withArgs(c, (args) => reordered(random, args, 4))),
  "a call dropped": (random, list) => list.filter((_, index) => index !== random.between(0, 1)),
  "a call added": (random, list) => [...list, randomCall(random)],
  "calls shuffled": (random, list) => random.shuffled(list),
  "a tool renamed": (random, list) => onOne(random, list, (c) => ({ ...c, name: random.pick(TOOLS) })),
  "args removed": (random, list) => onOne(random, list, ({ args: _args, ...rest }) => rest),
  "args emptied": (random, list) => onOne(random, list, (c) => ({ ...c, args: {} })),
  "args nulled": (random, list) => onOne(random, list, (c) => ({ ...c, args: null })),
  "an argument set": (random, list) =>
    onOne(random, list, (c) => withArgs(c, (args) => ({ ...args, [random.pick(KEYS)]: randomValue(random, 2) }))),
  "an argument dropped": (random, list) =>
    onOne(random, list, (c) => withArgs(c, (args) => Object.fromEntries(Object.entries(args).slice(1)))),
  "id changed": (random, list) => onOne(random, list, (c) => ({ ...c, id: "other" })),
};

const SEEDED_THRESHOLDS = [1, 0.5, 0.8, 1 / 3, 2 / 3, 0];

function seededCase(random, index) {
  const names = [];
  const actual = [];
  const expected = [];
  for (let turns = random.pick([1, 1, 1, 2, 3, 4]); turns > 0; turns--) {
    const list = Array.from({ length: random.pick([0, 1, 1, 2, 2, 3]) }, () => randomCall(random));
    const name = random.pick(Object.keys(MUTATIONS));
    names.push(name);
    expected.push(random.chance(0.03) ? turn() : calls(...list));
    actual.push(random.chance(0.03) ? turn() : calls(...MUTATIONS[name](random, list)));
  }
  if (random.chance(0.05)) expected.push(calls());
  return {
    name: `trajectory/seeded ${index}: ${names.join(", ")}`,
    metric: metric(random.pick(SEEDED_THRESHOLDS)),
    actual,
    expected,
  };
}

/** Every case: the tables, then `seededCount` random ones. */
export function trajectoryCases(seed, seededCount) {
  const random = createRandom(seed);
  return [
    ...PAIRS.map(([name, actual, expected]) => ({
      name: `trajectory/${name}`,
      metric: metric(1),
      actual: [calls(...actual)],
      expected: [calls(...expected)],
    })),
    ...DATA_STATES.flatMap(([name, actual, expected]) =>
      METRICS.map(([metricName, given]) => ({
        name: `trajectory/${name}, ${metricName}`,
        metric: given,
        actual,
        expected,
      })),
    ),
    ...MALFORMED.map(([name, actual, expected]) => ({
      name: `malformed/trajectory, ${name}`,
      metric: metric(1),
      actual,
      expected,
    })),
    ...Array.from({ length: seededCount }, (_, index) => seededCase(random, index)),
  ];
}
