import { closest } from "../closest.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import type { RunOptions } from "../generated/contract.js";
import { PROMPTS } from "../generated/metrics.js";
import { RETRY_RULES } from "../generated/options.js";
import { judgeIdentityOf } from "../judges/default.js";
import { checkJudge } from "../judges/judge.js";
import { vertexEndpoint } from "../judges/provider-endpoint.js";
import { checkKeys } from "../known-options.js";
import { definedProperties } from "../lists.js";
import { canonicalName } from "../metric-names.js";
import type { EvaluatorOptions, PromptTemplates, RetryOptions, VertexOptions } from "../types.js";
import { isObject, unexpected } from "../engine/values.js";
import { checkedBudget, judgeBudget } from "./budget.js";
import { ruled } from "./rules.js";

/** The part of a run's options that is about judges and takes more than a rule for each. */
export type JudgeRunOptions = Pick<RunOptions, "vertex" | "judgeModel" | "panel" | "prompts" | "retry" | "budget">;

/**
 * Reads what the options say of judges.
 *
 * @throws {AdkMetricsError} `invalid_input` for what is not as its type says.
 */
export function judgeOptions(options: EvaluatorOptions): JudgeRunOptions {
  const { judge, vertex, prompts, retry, cache } = options;
  const budget = judgeBudget(options);
  if (judge !== undefined) checkJudge(judge);
  if (cache !== undefined && !(typeof cache?.get === "function" && typeof cache.set === "function")) {
    throw unexpected("an object with `get` and `set`", cache, "cache");
  }
  if (vertex !== undefined) checkVertex(vertex);
  const { model, panel = [] } = judgeIdentityOf(options);
  return {
    vertex: vertex !== undefined,
    judgeModel: model,
    panel: [...panel],
    prompts: checkedPrompts(prompts),
    retry: retry === undefined ? DEFAULT_RETRY : checkedRetry(retry),
    budget: checkedBudget(budget),
  };
}

/** Checks where Vertex AI is, under the name that an evaluation has for it. */
function checkVertex(vertex: VertexOptions): void {
  try {
    vertexEndpoint(vertex);
  } catch (error) {
    if (!isAdkMetricsError(error)) throw error;
    const { code, message, path = "options", help } = error;
    const details = definedProperties({ path: path.replace(/^options/, "vertex"), help });
    throw new AdkMetricsError(code, message, details);
  }
}

const DEFAULT_RETRY = /* @__PURE__ */ ruled<RetryOptions>({}, RETRY_RULES);

/** The options with their defaults. */
export function checkedRetry(retry: RetryOptions, path = "retry"): Required<RetryOptions> {
  checkKeys(retry, Object.keys(RETRY_RULES), path);
  return ruled<Required<RetryOptions>>(retry, RETRY_RULES, `${path}: `);
}

/** The templates by the engine's names of their prompts. */
function checkedPrompts(prompts: PromptTemplates | undefined): RunOptions["prompts"] {
  const templates: RunOptions["prompts"] = {};
  if (prompts === undefined) return templates;
  if (!isObject(prompts)) throw unexpected("an object from metrics to prompts", prompts, "prompts");
  for (const [metric, given] of Object.entries(prompts)) {
    const path = `prompts: ${metric}`;
    const name = canonicalName(metric);
    const own = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined;
    if (own === undefined) {
      const known = Object.keys(PROMPTS);
      const meant = closest(name, known) ?? known.find((longer) => longer.startsWith(`${name}_`));
      throw new AdkMetricsError("invalid_input", `\`${metric}\` has no prompt`, {
        path,
        help: meant === undefined ? `The metrics with a prompt are ${known.join(", ")}` : `Did you mean \`${meant}\`?`,
      });
    }
    const purposes = Object.keys(own);
    const [only] = purposes;
    if (typeof given === "string" && purposes.length > 1) {
      throw unexpected(`an object with prompts for ${purposes.join(" and ")}`, given, path);
    }
    const texts = typeof given === "string" ? { [only as string]: given } : given;
    checkKeys(texts, purposes, path);
    for (const [purpose, text] of Object.entries(texts)) {
      if (text === undefined) continue;
      if (typeof text !== "string") throw unexpected("a string", text, `${path}: ${purpose}`);
      templates[own[purpose] as string] = text;
    }
  }
  return templates;
}
