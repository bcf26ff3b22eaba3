/** Gates: what the runs of an agent have to reach, for CI and tests. */

import { reading, unexpected } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { AdkMetricsError } from "../errors.js";
import { checkOptions, type NoOptions, refuseOptions } from "../known-options.js";
import { grouped } from "../lists.js";
import { undecidedIn } from "../run/missing-verdicts.js";
import type { EvalCaseResult, EvalSetResult } from "../types.js";
import { passHatK } from "./estimates.js";
import { caseResultsOf } from "./reliability.js";

/** What has to be reached. All that is given has to; without any, every run of every case has to pass. */
export interface Gates {
  /** The share of runs that have to pass, from 0 to 1. */
  minPassRate?: number;
  /** What pass^k has to be at least, by k: how likely k runs of a case all pass. Every case needs k runs. */
  minPassHat?: Readonly<Record<number, number>>;
  /** Whether it is enough that each case passes in one of its runs. */
  allowFlaky?: boolean;
}

/** The outcome of one gate. */
export interface GateOutcome {
  gate: "everyRun" | "minPassRate" | "minPassHat" | "allowFlaky";
  passed: boolean;
  /** What was found, what is needed, and by how much it is missed. */
  message: string;
}

/** The outcome of all gates. */
export interface GateReport {
  passed: boolean;
  gates: GateOutcome[];
}

const NAMES: readonly (keyof Gates)[] = ["minPassRate", "minPassHat", "allowFlaky"];
const MOST_NAMED = 5;

/**
 * Holds results against gates. Results with the same ids of evalset and case are runs of one case. A run that was not
 * evaluated counts as not passed, and so does one that passes without a verdict of a judge that was to be asked, or without a
 * metric of your own that failed. Without results no gate passes.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but results, and gates that are not what their types say.
 *
 * @example
 * const { passed, gates } = checkGates(results, { minPassRate: 0.9 });
 * if (!passed) console.error(gates.map(({ message }) => message).join("\n"));
 */
export function checkGates(
  results: EvalSetResult | readonly EvalSetResult[],
  gates: Gates = {},
  options?: NoOptions,
): GateReport {
  refuseOptions(options);
  checkGateOptions(gates);
  return reading("results", () => {
    const tally = new GateTally(gates);
    const cases = grouped(caseResultsOf(results), ({ evalSetId, evalId }) => JSON.stringify([evalSetId, evalId]));
    const statuses = gateStatuses(Array.isArray(results) ? results : [results]);
    for (const runs of cases) {
      tally.add(
        String(runs[0]?.evalId),
        runs.map((run) => statuses.get(run) ?? run.finalEvalStatus),
      );
    }
    return tally.report();
  });
}

/** How runs count for gates, where that is not their status: those that pass although a verdict is missing. */
export function gateStatuses(
  sets: readonly EvalSetResult[],
  failedMetrics?: Iterable<string>,
): Map<EvalCaseResult, EvalStatus> {
  const undecided = sets.flatMap((set) => [...undecidedIn(set, failedMetrics)]);
  const passed = undecided.filter(({ finalEvalStatus }) => finalEvalStatus === EvalStatus.PASSED);
  return new Map(passed.map((run) => [run, EvalStatus.NOT_EVALUATED]));
}

/** Holds cases against gates one by one, without keeping them. */
export class GateTally {
  readonly #gates: Gates;
  #cases = 0;
  #runs = 0;
  #passed = 0;
  #unevaluated = 0;
  /** The cases that passed in all runs, and in none. */
  #always = 0;
  readonly #never = new Named();
  readonly #hats: readonly { k: number; least: number; sum: number; few: Named }[];

  constructor(gates: Gates) {
    this.#gates = gates;
    this.#hats = Object.entries(gates.minPassHat ?? {}).map(([k, least]) => ({
      k: Number(k),
      least: Number(least),
      sum: 0,
      few: new Named(),
    }));
  }

  /** Adds a case with how its runs ended. */
  add(evalId: string, statuses: readonly EvalStatus[]): void {
    const passed = statuses.filter((status) => status === EvalStatus.PASSED).length;
    this.#cases += 1;
    this.#runs += statuses.length;
    this.#passed += passed;
    this.#unevaluated += statuses.filter((status) => status === EvalStatus.NOT_EVALUATED).length;
    if (passed === 0) this.#never.add(evalId);
    if (passed === statuses.length) this.#always += 1;
    for (const hat of this.#hats) {
      if (statuses.length < hat.k) hat.few.add(evalId);
      else hat.sum += passHatK(passed, statuses.length, hat.k);
    }
  }

  /** The outcome of the gates. */
  report(): GateReport {
    const { minPassRate, allowFlaky = false } = this.#gates;
    const outcomes: GateOutcome[] = [];
    if (minPassRate !== undefined) outcomes.push(this.#passRate(minPassRate));
    for (const hat of this.#hats) outcomes.push(this.#passHat(hat));
    if (allowFlaky) outcomes.push(this.#flaky());
    if (outcomes.length === 0) outcomes.push(this.#everyRun());
    if (this.#runs === 0) {
      for (const outcome of outcomes) Object.assign(outcome, { passed: false, message: "there are no results" });
    }
    return { passed: outcomes.every(({ passed }) => passed), gates: outcomes };
  }

  /** `; 2 lack a verdict, which counts as not passed` */
  get #unevaluatedText(): string {
    const missing = this.#unevaluated;
    return missing === 0
      ? ""
      : `; ${missing} ${missing === 1 ? "lacks" : "lack"} a verdict, which counts as not passed`;
  }

  #everyRun(): GateOutcome {
    return {
      gate: "everyRun",
      passed: this.#passed === this.#runs,
      message: `${this.#passed} of ${runs(this.#runs)} passed, and every run has to${this.#unevaluatedText}`,
    };
  }

  #passRate(least: number): GateOutcome {
    const [count, all] = [this.#passed, this.#runs];
    // 0.9 of 10 comes out a little more than 9.
    const needed = Math.ceil(least * all - 1e-9);
    const missing = needed - count;
    const short = missing > 0 ? `, ${missing} too few` : "";
    return {
      gate: "minPassRate",
      passed: missing <= 0,
      message: `${count} of ${runs(all)} passed (${percentText(count / all)}); ${percentText(least)} takes ${needed}${short}${this.#unevaluatedText}`,
    };
  }

  #passHat({ k, least, sum, few }: { k: number; least: number; sum: number; few: Named }): GateOutcome {
    if (few.count > 0) {
      const cases = few.count === 1 ? "a case was" : `${few.count} cases were`;
      const message = `pass^${k} cannot be estimated: ${cases} run fewer than ${k} times: ${few.text}`;
      return { gate: "minPassHat", passed: false, message };
    }
    const found = sum / this.#cases;
    const passed = found >= least - 1e-9;
    const short = passed ? "" : `, ${shareText(least - found)} too little`;
    return {
      gate: "minPassHat",
      passed,
      message: `pass^${k} is ${shareText(found)}; ${shareText(least)} is needed${short}${this.#unevaluatedText}`,
    };
  }

  #flaky(): GateOutcome {
    const never = this.#never.count;
    const flaky = this.#cases - never - this.#always;
    const amount = `${never} of ${this.#cases} ${this.#cases === 1 ? "case" : "cases"}`;
    return {
      gate: "allowFlaky",
      passed: never === 0,
      message: `${amount} never passed${never === 0 ? "" : `: ${this.#never.text}`}; ${flaky} passed in some runs only`,
    };
  }
}

/** Cases. The first ones are named. */
class Named {
  count = 0;
  readonly #names: string[] = [];

  add(evalId: string): void {
    this.count += 1;
    if (this.count <= MOST_NAMED) this.#names.push(evalId.slice(0, 80));
  }

  get text(): string {
    return `${this.#names.join(", ")}${this.count > MOST_NAMED ? ", …" : ""}`;
  }
}

/** @throws {AdkMetricsError} `invalid_input` for gates that are not what their types say. */
export function checkGateOptions(gates: Gates): void {
  checkOptions(gates, NAMES, { path: "gates" });
  reading("gates", () => {
    const { minPassRate, minPassHat, allowFlaky } = gates;
    if (minPassRate !== undefined) checkShare(minPassRate, "gates: minPassRate");
    if (allowFlaky !== undefined && typeof allowFlaky !== "boolean") {
      throw unexpected("true or false", allowFlaky, "gates: allowFlaky");
    }
    if (minPassHat === undefined) return;
    if (typeof minPassHat !== "object" || minPassHat === null) {
      throw unexpected("an object such as { 3: 0.8 }", minPassHat, "gates: minPassHat");
    }
    for (const [k, least] of Object.entries(minPassHat)) {
      if (!/^[1-9]\d{0,5}$/.test(k)) throw unexpected("whole numbers from 1 up as keys", k, "gates: minPassHat");
      checkShare(least, `gates: minPassHat: ${k}`);
    }
  });
}

/** @throws {AdkMetricsError} `invalid_input` for a gate on more runs of each case than there will be. */
export function checkGateRuns({ minPassHat = {} }: Gates, numRuns: number): void {
  const most = Math.max(0, ...Object.keys(minPassHat).map(Number));
  if (most <= numRuns) return;
  const times = numRuns === 1 ? "once" : `${numRuns} times`;
  const message = `pass^${most} needs ${most} runs of each case, but each is run ${times}`;
  throw new AdkMetricsError("invalid_input", message, {
    path: "gates: minPassHat",
    help: `Set numRuns to ${most}, or more for a more precise estimate`,
  });
}

/** The gates that were not reached, a line each. */
export function gateLines({ gates }: GateReport): string[] {
  return gates.filter(({ passed }) => !passed).map(({ gate, message }) => `${gate}: ${message}.`);
}

function checkShare(share: unknown, path: string): void {
  if (typeof share === "number" && share >= 0 && share <= 1) return;
  throw unexpected("a number from 0 to 1, such as 0.9 for 90%", share, path);
}

const runs = (amount: number): string => `${amount} ${amount === 1 ? "run" : "runs"}`;
const percentText = (share: number): string => `${Number((100 * share).toFixed(1))}%`;
const shareText = (share: number): string => String(Number(share.toFixed(4)));
