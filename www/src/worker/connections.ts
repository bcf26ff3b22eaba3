/**
 * Guards the worker's network access by replacing `fetch`: besides the site's own files, only the servers of the judges
 * that the user configured are reachable. Requests to them are counted.
 */

const send = globalThis.fetch.bind(globalThis);
const counts = new Map<string, number>();
let judges: readonly string[] = [];

globalThis.fetch = (input, init) => {
  const { origin } = new URL(input instanceof Request ? input.url : input, self.location.href);
  if (judges.includes(origin)) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  else if (origin !== self.location.origin) {
    const whom = judges.length === 0 ? "no server" : `${judges.join(" and ")} only`;
    return Promise.reject(new TypeError(`this page was told to connect to ${whom}, and refuses ${origin}`));
  }
  return send(input, init);
};

/** Allows requests to these servers only, instead of those allowed before. */
export function connectOnlyTo(origins: readonly string[]): void {
  judges = origins;
}

/** The number of requests sent to each server since the page was loaded. */
export function connections(): Record<string, number> {
  return Object.fromEntries(counts);
}
