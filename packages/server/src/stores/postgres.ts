/**
 * The store in a PostgreSQL database, shared by replicas on several machines. Puts its parts together; must not know
 * what a key means or when it is valid.
 */
import type { OpenedStore } from './open.ts';
import { type PostgresAddress, readPostgresAddress } from './postgres-address.ts';
import { createPostgresAudit } from './postgres-audit.ts';
import { listenForChanges } from './postgres-changes.ts';
import { createConfig, createDatabase } from './postgres-database.ts';
import { fail, isTlsMissing } from './postgres-failures.ts';
import { createPostgresIdempotency } from './postgres-idempotency.ts';
import { createPostgresInstances } from './postgres-instances.ts';
import { createPostgresKeys } from './postgres-keys.ts';
import { createPostgresLeases } from './postgres-leases.ts';
import { migrate } from './postgres-migrations.ts';

/** Connects, and brings the schema up to date; rejects with a {@link StoreError}. */
export async function openPostgresStore(url: string): Promise<OpenedStore> {
  const address = readPostgresAddress(url);
  try {
    return await open(address).catch((error: unknown) => {
      if (address.isTlsOptional && isTlsMissing(error)) return open({ ...address, ssl: false });
      throw error;
    });
  } catch (error) {
    return fail(address.label, error);
  }
}

async function open(address: PostgresAddress) {
  const config = createConfig(address);
  const migration = await migrate(config);
  const database = createDatabase(config, address.label);
  // Where the listening connection died, those of the pool may lead nowhere as well.
  const changes = await listenForChanges(config, () => database.renew());
  return {
    label: address.label,
    migration,
    keys: createPostgresKeys(database),
    instances: createPostgresInstances(database),
    audit: createPostgresAudit(database),
    idempotency: createPostgresIdempotency(database),
    leases: createPostgresLeases(database),
    watch: changes.watch,
    get isWatching() {
      return changes.isWatching;
    },
    async probe() {
      await database.query('SELECT 1');
    },
    async close() {
      await Promise.all([changes.close(), database.close()]);
    },
  };
}
