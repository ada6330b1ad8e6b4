/** The parts of the SQLite store, on the connections to its database. */
import { createSharedParts } from '../parts.ts';
import { createSqliteAudit } from './audit.ts';
import { type ConnectionOptions, createConnection, type SqliteConnection } from './connection.ts';
import type { SqliteConnections } from './database.ts';
import type { Parts } from './operations.ts';

export function openParts(
  { durable, quick }: SqliteConnections,
  options: ConnectionOptions & { readonly audit?: Parameters<typeof createSqliteAudit>[1] },
): { parts: Parts; connection: SqliteConnection } {
  const connection = createConnection(durable, options);
  const readOne = durable.prepare('SELECT 1 FROM migrations');
  const parts = {
    ...createSharedParts({
      durable: connection,
      quick: quick === durable ? connection : createConnection(quick, options),
    }),
    audit: createSqliteAudit(quick, options.audit),
    store: { probe: async () => void readOne.get() },
  };
  return { parts, connection };
}
