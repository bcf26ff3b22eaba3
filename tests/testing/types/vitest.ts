// What TypeScript makes of the matchers in Vitest.

import { type AgentFunction, evaluate, type EvalSet } from "adk-metrics";
import { type AdkMatchers, adkMatchers } from "adk-metrics/vitest";
import { expect } from "vitest";

export async function check(agent: AgentFunction, evalSet: EvalSet) {
  const result = await evaluate({ evalSet, actual: evalSet });
  const nothing: void = expect(result).toPass();
  expect(result).not.toPass();
  await expect(evaluate({ evalSet, actual: evalSet })).resolves.toPass();

  const promise: Promise<void> = expect(agent).toPassEvalSet("weather.evalset.json");
  await expect(agent).toPassEvalSet(evalSet, { response_match_score: 0.8 }, { numRuns: 1, parallelism: 2 });
  await expect(agent).not.toPassEvalSet(new URL("weather.evalset.json", import.meta.url), undefined, {
    signal: AbortSignal.timeout(1000),
  });
  // @ts-expect-error: there is no number of evalsets
  await expect(agent).toPassEvalSet(3);
  // @ts-expect-error: thresholds are numbers
  await expect(agent).toPassEvalSet(evalSet, { response_match_score: "0.8" });
  // @ts-expect-error: there is no such option
  await expect(agent).toPassEvalSet(evalSet, {}, { runs: 2 });
  // @ts-expect-error: it takes nothing
  expect(result).toPass(1);

  expect.extend(adkMatchers);
  return [nothing, promise, {} as AdkMatchers] as const;
}
