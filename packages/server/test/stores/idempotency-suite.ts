/** What every store promises of idempotency keys: a part of the suite in store-suite.ts. Test support: nothing else imports it. */
import { beforeEach, expect, test } from 'vitest';
import type { IdempotencyClaim, IdempotencyStore } from '../../src/stores/ports.ts';

const MINUTE_MS = 60_000;
const SOON_MS = 40;
/** Machines that test are slow. */
const POLL = { timeout: 5000, interval: 10 };

export function describeIdempotency(use: () => IdempotencyStore): void {
  let store: IdempotencyStore;

  beforeEach(() => {
    store = use();
  });

  test('knows nothing of an id that nobody has claimed', async () => {
    await store.claim(buildClaim({ id: 'aB' }));
    for (const id of ['', 'ab', 'a%', 'aB ']) expect(await store.find(id)).toBeNull();
  });

  test('gives an id to the first attempt, and shows it to the others', async () => {
    const running = { fingerprint: 'f1', state: 'running', answer: null };
    expect(await store.claim(buildClaim({ attempt: 'one', fingerprint: 'f1' }))).toBeNull();
    expect(await store.claim(buildClaim({ attempt: 'two', fingerprint: 'f2' }))).toEqual(running);
    expect(await store.claim(buildClaim({ attempt: 'one', fingerprint: 'f1' }))).toEqual(running);
    expect(await store.find('a')).toEqual(running);
    expect(await store.claim(buildClaim({ id: 'b' }))).toBeNull();
  });

  test('keeps an answer to the byte, however long', async () => {
    for (const answer of [new Uint8Array(0), bytesOf(0, 255, 10, 0), new Uint8Array(1024 * 1024).fill(200)]) {
      const id = `${answer.length}`;
      await store.claim(buildClaim({ id }));
      await store.complete(id, 'one', answer, MINUTE_MS);
      const kept = { fingerprint: 'f', state: 'done', answer: [...answer] };
      expect(plain(await store.find(id))).toEqual(kept);
      expect(plain(await store.claim(buildClaim({ id, attempt: 'two' })))).toEqual(kept);
    }
  });

  test('knows a call as done without its answer', async () => {
    await store.claim(buildClaim({}));
    await store.complete('a', 'one', null, MINUTE_MS);
    expect(await store.find('a')).toEqual({ fingerprint: 'f', state: 'done', answer: null });
  });

  test('takes what nobody has ended in its time for unknown, and still takes its late end', async () => {
    await store.claim(buildClaim({ runsForMs: SOON_MS }));
    await expect.poll(async () => (await store.find('a'))?.state, POLL).toBe('outcome_unknown');
    expect(await store.claim(buildClaim({ attempt: 'two' }))).toMatchObject({ state: 'outcome_unknown' });
    await store.complete('a', 'one', bytesOf(1), MINUTE_MS);
    expect(plain(await store.find('a'))).toMatchObject({ state: 'done', answer: [1] });
  });

  test('takes an attempt to be running for longer where it is told so, or for less', async () => {
    await store.claim(buildClaim({ runsForMs: SOON_MS }));
    await store.extend('a', 'one', MINUTE_MS);
    await new Promise((resolve) => setTimeout(resolve, 2 * SOON_MS));
    expect(await store.find('a')).toMatchObject({ state: 'running' });
    await store.extend('a', 'two', 0);
    expect(await store.find('a')).toMatchObject({ state: 'running' });
    await store.extend('a', 'one', SOON_MS);
    await expect.poll(async () => (await store.find('a'))?.state, POLL).toBe('outcome_unknown');
  });

  test('knows at once that an attempt was given up', async () => {
    await store.claim(buildClaim({}));
    await store.markUnknown('a', 'one');
    expect(await store.find('a')).toEqual({ fingerprint: 'f', state: 'outcome_unknown', answer: null });
  });

  test('gives an id that was taken back to the next attempt', async () => {
    await store.claim(buildClaim({ fingerprint: 'f1' }));
    await store.release('a', 'one');
    expect(await store.find('a')).toBeNull();
    expect(await store.claim(buildClaim({ attempt: 'two', fingerprint: 'f2' }))).toBeNull();
    expect(await store.find('a')).toMatchObject({ fingerprint: 'f2' });
  });

  test('lets an attempt end only what is its own, and only once', async () => {
    const ends: Record<string, (id: string, attempt: string) => unknown> = {
      complete: (id, attempt) => store.complete(id, attempt, bytesOf(2), 2 * MINUTE_MS),
      markUnknown: (id, attempt) => store.markUnknown(id, attempt),
      extend: (id, attempt) => store.extend(id, attempt, 0),
      release: (id, attempt) => store.release(id, attempt),
    };
    for (const [id, end] of Object.entries(ends)) {
      await store.claim(buildClaim({ id, attempt: 'one' }));
      await store.release(id, 'one');
      await end(id, 'one');
      expect(await store.find(id)).toBeNull();

      await store.claim(buildClaim({ id, attempt: 'two' }));
      await end(id, 'one');
      expect(await store.find(id)).toMatchObject({ state: 'running' });

      await store.complete(id, 'two', bytesOf(1), MINUTE_MS);
      await end(id, 'two');
      expect(plain(await store.find(id))).toMatchObject({ state: 'done', answer: [1] });
    }
  });

  test('measures what a client has: its keys, and the bytes of the answers that are kept', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await store.claim(buildClaim({ id, client: 'one' }));
    await store.claim(buildClaim({ id: 'other', client: 'two' }));
    expect(await store.measure('one')).toEqual({ keys: 5, answerBytes: 0 });
    await store.complete('a', 'one', new Uint8Array(100), MINUTE_MS);
    await store.complete('b', 'one', new Uint8Array(30), 120 * MINUTE_MS);
    await store.complete('c', 'one', null, MINUTE_MS);
    await store.release('d', 'one');
    await store.markUnknown('e', 'one');
    // Neither is its to end any more.
    await store.complete('a', 'one', new Uint8Array(1000), MINUTE_MS);
    await store.release('b', 'one');
    expect(await store.measure('one')).toEqual({ keys: 4, answerBytes: 130 });
    expect(await store.measure('two')).toEqual({ keys: 1, answerBytes: 0 });
    expect(await store.measure('three')).toEqual({ keys: 0, answerBytes: 0 });
  });

  test('forgets what has expired, done or not, and nothing of it comes back with the next attempt', async () => {
    await store.claim(buildClaim({ id: 'done' }));
    await store.complete('done', 'one', bytesOf(1), SOON_MS);
    await store.claim(buildClaim({ id: 'cut off', runsForMs: SOON_MS, expiresInMs: SOON_MS }));
    await store.claim(buildClaim({ id: 'ended', expiresInMs: SOON_MS }));
    await store.complete('ended', 'one', bytesOf(1), MINUTE_MS);
    for (const id of ['done', 'cut off']) {
      await expect.poll(() => store.find(id), POLL).toBeNull();
      expect(await store.claim(buildClaim({ id, attempt: 'two', fingerprint: 'f2' }))).toBeNull();
      expect(await store.find(id)).toEqual({ fingerprint: 'f2', state: 'running', answer: null });
      await store.complete(id, 'one', bytesOf(3), MINUTE_MS);
      expect(await store.find(id)).toMatchObject({ state: 'running', answer: null });
    }
    expect(await store.find('ended')).toMatchObject({ state: 'done' });
  });
}

/** For stores that do not forget by themselves. */
export function describeIdempotencyPruning(use: () => IdempotencyStore): void {
  test('removes what has expired, so many at once', async () => {
    const store = use();
    for (const id of ['a', 'b', 'c']) await store.claim(buildClaim({ id, expiresInMs: SOON_MS }));
    await store.claim(buildClaim({ id: 'stays' }));
    await store.claim(buildClaim({ id: 'kept', expiresInMs: SOON_MS }));
    await store.complete('kept', 'one', bytesOf(1), MINUTE_MS);
    await expect.poll(() => store.find('c'), POLL).toBeNull();
    expect([await store.prune(2), await store.prune(2), await store.prune(2)]).toEqual([2, 1, 0]);
    expect(await store.measure('c')).toEqual({ keys: 2, answerBytes: 1 });
    expect(await store.find('stays')).not.toBeNull();
    expect(await store.find('kept')).not.toBeNull();
  });
}

/** For stores that several processes have open. */
export function describeSharedIdempotency(use: () => [IdempotencyStore, IdempotencyStore]): void {
  test('gives an idempotency key to one of 50 that ask for it at once', async () => {
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

  test('gives an idempotency key that has expired to one of 50, and removes it from none', async () => {
    const stores = use();
    const [one, two] = stores;
    await one.claim(buildClaim({ attempt: 'before', expiresInMs: SOON_MS }));
    await expect.poll(() => two.find('a'), POLL).toBeNull();
    const asked = Array.from({ length: 50 }, async (_, index) => {
      if (index % 5 === 0) await two.prune(10);
      return await stores[index % 2]?.claim(buildClaim({ attempt: `${index}` }));
    });
    expect((await Promise.all(asked)).filter((row) => row === null)).toHaveLength(1);
    expect(await one.find('a')).toMatchObject({ state: 'running' });
  });

  test('shows each how the attempts of the other ended', async () => {
    const [one, two] = use();
    await one.claim(buildClaim({ id: 'done' }));
    await one.claim(buildClaim({ id: 'given up' }));
    await one.claim(buildClaim({ id: 'released' }));
    await one.complete('done', 'one', bytesOf(1), MINUTE_MS);
    await one.markUnknown('given up', 'one');
    await one.release('released', 'one');
    expect(plain(await two.find('done'))).toMatchObject({ state: 'done', answer: [1] });
    expect(await two.find('given up')).toMatchObject({ state: 'outcome_unknown' });
    expect(await two.claim(buildClaim({ id: 'released' }))).toBeNull();
  });
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

function plain(row: Awaited<ReturnType<IdempotencyStore['find']>>) {
  return row && { ...row, answer: row.answer && [...row.answer] };
}
