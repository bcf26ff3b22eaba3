/** ADK-TS's `LocalEvalService`: running an agent and scoring what it did as two steps. */

import { isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { readEvalSetInTurns } from "../evaluate.js";
import type { EvalCase, EvalMetric, EvalSet, EvalSetResult, Invocation, Mistake, SimulatorUsage } from "../types.js";
import { type Subject, subjectOf } from "./adapters.js";
import type { Agent } from "./agent.js";
import {
  check,
  checkCases,
  checkUsers,
  onlyBatched,
  type Plan,
  runOptions,
  score,
  unusedIn,
  type Uses,
  usesOf,
  withoutRunOptions,
} from "./evaluation.js";
import { sectionOf } from "../journal/section.js";
import { definedProperties, append, group } from "../lists.js";
import { checkOptions, METRIC_KEYS } from "../known-options.js";
import { batchHost, batchOf, type BatchTask } from "../run/batching.js";
import { type AgentEvaluationOptions, checkRunOptions } from "./options.js";
import { recordedFor } from "./record.js";
import { type InferenceResult, runCases } from "./run.js";
import { forecast } from "./scorable.js";
import { Spending } from "./spending.js";

/** The evalsets to run. */
export interface InferenceRequest {
  evalSetId: string;
  /** Evalsets, as ADK-TS names them. */
  evalCases: EvalSet[];
}

/** What is scored. */
export interface ScoringRequest {
  inferenceResults: Invocation[][];
  evaluateConfig: EvaluateConfig;
}

/** The metrics to score by. */
export interface EvaluateConfig {
  evalMetrics: EvalMetric[];
  /** Maximum number of calls of judges in progress at the same time. */
  parallelism?: number;
}

/** What is known of an array of invocations that {@link LocalEvalService.performInference} gave. */
interface Inference {
  evalSetId: string;
  evalCase: EvalCase;
  result: InferenceResult;
  /** What the model took that played the user; none for invocations from elsewhere. */
  simulator?: SimulatorUsage;
}

const EXPECTED = "-expected-";

/**
 * Runs an agent and scores what it did, in two steps.
 *
 * ```ts
 * const service = new LocalEvalService(agent);
 * for await (const { evalCaseResults } of service.evaluateSession({ evalSetId, evalCases: [evalSet], evaluateConfig })) {
 *   console.log(evalCaseResults.length, "cases");
 * }
 * ```
 */
export class LocalEvalService {
  readonly #agent: Agent | Promise<Agent>;
  readonly #options: AgentEvaluationOptions;
  readonly #spending: Spending;
  readonly #known = new WeakMap<readonly Invocation[], Inference>();
  #subject: Promise<Subject> | undefined;

  /** @param parallelism Maximum number of conversations in progress at the same time. Default: 4. */
  constructor(agent: Agent | Promise<Agent>, parallelism = 4, options: AgentEvaluationOptions = {}) {
    this.#agent = agent;
    checkRunOptions(options, "LocalEvalService");
    this.#options = { ...options, parallelism };
    this.#spending = new Spending(options.budget);
  }

  /**
   * Runs the agent on every case. Each array holds the invocations that are expected in one case, their ids
   * `<evalId>-expected-<turn>`, then those that happened, `<evalId>-<turn>`.
   *
   * @throws {AdkMetricsError} `invalid_input` if there is no agent or no case, before the agent is run.
   */
  async *performInference(request: InferenceRequest): AsyncGenerator<Invocation[], void> {
    const { evalSetId, evalCases } = requestAt(request);
    const given = listAt("evalCases", evalCases, "evalsets");
    const sets: EvalSet[] = [];
    for (const evalSet of given) sets.push(await readEvalSetInTurns(evalSet, evalSetId));
    yield* this.#inferencesOf(sets);
  }

  /** @param leftOut Why cases are not run, by their ids, for each evalset. */
  async *#inferencesOf(
    sets: readonly EvalSet[],
    leftOut: readonly ReadonlyMap<string, string>[] = [],
  ): AsyncGenerator<Invocation[], void> {
    this.#subject ??= subjectOf(this.#agent);
    const subject = await this.#subject;
    const known = new Map<string, number>();
    for (const [at, set] of sets.entries()) {
      checkCases(set, this.#options, `evalCases[${at}]`);
      for (const { evalId } of set.evalCases) {
        const key = JSON.stringify([set.evalSetId, evalId]);
        const other = known.get(key);
        if (other !== undefined) {
          const message = `the evalset ${set.evalSetId} has the case ${evalId} in evalCases[${other}] already`;
          throw new AdkMetricsError("invalid_input", message, {
            path: `evalCases[${at}]`,
            help: "Give each evalset an id of its own, or each case",
          });
        }
        known.set(key, at);
      }
      await checkUsers(set, this.#options, leftOut[at]);
    }
    for (const [index, set] of sets.entries()) {
      const spending = new Spending(this.#options.budget, this.#spending);
      const journal = sectionOf(this.#options.journal);
      const runs = { numRuns: 1, spending, leftOut: leftOut[index], journal };
      const results = await runCases(subject, set, runs, runOptions(this.#options));
      for (const [at, evalCase] of set.evalCases.entries()) {
        const result = results[at] as InferenceResult;
        const named = (turns: readonly Invocation[] | undefined, mark: string) =>
          (turns ?? []).map((turn, index) => ({ ...turn, invocationId: `${evalCase.evalId}${mark}${index}` }));
        const inferences = named(result.inferences, "-");
        const invocations = [...named(evalCase.conversation, EXPECTED), ...inferences];
        const simulator = spending.part(evalCase.evalId).used;
        const given = { evalSetId: set.evalSetId, evalCase, result: { ...result, inferences }, simulator };
        this.#known.set(invocations, given);
        yield invocations;
      }
    }
  }

  /**
   * Scores what {@link LocalEvalService.performInference} gave: one result per case, with one case result per run.
   *
   * @throws {AdkMetricsError} if a metric is unknown or an input cannot be used.
   */
  async *evaluate(request: ScoringRequest): AsyncGenerator<EvalSetResult, void> {
    yield* this.#score(request);
  }

  async *#score(request: ScoringRequest, warnings: readonly Mistake[] = []): AsyncGenerator<EvalSetResult, void> {
    const { inferenceResults, evaluateConfig } = requestAt(request);
    const found = listAt("inferenceResults", inferenceResults, "inferences").map((invocations, at) => {
      const path = `inferenceResults[${at}]`;
      return reading(path, () => {
        if (!Array.isArray(invocations)) throw unexpected("an array of invocations", invocations, path);
        invocations.forEach((turn, index) => objectAt(`${path}[${index}]`, turn));
        return this.#known.get(invocations) ?? inferenceOf(invocations);
      });
    });
    const [config, concurrency] = reading("evaluateConfig", () => [
      configOf(evaluateConfig),
      evaluateConfig.parallelism,
    ]);
    const options = { ...definedProperties({ concurrency }), ...withoutRunOptions(this.#options) };
    const cases = new Map<string, Inference[]>();
    for (const inference of found) {
      const key = JSON.stringify([inference.evalSetId, inference.evalCase.evalId]);
      group(cases, key, inference);
    }
    const tasks = Array.from(cases.values(), (runs): BatchTask => {
      const { evalSetId, evalCase } = runs[0] as Inference;
      const evalSet: EvalSet = { evalSetId, evalCases: [evalCase] };
      const results = recordedFor(
        runs.map(({ result }) => result),
        options.dialect,
      );
      return {
        request: { ...options, evalSet, config, actual: { inferenceResults: results } },
        score: async (found) => {
          const budget = this.#spending.left();
          const result = await score({ evalSet, config }, results, { ...options, ...found, budget });
          this.#spending.add(result.judgeUsage);
          const users = new Spending(this.#options.budget);
          for (const { simulator } of runs) users.add(simulator);
          users.noteIn(result);
          if (warnings.length > 0) result.warnings = [...warnings, ...(result.warnings ?? [])];
          return result;
        },
      };
    });
    const batch = batchOf(this.#options);
    if (batch !== undefined) yield* batchHost().evaluateAll(tasks, batch, this.#options.signal);
    else for (const { score } of tasks) yield await score({});
  }

  /** Both steps. What is wrong with metrics and judges is known before the agent is run. */
  async *evaluateSession(
    request: InferenceRequest & { evaluateConfig: EvaluateConfig },
  ): AsyncGenerator<EvalSetResult, void> {
    const { evalSetId, evalCases, evaluateConfig } = requestAt(request);
    const given = listAt("evalCases", evalCases, "evalsets");
    const config = reading("evaluateConfig", () => configOf(evaluateConfig));
    const sets: EvalSet[] = [];
    const leftOut: ReadonlyMap<string, string>[] = [];
    const warnings: Mistake[] = [];
    const uses: Uses[] = [];
    for (const [at, evalSet] of given.entries()) {
      const plan = { evalSet, evalSetName: evalSetId, config };
      const options = { ...withoutRunOptions(this.#options), ...(await onlyBatched(this.#options)) };
      const checked = await check(plan, options, true);
      checkCases(checked.evalSet, this.#options, `evalCases[${at}]`);
      const known = forecast(checked, this.#options);
      await checkUsers(checked.evalSet, this.#options, known.leftOut);
      sets.push(checked.evalSet);
      leftOut.push(known.leftOut);
      append(warnings, known.warnings);
      uses.push(usesOf(checked, this.#options, known.leftOut));
    }
    append(warnings, unusedIn(uses, this.#options));
    const inferenceResults: Invocation[][] = [];
    for await (const invocations of this.#inferencesOf(sets, leftOut)) inferenceResults.push(invocations);
    yield* this.#score({ inferenceResults, evaluateConfig }, warnings);
  }
}

/** @throws {AdkMetricsError} `invalid_input` for anything but an object. */
function objectAt<T>(path: string, given: T): T {
  if (!isObject(given)) throw unexpected("an object", given, path);
  return given;
}

/** A request of any step: what only another needs may be there too. */
function requestAt<T extends object>(request: T & Partial<Record<(typeof REQUEST_KEYS)[number], unknown>>): T {
  checkOptions(objectAt("request", request), REQUEST_KEYS, { path: "request" });
  return reading("request", () => Object.fromEntries(REQUEST_KEYS.map((key) => [key, request[key]])) as T);
}

const REQUEST_KEYS = ["evalSetId", "evalCases", "inferenceResults", "evaluateConfig"] as const;

/** @throws {AdkMetricsError} `invalid_input` for anything but an array, and for an empty one. */
function listAt<T>(path: string, given: T[], of: string): T[] {
  const list = reading(path, () => (Array.isArray(given) ? [...(given as T[])] : undefined));
  if (list === undefined) throw unexpected(`an array of ${of}`, given, path);
  if (list.length === 0) {
    throw new AdkMetricsError("invalid_input", `\`${path}\` is empty: there is nothing to evaluate`, { path });
  }
  return list;
}

/** ADK-TS's list of metrics as a config. */
function configOf(config: EvaluateConfig): NonNullable<Plan["config"]> {
  const { evalMetrics } = objectAt("evaluateConfig", config);
  checkOptions(config, ["evalMetrics", "parallelism"], { path: "evaluateConfig" });
  const path = "evaluateConfig.evalMetrics";
  const criteria = listAt(path, evalMetrics, "metrics").map((metric, at) => {
    const { metricName, threshold, criterion, judgeModelOptions } = objectAt(`${path}[${at}]`, metric);
    checkOptions(metric, METRIC_KEYS, { path: `${path}[${at}]` });
    if (typeof metricName !== "string") throw unexpected("a metric with a `metricName`", metric, `${path}[${at}]`);
    const settings = {
      ...definedProperties({ threshold, judgeModelOptions }),
      ...criterion,
    };
    return [metricName, settings] as const;
  });
  return { criteria: Object.fromEntries(criteria) };
}

/** Invocations from elsewhere: their ids say which case they belong to, and which are expected. */
function inferenceOf(invocations: readonly Invocation[]): Inference {
  const isExpected = ({ invocationId = "" }: Invocation) => /-expected-\d+$/.test(invocationId);
  const evalId = (invocations[0]?.invocationId ?? "").replace(/(?:-expected)?-\d+$/, "");
  const conversation = invocations.filter(isExpected);
  const inferences = invocations.filter((invocation) => !isExpected(invocation));
  return {
    evalSetId: evalId,
    evalCase: { evalId, conversation },
    result: { evalSetId: evalId, evalCaseId: evalId, inferences, sessionId: evalId, status: 1 },
  };
}
