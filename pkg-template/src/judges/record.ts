import { isObject, messageOf, unexpected } from "../engine/input.js";
import { AdkMetricsError } from "../errors.js";
import type { Judge } from "../types.js";
import { identityOf, makeJudge } from "./judge.js";
import { callLine, headerLine } from "./recording.js";
import { replyOf } from "./reply.js";

/** Where a recording goes: what takes its lines, each with its line break, one after the other. */
export type RecordingSink = ((line: string) => unknown) | { write(line: string): unknown };

/**
 * A judge that asks another one and writes down what it replies, as JSON lines for {@link replayJudge}. Failed calls are
 * not written. Neither are keys: requests and replies hold none.
 *
 * ```ts
 * import { createWriteStream } from "node:fs";
 *
 * const judge = recordJudge(geminiJudge({ apiKey }), createWriteStream("judge.jsonl"));
 * ```
 *
 * @param sink A function, or a stream or file with `write`. Promises that it gives are waited for.
 * @throws {AdkMetricsError} `invalid_input`. The judge itself rejects with `recording_failed` if a line cannot be
 * written, and with whatever the other judge rejects with.
 */
export function recordJudge(judge: Judge, sink: RecordingSink): Judge {
  if (typeof judge !== "function") throw unexpected("a judge", judge, "judge");
  const write = writerOf(sink);
  const identity = identityOf(judge);
  let written: Promise<unknown> | undefined;
  return makeJudge(identity, async (request, signal) => {
    const reply = replyOf(await judge(request, { signal }));
    // Calls end in any order; their lines wait for each other.
    const before = (written ??= write(headerLine(identity.model)));
    const line = before.then(() => write(callLine(request, reply)));
    written = line;
    await line;
    return reply;
  });
}

function writerOf(sink: RecordingSink): (line: string) => Promise<void> {
  const isWritable = isObject(sink) && typeof (sink as { write?: unknown }).write === "function";
  if (typeof sink !== "function" && !isWritable) throw unexpected("a function or an object with `write`", sink, "sink");
  return async (line) => {
    try {
      await (typeof sink === "function" ? sink(line) : sink.write(line));
    } catch (cause) {
      throw new AdkMetricsError("recording_failed", `the reply cannot be recorded: ${messageOf(cause)}`, {
        cause,
        retryable: false,
      });
    }
  };
}
