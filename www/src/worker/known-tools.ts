/** The tools that files declare or call: what the form of a call asks for. */

import type { KnownTool, ToolParameter } from "./protocol-edit.js";

type Fields = Readonly<Record<string, unknown>>;

/** Where google-adk, ADK-TS and genai keep declarations: with an agent's details, and within a tool. */
const DECLARATIONS = ["tool_declarations", "toolDeclarations", "function_declarations", "functionDeclarations"];
const SCHEMAS = ["parameters", "parameters_json_schema", "parametersJsonSchema", "inputSchema", "input_schema"];
const CALLS = ["tool_uses", "toolUses", "function_call", "functionCall"];

/** By the names of tools: the arguments of their calls. */
type SeenTools = Map<string, Map<string, ToolParameter>>;

/** The most arguments of a tool that calls tell of. */
const MOST_SEEN = 200;

/** The tools in some JSON, sorted by name. What is declared goes before what is only seen in calls. */
export function knownTools(files: readonly Uint8Array[]): KnownTool[] {
  const declared = new Map<string, KnownTool>();
  const seen: SeenTools = new Map();
  for (const file of files) for (const value of valuesIn(file)) collect(value, declared, seen);
  for (const [name, parameters] of seen) {
    if (!declared.has(name)) declared.set(name, { name, description: "", parameters: [...parameters.values()] });
  }
  return [...declared.values()].sort((a, b) => a.name.localeCompare(b.name, "en"));
}

/** The value of a JSON file, or those of its lines. */
function valuesIn(file: Uint8Array): unknown[] {
  const text = new TextDecoder().decode(file);
  const whole = parsedOrNothing(text);
  return whole.length > 0 ? whole : text.split("\n").flatMap(parsedOrNothing);
}

function parsedOrNothing(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

function collect(root: unknown, declared: Map<string, KnownTool>, seen: SeenTools): void {
  // Not recursive: files may nest deeper than the stack.
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== "object" || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      open.push(inner);
      if (DECLARATIONS.includes(key)) for (const one of listOf(inner)) declare(one, declared);
      if (CALLS.includes(key)) for (const one of listOf(inner)) see(one, seen);
    }
  }
}

function listOf(value: unknown): Fields[] {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  return all.filter((one): one is Fields => typeof one === "object" && one !== null);
}

function declare(declaration: Fields, declared: Map<string, KnownTool>): void {
  const { name } = declaration;
  if (typeof name !== "string" || name === "" || declared.has(name)) return;
  const [schema = {}] = SCHEMAS.flatMap((key) => listOf(declaration[key]));
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  const [properties = {}] = listOf(schema.properties);
  const parameters = Object.entries(properties).map(([key, property]): ToolParameter => {
    const [fields = {}] = listOf(property);
    return {
      name: key,
      type: typeof fields.type === "string" ? fields.type.toLowerCase() : "",
      choices: Array.isArray(fields.enum) ? fields.enum.filter((one) => typeof one === "string") : [],
      isRequired: required.includes(key),
      description: textOf(fields.description),
    };
  });
  declared.set(name, { name, description: textOf(declaration.description), parameters });
}

/** Notes the arguments of a call, which those of the next one may have as well. */
function see({ name, args }: Fields, seen: SeenTools): void {
  if (typeof name !== "string" || name === "") return;
  const parameters = seen.get(name) ?? new Map<string, ToolParameter>();
  seen.set(name, parameters);
  for (const [key, value] of Object.entries(listOf(args)[0] ?? {})) {
    const type = typeOf(value);
    const known = parameters.get(key);
    if (known !== undefined) {
      if (known.type !== type) known.type = "";
    } else if (parameters.size < MOST_SEEN) {
      parameters.set(key, { name: key, type, choices: [], isRequired: false, description: "" });
    }
  }
}

function typeOf(value: unknown): string {
  if (value === null) return "";
  if (typeof value === "number" || typeof value === "bigint") return "number";
  return typeof value === "object" ? (Array.isArray(value) ? "array" : "object") : typeof value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
