/**
 * The name that a misspelt one most likely stands for: the nearest by Levenshtein distance, if that is at most two
 * edits and at most a third of its length, as the engine suggests names in configs. O(a·b) per name.
 */
export function closest(found: string, known: Iterable<string>): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(found.toLowerCase(), name.toLowerCase());
    const near = distance <= 2 && distance * 3 <= Math.max(name.length, 3);
    if (near && distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  return best?.name;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, from] of [...a].entries()) {
    const next = [index + 1];
    for (const [at, to] of [...b].entries()) {
      const substituted = (row[at] ?? 0) + (from === to ? 0 : 1);
      next.push(Math.min(substituted, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
