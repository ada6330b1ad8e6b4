/** Puts together the parts of the store in a PostgreSQL database, which replicas on several machines can share. */
import { createSharedParts } from '../parts.ts';
import type { FoundStore, OpenedStore } from '../ports/store.ts';
import type { StoreDatabase } from '../statements.ts';
import type { StoreTables } from '../tables.ts';
import { type PostgresAddress, readPostgresAddress } from './address.ts';
import { createPostgresAudit, transactWithAudit } from './audit.ts';
import { openChangeFeed } from './changes.ts';
import { createConfig, createDatabase } from './database.ts';
import { isTlsMissing, throwStoreError } from './failures.ts';
import { isMigrated, migrate } from './migrations.ts';
import { readOtherLogin, tryLogin } from './other-login.ts';
import { openPostgresTables } from './tables.ts';

/** Connects, and migrates the schema. Rejects with a {@link StoreError}. */
export async function openPostgresStore(url: string): Promise<OpenedStore> {
  return connect(readPostgresAddress(url), open);
}

/** Connects, and checks whether the tables exist. Rejects with a {@link StoreError}. */
export function lookForPostgresStore(url: string): Promise<FoundStore> {
  return connect(readPostgresAddress(url), async (address) => ({
    label: address.label,
    exists: await isMigrated(createConfig(address)),
  }));
}

/** Rejects with a {@link StoreError}. */
export function openTablesOfPostgresStore(url: string, mode: 'read' | 'write'): Promise<StoreTables> {
  return connect(readPostgresAddress(url), (address) =>
    openPostgresTables(createConfig(address), address.label, mode),
  );
}

/** Connects with TLS. Connects without TLS if the server has none and the URL allows that. */
async function connect<Result>(
  address: PostgresAddress,
  work: (address: PostgresAddress) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(address).catch((error: unknown) => {
      if (address.isTlsOptional && isTlsMissing(error)) return work({ ...address, ssl: false });
      throw error;
    });
  } catch (error) {
    return throwStoreError(address.label, error);
  }
}

async function open(address: PostgresAddress) {
  const config = createConfig(address);
  const migration = await migrate(config);
  const database = createDatabase(config, address.label);
  const withAudit: StoreDatabase = {
    ...database,
    transactWithAudit: (auditBatch, work, isDone) => transactWithAudit(database, auditBatch, work, isDone),
  };
  // If the listening connection died, the connections of the pool may be dead as well.
  const changes = await openChangeFeed(config, {
    lost: () => database.renew(),
    found: () => database.recordReachable(),
  });
  return {
    label: address.label,
    migration,
    ...createSharedParts({ durable: withAudit, quick: withAudit }),
    audit: createPostgresAudit(database),
    watch: changes.watch,
    get isWatching() {
      return changes.isWatching;
    },
    get trouble() {
      return database.trouble;
    },
    get statementsGivenUp() {
      return database.statementsGivenUp;
    },
    async probe() {
      await database.query('SELECT 1');
    },
    async takeLogin(url: string) {
      const login = readOtherLogin(address, url);
      await tryLogin({ ...config, ...login }).catch((error: unknown) =>
        throwStoreError(address.label, error),
      );
      database.useLogin(login);
    },
    async close() {
      await Promise.all([changes.close(), database.close()]);
    },
  };
}
