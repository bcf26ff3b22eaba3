import { checkOptions } from "../known-options.js";
import { isObject, messageOf, reading, shortened, unexpected } from "../engine/values.js";
import { AdkMetricsError, withDetails } from "../errors.js";
import type { Judge } from "../types.js";
import { identityOf, type JudgeIdentity, makeJudge, makesJudges, checkJudge } from "./judge.js";
import { callLine, headerLine } from "./recording.js";
import { isReplayed, replyOf, unrecorded } from "./reply.js";
import { definedProperties } from "../lists.js";
import { markUnsent } from "./unsent.js";

/** Where a recording goes: what takes its lines, each with its line break, one after the other. */
export type RecordingSink =
  | ((line: string) => unknown)
  | {
      /** Takes a line. */
      write(line: string): unknown;
    };

/** What a recording says of itself in its first line. */
export interface RecordingOptions {
  /** What to call who replies, for a judge that names no model; requests are of this model, whatever a criterion names. */
  model?: string;
  /** Whatever the reader should know: when and why it was made. */
  note?: string;
}

/**
 * A judge that asks another one and writes down what it replies, as JSON lines for {@link replayJudge}. Failed calls are
 * not written. Neither are keys: requests and replies hold none.
 *
 * An evaluation asks a judge only for what its `cache` does not have: record with an empty one, or with none.
 *
 * ```ts
 * import { createWriteStream } from "node:fs";
 *
 * const judge = recordJudge(geminiJudge({ apiKey, model: "gemini-3.5-flash-lite" }), createWriteStream("judge.jsonl"));
 * ```
 *
 * @param sink A function, or a stream or file with `write`. Promises that it gives are waited for.
 * @param options What the first line says besides.
 * @throws {AdkMetricsError} `invalid_input`. The judge itself rejects with `recording_failed` if a line cannot be
 * written, after which it makes no more calls, and with whatever the other judge rejects with.
 */
export const recordJudge = /* @__PURE__ */ makesJudges(
  "recordJudge",
  (judge: Judge, sink: RecordingSink, options: RecordingOptions = {}): Judge => {
    checkJudge(judge);
    const write = writerOf(sink);
    const { model, note } = optionsOf(options);
    const identity = withModel(identityOf(judge), model);
    let written: Promise<unknown> | undefined;
    let failure: AdkMetricsError | undefined;
    return makeJudge(identity, async (request, signal) => {
      failure ??= brokenSink(sink);
      // What cannot be recorded is not paid for.
      if (failure !== undefined) throw markUnsent(withDetails(failure, { help: "No judge is asked any more" }));
      const reply = replyOf(await judge(request, { signal }));
      // Calls end in any order; their lines wait for each other.
      const before = (written ??= write(headerLine(identity, note)));
      const line = before.then(() => write(callLine(request, reply)));
      written = line;
      try {
        await line;
      } catch (error) {
        failure ??= error as AdkMetricsError;
        const { usage } = isReplayed(reply) ? {} : reply;
        throw unrecorded(withDetails(failure, definedProperties({ usage })), reply);
      }
      return reply;
    });
  },
);

function optionsOf(options: RecordingOptions): RecordingOptions {
  checkOptions(options, ["model", "note"]);
  return reading("options", () => {
    const { model, note } = options;
    for (const [name, value] of Object.entries({ model, note })) {
      if (value !== undefined && typeof value !== "string") throw unexpected("a string", value, `options: ${name}`);
    }
    return { ...definedProperties({ model, note }) };
  });
}

/** A judge's own name for its model is the better one. */
function withModel(identity: JudgeIdentity, model: string | undefined): JudgeIdentity {
  return identity.model !== undefined || model === undefined ? identity : { ...identity, model };
}

function writerOf(sink: RecordingSink): (line: string) => Promise<void> {
  const isWritable = reading("sink", () => isObject(sink) && typeof (sink as { write?: unknown }).write === "function");
  if (typeof sink !== "function" && !isWritable) {
    const help = "For a file, pass `createWriteStream(path)` of node:fs";
    throw unexpected("a function or an object with `write`", sink, "sink", help);
  }
  return async (line) => {
    try {
      await (typeof sink === "function" ? sink(line) : sink.write(line));
    } catch (cause) {
      throw recordingFailed(cause);
    }
  };
}

/** What a stream failed with that reports it later, to its listeners. */
function brokenSink(sink: RecordingSink): AdkMetricsError | undefined {
  const { errored } = sink as { errored?: unknown };
  return errored instanceof Error ? recordingFailed(errored) : undefined;
}

function recordingFailed(cause: unknown): AdkMetricsError {
  const message = `the reply cannot be recorded: ${shortened(messageOf(cause))}`;
  return new AdkMetricsError("recording_failed", message, { cause, retryable: false });
}
