/** What is wrong with the inputs of an evaluation, and whom it would ask. */

import { type NoOptions, refuseOptions } from "./known-options.js";
import { call } from "./engine/call.js";
import { inTurns, Stretch } from "./engine/steps.js";
import { isObject, reading, unexpected } from "./engine/values.js";
import { warningOf } from "./errors.js";
import { noteHeader } from "./evaluate.js";
import { sectionOf } from "./journal/section.js";
import { definedProperties } from "./lists.js";
import { copyOf, planInSteps } from "./request-plan.js";
import { batchOf } from "./run/batching.js";
import { unpricedWarning } from "./run/prices.js";
import { Judges } from "./run/judges.js";
import { mayHaveRubrics, unscorableInSteps } from "./run/unscorable.js";
import { closeSession, openSession, type Session } from "./run/session.js";
import { unusedOptions, unusedPrices } from "./run/without-effect.js";
import type { EvalSetResult, EvaluateRequest, Mistake } from "./types.js";

/** A metric of checked inputs. */
export interface CheckedMetric {
  metricName: string;
  /** What its score has to reach; absent for an informational metric. */
  threshold?: number;
  /** Who judges it, if it asks a judge. */
  judge?: {
    /** Vertex AI's evaluation service, if the inputs have `vertex` and it scores the metric. */
    scoredBy: "judge" | "vertex";
    /** The model that is asked, unless the judge has one of its own. */
    model?: string;
    /** The models of a panel. */
    panel?: string[];
  };
}

/** What there is to know of inputs before anything is scored. */
export interface CheckedInputs {
  /** The metrics, those of one's own included. */
  metrics: CheckedMetric[];
  /** What may surprise in the inputs. */
  warnings: Mistake[];
}

const NO_CASES = { evalSetId: "none", evalCases: [] };

/**
 * Checks the inputs of an evaluation, whichever of them are there, and says which metrics the config has. Nothing is scored, no
 * judge is asked, and none is needed. If there is one, the warnings that `evaluate` gives before it asks are given too.
 * `AgentEvaluator` checks the models that play users.
 *
 * @throws {AdkMetricsError} as `evaluate` does, for inputs that cannot be used.
 *
 * @example
 * const { metrics } = await checkInputs({ config });
 * const asked = metrics.flatMap(({ judge }) => judge?.model ?? []);
 */
export async function checkInputs(inputs: Partial<EvaluateRequest>, options?: NoOptions): Promise<CheckedInputs> {
  refuseOptions(options);
  if (!isObject(inputs)) throw unexpected("an object", inputs, "request");
  const given = reading("request", () => definedProperties({ ...inputs })) as Partial<EvaluateRequest>;
  const request = reading("request", () => copyOf({ evalSet: NO_CASES, actual: { inferenceResults: [] }, ...given }));
  batchOf(request);
  sectionOf(request.journal);
  const stretch = new Stretch();
  const plan = await inTurns(planInSteps(request), stretch);
  const session = (await openSession(plan, stretch)) as Session;
  const { header } = session;
  const { metrics } = header;
  const checked = {} as EvalSetResult;
  try {
    if (given.evalSet === undefined) {
      header.warnings = header.warnings.filter(({ input, code }) => input !== "evalSet" && code !== "actual_missing");
    }
    const found = await inTurns(unscorableInSteps(plan, session), stretch);
    const actual = given.actual === undefined ? undefined : plan.actual;
    const unscorable = new Map([...found].filter(([name]) => !mayHaveRubrics(name, actual)));
    // A judge is not needed, but if there is one, it has to be able to answer.
    const judges = new Judges(plan.options, header, () => false);
    call(plan, () => judges.attach(session.run));
    const useless = unusedOptions(request, metrics) ?? unusedPrices(request.budget, judges.priced);
    const unused = header.total > 0 ? useless : undefined;
    const warnings = [...header.warnings, ...judges.warnings];
    noteHeader(checked, { header, warnings, unscorable, unused }, request, plan, true);
    const { names } = judges.unpriced;
    const unpriced = names.length === 0 ? [] : [unpricedWarning(names)];
    const ofJudges = [...judges.warnings, ...unpriced].map((warning) => warningOf(warning, plan));
    if (ofJudges.length > 0) checked.warnings = [...(checked.warnings ?? []), ...ofJudges];
    if (unused !== undefined) checked.warnings = [...(checked.warnings ?? []), unused];
  } finally {
    closeSession(session);
  }
  return {
    metrics: metrics.map(({ metricName, threshold, judge }) => ({
      metricName,
      ...definedProperties({
        threshold,
        judge: judge && {
          scoredBy: judge.vertex ? "vertex" : "judge",
          ...definedProperties({ model: judge.model, panel: judge.panel }),
        },
      }),
    })),
    warnings: checked.warnings ?? [],
  };
}
