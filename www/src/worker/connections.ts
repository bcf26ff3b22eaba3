/**
 * Guards the worker's network access by replacing `fetch`: besides the site's own files, only the servers of the judges
 * that the user configured are reachable. Requests to them are counted. A server whose first answers say that no other will
 * be better, such as that the key is wrong, is asked no more: its answer is used for the rest of the run.
 */

const send = globalThis.fetch.bind(globalThis);
const counts = new Map<string, number>();
let judges: readonly string[] = [];

/** What is known of the servers of judges in a run, by origin. */
interface Server {
  hasAnswered: boolean;
  /** How many requests found no server, or none that pages may ask. */
  unreached: number;
  /** What every further request ends in. */
  last?: () => Promise<Response>;
}
let servers = new Map<string, Server>();

/** The key or its rights, or the address or the model, are wrong. */
const LASTING = [401, 403, 404];
/** The most requests that may find no server, before the first answer. */
const MOST_UNREACHED = 3;

globalThis.fetch = (input, init) => {
  const { origin } = new URL(input instanceof Request ? input.url : input, self.location.href);
  if (judges.includes(origin)) return ask(origin, input, init);
  if (origin === self.location.origin) return send(input, init);
  const whom = judges.length === 0 ? "no server" : `${judges.join(" and ")} only`;
  return Promise.reject(new TypeError(`this page was told to connect to ${whom}, and refuses ${origin}`));
};

async function ask(origin: string, input: RequestInfo | URL, init: RequestInit | undefined): Promise<Response> {
  const server = servers.get(origin) ?? { hasAnswered: false, unreached: 0 };
  servers.set(origin, server);
  if (server.last !== undefined) return server.last();
  counts.set(origin, (counts.get(origin) ?? 0) + 1);
  try {
    const response = await send(input, init);
    if (response.ok) server.hasAnswered = true;
    else if (!server.hasAnswered && (await isLasting(response.clone()))) {
      const kept = response.clone();
      server.last = async () => kept.clone();
    }
    return response;
  } catch (error) {
    const isUnreached = error instanceof TypeError && !server.hasAnswered;
    if (isUnreached && (server.unreached += 1) >= MOST_UNREACHED) {
      const lasting = Object.assign(new TypeError(error.message), { retryable: false });
      server.last = () => Promise.reject(lasting);
      throw lasting;
    }
    throw error;
  }
}

/** Whether a failure lasts. A spent quota has the status of a rate limit, but waiting does not bring it back. */
async function isLasting(response: Response): Promise<boolean> {
  if (LASTING.includes(response.status)) return true;
  return response.status === 429 && (await response.text().catch(() => "")).includes("insufficient_quota");
}

/** Allows requests to these servers only, instead of those allowed before. */
export function connectOnlyTo(origins: readonly string[]): void {
  judges = origins;
  servers = new Map();
}

/** The servers that are asked no more. */
export function givenUp(): string[] {
  return [...servers].flatMap(([origin, { last }]) => (last === undefined ? [] : [origin]));
}

/** The number of requests sent to each server since the page was loaded. */
export function connections(): Record<string, number> {
  return Object.fromEntries(counts);
}
