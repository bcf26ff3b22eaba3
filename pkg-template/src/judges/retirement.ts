import { withEngine } from "../engine/instance.js";
import { identityOf } from "./judge.js";
import type { Judge } from "../types.js";

/**
 * What to know of the model that a judge asks, if the provider is about to let another one answer for it. A server of the
 * user's own keeps the models that it has.
 */
export function retirementOf(judge: Judge, model: string): string | undefined {
  const { provider, label, model: own = model } = identityOf(judge);
  const isProvidersOwn = provider !== undefined && label === provider;
  return isProvidersOwn ? withEngine((engine) => engine.retirement(provider, own)) : undefined;
}
