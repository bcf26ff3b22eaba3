import { reading, unexpected } from "./engine/values.js";

/**
 * The signal that a caller gave, or one that never aborts.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but a signal.
 */
export function signalOf(given: AbortSignal | undefined): AbortSignal {
  if (given === undefined) return new AbortController().signal;
  if (!reading("signal", () => isSignal(given))) throw unexpected("an AbortSignal", given, "signal");
  return given;
}

function isSignal(given: AbortSignal | null): boolean {
  return typeof given?.addEventListener === "function" && typeof given.removeEventListener === "function";
}

/**
 * What work results in, but no later than a signal aborts, whether or not the work listens to it. Work is not begun where
 * the signal has aborted before.
 *
 * @param reasonOf Makes what is thrown of the signal's reason; the reason itself by default.
 */
export async function untilAborted<T>(
  signal: AbortSignal,
  work: () => PromiseLike<T> | T,
  reasonOf: (signal: AbortSignal) => unknown = ({ reason }) => reason as unknown,
): Promise<T> {
  const isAborted = (): boolean => reading("signal", () => signal.aborted);
  if (isAborted()) throw reasonOf(signal);
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(reasonOf(signal) as Error);
    reading("signal", () => signal.addEventListener("abort", onAbort, { once: true }));
  });
  try {
    return await Promise.race([work(), aborted]);
  } catch (error) {
    throw isAborted() ? reasonOf(signal) : error;
  } finally {
    reading("signal", () => signal.removeEventListener("abort", onAbort));
  }
}
