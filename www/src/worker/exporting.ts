/**
 * Exports results as files and as text for the fragment of a URL: their JSON, deflated (RFC 1951), in base64url. Such
 * text is untrusted when it is read: its size is limited, and it has to be valid results.
 */

import { compareRuns, type EvalSetResult, resultsToAdkJson } from "adk-metrics/web";
import { REPORT_FORMATS, type ReportFormat } from "adk-metrics/report";
import { outcomeOf } from "./problems.js";
import type { Exporting } from "./protocol-export.js";
import type { RunSummary } from "./protocol.js";
import type { ScoredSet } from "./runs.js";
import { canBeShown } from "./shown.js";

/** The largest size of an unpacked run, in bytes. Links of this page stay far below it. */
const MAX_UNPACKED_BYTES = 20_000_000;

/**
 * @param resultsOf The results of a run with the current thresholds.
 * @param keep Stores a run.
 */
export function exporting(
  ready: Promise<void>,
  resultsOf: (run: string) => readonly EvalSetResult[],
  keep: (sets: readonly ScoredSet[]) => RunSummary,
): Exporting {
  return {
    formats: async () =>
      Object.entries(REPORT_FORMATS).map(([format, { label, about, comparison }]) => ({
        format: format as ReportFormat,
        label,
        about,
        isForComparisons: comparison !== undefined,
      })),

    filesOf: (run, format) =>
      outcomeOf(() => {
        const results = resultsOf(run);
        const { mediaType: type, ending, render } = REPORT_FORMATS[format];
        if (render === undefined) {
          return results.map((one) => ({
            name: fileName(one.evalSetId, ending),
            type,
            content: resultsToAdkJson(one),
          }));
        }
        const [only] = results;
        const name = fileName(results.length === 1 && only !== undefined ? only.evalSetId : "evaluation", ending);
        return [{ name, type, content: textOf(render(results, {})) }];
      }),

    packRun: (run) =>
      outcomeOf(async () => {
        const json = new TextEncoder().encode(JSON.stringify(resultsOf(run)));
        return base64url(await pipeThrough(new CompressionStream("deflate-raw"), json, Infinity));
      }),

    unpackRun: (packed) =>
      outcomeOf(async () => {
        await ready;
        return keep(setsOf(await unpackJson(packed)));
      }),
  };
}

/** A report as one string; large reports come in pieces. */
export function textOf(report: string | Iterable<string>): string {
  return typeof report === "string" ? report : [...report].join("");
}

/** A file name that is valid on every file system. */
export function fileName(evalSetId: string, ending: string): string {
  const name = evalSetId.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 100);
  return `${name === "" ? "evalset" : name}${ending}`;
}

async function unpackJson(packed: string): Promise<unknown> {
  try {
    const bytes = await pipeThrough(new DecompressionStream("deflate-raw"), bytesOf(packed), MAX_UNPACKED_BYTES);
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("The link holds no run: it may have been cut off. Ask for it again, or for the results as a file.");
  }
}

/** Validates the evalsets of a run from a link. */
function setsOf(given: unknown): ScoredSet[] {
  if (!Array.isArray(given) || given.length === 0) throw new Error("The link holds no results.");
  return given.map((result: EvalSetResult) => {
    // A comparison reads scores and verdicts, and throws if this is not a result.
    const { current } = compareRuns(result, result, { resamples: 100 });
    if (!canBeShown(result)) throw new Error("The link holds no results that can be shown: they are damaged.");
    return { name: current.evalSetId, result };
  });
}

async function pipeThrough(
  stream: CompressionStream | DecompressionStream,
  bytes: Uint8Array<ArrayBuffer>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      throw new RangeError("too large");
    }
    parts.push(value);
  }
}

function base64url(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += 8192)
    parts.push(String.fromCharCode(...bytes.subarray(offset, offset + 8192)));
  return btoa(parts.join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(packed: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );
}
