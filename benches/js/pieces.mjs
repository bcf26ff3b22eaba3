// The longest piece for which `evaluate()` keeps a thread to itself, in milliseconds of wall-clock time, and how long it
// takes in all: `node benches/js/pieces.mjs [name…]`, after `npm run build`. The least of some runs, since whatever else runs
// on a machine only adds to it.

import { evaluate } from "../../pkg/dist/esm/node.js";

const encoder = new TextEncoder();
const bytes = (value) => encoder.encode(JSON.stringify(value));
const WORDS = "the agent looked up what the weather in London is like today and said that it will be sunny".split(" ");

const words = (count, seed) =>
  Array.from({ length: count }, (_, at) => WORDS[(at * 7 + seed) % WORDS.length]).join(" ");
const content = (text, role) => ({ role, parts: [{ text }] });
const turn = (text, at) => ({
  invocationId: `i${at}`,
  userContent: content("What is the weather like?", "user"),
  finalResponse: content(text, "model"),
  intermediateData: { toolUses: [{ name: "weather", args: { city: "London", day: at } }], toolResponses: [] },
});
const evalSet = (cases, turns, length) => ({
  evalSetId: "set",
  evalCases: Array.from({ length: cases }, (_, at) => ({
    evalId: `case ${at}`,
    conversation: Array.from({ length: turns }, (_, number) => turn(words(length, at + number), number)),
  })),
});

const criteria = { response_match_score: 0.5, tool_trajectory_avg_score: 1 };
const many = (count) => evalSet(count, 1, 10);
const fromBytes = (set) => {
  const text = bytes(set);
  return { evalSet: text, actual: text.slice(), criteria };
};

/** What is evaluated, by name. Each makes a request, which does not count. */
const REQUESTS = {
  "100,000 cases from bytes, no explanations": () => ({ ...fromBytes(many(100_000)), explain: "none" }),
  "100,000 cases from bytes": () => fromBytes(many(100_000)),
  "100,000 cases from text": () => {
    const text = JSON.stringify(many(100_000));
    return { evalSet: text, actual: text, criteria, explain: "none" };
  },
  "100,000 cases from objects, no explanations": () => {
    const set = many(100_000);
    return { evalSet: set, actual: structuredClone(set), criteria, explain: "none" };
  },
  "100,000 sessions from bytes, no explanations": () => {
    const part = (text, role) => ({ parts: [{ text }], role });
    const sessions = Array.from({ length: 100_000 }, (_, at) => ({
      id: `s${at}`,
      evalId: `case ${at}`,
      events: [
        { author: "user", invocationId: "i", content: part("What is the weather like?", "user") },
        { author: "agent", invocationId: "i", content: part(words(10, at), "model") },
      ],
    }));
    return { evalSet: bytes(many(100_000)), actual: bytes(sessions), criteria, explain: "none" };
  },
  "1 case of 10,000 turns": () => fromBytes(evalSet(1, 10_000, 10)),
  "1 case of 10,000 turns from objects": () => {
    const set = evalSet(1, 10_000, 10);
    return { evalSet: set, actual: structuredClone(set), criteria };
  },
  "2 texts of 5 MB, no explanations": () => ({ ...fromBytes(evalSet(1, 1, 1_000_000)), explain: "none" }),
  "2 texts of 5 MB": () => fromBytes(evalSet(1, 1, 1_000_000)),
  "a prompt of 3 MB": () => ({
    ...fromBytes(evalSet(1, 1, 300_000)),
    criteria: { final_response_match_v2: { threshold: 0.5, judgeModelOptions: { numSamples: 1 } } },
    judge: () => '{"is_the_agent_response_valid": "valid"}',
  }),
  "a reply that quotes a prompt of 3 MB": () =>
    judged(words(300_000, 1), (text, at) => text.slice(at * 1000, at * 1000 + 60)),
  "a reply searched for in a prompt of 3 MB made for it": () =>
    judged("It greets the ".repeat(220_000), (_, at) => `It greets the user ${at}`),
};

/** One response whose judge copies each rubric, of which the response may hold the words. */
function judged(response, propertyOf) {
  const rubrics = Array.from({ length: 40 }, (_, at) => ({
    rubricId: `r${at}`,
    rubricContent: { textProperty: propertyOf(response, at) },
  }));
  const entries = rubrics.map(({ rubricId: id, rubricContent: { textProperty: property } }) => {
    return { id, property, rationale: "It says so.", verdict: "yes" };
  });
  const set = evalSet(1, 1, 1);
  set.evalCases[0].conversation[0].finalResponse = content(response, "model");
  const options = { threshold: 0.5, rubrics, judgeModelOptions: { numSamples: 1 } };
  return {
    ...fromBytes(set),
    criteria: { rubric_based_final_response_quality_v1: options },
    judge: () => JSON.stringify({ rubrics: entries }),
  };
}

/** The longest time between two turns of the event loop while some work is under way, and how long that took. */
async function measure(work) {
  let longest = 0;
  let isOver = false;
  let last = performance.now();
  const gaps = [];
  const watch = () => {
    const now = performance.now();
    gaps.push(now - last);
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  const began = performance.now();
  await work();
  // Immediates come before timers, so the last piece is counted too.
  await new Promise((resolve) => setTimeout(resolve, 2));
  isOver = true;
  gaps.sort((a, b) => b - a);
  return { longest, total: performance.now() - began - 2, gaps: gaps.slice(0, 4) };
}

const RUNS = Number(process.env.RUNS ?? 3);
const names = process.argv.slice(2);
for (const [name, make] of Object.entries(REQUESTS)) {
  if (names.length > 0 && !names.some((part) => name.includes(part))) continue;
  const request = make();
  const runs = [];
  for (let run = 0; run < RUNS; run += 1) {
    runs.push(await measure(() => evaluate(request)));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const least = (key) => Math.min(...runs.map((run) => run[key]));
  console.log(
    `${name}: ${least("longest").toFixed(0)} ms in one piece, ${least("total").toFixed(0)} ms in all`,
    process.env.GAPS ? JSON.stringify(runs.map((r) => r.gaps.map(Math.round))) : "",
  );
}
