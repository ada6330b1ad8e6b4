import { expect, test } from 'vitest';
import { check, NOW, openAudit, RANGE } from '../../server/test/admin/recorded-calls.ts';
import { comparePolicy } from './policy-admin.ts';

/** A clock that stands still, for tests that must not run out of time. */
const nowMs = () => 0;

test('keeps a bounded number of groups, and counts the calls of the others', async () => {
  const audit = await openAudit(1500, (index) => `x.model.${index}`);
  const compared = await comparePolicy(RANGE, { audit, check, nowMs });
  expect(compared).toMatchObject({ calls: 1500, denied: 1500, unlisted: 500, is_cut: false });
  expect(compared.groups).toHaveLength(1000);
});

test('ends early if nobody waits for the answer', async () => {
  const audit = await openAudit(4000, () => 'sale.order');
  const deps = { audit, check, nowMs };
  const compared = await comparePolicy(RANGE, { ...deps, signal: AbortSignal.abort() });
  expect(compared.is_cut).toBe(true);
  expect(compared.calls).toBeLessThan(4000);
});

test('says if its time was over, and from when on it has checked the calls', async () => {
  const audit = await openAudit(4000, () => 'sale.order');
  let nowMs = 0;
  // Each reading of the clock advances it by a second.
  const compared = await comparePolicy(RANGE, { audit, check, nowMs: () => (nowMs += 1000) });
  expect(compared.is_cut).toBe(true);
  expect(compared.calls).toBeGreaterThan(0);
  expect(compared.calls).toBeLessThan(4000);
  expect(Date.parse(compared.since)).toBeGreaterThan(NOW - 4);
});
