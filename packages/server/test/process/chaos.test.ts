/** The proof of idempotency keys that `npm run chaos` runs at length, in short: a proxy that is killed, an Odoo that breaks. */
import { expect, it } from 'vitest';
import { proveIdempotency } from '../../../../chaos/idempotency.ts';
import { makeFolder } from './program.ts';

it('makes no create twice, loses none that was confirmed, and says which are uncertain, killed four times', {
  timeout: 60_000,
}, async () => {
  const creates = 120;
  const proof = await proveIdempotency({ seed: 7, creates, kills: 4, folder: makeFolder() });
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
});
