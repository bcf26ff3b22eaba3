// What llama.cpp's grammars cannot say of a JSON Schema, said otherwise.

/** The longest text in a reply, in characters: a model this small repeats itself, and a grammar alone never ends it. */
const LONGEST_TEXT = 40;
/** The most entries of a list that has no limit, for the same reason. */
const MOST_ITEMS = 2;

/**
 * The schema for node-llama-cpp. Texts without a limit get one. Keywords that say no more than others beside them (`type`
 * beside `enum`, `required` where it names all properties) are left out.
 *
 * @throws {Error} If a keyword would be lost, and the reply could then be one that the schema forbids.
 */
export function expressible(schema, path = "schema") {
  const { type, enum: values, properties, required = [], additionalProperties, items, ...rest } = schema;
  const { minItems, maxItems, maxLength, description, ...unknown } = rest;
  const lost = (what) => new Error(`${path}: a grammar cannot say ${what}`);
  if (Object.keys(unknown).length > 0) throw lost(Object.keys(unknown).join(", "));
  if (values !== undefined) return { enum: values };
  if (type === "object") {
    const names = Object.keys(properties ?? {});
    // Grammars write all properties, in this order, and no others.
    if (additionalProperties !== false) throw lost("additionalProperties");
    if (names.some((name) => !required.includes(name))) throw lost("that a property may be absent");
    const written = names.map((name) => [name, expressible(properties[name], `${path}.${name}`)]);
    return { type, properties: Object.fromEntries(written) };
  }
  if (type === "array") {
    if (items === undefined) throw lost("a list of anything");
    const least = minItems ?? 0;
    const most = Math.min(maxItems ?? Infinity, Math.max(least, MOST_ITEMS));
    return { type, items: expressible(items, `${path}[]`), minItems: least, maxItems: most };
  }
  if (type === "string") return { type, maxLength: Math.min(maxLength ?? LONGEST_TEXT, LONGEST_TEXT) };
  if (type === "boolean" || type === "integer" || type === "number") return { type };
  throw lost(`a value of type ${type}`);
}
