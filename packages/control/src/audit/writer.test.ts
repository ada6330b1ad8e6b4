import { createHmac } from 'node:crypto';
import type { AuditRow, AuditStore } from '@erp-proxy/stores/ports';
import { CHAIN_KEY, makeBatch, openMemoryStore } from '@erp-proxy/stores/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeCall } from './audit.fixture.ts';
import { createWriter, type Writer } from './writer.ts';

let store: AuditStore;
/** Runs before the store accepts a batch: does nothing, fails or waits. */
let interfere: () => void | Promise<void>;
let batches: number[];
let errors: unknown[];
let told: number[];
let writer: Writer;
beforeEach(() => {
  vi.useFakeTimers();
  store = openMemoryStore().audit;
  interfere = () => {};
  batches = [];
  errors = [];
  told = [];
  writer = createWriter({
    store: {
      async append(batch) {
        await interfere();
        batches.push(batch.records.length);
        await store.append(batch);
      },
    },
    makeBatch: (records) => makeBatch(...records),
    onError: (error) => errors.push(error),
    onLost: (records) => told.push(records),
  });
});
afterEach(() => vi.useRealTimers());

function push(count: number, changes = {}): void {
  for (let index = 0; index < count; index++) writer.push(makeCall(changes), index);
}

const fail = () => {
  throw new Error('the store is away');
};

const readRows = async (): Promise<AuditRow[]> => store.readAfter(0, 100_000);

test('a record is stored within half a second, without a flush', async () => {
  push(1);
  expect(writer.waiting).toBe(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(await readRows()).toHaveLength(1);
  expect(writer.waiting).toBe(0);
});

test('writes in batches of at most 200, in the order of the calls', async () => {
  push(1001);
  await writer.flush();
  expect(Math.max(...batches)).toBeLessThanOrEqual(200);
  expect((await readRows()).map(({ at }) => at)).toEqual(Array.from({ length: 1001 }, (_, index) => index));
});

test('yields between two batches', async () => {
  vi.useRealTimers();
  push(1000);
  const meanwhile = new Promise<number>((resolve) => setImmediate(() => resolve(writer.waiting)));
  const flushed = writer.flush();
  expect(await meanwhile).toBeGreaterThan(0);
  await flushed;
  expect(writer.waiting).toBe(0);
});

test('chains each row by HMAC-SHA256 of the previous hash, its number and its text', async () => {
  push(2);
  await writer.flush();
  const [first, second] = await readRows();
  const number = Buffer.from([0, 0, 0, 0, 0, 0, 0, 2]);
  const expected = createHmac('sha256', CHAIN_KEY)
    .update(first?.hash ?? '')
    .update(number)
    .update(second?.record ?? '')
    .digest();
  expect(Buffer.from(second?.hash ?? [])).toEqual(expected);
});

test('runs one write at a time, also for actions of administrators', async () => {
  let writing = 0;
  let most = 0;
  interfere = async () => {
    most = Math.max(most, ++writing);
    await Promise.resolve();
    writing--;
  };
  push(500);
  const makeAdminAction = () => makeBatch({ at: 1, record: '{"kind":"admin"}' });
  await Promise.all([
    writer.flush(),
    writer.append(makeAdminAction()),
    writer.flush(),
    writer.append(makeAdminAction()),
  ]);
  expect(most).toBe(1);
  expect(await readRows()).toHaveLength(502);
});

test('repeats writes to an unavailable store with increasing pauses, and loses nothing', async () => {
  interfere = fail;
  push(300);
  await vi.advanceTimersByTimeAsync(60_000);
  const tries = errors.length;
  expect(tries).toBeGreaterThan(5);
  expect(tries).toBeLessThan(25);
  expect(writer.waiting).toBe(300);
  interfere = () => {};
  await vi.advanceTimersByTimeAsync(6000);
  await expect.poll(() => writer.waiting).toBe(0);
  expect((await readRows()).map(({ at }) => at)).toEqual(Array.from({ length: 300 }, (_, index) => index));
  expect(writer.lost).toBe(0);
  await writer.flush();
  push(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(writer.waiting, 'as fast as before').toBe(0);
});

test('rejects an action if the store fails, and does not write it later', async () => {
  interfere = fail;
  await expect(writer.append(makeBatch({ at: 1, record: '{"kind":"admin"}' }))).rejects.toThrow(
    'the store is away',
  );
  interfere = () => {};
  push(1);
  await writer.flush();
  expect((await readRows()).map(({ record }) => JSON.parse(record).kind)).toEqual(['call']);
});

test('rejects a flush if the store fails, and keeps the records', async () => {
  interfere = fail;
  push(1);
  await expect(writer.flush()).rejects.toThrow('the store is away');
  expect(writer.waiting).toBe(1);
});

test('queues at most 50,000 records, drops further ones and reports their number once a second', async () => {
  interfere = fail;
  push(50_000);
  expect(writer.lost).toBe(0);
  push(3);
  expect(writer.waiting).toBe(50_000);
  expect(told, 'at once').toEqual([1]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(told).toEqual([1, 2]);
  push(4);
  await vi.advanceTimersByTimeAsync(1000);
  expect(told).toEqual([1, 2, 4]);
  expect(writer.lost).toBe(7);
  await vi.advanceTimersByTimeAsync(5000);
  expect(told, 'nothing new').toEqual([1, 2, 4]);
  interfere = () => {};
  await writer.flush();
  expect((await readRows()).map(({ at }) => at)).toEqual(Array.from({ length: 50_000 }, (_, index) => index));
});

test('queues at most 32 MiB, and accepts records again after a write', async () => {
  const upstream = `https://erp.example.com/${'x'.repeat(10_000)}`;
  push(5000, { upstream });
  const held = writer.waiting;
  expect(held).toBeGreaterThan(2500);
  expect(held * upstream.length).toBeLessThan(32 * 1024 ** 2);
  expect(writer.lost).toBe(5000 - held);
  await writer.flush();
  push(10, { upstream });
  expect(writer.waiting).toBe(10);
});

test('close writes the queued records, and later ones are dropped', async () => {
  push(500);
  await writer.close();
  expect(await readRows()).toHaveLength(500);
  push(1);
  await writer.close();
  expect(writer.lost).toBe(1);
  expect(await readRows()).toHaveLength(500);
});

test('close repeats a failed write', async () => {
  interfere = fail;
  push(5);
  const closed = writer.close();
  await vi.advanceTimersByTimeAsync(2000);
  interfere = () => {};
  await vi.advanceTimersByTimeAsync(1000);
  await closed;
  expect(await readRows()).toHaveLength(5);
  expect(told).toEqual([]);
});

test.each([
  ['fails', fail],
  ['does not answer', () => new Promise<void>(() => {})],
])('close ends after some seconds if the store %s, and reports the lost records', async (_how, failure) => {
  interfere = failure;
  push(5);
  const closed = writer.close();
  await vi.advanceTimersByTimeAsync(5000);
  await closed;
  expect(told).toEqual([5]);
  expect(writer.waiting).toBe(0);
  const tries = errors.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(errors, 'no more tries').toHaveLength(tries);
});
