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
  const withEnum = withoutReferences(types).replace(
    /\/\*\*(?:(?!\*\/)[^])*\*\/\nexport type EvalStatus = .*\n/,
    'import type { EvalStatus } from "../enums.js";\n',
  );
  if (withEnum === types) throw new Error("the generated types have no EvalStatus");
  writeFileSync(typesFile, withEnum);
}

/** Settings that files may also have in other forms: what a program writes. */
const PLAIN_TYPES = { Count: "number", Flag: "boolean", Threshold: "number" };

/** What an object that a config holds is called. */
const CONFIGS = { live_model_config: "LiveModelConfig", user_simulator_config: "UserSimulatorConfig" };

/**
 * Makes the TypeScript types of configs from their JSON Schema: for every metric a criterion with its own settings, so
 * that editors complete them and a misspelt one does not compile. Metrics of one's own may have any.
 *
 * @param {string} schemaFile @param {string} typesFile
 */
export async function writeCriteria(schemaFile, typesFile) {
  const schema = JSON.parse(readFileSync(schemaFile, "utf8"));
  const { criteria, ...besides } = schema.properties;
  const { JudgeModelConfig, JudgeModelOptions, Rubric, ...others } = schema.definitions;
  const metrics = Object.keys(criteria.properties).map((name) => [name, others[name]]);
  const definitions = { JudgeModelConfig, JudgeModelOptions, CriterionRubric: Rubric };
  for (const [name, definition] of metrics) {
    const description = `Settings of \`${name}\`.`;
    if (takesCriterion(definition)) definitions[criterionName(name)] = { ...definition, description };
  }
  for (const [key, name] of Object.entries(CONFIGS)) definitions[name] = besides[key];
  definitions.EvalConfig = { ...schema, properties: besides };

  const typed = Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [name, settingsOf(definition, schema)]),
  );
  for (const [key, property] of Object.entries(typed.EvalConfig.properties)) {
    const name = CONFIGS[key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
    if (name !== undefined) typed.EvalConfig.properties[key] = { description: property.description, tsType: name };
  }
  typed.EvalConfig.properties = {
    criteria: { description: criteria.description, tsType: "Criteria" },
    ...typed.EvalConfig.properties,
  };
  const types = await compile({ definitions: typed }, "Configs", {
    additionalProperties: false,
    bannerComment: "",
    unreachableDefinitions: true,
    format: false,
  });

  const names = [
    ...metrics,
    ...Object.entries(criteria.patternProperties).flatMap(([pattern, { $ref }]) => legacyNames(pattern, $ref)),
  ];
  const properties = names.map(([name, { description, of = name }]) => {
    const type = takesCriterion(others[of]) ? `number | ${criterionName(of)}` : "never";
    return `/** ${description} */\n${name}?: ${type}`;
  });
  const text = `// Generated from the Rust types by \`npm run build\`.

import type { Criterion } from "../types.js";
${withoutReferences(types)
  .replace(/export interface Configs \{[^}]*\}\n/, "")
  // Each is a \`Criterion\` too, which has keys of any name: aliases of object types fit that, interfaces do not.
  .replaceAll(/export interface (\w+Criterion) \{/g, "export type $1 = {")}
/** ${criteria.description} */
export interface Criteria {
${properties.join("\n")}
/** A metric of your own. */
[custom: string]: number | Criterion | undefined
}
`;
  writeFileSync(typesFile, text);
}

/** Whether a config may name a metric; those that are always reported it may not. */
function takesCriterion(metric) {
  return metric.properties !== undefined;
}

/** What the type of a metric's settings is called. */
function criterionName(metric) {
  return `${metric.replaceAll(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase())}Criterion`;
}

/** The names that ADK-TS had for a metric, of all that a pattern takes. */
function legacyNames(pattern, reference) {
  const of = reference.split("/").at(-1);
  const names = pattern.replaceAll(/[\^$()]/g, "").split("|");
  return names
    .filter((name) => name !== of.toUpperCase())
    .map((name) => [name, { of, description: `ADK-TS's old name of \`${of}\`.` }]);
}

/** A schema as json-schema-to-typescript makes of it the type that a program is held to. */
function settingsOf({ allOf, ...whole }, schema) {
  // A threshold, and its limits.
  const { $ref, ...given } = allOf?.[0]?.$ref === "#/definitions/Threshold" ? { ...whole, ...allOf[0] } : whole;
  const definition = $ref?.match(/^#\/definitions\/(\w+)$/)?.[1];
  if (definition === "NotRead") return { description: "@deprecated Not read by this metric.", tsType: "unknown" };
  if (definition in PLAIN_TYPES) return { description: docOf(given), tsType: PLAIN_TYPES[definition] };
  if (definition === "Strategy") return settingsOf({ ...schema.definitions.Strategy, ...given }, schema);
  if (definition !== undefined) {
    const description = given.description ?? schema.definitions[definition].description;
    return { description, tsType: definition === "Rubric" ? "CriterionRubric" : definition };
  }
  // The other spelling of a setting.
  if ($ref !== undefined) return settingsOf(at(schema, $ref), schema);
  const { anyOf, ...plain } = given;
  if (anyOf !== undefined && given.properties === undefined) {
    return settingsOf({ ...anyOf.find((option) => option.type !== "null"), ...plain }, schema);
  }
  const description = docOf(given);
  if (given.enum !== undefined) {
    // Any text is taken as well: those that TypeScript reads from a JSON file have the type `string`.
    const texts = given.enum.filter((value) => value !== null).map((value) => JSON.stringify(value));
    return { description, tsType: [...texts, "(string & {})"].join(" | ") };
  }
  const [type] = [given.type].flat();
  if (type === "array") {
    return { description, tsType: `readonly ${given.items ? settingsOf(given.items, schema).tsType : "unknown"}[]` };
  }
  const rest = typeof given.additionalProperties === "object" ? settingsOf(given.additionalProperties, schema) : null;
  if (given.properties === undefined) {
    const plainType = { boolean: "boolean", integer: "number", number: "number", string: "string" }[type] ?? "unknown";
    return { description, tsType: type === "object" ? `Record<string, ${rest?.tsType ?? "unknown"}>` : plainType };
  }
  const properties = Object.entries(given.properties).map(([key, property]) => [key, settingsOf(property, schema)]);
  const rank = ([key, { description }]) => (key === "threshold" ? 0 : description?.startsWith("@deprecated") ? 2 : 1);
  return {
    description,
    type: "object",
    properties: Object.fromEntries(properties.sort((a, b) => rank(a) - rank(b))),
    additionalProperties: given.additionalProperties !== false,
  };
}

/** A description with what its values mean, and the default. */
function docOf({ description, enum: values = [], enumDescriptions = [], default: value }) {
  if (description === undefined) return undefined;
  const plain = description.replace(" a number. Numbers in text count too, and `true` for 1.", " a number.");
  const meanings = enumDescriptions.map((meaning, index) => `\n- \`${values[index]}\`: ${meaning}`).join("");
  const hasDefault = value !== undefined && value !== "";
  return `${plain}${meanings}${hasDefault ? `${meanings ? "\n\n" : " "}Default: \`${value}\`.` : ""}`;
}

function at(schema, reference) {
  return reference
    .split("/")
    .slice(1)
    .reduce((value, key) => value[key], schema);
}

/** Types without what json-schema-to-typescript says about where they come from. */
export function withoutReferences(types) {
  return types
    .replaceAll(/( \* ?\n)? \* This interface was referenced by [^]*?"\.\n/g, "")
    .replaceAll(/\/\*\*\n \*\/\n/g, "");
}

/** In JavaScript a value that is not there is absent; `null` is accepted when reading, but never made. */
export function withoutNull(schema) {
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
