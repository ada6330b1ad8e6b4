/** The proof of idempotency keys that `npm run chaos` runs at length, in short: a proxy that is killed, an Odoo that breaks. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { proveIdempotency } from '../../../../chaos/idempotency.ts';
import { startTestServer } from '../../src/redis/redis.fixture.ts';
import { makeFolder } from './program.ts';

const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

async function prove(redisUrl?: string): Promise<void> {
  const creates = 120;
  const proof = await proveIdempotency({
    seed: 7,
    creates,
    kills: 4,
    folder: makeFolder(),
    ...(redisUrl === undefined ? {} : { redisUrl }),
  });
  expect(proof).toMatchObject({
    duplicates: [],
    confirmedMissing: [],
    confirmedWithOtherId: [],
    unexpected: [],
  });
  expect(proof.confirmed + proof.uncertain).toBe(creates);
  // Both kinds were there, and so were the faults.
  expect(proof.confirmed).toBeGreaterThan(creates / 2);
  expect(proof.uncertainRun).toBeGreaterThan(0);
  expect(proof.attemptsLost).toBeGreaterThan(0);
}

describe('makes no create twice, loses none that was confirmed, and says which are uncertain, killed four times', {
  timeout: 60_000,
}, () => {
  test('with its keys in SQLite', () => prove());

  // Skipped where there is no redis-server to start.
  test.skipIf(!HAS_REDIS)('with its keys in Redis', async () => {
    const redis = await startTestServer();
    try {
      await prove(redis.url);
    } finally {
      await redis.kill();
    }
  });
});
