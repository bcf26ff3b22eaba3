/**
 * Calls between a page and its worker: a message with the name of a function and what it is given, and one back with what
 * came of it. Either end offers functions to the other.
 */

type Handlers = Readonly<Record<string, (...args: never[]) => unknown>>;

/** What the other end offers: the same functions, each with a promise of what it gives. */
export type Remote<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never;
};

type Message =
  | { call: number; method: string; args: unknown[] }
  | { replyTo: number; value: unknown }
  | { replyTo: number; error: string };

/** An end of the connection: a worker as its page has it, or a worker's own scope. */
export interface Endpoint {
  postMessage(message: Message, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<Message>) => void): void;
}

const transferLists = new WeakMap<object, Transferable[]>();

/** Has buffers move to the other end with what they are part of, where they would be copied else. */
export function transfer<T extends object>(value: T, buffers: Transferable[]): T {
  transferLists.set(value, buffers);
  return value;
}

function transferablesOf(value: unknown): Transferable[] {
  return typeof value === "object" && value !== null ? (transferLists.get(value) ?? []) : [];
}

/** Offers functions to the other end, and gives what that offers. */
export function connect<T extends object>(endpoint: Endpoint, handlers: Handlers): Remote<T> {
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastCall = 0;

  async function answer(call: number, method: string, args: unknown[]): Promise<void> {
    try {
      const value = await handlers[method]?.(...(args as never[]));
      endpoint.postMessage({ replyTo: call, value }, transferablesOf(value));
    } catch (error) {
      endpoint.postMessage({ replyTo: call, error: String(error) }, []);
    }
  }

  endpoint.addEventListener("message", ({ data }) => {
    if ("call" in data) {
      void answer(data.call, data.method, data.args);
      return;
    }
    const caller = pending.get(data.replyTo);
    pending.delete(data.replyTo);
    if ("error" in data) caller?.reject(new Error(data.error));
    else caller?.resolve(data.value);
  });

  const call = (method: string, args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      lastCall += 1;
      pending.set(lastCall, { resolve, reject });
      endpoint.postMessage({ call: lastCall, method, args }, args.flatMap(transferablesOf));
    });
  const proxyHandler: ProxyHandler<object> = {
    get:
      (_, method) =>
      (...args: unknown[]) =>
        call(String(method), args),
  };
  return new Proxy({}, proxyHandler) as Remote<T>;
}
