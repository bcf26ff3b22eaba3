/** The run that the files, the config and the judge come to. */

import { computed } from "@preact/signals";
import type { Prices } from "adk-metrics";
import { engine } from "../worker/client.js";
import type { Job, NamedFile, Outcome, Pair } from "../worker/protocol.js";
import { plainConfig } from "./config.js";
import { matching, sourceOf } from "./inputs.js";
import { askedModels, asksModel, judgeChoice, judgeKind, missing, prices, runOptions, serviceChoice } from "./judge.js";

/** Names the replies that are kept in this browser. Two judges that are no server have replies of their own. */
export const REPLIES = { servers: "adk-metrics-replies", browser: "adk-metrics-replies-browser" } as const;

/** What has to be done before there can be a run; absent if nothing. */
export const obstacle = computed<{ screen: "files" | "criteria"; what: string } | undefined>(() => {
  const { pairs } = matching.value;
  if (pairs.length === 0) return { screen: "files", what: "Add an evalset, and what the agent did on it." };
  const open = pairs.find(({ actual }) => actual === undefined);
  if (open !== undefined) {
    const name = open.expected === "own" ? "" : sourceOf(open.expected)?.name;
    return { screen: "files", what: `Say what the agent did on ${name}.` };
  }
  const files = pairs.flatMap(({ expected, actual }) => [expected === "own" ? undefined : expected, actual]);
  const bad = files.map(sourceOf).find((source) => source?.facts?.problem !== undefined);
  if (bad !== undefined) return { screen: "files", what: `${bad.name} cannot be read.` };
  return missing.value === undefined ? undefined : { screen: "criteria", what: missing.value };
});

/** The prices of the models that are asked, as far as they are numbers. */
export const givenPrices = computed<Readonly<Record<string, Prices>>>(() => {
  const entries = askedModels.value.flatMap((model) => {
    const { input = "", output = "" } = prices.value[model] ?? {};
    const [inputPerMillion, outputPerMillion] = [Number(input.replace(",", ".")), Number(output.replace(",", "."))];
    if (input.trim() === "" || output.trim() === "" || !(inputPerMillion >= 0) || !(outputPerMillion >= 0)) return [];
    return [[model, { inputPerMillion, outputPerMillion }] as const];
  });
  return Object.fromEntries(entries);
});

/** The run to make. */
export async function jobNow(): Promise<Outcome<Job>> {
  const pairs: Pair[] = [];
  for (const { expected, actual } of matching.value.pairs) {
    const done = sourceOf(actual);
    if (done === undefined) continue;
    if (expected === "own") {
      const made = await engine.expectedOf(plain(done));
      if (!made.ok) return made;
      pairs.push({ evalSet: made.value, actual: plain(done) });
      continue;
    }
    const evalSet = sourceOf(expected);
    if (evalSet === undefined) continue;
    const ids = evalSet.facts?.evalIds ?? [];
    pairs.push({ evalSet: plain(evalSet), actual: plain(done), ...(ids.length === 0 ? {} : { evalIds: ids }) });
  }
  const { concurrency, earlyStop, dialect, maxCalls, maxCost, keepReplies } = runOptions.value;
  const kind = judgeKind.value;
  const judge = asksModel.value ? judgeChoice.value : ({ kind: "none" } as const);
  const service = serviceChoice.value;
  const isAsked = (judge.kind !== "none" && judge.kind !== "recording") || service !== undefined;
  const { length } = askedModels.value;
  const hasPrices = length > 0 && Object.keys(givenPrices.value).length === length;
  const budget = {
    ...(hasPrices && isAsked ? { prices: givenPrices.value } : {}),
    ...(maxCalls === undefined ? {} : { calls: maxCalls }),
    ...(maxCost === undefined || !hasPrices ? {} : { cost: maxCost }),
  };
  return {
    ok: true,
    value: {
      pairs,
      config: plainConfig.value,
      judge,
      ...(service === undefined ? {} : { service }),
      dialect,
      earlyStop,
      // A device answers one question at a time.
      concurrency: kind === "browser" ? 1 : concurrency,
      ...(Object.keys(budget).length === 0 ? {} : { budget }),
      ...(isAsked && keepReplies ? { cacheName: kind === "browser" ? REPLIES.browser : REPLIES.servers } : {}),
    },
  };
}

function plain({ name, bytes }: NamedFile): NamedFile {
  return { name, bytes };
}
