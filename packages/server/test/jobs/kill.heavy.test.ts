/** `kill -9` of proxies that run jobs, a few times. `node chaos/jobs.ts` does so two hundred times. */
import { createTestSchema } from '@erp-proxy/stores/testing';
import { expect, test } from 'vitest';
import { countRounds } from '../random-cases.ts';
import { runKillRounds } from './kill-rounds.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';
const SEED = Math.floor(Math.random() * 1_000_000);

async function expectNothingLost(storeUrl?: string): Promise<void> {
  const report = await runKillRounds(countRounds(3), SEED, storeUrl);
  expect(report.faults, JSON.stringify(report)).toEqual([]);
  expect(report.jobs['write done']).toBeGreaterThan(0);
  expect(report.jobs['export done']).toBeGreaterThan(0);
}

test('loses no job and runs no write twice, on SQLite', () => expectNothingLost());

test.skipIf(SERVER_URL === '')('loses no job and runs no write twice, on PostgreSQL', async () => {
  const schema = await createTestSchema(SERVER_URL);
  try {
    await expectNothingLost(schema.url);
  } finally {
    await schema.drop();
  }
});
