/** Evaluations of an agent by test files, each with the config beside it. */

import type { Criteria, EvalSetResult, Mistake } from "../types.js";
import type { Subject } from "./adapters.js";
import { strictErrorOf } from "../errors.js";
import { type AgentEvaluation, type AgentRuns, checkedEvaluation, type Plan } from "./evaluation.js";
import type { AgentHost } from "./host.js";
import { nameSet } from "../report/results.js";
import { naming } from "./naming.js";
import type { AgentEvaluationOptions } from "./options.js";
import { type Beside, checkSamples, configBeside, evalSetOf, namesOf, testFileOf } from "./test-files.js";

/** How to evaluate test files. */
export interface FileEvaluationOptions {
  numRuns: number;
  /** Instead of the criteria of each config. */
  criteria: Criteria | undefined;
  /** What cases of files in the old form begin with. */
  initialSession: object | undefined;
  options: AgentEvaluationOptions;
}

/**
 * Reads all files, so that nothing is wrong with any of them when the agent is run. The evaluations are to be closed.
 *
 * @throws {AdkMetricsError} for a file, a config or options that cannot be used.
 */
export async function openFiles(
  host: AgentHost,
  subject: Subject,
  files: readonly string[],
  how: FileEvaluationOptions,
): Promise<AgentEvaluation[]> {
  const evaluations: AgentEvaluation[] = [];
  const names = namesOf(files);
  try {
    for (const [at, file] of files.entries()) {
      evaluations.push(await openFile(host, subject, file, names[at] as string, how));
    }
    return evaluations;
  } catch (error) {
    closeAll(evaluations);
    throw error;
  }
}

export function closeAll(evaluations: readonly AgentEvaluation[]): void {
  for (const { close } of evaluations) close();
}

async function openFile(
  host: AgentHost,
  subject: Subject,
  file: string,
  evalSetName: string,
  { numRuns, criteria, initialSession, options }: FileEvaluationOptions,
): Promise<AgentEvaluation> {
  const beside = await configBeside(host, file, criteria);
  const testFile = await testFileOf(host, file);
  const warnings = [...checkSamples(testFile, beside), ...turnWarnings(beside, options)];
  if (options.strict === true && warnings.length > 0) throw strictErrorOf(warnings);
  const evalSet = evalSetOf(testFile, initialSession, evalSetName);
  const plan: Plan = { evalSet, evalSetName, config: beside.config };
  const userSimulator = { ...beside.userSimulator, ...options.userSimulator };
  const names = { evalSet: file, config: beside.name };
  const evaluation = await naming(names, () =>
    checkedEvaluation(subject, plan, numRuns, { ...options, userSimulator }),
  );
  const scoring = async (score: () => Promise<EvalSetResult>): Promise<EvalSetResult> => {
    const result = await naming(names, score);
    nameSet(result, evalSetName);
    if (warnings.length > 0) result.warnings = [...(result.warnings ?? []), ...warnings];
    return result;
  };
  const run = async (): Promise<AgentRuns> => {
    const runs = await naming(names, evaluation.run);
    return {
      ...runs,
      score: (found) => scoring(() => runs.score(found)),
      scoreAlone: () => scoring(runs.scoreAlone),
    };
  };
  const usersIn = Object.keys(beside.userSimulator).length > 0 ? beside.name : undefined;
  return { ...evaluation, run, usersIn };
}

/** That simulated conversations end earlier than a config asks for, unless the options say when they end. */
function turnWarnings({ simulatorWarning, name }: Beside, { userSimulator }: AgentEvaluationOptions): Mistake[] {
  if (simulatorWarning === undefined || userSimulator?.maxAllowedInvocations !== undefined) return [];
  return [{ code: "limit_exceeded", message: simulatorWarning, path: name }];
}
