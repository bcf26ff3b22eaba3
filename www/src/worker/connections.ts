/**
 * The worker's way out. Every request of the worker passes here: besides the page's own files, only the servers that the
 * user named to judge are reached, and each request to them is counted.
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

/** Lets requests go to these servers, and to no other any more. */
export function connectOnlyTo(origins: readonly string[]): void {
  judges = origins;
}

/** How many requests left for which server since the page was loaded. */
export function connections(): Record<string, number> {
  return Object.fromEntries(counts);
}
