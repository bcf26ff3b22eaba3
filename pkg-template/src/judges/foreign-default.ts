import { DEFAULT_MODEL } from "../generated/metrics.js";
import { isForeign, type Provider } from "./endpoint.js";
import type { JudgeIdentity } from "./judge.js";

/** What a model is asked for. */
export type Role = "judge" | "user";

/** What to set for another model to be asked. */
export function toChooseAnother(role: Role): string {
  const where =
    role === "judge"
      ? "the judge's `model`, the criterion's `judge_model` or --model"
      : "the `model` of `userSimulator` or `user_simulator_config`";
  return `to choose another model, set ${where}`;
}

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
  role: Role = "judge",
): string | undefined {
  const { label = "", model, provider } = who;
  if (model !== undefined || provider === undefined || named !== DEFAULT_MODEL) return undefined;
  if (label === provider || !isForeign(provider, named)) return undefined;
  return `the server of the ${role === "judge" ? role : "simulated user"} was asked for ${named}, google-adk's default: ${toChooseAnother(role)}`;
}

/** What to know where a config names another model than the one that a judge asks. @param named What the config names. */
export function otherModel(
  { model, panel = [], isReplay, isChosen }: Partial<JudgeIdentity>,
  named: unknown,
  role: Role = "judge",
): string | undefined {
  if (typeof named !== "string" || model === undefined || isReplay === true || isChosen === true) return undefined;
  if ([model, ...panel].some((one) => modelName(one) === modelName(named))) return undefined;
  const whose = role === "judge" ? "`judge_model` of the criteria" : "`model` of the user simulator";
  return `${whose} is ${named.slice(0, 100)}, but the judge asks ${model}, which is its own model`;
}

/** The name of a model without the provider or the folder before it. */
export const modelName = (name: string): string => name.slice(name.lastIndexOf("/") + 1);
