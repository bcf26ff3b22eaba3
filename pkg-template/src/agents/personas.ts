/** How simulated users behave: google-adk's personas by their ids, in our own words, and personas that are spelled out. */

import { isObject } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";

const ALL_AT_ONCE =
  "When you begin a request, say what you want to reach together with every detail that the plan gives for it.";
const STEP_BY_STEP =
  "Begin a request with what you want to reach and nothing else; give its details when the agent asks for them.";
const ANSWERS_RELEVANT =
  "Answer only what belongs to your current request, from the plan alone; of anything else say that it does not matter now.";
const ANSWERS_ALL =
  "Answer every question as well as the plan allows, also those that lead away; where the plan says nothing, say that you do not know.";
const CORRECTS =
  "When the agent says or does something that contradicts the plan or what it said before, say what is wrong.";
const CORRECTS_NOT = "Never point out the agent's mistakes; take what it says as it is and go on.";
const HELPS_ONCE = "When the agent fails for the first time, tell it what may help and ask it to try again.";
const ENDS_AT_FAILURE = "When the agent fails at a request, end the conversation.";
const ENDS_AT_SECOND_FAILURE = "When the agent fails at the same request a second time, end the conversation.";
const CASUAL = "Write as people chat: short, casual, in plain words.";
const PROFESSIONAL = "Write as a professional would: brief, exact, polite, in the words of the trade.";

const PERSONAS: Readonly<Record<string, readonly string[]>> = {
  EXPERT: [
    "You know the subject well, know what you want and expect competent help.",
    ALL_AT_ONCE,
    ANSWERS_RELEVANT,
    CORRECTS,
    HELPS_ONCE,
    ENDS_AT_SECOND_FAILURE,
    PROFESSIONAL,
  ],
  NOVICE: [
    "You are new to the subject and rely on the agent to lead you.",
    STEP_BY_STEP,
    CORRECTS_NOT,
    ANSWERS_ALL,
    ENDS_AT_FAILURE,
    CASUAL,
  ],
  EVALUATOR: [
    "You want to find out whether the agent can do what the plan asks of it.",
    ALL_AT_ONCE,
    ANSWERS_RELEVANT,
    ENDS_AT_FAILURE,
    CORRECTS_NOT,
    CASUAL,
  ],
};

/** Somebody in particular. */
const NOBODY: readonly string[] = [
  ALL_AT_ONCE,
  "Answer the agent's questions from the plan alone, and nothing that it did not ask; where the plan says nothing, say so.",
  CORRECTS,
  "When the agent fails for the first time, ask it to try again.",
  ENDS_AT_SECOND_FAILURE,
];

/**
 * The rules that a persona sets, as lines of text.
 *
 * @param persona The id of a persona, or one spelled out: `{ description, behaviors: [{ name, description,
 * behaviorInstructions }] }`.
 * @param path Where it is, for the error.
 * @throws {AdkMetricsError} `invalid_input` for an unknown id.
 */
export function personaText(persona: unknown, path = "userPersona"): string {
  if (persona === undefined || persona === null) return rules(NOBODY);
  if (isObject(persona)) return spelledOut(persona as Record<string, unknown>);
  const known = Object.hasOwn(PERSONAS, String(persona)) ? PERSONAS[String(persona)] : undefined;
  if (known !== undefined) return rules(known);
  throw new AdkMetricsError("invalid_input", `there is no persona \`${String(persona)}\``, {
    path,
    help: `The personas are ${Object.keys(PERSONAS).join(", ")}; write your own as an object`,
  });
}

function rules(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

function spelledOut(persona: Record<string, unknown>): string {
  const behaviors = Array.isArray(persona.behaviors) ? (persona.behaviors as unknown[]) : [];
  const parts = behaviors.filter(isObject).map((behavior) => {
    const {
      name,
      description,
      behaviorInstructions,
      behavior_instructions: snake,
    } = behavior as Record<string, unknown>;
    const instructions = behaviorInstructions ?? snake;
    const lines = Array.isArray(instructions) ? (instructions as unknown[]).map((line) => `- ${String(line)}`) : [];
    return [`## ${text(name)}`, text(description), ...lines].filter((line) => line !== "").join("\n");
  });
  return [text(persona.description), ...parts].filter((part) => part !== "").join("\n");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
