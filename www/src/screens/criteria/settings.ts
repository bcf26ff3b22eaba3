/** The settings of a metric and their controls, from the JSON Schema of configs. */

import { alternatives, keysAt, type Schema, valuesAt } from "../../editor/schema.js";

/** The control for a setting. */
export type Control =
  | { kind: "flag" }
  | { kind: "choice"; values: readonly { value: string; description: string }[] }
  | { kind: "number"; isWhole: boolean; min?: number | undefined; max?: number | undefined }
  | { kind: "text" }
  /** Names entered by the user, each with one of the values. */
  | { kind: "map"; values: readonly { value: string; description: string }[] }
  | { kind: "rubrics" }
  | { kind: "group"; settings: readonly Setting[] }
  | { kind: "json" };

export interface Setting {
  /** In `snake_case`; a config may use `camelCase`. */
  key: string;
  description: string;
  default: unknown;
  control: Control;
}

/** The settings of a metric besides its threshold. */
export function settingsOf(root: Schema, metric: string): Setting[] {
  return settingsAt(root, ["criteria", metric]).filter(({ key }) => key !== "threshold");
}

function settingsAt(root: Schema, path: readonly string[]): Setting[] {
  return keysAt(root, path)
    .filter(({ isSecondSpelling }) => !isSecondSpelling)
    .map(({ key, schema }) => ({
      key,
      description: schema.description ?? "",
      default: schema.default,
      control: controlOf(root, schema, [...path, key]),
    }))
    .sort((a, b) => Number(takesFullRow(a)) - Number(takesFullRow(b)));
}

/** Whether the control takes a full row; such controls come last. */
function takesFullRow({ control }: Setting): boolean {
  return ["json", "map", "rubrics", "group"].includes(control.kind);
}

/** The threshold to propose for a metric. */
export function proposedThreshold(root: Schema | undefined, metric: string, max = 1): number {
  const schema = root?.definitions?.[metric] as { defaultSnippets?: readonly { body: unknown }[] } | undefined;
  const [first] = schema?.defaultSnippets ?? [];
  return typeof first?.body === "number" ? first.body : 0.8 * max;
}

function controlOf(root: Schema, schema: Schema, path: readonly string[]): Control {
  const all = alternatives(root, schema);
  const has = (type: string) =>
    all.some((one) => one.type === type || (Array.isArray(one.type) && one.type.includes(type)));
  if (has("boolean")) return { kind: "flag" };
  const values = stringValues(valuesAt(root, path));
  if (all.some((one) => one.enum !== undefined)) return { kind: "choice", values };
  if (has("integer") || has("number")) {
    const min = all.find(({ minimum }) => minimum !== undefined)?.minimum;
    const max = all.find(({ maximum }) => maximum !== undefined)?.maximum;
    return { kind: "number", isWhole: !has("number"), min, max };
  }
  if (has("array")) return path.at(-1) === "rubrics" ? { kind: "rubrics" } : { kind: "json" };
  if (has("object")) {
    const mapValues = stringValues(valuesAt(root, [...path, "*"]));
    if (mapValues.length > 0) return { kind: "map", values: mapValues };
    if (path.at(-1) === "judge_model_options") return { kind: "group", settings: settingsAt(root, path) };
    return { kind: "json" };
  }
  return has("string") ? { kind: "text" } : { kind: "json" };
}

function stringValues(values: readonly { value: unknown; description: string }[]) {
  return values.flatMap(({ value, description }) => (typeof value === "string" ? [{ value, description }] : []));
}

/** A key in `camelCase`. */
export function toCamelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The label of a key: `match_type` becomes "Match type". */
export function labelOf(key: string): string {
  const spaced = key.replaceAll("_", " ");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
