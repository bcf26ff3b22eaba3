/** The names that metrics go by. */

import { LEGACY_NAMES, PrebuiltMetrics } from "./generated/metrics.js";

/** Today's name of a metric that may go by ADK-TS's old one; any other name as it is. */
export function currentName(name: string): string {
  return Object.hasOwn(LEGACY_NAMES, name) ? (LEGACY_NAMES[name] as string) : name;
}

/** The name of a metric that may be written as the enum does (`RESPONSE_MATCH_SCORE`), or in ADK-TS's old way. */
export function canonicalName(name: string): string {
  return currentName(
    Object.hasOwn(PrebuiltMetrics, name) ? PrebuiltMetrics[name as keyof typeof PrebuiltMetrics] : name,
  );
}
