/** Estimates the calls of a run without making any. */

import { estimateCalls } from "adk-metrics/web";
import { readableActual } from "./actual.js";
import type { Estimate, EstimateRow, Job, Questions } from "./protocol.js";
import { baseName } from "./inspection.js";
import { definedProperties } from "./runs.js";

/**
 * Estimates the calls of a run.
 *
 * @throws The errors of `evaluate` for invalid inputs.
 */
export async function estimateOf(job: Job, signal: AbortSignal): Promise<Estimate> {
  const rows = new Map<string, EstimateRow>();
  for (const { evalSet, actual } of job.pairs) {
    const found = await estimateCalls({
      evalSet: evalSet.bytes,
      evalSetName: baseName(evalSet.name),
      actual: await readableActual(actual.bytes),
      config: job.config,
      signal,
      ...definedProperties({
        dialect: job.dialect,
        earlyStop: job.earlyStop,
        // The service is not asked.
        vertex: job.service === undefined ? undefined : { apiKey: "none" },
      }),
    });
    for (const { metricName: metric, model, least, most } of found) {
      const key = JSON.stringify([metric, model]);
      const known = rows.get(key);
      rows.set(key, {
        metric,
        ...definedProperties({ model }),
        min: sum(known?.min, least),
        max: sum(known?.max, most),
      });
    }
  }
  return { rows: [...rows.values()] };
}

function sum(known: Questions | undefined, { calls, characters }: Questions): Questions {
  return { calls: calls + (known?.calls ?? 0), characters: characters + (known?.characters ?? 0) };
}
