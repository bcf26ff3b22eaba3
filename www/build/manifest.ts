/** What the engine lists, as `virtual:manifest`: the build of the package wrote it from the Rust code. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const file = fileURLToPath(new URL("../../target/schema/manifest.json", import.meta.url));
const contract = fileURLToPath(new URL("../../target/schema/contract.schema.json", import.meta.url));
const ID = "virtual:manifest";

/** What a form shows of a provider. */
interface Provider {
  label: string;
  form: { fields: object[] };
}

interface Manifest {
  /** Names and thresholds. */
  defaultCriteria: [string, number][];
  limits: { MAX_BYTES: number };
  metrics: { name: string; prompts: Record<string, string> | null; unit: string | null }[];
  providers: ({ name: string } & Provider)[];
}

/** The part of a JSON Schema that says what a form shows of an option. */
interface OptionSchema {
  title?: string;
  minimum?: number;
  enum?: string[];
  "x-names"?: string[];
  "x-default"?: unknown;
  $ref?: string;
  allOf?: { $ref: string }[];
}

/** The options of runs that forms ask for: those with a title. */
function optionsOf(): Record<string, object> {
  const { definitions } = JSON.parse(readFileSync(contract, "utf8")) as {
    definitions: Record<string, OptionSchema & { properties?: Record<string, OptionSchema> }>;
  };
  const all = ["RunOptions", "Budget"].flatMap((type) => Object.entries(definitions[type]?.properties ?? {}));
  const shown = all.filter(([, { title }]) => title !== undefined);
  return Object.fromEntries(
    shown.map(([name, option]) => {
      const { title, minimum, $ref, allOf, "x-default": byDefault } = option;
      const reference = $ref ?? allOf?.[0]?.$ref;
      const { enum: words = [], "x-names": names = [] } =
        definitions[reference?.replace("#/definitions/", "") ?? ""] ?? option;
      const choices = words.map((word, index) => [word, names[index]]);
      return [name, { label: title, least: minimum, default: byDefault, choices }];
    }),
  );
}

export function manifest(): Plugin {
  return {
    name: "manifest",
    resolveId: (id) => (id === ID ? `\0${id}` : null),
    load(id) {
      if (id !== `\0${ID}`) return null;
      this.addWatchFile(file);
      this.addWatchFile(contract);
      const { defaultCriteria, limits, metrics, providers } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
      const shown = providers.filter(({ form }) => form.fields.length > 0);
      const known = shown.map(({ name, label, form }) => [name, { label, ...form }]);
      return [
        `export const DEFAULT_CRITERIA = ${JSON.stringify(Object.fromEntries(defaultCriteria))};`,
        `export const MAX_BYTES = ${limits.MAX_BYTES};`,
        `export const WITH_REMARKS = ${JSON.stringify(metrics.filter(({ prompts }) => prompts?.score !== undefined).map(({ name }) => name))};`,
        `export const UNITS = ${JSON.stringify(Object.fromEntries(metrics.flatMap(({ name, unit }) => (unit === null ? [] : [[name, unit]]))))};`,
        `export const OPTIONS = ${JSON.stringify(optionsOf())};`,
        `export const PROVIDERS = ${JSON.stringify(Object.fromEntries(known))};`,
      ].join("\n");
    },
  };
}
