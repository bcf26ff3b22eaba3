/** What the page needs of results from elsewhere, which may be damaged. */

import type { EvalSetResult } from "adk-metrics/web";

/** Whether the fields of results that the page shows besides scores have the right types. */
export function canBeShown({ judges, judgeUsage, simulatorUsage, warnings, evalCaseResults }: EvalSetResult): boolean {
  const isOptionalString = (value: unknown) => value === undefined || typeof value === "string";
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
  const isList = <T>(value: readonly T[] | undefined, isValidItem: (one: T) => boolean) =>
    value === undefined || (Array.isArray(value) && value.every((one) => isObject(one) && isValidItem(one)));
  const isUsage = (usage: object | undefined) => {
    if (usage === undefined || !isObject(usage)) return usage === undefined;
    const { models = [], ...amounts } = usage as { models?: unknown };
    return Array.isArray(models) && models.every(isOptionalString) && Object.values(amounts).every(Number.isFinite);
  };
  return (
    isList(judges, ({ model }) => isOptionalString(model)) &&
    isList(warnings, ({ message, help, path }) => [message, help, path].every(isOptionalString)) &&
    [judgeUsage, simulatorUsage].every(isUsage) &&
    evalCaseResults.every(
      ({ evalId, reason, evalMetricResultPerInvocation, overallEvalMetricResults }) =>
        typeof evalId === "string" &&
        isOptionalString(reason) &&
        Array.isArray(evalMetricResultPerInvocation) &&
        isList(overallEvalMetricResults, (metric) => isOptionalString(metric.reason)),
    )
  );
}
