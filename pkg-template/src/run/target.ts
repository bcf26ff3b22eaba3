/** Who answers the questions of a metric, and what it is not sent. */

import { AdkMetricsError } from "../errors.js";
import type { HeaderJudge, HeaderMetric } from "../generated/contract.js";
import { cacheKey } from "../judges/cache.js";
import { judgeOf } from "../judges/default.js";
import { type Endpoint, endpointOf, isForeign } from "../judges/endpoint.js";
import { identityOf, type JudgeIdentity } from "../judges/judge.js";
import { foreignDefault, otherModel } from "../judges/foreign-default.js";
import { vertexEndpoint } from "../judges/provider-endpoint.js";
import { panelOf } from "../judges/panel.js";
import { hashOf } from "../judges/recording.js";
import { canonicalJson } from "../judges/request.js";
import { retirementOf } from "../judges/retirement.js";
import type { EvaluatorOptions, Judge, JudgeReply, JudgeRequest } from "../types.js";
import { checkPrices } from "./prices.js";
import { definedProperties } from "../lists.js";
import { asksFor } from "../metric-names.js";

/** What of a judge's identity counts in a run, as it is. */
type Known = "functionName" | "provider" | "isReplay" | "isChosen" | "contradiction" | "panel" | "members" | "notSent";

/** Who is asked, and what is known of it. */
export interface JudgeTarget extends Pick<JudgeIdentity, Known> {
  /** A server that the engine speaks to itself. */
  endpoint?: Endpoint;
  ask(request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply | string>;
  /** What to know of the model that is asked. */
  retirement?: string;
  label: string;
  /** Under whose name replies are kept. */
  cacheOwner: string;
  /** For a function whose replies nothing else tells from those of another: the keys of those that it gave. */
  keptReplies?: Set<string>;
  /** What tells apart judges that differ in their settings alone, which may be secret. */
  settings?: string;
  model: string | undefined;
}

export function targetOf(
  options: EvaluatorOptions,
  // The engine leaves an empty panel out.
  { vertex, model = "", panel: models = [] }: Omit<HeaderJudge, "panel"> & { panel?: readonly string[] },
): JudgeTarget {
  if (vertex) {
    const endpoint: Endpoint = vertexEndpoint(options.vertex as NonNullable<EvaluatorOptions["vertex"]>);
    const label = `${endpoint.label} evaluateInstances`;
    return { endpoint, ask: neverCalled, label, cacheOwner: label, model: undefined };
  }
  const judge = models.length === 0 ? judgeOf(options, model) : panelFor(options, models);
  const replier = replierOf(judge);
  const identity = identityOf(judge);
  const { label = "", variant = {}, model: own } = identity;
  const { functionName, provider, panel, members, notSent, isReplay, isChosen, contradiction } = identity;
  return {
    ...replier,
    ask: async (request, signal) => judge(request, { signal }),
    label,
    model: own,
    ...definedProperties({
      endpoint: endpointOf(judge),
      settings: Object.keys(variant).length > 0 ? hashOf([replier.cacheOwner]) : undefined,
      retirement: retirementOf(judge, model),
      ...{ functionName, provider, panel, members, notSent, isReplay, isChosen, contradiction },
    }),
  };
}

/** Who gives a reply that a cache keeps, and how. */
export type Replier = Pick<JudgeTarget, "cacheOwner" | "keptReplies" | "functionName">;

/**
 * The key of a reply in caches, and who gives it. Of a panel it is the judge in it that is asked, under the key that batches and
 * evaluations with that judge alone have as well.
 */
export async function replyKey(request: JudgeRequest, target: JudgeTarget): Promise<{ key: string; replier: Replier }> {
  const member = target.members?.[request.sampleIndex % target.members.length];
  if (member === undefined) return { key: await cacheKey(request, target.cacheOwner), replier: target };
  const replier = replierOf(member.judge);
  const { model = member.name } = identityOf(member.judge);
  return { key: await cacheKey({ ...request, model }, replier.cacheOwner), replier };
}

function replierOf(judge: Judge): Replier {
  const identity = identityOf(judge);
  const { functionName, hasFunction } = identity;
  const keptReplies = hasFunction === true ? keptRepliesOf(judge) : undefined;
  return { cacheOwner: ownerOf(identity), ...definedProperties({ functionName, keptReplies }) };
}

/** Whose replies a judge gives, with the settings that could change them. */
function ownerOf({ label = "", functionName, variant = {} }: JudgeIdentity): string {
  const owner = label === "" && functionName !== undefined ? `function ${functionName}` : label;
  return Object.keys(variant).length > 0 ? `${owner} ${jsonOf(variant)}` : owner;
}

const keptReplies = /* @__PURE__ */ new WeakMap<Judge, Set<string>>();

/** The keys of the replies that a judge gave in this process and a cache was given. */
function keptRepliesOf(judge: Judge): Set<string> {
  const keys = keptReplies.get(judge) ?? new Set<string>();
  keptReplies.set(judge, keys);
  return keys;
}

/** The judge of a panel: the one that is given, or one for each of the models that a criterion names. */
function panelFor(options: EvaluatorOptions, models: readonly string[]): Judge {
  const members = models.map((name) => ({ name, judge: judgeOf(options, name) }));
  const { judge } = members[0] as (typeof members)[number];
  const { model, panel, panelFor: made } = identityOf(judge);
  if (panel !== undefined) {
    if (`${panel}` === `${models}`) return judge;
    throw new AdkMetricsError("invalid_input", "the judge is a panel of other models than `judge_models`", {
      help: "Remove `judge_models`, or pass a judge without a model instead of the panel",
    });
  }
  if (made !== undefined) return made(models);
  // The environment makes a judge for each model; any other is one and the same.
  if (model === undefined || members.some((other) => other.judge !== judge)) return panelOf(members);
  throw new AdkMetricsError("invalid_input", `the judge asks ${model}, but \`judge_models\` lists several models`, {
    help: "Remove the judge's `model` (on the command line, --model), or create the panel in code with panelJudge([…])",
  });
}

function neverCalled(): never {
  throw new AdkMetricsError("judge_failed", "the engine asks this service itself");
}

/** Options as JSON. Those that JSON cannot hold are like no others, so that no reply is taken for another's. */
function jsonOf(variant: object): string {
  try {
    return canonicalJson(JSON.parse(JSON.stringify(variant)));
  } catch {
    return String(Math.random());
  }
}

/** What to know about the judge of a metric before anything is asked. */
export function* targetWarnings(
  { metricName, criterion }: HeaderMetric,
  target: JudgeTarget,
  judge: HeaderJudge,
): Iterable<string> {
  const { retirement, contradiction, panel } = target;
  if (retirement !== undefined) yield retirement;
  if (contradiction !== undefined) yield contradiction;
  const foreign = foreignDefault(target, judge.model ?? "");
  if (foreign !== undefined) yield foreign;
  const other = otherModel(target as JudgeIdentity, judgeModelIn(criterion));
  if (other !== undefined) yield other;
  if (panel !== undefined && asksOnce(metricName)) {
    yield `${metricName} asks for one sample, so only ${panel[0]} of the panel judges it`;
  }
  for (const sentence of unsentBy(target, judge)) yield `${metricName}: ${sentence}`;
}

/** What of a metric's settings the judge does not send, one sentence each. */
export function unsentBy({ notSent }: JudgeTarget, { config }: Pick<HeaderJudge, "config">): string[] {
  return config === undefined ? [] : (notSent?.(config) ?? []);
}

/** The model that a criterion names, if it does. */
function judgeModelIn({
  judgeModelOptions,
  judge_model_options = judgeModelOptions,
}: Record<string, unknown> = {}): unknown {
  const {
    judgeModel,
    judge_model = judgeModel,
    judgeModels,
    judge_models = judgeModels,
  } = (judge_model_options ?? {}) as Record<string, unknown>;
  return judge_models === undefined ? judge_model : undefined;
}

/** Whether a metric asks for one sample of each answer: one that has a text split into sentences, and judges each. */
function asksOnce(metricName: string): boolean {
  return asksFor(metricName, "segment");
}

/** Who is asked for a metric: of a panel the first one alone, if the metric asks for one sample. */
export function askedFor(metricName: string, target: JudgeTarget): JudgeTarget {
  const { panel: [first] = [], ...one } = target;
  return asksOnce(metricName) && first !== undefined ? { ...one, model: first } : target;
}

export function checkModel({ budget }: EvaluatorOptions, target: JudgeTarget, named: string): void {
  const { label, model, provider } = target;
  // The label of a judge at another address has that address besides.
  if (model === undefined && provider !== undefined && label === provider && isForeign(provider, named)) {
    throw new AdkMetricsError("invalid_input", `the judge asks ${provider}, which has no model ${named}`, {
      help: "Set the judge's `model`, or a model in `judge_model_options`",
    });
  }
  if (budget?.cost !== undefined && target.isReplay !== true)
    checkPrices(target, named, budget.prices, "which is asked");
}
