/** Tests subscriptions of several processes: one process at a time delivers them, and a kill loses nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestSchema } from '@erp-proxy/stores/testing';
import { expect, onTestFinished, test } from 'vitest';
import { countRounds } from '../random-cases.ts';
import { runKillRounds } from '../subscriptions/kill-rounds.ts';
import { watchOverlaps } from '../subscriptions/receiver.ts';
import { SHORT_TIMES, startStage } from '../subscriptions/stage.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { expectToStay, MOMENT_MS, runLater } from '../time.ts';

test('two replicas divide the shards, never send at once, and one takes over from the other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
  // Runs after the proxies have closed, which `afterEach` does.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const stage = await startStage({
    settings: { 'store.url': `sqlite:${folder}/store.db` },
    // If the first proxy ends while it sends, the other one sends the deliveries again after `claimMs`.
    subscriptionTimes: { ...SHORT_TIMES, claimMs: 3000, sendMs: 1000 },
  });
  const { receiver, odoo, subscribe, proxy, startOther } = stage;
  const other = await startOther();
  const held = () => [proxy, other].map(({ app }) => app.subscriptionWorker.states().shards);
  const ids = [await odoo('create', { name: 'Test a 0' }), await odoo('create', { name: 'Test b 0' })];
  const overlaps: string[] = [];
  receiver.answer = watchOverlaps(overlaps, (response) => {
    runLater(MOMENT_MS, () => response.writeHead(204).end());
  });
  await subscribe();
  for (let version = 1; version <= 20; version++) {
    for (const id of ids) await odoo('write', [id], { name: `Test ${version}` });
    const [one, two] = held();
    expect(one?.filter((shard) => two?.includes(shard))).toEqual([]);
  }
  await expect.poll(() => receiver.received.at(-1)?.json.data.record.name).toBe('Test 20');
  await expect.poll(() => held().map(({ length }) => length)).toEqual([8, 8]);
  const admin = other.app.adminFor(TEST_ACTOR);
  await other.call({
    action: 'write',
    model_id: 'res.partner',
    params: [[ids[0]], { name: 'Test last' }],
    erp_instance: { name: 'prod' },
  });
  await proxy.close();
  await expect.poll(() => other.app.subscriptionWorker.states().shards).toHaveLength(16);
  await expect
    .poll(() => receiver.received.findLast(({ json }) => json.data.id === ids[0])?.json.data.record.name)
    .toBe('Test last');
  expect(overlaps).toEqual([]);
  expect(await admin.getSubscription('contacts')).toMatchObject({ state: 'active', problem: null });
});

test('a process that was stopped and lost its lease sends nothing when it continues', async () => {
  // A monotonic clock that jumps stands for the time in which the process was stopped.
  let aheadMs = 0;
  let isJumping = false;
  const stage = await startStage({
    subscriptionTimes: { ...SHORT_TIMES, leaseMs: 60_000 },
    nowMs: () => Date.now() + aheadMs,
  });
  const { receiver, odoo, subscribe, proxy } = stage;
  await subscribe();
  await expect.poll(() => proxy.app.subscriptionWorker.states().shards).toHaveLength(16);
  const { subscriptions } = proxy.app.store;
  const claim = subscriptions.claimDeliveries.bind(subscriptions);
  subscriptions.claimDeliveries = async (wanted) => {
    const batches = await claim(wanted);
    // The process is stopped right after it has claimed deliveries.
    if (batches.some(({ deliveries }) => deliveries.length > 0) && isJumping) aheadMs += 120_000;
    return batches;
  };
  isJumping = true;
  await odoo('create', { name: 'Test one' });
  await expect.poll(() => aheadMs).toBeGreaterThan(0);
  await expectToStay(() => receiver.received, []);
  expect(proxy.app.subscriptionWorker.states().sending).toBe(0);
});

test('kill -9 at random loses nothing, and keeps the order of each record', async () => {
  const rounds = countRounds(3);
  const report = await runKillRounds({ rounds, seed: 20_261_125 });
  expect(report).toMatchObject({ faults: [], events: { kill: rounds } });
});

const POSTGRES_URL = process.env['TEST_POSTGRES_URL'] ?? '';

test.skipIf(POSTGRES_URL === '')(
  'three replicas on PostgreSQL that are killed, stopped for a while and cut off from it lose nothing either',
  async () => {
    const schema = await createTestSchema(POSTGRES_URL);
    onTestFinished(schema.drop);
    const rounds = countRounds(9);
    const report = await runKillRounds({
      rounds,
      seed: 20_261_201,
      storeUrl: schema.url,
      replicas: 3,
      subscriptions: 12,
      events: ['kill', 'stop', 'cut'],
    });
    expect(report).toMatchObject({ faults: [], events: { kill: 3, stop: 3, cut: 3 } });
    // Each replica has sent deliveries.
    expect(report.senders).toBeGreaterThanOrEqual(3);
  },
);
