/** Connections to queues: BullMQ on Redis or on PostgreSQL, with what is kept beside its jobs. */

import type { Job, Queue, Worker } from "bullmq";
import { messageOf, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import { optionsOf } from "../known-options.js";
import { makeTable, postgresStore } from "./postgres.js";
import { redisStore } from "./redis.js";
import type { Store } from "./store.js";
import type { QueueConnection } from "./types.js";

const PREFIX = "adk-metrics";
const DEFAULT_NAME = "evaluation";
/** The most a client waits before it tries again, in milliseconds. */
const LONGEST_PAUSE_MS = 2_000;
/** Connections of a pool: one listens for jobs. */
const CONNECTIONS = 10;

/** The states of jobs that are not done. */
export const OPEN_STATES = ["waiting", "prioritized", "paused", "delayed", "active"];
export const STATES = [...OPEN_STATES, "completed", "failed"];

/** An open queue. */
export interface OpenQueue {
  readonly name: string;
  readonly queue: Queue;
  readonly store: Store;
  worker(work: (job: Job, token?: string) => Promise<unknown>, options: object): Worker;
  /** What a job that was handed back throws, for BullMQ. */
  handedBack(): Error;
  close(): Promise<void>;
}

/**
 * Opens a queue.
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but a connection; `queue_failed` if a package is missing, or there is no database.
 */
export async function openQueue(
  connection: QueueConnection | string,
  onNotice: (notice: string) => void = () => {},
): Promise<OpenQueue> {
  const given = typeof connection === "string" ? { url: connection } : connection;
  const { url, name = DEFAULT_NAME } = optionsOf(given, ["url", "name"], { path: "connection" });
  if (typeof name !== "string" || !/^[\w.-]{1,100}$/.test(name)) {
    throw unexpected("a name of letters, digits, dots and dashes", name, "connection: name");
  }
  const protocol = typeof url === "string" ? /^(redis|postgres)[a-z]*:\/\//.exec(url)?.[1] : undefined;
  if (protocol === undefined) {
    // The rest of an address may be a password.
    const found = typeof url === "string" ? `${/^[a-z]{1,20}:\/\//i.exec(url)?.[0] ?? ""}…` : url;
    throw unexpected("an address: redis://… or postgres://…", found, "connection: url");
  }
  const said = new Set<string>();
  const onError = (error: Error): void => {
    const text = messageOf(error);
    if (!said.has(text)) onNotice(`the connection to the queue failed: ${text}; retrying`);
    said.add(text);
  };
  const open = protocol === "redis" ? onRedis : onPostgres;
  return await open(url, name, onError);
}

type OnError = (error: Error) => void;

async function onRedis(url: string, name: string, onError: OnError): Promise<OpenQueue> {
  const { Queue, Worker, WaitingError } = await needed(() => import("bullmq"), "bullmq");
  const { Redis } = await needed(() => import("ioredis"), "ioredis");
  let isOpen = false;
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    // A server that was there comes back; one that was not may be a slip of the pen.
    retryStrategy: (attempt: number) => (isOpen ? Math.min(50 * attempt, LONGEST_PAUSE_MS) : null),
  });
  let why: unknown;
  redis.on("error", (error) => {
    why = error;
    if (isOpen) onError(error);
  });
  await redis.connect().catch((error: unknown) => {
    throw unreachable(url, why ?? error);
  });
  isOpen = true;
  const options = { connection: redis, prefix: PREFIX };
  const queue = new Queue(name, options).on("error", onError);
  return {
    name,
    queue,
    store: redisStore(redis, `${PREFIX}:${name}:kept`),
    worker: (work, more) => new Worker(name, work, { ...options, ...more }).on("error", onError),
    handedBack: () => new WaitingError(),
    async close() {
      await queue.close();
      redis.disconnect();
    },
  };
}

async function onPostgres(url: string, name: string, onError: OnError): Promise<OpenQueue> {
  const bullmq = await needed(() => import("bullmq"), "bullmq");
  const { default: pg } = await needed(() => import("pg"), "pg");
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    keepAlive: true,
    // BullMQ's tables have a schema of their own.
    options: "-c search_path=bullmq",
  });
  pool.on("error", onError);
  try {
    const client = await pool.connect();
    // What goes wrong between two queries would end the process.
    client.on("error", onError);
    try {
      await bullmq.runMigrations(client);
      await makeTable(client);
    } finally {
      client.off("error", onError);
      client.release();
    }
  } catch (error) {
    await pool.end();
    throw unreachable(url, error);
  }
  const options = { connection: pool };
  const backend = bullmq.createPostgresBackend;
  const queue = new bullmq.Queue(name, options, backend).on("error", onError);
  return {
    name,
    queue,
    store: postgresStore(pool, name),
    worker: (work, more) => new bullmq.Worker(name, work, { ...options, ...more }, backend).on("error", onError),
    handedBack: () => new bullmq.WaitingError(),
    async close() {
      await queue.close();
      await pool.end();
    },
  };
}

async function needed<T>(load: () => Promise<T>, name: string): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new AdkMetricsError("queue_failed", `a queue needs the package ${name}, which cannot be loaded`, {
      help: "npm install bullmq ioredis, for Redis; npm install bullmq pg, for PostgreSQL",
      cause,
    });
  }
}

/** An address without the name and the password in it. */
export function publicAddress(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "the address";
}

function unreachable(url: string, cause: unknown): AdkMetricsError {
  const text = messageOf(cause).replace(/^Error: /, "");
  return new AdkMetricsError("queue_failed", `there is no queue at ${publicAddress(url)}: ${text}`, {
    help: "Start the database, or choose another address",
    cause,
  });
}
