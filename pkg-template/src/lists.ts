/** Lists of any length, and objects with properties that may be absent. */

/** Adds items to a list, however many: `push(...items)` overflows the stack at some hundred thousand. */
export function append<Item>(list: Item[], items: readonly Item[]): void {
  for (const item of items) list.push(item);
}

/** Adds an item to its group. */
export function group<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const known = groups.get(key);
  if (known === undefined) groups.set(key, [item]);
  else known.push(item);
}

/** Items in groups, in the order in which the first of each comes. */
export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) group(groups, keyOf(item), item);
  return [...groups.values()];
}

/** The object without its undefined properties. */
export function definedProperties<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** Adds up the numbers of two objects, and puts their lists together. */
export function sum<T extends object>(a: T | undefined, b: T): T {
  const all: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const before = all[name];
    if (typeof value === "number" && typeof before === "number") all[name] = before + value;
    else if (Array.isArray(value) && Array.isArray(before)) all[name] = [...new Set<unknown>([...before, ...value])];
    else all[name] = value;
  }
  return all as T;
}

/** Whether a value is an object, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
