/**
 * Drives several processes that share a store through random events: they join, leave, die, and lose the store for a
 * while. Receivers fail and are slow at random. For each subscription, the versions of a record arrive in order, never
 * two at once, and the last one arrives. In the end every gauge is back at 0.
 */
import { StoreError } from '@erp-proxy/stores';
import type { Store } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import { expect, onTestFinished, test } from 'vitest';
import { countRounds } from '../../../server/test/random-cases.ts';
import { BODY, makeWorker, TIMES } from '../../../server/test/subscriptions/start-worker.ts';
import { MOMENT_MS, monotonicMs, pauseAtRandom } from '../../../server/test/time.ts';
import { printBody } from './row.ts';

const RECORDS = [1, 2, 3];
/** Their last characters are their shards. */
const SUBSCRIPTIONS = ['a0', 'a3', 'a7', 'ac', 'af'];
const EVENTS = 60;
const EVENT_PAUSE_MS_MAX = 60;
/** A claim is longer than a turn of a busy machine takes, and a lease is short, so that shards change hands often. */
const SHORT = { ...TIMES, leaseMs: 300, claimMs: 2000, sendMs: 1000, secondMs: 5, upkeepMs: 100 };

test.each(Array.from({ length: countRounds(2) }, (_, round) => 20_261_201 + round))(
  'keeps its promises, with the seed %i',
  async (seed) => {
    const random = createRandom(seed);
    const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)];
    const store = openMemoryStore();
    onTestFinished(() => store.close());
    const body = printBody({ ...BODY, interval_seconds: 5 });
    for (const id of SUBSCRIPTIONS)
      await store.subscriptions.insert({ id, name: id, body, createdAt: 0 }, 10);
    const versions = new Map(RECORDS.map((record) => [record, 1]));
    const arrived = new Map<string, number>();
    const faults: string[] = [];
    let workers: Worker[] = [];

    interface Worker {
      worker: ReturnType<typeof makeWorker>['worker'];
      isCutOff: boolean;
      isDead: boolean;
      /** What this process is sending. */
      sending: Set<string>;
    }

    function join(): void {
      const sending = new Set<string>();
      const state = { isCutOff: false, isDead: false, sending };
      const { worker } = makeWorker(
        cutOff(store, () => state.isCutOff || state.isDead),
        async (_, known) => {
          const seen = (known ?? {}) as Record<string, number>;
          const changed = RECORDS.filter((record) => versions.get(record) !== seen[record]);
          const read = Object.fromEntries(versions);
          return {
            changes: changed.map((id) => ({
              change: 'upsert' as const,
              id,
              at: null,
              record: Buffer.from(JSON.stringify({ version: read[id] })),
            })),
            unsent: [],
            state: read,
            more: false,
            isRepeatable: changed.length === 0,
          };
        },
        {
          owner: `process-${random()}`,
          times: SHORT,
          clock: Date.now,
          nowMs: monotonicMs,
          async send({ delivery, maySend }) {
            if (!maySend() || state.isDead) return null;
            const { subscription, id, record } = JSON.parse(delivery.body).data;
            const name = `${subscription} ${id}`;
            const others = workers.filter((other) => !other.isDead && other.sending.has(name));
            if (others.length > 0) faults.push(`two deliveries of ${name} at once`);
            if (record.version < (arrived.get(name) ?? 0)) faults.push(`${name}: ${record.version} is late`);
            sending.add(name);
            arrived.set(name, record.version);
            await pauseAtRandom(random, MOMENT_MS);
            sending.delete(name);
            const status = random() < 0.2 ? 500 : 204;
            const failure = status === 500 ? 'no' : null;
            const outcome = { isTaken: failure === null, isGone: false, status, failure };
            return { delivery, ...outcome, retryAfterSeconds: null, durationMs: 1 };
          },
        },
      );
      workers.push(Object.assign(state, { worker }));
      worker.start();
    }

    const happen: (() => unknown)[] = [
      () => workers.length < 4 && join(),
      async () => {
        const left = pick(workers);
        workers = workers.filter((each) => each !== left);
        await left?.worker.close(SHORT.sendMs);
      },
      () => {
        const dead = pick(workers);
        workers = workers.filter((each) => each !== dead);
        if (dead !== undefined) dead.isDead = true;
      },
      () => {
        for (const each of workers) each.isCutOff = random() < 0.4;
      },
      ...Array.from({ length: 4 }, () => () => {
        const record = pick(RECORDS) ?? 1;
        versions.set(record, (versions.get(record) ?? 0) + 1);
      }),
    ];
    join();
    for (let event = 0; event < EVENTS; event++) {
      await pick(happen)?.();
      await pauseAtRandom(random, EVENT_PAUSE_MS_MAX);
      const held = workers.flatMap(({ worker }) => worker.states().shards);
      if (new Set(held).size !== held.length) faults.push('two processes hold a shard');
    }
    for (const each of workers) each.isCutOff = false;
    join();

    const listWaiting = async () => {
      const lists = SUBSCRIPTIONS.map(async (id) =>
        store.subscriptions.listDeliveries(id, { beforeSeq: null, limit: 99, state: 'waiting' }),
      );
      return (await Promise.all(lists)).flat();
    };
    const wanted = SUBSCRIPTIONS.flatMap((subscription) =>
      RECORDS.map((record) => [`${subscription} ${record}`, versions.get(record)]),
    );
    await expect.poll(() => Object.fromEntries(arrived)).toEqual(Object.fromEntries(wanted));
    await expect.poll(listWaiting).toEqual([]);
    await expect.poll(() => workers.flatMap(({ worker }) => worker.states().shards).length).toBe(16);
    for (const { worker } of workers) await worker.close(SHORT.sendMs);
    for (const { worker } of workers)
      expect(worker.states()).toMatchObject({ shards: [], reading: 0, sending: 0 });
    expect(faults).toEqual([]);
  },
);

/** A store that a process reaches only while it is not cut off. */
function cutOff(store: Store, isCutOff: () => boolean): Store {
  const guard = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          if (isCutOff()) throw new StoreError('The store cannot be reached.');
          return member.apply(target, args);
        };
      },
    });
  return new Proxy(store, {
    get: (target, name) =>
      name === 'subscriptions' || name === 'leases' ? guard(target[name]) : Reflect.get(target, name),
  });
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}
