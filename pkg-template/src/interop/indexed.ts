/**
 * Spans whose messages are spread over attributes with numbers in their names become spans of today's `gen_ai`
 * conventions: OpenInference's `llm.input_messages.0.message.content`, and `gen_ai.prompt.0.content` as OpenLLMetry wrote
 * it before it took up the conventions. O(n log n) in the attributes.
 */

import { parseExactly } from "./integers.js";
import { toolObject } from "./messages.js";
import { type Fields, fieldsOf, type Span } from "./otlp.js";
import { wordsOf } from "./parts.js";

type Attributes = ReadonlyMap<string, unknown>;

/** A span as it is, or with what its kit calls otherwise under the names of the conventions. */
export function conventional(span: Span): Span {
  const { attributes, scope, name } = span;
  // google-adk's own spans have all that is said there in attributes of their own, also under OpenInference.
  if (attributes.has("gen_ai.operation.name") || scope === "gcp.vertex.agent" || name.startsWith("invoke_agent")) {
    return span;
  }
  const more = openInference(span) ?? openLlmetry(attributes);
  if (more === undefined) return span;
  const given = Object.entries(more).filter(([, value]) => value !== undefined);
  return { ...span, attributes: new Map([...attributes, ...given]) };
}

function openInference({ attributes, name }: Span): Fields | undefined {
  switch (attributes.get("openinference.span.kind")) {
    case "LLM":
      return {
        "gen_ai.operation.name": "chat",
        "gen_ai.agent.name": fieldsOf(toolObject(attributes.get("metadata")))?.lc_agent_name,
        "gen_ai.response.model": attributes.get("llm.model_name"),
        ...messagesIn(
          listOf(attributes, "llm.input_messages").map((one) => openInferenceMessage(inside(one, "message"))),
          listOf(attributes, "llm.output_messages").map((one) => openInferenceMessage(inside(one, "message"))),
        ),
        "gen_ai.tool.definitions": toolsIn(
          listOf(attributes, "llm.tools").map((one) => toolObject(one.get("tool.json_schema"))),
        ),
        "gen_ai.usage.input_tokens": attributes.get("llm.token_count.prompt"),
        "gen_ai.usage.output_tokens": attributes.get("llm.token_count.completion"),
        "gen_ai.usage.cache_read.input_tokens": attributes.get("llm.token_count.prompt_details.cache_read"),
        "gen_ai.usage.reasoning.output_tokens": attributes.get("llm.token_count.completion_details.reasoning"),
      };
    case "TOOL":
      // Which call it was, its span does not say, and what it holds has a form for every framework.
      return { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": attributes.get("tool.name") ?? name };
    case "AGENT":
      return { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": attributes.get("agent.name") ?? name };
    default:
      return undefined;
  }
}

function openInferenceMessage(message: Attributes): Fields {
  const contents = listOf(message, "contents").map((one) => ({
    type: one.get("message_content.type") ?? "text",
    text: one.get("message_content.text"),
  }));
  const calls = listOf(message, "tool_calls").map((one) => {
    const call = inside(one, "tool_call");
    return { id: call.get("id"), name: call.get("function.name"), arguments: call.get("function.arguments") };
  });
  const name = message.get("function_call_name");
  if (name !== undefined) calls.push({ id: undefined, name, arguments: message.get("function_call_arguments_json") });
  return messageOf(message, message.get("content") ?? (contents.length > 0 ? contents : undefined), calls);
}

function openLlmetry(attributes: Attributes): Fields | undefined {
  const prompts = listOf(attributes, "gen_ai.prompt");
  const completions = listOf(attributes, "gen_ai.completion");
  const isCall = ["chat", "completion"].includes(String(attributes.get("llm.request.type")));
  if (!isCall && prompts.length + completions.length === 0) return undefined;
  const message = (one: Attributes) => {
    const calls = [...listOf(one, "tool_calls"), inside(one, "function_call")].flatMap<Fields>((call) =>
      call.size > 0 ? Object.fromEntries(call) : [],
    );
    return messageOf(one, contentIn(one.get("content")), calls);
  };
  const functions = listOf(attributes, "llm.request.functions").map((one) => ({
    type: "function",
    ...Object.fromEntries(one),
    parameters: toolObject(one.get("parameters")),
  }));
  return {
    "gen_ai.operation.name": "chat",
    ...messagesIn(prompts.map(message), completions.map(message)),
    "gen_ai.tool.definitions": toolsIn(functions),
  };
}

/** A content of several parts is written as their JSON. */
function contentIn(given: unknown): unknown {
  if (typeof given !== "string" || !given.startsWith('[{"type"')) return given;
  try {
    return parseExactly(given);
  } catch {
    return given;
  }
}

function messageOf(message: Attributes, content: unknown, calls: readonly Fields[]): Fields {
  return {
    role: message.get("role") ?? "assistant",
    content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(wordsOf(message.get("tool_call_id")) === undefined ? {} : { tool_call_id: message.get("tool_call_id") }),
  };
}

/** Messages under the names of the conventions, which have the system's apart. */
function messagesIn(input: readonly Fields[], output: readonly Fields[]): Fields {
  const isOfSystem = ({ role }: Fields) => role === "system" || role === "developer";
  const instructions = input.filter(isOfSystem).map(({ content }) => ({ type: "text", content }));
  const conversation = input.filter((message) => !isOfSystem(message));
  return {
    "gen_ai.system_instructions": instructions.length > 0 ? instructions : undefined,
    "gen_ai.input.messages": conversation.length > 0 ? conversation : undefined,
    "gen_ai.output.messages": output.length > 0 ? output : undefined,
  };
}

/** Declarations of tools, also as OpenAI's protocol has them: within `function`. */
function toolsIn(tools: readonly (Fields | undefined)[]): Fields[] | undefined {
  const known = tools.flatMap((tool) =>
    tool === undefined ? [] : { type: "function", ...(fieldsOf(tool.function) ?? tool) },
  );
  return known.length > 0 ? known : undefined;
}

/** The attributes below a name, without it. */
function inside(attributes: Attributes, name: string): Attributes {
  const start = `${name}.`;
  return new Map(
    [...attributes].flatMap(([key, value]) =>
      key.startsWith(start) ? [[key.slice(start.length), value] as const] : [],
    ),
  );
}

/** The attributes of the numbered things below a name, in the order of their numbers. */
function listOf(attributes: Attributes, name: string): Attributes[] {
  const found = new Map<number, Map<string, unknown>>();
  for (const [key, value] of inside(attributes, name)) {
    const [, number, rest] = /^(\d{1,9})\.(.+)$/s.exec(key) ?? [];
    if (number === undefined || rest === undefined) continue;
    const at = Number(number);
    const one = found.get(at) ?? new Map<string, unknown>();
    found.set(at, one.set(rest, value));
  }
  return [...found].sort(([a], [b]) => a - b).map(([, one]) => one);
}
