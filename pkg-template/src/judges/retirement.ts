import { withEngine } from "../engine/instance.js";
import { type Role, toChooseAnother } from "./foreign-default.js";
import { identityOf } from "./judge.js";
import type { Judge } from "../types.js";

/**
 * What to know of the model that a judge or a simulated user asks, if the provider lets another one answer for it, or is
 * about to, and what to set. The user's own server keeps the models that it has.
 */
export function retirementOf(judge: Judge, model: string, role: Role = "judge"): string | undefined {
  const found = [...new Set(retirementsOf(judge, model))];
  return found.length === 0 ? undefined : `${found.join("; ")}; ${toChooseAnother(role)}`;
}

/** Of each member of a panel. */
function retirementsOf(judge: Judge, model: string): string[] {
  const { provider, label, model: own = model, members } = identityOf(judge);
  if (members !== undefined) return members.flatMap((member) => retirementsOf(member.judge, member.name));
  const isProvidersOwn = provider !== undefined && label === provider;
  const found = isProvidersOwn ? withEngine((engine) => engine.retirement(provider, own, Date.now())) : undefined;
  return found === undefined ? [] : [found];
}
