/** What tests and benchmarks of other packages use of this package. Code of the product does not import it. */
export { CHAIN_KEY, makeBatch } from '../src/audit-batch.fixture.ts';
export { createIdempotency } from '../src/idempotency.ts';
export { createTestSchema, type TestSchema } from '../src/postgres/database.fixture.ts';
export { createConnection } from '../src/sqlite/connection.ts';
export { openMemoryStore } from '../src/sqlite/memory.ts';
export { migrate } from '../src/sqlite/migrations.ts';
export { openSqliteStore } from '../src/sqlite/store.ts';
export { createFileOfVersion1 } from '../src/sqlite/version1.fixture.ts';
