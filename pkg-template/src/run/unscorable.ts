/** Metrics that can score none of the cases, whatever the agent does: nobody would notice that they decide nothing. */

import { call } from "../engine/call.js";
import type { EngineError } from "../generated/contract.js";
import type { RunPlan, Session } from "./session.js";

/** Why each metric that passes or fails can score none of the selected cases; without those that can score one. */
export function unscorableIn(plan: RunPlan, { run, header }: Session): Map<string, string> {
  const isSelected = selectionOf(plan, run);
  const open = new Map(header.metrics.map(({ metricName, threshold }, at) => [at, { metricName, threshold, why: "" }]));
  for (const [at, { threshold }] of open) if (threshold === undefined) open.delete(at);
  for (let at = 0; open.size > 0; at += 1) {
    const reasons = call(plan, () => run.unscorable(at));
    if (reasons.length === 0) break;
    if (!isSelected(at)) continue;
    for (const [metric, known] of open) {
      const why = reasons[metric];
      if (!why) open.delete(metric);
      else known.why = why;
    }
  }
  return new Map([...open.values()].flatMap(({ metricName, why }) => (why === "" ? [] : [[metricName, why]])));
}

/** Says by its position whether a case is selected. */
function selectionOf(plan: RunPlan, run: Session["run"]): (at: number) => boolean {
  if (plan.evalIds === undefined) return () => true;
  const wanted = new Set(plan.evalIds);
  const selected: boolean[] = [];
  for (;;) {
    const cases = JSON.parse(call(plan, () => run.casesToJs(selected.length))) as { evalId?: string }[];
    if (cases.length === 0) return (at) => selected[at] === true;
    for (const { evalId = "" } of cases) selected.push(wanted.has(evalId));
  }
}

/** The warning about a metric that can score none of the cases. */
export function unscorableWarning(name: string, why: string): EngineError {
  const reason = why.startsWith(`\`${name}\` `) ? `it ${why.slice(name.length + 3)}` : why;
  const message = `\`${name}\` can score none of the cases: ${reason}`;
  return { code: "invalid_input", message, path: `config: criteria.${name}`, help: HELP };
}

const HELP = "Give the cases what is missing, or leave the metric out";

/** Whether a metric may be able to score a case all the same, by rubrics in the turns of what the agent did. */
export function mayHaveRubrics(metricName: string, actual: Uint8Array | undefined): boolean {
  return metricName.startsWith("rubric_based_") && (actual === undefined || hasBytes(actual, RUBRICS));
}

const RUBRICS = /* @__PURE__ */ new TextEncoder().encode('"rubrics"');

function hasBytes(text: Uint8Array, sought: Uint8Array): boolean {
  const first = sought[0] as number;
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1)) {
    if (sought.every((byte, offset) => text[at + offset] === byte)) return true;
  }
  return false;
}

/** The metric of such a warning. */
function metricOf({ message }: { message: string }): string | undefined {
  return /^`([^`]+)` can score none of the cases: /.exec(message)?.[1];
}

/**
 * The warnings of several evaluations without those about a metric that can score a case of another one: a config may be
 * for evalsets of several kinds.
 *
 * @param evaluations The warnings of each, and its metrics.
 */
export function withoutScoredElsewhere<Warning extends { message: string }>(
  evaluations: readonly { warnings: readonly Warning[]; metrics: readonly string[] }[],
): Warning[][] {
  const scored = new Set<string>();
  for (const { warnings, metrics } of evaluations) {
    const unscorable = new Set(warnings.map(metricOf));
    for (const name of metrics) if (!unscorable.has(name)) scored.add(name);
  }
  return evaluations.map(({ warnings }) => warnings.filter((warning) => !scored.has(metricOf(warning) ?? "")));
}
