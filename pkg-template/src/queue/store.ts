/** What a queue keeps besides its jobs: the plan, what was paid for, and what it cost. */
export interface Store {
  get(key: string, field: string): Promise<string | undefined>;
  /** All fields with their values, by the names of the fields. */
  all(key: string): Promise<[field: string, value: string][]>;
  set(key: string, field: string, value: string): Promise<void>;
  /** Sets what is not there yet. @returns What is there now. */
  keep(key: string, field: string, value: string): Promise<string>;
  /** Adds to numbers, at once. @returns The sums. */
  add(key: string, amounts: Readonly<Record<string, number>>): Promise<Record<string, number>>;
  /** Claims something for a while, or renews that. @returns Whether it is free. */
  claim(what: string, owner: string, leaseMs: number): Promise<boolean>;
  /** Gives up what one has claimed. */
  release(what: string, owner: string): Promise<void>;
  /** Removes everything. */
  clear(): Promise<void>;
}

/** By the names of the fields, which are of equal length where their order matters. */
export function inOrder(fields: [string, string][]): [string, string][] {
  return fields.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** How often, and how many milliseconds apart, a database that was restarted is tried. */
const MOST_ATTEMPTS = 60;
const PAUSE_MS = 1_000;

/** Errors of connections: classes 08 and 57 of PostgreSQL's codes, and those of sockets. */
const LOST = /^(?:08|57P)|^E[A-Z]+$/;

/** Does work again whose connection was lost. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const { code = "", message = "" } = error as { code?: string; message?: string };
      const isLost = LOST.test(code) || /connection/i.test(message);
      if (!isLost || attempt === MOST_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
