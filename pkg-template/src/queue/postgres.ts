import type { Client, Pool } from "pg";
import { inOrder, patiently, type Store } from "./store.js";

const TABLE = "adk_metrics.kept";

/** Makes the table, unless it is there; others may be doing the same. */
export async function makeTable(client: Client): Promise<void> {
  const [{ found }] = (await client.query<{ found: boolean }>(`SELECT to_regclass('${TABLE}') IS NOT NULL AS found`))
    .rows as [{ found: boolean }];
  if (found) return;
  await client.query("SELECT pg_advisory_lock(hashtext('adk_metrics'))");
  await client.query("CREATE SCHEMA IF NOT EXISTS adk_metrics");
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${TABLE} (queue text, key text, field text, value text, PRIMARY KEY (queue, key, field))`,
  );
  await client.query("SELECT pg_advisory_unlock(hashtext('adk_metrics'))");
}

/** What is kept in a table of PostgreSQL. */
export function postgresStore(pool: Pool, queue: string): Store {
  const query = <Row>(text: string, values: readonly unknown[]) => patiently(() => pool.query<Row>(text, values));
  const insert = `INSERT INTO ${TABLE} AS old VALUES ($1, $2, $3, $4) ON CONFLICT (queue, key, field) DO`;
  const get = async (key: string, field: string): Promise<string | undefined> => {
    const text = `SELECT value FROM ${TABLE} WHERE queue = $1 AND key = $2 AND field = $3`;
    return (await query<{ value: string }>(text, [queue, key, field])).rows[0]?.value;
  };
  return {
    get,
    async all(key) {
      const text = `SELECT field, value FROM ${TABLE} WHERE queue = $1 AND key = $2`;
      const { rows } = await query<{ field: string; value: string }>(text, [queue, key]);
      return inOrder(rows.map(({ field, value }) => [field, value]));
    },
    async set(key, field, value) {
      await query(`${insert} UPDATE SET value = excluded.value`, [queue, key, field, value]);
    },
    async keep(key, field, value) {
      await query(`${insert} NOTHING`, [queue, key, field, value]);
      return (await get(key, field)) ?? value;
    },
    async add(key, amounts) {
      const fields = Object.keys(amounts);
      const text =
        `INSERT INTO ${TABLE} AS old SELECT $1, $2, * FROM unnest($3::text[], $4::text[]) ON CONFLICT (queue, key, field) ` +
        "DO UPDATE SET value = (old.value::float8 + excluded.value::float8)::text RETURNING field, value";
      const values = [queue, key, fields, Object.values(amounts).map(String)];
      const { rows } = await query<{ field: string; value: string }>(text, values);
      return Object.fromEntries(rows.map(({ field, value }) => [field, Number(value)]));
    },
    async claim(what, owner, leaseMs) {
      // Until when by the clock of the database, and whose it is.
      const text =
        `INSERT INTO ${TABLE} AS old SELECT $1, 'claims', $2, extract(epoch FROM now()) + $4 || ' ' || $3 ` +
        "ON CONFLICT (queue, key, field) DO UPDATE SET value = excluded.value WHERE split_part(old.value, ' ', 2) = $3 " +
        "OR split_part(old.value, ' ', 1)::float8 < extract(epoch FROM now()) RETURNING field";
      return (await query(text, [queue, what, owner, leaseMs / 1000])).rows.length > 0;
    },
    async release(what, owner) {
      const text = `DELETE FROM ${TABLE} WHERE queue = $1 AND key = 'claims' AND field = $2 AND split_part(value, ' ', 2) = $3`;
      await query(text, [queue, what, owner]);
    },
    async clear() {
      await query(`DELETE FROM ${TABLE} WHERE queue = $1`, [queue]);
    },
  };
}
