import type { Redis } from "ioredis";
import { inOrder, type Store } from "./store.js";

/** What is kept in hashes of Redis, and claims, which expire. */
export function redisStore(redis: Redis, prefix: string): Store {
  const place = (key: string): string => `${prefix}:${key}`;
  return {
    get: async (key, field) => (await redis.hget(place(key), field)) ?? undefined,
    all: async (key) => inOrder(Object.entries(await redis.hgetall(place(key)))),
    set: async (key, field, value) => void (await redis.hset(place(key), field, value)),
    async keep(key, field, value) {
      if ((await redis.hsetnx(place(key), field, value)) === 1) return value;
      return (await redis.hget(place(key), field)) ?? value;
    },
    async add(key, amounts) {
      const batch = redis.multi();
      const fields = Object.entries(amounts);
      for (const [field, by] of fields) batch.hincrbyfloat(place(key), field, by);
      const sums = (await batch.exec()) ?? [];
      return Object.fromEntries(fields.map(([field], at) => [field, Number(sums[at]?.[1])]));
    },
    async claim(what, owner, lease) {
      const leaseMs = Math.ceil(lease);
      const claim = place(`claim:${what}`);
      if ((await redis.set(claim, owner, "PX", leaseMs, "NX")) !== null) return true;
      return (await redis.get(claim)) === owner && (await redis.pexpire(claim, leaseMs)) === 1;
    },
    async release(what, owner) {
      const claim = place(`claim:${what}`);
      if ((await redis.get(claim)) === owner) await redis.del(claim);
    },
    async clear() {
      for (let cursor = ""; cursor !== "0";) {
        const [next, keys] = await redis.scan(cursor || "0", "MATCH", place("*"), "COUNT", 1000);
        if (keys.length > 0) await redis.del(...keys);
        cursor = next;
      }
    },
  };
}
