// Seeded datasets for the benchmarks: evalsets with the runs to score, as objects and as UTF-8 JSON.
//
// Words are drawn with Zipf-like frequencies from a few thousand distinct ones, sentences carry capitals, punctuation,
// numbers and line breaks, and a response is a noisy paraphrase of its reference, so that tokenizers, stemmers and hash
// tables meet what they meet in practice. Everything follows from the seed; nothing is read from the machine.

import { createRandom } from "../../tests/adk-ts/random.mjs";

const FUNCTION_WORDS =
  `the of and to a in is that for it with as on be are you this by from or your can an will have not at if
we our they has was but all any which more their when there one what so no out up do about into than its other may time also
how some these would who been were only my should use need please like each after before over between through where most both
because while then first new two here available see get make want know take find using between per day back now next`
    .split(/\s+/)
    .filter((word, index, words) => words.indexOf(word) === index);

const STEMS =
  `relat connect generat document agent respons question answer weather travel hotel flight book reserv confirm cancel
order product custom account balanc transfer payment invoic refund deliver address status update schedul calendar meet remind
search result recommend restaurant locat direct distanc temperatur forecast rain cloud market stock price compar analys report
summar translat languag model context memor tool call function argument return error retri valid secur permiss access request
server network system process databas storag file folder format convert select filter sort group aggregat calculat estimat
predict measur monitor alert notif messag convers session history preferenc sett profil member subscript discount offer
promot categor inventor ship packag track region countr citi airport station passeng ticket seat luggag depart arriv delay
insur polici cover claim medic patient appoint doctor symptom treat research stud experiment theor method observ evid
histor cultur museum gallery music concert movie recip ingredi cook bak tast season garden plant anim speci environment
energi electr vehicl engin design construct material structur architect develop program softwar hardware devic interfac`.split(
    /\s+/,
  );

const SUFFIXES = [
  "",
  "e",
  "es",
  "s",
  "ed",
  "ing",
  "ion",
  "ions",
  "er",
  "ers",
  "able",
  "ment",
  "ness",
  "ly",
  "ive",
  "ational",
  "ize",
  "ized",
  "ful",
  "ality",
];

const HAN =
  `的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么
去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问
很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口
认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却
界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运`.replace(
    /\s/g,
    "",
  );

const EXOTIC = [
  "café",
  "naïve",
  "Zürich",
  "São",
  "Москва",
  "погода",
  "안녕하세요",
  "서울",
  "天気",
  "ありがとう",
  "✅",
  "🚀",
  "👍🏽",
  "→",
  "№5",
  "½",
  "ｶﾀｶﾅ",
  "ﬁle",
];

const TOOLS = [
  "get_weather",
  "search_flights",
  "book_hotel",
  "send_email",
  "lookup_customer",
  "create_ticket",
  "list_orders",
  "convert_currency",
  "run_query",
];

/** Words by rank: the function words lead, then stems with endings in a seeded order. */
function englishWords(random) {
  const derived = STEMS.flatMap((stem) => SUFFIXES.map((suffix) => stem + suffix));
  return [...FUNCTION_WORDS, ...random.shuffled(derived)];
}

/** Words of one to three characters, single characters most often. */
function chineseWords(random) {
  const characters = [...HAN];
  const compounds = Array.from({ length: 3000 }, () => {
    const length = random.chance(0.85) ? 2 : 3;
    return Array.from({ length }, () => random.pick(characters)).join("");
  });
  return [...characters.slice(0, 120), ...compounds];
}

/** A function that draws words with probability proportional to 1 / (rank + 2.7), in O(log n). */
function zipf(random, words) {
  const cumulative = [];
  let total = 0;
  words.forEach((_, rank) => {
    total += 1 / (rank + 2.7);
    cumulative.push(total);
  });
  return () => {
    const target = random.next() * total;
    let low = 0;
    let high = cumulative.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle] < target) low = middle + 1;
      else high = middle;
    }
    return words[low];
  };
}

/** For each language: how to draw a word, and what to put between and after words. */
const LANGUAGES = {
  english: (random) => {
    const word = zipf(random, englishWords(random));
    return {
      word: () => (random.chance(0.03) ? String(random.between(1, 9999)) : word()),
      space: " ",
      comma: ",",
      stop: ".",
    };
  },
  chinese: (random) => {
    const word = zipf(random, chineseWords(random));
    return {
      word: () => (random.chance(0.02) ? String(random.between(1, 9999)) : word()),
      space: "",
      comma: "，",
      stop: "。",
    };
  },
  mixed: (random) => {
    const english = zipf(random, englishWords(random));
    const chinese = zipf(random, chineseWords(random));
    const word = () => (random.chance(0.55) ? english() : random.chance(0.75) ? chinese() : random.pick(EXOTIC));
    return { word, space: " ", comma: ",", stop: "." };
  },
};

const capitalized = (word) => word.charAt(0).toUpperCase() + word.slice(1);

/** Running text of the given words: sentences of 6 to 18 words, every fifth of them ends a paragraph. */
function prose(random, language, words) {
  let text = "";
  let left = 0;
  words.forEach((word, index) => {
    const opens = left === 0;
    if (opens) left = random.between(6, 18);
    left--;
    text += opens ? capitalized(word) : word;
    if (left === 0 || index === words.length - 1)
      text += language.stop + (random.chance(0.2) ? "\n\n" : language.space);
    else text += (random.chance(0.08) ? language.comma : "") + language.space;
  });
  return text.trimEnd();
}

/** The same words with some replaced, dropped, added and moved. */
function paraphrased(random, language, words) {
  const changed = [];
  for (const word of words) {
    const roll = random.next();
    if (roll < 0.15) changed.push(language.word());
    else if (roll >= 0.22) changed.push(word);
    if (random.chance(0.08)) changed.push(language.word());
    if (changed.length > 1 && random.chance(0.05)) changed.push(changed.splice(changed.length - 2, 1)[0]);
  }
  return changed.length > 0 ? changed : words;
}

const content = (role, text) => ({ role, parts: [{ text }] });

function evalSetOf(id, conversations) {
  return {
    evalSetId: id,
    name: id,
    evalCases: conversations.map((conversation, index) => ({ evalId: `case-${index}`, conversation })),
    creationTimestamp: 1_700_000_000,
  };
}

const encoder = new TextEncoder();

/** `size` is about how many words or values each side of a case holds. */
function datasetOf(name, size, metric, expected, actual) {
  const evalSet = evalSetOf(name, expected);
  const runs = evalSetOf(name, actual);
  const evalSetBytes = encoder.encode(JSON.stringify(evalSet));
  const actualBytes = encoder.encode(JSON.stringify(runs));
  return {
    name,
    size,
    metric,
    cases: expected.length,
    evalSet,
    actual: runs,
    evalSetBytes,
    actualBytes,
    bytes: evalSetBytes.length + actualBytes.length,
  };
}

/**
 * Pairs of texts: a reference and a noisy paraphrase of it.
 *
 * @param {{ language: keyof typeof LANGUAGES, words: number, count: number, seed?: number }} options
 * @returns {{ reference: string, candidate: string }[]}
 */
function textPairs({ language, words, count, seed = 1 }) {
  const random = createRandom(seed);
  const tongue = LANGUAGES[language](random);
  return Array.from({ length: count }, () => {
    const drawn = Array.from({ length: words }, tongue.word);
    return {
      reference: prose(random, tongue, drawn),
      candidate: prose(random, tongue, paraphrased(random, tongue, drawn)),
    };
  });
}

/**
 * Single-turn cases for response_match_score. With tools, each turn has a call whose answer is four times as long as the
 * response.
 *
 * @param {{ language: keyof typeof LANGUAGES, words: number, count: number, seed?: number, hasTools?: boolean }} options
 */
export function responseDataset(options) {
  const random = createRandom((options.seed ?? 1) + 1);
  const question = zipf(random, englishWords(random));
  const expected = [];
  const actual = [];
  const answers = options.hasTools ? textPairs({ ...options, words: 4 * options.words, seed: 5 }) : [];
  textPairs(options).forEach(({ reference, candidate }, index) => {
    const intermediateData = options.hasTools
      ? {
          toolUses: [{ name: "search", args: { query: "q" } }],
          toolResponses: [{ name: "search", response: { text: answers[index].reference } }],
        }
      : { toolUses: [], intermediateResponses: [] };
    const userContent = content("user", `${capitalized(Array.from({ length: 8 }, question).join(" "))}?`);
    const turn = (prefix, text) => ({
      invocationId: `${prefix}-${index}`,
      userContent,
      finalResponse: content("model", text),
      intermediateData,
      creationTimestamp: 1_700_000_000 + index,
    });
    expected.push([turn("expected", reference)]);
    actual.push([turn("actual", candidate)]);
  });
  const metric = { metricName: "response_match_score", threshold: 0.8 };
  const name = `${options.language}, ${options.words} words${options.hasTools ? ", with tools" : ""}`;
  return datasetOf(name, options.words, metric, expected, actual);
}

function toolArguments(random, word) {
  const args = { query: Array.from({ length: random.between(1, 5) }, word).join(" "), limit: random.between(1, 50) };
  if (random.chance(0.7))
    args.filters = {
      price: { min: random.between(0, 100), max: random.between(100, 900) },
      tags: [word(), word()],
      strict: random.chance(0.5),
    };
  if (random.chance(0.5))
    args.location = {
      city: capitalized(word()),
      lat: random.between(-9000, 9000) / 100,
      lon: random.between(-18000, 18000) / 100,
    };
  if (random.chance(0.3))
    args.items = Array.from({ length: random.between(1, 3) }, () => ({
      id: random.between(1, 99999),
      name: word(),
      note: null,
    }));
  return args;
}

const keysReordered = (random, args) => Object.fromEntries(random.shuffled(Object.entries(args)));

/** Two in three runs call what was expected, with argument names in another order; the others differ in one place. */
function toolRun(random, word, expected) {
  const called = expected.map(({ name, args }) => ({
    id: `call-${random.between(0, 999999)}`,
    name,
    args: keysReordered(random, args),
  }));
  const at = random.between(0, called.length - 1);
  switch (random.between(0, 11)) {
    case 0:
      return called.filter((_, index) => index !== at);
    case 1:
      called[at].args.limit += 1;
      return called;
    case 2:
      called[at].args.query = word();
      return called;
    case 3:
      called[at].name = "other_tool";
      return called;
    default:
      return called;
  }
}

/**
 * Single-turn cases for tool_trajectory_avg_score, one to six calls each with nested arguments.
 *
 * @param {{ count: number, seed?: number }} options
 */
function trajectoryDataset({ count, seed = 1 }) {
  const random = createRandom(seed + 2);
  const word = zipf(random, englishWords(random));
  const expected = [];
  const actual = [];
  for (let index = 0; index < count; index++) {
    const wanted = Array.from({ length: random.between(1, 6) }, () => ({
      name: random.pick(TOOLS),
      args: toolArguments(random, word),
    }));
    const turn = (prefix, toolUses) => ({
      invocationId: `${prefix}-${index}`,
      userContent: content("user", `${capitalized(word())} ${word()} ${word()}?`),
      finalResponse: content("model", `${capitalized(word())} ${word()}.`),
      intermediateData: { toolUses, intermediateResponses: [] },
      creationTimestamp: 1_700_000_000 + index,
    });
    expected.push([turn("expected", wanted)]);
    actual.push([turn("actual", toolRun(random, word, wanted))]);
  }
  return datasetOf("trajectories", 40, { metricName: "tool_trajectory_avg_score", threshold: 1 }, expected, actual);
}

/** The first `count` cases of a dataset, for contenders too slow for all of it. */
export function firstCases(dataset, count) {
  const conversations = (evalSet) => evalSet.evalCases.slice(0, count).map(({ conversation }) => conversation);
  return datasetOf(
    dataset.name,
    dataset.size,
    dataset.metric,
    conversations(dataset.evalSet),
    conversations(dataset.actual),
  );
}

/**
 * Every dataset of the benchmark. At scale 1 each holds some megabytes, so that a run takes tens of milliseconds.
 *
 * @param {number} scale Multiplies the number of cases.
 */
export function allDatasets(scale = 1) {
  const counts = { 10: 8000, 100: 2500, 1000: 300 };
  const cases = (count) => Math.max(1, Math.round(count * scale));
  const responses = Object.keys(LANGUAGES).flatMap((language) =>
    Object.entries(counts).map(([words, count]) =>
      responseDataset({ language, words: Number(words), count: cases(count) }),
    ),
  );
  const withTools = responseDataset({ language: "english", words: 100, count: cases(1000), hasTools: true });
  return [...responses, withTools, trajectoryDataset({ count: cases(4000) })];
}

/** Pairs of 20, 100 and 1000 words, for functions that score two strings. */
export function allPairs(scale = 1) {
  const counts = { 20: 2000, 100: 500, 1000: 50 };
  return Object.keys(LANGUAGES).flatMap((language) =>
    Object.entries(counts).map(([words, count]) => {
      const pairs = textPairs({
        language,
        words: Number(words),
        count: Math.max(1, Math.round(count * scale)),
        seed: 7,
      });
      const bytes = pairs.reduce(
        (sum, { reference, candidate }) => sum + encoder.encode(reference + candidate).length,
        0,
      );
      return { name: `${language}, ${words} words`, pairs, bytes };
    }),
  );
}
