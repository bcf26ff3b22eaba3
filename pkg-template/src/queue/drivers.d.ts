/** What is used of BullMQ and of the drivers of databases, which are not dependencies of this package. */

declare module "bullmq" {
  export interface Job {
    id?: string;
    data: unknown;
    attemptsMade: number;
    attemptsStarted: number;
    failedReason?: string;
    opts: { attempts?: number };
    moveToWait(token?: string): Promise<unknown>;
    retry(state: "failed", options: { resetAttemptsMade: boolean }): Promise<void>;
  }
  export class Queue {
    constructor(name: string, options: object, backend?: unknown);
    on(event: "error", listener: (error: Error) => void): this;
    addBulk(jobs: { name: string; data: object; opts: object }[]): Promise<unknown>;
    getJobCounts(...states: string[]): Promise<Record<string, number>>;
    getJobs(states: readonly string[]): Promise<Job[]>;
    getFailed(start?: number, end?: number): Promise<Job[]>;
    getWorkersCount(): Promise<number>;
    setGlobalRateLimit(max: number, duration: number): Promise<unknown>;
    removeGlobalRateLimit(): Promise<unknown>;
    pause(): Promise<void>;
    resume(): Promise<void>;
    isPaused(): Promise<boolean>;
    obliterate(options: { force: boolean }): Promise<void>;
    close(): Promise<void>;
  }
  export class Worker {
    constructor(name: string, work: (job: Job, token?: string) => Promise<unknown>, options: object, backend?: unknown);
    on(event: "error" | "failed" | "completed" | "drained" | "stalled", listener: (...given: never[]) => void): this;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  }
  export class WaitingError extends Error {}
  export const createPostgresBackend: unknown;
  export function runMigrations(client: unknown): Promise<number>;
}

declare module "ioredis" {
  export interface Batch {
    hincrbyfloat(key: string, field: string, by: number): this;
    exec(): Promise<[Error | null, unknown][] | null>;
  }
  export class Redis {
    constructor(url: string, options: object);
    connect(): Promise<void>;
    on(event: "error", listener: (error: Error) => void): this;
    get(key: string): Promise<string | null>;
    set(key: string, value: string, px: "PX", ms: number, nx: "NX"): Promise<"OK" | null>;
    pexpire(key: string, ms: number): Promise<number>;
    hget(key: string, field: string): Promise<string | null>;
    hgetall(key: string): Promise<Record<string, string>>;
    hset(key: string, field: string, value: string): Promise<number>;
    hsetnx(key: string, field: string, value: string): Promise<number>;
    multi(): Batch;
    scan(cursor: string, match: "MATCH", pattern: string, count: "COUNT", amount: number): Promise<[string, string[]]>;
    del(...keys: string[]): Promise<number>;
    quit(): Promise<unknown>;
    disconnect(): void;
  }
}

declare module "pg" {
  export interface Client {
    query<Row>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>;
    on(event: "error", listener: (error: Error) => void): this;
    off(event: "error", listener: (error: Error) => void): this;
    release(): void;
  }
  export class Pool {
    constructor(options: object);
    connect(): Promise<Client>;
    query<Row>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>;
    on(event: "error", listener: (error: Error) => void): this;
    end(): Promise<void>;
  }
  const pg: { Pool: typeof Pool };
  export default pg;
}
