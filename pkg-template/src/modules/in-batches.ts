// Node only: no bundle for browsers may reach this file.
import type { BatchGatherer } from "../batches/gather.js";
import { toBytes } from "../engine/input.js";
import { parseJson } from "../engine/json.js";
import { isObject, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { evaluate, readEvalSetInTurns } from "../evaluate.js";
import { fileCache } from "../judges/cache-file.js";
import { endpointOf } from "../judges/endpoint.js";
import { identityOf, panelTakesNone } from "../judges/judge.js";
import { optionsOf } from "../known-options.js";
import { waiting } from "../run/waiting.js";
import type { EvalSetResult, EvaluateRequest } from "../types.js";

/** How {@link evaluateInBatches} goes about it. */
export interface BatchOptions {
  /** The folder that keeps replies and batches; the same as `--cache` of the command. */
  folder: string;
  /**
   * How to repeat questions that failed in a batch: they are in another one, or are asked
   * one by one when all batches are over, at the full price, as is what follows from them. Default: `batch`.
   */
  fallback?: "batch" | "live";
  /** The most questions of one batch. */
  size?: number;
  /** How long to wait between two looks at a batch, in milliseconds. Default: 30,000. */
  pollMs?: number;
  /** Is told what is sent, how far it is and what came back. */
  onNotice?: (text: string) => void;
}

/** How many questions of a run may be open at a time; for more it is begun again. */
export const MOST_OPEN = 8192;
/** How long an open question waits for others, in milliseconds: longer than finding them takes. */
const PATIENCE_MS = 3_600_000;

/**
 * As {@link evaluate}, asking the judge through the batch interface of its provider, at half the price. It takes as long as the
 * batches do. What was sent is in the folder: a call for the same goes on after an end of the process.
 *
 * ```ts
 * const judge = openaiJudge({ apiKey, model: "gpt-4.1-mini" });
 * const result = await evaluateInBatches({ evalSet, actual, config, judge }, { folder: "replies" });
 * ```
 *
 * @param request With a `judge` that `openaiJudge`, `anthropicJudge` or `geminiJudge` made, and without a cache, a journal and a
 * budget.
 * @throws {AdkMetricsError} as `evaluate` does; `judge_failed` if the provider takes no batches, `cache_failed` if another
 * process works with those of the folder.
 */
export async function evaluateInBatches(request: EvaluateRequest, options: BatchOptions): Promise<EvalSetResult> {
  const { folder, fallback, size, pollMs, onNotice } = optionsOf(options, BATCH_OPTIONS);
  if (fallback !== undefined && fallback !== "batch" && fallback !== "live") {
    throw unexpected('"batch" or "live"', fallback, "options: fallback");
  }
  if (size !== undefined && !(Number.isInteger(size) && size >= 1)) {
    throw unexpected("a whole number from 1 up", size, "options: size");
  }
  if (pollMs !== undefined && !(pollMs > 0)) {
    throw unexpected("a number of milliseconds above 0", pollMs, "options: pollMs");
  }
  for (const name of ["cache", "journal", "budget"] as const) {
    if (request[name] === undefined) continue;
    throw new AdkMetricsError("invalid_input", `\`${name}\` cannot be used with batches`, { path: name });
  }
  const { judge, signal = new AbortController().signal } = request;
  if (typeof judge === "function" && identityOf(judge).panel !== undefined) throw panelTakesNone("judge");
  const endpoint = typeof judge === "function" ? endpointOf(judge) : undefined;
  if (judge === undefined || endpoint === undefined) {
    throw new AdkMetricsError("invalid_input", "expected a judge of a provider", {
      path: "judge",
      help: "Pass the result of openaiJudge, anthropicJudge or geminiJudge",
    });
  }
  const cache = fileCache(folder);
  const [{ BatchStore }, { BatchGatherer, manyReaders }] = await Promise.all([
    import("../batches/store.js"),
    import("../batches/gather.js"),
  ]);
  const store = await BatchStore.open(folder, {
    cache,
    endpointOf: () => endpoint,
    say: onNotice ?? (() => {}),
    signal,
    pollMs: pollMs ?? 30_000,
    ...(size === undefined ? {} : { maxRows: size }),
  });
  try {
    const gatherer = new BatchGatherer(store, cache, fallback === "live", MOST_OPEN);
    const asked = { ...request, judge: gatherer.judgeOf(judge) };
    const read = manyReaders(cache);
    const ids = async (): Promise<string[]> =>
      (await readEvalSetInTurns(request.evalSet, request.evalSetName ?? "evalset")).evalCases.map(
        ({ evalId }) => evalId,
      );
    do {
      await store.wait();
      await noteQuestions(gatherer, { ...asked, cache: read }, signal, ids);
    } while (store.finish() > 0);
    store.forgetFailures();
    gatherer.isGathering = false;
    return await evaluate({ ...asked, cache });
  } finally {
    store.close();
  }
}

const BATCH_OPTIONS = ["folder", "fallback", "size", "pollMs", "onNotice"] as const;

/**
 * Goes through an evaluation as far as the replies in its cache lead, and has noted what it would ask next.
 *
 * @param idsOf The ids of all cases, in order; asked for if there are more questions than may be open at a time.
 * @returns Whether any metric asks a judge.
 */
export async function noteQuestions(
  gatherer: BatchGatherer,
  request: EvaluateRequest,
  signal: AbortSignal,
  idsOf: () => Promise<readonly string[]>,
): Promise<boolean> {
  const { onProgress: _, config, ...rest } = request;
  let { evalIds } = request;
  let asksJudges = false;
  do {
    const pass = AbortSignal.any([gatherer.begin(), signal]);
    waiting.set(pass, (calls) => gatherer.waits(calls));
    const { judges, cancelled } = await evaluate({
      ...rest,
      ...(config === undefined ? {} : { config: withoutLimits(config) }),
      ...(evalIds === undefined ? {} : { evalIds }),
      concurrency: MOST_OPEN,
      timeoutMs: PATIENCE_MS,
      explain: "none",
      signal: pass,
    });
    asksJudges ||= judges !== undefined || cancelled === true;
    gatherer.check();
    signal.throwIfAborted();
    evalIds = gatherer.isCut ? gatherer.rest(evalIds ?? (await idsOf())) : [];
  } while (evalIds.length > 0);
  return asksJudges;
}

/** A config without limits of calls at a time: nobody is called. */
function withoutLimits(config: NonNullable<EvaluateRequest["config"]>): NonNullable<EvaluateRequest["config"]> {
  let record: unknown;
  try {
    record = parseJson(new TextDecoder().decode(toBytes(config, "config")));
  } catch {
    // Whoever scores by it says what is wrong with it.
    return config;
  }
  const criteria: unknown = isObject(record) ? Reflect.get(record, "criteria") : undefined;
  if (!isObject(criteria)) return config;
  for (const criterion of Object.values(criteria) as unknown[]) {
    if (!isObject(criterion)) continue;
    for (const key of ["judge_model_options", "judgeModelOptions"]) {
      const options: unknown = Reflect.get(criterion, key);
      if (!isObject(options)) continue;
      for (const name of ["parallelism_limit", "parallelismLimit"]) Reflect.deleteProperty(options, name);
    }
  }
  return record as NonNullable<EvaluateRequest["config"]>;
}
