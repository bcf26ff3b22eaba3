/** A journal in memory: each call of `begin` gives another that goes on with what those before kept. */
export function journalInMemory() {
  const entries = [];
  const begin = () => ({ read: async () => [...entries], append: async (more) => void entries.push(...more) });
  return { entries, begin };
}
