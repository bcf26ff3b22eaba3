/** What is read of objects: only that is written for the engine. */

import { DEFAULT_CRITERIA } from "../generated/metrics.js";
import { READ_BY_EVERY_RUN, READS } from "../generated/reads.js";
import { allButIn, fieldsToWrite, type FieldsToWrite, mergedFields } from "./plain-json.js";

const known = new Map<string, FieldsToWrite>();

/** What a metric reads of a turn; nothing for one that may read everything. */
export function fieldsReadByMetric(metricName: string): FieldsToWrite | undefined {
  const fields = READS[metricName];
  return fields && remembered(metricName, () => fieldsToWrite(fields));
}

/** A config that is longer has settings that say more than the names of metrics. */
const LONGEST_CONFIG = 2 ** 16;

/**
 * What is read of an evalset, and of what an agent did: of turns the fields that the metrics of a config read, of the rest
 * all. Nothing if a metric may read everything.
 *
 * @param config A config as JSON; without one there are the default criteria.
 * @param custom The names of custom metrics, who are given everything.
 */
export function fieldsReadBy(config: Uint8Array | undefined, custom: readonly string[]): FieldsToWrite | undefined {
  const names = config === undefined ? Object.keys(DEFAULT_CRITERIA) : namesIn(config);
  if (names === undefined || names.some((name) => !Object.hasOwn(READS, name) || custom.includes(name))) {
    return undefined;
  }
  return remembered(JSON.stringify(names.sort()), () => {
    const ofTurn = fieldsToWrite(mergedFields([...READ_BY_EVERY_RUN, ...names.map((name) => READS[name] ?? {})]));
    return allButIn({
      evalCases: allButIn({ conversation: ofTurn }),
      evalCaseResults: allButIn({ evalMetricResultPerInvocation: allButIn({ actualInvocation: ofTurn }) }),
      inferenceResults: allButIn({ inferences: ofTurn }),
      inferences: ofTurn,
    });
  });
}

/** The metrics of a config, if it says so plainly. */
function namesIn(config: Uint8Array): string[] | undefined {
  if (config.length > LONGEST_CONFIG) return undefined;
  try {
    const { criteria } = JSON.parse(new TextDecoder().decode(config)) as { criteria?: object };
    return criteria === undefined ? undefined : Object.keys(criteria);
  } catch {
    return undefined;
  }
}

function remembered(key: string, make: () => FieldsToWrite): FieldsToWrite {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}
