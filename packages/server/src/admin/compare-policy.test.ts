import { expect, test } from 'vitest';
import { measureBlocking } from '../../test/measure-blocking.ts';
import { makeCall } from '../audit/audit.fixture.ts';
import { createAudit } from '../audit/audit.ts';
import { createRecordJudge } from '../execute/call/judge-recorded-call.ts';
import { CHAIN_KEY } from '../stores/audit-batch.fixture.ts';
import { openMemoryStore } from '../stores/memory/store.ts';
import { comparePolicy } from './compare-policy.ts';

const NOW = Date.parse('2026-03-31T08:00:00.000Z');
const judge = createRecordJudge({ instances: ['prod'], models: { 'sale.*': ['*'] } });
const RANGE = { since: NOW - 1000, until: NOW + 1000 };

async function openAudit(count: number, model: (index: number) => string) {
  const store = openMemoryStore();
  let now = NOW;
  const audit = createAudit({
    store: store.audit,
    leases: store.leases,
    chainKey: CHAIN_KEY,
    clock: () => now,
    retentionMs: null,
    onError: (error) => expect.unreachable(String(error)),
    onLost: () => {},
  });
  for (let index = 0; index < count; index++) {
    now = NOW - Math.floor((count - index) / 1000);
    audit.recordCall(makeCall({ requestId: `r${index}`, model: model(index) }));
    if (index % 10_000 === 9999) await audit.flush();
  }
  await audit.flush();
  return audit;
}

test('leaves the event loop free, however many calls there are', { timeout: 60_000 }, async () => {
  const audit = await openAudit(40_000, (index) => `x.model.${index}`);
  const blockedMs: number[] = [];
  for (let run = 0; run < 5; run++) {
    blockedMs.push(
      await measureBlocking(() => comparePolicy(RANGE, { audit, judge, nowMs: () => performance.now() })),
    );
  }
  expect(Math.min(...blockedMs)).toBeLessThan(20);
});

test('keeps a bounded number of groups, and counts the calls of the others', async () => {
  const audit = await openAudit(1500, (index) => `x.model.${index}`);
  const compared = await comparePolicy(RANGE, { audit, judge, nowMs: () => performance.now() });
  expect(compared).toMatchObject({ calls: 1500, denied: 1500, unlisted: 500, is_cut: false });
  expect(compared.groups).toHaveLength(1000);
});

test('ends early if nobody waits for the answer', async () => {
  const audit = await openAudit(4000, () => 'sale.order');
  const deps = { audit, judge, nowMs: () => performance.now() };
  const compared = await comparePolicy(RANGE, { ...deps, signal: AbortSignal.abort() });
  expect(compared.is_cut).toBe(true);
  expect(compared.calls).toBeLessThan(4000);
});

test('says if its time was over, and from when on it has judged the calls', async () => {
  const audit = await openAudit(4000, () => 'sale.order');
  let nowMs = 0;
  // Each look at the clock takes a second.
  const compared = await comparePolicy(RANGE, { audit, judge, nowMs: () => (nowMs += 1000) });
  expect(compared.is_cut).toBe(true);
  expect(compared.calls).toBeGreaterThan(0);
  expect(compared.calls).toBeLessThan(4000);
  expect(Date.parse(compared.since)).toBeGreaterThan(NOW - 4);
});
