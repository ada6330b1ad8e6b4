/**
 * Pages of client keys in SQLite. A page costs the same at any place of any number of keys. With a search or a state it may
 * have to pass over all that do not match: it does so in turns, and other operations run in between.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyListQuery, KeyRecord, KeyStore } from '../ports.ts';

export const RECORD_COLUMNS = `id, name, policy, created_at AS createdAt, expires_at AS expiresAt,
  revoked_at AS revokedAt, last_used_at AS lastUsedAt, replaces, version`;

/** A few milliseconds: the index has all that is compared. */
const TURN_KEYS = 5000;

type Place = Pick<KeyRecord, 'createdAt' | 'id'>;

const FIRST: Place = { createdAt: Number.MIN_SAFE_INTEGER, id: '' };

export function createKeyList(database: DatabaseSync): KeyStore['list'] {
  const read = database.prepare(`SELECT ${RECORD_COLUMNS} FROM client_keys WHERE id = ?`);
  const all = prepareTurns(database, 'TRUE');
  const named = prepareTurns(database, 'name = :name');

  return (query) => {
    const { pick, findEnd } = query.name === undefined ? all : named;
    const ids: string[] = [];

    function takeTurn(after: Place, end: Place | null): void {
      ids.push(...pick(query, after, end, query.limit - ids.length));
    }

    async function takeTurns(): Promise<KeyRecord[]> {
      for (let after: Place = query.after ?? FIRST; ; await nextTurn()) {
        const end = findEnd(query, after);
        takeTurn(after, end);
        if (end === null || ids.length === query.limit) return readAll(ids);
        after = end;
      }
    }

    if (query.search || query.state) return takeTurns();
    takeTurn(query.after ?? FIRST, null);
    return readAll(ids);
  };

  function readAll(ids: readonly string[]): KeyRecord[] {
    return ids.flatMap((id) => (read.get(id) as KeyRecord | undefined) ?? []);
  }
}

/** `condition` holds for the keys that are looked at. */
function prepareTurns(database: DatabaseSync, condition: string) {
  const keys = `SELECT id, created_at AS createdAt FROM client_keys
    WHERE ${condition} AND (created_at, id) > (:createdAt, :id)`;
  const findEnd = database.prepare(`${keys} ORDER BY created_at, id LIMIT 1 OFFSET ${TURN_KEYS - 1}`);
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
    /** The last key of the turn that begins behind `after`; null: the turn is the last one. */
    findEnd({ name }: KeyListQuery, { createdAt, id }: Place): Place | null {
      return (findEnd.get({ createdAt, id, ...named(name) }) as Place | undefined) ?? null;
    },
    pick(
      { search = '', state, name }: KeyListQuery,
      after: Place,
      end: Place | null,
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

/** Bytes sort behind text. */
const LAST_ID = new Uint8Array();

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}
