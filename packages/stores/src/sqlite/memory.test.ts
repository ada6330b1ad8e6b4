import { describe, expect, test } from 'vitest';
import { describeStore } from '../../../server/test/stores/store-suite.ts';
import { StoreError } from '../store-error.ts';
import { openMemoryStore } from './memory.ts';

const CLAIM = { client: 'c', fingerprint: 'f', attempt: 'one', runsForMs: 10, expiresInMs: 20 };
const EXPIRES_MS = 20;

describeStore({ name: 'memory', open: openMemoryStore });

test('refuses operations once it is closed', async () => {
  const store = openMemoryStore();
  store.close();
  await expect((async () => store.keys.isEmpty())()).rejects.toThrow(StoreError);
  await expect((async () => store.probe())()).rejects.toThrow(StoreError);
  store.close();
});

describe('idempotency keys', () => {
  const open = (now: () => number, keysMax: number) =>
    openMemoryStore({ clock: now, bounds: { keysMax, answerBytesMax: 100 } }).idempotency;

  test('drops the oldest answers beyond the bound of bytes, but no key', async () => {
    let now = 0;
    const store = open(() => now, 10);
    for (const id of ['a', 'b', 'c', 'd']) await store.claim({ ...CLAIM, id });
    for (const id of ['b', 'a', 'c']) {
      await store.complete(id, 'one', new Uint8Array(40), EXPIRES_MS);
      now++;
    }
    expect(await store.find('b')).toEqual({ fingerprint: 'f', state: 'done', answer: null });
    for (const id of ['a', 'c']) expect((await store.find(id))?.answer).toHaveLength(40);
    await store.complete('d', 'one', new Uint8Array(101), EXPIRES_MS);
    for (const id of ['a', 'b', 'c', 'd'])
      expect(await store.find(id)).toMatchObject({ state: 'done', answer: null });
  });

  test('frees the bytes of expired answers', async () => {
    let now = 0;
    const store = open(() => now, 10);
    await store.claim({ ...CLAIM, id: 'old' });
    await store.complete('old', 'one', new Uint8Array(100), EXPIRES_MS);
    now = EXPIRES_MS;
    expect(await store.prune(1)).toBe(1);
    for (const id of ['a', 'b']) await store.claim({ ...CLAIM, id });
    for (const id of ['a', 'b']) await store.complete(id, 'one', new Uint8Array(50), EXPIRES_MS);
    for (const id of ['a', 'b']) expect((await store.find(id))?.answer).toHaveLength(50);
  });

  test('refuses new keys beyond the bound, and still completes existing ones', async () => {
    let now = 0;
    const store = open(() => now, 2);
    await store.claim({ ...CLAIM, id: 'a' });
    await store.claim({ ...CLAIM, id: 'b' });
    await expect((async () => store.claim({ ...CLAIM, id: 'c' }))()).rejects.toThrow(/Use a lasting store/);
    expect(await store.find('c')).toBeNull();
    expect(await store.claim({ ...CLAIM, id: 'a' })).toMatchObject({ state: 'running' });
    await store.complete('a', 'one', new Uint8Array(1), 100);
    expect(await store.find('a')).toMatchObject({ state: 'done' });
    now = EXPIRES_MS;
    expect(await store.claim({ ...CLAIM, id: 'b', attempt: 'two' }), 'in place of an expired key').toBeNull();
  });

  test('is not affected when a caller changes the bytes of an answer', async () => {
    const store = open(() => 0, 10);
    await store.claim({ ...CLAIM, id: 'a' });
    const answer = new Uint8Array([1]);
    await store.complete('a', 'one', answer, EXPIRES_MS);
    answer.fill(0);
    (await store.find('a'))?.answer?.fill(0);
    expect([...((await store.find('a'))?.answer ?? [])]).toEqual([1]);
  });
});
