/** The repository's examples and their descriptions. */

import LOADERS from "virtual:examples";
import type { NewFile } from "../../state/inputs.js";
import { engine } from "../../worker/client.js";

export interface Example {
  folder: string;
  title: string;
  what: string;
  /** What to look at. */
  see: string;
  isJudged: boolean;
}

export const EXAMPLES: readonly Example[] = [
  {
    folder: "weather",
    title: "Weather",
    what: "The simplest case: tool calls have to match, and answers have to share words with what is expected.",
    see: "a wrong unit in two calls, and one call too many",
    isJudged: false,
  },
  {
    folder: "museum-guide",
    title: "Museum guide",
    what: "A judge decides whether an answer means the same, is harmless, and is coherent.",
    see: "a price that is wrong although 95% of the words are right",
    isJudged: true,
  },
  {
    folder: "cake-orders",
    title: "Cake orders",
    what: "Rubrics in words, for answers and for the use of tools.",
    see: "umlauts lost on the way to the tool; a reply that cannot be read",
    isJudged: true,
  },
  {
    folder: "ferry-press",
    title: "Ferry press",
    what: "Sentence by sentence: what the tools support, and what was made up.",
    see: "every label, from supported to contradictory",
    isJudged: true,
  },
  {
    folder: "bike-workshop",
    title: "Bike workshop",
    what: "Whole conversations with simulated users, scored for success, path and tools.",
    see: "the agent says that it booked, and the tool said no",
    isJudged: true,
  },
  {
    folder: "shop-assistant",
    title: "Shop assistant",
    what: "How many arguments are right, with a comparison for each.",
    see: "two digits swapped in an order number; a run that failed",
    isJudged: false,
  },
  {
    folder: "travel-concierge",
    title: "Travel concierge",
    what: "Events and sub-agents over several turns, with tokens and durations.",
    see: "a missing call; a scenario that cannot be evaluated",
    isJudged: false,
  },
  {
    folder: "home-automation",
    title: "Home automation",
    what: "Old files: lists of queries, and results that are JSON inside JSON.",
    see: "two calls in the wrong order, and a check in between that is allowed",
    isJudged: false,
  },
  {
    folder: "support",
    title: "Support",
    what: "ADK-TS’s spelling throughout, and its names of metrics.",
    see: "one metric not evaluated in a case that passed; a case without a run",
    isJudged: false,
  },
  {
    folder: "phrasebook",
    title: "Phrasebook",
    what: "Chinese, Japanese and Thai, whose words have no spaces between them.",
    see: "scripts that ADK-TS scores 0",
    isJudged: false,
  },
  {
    folder: "library-desk",
    title: "Library desk",
    what: "A session of two turns and no config: google-adk’s default criteria apply.",
    see: "what it looks like when everything passes",
    isJudged: false,
  },
];

const RECORDING = "judge.jsonl";
const CONFIG = "test_config.json";

/** Reads the files of an example. */
export async function filesOf(folder: string): Promise<NewFile[]> {
  const load = LOADERS[folder];
  if (load === undefined) throw new RangeError(`There is no example ${folder}.`);
  const encoder = new TextEncoder();
  const { default: texts } = await load();
  const { [RECORDING]: replies } = texts;
  const [evalSet, actual, config] = [`${folder}.evalset.json`, `${folder}.actual.json`, CONFIG].map(
    (name) => texts[name] ?? "",
  ) as [string, string, string];
  const recording = replies === undefined ? undefined : await engine.recordingOf({ evalSet, actual, config, replies });
  if (recording?.ok === false) throw new RangeError(recording.problem.message);
  const whole = recording === undefined ? texts : { ...texts, [RECORDING]: recording.value };
  return Object.entries(whole).map(([name, text]) => ({ name, folder, bytes: encoder.encode(text) }));
}
