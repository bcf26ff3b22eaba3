/** The judges that were asked when a journal was written: where it is complete, none is asked any more. */

import { AdkMetricsError } from "../errors.js";
import type { HeaderMetric } from "../generated/contract.js";
import type { JournaledBegin, JournalSection } from "../journal/section.js";
import { panelOf } from "../judges/panel.js";
import type { EvaluatorOptions, JournalEntry } from "../types.js";
import { type JudgeTarget, unsentBy } from "./target.js";
import { definedProperties } from "../lists.js";

/** Who was asked, as a journal has it. */
export interface JournaledJudge {
  metricName: string;
  label: string;
  provider: JudgeTarget["provider"] | undefined;
  model: string | undefined;
  functionName: string | undefined;
  retirement: string | undefined;
  unsent: string[];
  vertex: true | undefined;
  /** Whether its model was chosen instead of what the criteria name. */
  isChosen: true | undefined;
  panel: readonly string[] | undefined;
  settings: string | undefined;
}

/** Who is asked for a metric: without keys, and the same in every run. */
export function journaledJudge({ metricName, judge }: HeaderMetric, target: JudgeTarget): JournaledJudge {
  const { label, model, provider, functionName, retirement, panel, settings } = target;
  return {
    ...{ metricName, label, model, provider, functionName, retirement },
    unsent: judge === undefined ? [] : unsentBy(target, judge),
    vertex: judge?.vertex === true || undefined,
    isChosen: target.isChosen === true || undefined,
    panel,
    settings,
  };
}

/** The options that replace the judges, where journals are complete: each metric has the judge that scored it. */
export function standInsOf(entries: readonly JournalEntry[]): Pick<EvaluatorOptions, "vertex" | "judge"> {
  const begun = entries.filter((entry): entry is JournaledBegin => entry.type === "begin");
  const judges = begun.flatMap(({ inputs }) => (inputs.judge ?? []) as Pick<JournaledJudge, "vertex" | "panel">[]);
  const [panel, ...others] = judges.filter(({ vertex }) => vertex !== true).map((judge) => judge.panel);
  // A panel that judges every metric may have been named by the command instead of the criteria.
  const isNamed = panel !== undefined && others.every((other) => `${other}` === `${panel}`);
  return {
    ...(judges.some(({ vertex }) => vertex === true) ? { vertex: { apiKey: "none" } } : {}),
    ...(isNamed ? { judge: panelOf(panel.map((name) => ({ name, judge: nobody }))) } : {}),
  };
}

/** A judge that cannot be asked. */
export function nobody(): never {
  throw new Error("merging asks no judge");
}

/** Whom the metric asked when the journal was written. Nobody is asked any more. */
export function journaledTarget(journal: JournalSection, metric: string): JudgeTarget {
  const judges = (journal.inputsOf("scores")?.judge ?? []) as JournaledJudge[];
  const found = judges.find(({ metricName }) => metricName === metric);
  if (found === undefined)
    return noTarget(new AdkMetricsError("journal_failed", `no journal contains the judge of ${metric}`));
  const { label, model, provider, functionName, retirement, unsent, panel, isChosen } = found;
  return {
    ...noTarget(undefined),
    label,
    model,
    notSent: () => unsent,
    ...definedProperties({ provider, functionName, retirement, panel, isChosen }),
  };
}

/** Fails every call, with the reason why there is no judge. */
export function noTarget(reason: unknown): JudgeTarget {
  return { ask: () => Promise.reject(reason), label: "", cacheOwner: "", model: undefined };
}
