import type { KeptMetric } from "../generated/adk_metrics.js";
import type { RunOptions } from "../generated/contract.js";
import type { EvalStatus } from "../enums.js";
import type { EvalMetricResultDetails, Explanation } from "../types.js";
import { type Engine, engineGeneration, memoryBuffer } from "./instance.js";

/** A metric as evaluators keep it. */
export interface MetricSettings {
  /** The metric as JSON. */
  readonly metric: string;
  readonly engineOptions: RunOptions;
  /** The same for all that the engine can keep as one. */
  readonly key: string;
}

/** The settings of a metric, given as JSON. */
export function settingsOf(metric: string, engineOptions: RunOptions): MetricSettings {
  const { dialect, explain, prompts } = engineOptions;
  return { metric, engineOptions, key: `${dialect} ${explain} ${JSON.stringify(prompts)} ${metric}` };
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** What the engine found of a turn, or of a conversation. */
export interface FoundSlot {
  evalStatus: EvalStatus;
  score?: number;
  reason?: string;
  details?: EvalMetricResultDetails;
  explanation?: Explanation;
}

/** What the engine found of a conversation and its turns. */
export interface FoundConversation extends FoundSlot {
  turns: FoundSlot[];
}

/**
 * The metrics that the engine keeps; undefined for those that it cannot compute in one call. Evaluators with the same
 * settings share one, so that an evaluator for each conversation costs little more than one for all.
 */
const kept = new Map<string, KeptMetric | undefined>();
let generation = -1;

/** Programs use few. One that makes up settings as it goes gains nothing from keeping them. */
const MOST_KEPT = 16;

/**
 * Scores one conversation in a single call.
 *
 * @param conversations Gives the JSON of a list of what the agent did and, if there is one, what was expected; nothing if it
 * takes a run.
 * @returns Nothing if it takes a run: to ask a judge, or to say what is wrong or may surprise.
 */
export function scoreConversation(
  engine: Engine,
  settings: MetricSettings,
  conversations: () => string | undefined,
): FoundConversation | undefined {
  const metric = keptMetric(engine, settings);
  const text = metric && conversations();
  if (metric === undefined || text === undefined) return undefined;
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  const room = 3 * text.length;
  const at = metric.reserve(room);
  // Memory may have grown, and have another buffer then.
  const target = new Uint8Array(memoryBuffer(), at, room);
  const found = metric.score(encoder.encodeInto(text, target).written);
  return found === undefined ? undefined : (JSON.parse(found) as FoundConversation);
}

function keptMetric(engine: Engine, { key, metric, engineOptions }: MetricSettings): KeptMetric | undefined {
  // Those of an engine that was replaced are gone with it.
  if (generation !== engineGeneration()) kept.clear();
  generation = engineGeneration();
  if (kept.has(key)) return kept.get(key);
  if (kept.size === MOST_KEPT) {
    for (const one of kept.values()) one?.free();
    kept.clear();
  }
  const made = engine.KeptMetric.fromMetric(encoder.encode(metric), engineOptions);
  kept.set(key, made);
  return made;
}
