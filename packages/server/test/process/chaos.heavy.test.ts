/** Runs the test of `npm run chaos` for a short time: idempotency keys while the proxy is killed and Odoo fails. */
import { spawnSync } from 'node:child_process';
import { startTestServer } from '@erp-proxy/traffic/testing';
import { describe, expect, test } from 'vitest';
import { proveIdempotency } from '../../../../chaos/idempotency.ts';
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
  // Both kinds of results have occurred, and the faults too.
  expect(proof.confirmed).toBeGreaterThan(creates / 2);
  expect(proof.uncertainRun).toBeGreaterThan(0);
  expect(proof.attemptsLost).toBeGreaterThan(0);
}

describe('a proxy that is killed four times runs no create twice, loses no confirmed one, and reports uncertain ones', {}, () => {
  test('with its keys in SQLite', () => prove());

  // Skipped if there is no redis-server to start.
  test.skipIf(!HAS_REDIS)('with its keys in Redis', async () => {
    const redis = await startTestServer();
    try {
      await prove(redis.url);
    } finally {
      await redis.kill();
    }
  });
});
