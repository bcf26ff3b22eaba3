/**
 * Remote calls between a page and its worker: a message with the name of a function and its arguments, answered by a
 * message with its result or its error. Each end can call the functions of the other.
 */

type Handlers = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The functions of the other end. Each returns a promise of its result. */
export type Remote<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never;
};

type Message =
  | { call: number; method: string; args: unknown[] }
  | { replyTo: number; value: unknown }
  | { replyTo: number; error: string };

/** One end of the connection: a `Worker` in the page, the global scope in the worker. */
export interface Endpoint {
  postMessage(message: Message, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<Message>) => void): void;
}

const transferLists = new WeakMap<object, Transferable[]>();

/** Marks buffers in an argument or a result: they are transferred instead of copied. */
export function transfer<T extends object>(value: T, buffers: Transferable[]): T {
  transferLists.set(value, buffers);
  return value;
}

function transferablesOf(value: unknown): Transferable[] {
  return typeof value === "object" && value !== null ? (transferLists.get(value) ?? []) : [];
}

/** Lets the other end call `handlers`; returns a proxy that calls the functions of the other end. */
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
