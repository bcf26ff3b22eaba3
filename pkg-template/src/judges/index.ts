/** The judges that a user can choose from, in every runtime. */

export { adkJudge, type AdkJudgeOptions, type AdkLlm, type AdkLlmRequest, type AdkLlmResponse } from "./adk.js";
export { browserJudge, type BrowserJudgeOptions, type BrowserLanguageModel, type BrowserSession } from "./browser.js";
export { cacheKey, memoryCache } from "./cache.js";
export { indexedDbCache } from "./cache-indexed-db.js";
export type { NoOptions } from "../known-options.js";
export { setDefaultJudge } from "./default.js";
export {
  type AiSdkCall,
  type AiSdkLanguageModel,
  type AiSdkMessage,
  type AiSdkResult,
  languageModelJudge,
  type LanguageModelJudgeOptions,
} from "./language-model.js";
export { judgeOrigin } from "./origin.js";
export { panelJudge } from "./panel.js";
export * from "./providers.js";
export { recordJudge, type RecordingOptions, type RecordingSink } from "./record.js";
export { type Recording, replayJudge } from "./replay.js";
