/** How agents are evaluated. */

import { reading } from "../engine/values.js";
import { AGENT_OPTIONS, allInstead, checkOptions } from "../known-options.js";
import { checkGateOptions, type Gates } from "../statistics/gates.js";
import { AdkMetricsError } from "../errors.js";
import { batchOf } from "../run/batching.js";
import type { BatchOptions, EvaluatorOptions, Journal, MetricRegistry } from "../types.js";
import type { AgentRunOptions } from "./run.js";
import { checkSimulatorOptions } from "./simulator.js";

export { DEFAULT_CRITERIA } from "../generated/metrics.js";

/** How to run an agent and evaluate it. */
export interface AgentEvaluationOptions extends EvaluatorOptions, AgentRunOptions {
  /** Where metrics of your own are found. Default: `DEFAULT_METRIC_EVALUATOR_REGISTRY`. */
  registry?: MetricRegistry;
  /** Whether warnings that are known before the agent is run are errors. Default: false. */
  strict?: boolean;
  /** Metrics that are reported and decide nothing: a case passes or fails by the others. */
  advisory?: readonly string[];
  /**
   * What the runs have to reach, instead of every metric's mean in every case: `{ minPassRate: 0.9 }`; see `checkGates`. For
   * `AgentEvaluator` and `toPassEvalSet`.
   */
  gates?: Gates;
  /**
   * Where runs and replies are kept, so that the evaluation continues where it stopped; a conversation that was not finished
   * starts over.
   */
  journal?: Journal;
  /**
   * Whether judges are asked through the batch APIs of their providers, at half the price, and how. The agent is run in all cases
   * first. Needs a `journal`; after an interruption, the same evaluation continues.
   */
  batch?: boolean | BatchOptions;
}

const OF_FILES = [...AGENT_OPTIONS, "criteria", "printDetailedResults"];

const INPUTS = ["evalSet", "actual", "agent"];

/** What to do instead of giving an option of runs where it does not apply. */
const INSTEAD = {
  evaluateEvalSet: {
    ...allInstead(INPUTS, "Pass it as an argument: evaluateEvalSet(agent, evalSet, criteria)"),
    ...allInstead(
      ["criteria", "config"],
      "Pass criteria as the third argument: evaluateEvalSet(agent, evalSet, criteria)",
    ),
    numRuns: "Pass it as the fourth argument: evaluateEvalSet(agent, evalSet, criteria, numRuns)",
    printDetailedResults:
      "Pass it as the fifth argument: evaluateEvalSet(agent, evalSet, criteria, numRuns, printDetailedResults)",
    evalIds: "Pass an evalset that has only these cases",
    evalSetName: "Pass the result of readEvalSet(evalSet, name), which names an evalset in an old format",
    initialSessionFile: "It is for evalset files in an old format: use AgentEvaluator.evaluate",
  },
  evaluate: {
    ...allInstead(INPUTS, "Pass an agent and the path of an evalset, or use AgentEvaluator.evaluateEvalSet"),
    numRuns: "Pass it as the third argument: evaluate(agent, path, numRuns)",
    initialSessionFile: "Pass it as the fourth argument: evaluate(agent, path, numRuns, initialSessionFile)",
    config: "Pass its criteria as `criteria`, or write a test_config.json beside the file",
    evalIds: "Pass a file that has only these cases, or use AgentEvaluator.evaluateEvalSet",
    evalSetName: "An evalset in an old format is named after its file",
  },
  LocalEvalService: {
    ...allInstead([...INPUTS, "evalIds", "evalSetName"], "Pass it in the requests of performInference and evaluate"),
    ...allInstead(["criteria", "config", "evalMetrics"], "Pass metrics in the request: evaluateConfig.evalMetrics"),
    parallelism: "Pass it as the second argument: new LocalEvalService(agent, parallelism)",
    gates: "Pass its results to checkGates(results, gates)",
    numRuns: "It runs every case once; use AgentEvaluator for several runs",
    printDetailedResults: "Pass its results to renderTable of adk-metrics/report",
    initialSessionFile: "It is for evalset files in an old format: use AgentEvaluator.evaluate",
  },
} as const;

/**
 * Finds options that a function for running agents does not take.
 *
 * @param to The function.
 * @throws {AdkMetricsError} `invalid_input` with what to do instead.
 */
export function checkRunOptions(options: object, to: keyof typeof INSTEAD): void {
  const instead: Readonly<Record<string, string>> = INSTEAD[to];
  const known = to === "evaluate" ? OF_FILES : AGENT_OPTIONS.filter((name) => !Object.hasOwn(instead, name));
  checkOptions(options, known, { instead });
  const gates = reading("options", () => (options as AgentEvaluationOptions).gates);
  if (gates !== undefined) checkGateOptions(gates);
  if (batchOf(options) !== undefined) checkBatch(options);
  checkSimulatorOptions(reading("options", () => (options as AgentEvaluationOptions).userSimulator));
}

/** @throws {AdkMetricsError} `invalid_input` for options that have no place beside `batch`. */
function checkBatch(options: AgentEvaluationOptions): void {
  for (const name of ["cache", "budget"] as const) {
    if (options[name] === undefined) continue;
    throw new AdkMetricsError("invalid_input", `\`${name}\` cannot be used with \`batch\``, {
      path: `options: ${name}`,
    });
  }
  if (options.journal !== undefined) return;
  throw new AdkMetricsError(
    "invalid_input",
    "`batch` needs a journal, which keeps what the agent did until the batches are over",
    {
      path: "options: journal",
      help: 'journal: fileJournal("run.jsonl")',
    },
  );
}
