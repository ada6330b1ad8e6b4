/**
 * Pages of client keys in SQLite. The cost of a page does not depend on its position or on the number of keys. With a
 * search or a state, a page may have to skip any number of keys. It does so in slices, between which other operations
 * run.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyListQuery, KeyRecord, KeyStore } from '../ports.ts';

/** A process of an earlier release inserts no client. */
export const RECORD_COLUMNS = `id, coalesce(client_id, id) AS clientId, name, policy, created_at AS createdAt, expires_at AS expiresAt,
  revoked_at AS revokedAt, last_used_at AS lastUsedAt, replaces, version`;

/** Keys that one slice reads. Takes a few milliseconds, because the index has every column that is compared. */
const SLICE_KEYS = 5000;

type Position = Pick<KeyRecord, 'createdAt' | 'id'>;

const FIRST: Position = { createdAt: Number.MIN_SAFE_INTEGER, id: '' };

export function createKeyList(database: DatabaseSync): KeyStore['list'] {
  const read = database.prepare(`SELECT ${RECORD_COLUMNS} FROM client_keys WHERE id = ?`);
  const all = prepareSlices(database, 'TRUE');
  const named = prepareSlices(database, 'name = :name');

  return (query) => {
    const { pick, findEnd } = query.name === undefined ? all : named;
    const ids: string[] = [];

    function readSlice(after: Position, end: Position | null): void {
      ids.push(...pick(query, after, end, query.limit - ids.length));
    }

    async function readSlices(): Promise<KeyRecord[]> {
      for (let after: Position = query.after ?? FIRST; ; await nextTurn()) {
        const end = findEnd(query, after);
        readSlice(after, end);
        if (end === null || ids.length === query.limit) return readAll(ids);
        after = end;
      }
    }

    if (query.search || query.state) return readSlices();
    readSlice(query.after ?? FIRST, null);
    return readAll(ids);
  };

  function readAll(ids: readonly string[]): KeyRecord[] {
    return ids.flatMap((id) => (read.get(id) as KeyRecord | undefined) ?? []);
  }
}

/** `condition` selects the keys that are read. */
function prepareSlices(database: DatabaseSync, condition: string) {
  const keys = `SELECT id, created_at AS createdAt FROM client_keys
    WHERE ${condition} AND (created_at, id) > (:createdAt, :id)`;
  const findEnd = database.prepare(`${keys} ORDER BY created_at, id LIMIT 1 OFFSET ${SLICE_KEYS - 1}`);
  const pick = database.prepare(
    `${keys} AND (created_at, id) <= (:lastCreatedAt, :lastId)
       AND (instr(lower(id), lower(:search)) OR instr(lower(name), lower(:search)))
       AND (:state IS NULL OR :state = CASE
         WHEN revoked_at IS NOT NULL THEN 'revoked'
         WHEN expires_at <= :now THEN 'expired'
         ELSE 'active' END)
     ORDER BY created_at, id LIMIT :limit`,
  );
  return {
    /** The last key of the slice that begins after `after`; null: it is the last slice. */
    findEnd({ name }: KeyListQuery, { createdAt, id }: Position): Position | null {
      return (findEnd.get({ createdAt, id, ...named(name) }) as Position | undefined) ?? null;
    },
    pick(
      { search = '', state, name }: KeyListQuery,
      after: Position,
      end: Position | null,
      limit: number,
    ): string[] {
      const rows = pick.all({
        createdAt: after.createdAt,
        id: after.id,
        lastCreatedAt: end?.createdAt ?? Number.MAX_SAFE_INTEGER,
        lastId: end?.id ?? LAST_ID,
        state: state?.is ?? null,
        now: state?.now ?? null,
        search,
        limit,
        ...named(name),
      });
      return rows.map((row) => String(row['id']));
    },
  };
}

/** A BLOB sorts after every text. */
const LAST_ID = new Uint8Array();

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}
