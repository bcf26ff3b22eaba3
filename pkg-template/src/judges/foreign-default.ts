import { DEFAULT_MODEL } from "./default.js";
import { isForeign, type Provider } from "./endpoint.js";

/**
 * What to know of a server of one's own that is asked for google-adk's default model, which is Google's: nobody may have
 * meant that. The providers themselves are not asked for it.
 *
 * @param who Who is asked.
 * @param named The model that the criterion or the simulator's settings name.
 */
export function foreignDefault(
  who: { label?: string | undefined; model?: string | undefined; provider?: Provider | undefined },
  named: string,
): string | undefined {
  const { label = "", model, provider } = who;
  if (model !== undefined || provider === undefined || named !== DEFAULT_MODEL) return undefined;
  if (label === provider || !isForeign(provider, named)) return undefined;
  return `the server of the judge was asked for ${named}, google-adk's default: to choose another model, set the judge's \`model\`, the criterion's \`judge_model\` or --model`;
}
