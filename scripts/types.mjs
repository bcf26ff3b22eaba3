// Makes the TypeScript types of every stored shape from the JSON Schema that the Rust types export.

import { readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

/** Types whose names would clash with JavaScript's own. */
const RENAMED = { Error: "Mistake", ErrorCode: "MistakeCode", Json: "JsonValue", Kind: "AlignmentKind" };

/** Shapes that a user may give keys of other kinds; the others keep unknown keys, but need no type for them. */
const OPEN = new Set(["EvalCase", "FunctionResponse", "Part", "SessionInput", "UsageMetadata"]);

/** Free-form values that are always objects. */
const OBJECTS = new Set([
  "appDetails",
  "args",
  "criterion",
  "finalSessionState",
  "groundingMetadata",
  "judgeModelOptions",
  "response",
  "sessionDetails",
  "state",
]);

/** @param {string} schemaFile @param {string} typesFile */
export async function writeTypes(schemaFile, typesFile) {
  const text = Object.entries(RENAMED).reduce(
    (schema, [name, other]) =>
      schema
        .replaceAll(`"#/definitions/${name}"`, `"#/definitions/${other}"`)
        .replaceAll(`    "${name}": {`, `    "${other}": {`),
    readFileSync(schemaFile, "utf8"),
  );
  const schema = withoutNull(JSON.parse(text));
  for (const [name, definition] of Object.entries(schema.definitions)) {
    if (!OPEN.has(name)) delete definition.additionalProperties;
    for (const [key, property] of Object.entries(definition.properties ?? {})) {
      if (Object.keys(property).every((word) => word === "description")) property.tsType = "unknown";
      if (OBJECTS.has(key))
        definition.properties[key] = { description: property.description, tsType: "Record<string, unknown>" };
    }
  }
  // Reading a key of one form from a value that may be the other gives undefined.
  const { IntermediateSummary: summary, InvocationEvents: events } = schema.definitions;
  for (const [form, other] of [
    [{ ...summary.properties }, events],
    [{ ...events.properties }, summary],
  ]) {
    for (const key of Object.keys(form)) other.properties[key] = { tsType: "undefined" };
  }
  events.properties.toolUses = {
    description: "The tool calls among the events. Hosts see them here too; files have either the events or these.",
    tsType: "FunctionCall[]",
  };
  // Hosts find them in every invocation, as code for ADK-TS expects.
  summary.required = [...(summary.required ?? []), "toolUses"];
  events.required = [...(events.required ?? []), "toolUses"];
  schema.definitions.JsonValue = { tsType: "unknown" };
  const types = await compile(schema, "Shapes", {
    additionalProperties: false,
    bannerComment: "// Generated from the Rust types by `npm run build`.",
    unreachableDefinitions: true,
    format: false,
  });
  // The statuses are an enum of the package.
  const withEnum = types.replace(
    /\/\*\*(?:(?!\*\/)[^])*\*\/\nexport type EvalStatus = .*\n/,
    'import type { EvalStatus } from "../enums.js";\n',
  );
  if (withEnum === types) throw new Error("the generated types have no EvalStatus");
  writeFileSync(typesFile, withEnum);
}

/** In JavaScript a value that is not there is absent; `null` is accepted when reading, but never made. */
function withoutNull(schema) {
  if (Array.isArray(schema)) return schema.map(withoutNull);
  if (schema === null || typeof schema !== "object") return schema;
  const result = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withoutNull(value)]));
  if (Array.isArray(result.type)) {
    const types = result.type.filter((type) => type !== "null");
    result.type = types.length === 1 ? types[0] : types;
  }
  if (Array.isArray(result.anyOf)) {
    const options = result.anyOf.filter((option) => option.type !== "null");
    if (options.length === 1) {
      const { anyOf, ...rest } = result;
      return { ...rest, ...("$ref" in options[0] ? { allOf: options } : options[0]) };
    }
    result.anyOf = options;
  }
  return result;
}
