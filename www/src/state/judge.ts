/** Who judges, and what that costs. Keys stay in memory unless the user has them remembered. */

import { computed, effect, signal } from "@preact/signals";
import type { Dialect } from "adk-metrics";
import { OPTIONS, PROVIDERS } from "virtual:manifest";
import type { JudgeChoice, ServiceChoice } from "../worker/protocol.js";
import { configInfo } from "./config.js";
import { matching, sourceOf } from "./inputs.js";

export type JudgeKind = JudgeChoice["kind"];

/** What the fields of a provider hold, as typed. */
export interface Fields {
  model: string;
  baseUrl: string;
  apiKey: string;
  api: "chat" | "responses";
  project: string;
  location: string;
  accessToken: string;
}

const EMPTY: Fields = { model: "", baseUrl: "", apiKey: "", api: "chat", project: "", location: "", accessToken: "" };
/** The fields whose values nobody else may see. */
export const SECRETS: readonly (keyof Fields)[] = ["apiKey", "accessToken"];

/** The prices of a model as typed: money for a million tokens. */
export interface PriceFields {
  input: string;
  output: string;
}

/** What is stored of the settings, in the browser or beside a run. */
export interface JudgeSettings {
  kind: JudgeKind;
  fields: Partial<Record<JudgeKind, Fields>>;
  prices: Record<string, PriceFields>;
  usesService: boolean;
}

const STORAGE_KEY = "judge";
const storedSettings = loadSettings();

/** Whether the settings of judges, keys included, are kept in this browser. */
export const isRemembered = signal(storedSettings !== undefined);
export const judgeKind = signal<JudgeKind>(storedSettings?.kind ?? "none");
export const judgeFields = signal<JudgeSettings["fields"]>(storedSettings?.fields ?? {});
export const prices = signal<JudgeSettings["prices"]>(storedSettings?.prices ?? {});

/** Whether Vertex AI's evaluation service is to score what google-adk leaves to it. */
export const usesService = signal(storedSettings?.usesService === true);

/** How a run is made. */
export interface RunOptions {
  concurrency: number;
  earlyStop: boolean;
  dialect: Dialect;
  /** The most calls; no limit if absent. */
  maxCalls?: number;
  /** The most money; no limit if absent. */
  maxCost?: number;
  /** Whether replies are kept in this browser, and taken from there. */
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
    // Without storage the settings hold until the page is left.
  }
});

export function fieldsOf(kind: JudgeKind): Fields {
  return { ...EMPTY, ...judgeFields.value[kind] };
}

export function setField<K extends keyof Fields>(kind: JudgeKind, name: K, value: Fields[K]): void {
  judgeFields.value = { ...judgeFields.value, [kind]: { ...fieldsOf(kind), [name]: value } };
}

function settings(fields: JudgeSettings["fields"]): JudgeSettings {
  return { kind: judgeKind.value, fields, prices: prices.value, usesService: usesService.value };
}

/** What was typed for a provider, without what is empty. */
function enteredFields(kind: JudgeKind): Partial<Omit<Fields, "api">> {
  const { api: _, ...texts } = fieldsOf(kind);
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, value]) => (value.trim() === "" ? [] : [[name, value.trim()]])),
  );
}

/** The judge that the settings name. */
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
      return { kind, ...enteredFields(kind), ...(kind === "openai" ? { api: fieldsOf(kind).api } : {}) };
  }
});

const judgedMetrics = computed(() => {
  const info = configInfo.value;
  return info?.ok === true ? info.value.judges : [];
});

/** The metrics of the config that the evaluation service can score. */
export const leftToVertex = computed(() => judgedMetrics.value.filter(({ isLeftToVertex }) => isLeftToVertex));

/** The evaluation service, if it is asked. It has the fields of the judge on Vertex AI. */
export const serviceChoice = computed<ServiceChoice | undefined>(() => {
  if (!usesService.value || leftToVertex.value.length === 0) return undefined;
  const { model: _, ...given } = enteredFields("vertex");
  return given;
});

/** The metrics that ask the judge. */
const askingJudge = computed(() =>
  judgedMetrics.value.filter(({ isLeftToVertex }) => serviceChoice.value === undefined || !isLeftToVertex),
);

/** Whether the judge is asked, and not the evaluation service alone. */
export const asksModel = computed(() => askingJudge.value.length > 0);

/** The models that will be asked: the judge's own, else those that the config names. */
export const askedModels = computed<readonly string[]>(() => {
  const own = fieldsOf(judgeKind.value).model.trim();
  if (!asksModel.value) return [];
  if (own !== "") return [own];
  return [...new Set(askingJudge.value.flatMap(({ model }) => model ?? []))];
});

/** What the judge settings lack, in words; absent if nothing. */
export const missing = computed<string | undefined>(() => {
  const ofJudge = asksModel.value ? missingOf(judgeKind.value) : undefined;
  return ofJudge ?? (serviceChoice.value === undefined ? undefined : missingOf("vertex"));
});

function missingOf(kind: JudgeKind): string | undefined {
  switch (kind) {
    case "none":
      return "Choose who judges: some of the metrics ask a judge.";
    case "recording":
      return matching.value.recordings.length === 0 ? "Add a recording (*.jsonl) on the page Files." : undefined;
    case "browser":
      return undefined;
    default: {
      const fields = fieldsOf(kind);
      const { needed, missing: text } = PROVIDERS[kind];
      return needed.some((options) => options.every((option) => fields[option].trim() !== "")) ? undefined : text;
    }
  }
}

/** The settings without what is secret, as they are kept beside a run. */
export function withoutSecrets(): JudgeSettings {
  const fields = Object.fromEntries(
    Object.entries(judgeFields.value).map(([kind, savedPrices]) => [
      kind,
      {
        ...savedPrices,
        baseUrl: withoutCredentials(savedPrices.baseUrl),
        ...Object.fromEntries(SECRETS.map((name) => [name, ""])),
      },
    ]),
  );
  return settings(fields);
}

/** An address without its user, password and query, in any of which there may be a key. */
function withoutCredentials(address = ""): string {
  if (!URL.canParse(address)) return address.replace(/[?#].*$/s, "").replace(/^.*@/s, "");
  const url = new URL(address);
  if (url.username === "" && url.password === "" && url.search === "" && url.hash === "") return address;
  url.username = url.password = url.search = url.hash = "";
  return url.href;
}

/** Takes settings back; secrets that are there now stay. */
export function restoreSettings({ kind, fields, prices: given, usesService: isUsed }: JudgeSettings): void {
  judgeKind.value = kind;
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
    return text === null ? undefined : (JSON.parse(text) as JudgeSettings);
  } catch {
    return undefined;
  }
}
