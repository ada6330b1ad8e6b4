/** The parts of the SQLite store, on the connections to its database. */
import { createSharedParts } from '../parts.ts';
import { createSqliteAudit } from './audit.ts';
import { createConnection, type SqliteConnection } from './connection.ts';
import type { SqliteConnections } from './database.ts';
import { createSqliteIdempotency } from './idempotency.ts';
import { createSqliteLeases } from './leases.ts';
import type { Parts } from './operations.ts';

export interface PartsOptions {
  /** Called after each change that watchers must learn of. */
  readonly onChange: () => void;
  /** The clock of the machine, which all processes share, in milliseconds. */
  readonly clock?: () => number;
  readonly audit?: Parameters<typeof createSqliteAudit>[1];
}

export function openParts(
  { durable, quick }: SqliteConnections,
  { onChange, clock = Date.now, audit }: PartsOptions,
): { parts: Parts; connection: SqliteConnection } {
  const connection = createConnection(durable, onChange);
  const readOne = durable.prepare('SELECT 1 FROM migrations');
  const parts = {
    ...createSharedParts({
      durable: connection,
      quick: quick === durable ? connection : createConnection(quick, onChange),
    }),
    audit: createSqliteAudit(quick, audit),
    idempotency: createSqliteIdempotency({ durable, quick }, clock),
    leases: createSqliteLeases(quick),
    store: { probe: () => void readOne.get() },
  };
  return { parts, connection };
}
