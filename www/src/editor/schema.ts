/**
 * Completion and validation by the JSON Schemas of this package. Supports the part of draft 7 that these schemas use.
 * Whether a file is valid is decided by the engine; this only helps while editing.
 */

import type { Node } from "jsonc-parser";

export interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  not?: Schema;
  enumDescriptions?: readonly string[];
  default?: unknown;
  examples?: readonly unknown[];
  /** What editors insert. */
  defaultSnippets?: readonly { body: unknown }[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  pattern?: string;
  properties?: Readonly<Record<string, Schema>>;
  patternProperties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  definitions?: Readonly<Record<string, Schema>>;
  /** Set for keys that are valid but not proposed. */
  doNotSuggest?: boolean;
  /** Set for the second spelling of a key, which is sorted last. */
  suggestSortText?: string;
}

/** Follows references; keywords beside a reference are merged with its target. */
function dereference(root: Schema, schema: Schema): Schema {
  let found = schema;
  for (let hops = 0; found.$ref !== undefined && hops < 16; hops += 1) {
    const { $ref, ...beside } = found;
    found = { ...resolvePointer(root, $ref), ...beside };
  }
  return found;
}

function resolvePointer(root: Schema, pointer: string): Schema {
  const steps = pointer.replace(/^#\/?/, "").split("/");
  let at: unknown = root;
  for (const step of steps) {
    at = (at as Record<string, unknown> | undefined)?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return (at ?? {}) as Schema;
}

/** A schema and all its `anyOf`, `oneOf` and `allOf` parts, with references followed. */
export function alternatives(root: Schema, schema: Schema, depth = 0): Schema[] {
  const own = dereference(root, schema);
  if (depth > 8) return [own];
  const parts = [...(own.anyOf ?? []), ...(own.oneOf ?? []), ...(own.allOf ?? [])];
  return [own, ...parts.flatMap((part) => alternatives(root, part, depth + 1))];
}

/** All schemas that may apply to the value at a path. */
function schemasAt(root: Schema, path: readonly (string | number)[]): Schema[] {
  let here = alternatives(root, root);
  for (const step of path) {
    const next = here.flatMap((schema) => {
      if (typeof step === "number" || schema.items !== undefined) return schema.items ?? [];
      return propertySchema(schema, step) ?? [];
    });
    here = next.flatMap((schema) => alternatives(root, schema));
  }
  return here;
}

/** The schema of a property; undefined if the key is unknown. */
function propertySchema(schema: Schema, key: string): Schema | undefined {
  const own = schema.properties?.[key];
  if (own !== undefined) return own;
  const [, byPattern] =
    Object.entries(schema.patternProperties ?? {}).find(([pattern]) => new RegExp(pattern).test(key)) ?? [];
  if (byPattern !== undefined) return byPattern;
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** The valid keys of an object, each with its schema. */
export function keysAt(
  root: Schema,
  path: readonly (string | number)[],
): { key: string; schema: Schema; isSecondSpelling: boolean }[] {
  const found = new Map<string, { key: string; schema: Schema; isSecondSpelling: boolean }>();
  for (const { properties = {} } of schemasAt(root, path)) {
    for (const [key, property] of Object.entries(properties)) {
      const schema = dereference(root, property);
      if (schema.doNotSuggest === true || key.startsWith("$")) continue;
      found.set(key, { key, schema, isSecondSpelling: property.suggestSortText?.startsWith("~") === true });
    }
  }
  return [...found.values()];
}

/** The values to propose at a path. */
export function valuesAt(root: Schema, path: readonly (string | number)[]): { value: unknown; description: string }[] {
  const found = new Map<string, { value: unknown; description: string }>();
  for (const schema of schemasAt(root, path)) {
    for (const [at, value] of (schema.enum ?? []).entries()) {
      found.set(JSON.stringify(value), { value, description: schema.enumDescriptions?.[at] ?? "" });
    }
    if (typesOf(schema).includes("boolean")) {
      for (const value of [true, false]) found.set(String(value), { value, description: "" });
    }
    if (schema.default !== undefined) {
      const key = JSON.stringify(schema.default);
      if (!found.has(key)) found.set(key, { value: schema.default, description: "the default" });
    }
  }
  return [...found.values()].filter(({ value }) => value !== null);
}

/**
 * The keys to propose for an object: those that it does not have yet, each in one spelling.
 *
 * @param present The keys of the object.
 * @param isCamelCase Whether the second spelling is the document's.
 */
export function proposedKeys(
  root: Schema,
  path: readonly (string | number)[],
  present: Iterable<string>,
  isCamelCase: boolean,
) {
  const spelled = (key: string) => key.replaceAll("_", "").toLowerCase();
  const taken = new Set([...present].map(spelled));
  const known = keysAt(root, path);
  const hasSecond = new Set(known.flatMap(({ key, isSecondSpelling }) => (isSecondSpelling ? spelled(key) : [])));
  return known.filter(({ key, isSecondSpelling }) => {
    if (taken.has(spelled(key))) return false;
    return isCamelCase ? isSecondSpelling || !hasSecond.has(spelled(key)) : !isSecondSpelling;
  });
}

/** Whether a document has more keys in their second spelling than in their first. */
export function isCamelCase(root: Schema, text: string): boolean {
  const second = new Set<string>();
  const collect = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (typeof (value as Schema | null)?.suggestSortText === "string") second.add(key);
      collect(value);
    }
  };
  collect(root);
  let balance = 0;
  for (const [, key = ""] of text.matchAll(/"(\w+)"\s*:/g)) {
    const camel = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    if (second.has(camel)) balance += key === camel ? 1 : -1;
  }
  return balance > 0;
}

/** A value to begin with, as JSON. */
export function firstValue(root: Schema, schema: Schema): string {
  const all = alternatives(root, schema);
  const values = all.flatMap(({ defaultSnippets = [], examples = [], default: usual, enum: words = [] }) => [
    ...defaultSnippets.map(({ body }) => body),
    ...examples,
    usual,
    ...words,
  ]);
  const value = values.find((one) => one !== undefined && one !== null);
  if (value !== undefined) return JSON.stringify(value);
  const types = all.flatMap(typesOf);
  const [, empty] = Object.entries(EMPTY_VALUES).find(([type]) => types.includes(type)) ?? [];
  return empty ?? "null";
}

const EMPTY_VALUES: Readonly<Record<string, string>> = {
  string: '""',
  array: "[]",
  object: "{}",
  boolean: "false",
  number: "0",
  integer: "0",
};

/** The description of the value at a path; empty if the schema has none. */
export function descriptionAt(root: Schema, path: readonly (string | number)[]): string {
  return schemasAt(root, path).find(({ description }) => description !== undefined)?.description ?? "";
}

/** A value that is invalid under the schema. */
export interface SchemaError {
  node: Node;
  message: string;
}

/** Validates a value. If no alternative is valid, the errors of the one with the value's type are reported. */
export function schemaErrors(root: Schema, schema: Schema, node: Node, depth = 0): SchemaError[] {
  if (depth > 200) return [];
  const own = dereference(root, schema);
  const found: SchemaError[] = [];
  const types = typesOf(own);
  const type = typeOf(node);
  const fits = types.length === 0 || types.includes(type) || (type === "integer" && types.includes("number"));
  if (!fits)
    return [{ node, message: `expected ${types.filter((name) => name !== "null").join(" or ")}, found ${type}` }];
  if (own.enum !== undefined && node.type !== "object" && node.type !== "array" && !own.enum.includes(node.value)) {
    const words = own.enum.filter((word) => word !== null).map((word) => JSON.stringify(word));
    found.push({ node, message: `expected ${words.join(", ")}` });
  }
  if (own.const !== undefined && node.value !== own.const)
    found.push({ node, message: `expected ${JSON.stringify(own.const)}` });
  if (own.not !== undefined && schemaErrors(root, own.not, node, depth + 1).length === 0)
    found.push({ node, message: "this is not allowed here" });
  if (typeof node.value === "number") {
    if (own.minimum !== undefined && node.value < own.minimum)
      found.push({ node, message: `expected ${own.minimum} or more` });
    if (own.maximum !== undefined && node.value > own.maximum)
      found.push({ node, message: `expected ${own.maximum} or less` });
  }
  if (typeof node.value === "string") {
    if (own.minLength !== undefined && node.value.length < own.minLength)
      found.push({ node, message: "expected a string that is not empty" });
    if (own.pattern !== undefined && !new RegExp(own.pattern).test(node.value))
      found.push({ node, message: "this string does not have the expected form" });
  }
  if (node.type === "object") append(found, objectErrors(root, own, node, depth));
  if (node.type === "array" && own.items !== undefined) {
    for (const item of node.children ?? []) append(found, schemaErrors(root, own.items, item, depth + 1));
  }
  for (const part of own.allOf ?? []) append(found, schemaErrors(root, part, node, depth + 1));
  for (const choice of [own.anyOf, own.oneOf]) {
    if (choice === undefined) continue;
    const attempts = choice.map((part) => ({
      part: dereference(root, part),
      mistakes: schemaErrors(root, part, node, depth + 1),
    }));
    if (attempts.some(({ mistakes: errors }) => errors.length === 0)) continue;
    const bestMatch = attempts.find(({ part }) => typesOf(part).includes(type)) ?? attempts[0];
    append(found, bestMatch?.mistakes ?? []);
  }
  return found;
}

/** Appends items. `push(...items)` would overflow the stack at some hundred thousand items. */
function append<Item>(list: Item[], items: readonly Item[]): void {
  for (const item of items) list.push(item);
}

function objectErrors(root: Schema, schema: Schema, node: Node, depth: number): SchemaError[] {
  const found: SchemaError[] = [];
  const keys = new Set<string>();
  for (const property of node.children ?? []) {
    const [name, value] = property.children ?? [];
    if (name === undefined) continue;
    const key = String(name.value);
    keys.add(key);
    const inside = propertySchema(schema, key);
    if (inside !== undefined) {
      if (value !== undefined) append(found, schemaErrors(root, inside, value, depth + 1));
    } else if (schema.additionalProperties === false) {
      found.push({ node: name, message: `\`${key}\` is not known here` });
    }
  }
  for (const key of schema.required ?? []) {
    if (!keys.has(key)) found.push({ node, message: `\`${key}\` is missing` });
  }
  return found;
}

function typesOf({ type }: Schema): readonly string[] {
  return typeof type === "string" ? [type] : (type ?? []);
}

function typeOf(node: Node): string {
  return node.type === "number" && Number.isInteger(node.value) ? "integer" : node.type;
}
