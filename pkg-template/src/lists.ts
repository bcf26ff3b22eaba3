/** What is done with lists of any length. */

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
