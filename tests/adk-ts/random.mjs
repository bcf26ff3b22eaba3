// A small seeded generator, so that vectors and benchmarks are the same on every machine.

/**
 * The mulberry32 generator: 32 bits of state, one multiplication chain per number.
 *
 * @param {number} seed Any integer; only its low 32 bits count.
 */
export function createRandom(seed) {
  let state = seed >>> 0;

  /** A number in [0, 1) with 32 random bits. */
  function next() {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** An integer in [low, high], both included. */
  const between = (low, high) => low + Math.floor(next() * (high - low + 1));

  /** One element of a non-empty list. */
  const pick = (list) => list[Math.floor(next() * list.length)];

  /** `true` with the given probability. */
  const chance = (probability) => next() < probability;

  /** A shuffled copy (Fisher–Yates). */
  function shuffled(list) {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = Math.floor(next() * (i + 1));
      [copy[i], copy[j]] = [copy[j], copy[i]];
    }
    return copy;
  }

  return { next, between, pick, chance, shuffled };
}
