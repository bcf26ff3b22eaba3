/** The worker: holds the engine and the results of every run. */

import {
  AdkMetricsError,
  anthropicJudge,
  type EvalSetResult,
  evaluateStream,
  type EvaluatorOptions,
  geminiJudge,
  indexedDbCache,
  init,
  type Judge,
  ollamaJudge,
  openaiJudge,
  replayJudge,
  vertexJudge,
} from "adk-metrics/web";
import { expose, transfer } from "comlink";
import type { Engine, Job, JudgeChoice, Outcome, Problem, RunEvent } from "./protocol.js";
import { present, Run } from "./runs.js";

const ready = init();
const runs = new Map<string, Run>();
let underWay: AbortController | undefined;

const engine: Engine = {
  run: (job, on) =>
    outcomeOf(async () => {
      underWay?.abort();
      const controller = new AbortController();
      underWay = controller;
      const sets = [];
      for (const [set, { evalSet, actual }] of job.pairs.entries()) {
        const judge = judgeOf(job.judge);
        const source = {
          evalSet: evalSet.bytes,
          evalSetName: evalSet.name.replace(/(\.evalset|\.test)?\.json$/, ""),
          actual: actual.bytes,
          config: job.config,
          ...present({ dialect: job.dialect, earlyStop: job.earlyStop }),
        };
        const results = evaluateStream({
          ...source,
          signal: controller.signal,
          onProgress: (progress) => on({ kind: "progress", set, progress }),
          ...optionsOf(job),
          ...present({ judge }),
        });
        const result = await drained(results, set, on);
        sets.push({ name: evalSet.name, result, source });
        if (controller.signal.aborted) break;
      }
      const run = new Run(crypto.randomUUID(), sets);
      runs.set(run.id, run);
      const summary = run.summary();
      const { cases, metrics } = summary.verdicts;
      return transfer(summary, [summary.scores.buffer, cases.buffer, metrics.buffer]);
    }),

  cancel: () => underWay?.abort(),

  withThresholds: (id, thresholds) =>
    outcomeOf(async () => {
      const verdicts = found(id).setThresholds(thresholds);
      return transfer(verdicts, [verdicts.cases.buffer, verdicts.metrics.buffer]);
    }),

  caseAt: (id, row) =>
    outcomeOf(async () => {
      const result = found(id).caseAt(row);
      if (result === undefined) throw new RangeError(`The run has no case ${row}.`);
      return result;
    }),

  questionsAt: (id, row) => outcomeOf(() => found(id).questionsAt(row)),

  matchingsAt: (id, row) => outcomeOf(() => found(id).matchingsAt(row)),
};

function optionsOf(job: Job): EvaluatorOptions {
  const { concurrency, budget, cacheName } = job;
  const cache = cacheName === undefined ? undefined : indexedDbCache(cacheName);
  return present({ concurrency, budget, cache });
}

function judgeOf(choice: JudgeChoice): Judge | undefined {
  switch (choice.kind) {
    case "recording":
      return replayJudge(choice.text);
    case "gemini":
      return geminiJudge({ apiKey: choice.apiKey ?? "", ...settingsOf(choice) });
    case "anthropic":
      return anthropicJudge({ apiKey: choice.apiKey ?? "", ...settingsOf(choice) });
    case "openai":
      return openaiJudge(settingsOf(choice));
    case "ollama":
      return ollamaJudge(settingsOf(choice));
    case "vertex": {
      const { project, location, accessToken } = choice;
      return vertexJudge({ ...settingsOf(choice), ...present({ project, location, accessToken }) });
    }
    default:
      return undefined;
  }
}

function settingsOf({ model, baseUrl, apiKey }: { model?: string; baseUrl?: string; apiKey?: string }) {
  return present({ model, baseUrl, apiKey });
}

async function drained(
  results: ReturnType<typeof evaluateStream>,
  set: number,
  on: (event: RunEvent) => void,
): Promise<EvalSetResult> {
  for (;;) {
    const { done, value } = await results.next();
    if (done === true) return value;
    on({ kind: "case", set, evalId: value.evalId, finalEvalStatus: value.finalEvalStatus });
  }
}

function found(id: string): Run {
  const run = runs.get(id);
  if (run === undefined) throw new RangeError("This run is no longer there. Start it again.");
  return run;
}

async function outcomeOf<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    await ready;
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
}

function problemOf(error: unknown): Problem {
  if (error instanceof AdkMetricsError) {
    const { code, message, path, line, help } = error;
    return { code, message, ...present({ path, line, help }) };
  }
  return { code: "unexpected", message: error instanceof Error ? error.message : String(error) };
}

expose(engine);
