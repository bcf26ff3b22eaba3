import { isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import type { Judge, JudgeReply, JudgeRequest } from "../types.js";
import { failureOf } from "./failure.js";
import { type JudgeIdentity, makeJudge, makesJudges } from "./judge.js";
import { emptyReply } from "./language-model.js";
import { optionsOf } from "../known-options.js";
import { usageOf } from "./reply.js";
import { knownSettings, notSent } from "./settings.js";
import { withoutTokens, withTokens } from "./tokens.js";

/** The global `LanguageModel` of the Prompt API, as far as it is used here. */
export interface BrowserLanguageModel {
  /** Whether the model is there: `available`, `downloadable`, `downloading` or `unavailable`. */
  availability(options?: object): Promise<string>;
  /** Begins a session. */
  create(options?: object): Promise<BrowserSession>;
}

/** A session of the Prompt API. */
export interface BrowserSession {
  /** Asks the model. */
  prompt(input: string, options?: { responseConstraint?: object; signal?: AbortSignal }): Promise<string>;
  /** Ends the session. */
  destroy(): void;
  /** Tokens in use after a prompt. */
  readonly contextUsage?: number;
  /** The same under its older name. */
  readonly inputUsage?: number;
}

/** How to ask the browser's built-in model. */
export interface BrowserJudgeOptions {
  /** Whether to have the browser download its model if it has not yet, which may take minutes. Default: false. */
  download?: boolean;
  /** Called while the model is downloaded, with the part that is there: from 0 to 1. */
  onDownload?(loaded: number): void;
  /** Whether to ask for JSON by its schema where a reply may be JSON. Default: true. */
  structuredOutput?: boolean;
  /** Further options of `LanguageModel.create`. Default: that texts in English are expected back. */
  create?: object;
  /** A replacement of the global `LanguageModel`: a polyfill. */
  languageModel?: BrowserLanguageModel;
}

/**
 * A judge that asks the browser's built-in model by the Prompt API (`LanguageModel`), so that nothing leaves the device.
 * Each question has a session of its own.
 *
 * ```ts
 * const judge = browserJudge({ download: true, onDownload: (loaded) => console.log(`${Math.round(100 * loaded)}%`) });
 * await evaluate({ evalSet, actual, config, judge, concurrency: 1 });
 * ```
 *
 * Of `judge_model_config` it passes on `temperature` and `topK`, if both are there; browsers may ignore them. Warnings of
 * the results name what else there is.
 *
 * @throws {AdkMetricsError} `invalid_input` for wrong options. The judge itself rejects with
 * `judge_unavailable` where there is no such model, or not yet, and with `judge_failed`.
 */
export const browserJudge = /* @__PURE__ */ makesJudges("browserJudge", (options: BrowserJudgeOptions = {}): Judge => {
  const given = optionsOf(options, ["download", "onDownload", "structuredOutput", "create", "languageModel"]);
  const { download = false, structuredOutput = true, create = ENGLISH, onDownload } = given;
  if (!isObject(create)) throw unexpected("an object", create, "options: create");
  if (onDownload !== undefined && typeof onDownload !== "function") {
    throw unexpected("a function", onDownload, "options: onDownload");
  }
  return makeJudge(
    {
      ...IDENTITY,
      variant: { ...(structuredOutput ? {} : { structuredOutput }), ...(create === ENGLISH ? {} : { create }) },
    },
    async (request, signal) => {
      const languageModel = given.languageModel ?? globalLanguageModel();
      const kind = { ...create, ...samplingOf(request.generationConfig) };
      const availability = await available(languageModel, kind, download);
      const session = await open(languageModel, signal, {
        ...kind,
        ...(request.system === undefined ? {} : { initialPrompts: [{ role: "system", content: request.system }] }),
        ...(availability === "available" ? {} : { monitor: downloadMonitor(given) }),
      });
      try {
        return await ask(session, request, structuredOutput, signal);
      } finally {
        quietly(() => session.destroy());
      }
    },
  );
});

const ENGLISH = { expectedOutputs: [{ type: "text", languages: ["en"] }] };

function globalLanguageModel(): BrowserLanguageModel {
  const found: unknown = reading("LanguageModel", () => Reflect.get(globalThis, "LanguageModel"));
  if (found !== undefined && found !== null) return found as BrowserLanguageModel;
  throw new AdkMetricsError("judge_unavailable", "there is no built-in language model here", {
    help:
      Reflect.get(globalThis, "isSecureContext") === false
        ? "Browsers offer it to pages from https:// and localhost only"
        : "It needs a browser with the Prompt API, such as Chrome or Edge on a desktop, and a page, not a worker",
    retryable: false,
  });
}

/** A browser takes both of them or neither. */
function samplingOf(settings: object | undefined): object {
  const { temperature, topK } = knownSettings(settings, ["temperature", "topK"]);
  return typeof temperature === "number" && typeof topK === "number" ? { temperature, topK } : {};
}

const IDENTITY: JudgeIdentity = {
  model: "built-in",
  label: "browser",
  notSent: (settings) =>
    notSent(
      "the built-in model",
      settings,
      Object.keys(samplingOf(settings)),
      "it accepts `temperature` only together with `topK`",
    ),
};

/** Whether the model can be asked, possibly after a download. */
async function available(languageModel: BrowserLanguageModel, kind: object, download: boolean): Promise<string> {
  let availability: string;
  try {
    availability = await languageModel.availability(kind);
  } catch (error) {
    throw failureOf(error, "asking for the built-in model");
  }
  if (availability === "available") return availability;
  if (availability === "downloadable" || availability === "downloading") {
    if (download) return availability;
    const state = availability === "downloading" ? "is still being downloaded" : "is not downloaded yet";
    throw new AdkMetricsError("judge_unavailable", `the built-in model ${state}`, {
      help: "Wait for it, or pass `download: true` and start from a click, which browsers require for a download",
      retryable: false,
    });
  }
  throw new AdkMetricsError("judge_unavailable", "this device has no built-in model for this request", {
    help: "The browser needs enough storage and memory, a suitable GPU, and a language that its model supports",
    retryable: false,
  });
}

function downloadMonitor({ onDownload }: BrowserJudgeOptions): (monitor: EventTarget) => void {
  return (monitor) => {
    monitor.addEventListener("downloadprogress", (event) => {
      const loaded: unknown = Reflect.get(event, "loaded");
      if (typeof loaded === "number") onDownload?.(loaded);
    });
  };
}

async function open(
  languageModel: BrowserLanguageModel,
  signal: AbortSignal,
  options: object,
): Promise<BrowserSession> {
  try {
    return await languageModel.create({ ...options, signal });
  } catch (error) {
    throw explained(error, "opening a session of the built-in model");
  }
}

async function ask(
  session: BrowserSession,
  { prompt, responseSchema }: JudgeRequest,
  structuredOutput: boolean,
  signal: AbortSignal,
): Promise<JudgeReply> {
  const constraint = structuredOutput && responseSchema !== undefined ? { responseConstraint: responseSchema } : {};
  let text: unknown;
  try {
    text = await session.prompt(withoutTokens(prompt), { ...constraint, signal });
  } catch (error) {
    throw explained(error, "asking the built-in model");
  }
  if (typeof text !== "string" || text === "") throw emptyReply(false);
  const usage = reading("session", () => usageOf({ totalTokens: session.contextUsage ?? session.inputUsage }));
  const reply: JudgeReply = { text: withTokens(text) };
  return usage === undefined ? reply : { ...reply, usage };
}

/** What the exceptions of the Prompt API mean, and whether they pass. */
const EXCEPTIONS = new Map<unknown, { retryable: boolean; help?: string }>([
  ["QuotaExceededError", { retryable: false, help: "The prompt is too long for the built-in model" }],
  [
    "NotAllowedError",
    { retryable: false, help: "A download has to start from a click; frames need the permission `language-model`" },
  ],
  [
    "NotSupportedError",
    { retryable: false, help: "The built-in model does not support this language or kind of request" },
  ],
  ["NotReadableError", { retryable: false, help: "The browser's filter withheld the reply" }],
  ["SyntaxError", { retryable: false, help: "The reply did not match its schema; pass `structuredOutput: false`" }],
  ["NetworkError", { retryable: true, help: "The download of the model was interrupted" }],
  ["UnknownError", { retryable: true }],
  ["OperationError", { retryable: true }],
  ["InvalidStateError", { retryable: true }],
]);

function explained(error: unknown, what: string): AdkMetricsError {
  const failure = failureOf(error, what);
  // A full stop is written before the help.
  const message = failure.message.replace(/\.$/, "");
  const known = EXCEPTIONS.get(reading("LanguageModel", () => (isObject(error) ? Reflect.get(error, "name") : "")));
  return known === undefined ? failure : new AdkMetricsError("judge_failed", message, { ...known, cause: error });
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // The session is given up in any case.
  }
}
