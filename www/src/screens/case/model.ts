/** Reads what a case's turns hold, and says it in words. */

import type { EvalMetricResult, Invocation, SampleVote, TurnEvent } from "adk-metrics";
import { shownJson } from "../../ui/json.js";
import type { Question } from "../../worker/protocol.js";

/** The model of an event and its tokens, in words. */
export function usageText({ usageMetadata: usage = {}, modelVersion }: TurnEvent): string {
  const part = (key: string, word: string): string[] => {
    const amount = usage[key];
    return typeof amount === "number" ? [`${amount.toLocaleString("en")} ${word}`] : [];
  };
  return [
    ...(modelVersion === undefined ? [] : [modelVersion]),
    ...part("promptTokenCount", "tokens in"),
    ...part("candidatesTokenCount", "out"),
    ...part("thoughtsTokenCount", "thought"),
    ...part("cachedContentTokenCount", "cached"),
  ].join(", ");
}

/** An agent of the app, with its instructions and tools. */
export interface AgentInfo {
  name: string;
  instructions: string;
  tools: unknown;
}

/** The agents of an invocation's app. Keys are in snake_case or camelCase. */
export function agentsOf({ appDetails }: Invocation): AgentInfo[] {
  const agents: unknown = appDetails?.["agentDetails"] ?? appDetails?.["agent_details"];
  if (!isRecord(agents)) return [];
  return Object.entries(agents).flatMap(([key, agent]) => {
    if (!isRecord(agent)) return [];
    const { name, instructions } = agent;
    const tools = agent["toolDeclarations"] ?? agent["tool_declarations"];
    return [
      {
        name: typeof name === "string" && name !== "" ? name : key,
        instructions: typeof instructions === "string" ? instructions : "",
        tools: Array.isArray(tools) && tools.length > 0 ? tools : undefined,
      },
    ];
  });
}

/** The question that a vote answers. */
export function questionOf(
  questions: readonly Question[],
  turn: number,
  turns: number,
  { metricName, explanation }: EvalMetricResult,
  { purpose, stepIndex = 0, sampleIndex }: SampleVote,
): Question | undefined {
  const at = (invocationIndex: number) =>
    questions.find(
      (one) =>
        one.metricName === metricName &&
        one.invocationIndex === invocationIndex &&
        one.purpose === purpose &&
        one.stepIndex === stepIndex &&
        one.sampleIndex === sampleIndex,
    );
  // If the vote on the end of the conversation replaces that on the last turn, a warning says so.
  const isOfEnd = turn === turns - 1 && explanation?.warnings !== undefined;
  return (isOfEnd ? at(turns) : undefined) ?? at(turn);
}

/** A value as JSON, on one line if it is short. */
export function jsonOf(value: unknown): string {
  const text = shownJson(value, 2) ?? "undefined";
  if (text.length > 200) return text;
  // Line breaks within strings are escaped, so every one here is formatting.
  const line = text
    .replace(/([[{])\n\s*/g, "$1")
    .replace(/\n *([\]}])/g, "$1")
    .replace(/\n\s*/g, " ");
  return line.length <= 80 ? line : text;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
