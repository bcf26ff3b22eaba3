/** OpenTelemetry traces as actual runs. Their reader is loaded when it is first needed. */

import type { FileInfo } from "./protocol.js";
import { definedProperties } from "./runs.js";

/** The beginning of a trace export, in the formats of all known exporters. */
const TRACE_PREFIX =
  /^\uFEFF?\s*(?:\[\s*)?(?:\{\s*"(?:trace|result)"\s*:\s*)?\{\s*"(?:resource_?(?:Span|Log|Metric)s"|batches"\s*:|data"\s*:\s*\[\s*\{\s*"traceID")/i;

/** Whether a file contains traces. */
export function isTraces(bytes: Uint8Array): boolean {
  return TRACE_PREFIX.test(new TextDecoder().decode(bytes.subarray(0, 200)));
}

/** The eval ids in traces, the number of turns, and what they cannot show. */
export async function tracesInfo(bytes: Uint8Array): Promise<Pick<FileInfo, "evalIds" | "turns" | "notice">> {
  const { readTraces } = await import("adk-metrics/interop");
  let notice: string | undefined;
  const runs = readTraces(bytes, { onNotice: (text) => (notice = text) });
  return {
    ...definedProperties({ notice }),
    evalIds: runs.map(({ evalId }) => evalId),
    turns: runs.reduce((sum, { inferences }) => sum + inferences.length, 0),
  };
}

/** Converts traces to a format that the engine reads; other files are returned as they are. */
export async function withoutTraceFormat(bytes: Uint8Array): Promise<Uint8Array> {
  if (!isTraces(bytes)) return bytes;
  const { tracesToJson } = await import("adk-metrics/interop");
  return new TextEncoder().encode(tracesToJson(bytes, { onNotice: () => {} }));
}
