import { expect, test } from 'vitest';
import { expectCpuBelow } from '../../../server/test/time.ts';
import type { RecordChange } from './delivery-body.ts';
import {
  changeIdParts,
  followIds,
  parseProgress,
  printProgress,
  readWatchedIds,
  takeIdsAfter,
  WATCHED_IDS_MAX,
} from './progress.ts';

const change = (id: number, kind: RecordChange['change']): RecordChange => ({
  change: kind,
  id,
  at: null,
  record: null,
});

test('ids follow random changes as a set would, in their order', () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  let state = seed;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
  let ids: readonly number[] = [];
  for (let round = 0; round < 300; round++) {
    const changes = Array.from({ length: next(12) }, () =>
      change(1 + next(40), (['upsert', 'upsert', 'left', 'gone'] as const)[next(4)]!),
    );
    const expected = new Set(ids);
    for (const { change: kind, id } of changes) {
      if (kind === 'upsert') expected.add(id);
      else expected.delete(id);
    }
    ids = followIds(ids, changes);
    expect(ids, `seed ${seed}`).toEqual([...expected].sort((a, b) => a - b));
    const after = next(45);
    const above = ids.filter((id) => id > after);
    expect(takeIdsAfter(ids, after, 5)).toEqual((above.length === 0 ? ids : above).slice(0, 5));
  }
});

test('ids in parts are those that were followed, and only parts with other ids are stored', () => {
  const stored = new Map<number, string>();
  const read = () => readWatchedIds({ reader: null, hasIdParts: true }, printStored());
  const printStored = () =>
    [...stored]
      .sort(([one], [other]) => one - other)
      .map(([, ids]) => ids)
      .join() || null;
  let before: readonly number[] | null = null;
  const follow = (changes: readonly RecordChange[]) => {
    const after = followIds(before ?? [], changes);
    const ids = changes.map(({ id }) => id);
    const { replacesAll = false, parts = [] } = changeIdParts(before, after, ids) ?? {};
    if (replacesAll) stored.clear();
    for (const { part, ids } of parts) {
      expect(stored.get(part) ?? '').not.toBe(ids);
      if (ids === '') stored.delete(part);
      else stored.set(part, ids);
    }
    before = after;
    expect(read()).toEqual(after);
    return parts.reduce((sum, { ids }) => sum + ids.length, 0);
  };
  follow(Array.from({ length: 20_000 }, (_, index) => change(index * 7 - 9000, 'upsert')));
  expect(follow([change(-9000, 'upsert'), change(2 ** 40, 'gone')])).toBe(0);
  expect(follow([change(-8999, 'upsert'), change(2 ** 40, 'upsert')])).toBeLessThan(4096);
  expect(follow([change(-9000, 'left')])).toBeLessThan(4096);
  follow(before!.map((id) => change(id, 'gone')));
  expect(stored.size).toBe(0);
});

test('ids that are not known any more are removed', () => {
  expect(changeIdParts([7], null, [7])).toEqual({ replacesAll: true, parts: [] });
  expect(changeIdParts(null, null, [7])).toBeUndefined();
  expect(readWatchedIds(parseProgress(printProgress({}, null)), '7')).toBeNull();
});

test('ids that an earlier release has stored beside the state of the reader are read', () => {
  expect(readWatchedIds(parseProgress('{"reader":{},"ids":[4,7]}'), null)).toEqual([4, 7]);
  expect(readWatchedIds(parseProgress('{"reader":{}}'), null)).toBeNull();
});

test('all ids that can be watched are followed in about the time that it takes to parse them', async () => {
  const ids = Array.from({ length: WATCHED_IDS_MAX }, (_, index) => 1000 + index * 7);
  const text = JSON.stringify(ids);
  const changes = Array.from({ length: 200 }, (_, index) =>
    change(1000 + index * 1001, index % 2 === 0 ? 'upsert' : 'gone'),
  );
  // Sorting all ids took ten times as long.
  await expectCpuBelow(
    4,
    () => {
      followIds(ids, changes);
      takeIdsAfter(ids, 5000, 1000);
    },
    () => JSON.parse(text),
  );
});
