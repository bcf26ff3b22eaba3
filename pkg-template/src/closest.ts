/**
 * The name that a misspelt one most likely means: the nearest that is at most two edits away (insertion, deletion,
 * substitution, swap of two neighbours) and at most a third of its length, whatever the case and with `_` and `-` left
 * out. It is the rule by which the engine suggests names in files (`suggestion` in `src/foundation/suggestion.rs`). O(a·b) per name.
 */
export function closest(found: string, known: Iterable<string>): string | undefined {
  const target = folded(found);
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const letters = folded(name);
    const distance = editDistance(target, letters);
    const isNear = distance <= 2 && distance * 3 <= letters.length;
    if (isNear && distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  return best?.name;
}

/**
 * The advice on an unknown key: the key that it resembles, or else the one that has a word in common with it, as
 * `user_persona` has with `persona`, or else all there are.
 */
export function keysHelp(found: string, known: readonly string[]): string {
  const words = wordsOf(found);
  const near = closest(found, known);
  const alike =
    near === undefined ? known.filter((name) => wordsOf(name).some((word) => words.includes(word))) : [near];
  const [meant, ...others] = alike;
  if (meant !== undefined && others.length === 0) return `Did you mean \`${meant}\`?`;
  return `The keys are ${known.map((name) => `\`${name}\``).join(", ")}`;
}

/** `maxTurns`, `max_turns`: max, turns. */
function wordsOf(name: string): string[] {
  const words = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase();
  return words.split(/[_\-\s]+/).filter((word) => word !== "");
}

function folded(name: string): string[] {
  const asciiLowerCase = name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return [...asciiLowerCase].slice(0, 80).filter((letter) => letter !== "_" && letter !== "-");
}

/** The optimal string alignment distance: that of Damerau and Levenshtein, where no part is edited twice. */
function editDistance(a: readonly string[], b: readonly string[]): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, from] of a.entries()) {
    const row = [i + 1];
    for (const [j, to] of b.entries()) {
      const substituted = (previous[j] ?? 0) + (from === to ? 0 : 1);
      const isSwap = i > 0 && j > 0 && from === b[j - 1] && to === a[i - 1];
      const swapped = isSwap ? (before[j - 1] ?? 0) + 1 : Infinity;
      row.push(Math.min(substituted, (previous[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1, swapped));
    }
    [before, previous] = [previous, row];
  }
  return previous.at(-1) ?? 0;
}
