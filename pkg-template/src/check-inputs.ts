/** What is wrong with the inputs of an evaluation, and whom it would ask. */

import { inTurns, Stretch } from "./engine/steps.js";
import { isObject, reading, unexpected } from "./engine/values.js";
import { warningOf } from "./errors.js";
import { definedProperties } from "./lists.js";
import { copyOf, planInSteps } from "./request-plan.js";
import { closeSession, openSession, type Session } from "./run/session.js";
import type { EvaluateRequest, Mistake } from "./types.js";

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
 * Says what is wrong with the inputs of an evaluation, whichever of them are there, and which metrics the config has. Nothing is
 * scored, nobody is asked, and no judge is needed.
 *
 * @throws {AdkMetricsError} as `evaluate` does, for inputs that cannot be used.
 *
 * @example
 * const { metrics } = await checkInputs({ config });
 * const asked = metrics.flatMap(({ judge }) => judge?.model ?? []);
 */
export async function checkInputs(inputs: Partial<EvaluateRequest>): Promise<CheckedInputs> {
  if (!isObject(inputs)) throw unexpected("an object", inputs, "request");
  const given = reading("request", () => definedProperties({ ...inputs })) as Partial<EvaluateRequest>;
  // Without a config there is nothing to score, rather than ADK's default criteria.
  const config = given.config === undefined && given.criteria === undefined ? { criteria: {}, countOnly: true } : {};
  const request = reading("request", () =>
    copyOf({ evalSet: NO_CASES, actual: { inferenceResults: [] }, ...config, ...given }),
  );
  const stretch = new Stretch();
  const plan = await inTurns(planInSteps(request), stretch);
  const session = (await openSession(plan, stretch)) as Session;
  closeSession(session);
  const { metrics, warnings } = session.header;
  const ofInputs = given.evalSet === undefined ? warnings.filter(({ input }) => input !== "evalSet") : warnings;
  return {
    metrics: metrics.map(({ metricName, threshold, judge }) => ({
      metricName,
      ...definedProperties({
        threshold,
        judge: judge && {
          scoredBy: judge.vertex ? "vertex" : "judge",
          ...definedProperties({ model: judge.model, panel: judge.panel?.length > 0 ? judge.panel : undefined }),
        },
      }),
    })),
    warnings: ofInputs.map((warning) => warningOf(warning, plan)),
  };
}
