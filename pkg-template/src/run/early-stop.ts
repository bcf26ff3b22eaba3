/** When votes stop: the option of users, and the engine's form of it. */

import { isObject, unexpected } from "../engine/values.js";
import type { RunOptions } from "../generated/contract.js";
import { checkKeys } from "../known-options.js";
import type { EarlyStop, VotePrior } from "../types.js";

/** @throws {AdkMetricsError} `invalid_input` for what says nothing of when votes stop. */
export function earlyStopOf(given: EarlyStop | undefined): Pick<RunOptions, "earlyStop" | "risk"> {
  if (given === undefined || given === true || given === "exact") return { earlyStop: true };
  if (given === false || given === "none") return { earlyStop: false };
  const path = "earlyStop";
  if (!isObject(given)) throw unexpected('true, false, "exact", "none" or { risk: 0.01 }', given, path);
  checkKeys(given, ["risk", "prior"], path);
  const { risk, prior } = given;
  if (!(typeof risk === "number" && risk > 0 && risk <= 0.5)) {
    throw unexpected("a number above 0, at most 0.5", risk, `${path}: risk`);
  }
  return { earlyStop: true, risk: { risk, ...(prior === undefined ? {} : { prior: checkedPrior(prior) }) } };
}

function checkedPrior(given: VotePrior): VotePrior {
  const path = "earlyStop: prior";
  if (!isObject(given)) throw unexpected("an object with `positive` and `negative`", given, path);
  const names = ["positive", "negative"] as const;
  checkKeys(given, names, path);
  const prior = { ...given };
  for (const name of names) {
    const votes: unknown = prior[name];
    if (!(typeof votes === "number" && votes > 0 && votes <= 1e6)) {
      throw unexpected("a number above 0, at most 1,000,000", votes, `${path}: ${name}`);
    }
  }
  return prior;
}
