import { call } from "./engine/call.js";
import { drive, type RunPlan } from "./engine/run.js";
import { isObject, toBytes, unexpected } from "./engine/input.js";
import { invocationsOf } from "./engine/invocations.js";
import { engineOptions } from "./engine/options.js";
import { ofMistake } from "./errors.js";
import { DEFAULT_METRIC_EVALUATOR_REGISTRY } from "./registry.js";
import type { EvalCaseResult, EvalSetResult, EvaluateRequest } from "./types.js";

/**
 * Scores what an agent did against an evalset.
 *
 * Runs belong to cases by eval id; a repeated id is another run of its case. A case without a run is FAILED with the
 * reason, and a metric that cannot be computed is NOT_EVALUATED with the reason; the others go on.
 *
 * @throws {AdkMetricsError} if an input cannot be used.
 */
export async function evaluate(request: EvaluateRequest): Promise<EvalSetResult> {
  const batches = evaluateBatches(request);
  for (;;) {
    const next = await batches.next();
    if (next.done === true) return next.value;
  }
}

/**
 * As {@link evaluate}, giving each case result when it is there, in the order of completion. Leaving the loop cancels
 * the evaluation. The generator returns the results of the whole evalset.
 */
export async function* evaluateStream(request: EvaluateRequest): AsyncGenerator<EvalCaseResult, EvalSetResult> {
  const batches = evaluateBatches(request);
  try {
    for (;;) {
      const next = await batches.next();
      if (next.done === true) return next.value;
      yield* next.value;
    }
  } finally {
    await batches.return(undefined as never);
  }
}

/** Case results in batches: a step of an async generator for each of 10,000 would cost more than scoring them. */
async function* evaluateBatches(request: EvaluateRequest): AsyncGenerator<EvalCaseResult[], EvalSetResult> {
  const plan = planOf(request);
  const output = drive(plan);
  const [engineVersion, referenceVersion] = call(plan, (engine) => engine.versions()) as [string, string];
  const creationTimestamp = Date.now() / 1000;
  const set: EvalSetResult = {
    evalSetResultId: "",
    evalSetResultName: "",
    evalSetId: "",
    evalCaseResults: [],
    creationTimestamp,
    engineVersion,
    referenceVersion,
    dialect: request.dialect ?? "adk-python",
  };
  let total = 0;
  try {
    for (;;) {
      const next = await output.next();
      if (next.done === true) {
        if (next.value.cancelled) set.cancelled = true;
        return set;
      }
      if ("header" in next.value) {
        const { header } = next.value;
        total = header.total;
        set.evalSetId = header.evalSetId;
        set.evalSetResultId = `${header.evalSetId}_${creationTimestamp}`;
        set.evalSetResultName = set.evalSetResultId.replaceAll("/", "_");
        if (header.warnings.length > 0) {
          set.warnings = header.warnings.map((warning) => mistakeOf(warning, plan));
        }
        continue;
      }
      const results = next.value.cases.map(({ result }) => result);
      for (const result of results) set.evalCaseResults.push(result);
      yield results;
      request.onProgress?.({ done: set.evalCaseResults.length, total });
    }
  } finally {
    await output.return({ cancelled: true });
  }
}

function planOf(request: EvaluateRequest): RunPlan {
  if (typeof request !== "object" || request === null) throw unexpected("an object", request, "request");
  const { registry = DEFAULT_METRIC_EVALUATOR_REGISTRY, evalIds, evalSetName = "evalset" } = request;
  if (typeof registry?.customMetricNames !== "function") {
    throw unexpected("a MetricEvaluatorRegistry", registry, "registry");
  }
  if (evalIds !== undefined && !(Array.isArray(evalIds) && evalIds.every((id) => typeof id === "string"))) {
    throw unexpected("an array of eval ids", evalIds, "evalIds");
  }
  if (typeof evalSetName !== "string") throw unexpected("a text", evalSetName, "evalSetName");
  const options = {
    ...engineOptions(request),
    custom: registry.customMetricNames(),
    cases: evalIds,
    name: evalSetName,
  };
  const config = request.config ?? (request.criteria === undefined ? undefined : { criteria: request.criteria });
  const bytes = {
    evalSet: toBytes(request.evalSet, "evalSet"),
    actual: toBytes(request.actual, "actual"),
    config: config === undefined ? undefined : toBytes(config, "config"),
  };
  const { evalSet, actual } = request;
  const inputs: Record<string, unknown> = { evalSet, actual, config };
  return {
    open: (engine) => new engine.EvalRun(bytes.evalSet, bytes.actual, bytes.config, options),
    sources: { expected: invocationsOf(evalSet, bytes.evalSet), actual: invocationsOf(actual, bytes.actual) },
    options: request,
    registry,
    hasLines: (input) => input !== undefined && !isObject(inputs[input]),
  };
}

function mistakeOf(
  warning: Parameters<typeof ofMistake>[0],
  { hasLines }: RunPlan,
): NonNullable<EvalSetResult["warnings"]>[number] {
  const { path, line, help } = ofMistake(warning, hasLines);
  return {
    code: warning.code,
    message: warning.message,
    ...(path === undefined ? {} : { path }),
    ...(line === undefined ? {} : { line }),
    ...(help === undefined ? {} : { help }),
  };
}
