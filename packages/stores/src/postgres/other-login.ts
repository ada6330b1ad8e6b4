/**
 * Another user and password for the same database, as they change while the proxy runs. Decides whether a URL is of the
 * same database, and whether the server accepts it. Changes no connection.
 */
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { StoreError } from '../store-error.ts';
import { type PostgresAddress, readPostgresAddress } from './address.ts';
import type { Login } from './connection-pool.ts';

/** Throws a {@link StoreError} if the URL differs in more than user and password. */
export function readOtherLogin(current: PostgresAddress, url: string): Login {
  const other = readPostgresAddress(url);
  const { user, password } = other;
  // `prefer` may have connected without TLS.
  const ssl = current.isTlsOptional ? current.ssl : other.ssl;
  const { password: _, ...place } = { ...other, user: current.user, ssl };
  const { password: __, ...currentPlace } = current;
  if (isDeepStrictEqual(printFunctions(place), printFunctions(currentPlace))) return { user, password };
  throw new StoreError(
    'it differs from the store in use in more than user and password. Restart the proxy to use another store.',
  );
}

/** Functions of equal options are never the same object. */
function printFunctions(place: object): unknown {
  return JSON.parse(
    JSON.stringify(place, (_, value) => (typeof value === 'function' ? String(value) : value)),
  );
}

/** Rejects if the server refuses the user or its password, or if the user may not change the tables. */
export async function tryLogin(config: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ ...config, query_timeout: config.connectionTimeoutMillis });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('BEGIN; LOCK TABLE leases IN ROW EXCLUSIVE MODE NOWAIT; ROLLBACK');
  } finally {
    await client.end().catch(() => {});
  }
}
