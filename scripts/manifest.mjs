// Makes the modules of `pkg-template/src/generated/` that list what the engine has, from the manifest that the Rust code
// exports: names of metrics, classes of evaluators, prompts, limits and defaults. They are split by who imports them, since
// what a module lists is in the bundle of everyone who imports a part of it that is not a constant.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const BANNER = "// Generated from the Rust code by `npm run build`.\n";

/** Classes that are written by hand, since they do more than one metric's work. */
const BY_HAND = new Set(["ResponseEvaluator"]);

/** @param {string} manifestFile @param {string} folder */
export function writeManifest(manifestFile, folder) {
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8"));
  const modules = {
    metrics: metricsOf(manifest),
    evaluators: evaluatorsOf(manifest),
    registry: registryOf(manifest),
    limits: limitsOf(manifest),
    keys: keysOf(manifest),
    settings: settingsOf(manifest),
    reads: readsOf(manifest),
    providers: providersOf(manifest),
  };
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, `${name}.ts`), `${BANNER}\n${text}`);
}

/** The names of metrics and what is known of them without asking the engine. */
function metricsOf({ metrics, defaultCriteria, defaultModel, purposes }) {
  const legacy = metrics.flatMap(({ name, legacyNames }) => legacyNames.map((old) => [old, name]));
  const members = [
    ...metrics.map(({ name, description }) => [description, name]),
    ...legacy.map(([old, name]) => [`ADK-TS's old name of \`${name.toUpperCase()}\`.`, old]),
  ];
  const names = (keep) => metrics.filter(keep).map(({ name }) => name);
  const constants = [
    [
      "ADK-TS's old names of metrics, with today's.",
      "LEGACY_NAMES",
      "Readonly<Record<string, PrebuiltMetrics>>",
      legacy,
    ],
    [
      "What the metrics count that only inform, and that every config has.",
      "UNITS",
      "Readonly<Record<string, string>>",
      metrics.filter(({ unit }) => unit !== null).map(({ name, unit }) => [name, unit]),
    ],
    [
      "The engine's names for the prompts of each metric that asks a judge, by what they ask for.",
      "PROMPTS",
      "Readonly<Record<string, Readonly<Record<string, string>>>>",
      metrics.filter(({ asksJudge }) => asksJudge).map(({ name, prompts }) => [name, prompts]),
    ],
    [
      "The least and the most score of metrics whose scores do not go from 0 to 1.",
      "SCALES",
      "Readonly<Record<string, readonly [least: number, most: number]>>",
      metrics
        .filter(({ range }) => range !== null && (range[0] !== 0 || range[1] !== 1))
        .map(({ name, range }) => [name, range]),
    ],
    [
      "What a vote for and a vote against are called, for metrics that a majority decides. Rubrics have words of their own.",
      "VOTE_WORDS",
      "Readonly<Record<string, readonly [positive: string, negative: string]>>",
      metrics.filter(({ voteWords }) => voteWords !== null).map(({ name, voteWords }) => [name, voteWords]),
    ],
  ];
  return `import type { Criteria } from "./criteria.js";

/** The names of all metrics: those of ADK-TS with its values, and the other metrics of google-adk. */
export enum PrebuiltMetrics {
${members.map(([doc, name]) => `  /** ${doc} */\n  ${name.toUpperCase()} = "${name}",`).join("\n")}
}

${constants.map(([doc, name, type, entries]) => `/** ${doc} */\nexport const ${name}: ${type} = ${valueOf(name, entries)};\n`).join("\n")}
/** What judges are asked for. */
export const PURPOSES = ${JSON.stringify(purposes)} as const;

/** What a judge is asked for. Majority metrics ask for a \`verdict\`, hallucinations to \`segment\` then to \`validate\`. */
export type JudgePurpose = ${purposes.map((purpose) => JSON.stringify(purpose)).join(" | ")};

/** ADK's criteria for evalsets without a config. */
export const DEFAULT_CRITERIA: Readonly<Criteria> = /* @__PURE__ */ Object.freeze(${valueOf("", defaultCriteria)});

/** The model that google-adk asks where nothing names one. */
export const DEFAULT_MODEL = ${JSON.stringify(defaultModel)};

/** The metrics that ask nobody. */
export const PLAIN_METRICS: readonly string[] = ${JSON.stringify(names(({ asksJudge }) => !asksJudge))};

/** The metrics that judge a conversation as a whole: of the turns, the last alone has their result. */
export const OF_CONVERSATIONS: readonly string[] = ${JSON.stringify(names(({ ofConversation }) => ofConversation))};
`;
}

/** The text of an object. Today's names of metrics are members of the enum, for the sake of types. */
function valueOf(name, entries) {
  const text = (value) => (name === "LEGACY_NAMES" ? `PrebuiltMetrics.${value.toUpperCase()}` : JSON.stringify(value));
  return `{\n${entries.map(([key, value]) => `  ${key}: ${text(value)},`).join("\n")}\n}`;
}

/** The fields of a turn that each metric reads, once for all that read the same. */
function readsOf({ metrics, readByRun }) {
  const short = (key, value) => (typeof value === "boolean" ? Number(value) : value);
  const texts = metrics.map(({ name, reads }) => [name, JSON.stringify(reads, short)]);
  const ofRun = JSON.stringify(readByRun, short);
  const distinct = [...new Set([ofRun, ...texts.map(([, text]) => text)])].filter((text) => text !== "null");
  const nameOf = (text) => `FIELDS_${distinct.indexOf(text)}`;
  const informational = new Set(metrics.filter(({ takesCriterion }) => !takesCriterion).map(({ name }) => name));
  const entries = texts.filter(([, text]) => text !== "null");
  return `import type { Fields } from "../engine/plain-json.js";

${distinct.map((text, at) => `const FIELDS_${at}: Fields = ${text};\n`).join("")}
/** The fields of a turn that a metric reads, for metrics that ask no judge. */
export const READS: Readonly<Record<string, Fields>> = {
${entries.map(([name, text]) => `  ${name}: ${nameOf(text)},`).join("\n")}
};

/** What every run reads of a turn: to compare what was asked and join rubrics, and for metrics that are always reported. */
export const READ_BY_EVERY_RUN: readonly Fields[] = [
${[ofRun, ...entries.filter(([name]) => informational.has(name)).map(([, text]) => text)].map((text) => `  ${nameOf(text)},`).join("\n")}
];
`;
}

/** A class for each metric. */
function evaluatorsOf({ metrics }) {
  const classes = metrics.filter(({ className }) => !BY_HAND.has(className)).map(classOf);
  return `import { EngineEvaluator } from "../evaluators.js";
import { metricInfo } from "../metric-info.js";
import type { MetricInfo } from "../types.js";
import { PrebuiltMetrics } from "./metrics.js";

${classes.join("\n")}`;
}

/** The classes by their metrics. */
function registryOf({ metrics }) {
  const names = (isByHand) =>
    metrics.map(({ className }) => className).filter((className) => BY_HAND.has(className) === isByHand);
  return `import { type EvaluatorClass, ${names(true).join(", ")} } from "../evaluators.js";
import { ${names(false).join(", ")} } from "./evaluators.js";
import { PrebuiltMetrics } from "./metrics.js";

/** The classes of the engine's metrics. */
export const ENGINE_CLASSES: readonly (readonly [PrebuiltMetrics, EvaluatorClass])[] = [
${metrics.map(({ name, className }) => `  [PrebuiltMetrics.${name.toUpperCase()}, ${className}],`).join("\n")}
];
`;
}

/** The providers of models, with the environment variables that their users have. */
function providersOf({ providers }) {
  const entries = providers.map(
    ({ name, models, foreign, form: _form, ...known }) =>
      `  ${JSON.stringify(name)}: { ...${JSON.stringify(known)}, models: ${patternOf(models)}, foreign: ${patternOf(foreign)} },`,
  );
  const byKey = providers.filter(({ models, keys }) => models !== "" && keys.length > 0);
  return `import type { EndpointSettings } from "./contract.js";

/** What is known of a provider of models. */
export interface ProviderInfo {
  readonly label: string;
  /** The environment variables of its keys, in the order in which they are looked for. */
  readonly keys: readonly string[];
  /** The environment variable of its address. */
  readonly address: string;
  /** Where it is, unless the user says otherwise. */
  readonly origin: string;
  /** Matches the names of its models; absent where names do not tell. */
  readonly models: RegExp | undefined;
  /** Matches names of models that it surely does not have at its own address. */
  readonly foreign: RegExp | undefined;
}

/** A provider that is told by the names of its models, and asked with a key. */
export type KeyedProvider = ${byKey.map(({ name }) => JSON.stringify(name)).join(" | ")};

/** The providers of models. */
export const PROVIDERS: Readonly<Record<EndpointSettings["provider"], ProviderInfo>> = {
${entries.join("\n").replaceAll("...{", "").replaceAll("}, models", ", models")}
};

/** The providers that are told by the names of their models, and asked with a key. */
export const KEYED_PROVIDERS: readonly KeyedProvider[] = ${JSON.stringify(byKey.map(({ name }) => name))};
`;
}

/** A pattern as code; the empty one is none. */
function patternOf(pattern) {
  return pattern === "" ? "undefined" : `/${pattern}/`;
}

function classOf({ name, className, description, asksJudge, prompts, takesCriterion }) {
  const sentence = description.replace(/\.$/, "").replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
  const asks = asksJudge ? `; asks a judge${"score" in prompts ? ", or Vertex AI" : ""}` : "";
  const metric = `PrebuiltMetrics.${name.toUpperCase()}`;
  return `/** \`${name}\`: ${sentence}${asks}. */
export class ${className} extends EngineEvaluator${takesCriterion ? `<"${name}">` : ""} {
  protected override readonly engineMetric = ${metric};
  static override getMetricInfo(): MetricInfo {
    return metricInfo(${metric});
  }
}
`;
}

/** The engine's limits, and what HTTP statuses mean to it. */
function limitsOf({ limits, statuses }) {
  const docs = {
    MAX_BYTES: "As much as the engine reads of one input, in bytes.",
    MAX_DEPTH: "As deep as the engine reads.",
    MAX_VALUES: "As many values as the engine reads of one input.",
    MAX_PROMPT_BYTES: "The longest prompt that a model is sent, in bytes.",
    MAX_REFUSALS: "After so many identical refusals, without a single reply, a judge is not asked again.",
    REJECTED_STATUSES: "The statuses by which a server rejects a key.",
    RETRIED_STATUSES: "The statuses of errors after which the same request may succeed.",
  };
  return [...Object.entries(limits), ...Object.entries(statuses)]
    .map(([name, value]) => {
      const type = Array.isArray(value) ? ": readonly number[]" : "";
      return `/** ${docs[name]} */\nexport const ${name}${type} = ${JSON.stringify(value)};\n`;
    })
    .join("\n");
}

/** The keys of records that the package reads too, with their spelling in files. */
function keysOf({ keys }) {
  return Object.entries(keys)
    .map(([name, pairs]) => `export const ${name} = ${JSON.stringify(pairs)} as const;\n`)
    .join("\n");
}

/** The settings of models, which configs name as Gemini does. */
function settingsOf({ settings }) {
  return `/** The settings of a model that judges are sent, by Gemini's names. */
export const SETTINGS = ${JSON.stringify(settings)} as const;
`;
}
