// Makes examples/*/judge.jsonl: what the command line replays instead of asking a judge. The replies are written by hand,
// in replies.json beside each recording. Recordings hold the prompts, so they are made anew when a prompt changes:
// `node scripts/record-examples.mjs`, after a build.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./setup.mjs";

const examples = join(root, "examples");
const NOTE =
  "The replies were written by hand for this project, not by a model; token counts are a quarter of the characters.";

/** The examples that ask a judge. */
export const judgedExamples = readdirSync(examples)
  .filter((name) => existsSync(join(examples, name, "replies.json")))
  .sort();

/** The recording of an example, relative to the repository. */
export const recordingFile = (name) => `examples/${name}/judge.jsonl`;

/** The recordings that are not what their replies and the prompts of today make. */
export async function staleRecordings() {
  const stale = [];
  for (const name of judgedExamples) {
    const file = join(root, recordingFile(name));
    if (!existsSync(file) || readFileSync(file, "utf8") !== (await record(name))) stale.push(recordingFile(name));
  }
  return stale;
}

/** The recording of an example: all samples of all questions, so that it serves votes that do not stop early too. */
async function record(name) {
  const { evaluate, recordJudge } = await import(pathToFileURL(join(root, "pkg/dist/esm/node.js")));
  const text = (file) => readFileSync(join(examples, name, file), "utf8");
  const [evalSet, actual, config] = [`${name}.evalset.json`, `${name}.actual.json`, "test_config.json"].map(text);
  const hand = new Hand(JSON.parse(text("replies.json")), ...[evalSet, actual, config].map((json) => JSON.parse(json)));
  let recording = "";
  const judge = recordJudge(
    async (request) => hand.reply(request),
    (line) => void (recording += line),
    { model: "written-by-hand", note: NOTE },
  );
  await evaluate({ evalSet, actual, config, judge, earlyStop: false, explain: "none", concurrency: 1 });
  hand.check();
  return recording;
}

/** Gives the replies of a `replies.json`, whose form examples/README.md describes. */
class Hand {
  #replies;
  #turns;
  #rubrics;
  #missing = [];
  #given = new Set();

  constructor(replies, evalSet, actual, config) {
    this.#replies = replies;
    this.#turns = new Map(actual.eval_cases.map(({ eval_id, conversation }) => [eval_id, conversation.length]));
    this.#rubrics = rubricsOf(evalSet, config);
  }

  reply(request) {
    const { metricName, evalId, invocationIndex, stepIndex, sampleIndex, prompt } = request;
    const about = this.#replies[metricName]?.[evalId] ?? {};
    const turn = invocationIndex === this.#turns.get(evalId) ? "end" : `turn ${invocationIndex + 1}`;
    const place = "conversation" in about ? "conversation" : turn;
    const index = metricName === "hallucinations_v1" ? stepIndex : sampleIndex;
    const said = about[place]?.[index];
    const key = [metricName, evalId, place, index].join(", ");
    if (said === undefined) {
      // To the evaluation a judge that throws is a result that is missing; `check` says so.
      this.#missing.push(key);
      throw new Error("there is no reply");
    }
    this.#given.add(key);
    const text = typeof said === "string" ? said : worded(said, request, this.#rubrics);
    return { text, usage: { inputTokens: tokensOf(prompt), outputTokens: tokensOf(text) } };
  }

  /** Throws if a reply was missing, or is there though nothing asks for it. */
  check() {
    const unused = [];
    for (const [metricName, cases] of Object.entries(this.#replies)) {
      for (const [evalId, places] of Object.entries(cases)) {
        for (const [place, list] of Object.entries(places)) {
          const keys = list.map((_, index) => [metricName, evalId, place, index].join(", "));
          unused.push(...keys.filter((key) => !this.#given.has(key)));
        }
      }
    }
    for (const [keys, problem] of [
      [this.#missing, "has no reply for"],
      [unused, "replies to what nothing asks"],
    ]) {
      if (keys.length > 0) throw new Error(`a replies.json ${problem}: ${keys.join("; ")}`);
    }
  }
}

function tokensOf(text) {
  return Math.ceil(text.length / 4);
}

/** Every rubric of an example by its id. */
function rubricsOf({ eval_cases: cases }, { criteria }) {
  const owners = [...Object.values(criteria), ...cases, ...cases.flatMap(({ conversation = [] }) => conversation)];
  const rubrics = owners.flatMap(({ rubrics = [] }) => rubrics);
  return new Map(rubrics.map(({ rubric_id, rubric_content }) => [rubric_id, rubric_content.text_property]));
}

/** A reply in the form that the prompt of its metric asks for. */
function worded(said, { metricName, purpose }, rubrics) {
  if (purpose === "segment") return said.map(({ sentence }) => `<sentence>${sentence}</sentence>`).join("\n");
  if (purpose === "validate") {
    const fields = ["sentence", "label", "rationale", "supporting_excerpt", "contradicting_excerpt"];
    return said.map((one) => fields.map((field) => `${field}: ${one[field] ?? "null"}`).join("\n")).join("\n\n");
  }
  if (purpose === "score") return JSON.stringify({ explanation: said[1], score: said[0] });
  if (metricName.startsWith("rubric_based_")) {
    const lines = ([id, [verdict, rationale]]) =>
      `ID: ${id}\nProperty: ${rubrics.get(id)}\nRationale: ${rationale}\nVerdict: ${verdict}`;
    return Object.entries(said).map(lines).join("\n\n");
  }
  const key = metricName === "final_response_match_v2" ? "is_the_agent_response_valid" : "is_valid";
  return JSON.stringify({ reasoning: said[1], [key]: said[0] });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const name of judgedExamples) {
    const recording = await record(name);
    writeFileSync(join(root, recordingFile(name)), recording);
    const calls = recording.split("\n").length - 2;
    console.log(`${recordingFile(name)}: ${calls} replies, ${(Buffer.byteLength(recording) / 1000).toFixed(0)} kB`);
  }
}
