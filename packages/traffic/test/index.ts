/** What tests and benchmarks of other packages use of this package. Code of the product does not import it. */
export { createTestLimiters, expectPermit } from '../src/limits/database/database-limiters.fixture.ts';
export { RETRIES_FLOOR } from '../src/limits/retry-budget.ts';
export { startTestServer, type TestServer } from '../src/redis/redis.fixture.ts';
