/**
 * What work comes to, but no later than a signal aborts, whether or not the work listens to it. Work is not begun where
 * the signal has aborted before.
 *
 * @param reasonOf Makes what is thrown of the signal's reason; the reason itself by default.
 */
export async function untilAborted<T>(
  signal: AbortSignal,
  work: () => PromiseLike<T> | T,
  reasonOf: (signal: AbortSignal) => unknown = ({ reason }) => reason as unknown,
): Promise<T> {
  if (signal.aborted) throw reasonOf(signal);
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(reasonOf(signal) as Error);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } catch (error) {
    throw signal.aborted ? reasonOf(signal) : error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
