// Inputs for RougeEvaluator: tables of texts that look hard to split, then seeded mixtures of scripts.

import { createRandom } from "./random.mjs";

export const ROUGE = "response_match_score";

const turn = (finalResponse) => ({
  userContent: { role: "user", parts: [{ text: "q" }] },
  ...(finalResponse === undefined ? {} : { finalResponse }),
  creationTimestamp: 0,
});

/** An invocation whose final response has one part per text. */
export const says = (...texts) => turn({ role: "model", parts: texts.map((text) => ({ text })) });

const metric = (threshold, extra = {}) => ({
  metricName: ROUGE,
  ...(threshold === undefined ? {} : { threshold }),
  ...extra,
});

/** `[name, response, reference]` */
const PAIRS = [
  ["equal", "The cat sat.", "The cat sat."],
  ["equal but for case", "THE CAT SAT", "the cat sat"],
  ["nothing shared", "alpha beta", "gamma delta"],
  ["half shared", "alpha beta", "beta gamma"],
  ["one of three", "a b c", "c d e f"],
  ["empty response", "", "a"],
  ["empty reference", "a", ""],
  ["both empty", "", ""],
  ["white space only", " \t\n", "a"],
  ["punctuation only in one", "!?.", "a"],
  ["punctuation only in both", "!?.", "!?."],
  ["repeated tokens count once", "the the the cat", "the cat cat"],
  ["word order is ignored", "c b a", "a b c"],
  ["no stemming", "cats running", "cat run"],
  ["hyphens split", "state-of-the-art", "state of the art"],
  ["apostrophes split", "don't can't", "don t can"],
  ["underscores join", "snake_case __init__", "snake case init"],
  ["underscores alone are tokens", "_ __", "__ ___"],
  ["digits are tokens", "3.14 and 1,000", "3 14 and 1 000"],
  ["digits inside words", "gpt4 v2beta", "GPT4 V2BETA"],
  ["numbers in other scripts are not tokens", "٣ ३ 3", "3 4"],
  ["accents split words", "café naïve", "caf na ve"],
  ["precomposed and decomposed", "caf\u00e9", "cafe\u0301"],
  ["CJK yields no tokens", "今日はいい天気です", "今日はいい天気です"],
  ["CJK around ASCII", "使用Python编程", "python"],
  ["Thai yields no tokens", "สวัสดี", "สวัสดี"],
  ["Hangul around digits", "서울2024년", "2024"],
  ["Cyrillic yields no tokens", "привет мир", "привет мир"],
  ["Arabic with ASCII", "مرحبا hello", "hello"],
  ["emoji yield no tokens", "😀 🎉", "😀 🎉"],
  ["emoji split words", "good😀morning", "good morning"],
  ["a family emoji splits once", "a👩‍👩‍👧b", "a b"],
  ["İ becomes i and a separator", "İstanbul", "i stanbul"],
  ["İ against the plain word", "İstanbul", "istanbul"],
  ["ı is not a token", "ısı", "s"],
  ["ß is a separator and not ss", "Straße", "strasse stra e"],
  ["ẞ lower-cases to ß", "STRAẞE", "stra e"],
  ["K, the Kelvin sign, becomes k", "300\u212a \u212aelvin", "300k kelvin"],
  ["Å, the ångström sign, is a separator", "\u212bngstr", "ngstr"],
  ["ſ stays and splits", "ſet", "et set"],
  ["full-width letters yield no tokens", "ＡＢＣ", "abc"],
  ["ligatures are not decomposed", "ﬁne", "fine ne"],
  ["superscripts and fractions", "x² ½cup", "x cup"],
  ["final sigma", "ΟΔΟΣ a", "a"],
  ["U+FEFF separates", "a\ufeffb", "a b"],
  ["U+FEFF only", "\ufeff", "a"],
  ["U+00A0 separates", "a\u00a0b", "a b"],
  ["U+3000 and U+2009 separate", "a\u3000b\u2009c", "a b c"],
  ["U+2028 and U+2029 separate", "a\u2028b\u2029c", "a b c"],
  ["U+180E, U+200B and U+0085 separate", "a\u180eb\u200bc\u0085d", "a b c d"],
  ["U+001C to U+001F separate", "a\u001cb\u001dc\u001ed\u001fe", "a b c d e"],
  ["NUL separates", "a\u0000b", "a b"],
  ["CRLF and tabs", "a\r\nb\tc\u000bd\u000ce", "a b c d e"],
  ["words of prototypes", "constructor __proto__ hasOwnProperty", "__proto__ constructor"],
  ["Markdown", "**Bold** _it_ `code` [a](http://x.y)", "bold it code a http x y"],
  ["JSON text", '{"a": [1, 2], "b_c": null}', "a 1 2 b_c null"],
];

const text = (value) => ({ text: value });
const content = (...parts) => turn({ role: "model", parts });

/** `[name, actual invocations, expected invocations]`; run with every metric of `METRICS`. */
const DATA_STATES = [
  ["no invocations", [], []],
  ["no invocations but one expected", [], [says("a")]],
  ["finalResponse absent in actual", [turn()], [says("a")]],
  ["finalResponse absent in expected", [says("a")], [turn()]],
  ["finalResponse absent in both", [turn()], [turn()]],
  ["finalResponse null", [turn(null)], [says("a")]],
  ["finalResponse without parts", [turn({ role: "model" })], [says("a")]],
  ["parts null", [turn({ role: "model", parts: null })], [says("a")]],
  ["parts empty", [content()], [says("a")]],
  ["empty text", [says("")], [says("a")]],
  ["one scored, one missing", [says("a b"), turn()], [says("a b"), says("c")]],
  ["scores 1, 2/3 and 0", [says("a"), says("a b"), says("x")], [says("a"), says("a"), says("y")]],
  ["score 1/2", [says("a b")], [says("a c")]],
  ["score 0.8", [says("a b c d e")], [says("a b c d x")]],
  ["score 2/3", [says("a b")], [says("a")]],
  ["more expected than actual", [says("a")], [says("a"), says("b")]],
  ["more actual than expected", [says("a"), says("b")], [says("a")]],
];

const METRICS = [
  ["threshold 1", metric(1)],
  ["threshold 0.8", metric(0.8)],
  ["threshold 2/3", metric(2 / 3)],
  ["threshold 0.5", metric(0.5)],
  ["threshold 0", metric(0)],
  ["no threshold", metric(undefined)],
  ["threshold null", metric(null)],
  ["only criterion.threshold", metric(undefined, { criterion: { threshold: 0.25 } })],
  ["criterion.threshold below threshold", metric(0.9, { criterion: { threshold: 0.25 } })],
  ["legacy name", { metricName: "response_match", threshold: 0.5 }],
];

const PARTS = [
  ["two parts are joined by a separator", [content(text("foo"), text("bar"))], [says("foo bar")]],
  ["two parts do not make one word", [content(text("foo"), text("bar"))], [says("foobar")]],
  ["an empty part between two", [content(text("foo"), text(""), text("bar"))], [says("foo bar")]],
  ["a part without text", [content(text("foo"), { functionCall: { name: "f", args: {} } })], [says("foo")]],
  ["a part with null text", [content({ text: null }, text("foo"))], [says("foo")]],
  ["thoughts count", [content({ text: "think", thought: true }, text("say"))], [says("think say")]],
  ["the role is ignored", [turn({ role: "user", parts: [text("foo")] })], [says("foo")]],
  ["many parts", [content(..."a b c d e f".split(" ").map(text))], [content(text("a b c"), text("d e f"))]],
];

const MALFORMED = [
  ["an invocation is null", [null], [says("a")]],
  ["an expected invocation is null", [says("a")], [null]],
  ["a part is null", [content(null)], [says("a")]],
  ["an expected part is null", [says("a")], [content(null)]],
  ["parts are an object", [turn({ parts: {} })], [says("a")]],
  ["parts are text", [turn({ parts: "ab" })], [says("a")]],
  ["parts are empty text", [turn({ parts: "" })], [says("a")]],
  ["part text is a number", [content({ text: 42 })], [says("42")]],
  ["part text is zero", [content({ text: 0 })], [says("0")]],
  ["part text is true", [content({ text: true })], [says("true")]],
  ["part text is a list", [content({ text: ["a", "b"] })], [says("a b")]],
  ["part text is an object", [content({ text: {} })], [says("object")]],
  ["finalResponse is text", [turn("a")], [says("a")]],
];

const FRAGMENTS = [
  "the",
  "The",
  "a",
  "of",
  "agent",
  "agents",
  "weather",
  "Paris",
  "in",
  "is",
  "20",
  "3",
  "7_days",
  "_x",
  "I",
  "OK",
  "e",
  "don't",
  "U.S.",
  "e-mail",
  "can’t",
  "naïve",
  "café",
  "über",
  "Straße",
  "İzmir",
  "ısı",
  "ΟΔΟΣ",
  "Москва",
  "天气",
  "東京tower",
  "안녕",
  "สวัสดี",
  "مرحبا",
  "नमस्ते",
  "😀",
  "👍🏽",
  "x²",
  "ﬁne",
  "Ａ",
  "\u212a",
  "ſ",
  "½",
  "№5",
  "€10",
  "C++",
  "a/b",
  "{}",
  "—",
  "…",
];
const SEPARATORS = [
  " ",
  " ",
  " ",
  " ",
  ", ",
  ". ",
  "\n",
  "\t",
  "-",
  "_",
  "",
  "\u00a0",
  "\ufeff",
  "\u3000",
  "\u200b",
  "\u2028",
  "\u0085",
  "\u001f",
];
const ODD_RANGES = [
  [0x21, 0x7e],
  [0xa0, 0x24f],
  [0x370, 0x52f],
  [0x1e00, 0x1fff],
  [0x2000, 0x214f],
  [0x2c00, 0x2cff],
  [0x4e00, 0x4e40],
  [0xff01, 0xff5e],
  [0x10400, 0x1044f],
  [0x1f600, 0x1f64f],
];

function randomText(random, fragments) {
  let joined = "";
  for (let left = random.pick([0, 1, 2, 4, 8, 16, 30]); left > 0; left--) {
    joined += random.pick(fragments) + random.pick(SEPARATORS);
  }
  return joined;
}

function randomCharacters(random) {
  return Array.from({ length: random.between(1, 12) }, () =>
    String.fromCodePoint(random.between(...random.pick(ODD_RANGES))),
  ).join("");
}

/** A text that shares some of its fragments with `reference`. */
function paraphrase(random, reference, fragments) {
  return reference
    .split(" ")
    .map((word) => (random.chance(0.25) ? random.pick(fragments) : word))
    .filter(() => !random.chance(0.1))
    .join(" ");
}

/** The response cut into parts at random places. */
function inParts(random, whole) {
  const characters = [...whole];
  if (characters.length < 2 || !random.chance(0.15)) return says(whole);
  const at = random.between(1, characters.length - 1);
  return says(characters.slice(0, at).join(""), characters.slice(at).join(""));
}

const SEEDED_THRESHOLDS = [0.8, 0.5, 1, 2 / 3, 0];

function seededCase(random, index) {
  const actual = [];
  const expected = [];
  const fragments = random.chance(0.4) ? FRAGMENTS.slice(0, 17) : FRAGMENTS;
  for (let turns = random.pick([1, 1, 1, 2, 3, 5]); turns > 0; turns--) {
    const reference = random.chance(0.15) ? randomCharacters(random) : randomText(random, fragments);
    const response = random.chance(0.8) ? paraphrase(random, reference, fragments) : randomText(random, fragments);
    expected.push(random.chance(0.02) ? turn() : inParts(random, reference));
    actual.push(random.chance(0.02) ? turn() : inParts(random, response));
  }
  return { name: `rouge/seeded ${index}`, metric: metric(random.pick(SEEDED_THRESHOLDS)), actual, expected };
}

/** Every case: the tables, then `seededCount` random ones. */
export function rougeCases(seed, seededCount) {
  const random = createRandom(seed);
  return [
    ...PAIRS.map(([name, response, reference]) => ({
      name: `rouge/${name}`,
      metric: metric(0.8),
      actual: [says(response)],
      expected: [says(reference)],
    })),
    ...PARTS.map(([name, actual, expected]) => ({ name: `rouge/${name}`, metric: metric(1), actual, expected })),
    ...DATA_STATES.flatMap(([name, actual, expected]) =>
      METRICS.map(([metricName, given]) => ({ name: `rouge/${name}, ${metricName}`, metric: given, actual, expected })),
    ),
    ...MALFORMED.map(([name, actual, expected]) => ({
      name: `malformed/rouge, ${name}`,
      metric: metric(0.8),
      actual,
      expected,
    })),
    ...Array.from({ length: seededCount }, (_, index) => seededCase(random, index)),
  ];
}
