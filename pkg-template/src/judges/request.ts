import { isObject, reading, unexpected } from "../engine/values.js";
import { stringify } from "../engine/writing.js";
import { PURPOSES } from "../generated/metrics.js";
import type { JudgePurpose, JudgeRequest } from "../types.js";
import { checkSettings } from "./settings.js";

/**
 * A copy of a request with what the contract names, each property read once.
 *
 * @throws {AdkMetricsError} `invalid_input` if it is not a request or says which server to ask, `unserializable` if its schema
 * or its settings are not JSON.
 */
export function requestOf(request: JudgeRequest): JudgeRequest {
  if (!isObject(request)) throw unexpected("a judge request", request, "request");
  return reading("request", () => {
    const copy: JudgeRequest = {
      id: text(request.id, "id"),
      metricName: text(request.metricName, "metricName"),
      purpose: purposeOf(request.purpose),
      invocationIndex: index(request.invocationIndex, "invocationIndex"),
      stepIndex: index(request.stepIndex, "stepIndex"),
      sampleIndex: index(request.sampleIndex, "sampleIndex"),
      model: text(request.model, "model"),
      prompt: text(request.prompt, "prompt"),
    };
    const { evalId, system, responseSchema, generationConfig } = request;
    if (isGiven(evalId)) copy.evalId = text(evalId, "evalId");
    if (isGiven(system)) copy.system = text(system, "system");
    if (isGiven(responseSchema)) copy.responseSchema = plain(responseSchema, "responseSchema");
    if (isGiven(generationConfig)) {
      copy.generationConfig = plain(generationConfig, "generationConfig");
      checkSettings(copy.generationConfig, "request: generationConfig");
    }
    return copy;
  });
}

/** Objects made elsewhere often write `null` for what is absent. */
function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw unexpected("a string", value, `request: ${name}`);
  return value;
}

function index(value: unknown, name: string): number {
  if (!(Number.isSafeInteger(value) && (value as number) >= 0)) {
    throw unexpected("a whole number from 0 up", value, `request: ${name}`);
  }
  return value as number;
}

function purposeOf(value: unknown): JudgePurpose {
  const purpose = PURPOSES.find((known) => known === value);
  if (purpose === undefined) throw unexpected(PURPOSES.join(", "), value, "request: purpose");
  return purpose;
}

/** A copy of an object as JSON has it. */
function plain(value: object, name: string): object {
  if (!isObject(value)) throw unexpected("an object", value, `request: ${name}`);
  return JSON.parse(stringify(value, `request: ${name}`)) as object;
}

/** What decides the reply, as JSON with sorted keys: the question and the number of the sample, not who asks it where. */
export function canonicalRequest(request: JudgeRequest): string {
  const { metricName, purpose, model, system, prompt, responseSchema, generationConfig, sampleIndex } = request;
  return canonicalJson({
    metricName,
    purpose,
    model,
    system,
    prompt,
    responseSchema,
    generationConfig,
    sampleIndex,
  });
}

/** JSON with the keys of objects in the order of their code units. Recursive; what is written is no deeper than inputs may be. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`).join(",")}}`;
}
