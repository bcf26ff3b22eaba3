import { call } from "../engine/call.js";
import type { Judge } from "../types.js";
import { endpointOf } from "./endpoint.js";
import { WRITTEN_HERE } from "./wire.js";

/**
 * The origin that a judge sends questions to, such as `https://api.openai.com`. None for a judge that is not one of
 * `geminiJudge`, `vertexJudge`, `openaiJudge`, `anthropicJudge` and `ollamaJudge`: where others send questions is not known.
 *
 * ```ts
 * judgeOrigin(ollamaJudge({ model: "llama3.2" })); // → "http://127.0.0.1:11434"
 * ```
 */
export function judgeOrigin(judge: Judge): string | undefined {
  const endpoint = endpointOf(judge);
  return endpoint && call(WRITTEN_HERE, (engine) => engine.endpointOrigin(endpoint.settingsOfRun()));
}
