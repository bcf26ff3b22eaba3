/**
 * What a run would ask, before anyone is asked: the run is made with a judge that answers at once without asking
 * anybody, and counts. How often is asked, and with what, is the engine's doing.
 *
 * The most is asked if no vote is settled early. The least is asked if all samples agree: on yes, or on no where that is
 * settled sooner. Calls that fail are made again, which nobody knows before.
 */

import { evaluate, type Judge, type JudgeCache, type JudgeRequest } from "adk-metrics/web";
import type { Estimate, EstimateRow, Job } from "./protocol.js";
import { serviceAnswering } from "./judges.js";
import { baseName } from "./reading.js";
import { present } from "./runs.js";
import { readable } from "./traces.js";

const FORGETFUL: JudgeCache = { get: () => Promise.resolve(undefined), set: () => Promise.resolve() };

/**
 * Counts the questions of a run.
 *
 * @throws What `evaluate` does for what cannot be used.
 */
export async function estimateOf(job: Job, signal: AbortSignal): Promise<Estimate> {
  const most = await counted(job, "yes", true, signal);
  if (job.earlyStop === false || most.size === 0) return rowsOf(most, [most]);
  return rowsOf(most, [await counted(job, "yes", false, signal), await counted(job, "no", false, signal)]);
}

interface Count {
  calls: number;
  characters: number;
}

async function counted(job: Job, say: "yes" | "no", everySample: boolean, signal: AbortSignal) {
  const counts = new Map<string, Count & { metric: string; model?: string }>();
  const note = (characters: number, metric: string, model?: string) => {
    const key = JSON.stringify([metric, model]);
    const known = counts.get(key) ?? { metric, calls: 0, characters: 0, ...present({ model }) };
    known.calls += 1;
    known.characters += characters;
    counts.set(key, known);
  };
  const judge: Judge = (request) => {
    const { metricName, model, prompt, system = "" } = request;
    note(prompt.length + system.length, metricName, model);
    return Promise.resolve(replyTo(request, say));
  };
  const vertex = job.service === undefined ? undefined : serviceAnswering((metric) => note(0, metric));
  for (const { evalSet, actual } of job.pairs) {
    await evaluate({
      evalSet: evalSet.bytes,
      evalSetName: baseName(evalSet.name),
      actual: await readable(actual.bytes),
      config: job.config,
      judge,
      cache: FORGETFUL,
      explain: "none",
      concurrency: 64,
      earlyStop: !everySample,
      signal,
      ...present({ dialect: job.dialect, vertex }),
    });
  }
  return counts;
}

type Counts = Awaited<ReturnType<typeof counted>>;

function rowsOf(most: Counts, others: readonly Counts[]): Estimate {
  const rows: EstimateRow[] = [...most].map(([key, { metric, model, calls, characters }]) => {
    const least = others.map((counts) => counts.get(key) ?? { calls: 0, characters: 0 });
    const [fewest] = [...least].sort((a, b) => a.calls - b.calls);
    return { metric, least: fewest ?? { calls, characters }, most: { calls, characters }, ...present({ model }) };
  });
  return { rows };
}

// ---- replies that can be read, by the schema that comes with the question

/** A reply as a judge would give it who says yes, or no, to everything. */
function replyTo(request: JudgeRequest, say: "yes" | "no"): string {
  if (request.metricName === "hallucinations_v1" && request.purpose === "segment") {
    return JSON.stringify({ sentences: [blockOf(request.prompt, "response")] });
  }
  return JSON.stringify(instanceOf(request.responseSchema as Schema, say));
}

interface Schema {
  type?: string;
  enum?: readonly unknown[];
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  minItems?: number;
}

/** Something that fits a schema: the highest score or the first of the allowed words for yes, the other end for no. */
function instanceOf(schema: Schema | undefined, say: "yes" | "no"): unknown {
  const isScore = schema?.type === "number" || schema?.type === "integer";
  if (schema?.enum !== undefined) return schema.enum.at((say === "yes") === isScore ? -1 : 0);
  switch (schema?.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, property]) => [key, instanceOf(property, say)]),
      );
    case "array":
      return Array.from({ length: schema.minItems ?? 1 }, () => instanceOf(schema.items, say));
    default:
      return "";
  }
}

/** What the last block of a name holds. */
function blockOf(prompt: string, name: string): string {
  const [, marker] = /<data-([0-9a-f]{16}) name=/.exec(prompt) ?? [];
  const opening = `<data-${marker} name="${name}">\n`;
  const begin = prompt.lastIndexOf(opening);
  if (marker === undefined || begin < 0) return "";
  return prompt.slice(begin + opening.length, prompt.indexOf(`\n</data-${marker}>`, begin));
}
