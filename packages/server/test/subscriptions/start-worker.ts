/** Starts a worker of subscriptions with readings and deliveries that a test defines. */

import {
  type ChangeReader,
  createSubscriptionWorker,
  printBody,
  type RecordBody,
  readBody,
  WORKER_TIMES,
  type WorkerOptions,
} from '@erp-proxy/data/subscriptions';
import type { Store } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import { onTestFinished } from 'vitest';

const GIVEN = {
  v: 1,
  instance: 'prod',
  model: 'res.partner',
  domain: [],
  fields: ['name'],
  key: null,
  url: 'https://shop.example.com/hook',
  interval_seconds: 86_400,
  secrets: [],
  updated_at: 0,
};
export const BODY = readBody({ name: 'contacts', body: JSON.stringify(GIVEN) }) as RecordBody;
export const TIMES = { ...WORKER_TIMES, secondMs: 10 };
export const NOTHING = { changes: [], unsent: [], state: {}, more: false, isRepeatable: true };

export const OWNER = 'this';

/** A store with one subscription `s`, whose shards {@link OWNER} holds. */
export async function openStore(changes: Partial<RecordBody> = {}): Promise<Store> {
  const store = openMemoryStore();
  await store.subscriptions.holdShards(OWNER, { ttlMs: 60_000, latestMs: 60_000 });
  const body = printBody({ ...BODY, ...changes });
  await store.subscriptions.insert({ id: 's', name: 'contacts', body, createdAt: 0 }, 10);
  return store;
}

export function makeWorker(
  store: Store,
  readChanges: ChangeReader['readChanges'],
  {
    reader,
    ...changes
  }: Partial<Pick<WorkerOptions, 'times' | 'send' | 'clock' | 'nowMs' | 'owner'>> & {
    reader?: Partial<ChangeReader>;
  } = {},
) {
  const errors: unknown[] = [];
  let microseconds = 0;
  const worker = createSubscriptionWorker({
    store,
    reader: {
      readChanges,
      listIds: async () => ({ ids: [] }),
      findGone: async () => ({ gone: [] }),
      ...reader,
    },
    notices: { listDue: async () => [] },
    jobs: { listUnreported: async () => [] },
    check: async () => null,
    send: async () => null,
    owner: OWNER,
    retentionMs: 60_000,
    keptMax: 10,
    times: TIMES,
    events: { deliveryEnded() {}, subscriptionTroubled() {} },
    onError: (error) => errors.push(error),
    openSecrets: () => [],
    clock: Date.now,
    // Each call advances the clock by a microsecond, so that no lease, claim or interval ends, and times keep their
    // order.
    nowMs: () => microseconds++ / 1000,
    random: () => 0.5,
    ...changes,
  });
  onTestFinished(() => worker.close(0));
  return { worker, errors };
}

export function startWorker(...args: Parameters<typeof makeWorker>) {
  const made = makeWorker(...args);
  made.worker.start();
  return made;
}
