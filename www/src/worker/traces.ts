/** OpenTelemetry traces among the files of what agents did. Their reader is loaded when there are some. */

/** How traces begin, whoever exported them. */
const TRACE_PREFIX =
  /^\uFEFF?\s*(?:\[\s*)?(?:\{\s*"(?:trace|result)"\s*:\s*)?\{\s*"(?:resource_?(?:Span|Log|Metric)s"|batches"\s*:|data"\s*:\s*\[\s*\{\s*"traceID")/i;

/** Whether a file holds traces. */
export function isTraces(bytes: Uint8Array): boolean {
  return TRACE_PREFIX.test(new TextDecoder().decode(bytes.subarray(0, 200)));
}

/** What traces say: the cases that they name, and how many turns there were. */
export async function tracesInfo(bytes: Uint8Array): Promise<{ evalIds: string[]; turns: number }> {
  const { readTraces } = await import("adk-metrics/interop");
  const runs = readTraces(bytes);
  return {
    evalIds: runs.map(({ evalId }) => evalId),
    turns: runs.reduce((sum, { inferences }) => sum + inferences.length, 0),
  };
}

/** A file of what agents did as the engine reads it. */
export async function withoutTraceFormat(bytes: Uint8Array): Promise<Uint8Array> {
  if (!isTraces(bytes)) return bytes;
  const { tracesToJson } = await import("adk-metrics/interop");
  return new TextEncoder().encode(tracesToJson(bytes));
}
