/** What this page stores in the browser, by key. Without a database (in some private windows) nothing is, and nothing fails. */

const DATABASE = "adk-metrics-playground";
const STORE = "runs";

let lastWrite: Promise<unknown> = Promise.resolve();

/** Writes to the storage after all earlier writes. */
export function enqueue(change: () => Promise<unknown>): Promise<unknown> {
  lastWrite = lastWrite.then(change);
  return lastWrite;
}

/** Deletes everything, and the databases of these names. */
export async function deleteAll(others: readonly string[]): Promise<void> {
  await enqueue(() => Promise.all([DATABASE, ...others].map(deleteDatabase)));
}

function deleteDatabase(name: string): Promise<void> {
  return new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
  });
}

/** Undefined if there is none. */
export async function load<T>(key: string): Promise<T | undefined> {
  try {
    return await access("readonly", (records) => records.get(key) as IDBRequest<T | undefined>);
  } catch {
    return undefined;
  }
}

export async function store(key: string, value: unknown): Promise<void> {
  await access("readwrite", (records) => records.put(value, key)).catch(() => {});
}

export async function remove(key: string): Promise<void> {
  await access("readwrite", (records) => records.delete(key)).catch(() => {});
}

async function access<T>(mode: IDBTransactionMode, work: (records: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
  const database = await promiseOf(opening);
  try {
    return await promiseOf(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function promiseOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("an unknown error"));
  });
}
