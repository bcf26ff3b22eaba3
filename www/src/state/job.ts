/** The run defined by the files, the config and the judge. */

import { computed } from "@preact/signals";
import type { EarlyStop, Prices } from "adk-metrics";
import { engine } from "../worker/client.js";
import type { Job, NamedFile, Outcome, Pair } from "../worker/protocol.js";
import { activeConfig } from "./active-config.js";
import { configText, DEFAULT_CONFIG, plainConfig } from "./config.js";
import { matching, pathOf, type Source, sourceOf } from "./inputs.js";
import type { Match } from "./matching.js";
import {
  askedModels,
  asksModel,
  judgeChoice,
  judgeKind,
  missing,
  prices,
  type RunOptions,
  runOptions,
  serviceChoice,
} from "./judge.js";

/** The names of the reply caches in this browser. The browser's own model has a cache of its own. */
export const CACHE_NAMES = { servers: "adk-metrics-replies", browser: "adk-metrics-replies-browser" } as const;

/** The pairs that can be scored. */
export const scorable = computed<readonly Match[]>(() =>
  matching.value.pairs.filter((pair) => missingPartOf(pair) === undefined),
);

/** Why the other pairs cannot be scored yet: each is left out. */
export const leftOut = computed<readonly string[]>(() =>
  matching.value.pairs.flatMap((pair) => missingPartOf(pair) ?? []),
);

/** How many cases can be scored. */
export const caseCount = computed<number>(() =>
  scorable.value.reduce((sum, { expected, actual }) => {
    return sum + (sourceOf(expected === "own" ? actual : expected)?.info?.evalIds.length || 1);
  }, 0),
);

/** What a pair lacks, in words; undefined if it can be scored. */
function missingPartOf({ expected, actual }: Match): string | undefined {
  const evalSet = expected === "own" ? undefined : sourceOf(expected);
  const run = sourceOf(actual);
  const unreadable = [evalSet, run].find((source) => source?.info?.problem !== undefined);
  if (unreadable !== undefined) return `${unreadable.name} cannot be read.`;
  return run === undefined ? `${evalSet?.name ?? "An evalset"} has no agent run yet.` : undefined;
}

/** What has to be done before a run is possible; undefined if nothing. */
export const runBlocker = computed<{ screen: "files" | "criteria"; what: string } | undefined>(() => {
  const { pairs } = matching.value;
  if (pairs.length === 0) return { screen: "files", what: "Add an evalset, and what the agent did on it." };
  const [first] = leftOut.value;
  if (scorable.value.length === 0 && first !== undefined) return { screen: "files", what: first };
  return missing.value === undefined ? undefined : { screen: "criteria", what: missing.value };
});

/** The prices of the models that will be called, as far as valid numbers were entered. */
export const enteredPrices = computed<Readonly<Record<string, Prices>>>(() => {
  const entries = askedModels.value.flatMap((model) => {
    const { input = "", output = "" } = prices.value[model] ?? {};
    const [inputPerMillion, outputPerMillion] = [Number(input.replace(",", ".")), Number(output.replace(",", "."))];
    if (input.trim() === "" || output.trim() === "" || !(inputPerMillion >= 0) || !(outputPerMillion >= 0)) return [];
    return [[model, { inputPerMillion, outputPerMillion }] as const];
  });
  return Object.fromEntries(entries);
});

/** The run for the current inputs and settings. */
export async function currentJob(): Promise<Outcome<Job>> {
  const pairs: Pair[] = [];
  for (const { expected, actual } of scorable.value) {
    const done = sourceOf(actual);
    if (done === undefined) continue;
    if (expected === "own") {
      const evalSet = await engine.expectedOf(withoutInfo(done));
      if (!evalSet.ok) return evalSet;
      pairs.push({ evalSet: evalSet.value, actual: withoutInfo(done) });
      continue;
    }
    const evalSet = sourceOf(expected);
    if (evalSet === undefined) continue;
    const ids = evalSet.info?.evalIds ?? [];
    pairs.push({
      evalSet: withoutInfo(evalSet),
      actual: withoutInfo(done),
      ...(ids.length === 0 ? {} : { evalIds: ids }),
    });
  }
  const { concurrency, dialect, maxCalls, maxCost, keepReplies } = runOptions.value;
  const kind = judgeKind.value;
  const judge = asksModel.value ? judgeChoice.value : ({ kind: "none" } as const);
  const service = serviceChoice.value;
  const isAsked = (judge.kind !== "none" && judge.kind !== "recording") || service !== undefined;
  const { length } = askedModels.value;
  const hasPrices = length > 0 && Object.keys(enteredPrices.value).length === length;
  const budget = {
    ...(hasPrices && isAsked ? { prices: enteredPrices.value } : {}),
    ...(maxCalls === undefined ? {} : { calls: maxCalls }),
    ...(maxCost === undefined || !hasPrices ? {} : { cost: maxCost }),
  };
  return {
    ok: true,
    value: {
      pairs,
      config: plainConfig.value,
      configName: configName(),
      judge,
      ...(service === undefined ? {} : { service }),
      dialect,
      earlyStop: earlyStopOf(runOptions.value),
      // A device answers one question at a time.
      concurrency: kind === "browser" ? 1 : concurrency,
      ...(Object.keys(budget).length === 0 ? {} : { budget }),
      ...(isAsked && keepReplies ? { cacheName: kind === "browser" ? CACHE_NAMES.browser : CACHE_NAMES.servers } : {}),
    },
  };
}

/** The file of the config, or what it is otherwise. */
function configName(): string {
  const file = sourceOf(activeConfig.value);
  if (file !== undefined) return pathOf(file);
  return configText.value === DEFAULT_CONFIG ? "google-adk’s default criteria" : "criteria of this page";
}

/** When a vote of samples ends. */
function earlyStopOf({ earlyStop, risk }: RunOptions): EarlyStop {
  return earlyStop && risk !== undefined ? { risk } : earlyStop;
}

function withoutInfo(source: Source): NamedFile {
  return { name: source.name, path: pathOf(source), bytes: source.bytes };
}
