// A reporter for Node's test runner: each test that failed, as a line of JSON, for the summary at the end of `npm test`.

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* failures(events) {
  // The names of the running suites and their test, outermost first, by file: files may run side by side.
  const running = new Map();
  for await (const { type, data } of events) {
    const outer = (running.get(data.file) ?? []).slice(0, data.nesting);
    if (type === "test:start") running.set(data.file, [...outer, data.name]);
    if (type !== "test:fail") continue;
    const { error } = data.details;
    // A suite fails with its tests, which are reported themselves.
    if (error?.failureType === "subtestsFailed") continue;
    const cause = error?.cause ?? error;
    const name = [...outer, data.name].join(" › ");
    yield `${JSON.stringify({ file: data.file, name, message: String(cause?.message ?? cause) })}\n`;
  }
}
