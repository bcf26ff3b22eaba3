/** `--min-pass-rate`, `--min-pass-hat`, `--allow-flaky`: what has to be reached for the exit status to be 0. */

import { checkGates, type GateReport, type Gates } from "../statistics/gates.js";
import type { EvalSetResult } from "../types.js";
import type { Arguments } from "./arguments.js";
import { Mistake } from "./mistakes.js";
import { ExitStatus, note, noticeText, paint } from "./process.js";

/**
 * The gates that the arguments give; undefined without any.
 *
 * @throws {Mistake} for anything but a share, and for gates together with `--bail`.
 */
export function gatesOf(given: Arguments): Gates | undefined {
  const [rate, hats, allowFlaky] = [given.one("min-pass-rate"), given.all("min-pass-hat"), given.has("allow-flaky")];
  if (rate === undefined && hats.length === 0 && !allowFlaky) return undefined;
  const [first] = ["min-pass-rate", "min-pass-hat", "allow-flaky"].filter((name) => given.has(name));
  if (given.has("bail")) {
    throw new Mistake(`--bail and --${first} cannot be used together`, {
      help: `--bail ends the run at the first case that does not pass; --${first} needs all cases`,
    });
  }
  const minPassHat: Record<number, number> = {};
  for (const hat of hats) {
    const [, k = "", share = ""] = /^([1-9]\d{0,5})=(.+)$/.exec(hat) ?? [];
    if (k === "") {
      throw new Mistake(`--min-pass-hat cannot be \`${hat}\``, {
        help: "Expected a number of runs and the lowest probability that all of them pass: --min-pass-hat 3=0.8",
      });
    }
    if (minPassHat[Number(k)] !== undefined) throw new Mistake(`--min-pass-hat sets pass^${k} twice`);
    minPassHat[Number(k)] = shareOf("min-pass-hat", share, hat);
  }
  return {
    ...(rate === undefined ? {} : { minPassRate: shareOf("min-pass-rate", rate) }),
    ...(hats.length === 0 ? {} : { minPassHat }),
    ...(allowFlaky ? { allowFlaky } : {}),
  };
}

function shareOf(option: string, text: string, whole = text): number {
  const share = Number(text);
  if (/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) && share <= 1) return share;
  const percent = /^([\d.]+) ?%?$/.exec(text)?.[1];
  const meant = percent === undefined || Number(percent) > 100 ? "" : `; ${percent}% is ${Number(percent) / 100}`;
  throw new Mistake(`--${option} cannot be \`${whole}\``, { help: `Expected a number from 0 to 1${meant}` });
}

/**
 * How precise the pass rate is wanted to be; undefined if nothing says so.
 *
 * @throws {Mistake} for anything but a share up to a half.
 */
export function precisionOf(given: Arguments): number | undefined {
  const text = given.one("precision");
  if (text === undefined) return undefined;
  const precision = shareOf("precision", text);
  if (precision > 0 && precision <= 0.5) return precision;
  throw new Mistake(`--precision cannot be \`${text}\``, { help: "Expected a number above 0 and up to 0.5" });
}

/** @throws {Mistake} for a gate on more runs of each case than there will be. */
export function checkRuns({ minPassHat = {} }: Gates, numRuns: number): void {
  const most = Math.max(0, ...Object.keys(minPassHat).map(Number));
  if (most <= numRuns) return;
  const times = numRuns === 1 ? "once" : `${numRuns} times`;
  throw new Mistake(`--min-pass-hat ${most}=… needs ${most} runs of each case, but each is run ${times}`, {
    help: `Add --num-runs ${most}, or more for a more precise estimate`,
  });
}

const OPTIONS = { minPassRate: "--min-pass-rate", minPassHat: "--min-pass-hat", allowFlaky: "--allow-flaky" };

/** Says on stderr what was to be reached, and why it was not. */
export function sayNotReached(message: string): void {
  const text = { message, location: undefined, help: undefined };
  process.stderr.write(noticeText(paint(process.stderr, "red", "not reached:"), text));
}

/** Reports the outcome of each gate on stderr. */
export function gateStatus(results: readonly EvalSetResult[], gates: Gates): ExitStatus {
  return sayGates(checkGates(results, gates));
}

/** Reports the outcome of each gate on stderr. */
export function sayGates({ passed, gates: outcomes }: GateReport): ExitStatus {
  for (const outcome of outcomes) {
    const option = outcome.gate === "everyRun" ? "" : `${OPTIONS[outcome.gate]}: `;
    if (outcome.passed) note(`${option}${outcome.message}`);
    else sayNotReached(`${option}${outcome.message}`);
  }
  return passed ? ExitStatus.Passed : ExitStatus.Failed;
}
