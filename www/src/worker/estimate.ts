/**
 * Estimates the calls of a run without making any: the run is made with a fake judge that answers at once and counts the
 * questions. So the numbers come from the engine itself.
 *
 * The maximum is reached if no vote is settled early; the minimum if all samples agree, on yes or on no, whichever
 * settles a vote with fewer calls. Retries cannot be predicted and are not included.
 */

import { evaluate, type Judge, type JudgeCache, type JudgeRequest } from "adk-metrics/web";
import type { Estimate, EstimateRow, Job } from "./protocol.js";
import { serviceStub } from "./judges.js";
import { baseName } from "./inspection.js";
import { definedProperties } from "./runs.js";
import { withoutTraceFormat } from "./traces.js";

const NO_CACHE: JudgeCache = { get: () => Promise.resolve(undefined), set: () => Promise.resolve() };

/**
 * Estimates the calls of a run.
 *
 * @throws The errors of `evaluate` for invalid inputs.
 */
export async function estimateOf(job: Job, signal: AbortSignal): Promise<Estimate> {
  const max = await countQuestions(job, "yes", true, signal);
  if (job.earlyStop === false || max.size === 0) return rowsOf(max, [max]);
  return rowsOf(max, [await countQuestions(job, "yes", false, signal), await countQuestions(job, "no", false, signal)]);
}

interface Count {
  calls: number;
  characters: number;
}

async function countQuestions(job: Job, answer: "yes" | "no", asksEverySample: boolean, signal: AbortSignal) {
  const counts = new Map<string, Count & { metric: string; model?: string }>();
  const record = (characters: number, metric: string, model?: string) => {
    const key = JSON.stringify([metric, model]);
    const entry = counts.get(key) ?? { metric, calls: 0, characters: 0, ...definedProperties({ model }) };
    entry.calls += 1;
    entry.characters += characters;
    counts.set(key, entry);
  };
  const judge: Judge = (request) => {
    const { metricName, model, prompt, system = "" } = request;
    record(prompt.length + system.length, metricName, model);
    return Promise.resolve(replyTo(request, answer));
  };
  const vertex = job.service === undefined ? undefined : serviceStub((metric) => record(0, metric));
  for (const { evalSet, actual } of job.pairs) {
    await evaluate({
      evalSet: evalSet.bytes,
      evalSetName: baseName(evalSet.name),
      actual: await withoutTraceFormat(actual.bytes),
      config: job.config,
      judge,
      cache: NO_CACHE,
      explain: "none",
      concurrency: 64,
      earlyStop: !asksEverySample,
      signal,
      ...definedProperties({ dialect: job.dialect, vertex }),
    });
  }
  return counts;
}

type Counts = Awaited<ReturnType<typeof countQuestions>>;

function rowsOf(max: Counts, others: readonly Counts[]): Estimate {
  const rows: EstimateRow[] = [...max].map(([key, { metric, model, calls, characters }]) => {
    const candidates = others.map((counts) => counts.get(key) ?? { calls: 0, characters: 0 });
    const [fewest] = [...candidates].sort((a, b) => a.calls - b.calls);
    return {
      metric,
      min: fewest ?? { calls, characters },
      max: { calls, characters },
      ...definedProperties({ model }),
    };
  });
  return { rows };
}

// ---- valid replies, generated from the response schema of a question

/** The reply of a judge that answers every question with yes, or every question with no. */
function replyTo(request: JudgeRequest, answer: "yes" | "no"): string {
  if (request.metricName === "hallucinations_v1" && request.purpose === "segment") {
    return JSON.stringify({ sentences: [blockOf(request.prompt, "response")] });
  }
  return JSON.stringify(answerFitting(request.responseSchema as Schema, answer));
}

interface Schema {
  type?: string;
  enum?: readonly unknown[];
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  minItems?: number;
}

/** A value valid under a schema. Yes is the highest score or the first of the allowed words; no is the opposite. */
function answerFitting(schema: Schema | undefined, answer: "yes" | "no"): unknown {
  const isNumeric = schema?.type === "number" || schema?.type === "integer";
  if (schema?.enum !== undefined) return schema.enum.at((answer === "yes") === isNumeric ? -1 : 0);
  switch (schema?.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, property]) => [key, answerFitting(property, answer)]),
      );
    case "array":
      return Array.from({ length: schema.minItems ?? 1 }, () => answerFitting(schema.items, answer));
    default:
      return "";
  }
}

/** The content of the last block with this name in a prompt. */
function blockOf(prompt: string, name: string): string {
  const [, marker] = /<data-([0-9a-f]{16}) name=/.exec(prompt) ?? [];
  const opening = `<data-${marker} name="${name}">\n`;
  const begin = prompt.lastIndexOf(opening);
  if (marker === undefined || begin < 0) return "";
  return prompt.slice(begin + opening.length, prompt.indexOf(`\n</data-${marker}>`, begin));
}
