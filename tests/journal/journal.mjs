// What tests of journals share: evaluations at random, with judges that fail at times, and results in every format.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evalSetOf, turn } from "../package/support/conversations.mjs";
import { importEntry } from "../package/support/package.mjs";

export { journalInMemory } from "../package/support/journals.mjs";

export const { AdkMetricsError, evaluate, fileJournal, memoryCache, MetricEvaluatorRegistry, resultsToAdkJson } =
  await importEntry();
const { REPORT_FORMATS } = await importEntry("./report");

/** Numbers from 0 to 1 that follow from a seed. */
export function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A folder that goes with the test. */
export function folderOf(t) {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-journal-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What is left of the journal of a shard that was killed: its beginning, up to the middle of a line. */
export function cutAtRandom(file, next) {
  const journal = readFileSync(file, "utf8");
  const [header, part] = journal.split("\n");
  const begun = header.length + part.length + 2;
  writeFileSync(file, journal.slice(0, begun + Math.floor(next() * (journal.length - begun))));
}

/** A result in every format. */
export function inEveryFormat(result) {
  const rendered = Object.entries(REPORT_FORMATS).map(([name, { render }]) => [name, text(render?.([result], {}))]);
  return { ...Object.fromEntries(rendered), json: resultsToAdkJson(result) };
}

/**
 * A result as JSON without which of several equal questions was asked, or asked again, and which found its reply: where calls
 * fail while others wait for the same reply, that depends on time.
 */
export function withoutCredits(result) {
  const isCredit = (key, value) => key === "retried" || (key === "cached" && value === true);
  return JSON.stringify(JSON.parse(resultsToAdkJson(result)), (key, value) =>
    isCredit(key, value) ? undefined : value,
  );
}

/**
 * Takes from the usage of a run that went on the calls that had failed before and got no reply: those of a plan fail once in
 * every process, and all of them count.
 */
export function forgetFailures({ judgeUsage }, entries) {
  const isAnswered = (key, place) => entries.some((one, at) => at > place && one.type === "reply" && one.key === key);
  const failed = entries.filter(({ type, key }, at) => type === "failure" && !isAnswered(key, at)).length;
  for (const count of failed === 0 ? [] : ["calls", "failed", "retried"]) judgeUsage[count] -= failed;
}

const text = (pieces) => (typeof pieces === "object" ? [...pieces].join("") : (pieces ?? ""));

const verdict = (isValid) =>
  JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: isValid ? "valid" : "invalid" });

/**
 * An evaluation at random: cases of which some ask the same, votes that differ by sample, calls that fail before they
 * succeed, a metric of the user's own. `requestOf` gives a request with counters of its own.
 */
export function planOf(seed) {
  const next = random(seed);
  const count = 2 + Math.floor(next() * 4);
  const questions = Array.from({ length: count }, (_, at) => (next() < 0.2 && at > 0 ? 0 : at));
  const conversations = questions.map((which, at) => [
    `case-${at}`,
    [turn(`question ${which}`, `answer ${which}`), ...(next() < 0.3 ? [turn(`more ${which}`, `also ${which}`)] : [])],
  ]);
  const evalSet = evalSetOf(Object.fromEntries(conversations), `set-${seed}`);
  const samples = [1, 3, 5][Math.floor(next() * 3)];
  const [faulty, hasCache] = [next() < 0.5, next() < 0.3];
  const concurrency = 1 + Math.floor(next() * 4);
  const criteria = {
    final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: samples } },
    response_match_score: 0.5,
    own: 0.5,
  };
  return { evalSet, criteria, faulty, repeats: new Set(questions).size < count, requestOf: () => requestOf() };

  function requestOf() {
    const asked = new Map();
    const failures = new Map();
    let computed = 0;
    const judge = async ({ prompt, sampleIndex }) => {
      const key = `${sampleIndex} ${prompt}`;
      const luck = random(seed + prompt.length * 31 + sampleIndex * 7 + prompt.charCodeAt(prompt.length - 40));
      luck();
      if (faulty && luck() < 0.3 && !failures.has(key)) {
        failures.set(key, true);
        throw Object.assign(new Error("busy"), { retryable: true, retryAfterMs: 0 });
      }
      await null;
      asked.set(key, (asked.get(key) ?? 0) + 1);
      return {
        text: verdict(luck() < 0.6),
        usage: { inputTokens: 10 + sampleIndex, outputTokens: 3 },
        modelVersion: `model-${sampleIndex % 2}`,
      };
    };
    const registry = new MetricEvaluatorRegistry();
    registry.registerEvaluator({ metricName: "own" }, (_metric, [{ userContent }]) => {
      computed += 1;
      const [{ text }] = userContent.parts;
      return { overallScore: text.charCodeAt(text.length - 1) % 2, reason: `${text}, of ${evalSet.evalSetId}` };
    });
    const request = {
      evalSet,
      actual: evalSet,
      criteria,
      registry,
      judge,
      concurrency,
      retry: { initialDelayMs: 0, maxDelayMs: 0 },
      ...(hasCache ? { cache: memoryCache() } : {}),
    };
    const calls = () => [...asked.values()].reduce((sum, times) => sum + times, 0);
    return { request, asked, calls, computed: () => computed };
  }
}
