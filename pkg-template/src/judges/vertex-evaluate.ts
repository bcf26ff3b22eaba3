import type { JudgeReply } from "../types.js";
import type { Endpoint } from "./endpoint.js";
import { untilAborted } from "../abort.js";
import { abortedBy } from "./failure.js";
import { exchange } from "./send.js";
import { evaluationOf } from "./wire.js";

/**
 * Asks Vertex AI's `evaluateInstances` once.
 *
 * @param endpoint Where Vertex AI is, by `vertexEndpoint`.
 * @param body The JSON of the request, as the engine renders it.
 * @returns The JSON of the answer as the text of a reply, for the engine to read.
 * @throws {AdkMetricsError} `judge_failed`, without any key in its texts; `cancelled` or `timeout` if the signal aborts.
 */
export async function evaluateInstances(endpoint: Endpoint, body: string, signal: AbortSignal): Promise<JudgeReply> {
  return untilAborted(signal, () => exchange(endpoint, evaluationOf(body), signal), abortedBy);
}
