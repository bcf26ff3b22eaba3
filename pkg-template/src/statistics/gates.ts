/** Gates: what the runs of an agent have to reach, for CI and tests. */

import { reading, unexpected } from "../engine/values.js";
import { EvalStatus } from "../enums.js";
import { AdkMetricsError } from "../errors.js";
import { checkOptions } from "../known-options.js";
import { grouped } from "../lists.js";
import type { EvalCaseResult, EvalSetResult } from "../types.js";
import { mean, passHatK } from "./estimates.js";
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

/** What became of one gate. */
export interface GateOutcome {
  gate: "everyRun" | "minPassRate" | "minPassHat" | "allowFlaky";
  passed: boolean;
  /** What was found, what is needed, and by how much it is missed. */
  message: string;
}

/** What became of all gates. */
export interface GateReport {
  passed: boolean;
  gates: GateOutcome[];
}

const NAMES: readonly (keyof Gates)[] = ["minPassRate", "minPassHat", "allowFlaky"];
const MOST_NAMED = 5;

/**
 * Holds results against gates. Results with the same ids of evalset and case are runs of one case. A run that was not
 * evaluated counts as not passed, and where there is no result no gate passes.
 *
 * @throws {AdkMetricsError} `invalid_input` for what are no results, and gates that are not what their types say.
 *
 * @example
 * const { passed, gates } = checkGates(results, { minPassRate: 0.9 });
 * if (!passed) console.error(gates.map(({ message }) => message).join("\n"));
 */
export function checkGates(results: EvalSetResult | readonly EvalSetResult[], gates: Gates = {}): GateReport {
  checkGateOptions(gates);
  return reading("results", () => {
    const all = caseResultsOf(results);
    const cases = grouped(all, ({ evalSetId, evalId }) => JSON.stringify([evalSetId, evalId]));
    const { minPassRate, minPassHat = {}, allowFlaky = false } = gates;
    const outcomes: GateOutcome[] = [];
    if (minPassRate !== undefined) outcomes.push(passRateGate(all, minPassRate));
    for (const [k, least] of Object.entries(minPassHat)) outcomes.push(passHatGate(cases, Number(k), Number(least)));
    if (allowFlaky) outcomes.push(flakyGate(cases));
    if (outcomes.length === 0) outcomes.push(everyRunGate(all));
    return { passed: outcomes.every(({ passed }) => passed), gates: outcomes };
  });
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
  const message = `pass^${most} is about ${most} runs of each case, and each is run ${numRuns} times`;
  throw new AdkMetricsError("invalid_input", message, {
    path: "gates: minPassHat",
    help: `Set numRuns to ${most}, or more for a more exact estimate`,
  });
}

/** The gates that were not reached, a line each. */
export function gateLines({ gates }: GateReport): string[] {
  return gates.filter(({ passed }) => !passed).map(({ gate, message }) => `${gate}: ${message}.`);
}

function checkShare(share: unknown, path: string): void {
  if (typeof share === "number" && share >= 0 && share <= 1) return;
  throw unexpected("a number from 0 to 1, such as 0.9 for 90 %", share, path);
}

const hasPassed = ({ finalEvalStatus }: EvalCaseResult): boolean => finalEvalStatus === EvalStatus.PASSED;

/** `; 2 were not evaluated, which counts as not passed` */
function unevaluated(all: readonly EvalCaseResult[]): string {
  const missing = all.filter(({ finalEvalStatus }) => finalEvalStatus === EvalStatus.NOT_EVALUATED).length;
  return missing === 0
    ? ""
    : `; ${missing} ${missing === 1 ? "was" : "were"} not evaluated, which counts as not passed`;
}

const runs = (amount: number): string => `${amount} ${amount === 1 ? "run" : "runs"}`;

function everyRunGate(all: readonly EvalCaseResult[]): GateOutcome {
  const count = all.filter(hasPassed).length;
  return {
    gate: "everyRun",
    passed: all.length > 0 && count === all.length,
    message: `${count} of ${runs(all.length)} passed, and every run has to${unevaluated(all)}`,
  };
}

function passRateGate(all: readonly EvalCaseResult[], least: number): GateOutcome {
  const count = all.filter(hasPassed).length;
  // 0.9 of 10 comes out a little more than 9.
  const needed = Math.ceil(least * all.length - 1e-9);
  const missing = needed - count;
  const share = all.length === 0 ? "" : ` (${percentText(count / all.length)})`;
  const short = missing > 0 ? `, ${missing} too few` : "";
  return {
    gate: "minPassRate",
    passed: all.length > 0 && missing <= 0,
    message: `${count} of ${runs(all.length)} passed${share}; ${percentText(least)} takes ${needed}${short}${unevaluated(all)}`,
  };
}

function passHatGate(cases: readonly EvalCaseResult[][], k: number, least: number): GateOutcome {
  const few = cases.filter(({ length }) => length < k);
  if (few.length > 0 || cases.length === 0) {
    const why =
      cases.length === 0
        ? "there is no result"
        : `${few.length === 1 ? "a case was" : `${few.length} cases were`} run fewer than ${k} times: ${named(few)}`;
    return { gate: "minPassHat", passed: false, message: `pass^${k} cannot be said: ${why}` };
  }
  const found = mean([cases.map((all) => passHatK(all.filter(hasPassed).length, all.length, k))]);
  const passed = found >= least - 1e-9;
  const short = passed ? "" : `, ${shareText(least - found)} too little`;
  return {
    gate: "minPassHat",
    passed,
    message: `pass^${k} is ${shareText(found)}; ${shareText(least)} is needed${short}${unevaluated(cases.flat())}`,
  };
}

function flakyGate(cases: readonly EvalCaseResult[][]): GateOutcome {
  const never = cases.filter((all) => !all.some(hasPassed));
  const flaky = cases.length - never.length - cases.filter((all) => all.every(hasPassed)).length;
  const amount = `${never.length} of ${cases.length} ${cases.length === 1 ? "case" : "cases"}`;
  return {
    gate: "allowFlaky",
    passed: cases.length > 0 && never.length === 0,
    message: `${amount} passed in no run${never.length === 0 ? "" : `: ${named(never)}`}; ${flaky} in some of several`,
  };
}

function named(cases: readonly EvalCaseResult[][]): string {
  const names = cases.slice(0, MOST_NAMED).map(([first]) => String(first?.evalId).slice(0, 80));
  return `${names.join(", ")}${cases.length > MOST_NAMED ? ", …" : ""}`;
}

const percentText = (share: number): string => `${Number((100 * share).toFixed(1))} %`;
const shareText = (share: number): string => String(Number(share.toFixed(4)));
