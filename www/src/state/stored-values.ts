/**
 * Reads what the browser has kept. An older version of this page may have written it, or another page that was served from
 * the same address: what is not as it should be counts as absent.
 */

import { type JudgeField, OPTIONS, PROVIDERS, type ProviderName } from "virtual:manifest";
import type { ComparableRun, GivenLabel, KeptRun } from "../worker/protocol.js";
import type { NewFile } from "./inputs.js";
import type { Fields, JudgeKind, JudgeSettings, PriceFields, RunOptions } from "./judge.js";
import type { Role } from "./matching.js";
import type { RunEntry } from "./runs.js";

type Properties = Readonly<Record<string, unknown>>;

/** The properties of an object; none of anything else. */
function propertiesOf(value: unknown): Properties {
  return typeof value === "object" && value !== null ? (value as Properties) : {};
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** The bytes of a list or a view that can be handed to a worker. */
function isBytes(value: unknown): value is Uint8Array<ArrayBuffer> {
  return value instanceof Uint8Array && value.buffer instanceof ArrayBuffer;
}

const KINDS: readonly JudgeKind[] = ["none", "browser", "recording"];

function fieldsIn(value: unknown, fields: readonly JudgeField[]): Partial<Fields> {
  const given = propertiesOf(value);
  const known = fields.flatMap(({ option, choices }) => {
    const entered = given[option];
    const isOne = isString(entered) && (choices.length === 0 || choices.some(([choice]) => choice === entered));
    return isOne ? [[option, entered]] : [];
  });
  return Object.fromEntries(known) as Partial<Fields>;
}

/** The settings of judges; undefined for what are none. */
export function judgeSettingsIn(value: unknown): JudgeSettings | undefined {
  const { kind, fields, prices, usesService, lacksKey } = propertiesOf(value);
  const providers = Object.keys(PROVIDERS) as ProviderName[];
  const known = [...KINDS, ...providers].find((one) => one === kind);
  if (known === undefined) return undefined;
  const given = propertiesOf(fields);
  const of = providers
    .filter((name) => Object.hasOwn(given, name))
    .map((name) => [name, fieldsIn(given[name], PROVIDERS[name].fields)]);
  const priced = Object.entries(propertiesOf(prices)).flatMap(([model, price]): [string, PriceFields][] => {
    const { input, output } = propertiesOf(price);
    return isString(input) && isString(output) ? [[model, { input, output }]] : [];
  });
  return {
    kind: known,
    fields: Object.fromEntries(of) as JudgeSettings["fields"],
    prices: Object.fromEntries(priced),
    usesService: usesService === true,
    lacksKey: lacksKey === true,
  };
}

/** Whether a vote can end at this risk. */
export function isRisk(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= 0.5;
}

/** How a run is made, with the defaults for what is missing. */
export function runOptionsIn(value: unknown): RunOptions {
  const { concurrency, earlyStop, risk, dialect, maxCalls, maxCost, keepReplies } = propertiesOf(value);
  const [ofAdk] = OPTIONS.dialect.choices.find(([name]) => name === dialect) ?? [];
  return {
    concurrency: Number.isSafeInteger(concurrency) && isAmount(concurrency) ? concurrency : OPTIONS.concurrency.default,
    earlyStop: typeof earlyStop === "boolean" ? earlyStop : OPTIONS.earlyStop.default,
    ...(isRisk(risk) ? { risk } : {}),
    dialect: (ofAdk as RunOptions["dialect"] | undefined) ?? OPTIONS.dialect.default,
    ...(isAmount(maxCalls) ? { maxCalls } : {}),
    ...(isAmount(maxCost) ? { maxCost } : {}),
    keepReplies: keepReplies !== false,
  };
}

export function filesIn(value: unknown): NewFile[] {
  return itemsOf(value).flatMap((file) => {
    const { name, folder, isEdited, bytes } = propertiesOf(file);
    if (!isString(name) || !isBytes(bytes)) return [];
    return [{ name, folder: isString(folder) ? folder : "", isEdited: isEdited === true, bytes }];
  });
}

const ROLES: readonly Role[] = ["expected", "actual", "config", "recording", "none"];

/** The roles that files were given, by their places. */
export function rolesIn(value: unknown): [number, Role][] {
  return itemsOf(value).flatMap((pair): [number, Role][] => {
    const [place, given] = itemsOf(pair);
    const role = ROLES.find((one) => one === given);
    return isAmount(place) && role !== undefined ? [[place, role]] : [];
  });
}

/** Which file says what the agent did, by the places of evalsets. */
export function actualOfIn(value: unknown): [number, number | null][] {
  return itemsOf(value).flatMap((pair): [number, number | null][] => {
    const [place, other] = itemsOf(pair);
    return isAmount(place) && (other === null || isAmount(other)) ? [[place, other]] : [];
  });
}

export function thresholdsIn(value: unknown): Map<string, number> {
  const pairs = itemsOf(value).map(itemsOf);
  return new Map(pairs.filter((pair): pair is [string, number] => isString(pair[0]) && Number.isFinite(pair[1])));
}

/** When a run was begun that is stored, and whether it ended. */
export function stateIn(value: unknown): { startedAt: number; isFinished: boolean } | undefined {
  const { startedAt, isFinished } = propertiesOf(value);
  // Later than any moment that there is.
  if (!isAmount(startedAt) || startedAt > 8.64e15 || typeof isFinished !== "boolean") return undefined;
  return { startedAt, isFinished };
}

export function keptRunIn(value: unknown): KeptRun | undefined {
  const { files, bytes } = propertiesOf(value);
  if (!isBytes(bytes)) return undefined;
  const named = itemsOf(files).map((file) => {
    const { name, path, config } = propertiesOf(file);
    return {
      ...(isString(name) ? { name } : {}),
      ...(isString(path) ? { path } : {}),
      ...(isString(config) ? { config } : {}),
    };
  });
  return { files: named as KeptRun["files"], bytes };
}

/** The runs that are kept: their names, and how their cases ended. */
export function runEntriesIn(value: unknown): RunEntry[] {
  return itemsOf(value).flatMap((entry): RunEntry[] => {
    const { id, name, sets, judges, configs, creationTimestamp, thresholds } = propertiesOf(entry);
    if (!isString(id) || !isString(name)) return [];
    const counted = itemsOf(sets).flatMap((set): ComparableRun["sets"] => {
      const { evalSetId, name: file, ...counts } = propertiesOf(set);
      const [total, passed, failed, notEvaluated] = ["total", "passed", "failed", "notEvaluated"].map((key) =>
        isAmount(counts[key]) ? counts[key] : 0,
      ) as [number, number, number, number];
      const named = isString(file) ? { name: file } : {};
      return isString(evalSetId) ? [{ evalSetId, ...named, total, passed, failed, notEvaluated }] : [];
    });
    const isTime = isAmount(creationTimestamp) && creationTimestamp <= 8.64e12;
    return [
      {
        id,
        name,
        sets: counted,
        thresholds: [...thresholdsIn(thresholds)],
        ...namesIn("judges", judges),
        ...namesIn("configs", configs),
        ...(isTime ? { creationTimestamp } : {}),
      },
    ];
  });
}

function namesIn<K extends string>(key: K, value: unknown): { [key in K]?: string[] } {
  const names = itemsOf(value).filter(isString);
  return names.length === 0 ? {} : ({ [key]: names } as { [key in K]: string[] });
}

/** What people said of verdicts. */
export function labelsIn(value: unknown): GivenLabel[] {
  return itemsOf(value).flatMap((given): GivenLabel[] => {
    const { evalSetId, evalId, run, turn, metricName, rubricId, label, annotator, chosen, comment } =
      propertiesOf(given);
    if (!isString(evalSetId) || !isString(evalId) || !isString(metricName) || !isAmount(run)) return [];
    const isLabel = typeof label === "boolean" || Number.isFinite(label);
    return [
      {
        ...{ evalSetId, evalId, run, metricName },
        ...(isAmount(turn) ? { turn } : {}),
        ...(isString(rubricId) ? { rubricId } : {}),
        ...(isLabel ? { label: label as boolean | number } : {}),
        ...(isString(annotator) ? { annotator } : {}),
        ...(chosen === "random" || chosen === "doubtful" ? { chosen } : {}),
        ...(isString(comment) ? { comment } : {}),
      },
    ];
  });
}
