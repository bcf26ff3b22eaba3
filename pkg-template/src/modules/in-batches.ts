// Node only: no bundle for browsers may reach this file.
import type { BatchGatherer } from "../batches/gather.js";
import { toBytes } from "../engine/input.js";
import { parseJson } from "../engine/json.js";
import { isObject, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { checkEvaluation, evaluate, evaluateAlone, readEvalSetInTurns } from "../evaluate.js";
import { fileCache } from "../judges/cache-file.js";
import { JournalSection } from "../journal/section.js";
import { judgeOf, standIns } from "../judges/default.js";
import { optionsOf } from "../known-options.js";
import { type BatchHost, batchOf, type BatchTask } from "../run/batching.js";
import { waiting } from "../run/waiting.js";
import type { BatchOptions, EvalSetResult, EvaluateRequest, Judge } from "../types.js";
import { definedProperties } from "../lists.js";

/** The default folder of replies and batches. */
export const FOLDER = "adk-metrics-replies";

/** How many questions of a run may be open at a time; for more it is begun again. */
export const MOST_OPEN = 8192;
/** How long an open question waits for others, in milliseconds: longer than finding them takes. */
const PATIENCE_MS = 3_600_000;

/** What `batch: true` needs of a runtime with files. */
export const nodeBatchHost: BatchHost = {
  async evaluate(request) {
    for (const name of ["cache", "journal", "budget"] as const) {
      if (request[name] === undefined) continue;
      throw new AdkMetricsError("invalid_input", `\`${name}\` cannot be used with \`batch\``, { path: name });
    }
    const task: BatchTask = { request, score: (found) => evaluateAlone({ ...request, ...found }) };
    const { value } = await evaluateAll([task], batchOf(request) ?? {}, request.signal).next();
    return value as EvalSetResult;
  },
  evaluateAll,
  async judgeCheck() {
    const { batchEndpointOf } = await import("../batches/gather.js");
    return (judge) => void batchEndpointOf(judge);
  },
};

async function* evaluateAll(
  tasks: readonly BatchTask[],
  batch: BatchOptions,
  signal = new AbortController().signal,
): AsyncGenerator<EvalSetResult, void> {
  const options = checkedOptions(batch);
  const found = (await asksJudges(tasks)) ? await repliesTo(tasks, options, signal) : {};
  for (const { score } of tasks) yield await score(found);
}

/** Whether a metric of any of the evaluations asks a judge: otherwise there is no folder to make. */
async function asksJudges(tasks: readonly BatchTask[]): Promise<boolean> {
  for (const { request } of tasks) {
    if ((await checkEvaluation(request)).asksJudges) return true;
  }
  return false;
}

/** Asks every question of the evaluations in batches. @returns Where the replies are, and who asks what is left. */
async function repliesTo(
  tasks: readonly BatchTask[],
  { folder = FOLDER, fallback, size, pollMs = 30_000, onNotice }: BatchOptions,
  signal: AbortSignal,
): Promise<Pick<EvaluateRequest, "cache" | "signal">> {
  const cache = fileCache(folder);
  const [{ BatchStore }, { batchEndpointOf, BatchGatherer, manyReaders }] = await Promise.all([
    import("../batches/store.js"),
    import("../batches/gather.js"),
  ]);
  const [judge] = tasks.map(({ request }) => request.judge);
  const store = await BatchStore.open(folder, {
    cache,
    endpointOf: ({ provider, model }) =>
      batchEndpointOf(judgeOf(judge === undefined ? {} : { judge }, `${provider.replace(/-responses$/, "")}/${model}`)),
    say: (text) => onNotice?.(text),
    signal,
    pollMs,
    ...(size === undefined ? {} : { maxRows: size }),
  });
  try {
    const gatherer = new BatchGatherer(store, cache, fallback === "live", MOST_OPEN);
    const read = manyReaders(cache);
    do {
      await store.wait();
      for (const { request } of tasks) {
        const idsOf = async () =>
          (await readEvalSetInTurns(request.evalSet, "evalset")).evalCases.map(({ evalId }) => evalId);
        await noteQuestions(gatherer, { ...request, cache: read }, signal, idsOf, (judge) => gatherer.judgeOf(judge));
      }
    } while (store.finish() > 0);
    store.forgetFailures();
    gatherer.isGathering = false;
    const asking = AbortSignal.any([signal]);
    standIns.set(asking, (judge) => gatherer.judgeOf(judge));
    return { cache, signal: asking };
  } finally {
    store.close();
  }
}

function checkedOptions(batch: BatchOptions): BatchOptions {
  const options = optionsOf(batch, ["folder", "fallback", "size", "pollMs", "onNotice"], { path: "batch" });
  const { fallback, size, pollMs, onNotice } = options;
  if (fallback !== undefined && fallback !== "batch" && fallback !== "live") {
    throw unexpected('"batch" or "live"', fallback, "batch: fallback");
  }
  if (size !== undefined && !(Number.isInteger(size) && size >= 1)) {
    throw unexpected("a whole number from 1 up", size, "batch: size");
  }
  if (pollMs !== undefined && !(pollMs > 0)) {
    throw unexpected("a number of milliseconds above 0", pollMs, "batch: pollMs");
  }
  if (onNotice !== undefined && typeof onNotice !== "function")
    throw unexpected("a function", onNotice, "batch: onNotice");
  return options;
}

/**
 * Goes through an evaluation as far as the replies in its cache and its section of a journal lead, and has noted what it would
 * ask next.
 *
 * @param idsOf The ids of all cases, in order; asked for if there are more questions than may be open at a time.
 * @param standIn What asks instead of each judge, unless the request's judges are those of the gatherer.
 * @returns Whether any metric asks a judge.
 */
export async function noteQuestions(
  gatherer: BatchGatherer,
  request: EvaluateRequest,
  signal: AbortSignal,
  idsOf: () => Promise<readonly string[]>,
  standIn?: (judge: Judge) => Judge,
): Promise<boolean> {
  const { onProgress: _, batch: _batch, journal, config, ...rest } = request;
  let { evalIds } = request;
  let asksJudges = false;
  do {
    const pass = AbortSignal.any([gatherer.begin(), signal]);
    waiting.set(pass, (calls) => gatherer.waits(calls));
    if (standIn !== undefined) standIns.set(pass, standIn);
    const { judges, cancelled } = await evaluate({
      ...rest,
      ...(config === undefined ? {} : { config: withoutLimits(config) }),
      ...definedProperties({ evalIds }),
      ...(journal instanceof JournalSection ? { journal: journal.rehearsal() } : {}),
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

/** A config without limits of calls at a time: there are no calls. */
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
