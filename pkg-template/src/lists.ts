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
