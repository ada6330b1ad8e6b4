/**
 * Pages of client keys. The cost of a page does not depend on its position or on the number of keys. With a search or a
 * state, a page may have to skip any number of keys. If statements block, keys are read in slices, between which other
 * operations run.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyListQuery, KeyRecord, KeyStore } from './ports/keys.ts';
import { createParameters, isStorable } from './sql.ts';
import type { StoreDatabase } from './statements.ts';

/** `client_id` is null in a row that a process of an earlier release inserted. */
export const RECORD_COLUMNS = `id, coalesce(client_id, id) AS "clientId", name, person, policy,
  created_at AS "createdAt", created_by AS "createdBy", expires_at AS "expiresAt", revoked_at AS "revokedAt",
  last_used_at AS "lastUsedAt", replaces, version`;

/** Number of keys that one slice reads. It takes a few milliseconds, because the index has every column compared. */
const SLICE_KEYS = 5000;

type Position = Pick<KeyRecord, 'createdAt' | 'id'>;

export function createKeyList(database: StoreDatabase): KeyStore['list'] {
  const { contains, isBlocking, isIn } = database.dialect;

  return async (query) => {
    if (!isStorable(query.name ?? '') || !isStorable(query.search ?? '')) return [];
    const isSliced = isBlocking && (query.search !== undefined || query.state !== undefined);
    const ids: string[] = [];
    for (let after = query.after; ; await nextTurn()) {
      const end = isSliced ? await findEnd(query.name, after) : undefined;
      ids.push(...(await pick(query, after, end, query.limit - ids.length)));
      if (end === undefined || ids.length === query.limit) return await readAll(ids);
      after = end;
    }
  };

  function select(name: string | undefined, after: Position | null) {
    const { values, place } = createParameters();
    const conditions = ['true'];
    if (name !== undefined) conditions.push(`name = ${place(name)}`);
    if (after !== null) {
      conditions.push(`(created_at, id) > (${place(after.createdAt)}, ${place(after.id)})`);
    }
    return { values, place, conditions };
  }

  /** The last key of the slice that begins after `after`. Undefined: no further slice follows. */
  async function findEnd(name: string | undefined, after: Position | null): Promise<Position | undefined> {
    const { values, conditions } = select(name, after);
    const [end] = await database.query<Position>(
      `SELECT id, created_at AS "createdAt" FROM client_keys WHERE ${conditions.join(' AND ')}
       ORDER BY created_at, id LIMIT 1 OFFSET ${SLICE_KEYS - 1}`,
      values,
    );
    return end;
  }

  async function pick(
    { search, state, name }: KeyListQuery,
    after: Position | null,
    end: Position | undefined,
    limit: number,
  ): Promise<string[]> {
    const { values, place, conditions } = select(name, after);
    if (end !== undefined) conditions.push(`(created_at, id) <= (${place(end.createdAt)}, ${place(end.id)})`);
    if (search !== undefined) conditions.push(contains(['id', 'name'], place(search)));
    if (state !== undefined) {
      conditions.push(`${place(state.is)} = CASE
        WHEN revoked_at IS NOT NULL THEN 'revoked'
        WHEN expires_at <= ${place(state.now)} THEN 'expired'
        ELSE 'active' END`);
    }
    const rows = await database.query<{ id: string }>(
      `SELECT id FROM client_keys WHERE ${conditions.join(' AND ')} ORDER BY created_at, id LIMIT ${place(limit)}`,
      values,
    );
    return rows.map(({ id }) => id);
  }

  async function readAll(ids: readonly string[]): Promise<KeyRecord[]> {
    const rows = await database.query<KeyRecord>(
      `SELECT ${RECORD_COLUMNS} FROM client_keys WHERE ${isIn('id', '$1')}`,
      [ids],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }
}
