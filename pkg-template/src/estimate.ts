/**
 * What the judges of an evaluation would be asked, without asking any: the evaluation is made with judges that answer at
 * once and count. So the numbers come from the engine itself. Retries cannot be foreseen and are not counted.
 */

import { type NoOptions, refuseOptions } from "./known-options.js";
import { reading } from "./engine/values.js";
import { evaluate } from "./evaluate.js";
import { DEFAULT_METRIC_EVALUATOR_REGISTRY } from "./registry.js";
import { judgeIdentityOf } from "./judges/default.js";
import { AdkMetricsError, isAdkMetricsError } from "./errors.js";
import { replyOf } from "./judges/reply.js";
import { checkedBudget, judgeBudget } from "./run/budget.js";
import { checkModel, type JudgeTarget, replyKey, targetOf } from "./run/target.js";
import { identified } from "./judges/judge.js";
import { knownSettings } from "./judges/settings.js";
import { panelOf } from "./judges/panel.js";
import { EvalStatus } from "./enums.js";
import type {
  EvaluateRequest,
  Judge,
  JudgeCache,
  JudgeReply,
  JudgeRequest,
  MetricRegistry,
  VertexOptions,
} from "./types.js";
import { definedProperties } from "./lists.js";

/** The sums of calls. Tokens are estimated: a quarter of the characters. */
export interface CallEstimate {
  calls: number;
  /** The characters of all prompts. */
  characters: number;
  inputTokens: number;
  outputTokens: number;
}

/** The calls of one metric to one model. */
export interface JudgeEstimateRow {
  metricName: string;
  /** The model that is asked, by the judge or else by the criterion; absent for Vertex AI's evaluation service. */
  model?: string;
  /** The name of the function of your own that is asked for the model, empty if it has none; it alone knows whom it asks. */
  function?: string;
  /** The names of the panel that the model is one of, joined: what a budget has the price of. */
  panel?: string;
  /** That the provider lets another model answer, or is about to, and what to set. */
  retirement?: string;
  /** If all samples agree. */
  least: CallEstimate;
  /** If one sample of seven says something else. */
  likely: CallEstimate;
  /** If no vote is settled before its last sample. */
  most: CallEstimate;
}

/** The tokens of a reply with reasons; it may have up to MOST_REPLY_TOKENS, or what `maxOutputTokens` allows. */
export const LIKELY_REPLY_TOKENS = 120;
export const MOST_REPLY_TOKENS = 1000;
const DISSENT = 1 / 7;
const CHARACTERS_PER_TOKEN = 4;

type Answer = "yes" | "no" | "mixed";

/** Whom a question for a model or panel would go to; nothing where there is no judge, as without a key. */
type TargetFor = (model: string, panel: readonly string[]) => JudgeTarget | undefined;

/** @param onRefusal Is told why a judge cannot have a model, which an evaluation would reject with. */
function targetsOf(request: EvaluateRequest, onRefusal: (error: unknown) => void): TargetFor {
  const targets = new Map<string, JudgeTarget | undefined>();
  const targetFor: TargetFor = (model, panel) => {
    try {
      const target = targetOf(request, { vertex: false, model, panel });
      checkModel(definedProperties({ budget: request.budget }), target, model);
      return target;
    } catch (error) {
      if (!isAdkMetricsError(error) || error.code !== "judge_required") onRefusal(error);
      return undefined;
    }
  };
  return (model, panel) => {
    if (!targets.has(model)) targets.set(model, targetFor(model, panel));
    return targets.get(model);
  };
}

/** The replies that the request's cache or a recording has: they cost nothing, and are what its judge says. */
function keptReplies(
  { cache }: EvaluateRequest,
  targetFor: TargetFor,
): (question: JudgeRequest, panel: readonly string[]) => Promise<JudgeReply | undefined> {
  return async (question, panel) => {
    const named = panel.length === 0 ? question.model : panel.join(", ");
    const target = targetFor(named, panel);
    if (target === undefined) return undefined;
    const addressed = { ...question, model: target.model ?? named };
    if (target.isReplay === true) return replyOf(await target.ask(addressed, new AbortController().signal));
    if (cache === undefined) return undefined;
    try {
      const { key } = await replyKey(addressed, target);
      const kept: JudgeReply | undefined | null = await cache.get(key);
      return kept === null || kept === undefined ? undefined : replyOf(kept);
    } catch {
      return undefined;
    }
  };
}

/**
 * How many calls of judges, and about how many tokens, an evaluation would take: at least, at most and likely. Nothing is
 * asked, and metrics of one's own are not called. Replies that the request's `cache` has are not counted, nor calls that its
 * `budget` leaves no room for.
 *
 * @throws {AdkMetricsError} as `evaluate` does, for inputs that cannot be used.
 *
 * @example
 * for (const { metricName, likely } of await estimateCalls(request)) console.log(metricName, likely.calls);
 */
export async function estimateCalls(given: EvaluateRequest, options?: NoOptions): Promise<JudgeEstimateRow[]> {
  refuseOptions(options);
  return estimated(
    reading("request", () => ({ ...given })),
    true,
  );
}

/** @param isShared Whether equal answers stay equal, so that one verdict is for all of them: else that is only so at least. */
export async function estimated(request: EvaluateRequest, isShared: boolean): Promise<JudgeEstimateRow[]> {
  checkedBudget(judgeBudget(request));
  const most = await counted(request, "yes", "none", false);
  const { earlyStop } = request;
  // A risk is refused for a panel also where nothing would be asked.
  if (most.size === 0 && typeof earlyStop !== "object") return [];
  const [yes, no, mixed] = await Promise.all([
    counted(request, "yes", earlyStop, true),
    counted(request, "no", earlyStop, true),
    counted(request, "mixed", earlyStop, isShared),
  ]);
  // Where a budget ends, a metric that is asked earlier leaves less to others the more it takes.
  const ways = [most, mixed, yes, no];
  // Prompts are hashed in threads, so that replies come in any order.
  const rows = [...new Map(ways.toReversed().flatMap((one) => [...one]))].sort(([, a], [, b]) => a.first - b.first);
  return rows.map(([key, count]): JudgeEstimateRow => {
    const { metricName, model, function: name, panel, retirement } = count;
    const none: Count = { ...count, calls: 0, characters: 0, leastReply: 0, likelyReply: 0, mostReply: 0 };
    const counts = ways.map((one) => one.get(key) ?? none);
    return {
      metricName,
      ...definedProperties({ model, function: name, panel, retirement }),
      least: outermost(Math.min, counts, "leastReply"),
      likely: told(mixed.get(key) ?? none, "likelyReply"),
      most: outermost(Math.max, counts, "mostReply"),
    };
  });
}

interface Count {
  metricName: string;
  model?: string | undefined;
  function?: string | undefined;
  panel?: string | undefined;
  retirement?: string | undefined;
  /** The place of the first call among all. */
  first: number;
  calls: number;
  characters: number;
  leastReply: number;
  likelyReply: number;
  mostReply: number;
}

type Counts = Map<string, Count>;

function told(count: Count, reply: "leastReply" | "likelyReply" | "mostReply"): CallEstimate {
  const { calls, characters } = count;
  return {
    calls,
    characters,
    inputTokens: Math.ceil(characters / CHARACTERS_PER_TOKEN),
    outputTokens: Math.ceil(count[reply]),
  };
}

/** The least or the most of each amount. */
function outermost(pick: typeof Math.max, counts: readonly Count[], reply: "leastReply" | "mostReply"): CallEstimate {
  const all = counts.map((count) => told(count, reply));
  const of = (amount: keyof CallEstimate) => pick(...all.map((one) => one[amount]));
  return {
    calls: of("calls"),
    characters: of("characters"),
    inputTokens: of("inputTokens"),
    outputTokens: of("outputTokens"),
  };
}

const NO_CACHE: JudgeCache = { get: () => Promise.resolve(undefined), set: () => Promise.resolve() };

async function counted(
  request: EvaluateRequest,
  answer: Answer,
  earlyStop: EvaluateRequest["earlyStop"] | "none",
  isShared: boolean,
) {
  const counts: Counts = new Map();
  const note = (
    place: number,
    prompt: number,
    reply: number,
    limit: number,
    metricName: string,
    who: Pick<Count, "model" | "function" | "panel" | "retirement"> = {},
  ) => {
    const key = JSON.stringify([metricName, who]);
    const none = { first: place, calls: 0, characters: 0, leastReply: 0, likelyReply: 0, mostReply: 0 };
    const count = counts.get(key) ?? { metricName, ...who, ...none };
    count.first = Math.min(count.first, place);
    count.calls += 1;
    count.characters += prompt;
    count.leastReply += Math.min(limit, reply / CHARACTERS_PER_TOKEN);
    count.likelyReply += Math.min(limit, reply / CHARACTERS_PER_TOKEN + LIKELY_REPLY_TOKENS);
    count.mostReply += limit;
    counts.set(key, count);
  };
  let asked = 0;
  let made = 0;
  const most = request.budget?.calls ?? Infinity;
  const refusals: unknown[] = [];
  const targetFor = targetsOf(request, (error) => refusals.push(error));
  const kept = keptReplies(request, targetFor);
  const answerTo = async (question: JudgeRequest, panel: readonly string[]): Promise<JudgeReply | string> => {
    const known = await kept(question, panel);
    if (known !== undefined) return known;
    made += 1;
    if (made > most) throw new AdkMetricsError("judge_failed", "the budget is spent", { retryable: false });
    const { metricName, model, prompt, system = "", generationConfig } = question;
    asked += 1;
    // The golden ratio spreads dissent evenly.
    const isDissent = answer === "mixed" && (asked * 0.618033988749895) % 1 < DISSENT;
    const reply = replyTo(question, answer === "no" || isDissent ? "no" : "yes");
    const { maxOutputTokens: given } = knownSettings(generationConfig as object | undefined, ["maxOutputTokens"]);
    const limit = typeof given === "number" && given > 0 ? given : MOST_REPLY_TOKENS;
    const names = panel.length === 0 ? undefined : panel.join(", ");
    const target = targetFor(names ?? model, panel);
    const own = panel.length === 0 ? target : undefined;
    const who = {
      model: own?.model ?? model,
      function: own?.functionName,
      panel: names,
      retirement: target?.retirement,
    };
    note(placeOf(question), prompt.length + system.length, reply.length, limit, metricName, who);
    return reply;
  };
  const panelFor = (models: readonly string[]): Judge =>
    panelOf(models.map((name) => ({ name, judge: (question) => answerTo(question, models) })));
  const judge = identified((question) => answerTo(question, []), { panelFor });
  const { panel } = judgeIdentityOf(request);
  const service = (metricName: string, length: number) => {
    made += 1;
    if (made <= most) note(made, length, 0, 0, metricName);
  };
  const {
    registry = DEFAULT_METRIC_EVALUATOR_REGISTRY,
    vertex,
    budget: _budget,
    onProgress: _onProgress,
    cache: _cache,
    batch: _batch,
    ...rest
  } = request;
  await evaluate({
    ...rest,
    registry: withoutCalls(registry),
    judge: panel === undefined ? judge : panelFor(panel),
    // By default, the replies of this evaluation are used again.
    ...(isShared ? {} : { cache: NO_CACHE }),
    explain: "none",
    concurrency: 64,
    strict: false,
    ...(vertex === undefined ? {} : { vertex: serviceStub(service) }),
    ...(earlyStop === undefined ? {} : { earlyStop: earlyStop === "none" ? false : earlyStop }),
  });
  if (refusals.length > 0) throw refusals[0];
  return counts;
}

/** The place of a question among all: the whole part counts questions, the rest their samples. */
function placeOf({ id, sampleIndex }: JudgeRequest): number {
  return Number.parseInt(id, 10) + sampleIndex / 2 ** 20;
}

/** A registry of metrics with the same names that compute nothing. */
function withoutCalls(registry: MetricRegistry): MetricRegistry {
  const nothing = { overallEvalStatus: EvalStatus.NOT_EVALUATED, perInvocationResults: [] };
  return {
    customMetricNames: () => registry.customMetricNames(),
    getEvaluator: () => ({ evaluateInvocations: () => nothing }),
  };
}

/** Vertex AI's evaluation service, which is not asked. */
function serviceStub(onQuestion: (metricName: string, length: number) => void): VertexOptions {
  const answer = JSON.stringify({ metricResults: [{ score: 1 }], coherenceResult: { score: 1 } });
  return {
    apiKey: "none",
    fetch: async (_address, init) => {
      const body = String(init?.body);
      const { metrics } = JSON.parse(body) as { metrics?: { predefinedMetricSpec?: { metricSpecName?: string } }[] };
      // The only metric whose requests have no specification.
      onQuestion(metrics?.[0]?.predefinedMetricSpec?.metricSpecName ?? "response_evaluation_score", body.length);
      return new Response(answer, { headers: { "content-type": "application/json" } });
    },
  };
}

/** The reply of a judge that answers with yes, or with no. */
function replyTo({ purpose, prompt, responseSchema }: JudgeRequest, answer: "yes" | "no"): string {
  if (purpose === "segment") {
    return JSON.stringify({ sentences: [blockOf(prompt, "response")] });
  }
  return JSON.stringify(answerFitting(responseSchema as Schema | undefined, answer));
}

interface Schema {
  type?: string;
  enum?: readonly unknown[];
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  minItems?: number;
}

/** A value valid under a schema. Yes is the highest score or the first of the allowed words; no is the opposite. */
function answerFitting(schema: Schema | undefined, answer: "yes" | "no"): unknown {
  const isNumeric = schema?.type === "number" || schema?.type === "integer";
  if (schema?.enum !== undefined) return schema.enum.at((answer === "yes") === isNumeric ? -1 : 0);
  switch (schema?.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, property]) => [key, answerFitting(property, answer)]),
      );
    case "array":
      return Array.from({ length: schema.minItems ?? 1 }, () => answerFitting(schema.items, answer));
    default:
      return "";
  }
}

/** The content of the last block with this name in a prompt. */
function blockOf(prompt: string, name: string): string {
  const [, marker] = /<data-([0-9a-f]{16}) name=/.exec(prompt) ?? [];
  const opening = `<data-${marker} name="${name}">\n`;
  const begin = prompt.lastIndexOf(opening);
  if (marker === undefined || begin < 0) return "";
  return prompt.slice(begin + opening.length, prompt.indexOf(`\n</data-${marker}>`, begin));
}
