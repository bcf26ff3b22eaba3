/** A prepared request for an evaluation: its options checked, its inputs as bytes, and how the engine reads them. */

import { checkAdvisory } from "./advisory.js";
import { checkCount } from "./engine/checks.js";
import { fieldsReadBy } from "./engine/reads.js";
import { checkMisplaced } from "./engine/criteria.js";
import { bytesInSteps, toBytes } from "./engine/input.js";
import { invocationsOf } from "./engine/invocations.js";
import type { Steps } from "./engine/steps.js";
import { isObject, reading, unexpected } from "./engine/values.js";
import { WHAT_FITS } from "./engine/writing.js";
import { AdkMetricsError } from "./errors.js";
import type { RunOptions } from "./generated/contract.js";
import { selectedCaseOf } from "./journal/section.js";
import { checkRequest, type NoOptions, refuseOptions, REQUEST_OPTIONS } from "./known-options.js";
import { streamsOf } from "./lines/pairs.js";
import { DEFAULT_METRIC_EVALUATOR_REGISTRY } from "./registry.js";
import { runOptions } from "./run/options.js";
import { isOpen, type RunPlan, type Session } from "./run/session.js";
import { idsIn } from "./run/unknown-case.js";
import type { EvaluateRequest } from "./types.js";

/** An evalset that the engine has read, for evaluations of what is done in its cases. */
export interface ReadEvalSet {
  /** What it was read from, for an engine that was restarted meanwhile. */
  readonly bytes: Uint8Array;
  readonly session: Session;
}

/** Reads each property of a request once; a getter need not answer the same twice. */
export function copyOf(request: EvaluateRequest, options?: NoOptions): EvaluateRequest {
  refuseOptions(options);
  if (typeof request !== "object" || request === null) throw unexpected("an object", request, "request");
  checkRequest(request);
  const copy = Object.fromEntries(REQUEST_OPTIONS.map((key) => [key, request[key]])) as unknown as EvaluateRequest;
  const { evalIds, onProgress } = copy;
  if (Array.isArray(evalIds)) {
    checkCount(evalIds.length, "evalIds");
    copy.evalIds = Array.from<string>(evalIds);
  }
  checkAdvisory(copy.advisory);
  if (copy.advisory !== undefined) copy.advisory = Array.from(copy.advisory);
  if (typeof onProgress === "function") copy.onProgress = (progress) => onProgress.call(request, progress);
  return copy;
}

/** A request as a plan for the engine. */
export interface PlanOfBytes extends RunPlan {
  evalSet: Uint8Array;
  actual: Uint8Array;
  config: Uint8Array | undefined;
  /** Whether the evalset is what is scored. */
  isItself: boolean;
  /** The ids of the evalset and of the one that the actual runs name, if they differ. */
  otherSet: readonly [evalSet: string, actual: string] | undefined;
}

/** For scoring, only what is read of objects is written; their other fields are not looked at. */
type Purpose = "scoring" | "all";

/** Prepares a request. Stops on the way through large inputs. */
export function* planInSteps(
  request: EvaluateRequest,
  purpose: Purpose = "all",
  readBefore?: ReadEvalSet,
): Steps<PlanOfBytes> {
  const began = performance.now();
  const { registry = DEFAULT_METRIC_EVALUATOR_REGISTRY, evalIds, evalSetName = "evalset" } = request;
  const { strict = false, countOnly = false } = request;
  if (typeof strict !== "boolean") throw unexpected("true or false", strict, "strict");
  if (typeof countOnly !== "boolean") throw unexpected("true or false", countOnly, "countOnly");
  const custom: unknown = reading("registry", () => {
    if (typeof registry?.customMetricNames === "function") return Array.from(registry.customMetricNames());
    throw unexpected("a MetricEvaluatorRegistry", registry, "registry");
  });
  if (!areStrings(custom)) throw unexpected("an array of names", custom, "registry: customMetricNames()");
  if (evalIds !== undefined && !areStrings(evalIds)) throw unexpected("an array of eval ids", evalIds, "evalIds");
  for (const name of ["evalSet", "actual"] as const) {
    if (streamsOf(request[name], name) === undefined) continue;
    throw unexpected(WHAT_FITS, request[name], name, "Streams of JSON lines are read by `evaluateStream`");
  }
  if (evalIds?.length === 0) {
    const help = "For all cases, leave it out";
    throw new AdkMetricsError("invalid_input", "`evalIds` is empty", { path: "evalIds", help });
  }
  if (typeof evalSetName !== "string") throw unexpected("a string", evalSetName, "evalSetName");
  const options: RunOptions = {
    ...runOptions(request),
    selectedCase: selectedCaseOf(evalIds, request.journal),
    custom,
    evalIds,
    evalSetName,
    countOnly,
  };
  // Without criteria, ADK's default ones would be scored.
  const config = configOf(request) ?? (countOnly ? { criteria: {} } : undefined);
  const configBytes = config === undefined ? undefined : toBytes(config, "config");
  const fields = purpose === "scoring" ? fieldsReadBy(configBytes, custom) : undefined;
  const bytes = {
    evalSet: readBefore?.bytes ?? (yield* bytesInSteps(request.evalSet, "evalSet", fields)),
    actual: yield* bytesInSteps(request.actual, "actual", fields),
    config: configBytes,
  };
  const isPartial = (input: unknown) => fields !== undefined && isObject(input);
  const { evalSet, actual } = request;
  const inputs: Record<string, unknown> = { evalSet, actual, config };
  return {
    began,
    ...bytes,
    // Objects that are alike may have come about in different ways, such as by an agent that did as expected.
    isItself:
      evalSet === actual || (!isObject(evalSet) && !isObject(actual) && (yield* areEqual(bytes.evalSet, bytes.actual))),
    otherSet: otherSetIn(bytes.evalSet, bytes.actual),
    read: (engine) =>
      readBefore !== undefined && isOpen(readBefore.session)
        ? readBefore.session.run.withActual(bytes.actual, bytes.config, options)
        : new engine.EvalRunReader(bytes.evalSet, bytes.actual, bytes.config, options),
    sources: {
      expected: invocationsOf(evalSet, isPartial(evalSet) && readBefore === undefined ? undefined : bytes.evalSet),
      actual: invocationsOf(actual, isPartial(actual) ? undefined : bytes.actual),
    },
    options: request,
    registry,
    evalIds,
    knownIds: () => idsIn(bytes.evalSet),
    hasLines: (input) => input !== undefined && !isObject(inputs[input]),
  };
}

function otherSetIn(evalSet: Uint8Array, actual: Uint8Array): PlanOfBytes["otherSet"] {
  const [expected, found] = [setIdIn(evalSet), setIdIn(actual)];
  // The default is not a name that a user gave.
  return found === undefined || [undefined, "evalset", found].includes(expected)
    ? undefined
    : [expected as string, found];
}

/** How much of each end of a text is looked at for its evalset's id. */
const END_BYTES = 4096;

/** The id of the evalset that an input is of, if it says so. */
function setIdIn(bytes: Uint8Array): string | undefined {
  const ends = [bytes.subarray(0, END_BYTES), bytes.subarray(-END_BYTES)].map((end) => new TextDecoder().decode(end));
  // No string of JSON has a line break: an id that is cut off at the end of the first piece goes on nowhere.
  const [, json] = /"(?:eval_set_id|evalSetId)"\s*:\s*("(?:[^"\\]|\\.)+")/.exec(ends.join("\n")) ?? [];
  try {
    return json && (JSON.parse(json) as string);
  } catch {
    return undefined;
  }
}

function areStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function configOf({ config, criteria }: EvaluateRequest): EvaluateRequest["config"] {
  const given = config ?? undefined;
  if (criteria === undefined) return given;
  reading("criteria", () => checkMisplaced(criteria, "criteria"));
  if (given === undefined) return { criteria };
  throw new AdkMetricsError("invalid_input", "`config` and `criteria` are both set", {
    path: "criteria",
    help: "Set only one of the two",
  });
}

/** Whether two inputs are the same, byte by byte. Stops on the way through large ones. */
function* areEqual(a: Uint8Array, b: Uint8Array): Steps<boolean> {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) {
    if (a[at] !== b[at]) return false;
    if (at % 2 ** 20 === 0) yield;
  }
  return true;
}
