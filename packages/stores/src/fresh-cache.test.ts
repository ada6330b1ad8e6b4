import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { passTurns } from '../../server/test/time.ts';
import { FreshCache, STALE_MS } from './fresh-cache.ts';
import type { ChangeListener } from './ports/store.ts';

interface Row {
  text: string;
}

let rows: Map<string, Row>;
let reads: number;
let tell: ChangeListener;
let store: { watch(listener: ChangeListener): void; isWatching: boolean };
let time: number;
let cache: FreshCache<Row, Row>;
let read: (id: string) => Promise<Row | null>;

beforeEach(() => {
  rows = new Map([['a', { text: 'first' }]]);
  reads = 0;
  read = async (id) => {
    reads++;
    return rows.get(id) ?? null;
  };
  time = 0;
  store = {
    isWatching: true,
    watch(listener) {
      tell = listener;
    },
  };
  cache = new FreshCache<Row, Row>({
    max: 2,
    kind: 'key',
    store,
    read: (id) => read(id),
    open(row) {
      if (row.text === 'bad') throw new Error('a bad row');
      return row;
    },
    nowMs: () => time,
  });
});
afterEach(() => cache.close());

test('a cached row is used until the store reports a change of it', async () => {
  expect(cache.find('a')).toBeUndefined();
  expect(await cache.load('a')).toEqual({ text: 'first' });
  time += 10 * STALE_MS;
  expect(cache.find('a')).toEqual({ text: 'first' });
  tell({ kind: 'key', id: 'b' });
  tell({ kind: 'instance', id: 'a' });
  expect(cache.find('a')).toEqual({ text: 'first' });
  tell({ kind: 'key', id: 'a' });
  expect(cache.find('a')).toBeUndefined();
});

test('every row is read again when anything may have changed', async () => {
  await cache.load('a');
  tell(null);
  expect(cache.find('a')).toBeUndefined();
  expect(await cache.load('a')).toEqual({ text: 'first' });
  expect(cache.find('a')).toEqual({ text: 'first' });
});

test.each([{ kind: 'key', id: 'none' } as const, null])(
  'an absent id is cached until %o is reported, and is not used while the store is unavailable',
  async (change) => {
    expect(cache.find('none')).toBeUndefined();
    expect(await cache.load('none')).toBeNull();
    expect(cache.find('none')).toBeNull();
    store.isWatching = false;
    expect(cache.find('none')).toBeUndefined();
    store.isWatching = true;
    expect(cache.find('none')).toBeNull();
    rows.set('none', { text: 'there now' });
    tell(change);
    expect(cache.find('none')).toBeUndefined();
    expect(await cache.load('none')).toEqual({ text: 'there now' });
    expect(cache.find('none')).toEqual({ text: 'there now' });
  },
);

test('an id is not cached as absent if a change of it was reported during the read', async () => {
  const old = Promise.withResolvers<null>();
  read = () => old.promise;
  const before = cache.load('new');
  tell({ kind: 'key', id: 'new' });
  old.resolve(null);
  expect(await before).toBeNull();
  expect(cache.find('new')).toBeUndefined();
});

test('the cache keeps within its bound, and absent ids evict no row', async () => {
  for (let n = 0; n < 5_000; n++) await cache.load(`none ${n}`);
  expect(cache.find('none 4999')).toBeNull();
  expect(cache.find('none 0')).toBeUndefined();
  for (const id of ['a', 'b', 'c']) rows.set(id, { text: id });
  for (const id of ['a', 'b', 'c']) await cache.load(id);
  expect(['a', 'b', 'c'].map((id) => cache.find(id)?.text)).toEqual([undefined, 'b', 'c']);
});

test('simultaneous loads of one id share one read', async () => {
  const row = Promise.withResolvers<Row>();
  read = async () => {
    reads++;
    return row.promise;
  };
  const answers = [cache.load('a'), cache.load('a')];
  row.resolve({ text: 'once' });
  expect(await Promise.all(answers)).toEqual([{ text: 'once' }, { text: 'once' }]);
  expect(reads).toBe(1);
  expect(cache.find('a')).toEqual({ text: 'once' });
});

test.each([{ kind: 'key', id: 'a' } as const, null])(
  'a row that was being read when %o was reported is not cached, and later loads read it again',
  async (change) => {
    const old = Promise.withResolvers<Row>();
    read = () => old.promise;
    const before = cache.load('a');
    tell(change);
    read = async () => ({ text: 'new' });
    const after = cache.load('a');
    old.resolve({ text: 'old' });
    expect(await before).toEqual({ text: 'old' });
    expect(await after).toEqual({ text: 'new' });
    expect(cache.find('a')).toEqual({ text: 'new' });
  },
);

test('cached rows stay usable for a limited time while the store is unavailable', async () => {
  await cache.load('a');
  store.isWatching = false;
  time += STALE_MS - 1;
  expect(cache.find('a')).toEqual({ text: 'first' });
  time += 1;
  expect(cache.find('a')).toBeUndefined();
});

test('a change arrives within seconds if the store answers but is not watching', async () => {
  await cache.load('a');
  store.isWatching = false;
  rows.set('a', { text: 'second' });
  time += 999;
  expect(cache.find('a')).toEqual({ text: 'first' });
  expect(reads).toBe(1);
  time += 1;
  // `find` does not wait for the read.
  expect(cache.find('a')).toEqual({ text: 'first' });
  expect(reads).toBe(2);
  await passTurns();
  expect(cache.find('a')).toEqual({ text: 'second' });
  rows.delete('a');
  time += 1000;
  cache.find('a');
  await passTurns();
  expect(cache.find('a')).toBeUndefined();
});

test('cached rows stay usable when a read fails, except rows with a reported change', async () => {
  await cache.load('a');
  tell(null);
  read = async () => {
    throw new Error('away');
  };
  expect(await cache.load('a')).toEqual({ text: 'first' });
  await expect(cache.load('b')).rejects.toThrow('away');
  tell({ kind: 'key', id: 'a' });
  await expect(cache.load('a')).rejects.toThrow('away');
});

test('an invalid row is not replaced by an older one', async () => {
  await cache.load('a');
  tell(null);
  rows.set('a', { text: 'bad' });
  await expect(cache.load('a')).rejects.toThrow('a bad row');
  read = async (id) => rows.get(id) ?? null;
  await expect(cache.load('a')).rejects.toThrow('a bad row');
  read = async () => {
    throw new Error('away');
  };
  await expect(cache.load('a')).rejects.toThrow('away');
});

test('the time limit counts from when a row was last valid, however often the store fails and recovers', async () => {
  await cache.load('a');
  read = async () => {
    throw new Error('away');
  };
  for (let outage = 1; outage <= 4; outage++) {
    store.isWatching = false;
    time += STALE_MS / 5;
    expect(cache.find('a')).toEqual({ text: 'first' });
    store.isWatching = true;
    tell(null);
    expect(cache.find('a')).toBeUndefined();
    expect(await cache.load('a')).toEqual({ text: 'first' });
  }
  store.isWatching = false;
  time += STALE_MS / 5;
  expect(cache.find('a')).toBeUndefined();
  // The limit also applies if reads fail while the store is watching.
  store.isWatching = true;
  await expect(cache.load('a')).rejects.toThrow('away');
});

describe('rows that take long to open', () => {
  const ids = ['a', 'b', 'c', 'd'];
  let opened: string[];
  beforeEach(() => {
    opened = [];
    rows = new Map(ids.map((id) => [id, { text: id }]));
    read = async (id) => rows.get(id) ?? null;
    cache.close();
    cache = new FreshCache<Row, Row>({
      max: 10,
      kind: 'key',
      store,
      read: (id) => read(id),
      open(row) {
        opened.push(row.text);
        time += 10;
        return row;
      },
      nowMs: () => time,
    });
  });

  test('are opened one in a turn of the event loop', async () => {
    const loads = ids.map((id) => cache.load(id));
    const counts: number[] = [];
    for (let turn = 0; turn < ids.length; turn++) {
      await Promise.resolve().then(() => counts.push(opened.length));
      await nextTurn();
    }
    expect(counts.every((count, turn) => count <= turn + 1)).toBe(true);
    expect((await Promise.all(loads)).map((row) => row?.text)).toEqual(ids);
    expect(opened).toEqual(ids);
    expect(ids.map((id) => cache.find(id)?.text)).toEqual(ids);
  });

  test.each([{ kind: 'key', id: 'd' } as const, null])(
    'are stale if %o is reported before they are opened',
    async (change) => {
      const loads = ids.map((id) => cache.load(id));
      await Promise.resolve();
      expect(opened).not.toContain('d');
      rows.set('d', { text: 'new' });
      tell(change);
      const after = cache.load('d');
      expect((await loads[3])?.text).toBe('d');
      expect((await after)?.text).toBe('new');
      expect(cache.find('d')?.text).toBe('new');
    },
  );

  test('are opened once for simultaneous loads', async () => {
    const loads = [...ids, ...ids].map((id) => cache.find(id) ?? cache.load(id));
    await Promise.all(loads);
    expect(opened).toEqual(ids);
  });
});
