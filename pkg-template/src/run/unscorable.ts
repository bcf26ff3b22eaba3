/** Metrics that can score none of the cases, whatever the agent does: it would go unnoticed that they decide nothing. */

import { call } from "../engine/call.js";
import type { Steps } from "../engine/steps.js";
import type { EngineError } from "../generated/contract.js";
import { isOpen, type RunPlan, type Session } from "./session.js";

/**
 * Why each metric that passes or fails can score none of the selected cases; without those that can score one. Nothing if the
 * engine was restarted on the way.
 */
export function* unscorableInSteps(plan: RunPlan, session: Session): Steps<Map<string, string>> {
  const { run, header } = session;
  const isSelected = yield* selectionInSteps(plan, session);
  const open = new Map(header.metrics.map(({ metricName, threshold }, at) => [at, { metricName, threshold, why: "" }]));
  for (const [at, { threshold }] of open) if (threshold === undefined) open.delete(at);
  for (let at = 0; open.size > 0; at += 1) {
    if (!isOpen(session)) {
      open.clear();
      break;
    }
    if (isSelected?.(at) === false) continue;
    const reasons = call(plan, () => run.unscorable(at));
    if (reasons.length === 0) break;
    for (const [metric, known] of open) {
      const why = reasons[metric];
      if (!why) open.delete(metric);
      else known.why = why;
    }
    yield;
  }
  return new Map([...open.values()].flatMap(({ metricName, why }) => (why === "" ? [] : [[metricName, why]])));
}

/** How many ids are looked up at a time. */
const IDS_AT_ONCE = 2 ** 12;

/** Says by its position whether a case is selected, also of the one after the last; nothing if all are. */
function* selectionInSteps(plan: RunPlan, session: Session): Steps<((at: number) => boolean) | undefined> {
  if (plan.evalIds === undefined) return undefined;
  const wanted = new Set<string>();
  for (const id of plan.evalIds) if (wanted.add(id).size % IDS_AT_ONCE === 0) yield;
  const selected: boolean[] = [];
  while (isOpen(session)) {
    const cases = JSON.parse(call(plan, () => session.run.casesToJs(selected.length))) as { evalId?: string }[];
    if (cases.length === 0) break;
    for (const { evalId = "" } of cases) selected.push(wanted.has(evalId));
    yield;
  }
  return (at) => selected[at] !== false;
}

/** The warning about a metric that can score none of the cases. */
export function unscorableWarning(name: string, why: string): EngineError {
  const reason = why.startsWith(`\`${name}\` `) ? `it ${why.slice(name.length + 3)}` : why;
  const message = `\`${name}\` can score none of the cases: ${reason}`;
  return { code: "invalid_input", message, path: `config: criteria.${name}`, help: HELP };
}

const HELP = "Add what the cases lack, or remove the metric";

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
