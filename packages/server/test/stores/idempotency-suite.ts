/** The part of the store suite about idempotency keys. Test support: the test of the Redis store runs it too. */

import type { IdempotencyClaim, IdempotencyStore } from '@erp-proxy/stores/ports';
import { beforeEach, expect, test } from 'vitest';
import { pause } from '../time.ts';

const MINUTE_MS = 60_000;
const SOON_MS = 40;

export function describeIdempotency(use: () => IdempotencyStore): void {
  let store: IdempotencyStore;

  beforeEach(() => {
    store = use();
  });

  test('finds nothing under an id that was not claimed', async () => {
    await store.claim(buildClaim({ id: 'aB' }));
    for (const id of ['', 'ab', 'a%', 'aB ']) expect(await store.find(id)).toBeNull();
  });

  test('gives the claim to the first attempt, and shows it to the others', async () => {
    const running = { fingerprint: 'f1', state: 'running', answer: null };
    expect(await store.claim(buildClaim({ attempt: 'one', fingerprint: 'f1' }))).toBeNull();
    expect(await store.claim(buildClaim({ attempt: 'two', fingerprint: 'f2' }))).toEqual(running);
    expect(await store.claim(buildClaim({ attempt: 'one', fingerprint: 'f1' }))).toEqual(running);
    expect(await store.find('a')).toEqual(running);
    expect(await store.claim(buildClaim({ id: 'b' }))).toBeNull();
  });

  test('stores an answer byte for byte, whatever its length', async () => {
    for (const answer of [new Uint8Array(0), bytesOf(0, 255, 10, 0), new Uint8Array(1024 * 1024).fill(200)]) {
      const id = `${answer.length}`;
      await store.claim(buildClaim({ id }));
      await store.complete(id, 'one', answer, MINUTE_MS);
      const stored = { fingerprint: 'f', state: 'done', answer: textOf(answer) };
      expect(readable(await store.find(id))).toEqual(stored);
      expect(readable(await store.claim(buildClaim({ id, attempt: 'two' })))).toEqual(stored);
    }
  });

  test('stores that a call is done without its answer', async () => {
    await store.claim(buildClaim({}));
    await store.complete('a', 'one', null, MINUTE_MS);
    expect(await store.find('a')).toEqual({ fingerprint: 'f', state: 'done', answer: null });
  });

  test('the outcome is unknown once the time of an attempt is over, and a late completion is still stored', async () => {
    await store.claim(buildClaim({ runsForMs: SOON_MS }));
    await expect.poll(async () => (await store.find('a'))?.state).toBe('outcome_unknown');
    expect(await store.claim(buildClaim({ attempt: 'two' }))).toMatchObject({ state: 'outcome_unknown' });
    await store.complete('a', 'one', bytesOf(1), MINUTE_MS);
    expect(readable(await store.find('a'))).toMatchObject({ state: 'done', answer: '\x01' });
  });

  test('the time of a running attempt can be extended or shortened', async () => {
    await store.claim(buildClaim({ runsForMs: SOON_MS }));
    await store.extend('a', 'one', MINUTE_MS);
    await pause(2 * SOON_MS);
    expect(await store.find('a')).toMatchObject({ state: 'running' });
    await store.extend('a', 'two', 0);
    expect(await store.find('a')).toMatchObject({ state: 'running' });
    await store.extend('a', 'one', SOON_MS);
    await expect.poll(async () => (await store.find('a'))?.state).toBe('outcome_unknown');
  });

  test('an attempt that is marked unknown is so at once', async () => {
    await store.claim(buildClaim({}));
    await store.markUnknown('a', 'one');
    expect(await store.find('a')).toEqual({ fingerprint: 'f', state: 'outcome_unknown', answer: null });
  });

  test('the next attempt gets the claim of an id that was released', async () => {
    await store.claim(buildClaim({ fingerprint: 'f1' }));
    await store.release('a', 'one');
    expect(await store.find('a')).toBeNull();
    expect(await store.claim(buildClaim({ attempt: 'two', fingerprint: 'f2' }))).toBeNull();
    expect(await store.find('a')).toMatchObject({ fingerprint: 'f2' });
  });

  test('an attempt can end only its own claim, and only once', async () => {
    const endings: Record<string, (id: string, attempt: string) => unknown> = {
      complete: (id, attempt) => store.complete(id, attempt, bytesOf(2), 2 * MINUTE_MS),
      markUnknown: (id, attempt) => store.markUnknown(id, attempt),
      extend: (id, attempt) => store.extend(id, attempt, 0),
      release: (id, attempt) => store.release(id, attempt),
    };
    for (const [id, end] of Object.entries(endings)) {
      await store.claim(buildClaim({ id, attempt: 'one' }));
      await store.release(id, 'one');
      await end(id, 'one');
      expect(await store.find(id)).toBeNull();

      await store.claim(buildClaim({ id, attempt: 'two' }));
      await end(id, 'one');
      expect(await store.find(id)).toMatchObject({ state: 'running' });

      await store.complete(id, 'two', bytesOf(1), MINUTE_MS);
      await end(id, 'two');
      expect(readable(await store.find(id))).toMatchObject({ state: 'done', answer: '\x01' });
    }
  });

  test('measures the keys of a client and the bytes of its stored answers', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await store.claim(buildClaim({ id, client: 'one' }));
    await store.claim(buildClaim({ id: 'other', client: 'two' }));
    expect(await store.measure('one')).toEqual({ keys: 5, answerBytes: 0 });
    await store.complete('a', 'one', new Uint8Array(100), MINUTE_MS);
    await store.complete('b', 'one', new Uint8Array(30), 120 * MINUTE_MS);
    await store.complete('c', 'one', null, MINUTE_MS);
    await store.release('d', 'one');
    await store.markUnknown('e', 'one');
    // Both rows are completed, so these calls have no effect.
    await store.complete('a', 'one', new Uint8Array(1000), MINUTE_MS);
    await store.release('b', 'one');
    expect(await store.measure('one')).toEqual({ keys: 4, answerBytes: 130 });
    expect(await store.measure('two')).toEqual({ keys: 1, answerBytes: 0 });
    expect(await store.measure('three')).toEqual({ keys: 0, answerBytes: 0 });
  });

  test('an expired row is gone, completed or not, and the next attempt gets nothing of it', async () => {
    await store.claim(buildClaim({ id: 'done' }));
    await store.complete('done', 'one', bytesOf(1), SOON_MS);
    await store.claim(buildClaim({ id: 'cut off', runsForMs: SOON_MS, expiresInMs: SOON_MS }));
    await completeInTime(store, 'ended');
    for (const id of ['done', 'cut off']) {
      await expect.poll(() => store.find(id)).toBeNull();
      expect(await store.claim(buildClaim({ id, attempt: 'two', fingerprint: 'f2' }))).toBeNull();
      expect(await store.find(id)).toEqual({ fingerprint: 'f2', state: 'running', answer: null });
      await store.complete(id, 'one', bytesOf(3), MINUTE_MS);
      expect(await store.find(id)).toMatchObject({ state: 'running', answer: null });
    }
    expect(await store.find('ended')).toMatchObject({ state: 'done' });
  });
}

/** Tests for stores that do not remove expired rows by themselves. */
export function describeIdempotencyPruning(use: () => IdempotencyStore): void {
  test('removes expired rows, at most the given number', async () => {
    const store = use();
    for (const id of ['a', 'b', 'c']) await store.claim(buildClaim({ id, expiresInMs: SOON_MS }));
    await store.claim(buildClaim({ id: 'stays' }));
    await completeInTime(store, 'kept');
    await expect.poll(() => store.find('c')).toBeNull();
    expect([await store.prune(2), await store.prune(2), await store.prune(2)]).toEqual([2, 1, 0]);
    expect(await store.measure('c')).toEqual({ keys: 2, answerBytes: 1 });
    expect(await store.find('stays')).not.toBeNull();
    expect(await store.find('kept')).not.toBeNull();
  });
}

/** Tests for stores that several processes share. */
export function describeSharedIdempotency(use: () => [IdempotencyStore, IdempotencyStore]): void {
  test('gives an idempotency key to one of 50 attempts at once', async () => {
    const stores = use();
    const rows = await Promise.all(
      Array.from({ length: 50 }, async (_, index) =>
        stores[index % 2]?.claim(buildClaim({ attempt: `${index}`, fingerprint: `f${index}` })),
      ),
    );
    const winner = rows.indexOf(null);
    expect(rows.filter((row) => row === null)).toHaveLength(1);
    const running = { fingerprint: `f${winner}`, state: 'running', answer: null };
    expect(rows.filter((row) => row !== null)).toEqual(Array(49).fill(running));
  });

  test('gives an expired idempotency key to one of 50 attempts, and does not remove the claim', async () => {
    const stores = use();
    const [one, two] = stores;
    await one.claim(buildClaim({ attempt: 'before', expiresInMs: SOON_MS }));
    await expect.poll(() => two.find('a')).toBeNull();
    const asked = Array.from({ length: 50 }, async (_, index) => {
      if (index % 5 === 0) await two.prune(10);
      return await stores[index % 2]?.claim(buildClaim({ attempt: `${index}` }));
    });
    expect((await Promise.all(asked)).filter((row) => row === null)).toHaveLength(1);
    expect(await one.find('a')).toMatchObject({ state: 'running' });
  });

  test('each process sees how the attempts of the other ended', async () => {
    const [one, two] = use();
    await one.claim(buildClaim({ id: 'done' }));
    await one.claim(buildClaim({ id: 'unknown' }));
    await one.claim(buildClaim({ id: 'released' }));
    await one.complete('done', 'one', bytesOf(1), MINUTE_MS);
    await one.markUnknown('unknown', 'one');
    await one.release('released', 'one');
    expect(readable(await two.find('done'))).toMatchObject({ state: 'done', answer: '\x01' });
    expect(await two.find('unknown')).toMatchObject({ state: 'outcome_unknown' });
    expect(await two.claim(buildClaim({ id: 'released' }))).toBeNull();
  });
}

/** Stores the answer of a call whose row expires soon. On a busy machine, the first attempts may be too late. */
async function completeInTime(store: IdempotencyStore, id: string): Promise<void> {
  for (let expiresInMs = SOON_MS; (await store.find(id)) === null; expiresInMs *= 2) {
    await store.claim(buildClaim({ id, expiresInMs }));
    await store.complete(id, 'one', bytesOf(1), MINUTE_MS);
  }
}

function buildClaim(overrides: Partial<IdempotencyClaim>): IdempotencyClaim {
  return {
    id: 'a',
    client: 'c',
    fingerprint: 'f',
    attempt: 'one',
    runsForMs: MINUTE_MS,
    expiresInMs: 2 * MINUTE_MS,
    ...overrides,
  };
}

function bytesOf(...bytes: number[]): Uint8Array {
  return Uint8Array.from(bytes);
}

function readable(row: Awaited<ReturnType<IdempotencyStore['find']>>) {
  return row && { ...row, answer: row.answer && textOf(row.answer) };
}

/** The bytes as text, because comparing arrays of a million numbers would block the event loop for a second. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}
