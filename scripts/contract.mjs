// Makes TypeScript of what the crate declares of the boundary (`src/wasm/`): the types of what crosses, and the reader of a
// batch's columns.

import { readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";
import { withoutNull, withoutReferences } from "./types.mjs";

/** @param {string} schemaFile @param {string} typesFile */
export async function writeContract(schemaFile, typesFile) {
  const { "x-answer-headers": headers, ...schema } = JSON.parse(readFileSync(schemaFile, "utf8"));
  sayDefaults(schema);
  const types = await compile(withUndefined(withoutNull(schema)), "Contract", {
    additionalProperties: false,
    bannerComment: "// Generated from src/wasm/contract/ by `npm run build`.",
    unreachableDefinitions: true,
    format: false,
  });
  // That all of it is one type too is of no use here.
  const own = withoutReferences(types).replace(
    /(?:\/\*\*(?:(?!\*\/)[^])*\*\/\n)?export interface Contract \{[^}]*\}\n/,
    "",
  );
  const list = headers.map((name) => JSON.stringify(name)).join(", ");
  const constant = `\n/** The headers of answers that the engine looks at. */\nexport const ANSWER_HEADERS = [${list}] as const;\n`;
  writeFileSync(typesFile, own + constant);
}

/** The options of which the command says what they do in the words of the contract. */
const COMMAND_OPTIONS = ["concurrency", "dialect"];

/** Says in the description of each option what its default is. */
function sayDefaults({ definitions }) {
  for (const { properties } of Object.values(definitions)) {
    for (const option of Object.values(properties ?? {})) {
      if (option["x-default"] !== undefined) option.description += ` Default: ${defaultText(option["x-default"])}.`;
    }
  }
}

function defaultText(value) {
  return typeof value === "string" ? `\`${value}\`` : value.toLocaleString("en");
}

/**
 * Writes what options have to be, with their defaults and help, for checks, the command line and forms.
 *
 * @param {string} schemaFile @param {string} optionsFile
 */
export function writeOptions(schemaFile, optionsFile) {
  const schema = JSON.parse(readFileSync(schemaFile, "utf8"));
  sayDefaults(schema);
  const { definitions } = schema;
  const { RunOptions, RetryOptions, Budget, Prices, EndpointSettings } = definitions;
  const ofKind = ({ properties }, kind) =>
    Object.entries(properties).filter(([, option]) => option["x-option"] === kind);
  const names = (options) => JSON.stringify(options.map(([name]) => name));
  const table = (doc, name, options) => {
    const rows = options.map(([key, option]) => [key, ruleOf(key, option, definitions)]).filter(([, rule]) => rule);
    const lines = rows.map(([key, rule]) => `  ${key}: ${JSON.stringify(rule)},`);
    const keys = rows.map(([key]) => JSON.stringify(key)).join(" | ");
    return `/** ${doc} */\nexport const ${name}: Rules<${keys}> = {\n${lines.join("\n")}\n};\n`;
  };
  const evaluator = ofKind(RunOptions, "evaluator");
  const helps = evaluator
    .filter(([name]) => COMMAND_OPTIONS.includes(name))
    .map(([name, { description }]) => `  ${name}: ${JSON.stringify(description.replaceAll(/\s+/g, " "))},`);
  const text = `// Generated from src/wasm/contract/ by \`npm run build\`.

/** What an option has to be. */
export interface OptionRule {
  /** What it has to be, in words. */
  readonly expected: string;
  readonly type: "string" | "boolean" | "number";
  readonly words?: readonly string[];
  /** What its words stand for, in their order. */
  readonly names?: readonly string[];
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
  readonly isWhole?: boolean;
  readonly default?: unknown;
}

type Rules<Name extends string> = Readonly<Record<Name, OptionRule>>;

/** The options of every function that scores which the engine reads. */
export const EVALUATOR_OPTIONS = ${names(evaluator)} as const;

/** The options of requests, besides. */
export const REQUEST_OPTIONS = ${names(ofKind(RunOptions, "request"))} as const;

/** The options of the judges of every provider. */
export const PROVIDER_OPTIONS = ${names(ofKind(EndpointSettings, "provider"))} as const;

/** The options of judges on Vertex AI, besides. */
export const VERTEX_OPTIONS = ${names(ofKind(EndpointSettings, "vertex"))} as const;

${table("What the options of evaluators have to be, those apart that are objects.", "OPTION_RULES", evaluator)}
${table("What the options of `retry` have to be.", "RETRY_RULES", Object.entries(RetryOptions.properties))}
${table("What the options of `budget` have to be, prices apart.", "BUDGET_RULES", Object.entries(Budget.properties))}
${table("What prices have to be.", "PRICE_RULES", Object.entries(Prices.properties))}
/** What the options of evaluators do that the command has too. */
export const OPTION_HELP: Readonly<Record<${COMMAND_OPTIONS.map((name) => JSON.stringify(name)).join(" | ")}, string>> = {
${helps.join("\n")}
};
`;
  writeFileSync(optionsFile, text);
}

/** What an option has to be; nothing for an object. */
function ruleOf(name, given, definitions) {
  const reference = given.$ref ?? given.allOf?.[0].$ref;
  const { enum: words, "x-names": names } =
    reference === undefined ? given : definitions[reference.replace("#/definitions/", "")];
  const type = words === undefined ? [given.type].flat()[0] : "string";
  const { minimum: min, exclusiveMinimum: above, maximum: max, multipleOf, "x-default": byDefault } = given;
  const isWhole = multipleOf === 1 || undefined;
  const amount = isWhole ? "a whole number" : /Ms$/.test(name) ? "a number of milliseconds" : "a number";
  const range = max !== undefined ? `from ${min} to ${max}` : above !== undefined ? `above ${above}` : `from ${min} up`;
  const expected = {
    string: words
      ?.map((word) => JSON.stringify(word))
      .join(", ")
      .replace(/, (?=[^,]*$)/, " or "),
    boolean: "true or false",
    number: `${amount} ${range}`,
  }[type];
  return expected && { expected, type, words, names, min, above, max, isWhole, default: byDefault };
}

/** What the engine reads may have `undefined` where nothing is given. */
function withUndefined(schema) {
  for (const { "x-read": isRead, properties, required = [] } of Object.values(schema.definitions)) {
    if (!isRead) continue;
    for (const name of Object.keys(properties).filter((key) => !required.includes(key))) {
      const { description, ...type } = properties[name];
      properties[name] = { description, anyOf: [type, { tsType: "undefined" }] };
    }
  }
  return schema;
}

/** How a column is read, by its kind: its type, and the element of memory that it is a list of. */
const KINDS = {
  u8: { type: "Uint8Array", read: (place) => `new Uint8Array(${place})` },
  u32: { type: "Uint32Array", read: (place) => `new Uint32Array(${place})` },
  f64: { type: "Float64Array", read: (place) => `new Float64Array(${place})` },
  text: { type: "string", read: (place) => `textAt(${place})` },
  list: { type: "unknown[]", read: (place) => `listAt(${place})` },
};

/** @param {string} columnsFile @param {string} typesFile */
export function writeColumns(columnsFile, typesFile) {
  const layout = JSON.parse(readFileSync(columnsFile, "utf8"));
  const header = layout.header.map(([name, doc]) => ({ name: camel(name), doc }));
  const columns = layout.columns.map(([name, kind, doc]) => ({
    name: camel(name),
    doc: doc.replaceAll(/`(\w+)`/g, (_, word) => `\`${camel(word)}\``),
    ...KINDS[kind],
  }));
  const fields = [...header.map((number) => ({ ...number, type: "number" })), ...columns];
  const numbers = header.map(({ name }, at) => `    ${name}: at[${at}] as number,`);
  const reads = columns.map(({ name, read }, index) => {
    const at = header.length + 2 * index;
    return `    ${name}: ${read(`buffer, at[${at}] as number, at[${at + 1}] as number`)},`;
  });
  const constants = [
    ...Object.entries(layout.constants),
    ...layout.case.map(([name], at) => [`CASE_${name.toUpperCase()}`, at]),
    ["NUMBERS_PER_CASE", layout.case.length],
  ];
  const text = `// Generated from src/wasm/columns.rs by \`npm run build\`.

/** A batch in the engine's memory: read it before the engine is called again. */
export interface Columns {
${fields.map(({ name, doc, type }) => `${comment(doc, "  ")}  ${name}: ${type};`).join("\n")}
}

/** The batch whose table is at an address. */
export function readColumns(buffer: ArrayBufferLike, table: number): Columns {
  const at = new Float64Array(buffer, table, ${header.length + 2 * columns.length});
  return {
${[...numbers, ...reads].join("\n")}
  };
}

${constants.map(([name, value]) => `export const ${name} = ${value};`).join("\n")}

const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });

function textAt(buffer: ArrayBufferLike, address: number, length: number): string {
  return decoder.decode(new Uint8Array(buffer, address, length));
}

function listAt(buffer: ArrayBufferLike, address: number, length: number): unknown[] {
  return length === 0 ? [] : (JSON.parse(\`[\${textAt(buffer, address, length)}]\`) as unknown[]);
}
`;
  writeFileSync(typesFile, text);
}

function camel(name) {
  return name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

function comment(doc, indent) {
  const lines = doc
    .trim()
    .split("\n")
    .map((line) => line.trim());
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */\n`].join("\n");
}
