import { isObject, reading, shortened, unexpected } from "../engine/values.js";
import { AdkMetricsError, withDetails } from "../errors.js";
import type { Judge, JudgeReply, JudgeRequest } from "../types.js";
import { detailsOf, failureOf } from "./failure.js";
import { type JudgeIdentity, makeJudge, makesJudges } from "./judge.js";
import { emptyReply } from "./language-model.js";
import { checkFlag, optionsOf } from "../known-options.js";
import { usageOf } from "./reply.js";
import { SETTINGS } from "../generated/settings.js";
import { knownSettings, notSent } from "./settings.js";
import { withoutTokens, withTokens } from "./tokens.js";

/** What is needed of a `BaseLlm`: those of ADK-TS (`@iqai/adk`) and of `@google/adk` have it. */
export interface AdkLlm {
  readonly model: string;
  /** Asks the model. */
  generateContentAsync(request: AdkLlmRequest, stream?: boolean, signal?: AbortSignal): AsyncIterable<AdkLlmResponse>;
}

/** An `LlmRequest`: an object in `@google/adk`, a class in ADK-TS, where models call one of its methods. */
export interface AdkLlmRequest {
  model?: string;
  contents: { role?: string; parts?: { text?: string }[] }[];
  config?: object;
  liveConnectConfig: object;
  toolsDict: object;
  /** The system prompt, which some models ask for. */
  getSystemInstructionText?(): string | undefined;
}

/** What is read of an `LlmResponse`. */
export interface AdkLlmResponse {
  content?: { parts?: { text?: string; thought?: boolean }[] };
  text?: string;
  partial?: boolean;
  errorCode?: string;
  errorMessage?: string;
  finishReason?: string;
  usageMetadata?: { promptTokenCount?: number; candidatesTokenCount?: number; totalTokenCount?: number };
  modelVersion?: string;
}

/** How to ask a `BaseLlm`. */
export interface AdkJudgeOptions {
  /** Whether to ask for JSON by its schema where a reply may be JSON. Default: true. */
  structuredOutput?: boolean;
}

/** Endings of a reply, and reasons to block a prompt, after which asking again does not help. */
const FINAL_CODES =
  /^(?:SAFETY|BLOCKLIST|PROHIBITED_CONTENT|SPII|RECITATION|LANGUAGE|IMAGE_SAFETY|JAILBREAK|MODEL_ARMOR|MAX_TOKENS)$/;

/**
 * A judge that asks a `BaseLlm` of ADK-TS (`@iqai/adk`) or of `@google/adk`. The model is the one given here, whatever
 * a criterion names. Of `judge_model_config` it passes on, as the model's `config`, what other judges are sent too;
 * warnings of the results name what else there is.
 *
 * ```ts
 * import { OpenAiLlm } from "@iqai/adk";
 *
 * await evaluate({ evalSet, actual, config, judge: adkJudge(new OpenAiLlm("gpt-6-luna")) });
 * ```
 *
 * @throws {AdkMetricsError} `invalid_input` if it is not a `BaseLlm`. The judge itself rejects with `judge_failed`.
 */
export const adkJudge = /* @__PURE__ */ makesJudges("adkJudge", (llm: AdkLlm, options: AdkJudgeOptions = {}): Judge => {
  const model = checkLlm(llm);
  const { structuredOutput = true } = optionsOf(options, ["structuredOutput"]);
  checkFlag(structuredOutput, "structuredOutput");
  const identity: JudgeIdentity = {
    model,
    label: "adk",
    variant: { structuredOutput, library: llm.constructor?.name },
    notSent: (settings) => notSent("the model", settings, SETTINGS, "calls of judges do not use it"),
  };
  return makeJudge(identity, (request, signal) =>
    ask(llm, llmRequestOf(request, model, structuredOutput, signal), signal),
  );
});

function checkLlm(llm: AdkLlm): string {
  if (typeof llm === "string") {
    throw new AdkMetricsError("invalid_input", "expected a BaseLlm, found a name", {
      path: "llm",
      help: 'Pass the model itself, such as LLMRegistry.newLLM("gpt-6-luna")',
    });
  }
  return reading("llm", () => {
    if (!isObject(llm) || typeof llm.generateContentAsync !== "function") throw unexpected("a BaseLlm", llm, "llm");
    return String(llm.model);
  });
}

/** A fresh request for each call, since models write into theirs. */
function llmRequestOf(
  { system, prompt, responseSchema, generationConfig }: JudgeRequest,
  model: string,
  structuredOutput: boolean,
  signal: AbortSignal,
): AdkLlmRequest {
  const config: Record<string, unknown> = knownSettings(generationConfig, SETTINGS);
  // Where `generateContentAsync` takes no signal, models of Google pass this one on to their client.
  config.abortSignal = signal;
  if (system !== undefined) config.systemInstruction = system;
  if (responseSchema !== undefined && structuredOutput) {
    config.responseMimeType = "application/json";
    config.responseJsonSchema = responseSchema;
  }
  return {
    model,
    contents: [{ role: "user", parts: [{ text: withoutTokens(prompt) }] }],
    config,
    liveConnectConfig: {},
    toolsDict: {},
    getSystemInstructionText: () => system,
  };
}

async function ask(llm: AdkLlm, request: AdkLlmRequest, signal: AbortSignal): Promise<JudgeReply> {
  const found = { text: "", cutOff: false, reply: {} as Omit<JudgeReply, "text"> };
  try {
    for await (const response of llm.generateContentAsync(request, false, signal)) {
      const { errorCode, partial, finishReason, usageMetadata, modelVersion } = response;
      const usage = usageOf({
        inputTokens: usageMetadata?.promptTokenCount,
        outputTokens: usageMetadata?.candidatesTokenCount,
        totalTokens: usageMetadata?.totalTokenCount,
      });
      if (usage !== undefined) found.reply.usage = usage;
      if (typeof errorCode === "string" && errorCode !== "") throw errorOf(response, errorCode);
      if (partial === true) continue;
      found.text += textOf(response);
      found.cutOff ||= finishReason === "MAX_TOKENS";
      if (typeof modelVersion === "string") found.reply.modelVersion = modelVersion;
      if (signal.aborted) break;
    }
    if (found.text === "") throw emptyReply(found.cutOff);
    return { text: withTokens(found.text), ...found.reply };
  } catch (error) {
    const { usage } = found.reply;
    const failure = failureOf(error, `the call of ${request.model}`);
    throw usage === undefined ? failure : withDetails(failure, { usage });
  }
}

/** ADK-TS reports what went wrong as a response whose text is the error's. */
function errorOf(response: AdkLlmResponse, code: string): AdkMetricsError {
  const cause = (response as { error?: unknown }).error;
  const words = typeof response.errorMessage === "string" ? `${code}: ${response.errorMessage}` : code;
  const message = `the model gave no reply: ${shortened(words)}`;
  const details = isObject(cause) ? detailsOf(cause) : { retryable: !FINAL_CODES.test(code) };
  return new AdkMetricsError("judge_failed", message, details);
}

/** The text of a response without the thoughts before it. */
function textOf({ content, text }: AdkLlmResponse): string {
  const parts = content?.parts;
  if (parts === undefined || parts === null) return typeof text === "string" ? text : "";
  return Array.from(parts, (part) => (part.thought !== true && typeof part.text === "string" ? part.text : "")).join(
    "",
  );
}
