// Results to look at in the playground: scored by the package, handed over in a link as its users share them.

import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { packageFolder } from "../package/support/package.mjs";
import { example } from "./support.mjs";

export const { evaluate, recordJudge, replayJudge, resultsToAdkJson } = await import(
  pathToFileURL(join(packageFolder, "dist/esm/node.js")).href
);

/** The results of one of the repository's examples, judged by its recording. */
export function scoredExample(name, files = [`${name}.evalset.json`, `${name}.actual.json`]) {
  const [evalSet, actual] = files.map((file) => readFileSync(example(name, file)));
  const recording = example(name, "judge.jsonl");
  return evaluate({
    evalSet,
    actual,
    config: readFileSync(example(name, "test_config.json")),
    ...(existsSync(recording) ? { judge: replayJudge(readFileSync(recording)) } : {}),
  });
}

/** Results of conversations: `{ evalId: [[expected turns], [actual turns]] }`. */
export function scored(conversations, criteria, options = {}) {
  const side = (at) => ({
    evalSetId: "made_here",
    evalCases: Object.entries(conversations).map(([evalId, turns]) => ({ evalId, conversation: turns[at] })),
  });
  return evaluate({ evalSet: JSON.stringify(side(0)), actual: JSON.stringify(side(1)), criteria, ...options });
}

/** A turn: what the user said, what was answered, which tools were called. */
export const turn = (user, answer, toolUses = []) => ({
  userContent: { parts: [{ text: user }] },
  finalResponse: { parts: [{ text: answer }] },
  intermediateData: { toolUses },
});

/** The fragment of an address that holds results. */
export function linkOf(results) {
  return `#run=${deflateRawSync(JSON.stringify([results].flat())).toString("base64url")}`;
}

/** A page that shows results. */
export async function showing(site, results, options = {}) {
  const page = await site.open({ ...options, at: linkOf(results) });
  await page.getByRole("heading", { level: 1, name: "Results" }).waitFor();
  return page;
}

/** A page that shows a case of results. */
export async function caseOf(site, results, name, options) {
  const page = await showing(site, results, options);
  await page.getByRole("rowheader").filter({ hasText: name }).getByRole("link").click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.locator(".turn").first().waitFor();
  return page;
}
