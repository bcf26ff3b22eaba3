/** The settings of judges, and prices. Keys stay in memory unless the user chooses to store them. */

import { computed, effect, signal } from "@preact/signals";
import type { Dialect } from "adk-metrics";
import { type JudgeField, OPTIONS, PROVIDERS } from "virtual:manifest";
import type { JudgeChoice, JudgeOptions, ServiceChoice } from "../worker/protocol.js";
import { configInfo } from "./config.js";
import { criteria, isObject, keyOf } from "./criteria.js";
import { matching, sourceOf } from "./inputs.js";
import { judgeSettingsIn } from "./stored-values.js";

export type JudgeKind = JudgeChoice["kind"];

/** The form fields of a provider, as typed; a choice that was not made is empty. */
export type Fields = Record<JudgeField["option"], string>;

const ALL_FIELDS = Object.values(PROVIDERS).flatMap(({ fields }) => fields);
const EMPTY = Object.fromEntries(ALL_FIELDS.map(({ option }) => [option, ""])) as Fields;
/** The fields with secret values. */
const SECRETS = [...new Set(ALL_FIELDS.filter(({ isSecret }) => isSecret).map(({ option }) => option))];

/** The prices of a model for a million tokens, as typed. */
export interface PriceFields {
  input: string;
  output: string;
}

/** The settings as they are stored, in the browser or with a run. */
export interface JudgeSettings {
  kind: JudgeKind;
  fields: Partial<Record<JudgeKind, Partial<Fields>>>;
  prices: Record<string, PriceFields>;
  usesService: boolean;
  /** Whether a key of the judge was left out. */
  lacksKey?: boolean;
}

const STORAGE_KEY = "judge";
const storedSettings = loadSettings();

/** Whether the settings of judges, including keys, are stored in this browser. */
export const isRemembered = signal(storedSettings !== undefined);
export const judgeKind = signal<JudgeKind>(storedSettings?.kind ?? "none");
const judgeFields = signal<JudgeSettings["fields"]>(storedSettings?.fields ?? {});
export const prices = signal<JudgeSettings["prices"]>(storedSettings?.prices ?? {});

/** The judge whose key a reload has lost, until it is entered again. */
const forgottenKey = signal<JudgeKind | undefined>(undefined);

/** Whether Vertex AI's evaluation service scores the metrics that google-adk delegates to it. */
export const usesService = signal(storedSettings?.usesService === true);

/** How a run is made. */
export interface RunOptions {
  concurrency: number;
  earlyStop: boolean;
  /** The chance, at most, that all samples would decide otherwise; votes end when they are certain if absent. */
  risk?: number;
  dialect: Dialect;
  /** The most calls; no limit if absent. */
  maxCalls?: number;
  /** The most money; no limit if absent. */
  maxCost?: number;
  /** Whether replies are cached in this browser. */
  keepReplies: boolean;
}

export const runOptions = signal<RunOptions>({
  concurrency: OPTIONS.concurrency.default,
  earlyStop: OPTIONS.earlyStop.default,
  dialect: OPTIONS.dialect.default,
  keepReplies: true,
});

effect(() => {
  const kept = settings(judgeFields.value);
  try {
    if (isRemembered.value) localStorage.setItem(STORAGE_KEY, JSON.stringify(kept));
    else localStorage.removeItem(STORAGE_KEY);
  } catch {
    // Without storage, settings last until the page is closed.
  }
});

export function fieldsOf(kind: JudgeKind): Fields {
  return { ...EMPTY, ...judgeFields.value[kind] };
}

export function setField(kind: JudgeKind, name: keyof Fields, value: string): void {
  judgeFields.value = { ...judgeFields.value, [kind]: { ...fieldsOf(kind), [name]: value } };
}

function settings(fields: JudgeSettings["fields"]): JudgeSettings {
  return { kind: judgeKind.value, fields, prices: prices.value, usesService: usesService.value };
}

/** The fields of a provider that are not empty. */
function enteredFields(kind: JudgeKind): JudgeOptions {
  return Object.fromEntries(
    Object.entries(fieldsOf(kind)).flatMap(([name, value]) => (value.trim() === "" ? [] : [[name, value.trim()]])),
  );
}

/** The judge that the settings describe. */
export const judgeChoice = computed<JudgeChoice>(() => {
  const kind = judgeKind.value;
  switch (kind) {
    case "none":
    case "browser":
      return { kind };
    case "recording": {
      const texts = matching.value.recordings.map((id) => new TextDecoder().decode(sourceOf(id)?.bytes));
      return { kind, text: texts.join("\n") };
    }
    default:
      return { kind, ...enteredFields(kind) };
  }
});

const judgedMetrics = computed(() => {
  const info = configInfo.value;
  return info?.ok === true ? info.value.judges : [];
});

/** The metrics of the config that the evaluation service can score. */
export const leftToVertex = computed(() => judgedMetrics.value.filter(({ isLeftToVertex }) => isLeftToVertex));

/** The evaluation service, if it is used. It has the same fields as the judge on Vertex AI. */
export const serviceChoice = computed<ServiceChoice | undefined>(() => {
  if (!usesService.value || leftToVertex.value.length === 0) return undefined;
  const { model: _, ...given } = enteredFields("vertex");
  return given;
});

/** The metrics that the judge scores. */
const askingJudge = computed(() =>
  judgedMetrics.value.filter(({ isLeftToVertex }) => serviceChoice.value === undefined || !isLeftToVertex),
);

/** Whether the judge is called, rather than the evaluation service alone. */
export const asksModel = computed(() => askingJudge.value.length > 0);

/** The models that will be called: the judge's own, else those in the config. */
export const askedModels = computed<readonly string[]>(() => {
  const own = fieldsOf(judgeKind.value).model.trim();
  if (!asksModel.value) return [];
  if (own !== "") return [own];
  return [...new Set(askingJudge.value.flatMap(({ model }) => model ?? []))];
});

/** What is missing in the judge settings, in words; undefined if nothing. */
export const missing = computed<string | undefined>(() => {
  const ofJudge = asksModel.value ? missingOf(judgeKind.value) : undefined;
  return ofJudge ?? (serviceChoice.value === undefined ? undefined : missingOf("vertex"));
});

function missingOf(kind: JudgeKind): string | undefined {
  switch (kind) {
    case "none":
      return "Choose a judge: some of the metrics ask one.";
    case "recording":
      return matching.value.recordings.length === 0 ? "Add a recording (*.jsonl) on the Files page." : undefined;
    case "browser":
      return undefined;
    default: {
      const fields = fieldsOf(kind);
      const { needed, missing: text, hasDefaultModel } = PROVIDERS[kind];
      if (forgottenKey.value === kind && !hasSecret(fields)) return "Enter the judge’s key again: it was not kept.";
      if (!needed.some((options) => options.every((option) => fields[option].trim() !== ""))) return text;
      if (!hasDefaultModel && asksModel.value && fields.model.trim() === "" && !areModelsNamed()) {
        return "Enter the judge’s model: google-adk’s default is another provider’s.";
      }
      return undefined;
    }
  }
}

/** Whether the criteria of all metrics that the judge scores name a model. */
function areModelsNamed(): boolean {
  return askingJudge.value.every(({ metricName }) => {
    const criterion = criteria.value[keyOf(metricName) ?? metricName];
    const options = isObject(criterion)
      ? (criterion["judge_model_options"] ?? criterion["judgeModelOptions"])
      : undefined;
    return isObject(options) && typeof (options["judge_model"] ?? options["judgeModel"]) === "string";
  });
}

function hasSecret(fields: Fields): boolean {
  return SECRETS.some((name) => fields[name].trim() !== "");
}

/** The settings without secrets, as they are stored with a run. */
export function withoutSecrets(): JudgeSettings {
  const fields = Object.fromEntries(
    Object.entries(judgeFields.value).map(([kind, saved]) => [
      kind,
      {
        ...saved,
        baseUrl: withoutCredentials(saved.baseUrl),
        ...Object.fromEntries(SECRETS.map((name) => [name, ""])),
      },
    ]),
  );
  return { ...settings(fields), lacksKey: hasSecret(fieldsOf(judgeKind.value)) };
}

/** A URL without user, password, query and fragment, which may contain a key. */
function withoutCredentials(address = ""): string {
  if (!URL.canParse(address)) return address.replace(/[?#].*$/s, "").replace(/^.*@/s, "");
  const url = new URL(address);
  if (url.username === "" && url.password === "" && url.search === "" && url.hash === "") return address;
  url.username = url.password = url.search = url.hash = "";
  return url.href;
}

/** Restores stored settings; the current secrets stay. */
export function restoreSettings({ kind, fields, prices: given, usesService: isUsed, lacksKey }: JudgeSettings): void {
  judgeKind.value = kind;
  forgottenKey.value = lacksKey === true ? kind : undefined;
  usesService.value = isUsed;
  const own = judgeFields.value;
  const merged = Object.entries(fields).map(([name, saved]) => {
    const current = own[name as JudgeKind];
    const secrets = Object.fromEntries(SECRETS.map((secret) => [secret, current?.[secret] ?? ""]));
    const isSame = current !== undefined && withoutCredentials(current.baseUrl) === withoutCredentials(saved.baseUrl);
    return [name, { ...saved, ...secrets, ...(isSame ? { baseUrl: current.baseUrl } : {}) }];
  });
  judgeFields.value = { ...own, ...Object.fromEntries(merged) };
  prices.value = { ...prices.value, ...given };
}

function loadSettings(): JudgeSettings | undefined {
  try {
    const text = localStorage.getItem(STORAGE_KEY);
    return text === null ? undefined : judgeSettingsIn(JSON.parse(text));
  } catch {
    return undefined;
  }
}
