import { isObject, messageOf, unexpected } from "../engine/input.js";
import { AdkMetricsError } from "../errors.js";
import type { Judge, JudgeRequest } from "../types.js";
import { makeJudge } from "./judge.js";
import {
  fingerprint,
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordedCall,
  type RecordingHeader,
} from "./recording.js";
import { replyOf } from "./reply.js";
import { canonicalJson, canonicalRequest, requestOf } from "./request.js";

/** What {@link recordJudge} wrote: the text, its bytes, or its lines. */
export type Recording = string | Uint8Array | Iterable<string>;

/**
 * A judge that gives the replies of a recording, without asking anyone. A request is found by the question, the settings
 * and the number of the sample; where it was recorded for several turns, the reply of the same turn is given, else the
 * first.
 *
 * ```ts
 * const judge = replayJudge(await readFile("judge.jsonl"));
 * ```
 *
 * @throws {AdkMetricsError} `invalid_input` or `invalid_json`, with the line, for what is no recording. The judge itself
 * rejects with `replay_missing` for a request that was not recorded, and says how it differs from the one that was.
 */
export function replayJudge(recording: Recording): Judge {
  const { calls, model, functionName } = parse(recording);
  const byQuestion = groupBy(calls, ({ request }) => canonicalRequest(request));
  const byTurn = groupBy(calls, ({ request }) => turnOf(request));
  const identity = {
    label: `replay ${fingerprint(calls)}`,
    ...(model === undefined ? {} : { model }),
    ...(functionName === undefined ? {} : { functionName }),
  };
  return makeJudge(identity, async (request) => {
    const same = byQuestion.get(canonicalRequest(request));
    if (same === undefined) throw missing(request, byTurn.get(turnOf(request)) ?? [], calls);
    const turn = turnOf(request);
    const call = same.find((candidate) => turnOf(candidate.request) === turn) ?? (same[0] as RecordedCall);
    return replyOf(call.reply);
  });
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** What a request is about, whatever it says. */
function turnOf({ metricName, purpose, evalId, invocationIndex, stepIndex }: JudgeRequest): string {
  return JSON.stringify([metricName, purpose, evalId, invocationIndex, stepIndex]);
}

// ---- reading

interface Parsed {
  calls: RecordedCall[];
  model: string | undefined;
  functionName: string | undefined;
}

function parse(recording: Recording): Parsed {
  const calls: RecordedCall[] = [];
  const functions = new Set<string | undefined>();
  const models = new Set<string | undefined>();
  let number = 0;
  for (const line of linesOf(recording)) {
    number += 1;
    if (line.trim() === "") continue;
    const entry = parseLine(line, number);
    // Recordings may be joined: each begins with a header of its own.
    if (isHeader(entry)) {
      models.add(checkedHeader(entry, number).model);
      functions.add(typeof entry.function === "string" ? entry.function : undefined);
    } else if (models.size === 0) throw notRecording(number);
    else calls.push(callOf(entry, number));
  }
  if (models.size === 0) throw notRecording(1);
  const [model] = models;
  const [functionName] = functions;
  return {
    calls,
    model: models.size === 1 ? model : undefined,
    functionName: functions.size === 1 ? functionName : undefined,
  };
}

function* linesOf(recording: Recording): Generator<string> {
  if (typeof recording === "string") yield* recording.replace(/^\ufeff/, "").split("\n");
  else if (ArrayBuffer.isView(recording)) yield* linesOf(decode(recording));
  else if (isObject(recording) && typeof recording[Symbol.iterator] === "function") {
    for (const line of recording) {
      if (typeof line !== "string") throw unexpected("lines of text", line, "recording");
      yield* line.replace(/\n$/, "").split("\n");
    }
  } else throw unexpected("a recording as text, bytes or lines", recording, "recording");
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AdkMetricsError("invalid_json", "the recording is not UTF-8", { path: "recording", cause });
  }
}

function parseLine(line: string, number: number): object {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch (cause) {
    throw new AdkMetricsError("invalid_json", `the line is not JSON: ${messageOf(cause)}`, {
      path: "recording",
      line: number,
      help: line.trimStart().startsWith("{")
        ? "If it was cut off when recording ended, remove it"
        : "Pass what the recording holds, not its path; each of its lines is an object",
      cause,
    });
  }
  if (!isObject(entry)) throw notRecording(number);
  return entry;
}

function isHeader(entry: object): entry is RecordingHeader {
  return (entry as Partial<RecordingHeader>).format === RECORDING_FORMAT;
}

function checkedHeader(header: RecordingHeader, line: number): RecordingHeader {
  if (header.version === RECORDING_VERSION) return header;
  throw new AdkMetricsError("invalid_input", `the recording has version ${JSON.stringify(header.version)}`, {
    path: "recording",
    line,
    help: `This package reads version ${RECORDING_VERSION}`,
  });
}

function callOf(entry: object, line: number): RecordedCall {
  const { request, reply } = entry as Partial<RecordedCall>;
  try {
    return { request: requestOf(request as JudgeRequest), reply: replyOf(reply) };
  } catch (error) {
    const { message, path } = error as AdkMetricsError;
    const place = path === undefined ? "recording" : `recording: ${path}`;
    throw new AdkMetricsError("invalid_input", message, { path: place, line, cause: error });
  }
}

function notRecording(line: number): AdkMetricsError {
  return new AdkMetricsError("invalid_input", "this is no recording of a judge", {
    path: "recording",
    line,
    help: "Make one with recordJudge, or with --record on the command line",
  });
}

// ---- saying what is missing

function missing(
  request: JudgeRequest,
  ofTurn: readonly RecordedCall[],
  all: readonly RecordedCall[],
): AdkMetricsError {
  const { metricName, purpose, evalId, invocationIndex, stepIndex, sampleIndex } = request;
  const place = [
    ...(evalId === undefined ? [] : [`evalId ${JSON.stringify(evalId)}`]),
    `invocationIndex ${invocationIndex}`,
    `stepIndex ${stepIndex}`,
    `sampleIndex ${sampleIndex}`,
  ];
  const message = `the recording has no reply for ${metricName} (${purpose}), ${place.join(", ")}: `;
  return new AdkMetricsError("replay_missing", message + whyMissing(request, ofTurn, all), {
    retryable: false,
    help: "Record it anew with recordJudge, or with --record on the command line",
  });
}

function whyMissing(request: JudgeRequest, ofTurn: readonly RecordedCall[], all: readonly RecordedCall[]): string {
  const sameSample = ofTurn.find((call) => call.request.sampleIndex === request.sampleIndex);
  const nearest = sameSample ?? ofTurn[0];
  if (nearest !== undefined) {
    const difference = differenceOf(nearest.request, request);
    if (difference !== undefined) return difference;
    const samples = [...new Set(ofTurn.map((call) => call.request.sampleIndex))].sort((a, b) => a - b);
    return `the recording has ${samples.length === 1 ? "sample" : "samples"} ${samples.join(", ")} only`;
  }
  const { metricName, evalId } = request;
  if (!all.some((call) => call.request.metricName === metricName)) return "nothing is recorded for this metric";
  if (!all.some((call) => call.request.evalId === evalId)) return "nothing is recorded for this case";
  return "nothing is recorded for this turn";
}

/** What differs between two questions about the same turn, in words; nothing if they are the same. */
function differenceOf(recorded: JudgeRequest, asked: JudgeRequest): string | undefined {
  if (recorded.model !== asked.model) {
    return `the model is ${JSON.stringify(asked.model)}, recorded was ${JSON.stringify(recorded.model)}`;
  }
  const texts = [
    ["system prompt", recorded.system ?? "", asked.system ?? ""],
    ["prompt", withoutMarker(recorded.prompt), withoutMarker(asked.prompt)],
  ] as const;
  for (const [name, was, is] of texts) {
    if (was !== is) return `the ${name} changed ${firstDifference(was, is)}`;
  }
  const objects = [
    ["reply's schema", recorded.responseSchema, asked.responseSchema],
    ["generation config", recorded.generationConfig, asked.generationConfig],
  ] as const;
  for (const [name, was, is] of objects) {
    const [wasJson, isJson] = [canonicalJson(was ?? {}), canonicalJson(is ?? {})];
    if (wasJson !== isJson) return `the ${name} changed ${firstDifference(wasJson, isJson)}`;
  }
  return recorded.prompt === asked.prompt
    ? undefined
    : "something changed that the prompt is made of but does not show";
}

/**
 * A prompt with a constant for the marker of its blocks, which the first line introduces. A marker is a hash of the whole
 * prompt, so that it differs wherever anything does, and it occurs nowhere else in the prompt.
 */
function withoutMarker(prompt: string): string {
  const [, marker] = /^.*?<data-([0-9a-f]{16}) name=/.exec(prompt) ?? [];
  return marker === undefined ? prompt : prompt.replaceAll(marker, "x".repeat(marker.length));
}

/** Characters shown of two texts where they part. */
const SHOWN = 40;

/** Where two texts part: line and column, counted from 1, and what stands there in each. */
function firstDifference(was: string, is: string): string {
  let at = 0;
  while (at < was.length && at < is.length && was[at] === is[at]) at += 1;
  // Never in the middle of a character.
  if (at > 0 && /[\ud800-\udbff]/.test(was[at - 1] as string)) at -= 1;
  const before = was.slice(0, at);
  const line = before.split("\n").length;
  const column = at - (before.lastIndexOf("\n") + 1) + 1;
  return `at line ${line}, column ${column}: recorded ${excerpt(was, at)}, now ${excerpt(is, at)}`;
}

function excerpt(text: string, at: number): string {
  if (at >= text.length) return "its end";
  const rest = text.slice(at);
  return rest.length <= SHOWN ? JSON.stringify(rest) : `${JSON.stringify(rest.slice(0, SHOWN))}…`;
}
