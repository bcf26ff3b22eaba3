import type { JudgeReply, JudgeRequest } from "../types.js";
import type { JudgeIdentity } from "./judge.js";

/** The first line of a recording. */
export interface RecordingHeader {
  format: typeof RECORDING_FORMAT;
  version: number;
  /** The recorded judge's own model, if it has one. */
  model?: string;
  /** The name of the recorded judge, if it is a custom function; empty if it has none. */
  function?: string;
  /** The judges of the recorded panel by name. Each sample asked the next one. */
  panel?: readonly string[];
  /** Whatever the reader should know of it; replaying does not look at it. */
  note?: string;
}

/** Every other line of a recording. */
export interface RecordedCall {
  request: JudgeRequest;
  reply: JudgeReply;
}

export const RECORDING_FORMAT = "adk-metrics recording";
export const RECORDING_VERSION = 1;

/** The header as a line. */
export function headerLine({ model, functionName, panel }: JudgeIdentity, note?: string): string {
  const header: RecordingHeader = { format: RECORDING_FORMAT, version: RECORDING_VERSION };
  if (model !== undefined) header.model = model;
  if (functionName !== undefined) header.function = functionName;
  if (panel !== undefined) header.panel = panel;
  if (note !== undefined) header.note = note;
  return `${JSON.stringify(header)}\n`;
}

/** A call as a line. */
export function callLine(request: JudgeRequest, reply: JudgeReply): string {
  return `${JSON.stringify({ request, reply } satisfies RecordedCall)}\n`;
}

/**
 * What tells recordings apart that replies are cached of: a hash of their calls, in their order, whatever their line
 * breaks and headers. O(n) in what is recorded. It does not protect against recordings that are made to collide.
 */
export function fingerprint(calls: readonly RecordedCall[]): string {
  return hashOf(lines(calls));
}

function* lines(calls: readonly RecordedCall[]): Generator<string> {
  for (const { request, reply } of calls) yield callLine(request, reply);
}

/** A hash of 64 bits of texts in their order, in hexadecimal. */
export function hashOf(texts: Iterable<string>): string {
  // Two FNV-1a hashes of 32 bits: one of the code units, one of their places too.
  let [plain, placed] = [0x811c9dc5, 0x811c9dc5];
  for (const line of texts) {
    for (let at = 0; at < line.length; at += 1) {
      const unit = line.charCodeAt(at);
      plain = Math.imul(plain ^ unit, 0x01000193);
      placed = Math.imul(placed ^ (unit + at), 0x01000193);
    }
  }
  return [plain, placed].map((hash) => (hash >>> 0).toString(16).padStart(8, "0")).join("");
}
