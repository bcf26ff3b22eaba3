import { type NoOptions, refuseOptions } from "../known-options.js";
import { isObject, messageOf, reading, unexpected } from "../engine/values.js";
import { JsonLimitError, parseJson } from "../engine/json.js";
import { AdkMetricsError } from "../errors.js";
import { definedProperties, group } from "../lists.js";
import { looksLike } from "../looks-like.js";
import type { Judge, JudgeRequest } from "../types.js";
import { makeJudge, makesJudges } from "./judge.js";
import {
  fingerprint,
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordedCall,
  type RecordingHeader,
} from "./recording.js";
import { markReplayed, replyOf } from "./reply.js";
import { canonicalJson, canonicalRequest, requestOf } from "./request.js";

/** What {@link recordJudge} wrote: the text, its bytes, or its lines. */
export type Recording = string | Uint8Array | Iterable<string>;

/**
 * A judge that gives the replies of a recording, without asking anyone: they count as `cached`, and in no budget. A request is found by the question, the settings
 * and the number of the sample; where it was recorded for several turns, the reply of the same turn is given, else the
 * first.
 *
 * ```ts
 * const judge = replayJudge(await readFile("judge.jsonl"));
 * ```
 *
 * @throws {AdkMetricsError} `invalid_input` or `invalid_json`, with the line, for anything but a recording. The judge itself
 * rejects with `replay_missing` for a request that was not recorded, and says how it differs from the one that was.
 */
export const replayJudge = /* @__PURE__ */ makesJudges(
  "replayJudge",
  (recording: Recording, options?: NoOptions): Judge => {
    refuseOptions(options);
    const { calls, lines, model, functionName, panel } = reading("recording", () => parse(recording));
    const { byQuestion, byBoth, contradiction } = indexed(calls, lines);
    let known: Known | undefined;
    const identity = {
      label: `replay ${fingerprint(calls)}`,
      isReplay: true,
      ...definedProperties({ model, functionName, panel, contradiction }),
    };
    return makeJudge(identity, async (request) => {
      const question = canonicalRequest(request);
      const call = byBoth.get(question + turnOf(request)) ?? byQuestion.get(question);
      if (call === undefined) throw missing(request, (known ??= knownOf(calls)));
      return markReplayed(replyOf(call.reply));
    });
  },
);

/** The first call of each question, also by its turn; and what to know if a question has different replies in the same turn. */
interface Index {
  byQuestion: ReadonlyMap<string, RecordedCall>;
  byBoth: ReadonlyMap<string, RecordedCall>;
  contradiction: string | undefined;
}

function indexed(calls: readonly RecordedCall[], lines: readonly number[]): Index {
  const byQuestion = new Map<string, RecordedCall>();
  const byBoth = new Map<string, RecordedCall>();
  const lineOf = new Map<RecordedCall, number | undefined>();
  const different = new Set<string>();
  let example = "";
  for (const [at, call] of calls.entries()) {
    const question = canonicalRequest(call.request);
    const both = question + turnOf(call.request);
    const first = byBoth.get(both);
    lineOf.set(call, lines[at]);
    if (!byQuestion.has(question)) byQuestion.set(question, call);
    if (first === undefined) byBoth.set(both, call);
    else if (first.reply.text !== call.reply.text) {
      example ||= `line ${lineOf.get(first)} and line ${lines[at]}`;
      different.add(both);
    }
  }
  return { byQuestion, byBoth, contradiction: contradictionText(different.size, example) };
}

function contradictionText(count: number, example: string): string | undefined {
  if (count === 0) return undefined;
  const what = count === 1 ? "a question," : `${count} questions, for example`;
  return `the recording has different replies to ${what} in ${example}; the first is used`;
}

/** What a request is about, whatever it says. */
function turnOf({ metricName, purpose, evalId, invocationIndex, stepIndex }: JudgeRequest): string {
  return JSON.stringify([metricName, purpose, evalId, invocationIndex, stepIndex]);
}

// ---- reading

interface Parsed {
  calls: RecordedCall[];
  /** The lines of the calls. */
  lines: number[];
  model: string | undefined;
  functionName: string | undefined;
  panel: readonly string[] | undefined;
}

function parse(recording: Recording): Parsed {
  const calls: RecordedCall[] = [];
  const lines: number[] = [];
  const functions = new Set<string | undefined>();
  const models = new Set<string | undefined>();
  /** By their names as JSON. */
  const panels = new Map<string | undefined, readonly string[] | undefined>();
  let number = 0;
  for (const line of linesOf(recording)) {
    number += 1;
    if (line.trim() === "") continue;
    const entry = entryOf(line, number, models.size === 0 ? recording : undefined);
    // Recordings may be joined: each begins with a header of its own.
    if (isHeader(entry)) {
      models.add(checkedHeader(entry, number).model);
      panels.set(JSON.stringify(entry.panel), entry.panel);
      if (panels.size > 1) throw otherPanel(number);
      functions.add(typeof entry.function === "string" ? entry.function : undefined);
    } else if (models.size === 0) throw notRecording(number, entry);
    else {
      calls.push(callOf(entry, number));
      lines.push(number);
    }
  }
  if (models.size === 0) throw notRecording(1);
  const [model] = models;
  const [functionName] = functions;
  const [panel] = panels.values();
  return {
    calls,
    lines,
    model: models.size === 1 ? model : undefined,
    functionName: functions.size === 1 ? functionName : undefined,
    panel,
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

/** @param whole All of it, where it is not known to be a recording: it may be another file, in JSON of several lines. */
function entryOf(line: string, number: number, whole: Recording | undefined): object {
  try {
    return parseLine(line, number);
  } catch (error) {
    const text = whole === undefined || typeof whole === "string" ? whole : [...linesOf(whole)].join("\n");
    let other: unknown;
    try {
      other = parseJson(text ?? "");
    } catch {
      throw error;
    }
    throw notRecording(number, other);
  }
}

function parseLine(line: string, number: number): object {
  let entry: unknown;
  try {
    entry = parseJson(line);
  } catch (cause) {
    if (cause instanceof JsonLimitError) {
      throw new AdkMetricsError("limit_exceeded", cause.message, { path: "recording", line: number, cause });
    }
    throw new AdkMetricsError("invalid_json", `the line is not JSON: ${messageOf(cause)}`, {
      path: "recording",
      line: number,
      help: line.trimStart().startsWith("{")
        ? "If the line was cut off, remove it"
        : "Pass the contents of the recording, not its path; each line is an object",
      cause,
    });
  }
  if (!isObject(entry)) throw notRecording(number, entry);
  return entry;
}

function isHeader(entry: object): entry is RecordingHeader {
  return (entry as Partial<RecordingHeader>).format === RECORDING_FORMAT;
}

function checkedHeader(header: RecordingHeader, line: number): RecordingHeader {
  const { version, model, panel } = header as Partial<Record<keyof RecordingHeader, unknown>>;
  if (version !== RECORDING_VERSION) {
    const given = typeof version === "number" ? String(version) : `a ${typeof version}`;
    throw new AdkMetricsError("invalid_input", `the recording's version is ${given}`, {
      path: "recording",
      line,
      help: `This package reads version ${RECORDING_VERSION}`,
    });
  }
  if (panel !== undefined && !isPanel(panel)) {
    const { message } = unexpected("the names of two to nine judges", panel, "recording");
    throw new AdkMetricsError("invalid_input", message, { path: "recording: panel", line });
  }
  if (model === undefined || typeof model === "string") return header;
  const { message } = unexpected("the name of a model", model, "recording");
  throw new AdkMetricsError("invalid_input", message, { path: "recording: model", line });
}

/** Whether these are the names of a panel, by which its judges can be told apart. */
function isPanel(names: unknown): boolean {
  if (!Array.isArray(names) || names.length < 2 || names.length > 9) return false;
  return names.every((name) => typeof name === "string" && name !== "") && new Set(names).size === names.length;
}

/** Who replied to a sample depends on the panel, and so does how many samples there are. */
function otherPanel(line: number): AdkMetricsError {
  return new AdkMetricsError("invalid_input", "the combined recordings belong to different panels", {
    path: "recording: panel",
    line,
    help: "Replay each one separately",
  });
}

function callOf(entry: object, line: number): RecordedCall {
  const { request, reply } = entry as Partial<RecordedCall>;
  try {
    return { request: requestOf(request as JudgeRequest), reply: replyOf(reply) };
  } catch (error) {
    const { message, path } = error as AdkMetricsError;
    const location = path === undefined ? "recording" : `recording: ${path}`;
    throw new AdkMetricsError("invalid_input", message, { path: location, line, cause: error });
  }
}

function notRecording(line: number, found?: unknown): AdkMetricsError {
  const isEmpty = found === undefined;
  return new AdkMetricsError(
    "invalid_input",
    isEmpty ? "the recording is empty" : "this is not a recording of a judge",
    {
      path: "recording",
      line,
      help: `${isEmpty ? "No call was answered. " : looksLike(found)}Create one with recordJudge, or with --record on the command line`,
    },
  );
}

// ---- saying what is missing

/** The error for a recording that lacks a reply. */
interface Known {
  byTurn: ReadonlyMap<string, readonly RecordedCall[]>;
  metrics: ReadonlySet<string>;
  cases: ReadonlySet<string | undefined>;
}

function knownOf(calls: readonly RecordedCall[]): Known {
  const byTurn = new Map<string, RecordedCall[]>();
  for (const call of calls) group(byTurn, turnOf(call.request), call);
  return {
    byTurn,
    metrics: new Set(calls.map(({ request }) => request.metricName)),
    cases: new Set(calls.map(({ request }) => request.evalId)),
  };
}

function missing(request: JudgeRequest, known: Known): AdkMetricsError {
  const { metricName, purpose, evalId, invocationIndex, stepIndex, sampleIndex } = request;
  const location = [
    ...(evalId === undefined ? [] : [`case ${JSON.stringify(evalId)}`]),
    `turn ${invocationIndex + 1}`,
    ...(stepIndex === 0 ? [] : [`text ${stepIndex + 1}`]),
    `sample ${sampleIndex + 1}`,
  ];
  const message = `the recording has no reply for ${metricName} (${purpose}), ${location.join(", ")}: `;
  return new AdkMetricsError("replay_missing", message + whyMissing(request, known), {
    retryable: false,
    help: "Record it again with recordJudge, or with --record on the command line",
  });
}

/** Samples that are named. */
const MOST_SAMPLES = 20;

function whyMissing(request: JudgeRequest, { byTurn, metrics, cases }: Known): string {
  const ofTurn = byTurn.get(turnOf(request)) ?? [];
  const sameSample = ofTurn.find((call) => call.request.sampleIndex === request.sampleIndex);
  const nearest = sameSample ?? ofTurn[0];
  if (nearest !== undefined) {
    const difference = differenceOf(nearest.request, request);
    if (difference !== undefined) return difference;
    const samples = [...new Set(ofTurn.map((call) => call.request.sampleIndex + 1))].sort((a, b) => a - b);
    const shown = samples.slice(0, MOST_SAMPLES).join(", ") + (samples.length > MOST_SAMPLES ? " …" : "");
    return `the recording only has ${samples.length === 1 ? "sample" : "samples"} ${shown}`;
  }
  const { metricName, evalId } = request;
  if (!metrics.has(metricName)) return "nothing is recorded for this metric";
  if (!cases.has(evalId)) return "nothing is recorded for this case";
  return "nothing is recorded for this turn";
}

/** What differs between two questions about the same turn, in words; nothing if they are the same. */
function differenceOf(recorded: JudgeRequest, requested: JudgeRequest): string | undefined {
  if (recorded.model !== requested.model) {
    return `the model is ${JSON.stringify(requested.model)}, but ${JSON.stringify(recorded.model)} was recorded`;
  }
  const texts = [
    ["system prompt", recorded.system ?? "", requested.system ?? ""],
    ["prompt", withoutMarker(recorded.prompt), withoutMarker(requested.prompt)],
  ] as const;
  for (const [name, was, is] of texts) {
    if (was !== is) return `the ${name} changed ${firstDifference(was, is)}`;
  }
  const objects = [
    ["reply's schema", recorded.responseSchema, requested.responseSchema],
    ["generation config", recorded.generationConfig, requested.generationConfig],
  ] as const;
  for (const [name, was, is] of objects) {
    const [wasJson, isJson] = [canonicalJson(was ?? {}), canonicalJson(is ?? {})];
    if (wasJson !== isJson) return `the ${name} changed ${firstDifference(wasJson, isJson)}`;
  }
  return recorded.prompt === requested.prompt ? undefined : "an input of the prompt changed, although its text did not";
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

/** Where two texts part: line and column, counted from 1, and the text of each there. */
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
