import { isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError, withDetails } from "../errors.js";
import type { Judge, JudgeReply, JudgeRequest } from "../types.js";
import { failureOf } from "./failure.js";
import { type JudgeIdentity, makeJudge, makesJudges } from "./judge.js";
import { checkFlag, optionsOf } from "../known-options.js";
import { definedProperties } from "../lists.js";
import { usageOf } from "./reply.js";
import { knownSettings, notSent, type Setting } from "./settings.js";
import { withoutTokens, withTokens } from "./tokens.js";

/** What is needed of a language model of the AI SDK: `LanguageModelV2`, `V3` and `V4` of `@ai-sdk/provider` have it. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  /** Asks the model. */
  doGenerate(call: AiSdkCall): PromiseLike<AiSdkResult>;
}

/** A call of a language model of the AI SDK. */
export interface AiSdkCall {
  prompt: AiSdkMessage[];
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  stopSequences?: string[];
  seed?: number;
  responseFormat?: { type: "text" } | { type: "json"; schema?: object };
  abortSignal?: AbortSignal;
  headers?: Record<string, string | undefined>;
  providerOptions?: Record<string, Record<string, unknown>>;
}

/** A message to a language model of the AI SDK: a system message of text, or a user's of parts. */
export interface AiSdkMessage {
  role: string;
  content: unknown;
}

/** What a language model of the AI SDK gives. */
export interface AiSdkResult {
  content: readonly { readonly type: string }[];
  finishReason: unknown;
  usage: unknown;
  response?: { modelId?: string };
}

/** How to ask a language model of the AI SDK. */
export interface LanguageModelJudgeOptions {
  /** Passed on to the provider as it is: `{ google: { thinkingConfig: { thinkingBudget: 0 } } }`. */
  providerOptions?: Record<string, Record<string, unknown>>;
  /** Further HTTP headers, for models that are reached by HTTP. */
  headers?: Record<string, string>;
  /** Whether to ask for JSON by its schema where a reply may be JSON. Default: true. */
  structuredOutput?: boolean;
}

/** The settings that the AI SDK knows by the same names as Gemini. Others go into `providerOptions`. */
const SENT = [
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "presencePenalty",
  "frequencyPenalty",
  "stopSequences",
  "seed",
] as const satisfies readonly Setting[];

/**
 * A judge that asks a language model of the AI SDK. The model is the one given here, whatever a criterion names.
 *
 * ```ts
 * import { openai } from "@ai-sdk/openai";
 *
 * await evaluate({ evalSet, actual, config, judge: languageModelJudge(openai("gpt-6-luna")) });
 * ```
 *
 * Of `judge_model_config` it passes on `temperature`, `topP`, `topK`, `maxOutputTokens`, `stopSequences`, `seed`,
 * `presencePenalty` and `frequencyPenalty`; warnings of the results name what else there is.
 *
 * @throws {AdkMetricsError} `invalid_input` if it is not such a model. The judge itself rejects with `judge_failed`.
 */
export const languageModelJudge = /* @__PURE__ */ makesJudges(
  "languageModelJudge",
  (model: AiSdkLanguageModel, options: LanguageModelJudgeOptions = {}): Judge => {
    const { provider, modelId } = checkModel(model);
    const given = optionsOf(options, ["providerOptions", "headers", "structuredOutput"]);
    const { providerOptions, headers, structuredOutput = true } = given;
    checkFlag(structuredOutput, "structuredOutput");
    const identity: JudgeIdentity = {
      model: modelId,
      label: `ai-sdk ${provider}`,
      variant: {
        ...(structuredOutput ? {} : { structuredOutput }),
        ...(providerOptions === undefined ? {} : { providerOptions }),
      },
      notSent: (settings) => notSent("the AI SDK's model", settings, SENT, "pass `providerOptions` to the judge"),
    };
    return makeJudge(identity, async (request, signal) => {
      const call = callOf(request, structuredOutput);
      call.abortSignal = signal;
      if (providerOptions !== undefined) call.providerOptions = providerOptions;
      if (headers !== undefined) call.headers = headers;
      return replyOfResult(await generate(model, call), modelId);
    });
  },
);

function checkModel(model: AiSdkLanguageModel): { provider: string; modelId: string } {
  if (typeof model === "string") {
    throw new AdkMetricsError("invalid_input", "expected a language model of the AI SDK, found a name", {
      path: "model",
      help: 'Pass the model itself, such as openai("gpt-6-luna") of @ai-sdk/openai',
    });
  }
  return reading("model", () => {
    if (!isObject(model) || typeof model.doGenerate !== "function") {
      throw unexpected("a language model of the AI SDK", model, "model");
    }
    const { specificationVersion, provider, modelId } = model;
    if (specificationVersion === "v1") {
      throw new AdkMetricsError("invalid_input", "this is a language model of AI SDK 4, which is not supported", {
        path: "model",
        help: "Use AI SDK 5 or newer",
      });
    }
    return { provider: String(provider), modelId: String(modelId) };
  });
}

function callOf(request: JudgeRequest, structuredOutput: boolean): AiSdkCall {
  const { system, prompt, responseSchema } = request;
  const call: AiSdkCall = {
    ...(knownSettings(request.generationConfig, SENT) as Omit<AiSdkCall, "prompt">),
    prompt: [{ role: "user", content: [{ type: "text", text: withoutTokens(prompt) }] }],
  };
  if (system !== undefined) call.prompt.unshift({ role: "system", content: system });
  if (responseSchema !== undefined && structuredOutput) call.responseFormat = { type: "json", schema: responseSchema };
  return call;
}

async function generate(model: AiSdkLanguageModel, call: AiSdkCall): Promise<AiSdkResult> {
  try {
    return await model.doGenerate(call);
  } catch (error) {
    throw failureOf(error, "the call of the language model");
  }
}

function replyOfResult(result: AiSdkResult, modelId: string): JudgeReply {
  let used: Pick<JudgeReply, "usage"> = {};
  try {
    const { content, finishReason, usage, response } = result;
    used = definedProperties({ usage: usageOf(flatUsage(usage)) });
    const text = withTokens(textOf(content));
    const finish = unifiedFinish(finishReason);
    if (finish === "content-filter") {
      throw new AdkMetricsError("judge_failed", "the model's content filter stopped the reply", { retryable: false });
    }
    if (finish === "error") {
      throw new AdkMetricsError("judge_failed", "the model stopped because of an error", { retryable: true });
    }
    if (text === "") throw emptyReply(finish === "length");
    return { text, modelVersion: response?.modelId ?? modelId, ...used };
  } catch (error) {
    throw withDetails(failureOf(error, "reading the language model's result"), used);
  }
}

/** The error for a reply without text. */
export function emptyReply(cutOff: boolean): AdkMetricsError {
  return cutOff
    ? new AdkMetricsError("judge_failed", "the reply was cut off before its first word", {
        retryable: false,
        help: "Raise maxOutputTokens in judge_model_config; thinking uses tokens too",
      })
    : new AdkMetricsError("judge_failed", "the reply has no text", { retryable: true });
}

/** The text of a reply without the reasoning before it. */
function textOf(content: AiSdkResult["content"]): string {
  const texts = Array.from(content, (part) => {
    const { type, text } = part as { type: string; text?: unknown };
    return type === "text" && typeof text === "string" ? text : "";
  });
  return texts.join("");
}

/** Why the model stopped: a word in V2, an object with that word from V3 on. */
function unifiedFinish(reason: unknown): unknown {
  return isObject(reason) ? (reason as { unified?: unknown }).unified : reason;
}

/** Token counts: numbers in V2, objects with a total from V3 on. */
function flatUsage(usage: unknown): unknown {
  if (!isObject(usage)) return undefined;
  const { inputTokens, outputTokens, totalTokens } = usage as Record<string, unknown>;
  const total = (tokens: unknown): unknown => (isObject(tokens) ? (tokens as { total?: unknown }).total : tokens);
  return { inputTokens: total(inputTokens), outputTokens: total(outputTokens), totalTokens };
}
