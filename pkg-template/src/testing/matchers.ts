/**
 * Matchers for Vitest, Jest and everything else with an `expect.extend` like theirs. They run and score nothing
 * themselves: `AgentEvaluator` does, and the report says what did not pass.
 *
 * What is imported from the package's own entries stays an import of them when it is built, so that matchers and tests
 * share one engine, one registry and one default judge, whichever entry the runtime picks.
 */

import {
  AdkMetricsError,
  checkGates,
  type GateReport,
  type Gates,
  type Agent,
  type AgentEvaluationOptions,
  AgentEvaluationError,
  AgentEvaluator,
  type Criteria,
  DEFAULT_CRITERIA,
  type EvalCaseResult,
  type EvalMetricResult,
  type EvalSet,
  type EvalSetResult,
  EvalStatus,
  type EvaluationResult,
} from "../index.js";
import { reading } from "../engine/values.js";
import { AGENT_OPTIONS, allInstead, optionsOf } from "../known-options.js";
import { type Paint, renderTable, type Style } from "../report/index.js";
import { failureMessage, failuresText, notPassedText } from "../report/failures.js";
import { count, defused, safeLine, visible } from "../report/text.js";
import { cancelledNotice, warningLines } from "../report/results.js";
import { definedProperties } from "../lists.js";

/** What `toPass` takes: what `evaluate`, `AgentEvaluator` or an evaluator gave. */
export type Passable = EvalSetResult | readonly EvalSetResult[] | EvalCaseResult | EvaluationResult;

/** How to run an agent in a test, and how to score it. */
export interface PassEvalSetOptions extends AgentEvaluationOptions {
  /** How often every case is run. A metric has to reach its threshold on average. Default: 2. */
  numRuns?: number;
  /** The session that cases of a file in the old schema begin with. */
  initialSessionFile?: string;
}

/** The matchers as `expect` has them; `R` is what a synchronous one gives. */
export interface AdkMatchers<R = void> {
  /**
   * Expects that results passed: every case of an evalset, a case, or the metric of an evaluator. A case passes as in
   * ADK: if no metric fails and at least one passes.
   *
   * ```ts
   * expect(await evaluate({ evalSet, actual, criteria })).toPass();
   * ```
   *
   * @param gates What has to be reached instead, such as `{ minPassRate: 0.9 }`; see `checkGates`.
   */
  toPass(gates?: Gates): R;
  /**
   * Runs an agent on an evalset and expects that every metric reaches its threshold in every case.
   *
   * ```ts
   * await expect(agent).toPassEvalSet("evals/weather.evalset.json");
   * ```
   *
   * @param evalSet The path or `file:` URL of an evalset, or of a folder with `*.test.json`; or an evalset itself.
   * @param criteria What the score of each metric has to reach. Default: what the `test_config.json` beside the file
   * says, else ADK's: a `tool_trajectory_avg_score` of 1 and a `response_match_score` of 0.8.
   */
  toPassEvalSet(
    evalSet: string | URL | EvalSet | Uint8Array,
    criteria?: Criteria,
    options?: PassEvalSetOptions,
  ): Promise<void>;
}

/** What is used of the `this` of a matcher. */
interface MatcherThis {
  readonly isNot?: boolean | undefined;
  readonly promise?: string | undefined;
  readonly utils?: MatcherUtils;
}

type ColourName = "EXPECTED_COLOR" | "RECEIVED_COLOR" | "DIM_COLOR" | "BOLD_WEIGHT";

type MatcherUtils = { [name in ColourName]?: (text: string) => string };

/** What a matcher found. */
export interface MatcherResult {
  pass: boolean;
  /** What to say if that is not what was expected. */
  message: () => string;
}

/** The matchers as `expect.extend` takes them. */
export type AdkMatcherFunctions = {
  /** What `expect(received).toPass()` calls. */
  toPass(received: unknown, gates?: Gates): MatcherResult;
  /** What `expect(received).toPassEvalSet(…)` calls. */
  toPassEvalSet(
    received: unknown,
    evalSet: unknown,
    criteria?: Criteria,
    options?: PassEvalSetOptions,
  ): Promise<MatcherResult>;
};

/**
 * The matchers, for `expect.extend(adkMatchers)`. `adk-metrics/vitest` and `adk-metrics/jest` do that when they are
 * imported.
 */
export const adkMatchers: AdkMatcherFunctions = {
  toPass(this: MatcherThis, received: unknown, gates: Gates = {}): MatcherResult {
    const hint = hintOf(this, "toPass", "result", "");
    const sets = explained(hint, () => reading("result", () => setsOf(received)));
    const cases = sets.flatMap(({ evalCaseResults }) => evalCaseResults);
    const failed = cases.filter(({ finalEvalStatus }) => finalEvalStatus !== EvalStatus.PASSED);
    const isCancelled = sets.some(({ cancelled }) => cancelled);
    const report = explained(hint, () => checkGates(sets, gates));
    const pass = report.passed && !isCancelled;
    if (pass) sayWarnings(sets);
    else if (this?.isNot === true) checkEvidence(hint, sets);
    return {
      pass,
      message: () => {
        if (pass) return messageOf(hint, [], renderTable(sets));
        const summary = [
          ...cancelledNotice(sets),
          ...(cases.length === 0 ? ["There are no cases."] : []),
          ...(failed.length > 0 ? [countText(failed, cases)] : []),
          ...gateLines(report).map(safeLine),
          ...warningLines(sets),
        ];
        return messageOf(hint, summary, failuresText(sets, { color: paintOf(this.utils) }));
      },
    };
  },

  async toPassEvalSet(
    this: MatcherThis,
    received: unknown,
    evalSet: unknown,
    criteria?: Criteria,
    options: PassEvalSetOptions = {},
  ): Promise<MatcherResult> {
    const hint = hintOf(this, "toPassEvalSet", "agent", "evalSet");
    try {
      const sets = await run(received as Agent, evalSet, criteria, options);
      return { pass: true, message: () => messageOf(hint, [], renderTable(sets)) };
    } catch (error) {
      if (!(error instanceof AgentEvaluationError)) throw withHint(hint, error);
      if (this?.isNot === true) checkEvidence(hint, error.results);
      return {
        pass: false,
        message: () => {
          const { summary, details } = failureMessage(error, { color: paintOf(this.utils) });
          return messageOf(hint, summary, details);
        },
      };
    }
  },
};

/**
 * What did not pass because it was not scored says nothing about what would have passed.
 *
 * @throws {AdkMetricsError} `invalid_input` if no metric was below its threshold and something failed or was not evaluated.
 */
function checkEvidence(hint: string, sets: readonly EvalSetResult[]): void {
  const cases = sets.flatMap(({ evalCaseResults }) => evalCaseResults);
  const isBelow = ({ overallEvalMetricResults }: EvalCaseResult): boolean =>
    overallEvalMetricResults.some(
      ({ evalStatus, score }) => evalStatus === EvalStatus.FAILED && typeof score === "number",
    );
  if (cases.some(isBelow)) return;
  const why = cases.find(({ finalEvalStatus }) => finalEvalStatus !== EvalStatus.PASSED);
  if (why === undefined) return;
  const metric = why.overallEvalMetricResults.find(({ reason }) => reason !== undefined);
  const [reason = ""] = (why.reason ?? metric?.reason ?? "nothing was evaluated").split("\n");
  throw withHint(
    hint,
    new AdkMetricsError("invalid_input", `no score was below its threshold, but case ${why.evalId} failed: ${reason}`, {
      help:
        why.reason === undefined
          ? "A metric without a score does not show that the case does not pass: fix the metric, or its judge"
          : "A run that failed does not show that the case does not pass: fix the agent",
    }),
  );
}

/** What the matcher takes. */
const KNOWN = [...AGENT_OPTIONS, "numRuns", "initialSessionFile"] as const;

/** What to do instead of giving an option of `AgentEvaluator` or `evaluate`. */
const INSTEAD = {
  ...allInstead(
    ["criteria", "config"],
    "Pass criteria as the second argument: toPassEvalSet(evalSet, criteria, options)",
  ),
  ...allInstead(["agent", "actual"], "Pass an agent to expect: expect(agent).toPassEvalSet(evalSet)"),
  evalSet: "Pass it as the first argument: toPassEvalSet(evalSet, criteria, options)",
  evalIds: "Pass an evalset that has only these cases",
  evalSetName: "Pass the result of readEvalSet(evalSet, name), which names an evalset in an old format",
  printDetailedResults: "A failed test shows what did not pass, turn by turn",
};

/** Runs an agent. It throws if it does not pass. */
async function run(
  agent: Agent,
  evalSet: unknown,
  criteria: Criteria | undefined,
  options: PassEvalSetOptions,
): Promise<EvalSetResult[]> {
  const { numRuns, initialSessionFile, ...others } = optionsOf(options, KNOWN, { instead: INSTEAD });
  if (reading("evalSet", () => isPath(evalSet))) {
    return AgentEvaluator.evaluate(agent, evalSet as string | URL, numRuns, initialSessionFile, {
      ...others,
      criteria,
    });
  }
  if (typeof evalSet !== "object" || evalSet === null) {
    throw new AdkMetricsError("invalid_input", "expected the path of an evalset or an evalset", {
      path: "evalSet",
      help: "Pass a path, a file: URL, an object or bytes",
    });
  }
  if (initialSessionFile !== undefined) {
    throw new AdkMetricsError("invalid_input", "`initialSessionFile` does not apply here", {
      path: "options: initialSessionFile",
      help: "It needs the path of an evalset; an evalset object contains its session",
    });
  }
  return [await AgentEvaluator.evaluateEvalSet(agent, evalSet, criteria ?? DEFAULT_CRITERIA, numRuns, false, others)];
}

const printed = new Set<string>();

/** Prints the warnings of results that pass, each once: an assertion that holds has no message. */
function sayWarnings(sets: readonly EvalSetResult[]): void {
  for (const line of warningLines(sets)) {
    if (!printed.has(line)) console.warn(`adk-metrics: ${line}`);
    printed.add(line);
  }
}

/** A path or a URL. Test environments have a `URL` of their own, so its class says nothing. */
function isPath(value: unknown): boolean {
  if (typeof value === "string") return true;
  return typeof value === "object" && value !== null && "href" in value && "protocol" in value;
}

/** @throws {AdkMetricsError} `invalid_input` for anything but a result. */
function setsOf(received: unknown): readonly EvalSetResult[] {
  const given = received as Passable | undefined | null;
  if (typeof given === "object" && given !== null) {
    if ("finalEvalStatus" in given) return [setOf(given)];
    if ("overallEvalStatus" in given) return [setOf(caseOf(given))];
  }
  // The report knows what is a set of results, and says so.
  failuresText(given as EvalSetResult | readonly EvalSetResult[]);
  return (Array.isArray(given) ? given : [given]) as readonly EvalSetResult[];
}

function setOf(result: EvalCaseResult): EvalSetResult {
  const { evalSetId } = result;
  return { evalSetId, evalCaseResults: [result] } as unknown as EvalSetResult;
}

/** What a single metric found in a conversation, as a case. */
function caseOf(result: EvaluationResult): EvalCaseResult {
  const { overallScore: score, overallEvalStatus: evalStatus, overallRubricScores, reason } = result;
  const resultOf = (
    rubricScores: EvaluationResult["overallRubricScores"],
    found: Omit<EvalMetricResult, "metricName">,
  ): EvalMetricResult => ({ ...found, metricName: "metric", ...(rubricScores ? { details: { rubricScores } } : {}) });
  const overall = {
    evalStatus,
    ...definedProperties({ score, reason }),
  };
  return {
    evalSetId: "conversation",
    evalId: "conversation",
    sessionId: "",
    finalEvalStatus: evalStatus,
    overallEvalMetricResults: [resultOf(overallRubricScores, overall)],
    evalMetricResultPerInvocation: result.perInvocationResults.map(
      ({ actualInvocation, expectedInvocation, rubricScores, ...found }) => ({
        actualInvocation,
        ...definedProperties({ expectedInvocation }),
        evalMetricResults: [resultOf(rubricScores, found)],
      }),
    ),
  };
}

/** The gates that were not reached, if any were given. */
function gateLines({ gates }: GateReport): string[] {
  return gates
    .filter(({ gate, passed }) => !passed && gate !== "everyRun")
    .map(({ gate, message }) => `${gate}: ${message}.`);
}

/** `2 of 5 cases did not pass.`; with the runs where cases have several. */
function countText(failed: readonly EvalCaseResult[], all: readonly EvalCaseResult[]): string {
  const casesOf = (results: readonly EvalCaseResult[]) =>
    new Set(results.map(({ evalSetId, evalId }) => JSON.stringify([evalSetId, evalId]))).size;
  const cases = casesOf(all);
  const runs = cases === all.length ? "" : ` (${failed.length} of ${count(all.length, "run")})`;
  return `${notPassedText(casesOf(failed), cases)}${runs}.`;
}

function messageOf(hint: string, summary: readonly string[], details: string): string {
  return [hint, summary.join("\n"), details.trimEnd()].filter((part) => part !== "").join("\n\n");
}

/** `expect(agent).not.toPassEvalSet(evalSet)` */
function hintOf({ isNot, promise, utils }: MatcherThis, name: string, received: string, expected: string): string {
  const paint = paintOf(utils);
  const dim = (text: string) => paint(text, ["dim"]);
  const modifiers = `${promise ? `.${promise}` : ""}${isNot ? ".not" : ""}`;
  const [actual, argument] = [paint(received, ["actual"]), expected && paint(expected, ["expected"])];
  return `${dim("expect(")}${actual}${dim(")")}${modifiers}.${name}${dim("(")}${argument}${dim(")")}`;
}

function explained<T>(hint: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw withHint(hint, error);
  }
}

/** An error with all that it says in its message: runners show no more. */
function withHint(hint: string, error: unknown): unknown {
  if (!(error instanceof AdkMetricsError)) return error;
  const { code, path } = error;
  return new AdkMetricsError(code, `${hint}\n\n${defused(visible(error.toString()))}`, {
    cause: error,
    ...definedProperties({ path }),
  });
}

const COLOURS: Partial<Record<Style, ColourName>> = {
  expected: "EXPECTED_COLOR",
  actual: "RECEIVED_COLOR",
  red: "RECEIVED_COLOR",
  dim: "DIM_COLOR",
  bold: "BOLD_WEIGHT",
};

/**
 * Colours as the runner uses them: what is expected in one, what was received in the other. Bun's functions of these names
 * quote what they are given, so they are not colours.
 */
function paintOf(utils: MatcherUtils = {}): Paint {
  return (text, styles) =>
    styles.reduce((painted, style) => {
      const name = COLOURS[style];
      const coloured = name && utils[name]?.(painted);
      return coloured !== undefined && withoutColours(coloured) === withoutColours(painted) ? coloured : painted;
    }, text);
}

function withoutColours(text: string): string {
  return text.replace(/\u001b\[[\d;]*m/g, "");
}
