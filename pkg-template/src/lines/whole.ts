/** The results of an evaluation from those of its parts, without holding their cases. */

import { ITSELF, type PartNotes } from "../evaluate.js";
import { warningOf } from "../errors.js";
import { joinedStamp } from "../judges/stamp.js";
import { append, sum } from "../lists.js";
import { failureWarnings, type MetricFailures } from "../run/failed-metrics.js";
import { addMissing, type MissingVerdicts, missingVerdictsWarnings } from "../run/missing-verdicts.js";
import { bothSilent, type Silence, silenceWarnings } from "../run/silence.js";
import { unscorableWarning } from "../run/unscorable.js";
import type { EvalSetResult, JudgeStamp, Mistake } from "../types.js";

/** What is known of a whole so far: all but the cases. */
export class Whole {
  #set: EvalSetResult | undefined;
  #results = 0;
  #silence: Silence | undefined = { turns: 0, withoutRun: 0 };
  #isItself = true;
  readonly #failures = new Map<string, MetricFailures>();
  readonly #missing = new Map<string, MissingVerdicts>();
  #unused: Mistake | undefined;
  #isUnused = true;
  /** Why metrics could score none of the cases so far. */
  #unscorable: ReadonlyMap<string, string> | undefined;
  readonly #warned = new Set<string>();

  /** Adds what is known of a part. @param results How many case results it has, if they are not in it. */
  add(part: EvalSetResult, notes: PartNotes | undefined, results = part.evalCaseResults.length): void {
    const { warnings, ...others } = part;
    const fresh = warnings?.filter((warning) => this.#isNew(warning)) ?? [];
    const bare: EvalSetResult = { ...others, evalCaseResults: [], ...(fresh.length > 0 ? { warnings: fresh } : {}) };
    this.#set = this.#set === undefined ? bare : joined([this.#set, bare]);
    this.#results += results;
    if (notes === undefined) return;
    const { silence, failures, missing, isItself, unused, unscorable } = notes;
    this.#silence = bothSilent(this.#silence, silence);
    this.#isItself &&= isItself;
    this.#isUnused &&= unused !== undefined;
    this.#unused ??= unused;
    if (unscorable !== undefined) this.#unscorable = inBoth(this.#unscorable ?? unscorable, unscorable);
    for (const [name, { cases, first }] of failures) {
      const known = this.#failures.get(name);
      this.#failures.set(name, { cases: (known?.cases ?? 0) + cases, first: known?.first ?? first });
    }
    addMissing(this.#missing, missing);
  }

  /** Adds a warning about all parts together. */
  warn(warning: Mistake): void {
    if (this.#set !== undefined && this.#isNew(warning)) {
      this.#set = { ...this.#set, warnings: [...(this.#set.warnings ?? []), warning] };
    }
  }

  /** What is found in many cases is reported for the first. */
  #isNew(warning: Mistake): boolean {
    const key = keyOf(warning);
    return !this.#warned.has(key) && this.#warned.add(key).has(key);
  }

  /** The results without cases; undefined if nothing was added. */
  get set(): EvalSetResult | undefined {
    const set = this.#set;
    if (set === undefined) return undefined;
    const itself = warningOf(ITSELF, { hasLines: () => false });
    const unscorable = Array.from(this.#unscorable ?? [], ([name, why]) => unscorableWarning(name, why));
    const more = [
      ...(this.#isItself && this.#results > 0 ? [itself] : []),
      ...unscorable.map((warning) => warningOf(warning, { hasLines: () => false })),
      ...(set.cancelled === true
        ? []
        : [
            ...silenceWarnings(this.#silence),
            ...failureWarnings(this.#failures, this.#results),
            ...missingVerdictsWarnings(this.#missing, this.#results),
          ]),
      ...(this.#isUnused && this.#unused !== undefined ? [this.#unused] : []),
    ];
    return more.length === 0 ? set : { ...set, warnings: [...(set.warnings ?? []), ...more] };
  }
}

/** What warnings have in common that say the same of several cases. */
function keyOf({ message, path }: Mistake): string {
  return JSON.stringify([message, path?.replaceAll(/\[\d+\]/g, "[]")]);
}

function inBoth(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...one].filter(([name]) => other.has(name)));
}

/** The results of an evalset, from those of its parts. */
export function joined([first, ...others]: readonly EvalSetResult[]): EvalSetResult {
  const all = { ...(first as EvalSetResult) };
  all.evalCaseResults = [...all.evalCaseResults];
  const warnings = [...(all.warnings ?? [])];
  const keys = new Set(warnings.map(keyOf));
  for (const part of others) {
    append(all.evalCaseResults, part.evalCaseResults);
    if (part.cancelled === true) all.cancelled = true;
    const fresh = part.warnings?.filter((warning) => !keys.has(keyOf(warning))) ?? [];
    warnings.push(...fresh);
    for (const warning of fresh) keys.add(keyOf(warning));
    if (part.judges !== undefined) all.judges = stampsOf([...(all.judges ?? []), ...part.judges]);
    if (part.judgeUsage !== undefined) all.judgeUsage = sum(all.judgeUsage, part.judgeUsage);
    if (part.simulatorUsage !== undefined) {
      const models = new Set([...(all.simulatorUsage?.models ?? []), ...part.simulatorUsage.models]);
      all.simulatorUsage = { ...sum(all.simulatorUsage, part.simulatorUsage), models: [...models] };
    }
  }
  if (warnings.length > 0) all.warnings = warnings;
  return all;
}

/** One stamp for each metric and judge, with the models that any of them names. */
function stampsOf(stamps: readonly JudgeStamp[]): JudgeStamp[] {
  const byJudge = new Map<string, JudgeStamp>();
  for (const stamp of stamps) {
    const key = JSON.stringify([stamp.metricName, stamp.scoredBy, stamp.model, stamp.function]);
    byJudge.set(key, joinedStamp(byJudge.get(key), stamp));
  }
  return [...byJudge.values()];
}
