/**
 * The worker's way out. Every request of the worker passes here: besides the page's own files, only the server of the
 * judge that the user named is reached, and each request to it is counted.
 */

const send = globalThis.fetch.bind(globalThis);
const counts = new Map<string, number>();
let judge: string | undefined;

globalThis.fetch = (input, init) => {
  const { origin } = new URL(input instanceof Request ? input.url : input, self.location.href);
  if (origin === judge) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  else if (origin !== self.location.origin) {
    const whom = judge === undefined ? "no server" : `${judge} only`;
    return Promise.reject(new TypeError(`this page was told to connect to ${whom}, and refuses ${origin}`));
  }
  return send(input, init);
};

/** Lets requests go to one server, and to no other any more. */
export function connectOnlyTo(origin: string | undefined): void {
  judge = origin;
}

/** How many requests left for which server since the page was loaded. */
export function connections(): Record<string, number> {
  return Object.fromEntries(counts);
}
