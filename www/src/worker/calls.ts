/**
 * Calls between a page and its worker: a message with the name of a function and what it is given, and one back with what
 * came of it. Either end offers functions to the other.
 */

type Offered = Readonly<Record<string, (...given: never[]) => unknown>>;

/** What the other end offers: the same functions, each with a promise of what it gives. */
export type Remote<T> = {
  readonly [K in keyof T]: T[K] extends (...given: infer A) => infer R ? (...given: A) => Promise<Awaited<R>> : never;
};

type Message =
  | { call: number; name: string; given: unknown[] }
  | { answered: number; value: unknown }
  | { answered: number; failure: string };

/** An end of the connection: a worker as its page has it, or a worker's own scope. */
export interface End {
  postMessage(message: Message, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<Message>) => void): void;
}

const buffersOf = new WeakMap<object, Transferable[]>();

/** Has buffers move to the other end with what they are part of, where they would be copied else. */
export function moving<T extends object>(value: T, buffers: Transferable[]): T {
  buffersOf.set(value, buffers);
  return value;
}

function movedWith(value: unknown): Transferable[] {
  return typeof value === "object" && value !== null ? (buffersOf.get(value) ?? []) : [];
}

/** Offers functions to the other end, and gives what that offers. */
export function connected<T extends object>(end: End, offered: Offered): Remote<T> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;

  async function answer(call: number, name: string, given: unknown[]): Promise<void> {
    try {
      const value = await offered[name]?.(...(given as never[]));
      end.postMessage({ answered: call, value }, movedWith(value));
    } catch (error) {
      end.postMessage({ answered: call, failure: String(error) }, []);
    }
  }

  end.addEventListener("message", ({ data }) => {
    if ("call" in data) {
      void answer(data.call, data.name, data.given);
      return;
    }
    const asked = waiting.get(data.answered);
    waiting.delete(data.answered);
    if ("failure" in data) asked?.reject(new Error(data.failure));
    else asked?.resolve(data.value);
  });

  const call = (name: string, given: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      end.postMessage({ call: last, name, given }, given.flatMap(movedWith));
    });
  const names: ProxyHandler<object> = {
    get:
      (_, name) =>
      (...given: unknown[]) =>
        call(String(name), given),
  };
  return new Proxy({}, names) as Remote<T>;
}
